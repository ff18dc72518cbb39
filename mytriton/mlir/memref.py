"""Ranked memref descriptors: how MLIR's functions are handed arrays (MLIR, "LLVM IR Target", ranked memref ABI).

A descriptor of rank r is 3 + 2r words of 64 bits: the address that was allocated, that of the data, the offset of the
first element, r extents and r strides, all but the addresses in elements. It describes the array's own memory; nothing
is copied.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
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
    copied: np.ndarray[Any, Any] = _view(words[:], dtype).copy()
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
        to, made_of = (_view(a.descriptor[: 3 + 2 * a.rank], np.dtype(f"V{size}")) for a in (target[0], source[0]))
        to[...] = made_of

    return ctypes.CFUNCTYPE(None, ctypes.c_int64, unranked, unranked)(copy)


def _view(words: Sequence[int], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """The memory that a descriptor describes."""
    rank = (len(words) - 3) // 2
    shape, strides = words[3 : 3 + rank], words[3 + rank :]
    if 0 in shape:
        return np.empty(shape, dtype)
    span = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    memory = (ctypes.c_uint8 * (span * dtype.itemsize)).from_address(words[1] + words[2] * dtype.itemsize)
    flat = np.ctypeslib.as_array(memory).view(dtype)
    return np.lib.stride_tricks.as_strided(flat, shape, [stride * dtype.itemsize for stride in strides])
