"""How much shared memory a kernel needs."""

from __future__ import annotations

from collections.abc import Iterator

from mytriton.backends.nvidia.occupancy import shared_limit
from mytriton.diagnostics import Diagnostic
from mytriton.ir import ops
from mytriton.ir.core import Func
from mytriton.layout.buffer import rounds
from mytriton.layout.dots import dot_plan, factor_bytes
from mytriton.layout.program import Exchange, LaidOut
from mytriton.layout.staging import Staged
from mytriton.layout.warpgroup import ALIGNED_BYTES, by_warpgroups
from mytriton.target import Target


def shared_bytes(laid_out: LaidOut) -> int:
    """The size of the buffer that a kernel needs, rings in it included; 0 if it needs none."""
    exchanges = [item.op for item in laid_out.walk() if isinstance(item, Exchange)]
    needs = [r.bytes for op in exchanges if (r := rounds(op, laid_out.layouts))]
    return max([*needs, *(op.ring.end for op in exchanges if isinstance(op, Staged))], default=0)


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
