"""Random numbers as a function of a seed and a counter (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
2011: Philox 4x32 and 4x64)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mytriton import language as tl
from mytriton.frontend.registry import FUNCTIONS, builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Known, Mistake, Operand, Tuple
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.types import ScalarType, element_of, f32, i32, i64, shape_of, u32, u64

#: For each type: what the two multiplied counters are multiplied by, and what the two halves of the key grow by.
_ROUND = {u32: (0xD2511F53, 0xCD9E8D57), u64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
_KEY = {u32: (0x9E3779B9, 0xBB67AE85), u64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}
#: What brings the non-negative numbers of a type to [0, 1), with room for rounding up.
_SCALE = {i32: 4.6566127342e-10, i64: 1.0842020432385337e-19}


def _integer(s: Semantics, operand: Operand, what: str) -> Value:
    value = s.value(operand)
    element = element_of(value.type)
    if not isinstance(element, ScalarType) or element.kind != "int":
        message = f"{what} must consist of integers, got {s.describe(operand)}"
        raise Mistake("MT203", message, operand.span, f"convert it: {s.short(operand)}.to(tl.int32)")
    return value


class _Philox:
    """Arithmetic in one unsigned type, on values of one shape."""

    def __init__(self, s: Semantics, span: Span, element: ScalarType, shape: tuple[int, ...]) -> None:
        self._s, self._span, self._element, self._shape = s, span, element, shape

    def number(self, value: int) -> Value:
        return self._s.builder.constant(value, self._element, self._shape)

    def __call__(self, op: type[ops.Binary], lhs: Value, rhs: Value) -> Value:
        return self._s.builder.add(op, lhs=lhs, rhs=rhs)

    def high(self, factor: Value, value: Value, where: Operand) -> Value:
        """The upper half of the product."""
        found = FUNCTIONS[tl.umulhi].rule(self._s, self._span, Operand(factor, where.expr), Operand(value, where.expr))
        assert isinstance(found, Value)
        return found

    def rounds(self, counters: list[Value], key: list[Value], count: int, where: Operand) -> list[Value]:
        """The counters after `count` rounds."""
        first, second = (self.number(n) for n in _ROUND[self._element])
        grows = [self.number(n) for n in _KEY[self._element]]
        for _ in range(count):
            a, b, c, d = counters
            counters = [
                self(ops.Xor, self(ops.Xor, self.high(second, c, where), b), key[0]),
                self(ops.Mul, second, c),
                self(ops.Xor, self(ops.Xor, self.high(first, a, where), d), key[1]),
                self(ops.Mul, first, a),
            ]
            key = [self(ops.Add, k, by) for k, by in zip(key, grows, strict=True)]
        return counters


def _rounds(s: Semantics, n_rounds: Operand | None) -> int:
    count = 10 if n_rounds is None else s.known_int(n_rounds, "`n_rounds`")
    if not 0 <= count <= 100:
        assert n_rounds is not None
        message = f"`n_rounds` must be from 0 to 100, got {count}"
        raise Mistake("MT212", message, n_rounds.span, "10 rounds are enough; 7 pass the usual tests")
    return count


def _together(s: Semantics, operands: list[Operand], values: list[Value], span: Span) -> list[Value]:
    return s.same_shape(values, operands, span)


@builtin(tl.philox_impl)
def _philox_impl(
    s: Semantics,
    span: Span,
    c0: Operand,
    c1: Operand,
    c2: Operand,
    c3: Operand,
    k0: Operand,
    k1: Operand,
    n_rounds: Operand | None = None,
) -> Item:
    given = [c0, c1, c2, c3, k0, k1]
    values = [_integer(s, o, "the counters and keys of tl.philox_impl") for o in given]
    element = element_of(values[0].type)
    if element not in (u32, u64):
        hint = f"convert them: {s.short(c0)}.to(tl.uint32)"
        raise Mistake("MT203", f"tl.philox_impl takes uint32 or uint64, got {s.describe(c0)}", c0.span, hint)
    assert isinstance(element, ScalarType)
    *counters, low, high = _together(s, given, [s.builder.cast(v, element) for v in values], span)
    philox = _Philox(s, span, element, shape_of(low.type))
    return Tuple(tuple(philox.rounds(counters, [low, high], _rounds(s, n_rounds), c0)))


@builtin(tl.philox)
def _philox(
    s: Semantics,
    span: Span,
    seed: Operand,
    c0: Operand,
    c1: Operand,
    c2: Operand,
    c3: Operand,
    n_rounds: Operand | None = None,
) -> Item:
    given = [c0, c1, c2, c3]
    values = [_integer(s, o, "the counters of tl.philox") for o in given]
    first = element_of(values[0].type)
    assert isinstance(first, ScalarType)
    if first.bits not in (32, 64):
        message = f"the counters of tl.philox have 32 or 64 bits, got {s.describe(c0)}"
        raise Mistake("MT203", message, c0.span, f"convert them: {s.short(c0)}.to(tl.uint32)")
    element = u32 if first.bits == 32 else u64
    key = _key(s, seed, element)
    counters = [s.builder.cast(v, element) for v in values]
    *counters, low, high = _together(s, [*given, seed, seed], [*counters, *key], span)
    philox = _Philox(s, span, element, shape_of(low.type))
    return Tuple(tuple(philox.rounds(counters, [low, high], _rounds(s, n_rounds), c0)))


def _key(s: Semantics, seed: Operand, element: ScalarType) -> list[Value]:
    """A seed of 64 bits as the two halves of a key."""
    wide = s.builder.cast(_integer(s, seed, "the seed"), u64)
    if element == u64:
        return [wide, s.builder.constant(0, u64, shape_of(wide.type))]
    upper = s.builder.add(ops.Shr, lhs=wide, rhs=s.builder.constant(32, u64, shape_of(wide.type)))
    return [s.builder.cast(wide, u32), s.builder.cast(upper, u32)]


@builtin(tl.randint4x)
def _randint4x(s: Semantics, span: Span, seed: Operand, offset: Operand, n_rounds: Operand | None = None) -> Item:
    at = _integer(s, offset, "the offsets of random numbers")
    element, zero = element_of(at.type), s.builder.constant(0, u32, shape_of(at.type))
    assert isinstance(element, ScalarType)
    upper = zero
    if element.bits > 32:
        half = s.builder.constant(32, element, shape_of(at.type))
        upper = s.builder.cast(s.builder.add(ops.Shr, lhs=at, rhs=half), u32)
    counters = [Operand(v, offset.expr) for v in (s.builder.cast(at, u32), upper, zero, zero)]
    return _philox(s, span, seed, *counters, n_rounds=n_rounds)


@builtin(tl.uint_to_uniform_float)
def _uniform(s: Semantics, span: Span, x: Operand) -> Item:
    value = _integer(s, x, "the argument of tl.uint_to_uniform_float")
    element = element_of(value.type)
    assert isinstance(element, ScalarType)
    if element.bits not in (32, 64):
        message = f"tl.uint_to_uniform_float takes integers of 32 or 64 bits, got {s.describe(x)}"
        raise Mistake("MT203", message, x.span, f"convert it: {s.short(x)}.to(tl.uint32)")
    b, signed, shape = s.builder, i32 if element.bits == 32 else i64, shape_of(value.type)
    # The bits as a signed number; the complement folds the negative ones over.
    value = b.cast(value, signed)
    negative = b.add(ops.CmpLt, lhs=value, rhs=b.constant(0, signed, shape))
    folded = b.add(ops.Select, condition=negative, if_true=b.add(ops.Not, source=value), if_false=value)
    return b.add(ops.Mul, lhs=b.cast(folded, f32), rhs=b.constant(_SCALE[signed], f32, shape))


@builtin(tl.pair_uniform_to_normal)
def _normal(s: Semantics, span: Span, u1: Operand, u2: Operand) -> Item:
    """The transform of Box and Muller; logarithms of less than 1e-7 are those of 1e-7."""

    def call(function: Callable[..., Any], *args: Operand) -> Operand:
        return Operand(FUNCTIONS[function].rule(s, span, *args), u1.expr)

    def number(value: float) -> Operand:
        return Operand(Known(value), u1.expr)

    def times(x: Operand, y: Operand) -> Operand:
        return Operand(s.binary("*", x, y, span), u1.expr)

    above = call(tl.maximum, number(1.0e-7), u1)
    angle = times(number(6.283185307179586), u2)
    radius = call(tl.sqrt, times(number(-2.0), call(tl.log, above)))
    return Tuple(tuple(times(radius, call(function, angle)).item for function in (tl.cos, tl.sin)))


def _of_four(function: Callable[..., Any], convert: Callable[[Semantics, Span, list[Operand]], list[Item]]) -> None:
    """`function` of the four integers that a seed and offsets give; a single result is returned as such."""

    def rule(s: Semantics, span: Span, seed: Operand, n_rounds: Operand | None = None, **at: Operand) -> Item:
        (offset,) = at.values()  # Triton has two names for it
        four = _randint4x(s, span, seed, offset, n_rounds)
        assert isinstance(four, Tuple)
        made = convert(s, span, [Operand(item, offset.expr) for item in four.items])
        return made[0] if len(made) == 1 else Tuple(tuple(made))

    builtin(function)(rule)


def _uniforms(s: Semantics, span: Span, four: list[Operand]) -> list[Item]:
    return [_uniform(s, span, one) for one in four]


def _normals(s: Semantics, span: Span, four: list[Operand]) -> list[Item]:
    uniform = [Operand(item, four[0].expr) for item in _uniforms(s, span, four)]
    pairs = [_normal(s, span, *uniform[n : n + 2]) for n in range(0, len(four), 2)]
    return [item for pair in pairs if isinstance(pair, Tuple) for item in pair.items]


_of_four(tl.randint, lambda s, span, four: [four[0].item])
_of_four(tl.rand, lambda s, span, four: _uniforms(s, span, four[:1]))
_of_four(tl.rand4x, _uniforms)
_of_four(tl.randn, lambda s, span, four: _normals(s, span, four[:2])[:1])
_of_four(tl.randn4x, _normals)
