"""Operations that combine elements along an axis: by their names, or where only how values are used says so.

Kernels that were emitted for threads hold no operation called a reduction: lanes hand their values to each other, and
turns of a loop add to what those before have left.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any

#: Operations that are reductions by name.
NAMES = (
    *("linalg.reduce", "linalg.softmax", "vector.reduction", "vector.multi_reduction", "vector.contract"),
    *("gpu.all_reduce", "gpu.subgroup_reduce", "scf.reduce", "tosa.reduce_*", "tosa.arg*"),
    *("llvm.intr.vector.reduce.*", "nvvm.redux.sync", "nvvm.mma.sync", "nvvm.wgmma.mma_async"),
    *("nvgpu.mma.sync", "nvgpu.warpgroup.mma", "gpu.subgroup_mma_compute"),
)

_COMBINES = re.compile(
    r"(?:arith|llvm|math|vector)\.(?:intr\.)?(?:addi|addf|f?add|muli|mulf|f?mul|fma|fmuladd|andi?|x?ori?|[su]?(?:max|min)\w*)$"
)
#: Functions of NVIDIA's device library that do.
_LIBRARY = re.compile(r"@__nv_\w*(?:max|min|fma)\w*$")
_CONVERTS = re.compile(r"(?:arith|llvm|builtin)\.(?:bitcast|ext\w+|trunc\w*|zext|sext|extractvalue|unrealized_\w+)$")
#: How far a value is followed through conversions: to 32 bits, the width in which lanes hand values over, and back.
_HOPS = 3
#: How many operations are looked at between what a turn of a loop is given and what it leaves.
_LONGEST = 64


def named(name: str, operands: Sequence[str]) -> bool:
    """Whether operations of that name are reductions, whatever their attributes. One of a mask is none: it asks whether
    all lanes of a vector are to be loaded."""
    mask = name.split(".")[0] in ("vector", "llvm") and operands[:1] and operands[0].endswith("xi1>")
    return not mask and any(fnmatchcase(name, pattern) for pattern in NAMES)


def accumulates(op: Any) -> bool:
    """Whether a native operation hands values between lanes to combine them, is a loop each turn of which combines
    something of its own with what those before have left, or calls a function that is named after what it does."""
    if op.name in ("gpu.shuffle", "nvvm.shfl.sync"):
        return _is_butterfly(op)
    if op.name in ("scf.for", "affine.for"):
        return _is_sum(op)
    called = op.name in ("func.call", "llvm.call") and "callee" in op.attributes
    return called and str(op.attributes["callee"]).startswith("@reduce")


def _is_butterfly(op: Any) -> bool:
    """Whether what comes from another lane is combined with what went there."""
    operands = list(op.operands)
    given = operands[1] if op.name == "nvvm.shfl.sync" else operands[0]  # the first of which is the mask of lanes
    for user in _users(op.results[0], _HOPS):
        own = [value for value in user.operands if any(value == o for o in _origins(given, _HOPS))]
        if _combines(user) and own:
            return True
    return False


def _is_sum(op: Any) -> bool:
    """Whether a value that is carried is combined with some that are made inside the loop."""
    body = op.regions[0].blocks[0]
    carried = list(body.arguments)[1:]
    ending = list(body.operations)[-1].operation
    return any(_combined(argument, value, op) for argument, value in zip(carried, ending.operands, strict=False))


def _combined(argument: Any, value: Any, loop: Any) -> bool:
    """Whether a value is what the loop was given, combined once or more with something that a turn made."""
    # With each value goes whether something of the turn's own was met on the way to it.
    pending = [(value, False)]
    for _ in range(_LONGEST):
        value, own = pending.pop() if pending else (None, False)
        if value is None:
            return False
        if value == argument:
            if own:
                return True
            continue
        owner = _definition(value)
        if owner is None or not _combines(owner):
            continue
        operands = list(owner.operands)
        for at, operand in enumerate(operands):
            others = operands[:at] + operands[at + 1 :]
            pending.append((operand, own or any(_inside(other, loop) for other in others)))
    return False


def _combines(op: Any) -> bool:
    """Whether an operation makes one element of two, as a reduction does."""
    if op.name in ("func.call", "llvm.call"):
        return bool("callee" in op.attributes and _LIBRARY.match(str(op.attributes["callee"])))
    return bool(_COMBINES.match(op.name))


def _inside(value: Any, loop: Any) -> bool:
    """Whether a value is made in the body of a loop."""
    owner = _definition(value)
    return owner is not None and owner.parent is not None and owner.parent.operation == loop


def _definition(value: Any) -> Any:
    """The operation whose result a value is; None for an argument of a block."""
    from mlir import ir

    return None if isinstance(value, ir.BlockArgument) else value.owner.operation


def _users(value: Any, hops: int) -> Iterator[Any]:
    """The operations that use a value, also after conversions."""
    for use in value.uses:
        user = use.owner.operation
        yield user
        if hops and _CONVERTS.match(user.name):
            yield from _users(user.results[0], hops - 1)


def _origins(value: Any, hops: int) -> Iterator[Any]:
    """A value, and what it was before conversions."""
    yield value
    owner = _definition(value)
    if hops and owner is not None and _CONVERTS.match(owner.name):
        yield from _origins(owner.operands[0], hops - 1)
