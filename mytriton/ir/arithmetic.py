"""What every pure operation computes, as NumPy: the executable form of SEMANTICS.

`EVALUATE` maps an operation class to `function(op, *operands) -> array`. Operands and results are arrays of the NumPy
type of their element type, of any one shape; the interpreter, the laid-out interpreter and constant folding share it.
Callers silence NumPy's floating-point warnings (`np.errstate(all="ignore")`): wrapping and NaNs are meant here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mytriton.arrays import DTYPES as DTYPES  # the element types' NumPy types, also for users of this module
from mytriton.arrays import FLOAT8_NAN, constant
from mytriton.ir import ops
from mytriton.ir.core import Op
from mytriton.ir.functions import FUNCTIONS
from mytriton.ir.rounding import odd_float32
from mytriton.layout.ops import Convert, Finish, PartialReduce
from mytriton.types import FLOAT8_LARGEST, PointerType, ScalarType, bf16, element_of, i1, shape_of

Array = npt.NDArray[Any]

#: A pointer: the parameter it was derived from, and its address in bytes. The base is kept so that an access outside
#: one array is an error even where it happens to hit another.
POINTER = np.dtype([("base", np.int64), ("address", np.int64)])
#: The base of an address that was made from a number: the array that it lies in.
ANY_BASE = -1


# --- conversions ------------------------------------------------------------------------------------------------------


def _sticky_float64(x: Array) -> Array:
    """int64 or uint64 to float64 exactly but for the low 11 bits of large values, which collapse into one sticky bit:
    enough for a following rounding to a shorter format to be right."""
    magnitude = np.where(x < 0, -x, x).view(np.uint64)
    sticky = ((magnitude & np.uint64(0x7FF)) != 0).astype(np.uint64)
    short = (magnitude & ~np.uint64(0xFFF)) | (magnitude & np.uint64(0x800)) | sticky << np.uint64(11)
    exact = np.where(magnitude < np.uint64(2**53), magnitude, short).astype(np.float64)
    return np.asarray(np.where(x < 0, -exact, exact))


def _float_to_int(x: Array, to: np.dtype[Any]) -> Array:
    wide = x.astype(np.float64)
    info = np.iinfo(to)
    low, limit = float(info.min), float(info.max + 1)  # the least value, and the first above all: exact as floats
    inside = (wide >= low) & (wide < limit)  # false for NaN
    truncated = np.trunc(np.where(inside, wide, 0.0)).astype(to)
    lowest, zero, highest = (to.type(n) for n in (info.min, 0, info.max))
    return np.where(inside, truncated, np.where(wide >= limit, highest, np.where(wide < low, lowest, zero)))


def convert(x: Array, to: ScalarType) -> Array:
    """Element conversion as `Cast` defines it."""
    x = np.asarray(x)
    dtype = DTYPES[to]
    if to == i1:
        return np.asarray(x != 0)
    if to.kind == "int" and x.dtype.kind not in "biu":
        return _float_to_int(x, dtype)
    if to == bf16 or to.is_float8:  # ml_dtypes converts through float32, which would round twice
        if x.dtype in (np.int64, np.uint64):
            x = _sticky_float64(x)
        if x.dtype == np.float64 or x.dtype.kind in "iu":
            x = odd_float32(x.astype(np.float64))
    if to.is_float8:
        largest = np.float32(FLOAT8_LARGEST[to])
        x = np.clip(x.astype(np.float32), -largest, largest)
        return np.where(np.isnan(x), FLOAT8_NAN, x.astype(dtype).view(np.uint8)).view(dtype)
    return x.astype(dtype)


# --- arithmetic -------------------------------------------------------------------------------------------------------


def _floor_div(op: Op, x: Array, y: Array) -> Array:
    safe = np.where((y == 0) | (y == -1), 1, y).astype(y.dtype)
    quotient = x // safe
    inexact = (quotient * safe != x) & ((x < 0) != (safe < 0))
    return np.asarray(np.where(y == -1, -x, quotient + inexact))


def _mod(op: Op, x: Array, y: Array) -> Array:
    if x.dtype.kind in "iu":
        return np.asarray(np.fmod(x, np.where((y == 0) | (y == -1), 1, y).astype(y.dtype)))
    if x.dtype.itemsize == 2:  # exact: a remainder of two short floats is one
        return np.fmod(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)
    return np.fmod(x, y)


def _amount(y: Array) -> tuple[Array, Array]:
    """Shift amounts, no more than the width less one, and where they were more."""
    amount, last = y.astype(f"u{y.dtype.itemsize}"), 8 * y.dtype.itemsize - 1
    return np.minimum(amount, last).astype(y.dtype), amount > last


def _shl(op: Op, x: Array, y: Array) -> Array:
    amount, over = _amount(y)
    return np.where(over, x.dtype.type(0), x << amount)


def _shr(op: Op, x: Array, y: Array) -> Array:
    amount, over = _amount(y)
    shifted = np.asarray(x >> amount)
    return shifted if x.dtype.kind == "i" else np.where(over, x.dtype.type(0), shifted)


def _popcount(op: Op, x: Array) -> Array:
    bits = np.unpackbits(np.ascontiguousarray(x)[..., None].view(np.uint8), axis=-1)
    return np.asarray(bits.sum(axis=-1).astype(x.dtype))


def _key(x: Array) -> Array:
    return x["address"] if x.dtype == POINTER else x


def _compare(function: Callable[[Array, Array], Array]) -> Callable[[Op, Array, Array], Array]:
    return lambda op, x, y: function(_key(x), _key(y))


def _plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda op, *operands: function(*operands)


# --- structure --------------------------------------------------------------------------------------------------------


def _constant(op: ops.Constant) -> Array:
    return constant(op.value, op.type)


def _cast(op: ops.Cast, source: Array) -> Array:
    return convert(source, op.to)


def _arange(op: ops.Arange) -> Array:
    return np.arange(op.start, op.end).astype(np.int32)


def _add_ptr(op: ops.AddPtr, pointer: Array, offset: Array) -> Array:
    element = element_of(op.pointer.type)
    assert isinstance(element, PointerType)
    moved = np.array(pointer)
    moved["address"] = pointer["address"] + offset.astype(np.int64) * element.element.bytes
    return moved


def _bitcast(op: ops.Bitcast, source: Array) -> Array:
    if isinstance(op.to, PointerType):
        if source.dtype == POINTER:
            return source
        made = np.full(source.shape, ANY_BASE, POINTER)
        made["address"] = source
        return made
    return source["address"] if source.dtype == POINTER else source.view(DTYPES[op.to])


def _broadcast(op: ops.Splat | ops.Broadcast, source: Array) -> Array:
    return np.broadcast_to(source, op.shape)


def _reduce(op: ops.Reduce, source: Array) -> Array:
    # Halves are combined until one element is left: a balanced tree, which loses less than a running sum.
    combine = ops.COMBINE[op.combine]
    left = np.moveaxis(source, op.axis, 0)
    while len(left) > 1:
        half = len(left) // 2
        left = np.asarray(EVALUATE[combine](None, left[:half], left[half:]))
    return np.asarray(left[0])


def _pick(op: ops.Pick, source: Array) -> Array:
    return np.asarray(np.take(source, (np.arange(op.extent) & op.keep) ^ op.flip, op.axis))


def _gather(op: ops.Gather, source: Array, index: Array) -> Array:
    return np.asarray(np.take_along_axis(source, index.astype(np.int64), op.axis))


def _histogram(op: ops.Histogram, source: Array, mask: Array | None = None) -> Array:
    counted = source[(source >= 0) & (source < op.bins) & (True if mask is None else mask)]
    return np.bincount(counted.astype(np.int64), minlength=op.bins).astype(np.int32)


def _dot(op: ops.Dot, lhs: Array, rhs: Array, acc: Array) -> Array:
    # Integers wrap in i32; NumPy multiplies floats in the order that is fastest on this machine.
    return np.asarray(acc + np.matmul(lhs.astype(acc.dtype), rhs.astype(acc.dtype)))


def _partial_reduce(op: PartialReduce, source: Array) -> Array:
    # The axis is split into one for each of its bits, the highest first.
    digits = source.shape[op.axis].bit_length() - 1
    split = source.reshape((*source.shape[: op.axis], *(2,) * digits, *source.shape[op.axis + 1 :]))
    for digit in range(digits):
        if op.bits >> digits - 1 - digit & 1:
            lower, upper = (np.take(split, [half], op.axis + digit) for half in (0, 1))
            split = np.asarray(EVALUATE[ops.COMBINE[op.combine]](None, lower, upper))
    return split.reshape(shape_of(op.result.type))


EVALUATE: dict[type[Op], Callable[..., Any]] = {
    Convert: lambda op, source: source,
    Finish: lambda op, source: source,
    PartialReduce: _partial_reduce,
    ops.Constant: _constant,
    ops.Cast: _cast,
    ops.Bitcast: _bitcast,
    ops.Splat: _broadcast,
    ops.Broadcast: _broadcast,
    ops.Reshape: lambda op, source: np.reshape(source, op.shape),
    ops.Transpose: lambda op, source: np.transpose(source, op.order),
    ops.Reduce: _reduce,
    ops.Pick: _pick,
    ops.Gather: _gather,
    ops.Histogram: _histogram,
    ops.Dot: _dot,
    ops.Arange: _arange,
    ops.AddPtr: _add_ptr,
    ops.Add: _plain(np.add),
    ops.Sub: _plain(np.subtract),
    ops.Mul: _plain(np.multiply),
    ops.AddRn: _plain(np.add),
    ops.MulRn: _plain(np.multiply),
    ops.Div: _plain(np.divide),
    ops.FloorDiv: _floor_div,
    ops.Mod: _mod,
    ops.And: _plain(np.bitwise_and),
    ops.Or: _plain(np.bitwise_or),
    ops.Xor: _plain(np.bitwise_xor),
    ops.Shl: _shl,
    ops.Shr: _shr,
    ops.Maximum: _plain(np.fmax),
    ops.Minimum: _plain(np.fmin),
    ops.MaximumNan: _plain(np.maximum),
    ops.MinimumNan: _plain(np.minimum),
    ops.Neg: _plain(np.negative),
    ops.Not: _plain(np.invert),
    ops.Abs: _plain(np.abs),
    ops.Popcount: _popcount,
    ops.CmpEq: _compare(np.equal),
    ops.CmpNe: _compare(np.not_equal),
    ops.CmpLt: _compare(np.less),
    ops.CmpLe: _compare(np.less_equal),
    ops.CmpGt: _compare(np.greater),
    ops.CmpGe: _compare(np.greater_equal),
    ops.Select: _plain(np.where),
    **{cls: _plain(function) for cls, function in FUNCTIONS.items()},
}


def evaluate(op: Op, operands: tuple[Array, ...] | list[Array]) -> Array:
    """The result of a pure operation, as an array (0-d for a scalar)."""
    return np.asarray(EVALUATE[type(op)](op, *operands))
