"""Algebraic identities. Each holds for every input, wrapped integers, NaN, infinities and -0.0 included."""

from __future__ import annotations

import math

from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.passes.rewrite import Match, Replacement, rule, rules_in
from mytriton.types import ScalarType, element_of, is_bool, is_float, is_unsigned


def _is(m: Match, value: Value, number: float) -> bool:
    """Whether a value is this constant; -0.0 and 0.0 differ."""
    constant = m.constant(value)
    return constant is not None and constant == number and math.copysign(1, constant) == math.copysign(1, number)


def _is_ones(m: Match, value: Value) -> bool:
    """Whether all bits of an integer or bool constant are set."""
    if is_unsigned(value.type):
        element = element_of(value.type)
        assert isinstance(element, ScalarType)
        return _is(m, value, element.high)
    return _is(m, value, 1 if is_bool(value.type) else -1)


# --- integers and floats ----------------------------------------------------------------------------------------------


@rule(ops.Add)
def add_zero(op: ops.Add, m: Match) -> Replacement:
    """x + 0 = x (for floats x + -0.0 = x; x + 0.0 turns -0.0 into 0.0)"""
    zero = -0.0 if is_float(op.result.type) else 0
    if _is(m, op.rhs, zero):
        return op.lhs
    return op.rhs if _is(m, op.lhs, zero) else None


@rule(ops.Sub)
def sub_zero(op: ops.Sub, m: Match) -> Replacement:
    """x - 0 = x"""
    return op.lhs if _is(m, op.rhs, 0) else None


@rule(ops.Sub)
def sub_self(op: ops.Sub, m: Match) -> Replacement:
    """x - x = 0 for integers (for floats NaN and infinity differ)"""
    return m.number(0, op.result.type) if op.lhs is op.rhs and not is_float(op.result.type) else None


@rule(ops.Sub)
def sub_from_zero(op: ops.Sub, m: Match) -> Replacement:
    """0 - x = -x for integers (for floats 0.0 - 0.0 is 0.0)"""
    return m.build(ops.Neg(source=op.rhs)) if _is(m, op.lhs, 0) and not is_float(op.result.type) else None


@rule(ops.Mul)
def mul_minus_one(op: ops.Mul, m: Match) -> Replacement:
    """x * -1 = -x for integers (-1: all bits set)"""
    if is_float(op.result.type):
        return None
    if _is_ones(m, op.rhs):
        return m.build(ops.Neg(source=op.lhs))
    return m.build(ops.Neg(source=op.rhs)) if _is_ones(m, op.lhs) else None


@rule(ops.Mul)
def mul_one(op: ops.Mul, m: Match) -> Replacement:
    """x * 1 = x"""
    if _is(m, op.rhs, 1):
        return op.lhs
    return op.rhs if _is(m, op.lhs, 1) else None


@rule(ops.Mul)
def mul_zero(op: ops.Mul, m: Match) -> Replacement:
    """x * 0 = 0 for integers (for floats NaN, infinity and the sign of zero differ)"""
    if is_float(op.result.type):
        return None
    if _is(m, op.rhs, 0):
        return op.rhs
    return op.lhs if _is(m, op.lhs, 0) else None


@rule(ops.Div, ops.FloorDiv)
def div_one(op: ops.Div | ops.FloorDiv, m: Match) -> Replacement:
    """x / 1 = x"""
    return op.lhs if _is(m, op.rhs, 1) else None


@rule(ops.Mod)
def mod_one(op: ops.Mod, m: Match) -> Replacement:
    """x % 1 = 0 for integers"""
    return m.number(0, op.result.type) if _is(m, op.rhs, 1) and not is_float(op.result.type) else None


@rule(ops.And, ops.Or, ops.Maximum, ops.Minimum, ops.MaximumNan, ops.MinimumNan)
def same_operands(op: ops.Binary, m: Match) -> Replacement:
    """x & x = x | x = max(x, x) = min(x, x) = x"""
    return op.lhs if op.lhs is op.rhs else None


@rule(ops.Neg)
def neg_neg(op: ops.Neg, m: Match) -> Replacement:
    """-(-x) = x"""
    inner = m.definition(op.source)
    return inner.source if isinstance(inner, ops.Neg) else None


# --- bits -------------------------------------------------------------------------------------------------------------


