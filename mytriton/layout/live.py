"""How much the threads of a program hold at a time, and so how many programs should share a multiprocessor."""

from __future__ import annotations

from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.layout.choose import cheap_values
from mytriton.layout.ops import Convert, PartialReduce
from mytriton.layout.program import LaidOut, Nested, Segment
from mytriton.target import Target
from mytriton.types import ScalarType, element_of

#: Registers of a multiprocessor (CUDA programming guide, "Technical specifications"), and what a thread takes beside
#: the blocks that it holds, where it computes no more than this in at most 32 bits.
_REGISTERS, _BESIDE = 65536, 30
_COMPUTED = (
    *(ops.Add, ops.Sub, ops.Mul, ops.Div, ops.Fma, ops.Maximum, ops.Minimum, ops.Neg, ops.Exp, ops.Exp2),
    *(ops.Compare, ops.Select, ops.And, ops.Or, ops.Cast, ops.Constant, ops.Splat, ops.Arange, ops.ProgramId),
    *(ops.AddPtr, ops.Load, ops.Store, ops.Broadcast, ops.Reshape, ops.Transpose, Convert, PartialReduce),
)
#: Smaller programs fit several times, whatever they hold.
_FEWEST_THREADS = 256


def programs_together(laid_out: LaidOut, target: Target) -> int:
    """How many programs a multiprocessor is to have room for: 2 of many warps if what they hold allows it, since all
    threads of one wait for its loads before they reduce; else 1, which asks for nothing."""
    simple = all(_takes_few(op) for op in laid_out.func.walk())
    if target.threads < _FEWEST_THREADS or target.form == "plain" or not simple:
        return 1
    return 2 if 2 * target.threads * (held(laid_out) + _BESIDE) <= _REGISTERS else 1


def _takes_few(op: Op) -> bool:
    elements = (element_of(v.type) for v in op.results)
    return isinstance(op, _COMPUTED) and all(e.bytes <= 4 for e in elements if isinstance(e, ScalarType))


def held(laid_out: LaidOut) -> int:
    """The most registers that the blocks take which a thread keeps from one item to a later one, but for those as cheap
    to make again. There are no loops and branches."""
    cheap, layouts = cheap_values(laid_out.func), laid_out.layouts
    made, last = dict[Value, int](), dict[Value, int]()
    for place, item in enumerate(laid_out.items):
        assert not isinstance(item, Nested), "nothing was asked of control flow"
        for op in item.ops if isinstance(item, Segment) else (item.op,):
            last.update((v, place) for v in op.operands)
            made.update((v, place) for v in op.results if layouts[v].shape and v not in cheap)
    kept = [range(at, last.get(v, at)) for v, at in made.items()]
    registers = [layouts[v].registers for v in made]
    return max(sum(n for n, k in zip(registers, kept, strict=True) if i in k) for i in range(len(laid_out.items) + 1))
