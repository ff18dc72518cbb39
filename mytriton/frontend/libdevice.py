"""The functions of libdevice that `tl.math` does not have: what each is made of (see `registry.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mytriton.frontend.dots import tl_name
from mytriton.frontend.mathematics import floats
from mytriton.frontend.registry import builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Known, Mistake, Operand
from mytriton.ir import ops
from mytriton.ir.builder import Builder
from mytriton.ir.core import Value
from mytriton.language.extra import libdevice
from mytriton.source import Span
from mytriton.types import ScalarType, element_of, f32, f64, i32, i64, shape_of, u32

#: Bits of the significand: from 2**(bits - 1) on, every float is an integer.
_PRECISION = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
_INF = float("inf")


def element(value: Value) -> ScalarType:
    """The type of the elements of numbers."""
    found = element_of(value.type)
    assert isinstance(found, ScalarType)
    return found


def like(b: Builder, value: Value, number: float) -> Value:
    """A number in the type and shape of a value."""
    return b.constant(number, element(value), shape_of(value.type))


def of_floats(function: Callable[..., Any], build: Callable[..., Value]) -> None:
    """The rule of a function of one or two floats, which `build` makes of the builder and these."""
    name = f"libdevice.{function.__name__}"

    def one(s: Semantics, span: Span, arg0: Operand) -> Item:
        return build(s.builder, *floats(s, name, [arg0], span))

    def two(s: Semantics, span: Span, arg0: Operand, arg1: Operand) -> Item:
        return build(s.builder, *floats(s, name, [arg0, arg1], span))

    builtin(function, module="libdevice")(one if build.__code__.co_argcount == 2 else two)


def _isnan(b: Builder, x: Value) -> Value:
    return b.add(ops.CmpNe, lhs=x, rhs=x)


def _isinf(b: Builder, x: Value) -> Value:
    return b.add(ops.CmpEq, lhs=b.add(ops.Abs, source=x), rhs=like(b, x, _INF))


def _isfinite(b: Builder, x: Value) -> Value:
    return b.add(ops.CmpLt, lhs=b.add(ops.Abs, source=x), rhs=like(b, x, _INF))  # false for NaN


def _bits(b: Builder, x: Value) -> Value:
    bits = element(x).bits
    return b.add(ops.Bitcast, source=x, to=ScalarType(f"u{bits}", "int", bits, signed=False))


def _signbit(b: Builder, x: Value) -> Value:
    bits = _bits(b, x)
    amount = b.constant(element(bits).bits - 1, element(bits), shape_of(x.type))
    return b.cast(b.add(ops.Shr, lhs=bits, rhs=amount), i32)


def _copysign(b: Builder, x: Value, y: Value) -> Value:
    ours, theirs = _bits(b, x), _bits(b, y)
    type_ = element(ours)
    top = 1 << type_.bits - 1
    magnitude = b.add(ops.And, lhs=ours, rhs=b.constant(top - 1, type_, shape_of(x.type)))
    sign = b.add(ops.And, lhs=theirs, rhs=b.constant(top, type_, shape_of(x.type)))
    return b.add(ops.Bitcast, source=b.add(ops.Or, lhs=magnitude, rhs=sign), to=element(x))


def _trunc(b: Builder, x: Value) -> Value:
    negative = b.add(ops.CmpLt, lhs=x, rhs=like(b, x, 0.0))
    below, above = b.add(ops.Floor, source=x), b.add(ops.Ceil, source=x)
    return b.add(ops.Select, condition=negative, if_true=above, if_false=below)


def rint(b: Builder, x: Value) -> Value:
    """Rounded to the nearest integer, ties to even."""
    # Adding 2**(p - 1) to a smaller number leaves no bits for a fraction: the sum is rounded as wanted.
    magnitude, large = b.add(ops.Abs, source=x), like(b, x, 2.0 ** (_PRECISION[element(x).name] - 1))
    rounded = b.add(ops.Sub, lhs=b.add(ops.Add, lhs=magnitude, rhs=large), rhs=large)
    has_fraction = b.add(ops.CmpLt, lhs=magnitude, rhs=large)
    return _copysign(b, b.add(ops.Select, condition=has_fraction, if_true=rounded, if_false=magnitude), x)


def _round(b: Builder, x: Value) -> Value:
    magnitude = b.add(ops.Abs, source=x)
    below = b.add(ops.Floor, source=magnitude)
    up = b.add(ops.CmpGe, lhs=b.add(ops.Sub, lhs=magnitude, rhs=below), rhs=like(b, x, 0.5))
    above = b.add(ops.Add, lhs=below, rhs=like(b, x, 1.0))
    return _copysign(b, b.add(ops.Select, condition=up, if_true=above, if_false=below), x)


def _fmod(b: Builder, x: Value, y: Value) -> Value:
    return b.add(ops.Mod, lhs=x, rhs=y)


def _fdim(b: Builder, x: Value, y: Value) -> Value:
    difference = b.add(ops.Sub, lhs=x, rhs=y)
    # Not of the difference: inf - inf is NaN, and the answer 0.
    no_more = b.add(ops.CmpLe, lhs=x, rhs=y)
    return b.add(ops.Select, condition=no_more, if_true=like(b, x, 0.0), if_false=difference)


def _rcp_rn(b: Builder, x: Value) -> Value:
    type_ = element(x)
    wide = b.cast(x, f32) if type_.bits == 16 else x
    return b.cast(b.add(ops.Div, lhs=like(b, wide, 1.0), rhs=wide), type_)


def _saturatef(b: Builder, x: Value) -> Value:
    return b.add(ops.Minimum, lhs=b.add(ops.Maximum, lhs=x, rhs=like(b, x, 0.0)), rhs=like(b, x, 1.0))


for _function, _build in (
    (libdevice.isnan, _isnan),
    (libdevice.isinf, _isinf),
    (libdevice.finitef, _isfinite),
    (libdevice.isfinited, _isfinite),
    (libdevice.signbit, _signbit),
    (libdevice.copysign, _copysign),
    (libdevice.trunc, _trunc),
    (libdevice.rint, rint),
    (libdevice.nearbyint, rint),
    (libdevice.round, _round),
    (libdevice.llrint, lambda b, x: b.cast(rint(b, x), i64)),
    (libdevice.llround, lambda b, x: b.cast(_round(b, x), i64)),
    (libdevice.fmod, _fmod),
    (libdevice.fdim, _fdim),
    (libdevice.rcp_rn, _rcp_rn),
    (libdevice.saturatef, _saturatef),
):
    of_floats(_function, _build)


def of_type(function: Callable[..., Any], old: ScalarType, build: Callable[[Builder, Value], Value]) -> None:
    """The rule of a function of one type, which `build` makes; known numbers are taken as that."""
    name = function.__name__

    def rule(s: Semantics, span: Span, arg0: Operand) -> Item:
        value = s.value(arg0, old) if isinstance(arg0.item, Known) else s.value(arg0)
        if element_of(value.type) != old:
            raise Mistake("MT203", f"libdevice.{name} takes {old}, got {s.describe(arg0)}", arg0.span,
                          f"convert it: {s.receiver(arg0)}.to(tl.{tl_name(old)})")  # fmt: skip
        return build(s.builder, value)

    builtin(function, module="libdevice")(rule)


def _reinterpret(function: Callable[..., Any], old: ScalarType, new: ScalarType) -> None:
    """The bits of one type as another."""
    of_type(function, old, lambda b, x: b.add(ops.Bitcast, source=x, to=new))


for _function, _old, _new in (
    (libdevice.int_as_float, i32, f32),
    (libdevice.uint_as_float, u32, f32),
    (libdevice.float_as_int, f32, i32),
    (libdevice.float_as_uint, f32, u32),
    (libdevice.longlong_as_double, i64, f64),
    (libdevice.double_as_longlong, f64, i64),
):
    _reinterpret(_function, _old, _new)
