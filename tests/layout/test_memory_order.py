"""Random sequences of scalar and block accesses to the same arrays: the laid-out program orders them as the SSA does.

Blocks are always accessed at their own elements, so lanes meet only through scalars, which are ordered by barriers.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mytriton.ir import interp, ops
from mytriton.ir.builder import Builder
from mytriton.ir.core import Func, Value
from mytriton.ir.verify import verify
from mytriton.layout import simulate
from mytriton.layout.assign import lay_out
from mytriton.passes import PASSES
from mytriton.target import Target
from mytriton.types import i32
from tests.ir.kernels import at_offsets, pointer

SIZES = (32, 512)


@st.composite
def kernels(draw: st.DrawFn) -> Func:
    """Loads and stores of one element, or of a block of 32 or 512, with sums between them. Each block size has two
    arrays of its own; scalars go to any of them."""
    b = Builder()
    arrays = {size: (pointer(f"a{size}", i32), pointer(f"b{size}", i32)) for size in SIZES}
    params = tuple(p for pair in arrays.values() for p in pair)
    scalars: list[Value] = [b.constant(1, i32)]
    blocks: dict[int, list[Value]] = {s: [b.add(ops.Arange, start=0, end=s)] for s in SIZES}
    for _ in range(draw(st.integers(1, 12))):
        size = draw(st.sampled_from(SIZES))
        base = draw(st.sampled_from(arrays[size]))
        scalar = draw(st.booleans())
        if scalar:
            index = b.constant(draw(st.integers(0, size - 1)), i32)
            place = b.add(ops.AddPtr, pointer=base, offset=index)
        else:
            place = at_offsets(b, base, blocks[size][0])
        pool = scalars if scalar else blocks[size]
        match draw(st.sampled_from(("load", "store", "add"))):
            case "load":
                pool.append(b.add(ops.Load, pointer=place))
            case "store":
                b.append(ops.Store(pointer=place, value=draw(st.sampled_from(pool[::-1]))))
            case "add":
                other = draw(st.sampled_from(pool if scalar else [*pool, b.splat(scalars[-1], (size,))]))
                pool.append(b.add(ops.Add, lhs=pool[-1], rhs=other))
    for size in SIZES:
        last = b.add(ops.Add, lhs=blocks[size][-1], rhs=b.splat(scalars[-1], (size,)))
        b.append(ops.Store(pointer=at_offsets(b, arrays[size][0], blocks[size][0]), value=last))
    return b.finish("memory", params)


@given(kernels(), st.permutations(range(4)), st.booleans())
@settings(max_examples=60)
def test_memory_order(func: Func, order: list[int], optimize: bool) -> None:
    if optimize:
        for pass_ in PASSES:
            func, _ = pass_.run(func)
    verify(func)
    expected = [np.arange(size, dtype=np.int32) * 7 for size in SIZES for _ in range(2)]
    actual = [a.copy() for a in expected]
    interp.run(func, expected, (2,))
    simulate.run(lay_out(func, Target()), actual, (2,), warps=order)
    for a, e in zip(actual, expected, strict=True):
        assert a.tolist() == e.tolist()
