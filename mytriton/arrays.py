"""Array arguments of any library, looked at without importing the library.

NumPy arrays and torch CPU tensors are host arrays; CuPy arrays, torch CUDA tensors and whatever else has
`__cuda_array_interface__` are device arrays.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from typing import Any, Literal

import ml_dtypes
import numpy as np

from mytriton import types
from mytriton.records import dataclass
from mytriton.types import ScalarType

_ELEMENTS: dict[str, ScalarType] = {
    "bool": types.i1,
    "int8": types.i8,
    "int16": types.i16,
    "int32": types.i32,
    "int64": types.i64,
    "uint8": types.u8,
    "uint16": types.u16,
    "uint32": types.u32,
    "uint64": types.u64,
    "float8_e4m3fn": types.f8e4nv,
    "float8_e5m2": types.f8e5,
    "float16": types.f16,
    "bfloat16": types.bf16,
    "float32": types.f32,
    "float64": types.f64,
}

#: The NumPy dtype of each element type.
DTYPES: dict[ScalarType, np.dtype[Any]] = {
    type_: np.dtype(getattr(ml_dtypes, name, name)) for name, type_ in _ELEMENTS.items()
}


#: The bits of the NaN that conversions to 8-bit floats make; `ml_dtypes` has others.
FLOAT8_NAN = np.uint8(0x7F)


def constant(value: bool | int | float, element: ScalarType) -> np.ndarray[Any, Any]:
    """A number as an array without axes, of an element type that holds it."""
    if element.is_float8 and value != value:
        return np.array(FLOAT8_NAN).view(DTYPES[element])
    return np.array(value, DTYPES[element])


_NAMES: dict[np.dtype[Any], str] = {dtype: dtype.name for dtype in DTYPES.values()}


def _name(dtype: np.dtype[Any]) -> str:
    # A look-up where possible: NumPy computes `.name` anew each time. A dtype of the other byte order is another key,
    # and has a name of its own, so that it is refused by name.
    return _NAMES.get(dtype) or (dtype.name if dtype.isnative else f"byte-swapped {dtype.name}")


@dataclass(frozen=True, slots=True)
class ArrayInfo:
    """What a launch needs to know of an array. `dtype` is its own name; `element` is None if we have no such type;
    `address` is that of its first element, `whole` whether the others lie a whole number of elements from it, which is
    how kernels that are given strides count; `library` reads well in a sentence ("NumPy array")."""

    library: str
    place: Literal["host", "device", "nowhere"]
    dtype: str
    element: ScalarType | None
    address: int
    whole: bool
    writable: bool = True


def _info(library: str, place: Literal["host", "device", "nowhere"], dtype: str, address: int, whole: bool,
          writable: bool = True) -> ArrayInfo:  # fmt: skip
    return ArrayInfo(library, place, dtype, _ELEMENTS.get(dtype), address, whole, writable)


_View = ctypes.c_char * 0


def address_of(array: Any) -> int:
    """The address of a NumPy array's first element."""
    try:
        # A fifth of what the general way costs, but only for a writable, contiguous buffer of a type that C has.
        return ctypes.addressof(_View.from_buffer(array))
    except (TypeError, ValueError, BufferError):
        address: int = array.__array_interface__["data"][0]
        return address


class StandIn:
    """What stands for an array of a dtype where nothing is run. Its address is as aligned as any."""

    def __init__(self, dtype: Any, name: str) -> None:
        self.dtype, self.name = dtype, name

    def data_ptr(self) -> int:
        """The address of a tensor that does not exist."""
        return 0


def stand_in(value: Any) -> Any:
    """A stand-in for an array if `value` is a dtype (of `tl`, NumPy or torch), and for those in a tuple; else `value`
    itself."""
    if isinstance(value, tuple):
        return tuple(stand_in(item) for item in value)
    if isinstance(value, ScalarType):
        return StandIn(value, DTYPES[value].name)
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return StandIn(np.dtype(value), _name(np.dtype(value)))
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.dtype):
        return StandIn(value, str(value).removeprefix("torch."))
    return value


def array_info(value: Any) -> ArrayInfo | None:
    """What kind of array `value` is; None if it is no array."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        whole = flags.c_contiguous or in_whole_elements(value.strides, value.itemsize)
        return _info("NumPy array", "host", _name(value.dtype), address_of(value), whole, flags.writeable)
    if isinstance(value, StandIn):
        return _info("dtype", "nowhere", value.name, value.data_ptr(), True)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        name = str(value.dtype).removeprefix("torch.")
        if value.device.type not in ("cpu", "cuda"):
            return _info(f"torch tensor on {value.device.type}", "device", f"{name} ({value.device})", 0, True)
        negated = getattr(value, "is_neg", None)
        if getattr(value, "is_sparse", False) or (negated is not None and negated()):
            return _info("torch tensor", "host", f"{name}, sparse or lazily negated", 0, True)  # no plain memory
        library, place = ("torch CUDA tensor", "device") if value.is_cuda else ("torch CPU tensor", "host")
        return _info(library, "device" if place == "device" else "host", name, value.data_ptr(), True)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is None:
        return None
    name = str(value.dtype.name) if hasattr(value, "dtype") else np.dtype(interface["typestr"]).name
    address, read_only = interface["data"]
    library = f"{type(value).__name__} on the GPU"
    if type(value).__module__.startswith("cupy"):
        library, address = "CuPy array", value.data.ptr  # the interface has 0 for an empty one
    whole = in_whole_elements(interface.get("strides") or (), np.dtype(interface["typestr"]).itemsize)
    return _info(library, "device", name, address, whole, not read_only)


def in_whole_elements(strides: Sequence[int], itemsize: int) -> bool:
    """Whether the elements of an array lie a whole number of elements apart; those of a record's field may not."""
    return all(stride % itemsize == 0 for stride in strides)


def copied(array: np.ndarray[Any, Any], dtype: Any = None) -> np.ndarray[Any, Any]:
    """A copy, of another dtype if one is given, in memory of its own (its `base` if it has gaps), whose elements lie as
    many elements apart as those of the original: kernels are given strides."""
    element = np.dtype(dtype or array.dtype)
    if array.flags.c_contiguous or not array.size or not in_whole_elements(array.strides, array.itemsize):
        return array.astype(element, order="C")
    strides = tuple(stride // array.itemsize * element.itemsize for stride in array.strides)
    reach = [(extent - 1) * stride for extent, stride in zip(array.shape, strides, strict=True)]
    low, high = sum(min(r, 0) for r in reach), sum(max(r, 0) for r in reach)
    memory = np.zeros(high - low + element.itemsize, np.uint8)
    made: np.ndarray[Any, Any] = np.ndarray(array.shape, element, memory, -low, strides)
    made[...] = array
    return made


def host_array(value: Any) -> Any:
    """A torch CPU tensor as a NumPy array on the same memory; anything else unchanged. Does not import torch."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor) or value.device.type != "cpu":
        return value
    value = value.detach()
    name = str(value.dtype).removeprefix("torch.")
    if hasattr(ml_dtypes, name):  # Tensor.numpy() refuses them
        bits = torch.int16 if value.element_size() == 2 else torch.int8
        return value.view(bits).numpy().view(getattr(ml_dtypes, name))
    return value.numpy()
