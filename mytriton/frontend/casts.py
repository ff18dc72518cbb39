"""Conversions that the author writes: `.to`, `tl.cast`, bit casts, constexprs, and types made from types."""

from __future__ import annotations

from mytriton import language as tl
from mytriton.frontend import constants
from mytriton.frontend.memory import given
from mytriton.frontend.registry import FUNCTIONS, METHODS, Builtin, Param, builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Known, Mistake, Operand
from mytriton.ir import ops
from mytriton.source import Span
from mytriton.types import SCALARS, PointerType, ScalarType, element_of, f8e5, i1, i64, shape_of, u8, u16, u32, u64

#: Triton's names of the element types, which `dtype.name` is compared with: int1, uint8, fp8e5, fp32, bf16.
NAMES = {t: {"i": "int", "u": "uint", "f": "fp", "b": "b"}[t.name[0]] + t.name[1:] for t in SCALARS.values()}


@builtin(tl.cast, method=True)
def _cast(
    s: Semantics,
    span: Span,
    input: Operand,
    dtype: Operand,
    fp_downcast_rounding: Operand | None = None,
    bitcast: Operand | None = None,
) -> Item:
    to = s.element_type(dtype)
    rounding = given(fp_downcast_rounding)
    item = s.number(input, "what is converted")
    old = s.scalar_type(item)
    if isinstance(old, PointerType) or isinstance(to, PointerType):
        return _pointer_cast(s, span, input, to)
    if s.flag(bitcast, "bitcast"):
        return _bitcast(s, span, input, to)
    if rounding is not None and old != to:  # as in Triton, what stays as it is may say anything
        return _rounded(s, span, input, to, rounding)
    if isinstance(item, Known):
        # An explicit conversion wraps, where an implicit one of a number that does not fit is a mistake.
        return s.builder.constant(constants.convert(item.value, to), to)
    return s.builder.cast(item, to)


def _pointer_cast(s: Semantics, span: Span, input: Operand, to: ScalarType | PointerType) -> Item:
    """A pointer to other elements, its address as a number, or an address that a number is."""
    value = s.value(input)
    old = element_of(value.type)
    if isinstance(input.item, Known) and isinstance(old, ScalarType) and old.kind == "int":
        value, old = s.value(input, i64), i64
    number = next((t for t in (old, to) if isinstance(t, ScalarType)), i64)
    if to == i1:
        return s.builder.truth(value)
    if number not in (i64, u64):
        hint = "an address is an int64 or uint64"
        hint += f": {s.receiver(input)}.to(tl.int64)" if to == number or number.kind == "int" else ""
        raise Mistake("MT203", f"{s.describe(input)} cannot become {to}: an address has 64 bits", span, hint)
    value = value if isinstance(old, PointerType) else s.builder.cast(value, i64)
    through = to if isinstance(to, PointerType) else i64
    value = value if old == to else s.builder.add(ops.Bitcast, source=value, to=through)
    return s.builder.cast(value, to) if isinstance(to, ScalarType) else value


def _bitcast(s: Semantics, span: Span, input: Operand, to: ScalarType) -> Item:
    value = s.value(input)
    old = element_of(value.type)
    assert isinstance(old, ScalarType)
    if old.bits != to.bits:
        message = f"a bit cast keeps the width: {s.describe(input)} has {old.bits} bits, {to} {to.bits}"
        raise Mistake("MT203", message, span, "convert the value, without `bitcast`, to another width")
    # Between integers a conversion keeps the bits as well, and passes know more of it.
    if old.kind == to.kind == "int" or old == to:
        return s.builder.cast(value, to)
    return s.builder.add(ops.Bitcast, source=value, to=to)


def _rounded(s: Semantics, span: Span, input: Operand, to: ScalarType, rounding: Operand) -> Item:
    """A conversion to a narrower float that says how it rounds."""
    value, mode = s.value(input), s.known(rounding, "`fp_downcast_rounding`")
    old = element_of(value.type)
    assert isinstance(old, ScalarType)
    if mode not in ("rtne", "rtz"):
        hint = 'use "rtne" (to nearest, ties to even) or "rtz" (toward zero)'
        raise Mistake("MT211", f"`fp_downcast_rounding` is {s.describe(rounding)}", rounding.span, hint)
    if old.kind != "float" or to.kind != "float" or to.bits >= old.bits:
        message = f"`fp_downcast_rounding` is for narrower floats, not for {s.describe(input)} to {to}"
        raise Mistake("MT203", message, span, "leave it out")
    nearest = s.builder.cast(value, to)
    if mode == "rtne":
        return nearest
    # Where the nearest number lies further from zero, the one next to it does not: its bits less one.
    b = s.builder
    magnitude, rounded = b.add(ops.Abs, source=value), b.add(ops.Abs, source=b.cast(nearest, old))
    bits = {8: u8, 16: u16, 32: u32}[to.bits]
    further = b.cast(b.add(ops.CmpGt, lhs=rounded, rhs=magnitude), bits)
    stepped = b.add(ops.Sub, lhs=b.add(ops.Bitcast, source=nearest, to=bits), rhs=further)
    if to == f8e5:  # as in Triton, and unlike to nearest: infinity, whose bits follow the largest number's, stays
        infinity = b.constant(float("inf"), old, shape_of(value.type))
        infinite = b.add(ops.CmpEq, lhs=magnitude, rhs=infinity)
        stepped = b.add(ops.Add, lhs=stepped, rhs=b.cast(infinite, bits))
    return b.add(ops.Bitcast, source=stepped, to=to)


METHODS["to"] = Builtin("to", FUNCTIONS[tl.cast].parameters, _cast)


@builtin(tl.to_tensor)
def _to_tensor(s: Semantics, span: Span, x: Operand) -> Item:
    return s.value(x) if isinstance(x.item, Known) else s.number(x, "the argument of tl.to_tensor")


@builtin(tl.constexpr)
def _constexpr(s: Semantics, span: Span, value: Operand) -> Item:
    what = "the argument of tl.constexpr"
    return Known(s.known(value, what)) if s.says_constexpr(value, what) else value.item


def _dtype(s: Semantics, span: Span, name: Operand) -> Item:
    known = s.known(name, "the name of a dtype")
    found = next((t for t, own in NAMES.items() if own == known), None)
    if found is None:
        hint = f"the names are {', '.join(NAMES.values())}"
        raise Mistake("MT211", f"{s.describe(name)} names no dtype", name.span, hint)
    return Known(found)


def _pointer_type(s: Semantics, span: Span, element_ty: Operand, address_space: Operand | None = None) -> Item:
    if address_space is not None and s.known(address_space, "the address space") not in (1, "global"):
        message = f"pointers point to global memory, not to {s.describe(address_space)}"
        raise Mistake("MT211", message, address_space.span, "leave the address space out")
    return Known(PointerType(s.dtype(element_ty)))


FUNCTIONS[tl.dtype] = Builtin("tl.dtype", (Param("name"),), _dtype)
FUNCTIONS[tl.pointer_type] = Builtin(
    "tl.pointer_type", (Param("element_ty"), Param("address_space", optional=True)), _pointer_type
)
