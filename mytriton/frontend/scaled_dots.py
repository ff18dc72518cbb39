"""`tl.dot_scaled`: blocks in microscaling formats, made float32 and multiplied (see `registry.py`)."""

from __future__ import annotations

from dataclasses import dataclass

from mytriton import language as tl
from mytriton.frontend.memory import given
from mytriton.frontend.orders import joined_last
from mytriton.frontend.registry import FUNCTIONS, builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Known, Mistake, Operand
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import ScalarType, bf16, element_of, f8e4nv, f8e5, f16, f32, shape_of, u8, u16, u32

#: The types of the formats, and of the integers that may stand for their bits.
_FORMATS = {"e4m3": (f8e4nv, u8), "e5m2": (f8e5, u8), "fp16": (f16, u16), "bf16": (bf16, u16), "e2m1": (u8, u8)}
#: How many numbers along K one factor may be for.
_GROUPS = (16, 32)


@dataclass(frozen=True)
class _Side:
    """One of the two blocks: its arguments, and which of its last two axes K is."""

    name: str
    block: Operand
    scale: Operand | None
    format: Operand
    k_pack: Operand | None
    k: int


def _transposed(s: Semantics, value: Value) -> Value:
    rank = len(shape_of(value.type))
    return s.builder.add(ops.Transpose, source=value, order=(*range(rank - 2), rank - 1, rank - 2))


def _and(s: Semantics, value: Value, mask: int) -> Value:
    element, shape = element_of(value.type), shape_of(value.type)
    assert isinstance(element, ScalarType)
    return s.builder.add(ops.And, lhs=value, rhs=s.builder.constant(mask, element, shape))


def _shifted(s: Semantics, op: type[ops.Binary], value: Value, amount: int) -> Value:
    element, shape = element_of(value.type), shape_of(value.type)
    assert isinstance(element, ScalarType)
    return s.builder.add(op, lhs=value, rhs=s.builder.constant(amount, element, shape))


def _unpacked(s: Semantics, packed: Value, axis: int) -> Value:
    """The numbers of 4 bits, two a byte along an axis (-1 or -2), as float32: a sign, two bits of exponent, one more.
    A product makes up for the larger bias of a float32's exponent, of the subnormal 0.5 too."""
    packed = packed if axis == -1 else _transposed(s, packed)
    shape = shape_of(packed.type)
    both = joined_last(s, _and(s, packed, 15), _shifted(s, ops.Shr, packed, 4))
    bits = s.builder.cast(s.reshape(both, (*shape[:-1], 2 * shape[-1])), u32)
    size, sign = _shifted(s, ops.Shl, _and(s, bits, 7), 22), _shifted(s, ops.Shl, _and(s, bits, 8), 28)
    small = s.builder.add(ops.Bitcast, source=s.builder.add(ops.Or, lhs=size, rhs=sign), to=f32)
    factor = s.builder.constant(2.0**126, f32, shape_of(small.type))
    numbers = s.builder.add(ops.Mul, lhs=small, rhs=factor)
    return numbers if axis == -1 else _transposed(s, numbers)


def _powers(s: Semantics, exponents: Value) -> Value:
    """2**(n - 127) as float32; NaN for 255."""
    b, shape = s.builder, shape_of(exponents.type)
    bits = _shifted(s, ops.Shl, b.cast(exponents, u32), 23)
    bits = b.add(ops.Maximum, lhs=bits, rhs=b.constant(1 << 22, u32, shape))  # the least power is subnormal
    is_nan = b.add(ops.CmpEq, lhs=exponents, rhs=b.constant(255, u8, shape))
    numbers = b.add(ops.Bitcast, source=bits, to=f32)
    return b.add(ops.Select, condition=is_nan, if_true=b.constant(float("nan"), f32, shape), if_false=numbers)


