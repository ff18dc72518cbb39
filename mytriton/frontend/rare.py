"""The functions of libdevice that few kernels need: the operation of each, or what it is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mytriton import language as tl
from mytriton.frontend.libdevice import element, like, of_floats, of_type, rint
from mytriton.frontend.registry import FUNCTIONS, builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Mistake, Operand
from mytriton.ir import ops
from mytriton.ir.builder import Builder
from mytriton.ir.core import Op, Value
from mytriton.language.extra import floats, integers
from mytriton.source import Span
from mytriton.types import ScalarType, f32, f64, i32, i64, is_integer, shape_of, u32, u64

_INF = float("inf")


# --- floats -------------------------------------------------------------------------------------------------------


def _operation(op: type[Op]) -> Callable[[Builder, Value], Value]:
    return lambda b, x: b.add(op, source=x)


def _sub_rn(b: Builder, x: Value, y: Value) -> Value:
    return b.add(ops.AddRn, lhs=x, rhs=b.add(ops.Neg, source=y))


def _is(b: Builder, x: Value, number: float) -> Value:
    return b.add(ops.CmpEq, lhs=x, rhs=like(b, x, number))


def _chosen(b: Builder, condition: Value, x: Value, y: Value) -> Value:
    return b.add(ops.Select, condition=condition, if_true=x, if_false=y)


# Kahan's formulas for log1p and expm1: what rounding 1 + x changes is divided out again. Both differences must be those
# of the rounded numbers, hence AddRn. Short floats go through float64.
def _log1p(b: Builder, x: Value) -> Value:
    wide = b.cast(x, f64)
    above = b.add(ops.AddRn, lhs=wide, rhs=like(b, wide, 1.0))
    kept = b.add(ops.AddRn, lhs=above, rhs=like(b, wide, -1.0))
    exact = b.add(ops.Mul, lhs=b.add(ops.Log, source=above), rhs=b.add(ops.Div, lhs=wide, rhs=kept))
    finite = _chosen(b, _is(b, above, _INF), above, exact)
    return b.cast(_chosen(b, _is(b, above, 1.0), wide, finite), element(x))


def _expm1(b: Builder, x: Value) -> Value:
    wide = b.cast(x, f64)
    power = b.add(ops.Exp, source=wide)
    less = b.add(ops.AddRn, lhs=power, rhs=like(b, wide, -1.0))
    exact = b.add(ops.Mul, lhs=less, rhs=b.add(ops.Div, lhs=wide, rhs=b.add(ops.Log, source=power)))
    extreme = b.add(ops.Or, lhs=_is(b, less, -1.0), rhs=_is(b, less, _INF))
    return b.cast(_chosen(b, _is(b, power, 1.0), wide, _chosen(b, extreme, less, exact)), element(x))


def _hypot(b: Builder, x: Value, y: Value) -> Value:
    type_ = element(x)
    x, y = (b.add(ops.Abs, source=b.cast(v, f64)) for v in (x, y))
    if type_ != f64:  # whose squares float64 holds
        squares = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=x, rhs=x), rhs=b.add(ops.Mul, lhs=y, rhs=y))
        length = b.add(ops.Sqrt, source=squares)
    else:
        larger, smaller = b.add(ops.MaximumNan, lhs=x, rhs=y), b.add(ops.MinimumNan, lhs=x, rhs=y)
        ratio = b.add(ops.Div, lhs=smaller, rhs=larger)
        square = b.add(ops.Add, lhs=like(b, x, 1.0), rhs=b.add(ops.Mul, lhs=ratio, rhs=ratio))
        length = b.add(ops.Mul, lhs=larger, rhs=b.add(ops.Sqrt, source=square))
        length = _chosen(b, _is(b, larger, 0.0), larger, length)
    infinite = b.add(ops.Or, lhs=_is(b, x, _INF), rhs=_is(b, y, _INF))
    return b.cast(_chosen(b, infinite, like(b, x, _INF), length), type_)


for _op in ops.Rare.__subclasses__():
    of_floats(getattr(floats, _op.opcode), _operation(_op))
for _function, _build in (
    (floats.atan2, lambda b, x, y: b.add(ops.Atan2, lhs=x, rhs=y)),
    (floats.exp10, lambda b, x: b.add(ops.Pow, lhs=like(b, x, 10.0), rhs=x)),
    (floats.log1p, _log1p),
    (floats.expm1, _expm1),
    (floats.hypot, _hypot),
    (floats.add_rn, lambda b, x, y: b.add(ops.AddRn, lhs=x, rhs=y)),
    (floats.mul_rn, lambda b, x, y: b.add(ops.MulRn, lhs=x, rhs=y)),
    (floats.sub_rn, _sub_rn),
):
    of_floats(_function, _build)


# --- integers -----------------------------------------------------------------------------------------------------


def _checked(s: Semantics, name: str, value: Value, operand: Operand) -> Value:
    if not is_integer(value.type) or element(value).bits < 32:
        message = f"libdevice.{name} takes integers of 32 or 64 bits, got {s.describe(operand)}"
        raise Mistake("MT203", message, operand.span, f"convert it: {s.receiver(operand)}.to(tl.int32)")
    return value


def _of_integer(function: Callable[..., Any], build: Callable[[Builder, Value, int], Value]) -> None:
    """The rule of a function of one integer, which `build` makes of its bits, unsigned, and their number."""

    def rule(s: Semantics, span: Span, arg0: Operand) -> Item:
        value = _checked(s, function.__name__, s.value(arg0), arg0)
        bits = element(value).bits
        return build(s.builder, s.builder.cast(value, u64 if bits == 64 else u32), bits)

    builtin(function, module="libdevice")(rule)


def _constant(b: Builder, x: Value, number: int) -> Value:
    return b.constant(number, element(x), shape_of(x.type))


def _shifted(b: Builder, x: Value, amount: int) -> Value:
    return b.add(ops.Shr, lhs=x, rhs=_constant(b, x, amount))


def _popc(b: Builder, x: Value, bits: int) -> Value:
    return b.cast(b.add(ops.Popcount, source=x), i32)


def _clz(b: Builder, x: Value, bits: int) -> Value:
    for power in range(bits.bit_length() - 1):  # ones below the highest one
        x = b.add(ops.Or, lhs=x, rhs=_shifted(b, x, 1 << power))
    return _popc(b, b.add(ops.Not, source=x), bits)


def _ffs(b: Builder, x: Value, bits: int) -> Value:
    zero = _constant(b, x, 0)
    below = b.add(ops.Xor, lhs=x, rhs=b.add(ops.Sub, lhs=x, rhs=_constant(b, x, 1)))  # ones up to the lowest one
    return _popc(b, _chosen(b, b.add(ops.CmpEq, lhs=x, rhs=zero), zero, below), bits)


def _reversed(b: Builder, x: Value, bits: int) -> Value:
    for power in range(bits.bit_length() - 1):
        width = 1 << power
        mask = _constant(b, x, sum(((1 << width) - 1) << at for at in range(0, bits, 2 * width)))
        upper = b.add(ops.And, lhs=_shifted(b, x, width), rhs=mask)
        lower = b.add(ops.Shl, lhs=b.add(ops.And, lhs=x, rhs=mask), rhs=_constant(b, x, width))
        x = b.add(ops.Or, lhs=upper, rhs=lower)
    return x


_of_integer(integers.popc, _popc)
_of_integer(integers.clz, _clz)
_of_integer(integers.ffs, _ffs)


@builtin(integers.brev, module="libdevice")
def _brev(s: Semantics, span: Span, arg0: Operand) -> Item:
    value = _checked(s, "brev", s.value(arg0), arg0)
    bits = element(value).bits
    return s.builder.cast(_reversed(s.builder, s.builder.cast(value, u64 if bits == 64 else u32), bits), element(value))


@builtin(integers.mulhi, module="libdevice")
def _mulhi(s: Semantics, span: Span, arg0: Operand, arg1: Operand) -> Item:
    x, y = s.arithmetic_pair(arg0, arg1, "libdevice.mulhi", span)
    high = FUNCTIONS[tl.umulhi].rule(s, span, arg0, arg1)
    assert isinstance(high, Value)
    b = s.builder
    if element(x).signed:  # a negative factor counted as 2**bits more
        for sign, other in ((x, y), (y, x)):
            negative = b.add(ops.CmpLt, lhs=sign, rhs=_constant(b, sign, 0))
            high = b.add(ops.Sub, lhs=high, rhs=_chosen(b, negative, other, _constant(b, other, 0)))
    return high


def _average(function: Callable[..., Any], base: type[Op], step: type[Op]) -> None:
    def rule(s: Semantics, span: Span, arg0: Operand, arg1: Operand) -> Item:
        x, y = s.arithmetic_pair(arg0, arg1, f"libdevice.{function.__name__}", span)
        _checked(s, function.__name__, x, arg0)
        b = s.builder
        half = _shifted(b, b.add(ops.Xor, lhs=x, rhs=y), 1)
        return b.add(step, lhs=b.add(base, lhs=x, rhs=y), rhs=half)

    builtin(function, module="libdevice")(rule)


_average(integers.hadd, ops.And, ops.Add)
_average(integers.rhadd, ops.Or, ops.Sub)

# --- conversions --------------------------------------------------------------------------------------------------

_TYPES: dict[str, ScalarType] = {"float": f32, "double": f64, "int": i32, "uint": u32, "ll": i64, "ull": u64}
_ROUND: dict[str, Callable[[Builder, Value], Value]] = {
    "rn": rint,
    "rz": lambda b, x: x,  # as a cast rounds
    "rd": _operation(ops.Floor),
    "ru": _operation(ops.Ceil),
}


def _converted(to: ScalarType, rounding: str) -> Callable[[Builder, Value], Value]:
    return lambda b, x: b.cast(x if to.kind == "float" else _ROUND[rounding](b, x), to)


for _name, _conversion in integers.CONVERSIONS.items():
    _types, _, _rounding = _name.partition("_")
    _source, _, _target = _types.partition("2")
    of_type(_conversion, _TYPES[_source], _converted(_TYPES[_target], _rounding))
