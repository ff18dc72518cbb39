"""What arrays, and NumPy's numbers, are told apart by when a launch is repeated: see `repeat`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from mytriton.arrays import address_of, in_whole_elements
from mytriton.descriptors import is_descriptor_type


def library_of(type_: type) -> str:
    """The library whose arrays these are: `numpy`, `cupy` or `torch`. Raises `LookupError` for any other type: what a
    subclass does, nobody knows, but that torch's parameters are tensors."""
    for library, name in (("numpy", "ndarray"), ("cupy", "ndarray"), ("torch", "Tensor")):
        if type_ is getattr(sys.modules.get(library), name, None):
            return library
    if type_ is getattr(getattr(sys.modules.get("torch"), "nn", None), "Parameter", None):
        return "torch"
    raise LookupError


#: NumPy's numbers that are passed to a kernel as they are; those of other floats are converted.
NUMBERS: frozenset[type] = frozenset(
    np.dtype(name).type for name in ("?", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
)


def rule_of(type_: type) -> Callable[[Any], Hashable]:
    """The rule of the type of an array, a tensor descriptor or a NumPy number; raises `LookupError` for any other."""
    if type_ in NUMBERS:
        return _integer_key if issubclass(type_, np.integer) else type
    if is_descriptor_type(type_):
        return _descriptor_key
    return {"numpy": _numpy_key, "cupy": _cupy_key, "torch": _torch_key}[library_of(type_)]


def _descriptor_key(value: Any) -> Hashable:
    numbers = (*value.shape, *value.strides[:-1])
    array = rule_of(type(value.base))(value.base)
    ranks = len(value.shape), len(value.strides), value.strides[-1]
    said = tuple(value.block_shape), value.padding, getattr(value, "round_f32_to_tf32", False)
    return array, *ranks, *said, all(number % 16 == 0 for number in numbers)


def _integer_key(value: Any) -> Hashable:
    return type(value), int(value) % 16 == 0


def _numpy_key(array: np.ndarray[Any, Any]) -> Hashable:
    if not (array.flags.c_contiguous or in_whole_elements(array.strides, array.itemsize)):
        raise LookupError
    return np.ndarray, array.dtype, address_of(array) % 16 == 0


def _cupy_key(array: Any) -> Hashable:
    if not (array.flags.c_contiguous or in_whole_elements(array.strides, array.itemsize)):
        raise LookupError
    return "cupy", array.dtype, array.data.ptr % 16 == 0


def _torch_key(tensor: Any) -> Hashable:
    # Only what is plain memory: neither sparse nor lazily negated, and on no device of a third kind.
    cuda = tensor.is_cuda
    if not (cuda or tensor.is_cpu) or tensor.is_sparse or tensor.is_neg():
        raise LookupError
    return "torch", tensor.dtype, cuda, tensor.data_ptr() % 16 == 0
