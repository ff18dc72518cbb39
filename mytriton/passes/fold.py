"""Constant folding by the interpreter's own arithmetic: a constant is what the kernel would have computed."""

from __future__ import annotations

from mytriton.ir import ops
from mytriton.ir.core import Func, Op
from mytriton.passes import algebra, branches, conversions, shaping
from mytriton.passes.rewrite import Match, Replacement, Rules, rewrite, rule
from mytriton.stage import Change
from mytriton.types import PointerType, ScalarType, element_of, is_integer

_SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "idiv": "//",
    "mod": "%",
    "and": "&",
    "or": "|",
    "xor": "^",
    "shl": "<<",
    "shr": ">>",
    "cmp_eq": "==",
    "cmp_ne": "!=",
    "cmp_lt": "<",
    "cmp_le": "<=",
    "cmp_gt": ">",
    "cmp_ge": ">=",
}


def _unspecified(op: Op, numbers: list[bool | int | float]) -> bool:
    """Integer division by 0, or of the least integer by -1: no value is promised, so none is made up here."""
    return isinstance(op, (ops.FloorDiv, ops.Mod)) and is_integer(op.lhs.type) and numbers[1] in (0, -1)


def _sentence(op: Op, operands: list[str], result: str) -> str:
    if isinstance(op, (ops.Cast, ops.Bitcast)):
        return f"{op.to}({operands[0]}) = {result}"
    if op.opcode in _SYMBOLS:
        return f"{operands[0]} {_SYMBOLS[op.opcode]} {operands[1]} = {result}"
    return f"{op.opcode}({', '.join(operands)}) = {result}"


@rule(ops.Unary, ops.Binary, ops.Fma, ops.Compare, ops.Select, ops.Cast, ops.Bitcast)
def constant(op: Op, m: Match) -> Replacement:
    """An operation on constants is a constant"""
    if isinstance(op, ops.Bitcast) and isinstance(op.to, PointerType):
        return None  # there are no constant addresses
    numbers: list[bool | int | float] = []
    elements: list[ScalarType] = []
    for value in op.operands:
        number = m.constant(value)
        element = element_of(value.type)
        if number is None or not isinstance(element, ScalarType):
            return None
        numbers.append(number)
        elements.append(element)
    if _unspecified(op, numbers) or (isinstance(op, ops.Bitcast) and numbers[0] != numbers[0]):
        return None
    import numpy as np  # here, as it takes longer to load than most kernels to compile, which compute nothing

    from mytriton.ir.arithmetic import DTYPES, evaluate

    with np.errstate(all="ignore"):
        computed = evaluate(op, [np.array(n, DTYPES[e]) for n, e in zip(numbers, elements, strict=True)])
    kind = computed.dtype.kind
    result = bool(computed) if kind == "b" else int(computed) if kind in "iu" else float(computed)
    if isinstance(op, ops.Bitcast) and result != result:
        return None
    folded = m.number(result, op.result.type)
    return folded, _sentence(op, [m.text(v) for v in op.operands], m.text(folded))


RULES = (constant, *algebra.RULES, *conversions.RULES, *shaping.RULES, *branches.RULES)
_RULES = Rules(RULES)


def fold(func: Func) -> tuple[Func, tuple[Change, ...]]:
    """Constant folding and identities of arithmetic, shapes and control flow, together, to a fixpoint."""
    return rewrite(func, "fold", _RULES)
