"""Strength reduction: what the ranges of integers prove may be computed in a cheaper way, or not at all.

Multiplications by powers of two stay as they are written: every compiler behind a backend makes shifts of them, and
`mul %0, 256` reads better. So do multiplications of a loop's variable: they cost what the addition that would replace
them costs, and need no register from trip to trip.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection

from mytriton.analysis.ranges import value_ranges
from mytriton.ir import ops
from mytriton.ir.core import Func, Value
from mytriton.passes.fold import RULES as FOLDING
from mytriton.passes.rewrite import Match, Replacement, Rule, Rules, rewrite, rule, rules_in
from mytriton.stage import Change
from mytriton.target import Target
from mytriton.types import ScalarType, element_of, f32, f64, is_float, is_integer


def _power(op: ops.Binary, m: Match) -> int | None:
    """The exponent of a divisor that is a power of two, where the dividend is not negative."""
    divisor = m.constant(op.rhs)
    if not isinstance(divisor, int) or divisor < 1 or divisor & (divisor - 1) or m.range(op.lhs).low < 0:
        return None
    return divisor.bit_length() - 1


@rule(ops.FloorDiv)
def div_power(op: ops.FloorDiv, m: Match) -> Replacement:
    """x // 2**k = x >> k if x >= 0"""
    k = _power(op, m)
    return None if k is None else m.build(ops.Shr(lhs=op.lhs, rhs=m.number(k, op.result.type)))


@rule(ops.Mod)
def mod_power(op: ops.Mod, m: Match) -> Replacement:
    """x % 2**k = x & (2**k - 1) if x >= 0"""
    k = _power(op, m) if is_integer(op.result.type) else None
    return None if k is None else m.build(ops.And(lhs=op.lhs, rhs=m.number((1 << k) - 1, op.result.type)))


@rule(ops.FloorDiv, ops.Mod)
def div_larger(op: ops.FloorDiv | ops.Mod, m: Match) -> Replacement:
    """x // y = 0 and x % y = x if 0 <= x < y"""
    if not is_integer(op.result.type):
        return None
    x, y = m.range(op.lhs), m.range(op.rhs)
    if x.low < 0 or x.high >= y.low:
        return None
    return op.lhs if isinstance(op, ops.Mod) else m.zero(op.result.type)


@rule(ops.Div)
def div_float_power(op: ops.Div, m: Match) -> Replacement:
    """x / 2**k = x * 2**-k: both are exact but for the last rounding"""
    divisor, type_ = m.constant(op.rhs), element_of(op.result.type)
    least = {f32: 2.0**-126, f64: 2.0**-1022}
    if not isinstance(divisor, float) or not isinstance(type_, ScalarType) or type_ not in least:
        return None
    if not math.isfinite(divisor) or abs(math.frexp(divisor)[0]) != 0.5:
        return None
    if abs(divisor) < least[type_] or abs(1 / divisor) < least[type_]:
        return None
    return m.build(ops.Mul(lhs=op.lhs, rhs=m.number(1 / divisor, op.result.type)))


@rule(ops.Pow)
def pow_small(op: ops.Pow, m: Match) -> Replacement:
    """x**1 = x, and x**2 = x * x"""
    exponent = m.constant(op.rhs)
    if exponent == 1:
        return op.lhs
    return m.build(ops.Mul(lhs=op.lhs, rhs=op.lhs)) if exponent == 2 else None


@rule(ops.Compare)
def compare_ranges(op: ops.Compare, m: Match) -> Replacement:
    """A comparison that the ranges of its operands decide is a constant"""
    if not is_integer(op.lhs.type):
        return None
    x, y = m.range(op.lhs), m.range(op.rhs)
    below, above = x.high < y.low, x.low > y.high
    match op:
        case ops.CmpLt() | ops.CmpGe() if below or x.low >= y.high:
            answer = below == isinstance(op, ops.CmpLt)
        case ops.CmpGt() | ops.CmpLe() if above or x.high <= y.low:
            answer = above == isinstance(op, ops.CmpGt)
        case ops.CmpEq() | ops.CmpNe() if below or above:
            answer = isinstance(op, ops.CmpNe)
        case _:
            return None
    sign = {"cmp_lt": "<", "cmp_le": "<=", "cmp_gt": ">", "cmp_ge": ">=", "cmp_eq": "==", "cmp_ne": "!="}[op.opcode]
    why = f"[{x.low}, {x.high}] {sign} [{y.low}, {y.high}] is {str(answer).lower()}"
    return m.number(answer, op.result.type), why


@rule(ops.Maximum, ops.Minimum)
def bound_ranges(op: ops.Maximum | ops.Minimum, m: Match) -> Replacement:
    """The larger (or smaller) of two integers, where their ranges decide which it is"""
    if not is_integer(op.result.type):
        return None
    x, y = m.range(op.lhs), m.range(op.rhs)
    if isinstance(op, ops.Minimum):
        x, y = y, x
    if x.low >= y.high:
        return op.lhs
    return op.rhs if y.low >= x.high else None


@rule(ops.Abs)
def abs_positive(op: ops.Abs, m: Match) -> Replacement:
    """|x| = x if x >= 0"""
    return op.source if not is_float(op.result.type) and m.range(op.source).low >= 0 else None


RULES = rules_in(globals())
_RULES = Rules((*RULES, *FOLDING))


def _add_product(once: Collection[Value]) -> Rule:
    """The rule about products that are used `once`, in their own block: others would be computed again."""

    @rule(ops.Add)
    def add_product(op: ops.Add, m: Match) -> Replacement:
        """x + (0 + a @ b) = x + a @ b: a product may begin with anything"""
        for value, other in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
            product = m.definition(value)
            if value in once and isinstance(product, ops.Dot) and m.constant(product.acc) == 0:
                return m.build(ops.Dot(lhs=product.lhs, rhs=product.rhs, acc=other, precision=product.precision))
        return None

    return add_product


def _products_used_once(func: Func) -> set[Value]:
    """The products whose only use is in the block that they are computed in."""
    uses = Counter(v for op in func.walk() for v in op.operands)
    blocks = [func.body, *(block for op in func.walk() for block in op.regions)]
    found = set[Value]()
    for block in blocks:
        products = {op.result for op in block.ops if isinstance(op, ops.Dot)}
        found |= {v for op in block.ops for v in op.operands if v in products and uses[v] == 1}
    return found


def strength(func: Func) -> tuple[Func, tuple[Change, ...]]:
    """Cheaper operations, and what folds once they are in place."""
    once = _products_used_once(func) if any(isinstance(op, ops.Dot) for op in func.walk()) else ()
    rules = Rules((_add_product(once), *RULES, *FOLDING)) if once else _RULES
    return rewrite(func, "strength", rules, value_ranges(func, Target()))