@rule(ops.Or, ops.Xor)
def bits_zero(op: ops.Or | ops.Xor, m: Match) -> Replacement:
    """x | 0 = x ^ 0 = x"""
    if _is(m, op.rhs, 0):
        return op.lhs
    return op.rhs if _is(m, op.lhs, 0) else None


@rule(ops.Shl, ops.Shr)
def shift_zero(op: ops.Shl | ops.Shr, m: Match) -> Replacement:
    """x << 0 = x >> 0 = x, and 0 << x = 0 >> x = 0"""
    return op.lhs if _is(m, op.rhs, 0) or _is(m, op.lhs, 0) else None


@rule(ops.And)
def and_constant(op: ops.And, m: Match) -> Replacement:
    """x & 0 = 0, and x & -1 = x (-1: all bits set)"""
    for constant, other in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
        if _is(m, constant, 0):
            return constant
        if _is_ones(m, constant):
            return other
    return None


@rule(ops.Or)
def or_ones(op: ops.Or, m: Match) -> Replacement:
    """x | -1 = -1"""
    if _is_ones(m, op.rhs):
        return op.rhs
    return op.lhs if _is_ones(m, op.lhs) else None


@rule(ops.Xor)
def xor_self(op: ops.Xor, m: Match) -> Replacement:
    """x ^ x = 0"""
    return m.number(False if is_bool(op.result.type) else 0, op.result.type) if op.lhs is op.rhs else None


@rule(ops.Not)
def not_not(op: ops.Not, m: Match) -> Replacement:
    """~(~x) = x"""
    inner = m.definition(op.source)
    return inner.source if isinstance(inner, ops.Not) else None


# --- comparisons and choices ------------------------------------------------------------------------------------------


@rule(ops.Compare)
def compare_self(op: ops.Compare, m: Match) -> Replacement:
    """x == x, x <= x, x >= x are true and x != x, x < x, x > x false, but for floats (NaN)"""
    if op.lhs is not op.rhs or is_float(op.lhs.type):
        return None
    return m.number(isinstance(op, (ops.CmpEq, ops.CmpLe, ops.CmpGe)), op.result.type)


@rule(ops.Select)
def select_same(op: ops.Select, m: Match) -> Replacement:
    """where(c, x, x) = x"""
    return op.if_true if op.if_true is op.if_false else None


@rule(ops.Select)
def select_constant(op: ops.Select, m: Match) -> Replacement:
    """where(true, x, y) = x, and where(false, x, y) = y"""
    condition = m.constant(op.condition)
    if condition is None:
        return None
    return op.if_true if condition else op.if_false


@rule(ops.Select)
def select_bool(op: ops.Select, m: Match) -> Replacement:
    """where(c, true, false) = c"""
    choices = m.constant(op.if_true), m.constant(op.if_false)
    return op.condition if is_bool(op.result.type) and choices == (True, False) else None


@rule(ops.Select)
def select_not_bool(op: ops.Select, m: Match) -> Replacement:
    """where(c, false, true) = ~c"""
    choices = m.constant(op.if_true), m.constant(op.if_false)
    return m.build(ops.Not(source=op.condition)) if is_bool(op.result.type) and choices == (False, True) else None


@rule(ops.Select)
def select_not(op: ops.Select, m: Match) -> Replacement:
    """where(~c, x, y) = where(c, y, x)"""
    inner = m.definition(op.condition)
    if not isinstance(inner, ops.Not):
        return None
    return m.build(ops.Select(condition=inner.source, if_true=op.if_false, if_false=op.if_true))


@rule(ops.Select)
def select_select(op: ops.Select, m: Match) -> Replacement:
    """where(c, where(c, x, y), z) = where(c, x, z), and where(c, x, where(c, y, z)) = where(c, x, z)"""
    first, second = m.definition(op.if_true), m.definition(op.if_false)
    if_true = first.if_true if isinstance(first, ops.Select) and first.condition is op.condition else op.if_true
    if_false = second.if_false if isinstance(second, ops.Select) and second.condition is op.condition else op.if_false
    if if_true is op.if_true and if_false is op.if_false:
        return None
    return m.build(ops.Select(condition=op.condition, if_true=if_true, if_false=if_false))


RULES = rules_in(globals())
