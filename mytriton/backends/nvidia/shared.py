"""How much shared memory a kernel needs, and how an exchange goes through it."""

from __future__ import annotations

from collections.abc import Iterator

from mytriton.backends.nvidia.occupancy import shared_limit
from mytriton.diagnostics import Diagnostic
from mytriton.ir import ops
from mytriton.ir.core import Func
from mytriton.layout.dots import dot_plan, factor_bytes
from mytriton.layout.ops import Convert, PartialReduce
from mytriton.layout.program import Exchange, Exchanged, LaidOut
from mytriton.layout.routes import round_elements, round_registers
from mytriton.layout.warpgroup import ALIGNED_BYTES, by_warpgroups
from mytriton.records import dataclass
from mytriton.target import Target
from mytriton.types import PointerType, element_of


@dataclass(frozen=True)
class Rounds:
    """How an exchange goes through the buffer: `count` times with `size` elements of the block (a conversion), numbers
    (a histogram), registers of each thread (a reduction) or steps (a product)."""

    size: int
    count: int
    bytes: int


def rounds(laid_out: LaidOut, op: Exchanged) -> Rounds | None:
    """The rounds of an exchange; None if it needs no shared memory."""
    if isinstance(op, ops.InlineAsm):
        return None
    if isinstance(op, ops.Dot):
        plan = dot_plan(op, laid_out.layouts)
        return Rounds(plan.depth, plan.rounds, plan.slots * factor_bytes(op))
    held = op.result if isinstance(op, ops.Histogram) else op.source
    layout, element = laid_out.layouts[held], element_of(held.type)
    unit = 8 if isinstance(element, PointerType) else element.bytes
    if isinstance(op, (ops.Gather, ops.Histogram)) or (isinstance(op, (Convert, ops.Pick)) and op.through == "shared"):
        size = round_elements(layout, unit)
        return Rounds(size, layout.size // size, size * unit)
    if isinstance(op, PartialReduce) and op.across == "warps":
        size = round_registers(layout, unit)
        return Rounds(size, layout.registers // size, size * 32 * laid_out.num_warps * unit)
    return None


def shared_bytes(laid_out: LaidOut) -> int:
    """The size of the buffer that a kernel needs; 0 if it needs none."""
    exchanges = (item.op for item in laid_out.walk() if isinstance(item, Exchange))
    return max((r.bytes for op in exchanges if (r := rounds(laid_out, op))), default=0)


def alignment(laid_out: LaidOut) -> int:
    """What the buffer's address is a multiple of: 16, or what matrices of warpgroups ask for."""
    products = (item.op for item in laid_out.walk() if isinstance(item, Exchange) and isinstance(item.op, ops.Dot))
    return ALIGNED_BYTES if any(map(by_warpgroups, products)) else 16


def dynamic_bytes(laid_out: LaidOut) -> int:
    """The part of `shared_bytes` that a launch has to ask for: all or nothing, as the buffer is one."""
    size = shared_bytes(laid_out)
    return size if size > STATIC_BYTES else 0


#: What a program may have without asking for more at the launch (CUDA programming guide, "Technical specifications").
STATIC_BYTES = 48 * 1024
_FEWER = "multiply blocks of fewer rows and columns, or of smaller elements"


def too_large(func: Func, target: Target, stage: str) -> Iterator[Diagnostic]:
    """The products of which not even one column and one row find room in shared memory."""
    most = shared_limit(target.chip)
    for op in func.walk():
        if isinstance(op, ops.Dot) and (needed := dot_plan(op).slots * factor_bytes(op)) > most:
            message = f"a column of {op.lhs.type} and a row of {op.rhs.type} take {needed} bytes of shared memory, "
            message += f"but a program on {target.chip} has {most}"
            yield Diagnostic("MT512", message, op.span, hint=_FEWER, stage=stage)
