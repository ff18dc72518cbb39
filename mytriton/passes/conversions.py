"""Identities of casts and of moved pointers."""

from __future__ import annotations

from mytriton.ir import ops
from mytriton.passes.rewrite import Match, Replacement, rule, rules_in
from mytriton.types import (
    INTEGERS,
    PointerType,
    ScalarType,
    bf16,
    element_of,
    f8e4nv,
    f8e5,
    f16,
    f32,
    f64,
    i1,
    i32,
    i64,
    shape_of,
)

#: Significand bits of the floats.
_PRECISION = {f8e4nv: 4, f8e5: 3, f16: 11, bf16: 8, f32: 24, f64: 53}


def _holds(wide: ScalarType, type_: ScalarType) -> bool:
    """Whether `wide` has every value of `type_`."""
    if type_ == i1 or wide == type_:
        return wide != i1
    if wide.kind == "float":
        if type_.kind == "float":
            return wide.bits > type_.bits
        return type_.high <= 1 << _PRECISION[wide]
    return type_.kind == "int" and wide.kind == "int" and wide.low <= type_.low and type_.high <= wide.high


def _one_step(source: ScalarType, middle: ScalarType, to: ScalarType) -> bool:
    """Whether a cast by way of `middle` is one cast. Integers wrap, but a float saturates."""
    saturates = source.kind == "int" and middle.kind == "float" and to in INTEGERS
    return _holds(middle, source) and (not saturates or _holds(to, source))


@rule(ops.Cast, ops.Bitcast, ops.Reshape, ops.Broadcast)
def same_type(op: ops.Cast | ops.Bitcast | ops.Reshape | ops.Broadcast, m: Match) -> Replacement:
    """A conversion to the type and shape a value already has is that value"""
    return op.source if op.source.type == op.result.type else None


@rule(ops.Cast)
def cast_cast(op: ops.Cast, m: Match) -> Replacement:
    """A cast of an exact cast is one cast"""
    inner = m.definition(op.source)
    if not isinstance(inner, ops.Cast):
        return None
    element = element_of(inner.source.type)
    assert isinstance(element, ScalarType)
    back = element.is_float8 and op.to == element  # which makes one NaN of all
    if back or not _one_step(element, inner.to, op.to):
        return None
    return inner.source if op.to == element else m.build(ops.Cast(source=inner.source, to=op.to))


@rule(ops.Bitcast)
def bitcast_bitcast(op: ops.Bitcast, m: Match) -> Replacement:
    """A bit cast of a bit cast is one"""
    inner = m.definition(op.source)
    if not isinstance(inner, ops.Bitcast):
        return None
    ends = {element_of(inner.source.type), op.to}
    if any(isinstance(t, PointerType) for t in ends) and any(isinstance(t, ScalarType) and t != i64 for t in ends):
        return None  # a float's bits are an address by way of an i64 only
    return m.build(ops.Bitcast(source=inner.source, to=op.to))


@rule(ops.AddPtr)
def addptr_zero(op: ops.AddPtr, m: Match) -> Replacement:
    """p + 0 = p"""
    return op.pointer if m.constant(op.offset) == 0 else None


@rule(ops.AddPtr)
def addptr_addptr(op: ops.AddPtr, m: Match) -> Replacement:
    """(p + a) + b = p + (a + b) for constants whose sum does not overflow"""
    inner = m.definition(op.pointer)
    if not isinstance(inner, ops.AddPtr):
        return None
    first, second = m.constant(inner.offset), m.constant(op.offset)
    if not isinstance(first, int) or not isinstance(second, int):
        return None
    total = first + second
    fitting = next((t for t in (i32, i64) if -(1 << t.bits - 1) <= total < 1 << t.bits - 1), None)
    if fitting is None:
        return None
    offset = m.build(ops.Constant(value=total, type=fitting))
    if shape_of(op.result.type):
        offset = m.build(ops.Splat(source=offset, shape=shape_of(op.result.type)))
    return m.build(ops.AddPtr(pointer=inner.pointer, offset=offset)), f"{first} + {second} = {total}"


RULES = rules_in(globals())
