"""Ranked memref descriptors: how MLIR's functions are handed arrays (MLIR, "LLVM IR Target", ranked memref ABI).

A descriptor of rank r is 3 + 2r words of 64 bits: the address that was allocated, that of the data, the offset of the
first element, r extents and r strides, all but the addresses in elements. It describes the array's own memory; nothing
is copied.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

from mytriton.arrays import address_of


def descriptor(array: np.ndarray[Any, Any]) -> ctypes.Array[ctypes.c_int64]:
    """The descriptor of an array, valid as long as the array is; raises ValueError for strides that are no whole number
    of elements."""
    strides = []
    for stride in array.strides:
        if stride % array.itemsize:
            raise ValueError(f"strides of {array.strides} bytes are no whole number of elements of {array.itemsize}")
        strides.append(stride // array.itemsize)
    address = address_of(array)
    words = (address, address, 0, *array.shape, *strides)
    return (ctypes.c_int64 * len(words))(*words)


def empty(rank: int) -> ctypes.Array[ctypes.c_int64]:
    """A descriptor for a function to fill in."""
    return (ctypes.c_int64 * (3 + 2 * rank))()


def taken(words: ctypes.Array[ctypes.c_int64], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """A copy of the array that a descriptor describes."""
    rank = (len(words) - 3) // 2
    shape, strides = words[3 : 3 + rank], words[3 + rank :]
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    if 0 in shape:
        return np.empty(shape, dtype)
    start = words[1] + words[2] * dtype.itemsize
    memory = (ctypes.c_uint8 * (span * dtype.itemsize)).from_address(start)
    flat = np.ctypeslib.as_array(memory).view(dtype)
    bytes_ = [stride * dtype.itemsize for stride in strides]
    copied: np.ndarray[Any, Any] = np.lib.stride_tricks.as_strided(flat, shape, bytes_).copy()
    return copied


#: What code calls to copy an array to one of other strides. MLIR's own is in a library that the bindings leave out.
COPY = "memrefCopy"


class _Unranked(ctypes.Structure):
    _fields_ = (("rank", ctypes.c_int64), ("descriptor", ctypes.POINTER(ctypes.c_int64)))


@cache
def copy_function() -> Any:
    """A C function that does what `COPY` is to do: gets the bytes of an element, and the arrays from and to."""
    unranked = ctypes.POINTER(_Unranked)

    def copy(size: int, source: Any, target: Any) -> None:
        _view(target[0], size)[...] = _view(source[0], size)

    return ctypes.CFUNCTYPE(None, ctypes.c_int64, unranked, unranked)(copy)


def _view(array: Any, size: int) -> np.ndarray[Any, Any]:
    """The memory of an array of elements of so many bytes."""
    rank = array.rank
    words = array.descriptor[: 3 + 2 * rank]
    shape, strides = words[3 : 3 + rank], words[3 + rank :]
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)) if all(shape) else 0
    memory = (ctypes.c_uint8 * (span * size)).from_address(words[1] + words[2] * size)
    flat = np.ctypeslib.as_array(memory).view(f"V{size}")
    return np.lib.stride_tricks.as_strided(flat, shape, [stride * size for stride in strides])
