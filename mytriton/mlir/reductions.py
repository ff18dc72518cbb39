"""Operations that combine elements along an axis: by their names, or where only how values are used says so.

Kernels that were emitted for threads hold no operation called a reduction: lanes hand their values to each other, and
turns of a loop add to what those before have left, in a value that they carry or in memory.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
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
_LOOPS = ("scf.for", "affine.for")
#: What loads from the places that these store in.
_LOADS = {"memref.store": "memref.load", "affine.store": "affine.load"}
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
    if op.name in _LOOPS:
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
    """Whether a value that is carried, or a place in memory that is the same in each turn, is combined with some that
    are made inside the loop."""
    body = op.regions[0].blocks[0]
    carried = list(body.arguments)[1:]
    ending = list(body.operations)[-1].operation
    turned = zip(carried, ending.operands, strict=False)
    if any(_combined(partial(_same, argument), value, op) for argument, value in turned):
        return True
    return any(_combined(partial(_is_load, store), store.operands[0], op) for store in _stores(op))


def _same(argument: Any, value: Any) -> bool:
    return bool(value == argument)


def _stores(loop: Any) -> Iterator[Any]:
    """What a loop, or one in it, stores in a place that does not depend on its turn."""
    pending = list(loop.regions)
    while pending:
        for block in pending.pop().blocks:
            for view in block.operations:
                op = view.operation
                if op.name in _LOADS and all(_same_each_turn(value, loop) for value in list(op.operands)[1:]):
                    yield op
                pending += op.regions


def _same_each_turn(value: Any, loop: Any) -> bool:
    """Whether a value is the same in each turn of a loop: one from outside, a number made of such, or what a loop in it
    counts from and to such."""
    from mlir import ir

    if not _inside(value, loop):
        return True
    if isinstance(value, ir.BlockArgument):
        inner = value.owner.owner.operation
        counts = inner != loop and inner.name in _LOOPS and value.arg_number == 0
        return counts and all(_same_each_turn(each, loop) for each in inner.operands)
    made = value.owner.operation
    number = made.name.startswith("arith.") or made.name == "affine.apply"
    return number and all(_same_each_turn(each, loop) for each in made.operands)


def _is_load(store: Any, value: Any) -> bool:
    """Whether a value is loaded from the place that something is stored in."""
    owner = _definition(value)
    if owner is None or owner.name != _LOADS[store.name] or list(owner.operands) != list(store.operands)[1:]:
        return False
    return "map" not in store.attributes or bool(store.attributes["map"] == owner.attributes["map"])


def _combined(begins: Callable[[Any], bool], value: Any, loop: Any) -> bool:
    """Whether a value is what a turn begins with, combined once or more with something that it made."""
    # With each value goes whether something of the turn's own was met on the way to it.
    pending = [(value, False)]
    for _ in range(_LONGEST):
        value, own = pending.pop() if pending else (None, False)
        if value is None:
            return False
        if begins(value):
            if own:
                return True
            continue
        owner = _definition(value)
        if owner is None or not _combines(owner):
            continue
        operands = list(owner.operands)
        for at, operand in enumerate(operands):
            others = operands[:at] + operands[at + 1 :]
            pending.append((operand, own or any(_made_inside(other, loop) for other in others)))
    return False


def _combines(op: Any) -> bool:
    """Whether an operation makes one element of two, as a reduction does."""
    if op.name in ("func.call", "llvm.call"):
        return bool("callee" in op.attributes and _LIBRARY.match(str(op.attributes["callee"])))
    return bool(_COMBINES.match(op.name))


def _made_inside(value: Any, loop: Any) -> bool:
    """Whether a value is the result of an operation in a loop."""
    return _definition(value) is not None and _inside(value, loop)


def _inside(value: Any, loop: Any) -> bool:
    """Whether a value is made in a loop, or is an argument of its body."""
    from mlir import ir

    around = value.owner.owner if isinstance(value, ir.BlockArgument) else value.owner.operation.parent
    while around is not None and around.operation != loop:
        around = around.operation.parent
    return around is not None


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
