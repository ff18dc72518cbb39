"""How functions are cut into loops on the cpu backend, where blocks are kept, and how elements move between shapes."""

from __future__ import annotations

import itertools
from math import prod

import numpy as np
import pytest

from mytriton.backends.cpu.plan import Move, Run
from mytriton.backends.cpu.planner import make_plan
from mytriton.backends.cpu.views import compose, identity, lane_positions, pieces, view_through
from mytriton.backends.mlir.run import mlir_available
from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.ir.ops.control import yielded
from mytriton.types import BlockType, f32, f64, i32
from tests.backends.cpu_support import at, compilation
from tests.ir.kernels import pointer
from tests.ir.structured import loop

LANES = 64


def block(name: str, shape: tuple[int, ...]) -> Value:
    return Value(name, BlockType(shape, f32))


def moved(position: int, view: tuple[int, ...]) -> int:
    """Where a view leads from a position."""
    return sum((position >> at & 1) << bit for bit, at in enumerate(view))


@pytest.mark.parametrize("shape", [(8,), (4, 8), (1, 16), (8, 1), (2, 4, 8), (2, 1, 4), (1, 1, 1)], ids=str)
def test_views_are_what_numpy_does(shape: tuple[int, ...]) -> None:
    source = Value("%x", BlockType(shape, f32))
    numbers = np.arange(prod(shape)).reshape(shape)
    cases: list[tuple[ops.Transpose | ops.Broadcast, np.ndarray]] = []
    for order in itertools.permutations(range(len(shape))):
        cases.append((ops.Transpose(source=source, order=order), numbers.transpose(order)))
    wide = tuple(4 if n == 1 else n for n in shape)
    cases.append((ops.Broadcast(source=source, shape=wide), np.broadcast_to(numbers, wide)))
    for op, expected in cases:
        op = op.evolve(results=(Value("%y", BlockType(expected.shape, f32)),))
        through = view_through(op)
        assert through is not None
        assert [moved(n, through[1]) for n in range(expected.size)] == expected.reshape(-1).tolist()


def test_a_chunk_is_found_by_its_first_element_and_its_lanes() -> None:
    for view in itertools.permutations(range(6), 4):
        for start in range(0, 64, 8):
            high = sum((start >> at & (1 << count) - 1) << bit for bit, at, count in pieces(view, 3))
            assert [high + lane for lane in lane_positions(view, 8)] == [moved(start + n, view) for n in range(8)]


def test_views_compose() -> None:
    for inner, outer in itertools.product(itertools.permutations(range(3)), itertools.permutations(range(5), 3)):
        both = compose(inner, outer)
        assert [moved(n, both) for n in range(32)] == [moved(moved(n, outer), inner) for n in range(32)]
    assert identity(block("%x", (2, 4))) == (0, 1, 2)


def sums(shift: bool = False) -> Func:
    """`for i in range(n): total += x[i * 64 :]; out[:] = total`, with what was `total` before carried along, too, if
    asked for."""
    b = Builder()
    x, out, n = pointer("x_ptr", f64), pointer("out_ptr", f64), parameter("n", i32)
    lanes = b.add(ops.Arange, start=0, end=LANES)
    zero = b.constant(0.0, f64, (LANES,))

    def body(b: Builder, i: Value, total: Value, *before: Value) -> list[Value]:
        start = b.add(ops.Mul, lhs=i, rhs=b.constant(LANES, i32))
        offs = b.add(ops.Add, lhs=b.splat(start, (LANES,)), rhs=lanes)
        new = b.add(ops.Add, lhs=total, rhs=b.add(ops.Load, pointer=at(b, x, offs)))
        return [new, total] if shift else [new]

    total, *_ = loop(b, 0, n, 1, [zero] * (1 + shift), body)
    b.append(ops.Store(pointer=at(b, out, lanes), value=total))
    return b.finish("sums", (x, out, n))


def steps_in_loop(func: Func) -> tuple[ops.For, list[list[str]]]:
    """The loop of a function, and the operations of each loop over elements in it."""
    plan = make_plan(func)
    (op,) = (op for op in func.walk() if isinstance(op, ops.For))
    runs = [step for step in plan.steps[op.body] if isinstance(step, Run)]
    loops = [loop for run in runs for loop in plan.loops[run.first : run.last + 1]]
    return op, [[member.opcode for member in loop.ops] for loop in loops]


def test_an_accumulator_is_updated_where_it_is() -> None:
    func = sums()
    op, loops = steps_in_loop(func)
    assert loops == [["load", "add"]]
    plan = make_plan(func)
    (new,) = yielded(op.body)
    assert plan.slots[new] == plan.slots[op.carried[0]] == plan.slots[op.results[0]]
    assert plan.scratch_bytes == 8 * LANES


def test_what_is_handed_on_unchanged_is_copied_at_the_end() -> None:
    """The sum is not made in the place of the one before, which is still to be handed on; both are moved at once."""
    func = sums(shift=True)
    op, loops = steps_in_loop(func)
    assert loops == [["load", "add"], ["move"]]
    plan = make_plan(func)
    new, old = yielded(op.body)
    (move,) = plan.loops[-2].ops  # the last one stores the result
    assert isinstance(move, Move)
    assert dict(zip(move.targets, move.values, strict=True)) == dict(zip(op.carried, (new, old), strict=True))
    assert len({plan.slots[v] for v in (new, *op.carried)}) == 3


@pytest.mark.skipif(mlir_available() is not None, reason=str(mlir_available()))
def test_the_text_of_a_loop_with_an_accumulator(golden) -> None:
    golden("sums.cpu.mlir", compilation(sums()).stage("cpu/emit").text)
