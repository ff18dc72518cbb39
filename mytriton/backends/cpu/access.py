"""Which blocks of addresses are consecutive in memory, so that a vector load or store can stand for a gather.

A block is *contiguous* if each element is the one before it plus 1 (for pointers: plus one element), in the wrapping
arithmetic of its type. An i32 offset may wrap in the middle of a block; extended to 64 bits it then jumps. Where that
cannot be excluded, the analysis names the offset as a *guard*: at run time its first element must not exceed
2**31 - N for a block of N elements. `analysis/axis.py` proves most offsets to need none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from mytriton.analysis.axis import AxisInfo, axis_info
from mytriton.ir import ops
from mytriton.ir.core import Func, Op, Value
from mytriton.types import BlockType, element_of, i32, i64, is_integer, shape_of


@dataclass(frozen=True, slots=True)
class Contiguous:
    """A contiguous block, provided that no value of `guards` (blocks of i32) wraps within the block."""

    guards: tuple[Value, ...] = ()


def contiguous(func: Func) -> Mapping[Value, Contiguous]:
    """The contiguous blocks of integers and pointers."""
    axes = axis_info(func)
    uniform: set[Value] = set()
    found: dict[Value, Contiguous] = {}
    for op in func.walk():
        if not op.results or not isinstance(op.result.type, BlockType):
            continue
        if isinstance(op, ops.Splat) or (_is_elementwise(op) and all(v in uniform for v in op.operands)):
            uniform.add(op.result)
            continue
        answer = _step(op, found, uniform, axes)
        if answer is not None:
            found[op.result] = answer
    return found


def _step(
    op: Op, found: Mapping[Value, Contiguous], uniform: set[Value], axes: Mapping[Value, AxisInfo]
) -> Contiguous | None:
    match op:
        case ops.Arange():
            return Contiguous()
        case ops.Add(lhs=a, rhs=b) if is_integer(op.result.type):
            if a in found and b in uniform:
                return found[a]
            return found[b] if b in found and a in uniform else None
        case ops.Sub(lhs=a, rhs=b) if is_integer(op.result.type):
            return found[a] if a in found and b in uniform else None
        case ops.Cast(source=a) if a in found and element_of(a.type) == i32 and op.to == i64:
            return _extended(a, found[a], axes)
        case ops.AddPtr(pointer=p, offset=o):
            if p in found and o in uniform:
                return found[p]
            if p in uniform and o in found:
                return _extended(o, found[o], axes) if element_of(o.type) == i32 else found[o]
    return None


def _extended(value: Value, answer: Contiguous, axes: Mapping[Value, AxisInfo]) -> Contiguous:
    """What holds of an i32 block extended to 64 bits."""
    if axes[value].contiguous == prod(shape_of(value.type)):
        return answer
    return Contiguous((*answer.guards, value))


def _is_elementwise(op: Op) -> bool:
    return isinstance(op, (ops.Unary, ops.Binary, ops.Fma, ops.Compare, ops.Select, ops.Cast, ops.AddPtr))