def _numbers(s: Semantics, side: _Side) -> Value:
    """The block as float32, without its scale."""
    value, name = s.value(side.block), s.known(side.format, f"`{side.name}_format`")
    if name not in _FORMATS:
        choice = ", ".join(f'"{f}"' for f in _FORMATS)
        message = f"`{side.name}_format` is {s.describe(side.format)}"
        raise Mistake("MT233", message, side.format.span, f"use one of {choice}")
    if len(shape_of(value.type)) not in (2, 3):
        message = f"tl.dot_scaled takes blocks of two axes, or three with a batch, got {s.describe(side.block)}"
        raise Mistake("MT224", message, side.block.span, "tl.load of pointers with two axes makes such a block")
    type_, bits = _FORMATS[name]
    packed_along_k = side.k_pack is None or bool(s.known(side.k_pack, f"`{side.name}_k_pack`"))
    if not packed_along_k and name != "e2m1":
        assert side.k_pack is not None
        message = f'`{side.name}_k_pack` is about "e2m1", not {s.describe(side.format)}'
        raise Mistake("MT233", message, side.k_pack.span, "leave it out")
    element = element_of(value.type)
    if element not in (type_, bits):
        wanted = " or ".join(dict.fromkeys((str(type_), str(bits))))
        message = f"a block in the format {s.describe(side.format)} is of {wanted}, got {s.describe(side.block)}"
        raise Mistake("MT203", message, side.block.span, "say what its elements are, or convert them")
    if name == "e2m1":
        return _unpacked(s, value, side.k if packed_along_k else -3 - side.k)
    value = value if element == type_ else s.builder.add(ops.Bitcast, source=value, to=type_)
    return s.builder.cast(value, f32)


def _scaled(s: Semantics, side: _Side) -> Value:
    """The block as float32, each number times the factor of its group along K."""
    value = _numbers(s, side)
    if side.scale is None:
        return value
    scale, shape = s.value(side.scale), shape_of(value.type)
    rows, length = shape[-3 - side.k], shape[side.k]
    groups = [length // size for size in _GROUPS if length % size == 0]
    if shape_of(scale.type) not in [(*shape[:-2], rows, n) for n in groups]:
        wanted = " or ".join(str((*shape[:-2], rows, n)) for n in reversed(groups)) or "no shape: K is below 16"
        message = f"`{side.name}_scale` has {wanted}, a factor for 32 or 16 numbers, got {s.describe(side.scale)}"
        raise Mistake("MT224", message, side.scale.span, "neither scale is transposed: K is the last axis of both")
    if element_of(scale.type) == u8:
        scale = _powers(s, scale)
    elif element_of(scale.type) == f8e4nv:
        scale = s.builder.cast(scale, f32)
    else:
        message = f"`{side.name}_scale` is of uint8 (exponents) or float8e4nv, got {s.describe(side.scale)}"
        raise Mistake("MT203", message, side.scale.span, "load the exponents as uint8: 127 stands for 1")
    count = shape_of(scale.type)[-1]
    group = length // count
    if side.k == -1:
        parts, alone = (*shape[:-1], count, group), (*shape[:-1], count, 1)
    else:
        scale = _transposed(s, scale)
        parts, alone = (*shape[:-2], count, group, shape[-1]), (*shape[:-2], count, 1, shape[-1])
    factors = s.broadcast(s.reshape(scale, alone), parts)
    return s.reshape(s.builder.add(ops.Mul, lhs=s.reshape(value, parts), rhs=factors), shape)


@builtin(tl.dot_scaled)
def _dot_scaled(
    s: Semantics,
    span: Span,
    lhs: Operand,
    lhs_scale: Operand,
    lhs_format: Operand,
    rhs: Operand,
    rhs_scale: Operand,
    rhs_format: Operand,
    acc: Operand | None = None,
    fast_math: Operand | None = None,
    lhs_k_pack: Operand | None = None,
    rhs_k_pack: Operand | None = None,
    out_dtype: Operand | None = None,
) -> Item:
    out_dtype = given(out_dtype)
    if out_dtype is not None and s.dtype(out_dtype) != f32:
        message = f"tl.dot_scaled gives float32, not {s.describe(out_dtype)}"
        raise Mistake("MT203", message, out_dtype.span, "leave `out_dtype` out, and convert the product")
    left = _scaled(s, _Side("lhs", lhs, given(lhs_scale), lhs_format, lhs_k_pack, -1))
    right = _scaled(s, _Side("rhs", rhs, given(rhs_scale), rhs_format, rhs_k_pack, -2))
    exact = Operand(Known("ieee"), lhs.expr)
    operands = Operand(left, lhs.expr), Operand(right, rhs.expr)
    return FUNCTIONS[tl.dot].rule(s, span, *operands, acc=acc, input_precision=exact)
