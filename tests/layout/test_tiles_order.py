"""Tiles in which threads wait for each other, in control flow as well, and what is shown of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mytriton.diagnostics import InternalError, LaunchError
from mytriton.ir import interp, ops
from mytriton.ir.builder import parameter
from mytriton.ir.core import Value
from mytriton.layout import simulate
from mytriton.layout.assign import lay_out
from mytriton.layout.program import Nested
from mytriton.target import Target
from mytriton.types import i32
from tests.ir.kernels import copy_kernel, pointer
from tests.layout.tiles import Tiles, barriers, check, exchanges, numbers, reduction, without_barriers

ROW = np.zeros(1024, np.int32)


# --- waiting ----------------------------------------------------------------------------------------------------------


def test_the_buffer_is_written_when_all_have_read_it() -> None:
    b, x, out = Tiles(), pointer("x", i32), pointer("out", i32)
    tile = b.load(x, b.index((1024,)))
    low, high = b.reduce(tile, 0, "minimum"), b.reduce(tile, 0, "maximum")
    b.store(out, b.index((1024,)), b.splat(b.binary(ops.Sub, high, low), (1024,)))
    args: list[Any] = [np.arange(1024, dtype=np.int32), np.zeros(1024, np.int32)]
    laid_out = check(b.finish("k", (x, out)), args, order=[3, 1, 2, 0])
    assert exchanges(laid_out) == ["registers", "lanes", "warps", "registers", "lanes", "warps!"]
    simulate.run(without_barriers(laid_out), args, (1,))
    assert len(set(args[1].tolist())) > 1  # the first warp has overwritten its minimum, the others have read that


def test_in_a_loop_the_buffer_may_still_be_read_from_the_last_trip() -> None:
    b, x, out, trips = Tiles(), pointer("x", i32), pointer("out", i32), parameter("trips", i32)
    tile = b.load(x, b.index((1024,)))

    def body(b: Tiles, i: Value, carried: list[Value]) -> list[Value]:
        return [b.reduce(b.binary(ops.Add, tile, b.splat(carried[0], (1024,))), 0)]

    (total,) = b.loop(trips, [b.constant(0, i32)], body)
    b.append(ops.Store(pointer=out, value=total))
    laid_out = check(b.finish("k", (x, out, trips)), [numbers((1024,)), np.zeros(1, np.int32), 3], order=[2, 3, 0, 1])
    assert exchanges(laid_out) == ["registers", "lanes", "warps!"]


def test_copies_are_read_by_all_before_one_of_them_stores() -> None:
    b, x, out = Tiles(), pointer("x", i32), pointer("out", i32)
    place = b.index((16,))
    loaded = b.load(x, place)
    b.store(x, place, b.binary(ops.Add, loaded, loaded))
    b.store(out, b.index((512,)), b.splat(b.reduce(loaded, 0), (512,)))
    args: list[Any] = [numbers((16,)), np.zeros(512, np.int32)]
    laid_out = check(b.finish("k", (x, out)), args)
    assert barriers(laid_out)[0] == ["store"]
    assert barriers(lay_out(copy_kernel(16), Target())) == []  # nobody needs the copies here
    with pytest.raises(AssertionError):  # the warps that come later have read what the first has stored
        simulate.run(without_barriers(laid_out), args, (1,))
        assert len(set(args[1].tolist())) == 1


def test_a_reduction_orders_memory() -> None:
    """Backwards into the same array, after a reduction across lanes that needs no shared memory."""
    b, x, out = Tiles(), pointer("x", i32), pointer("out", i32)
    place = b.index((64, 32))
    tile = b.load(x, place)
    b.store(out, b.index((64,)), b.reduce(tile, 1))
    b.store(x, b.binary(ops.Sub, b.constant(2047, i32, (64, 32)), place), tile)
    args = [numbers((2048,)), np.zeros(64, np.int32)]
    laid_out = check(b.finish("k", (x, out)), args, order=[1, 0, 3, 2])
    assert barriers(laid_out) == [["store"]]
    once = lay_out(reduction((1024,), 0), Target())  # here the exchange has made them wait
    assert barriers(once) == []


def test_a_barrier_of_the_authors_orders_memory() -> None:
    """What a block has stored is loaded backwards; where nothing is stored there is nothing to wait for."""
    b, x, out = Tiles(), pointer("x", i32), pointer("out", i32)
    place = b.index((512,))
    b.append(ops.Barrier())
    b.store(x, place, b.binary(ops.Mul, place, place))
    b.append(ops.Barrier())
    b.store(out, place, b.load(x, b.binary(ops.Sub, b.constant(511, i32, (512,)), place)))
    b.append(ops.Barrier())
    laid_out = check(b.finish("k", (x, out)), [numbers((512,)), np.zeros(512, np.int32)], order=[2, 0, 1, 3])
    assert barriers(laid_out) == [["load"]]


def test_a_lane_is_another_thread_in_another_layout() -> None:
    b, x = Tiles(), pointer("x", i32)
    place = b.index((32, 32))
    moved = b.add(ops.Transpose, source=b.load(x, place), order=(1, 0))
    turned = b.add(ops.Transpose, source=b.binary(ops.Add, moved, moved), order=(1, 0))
    b.store(x, place, turned)
    laid_out = check(b.finish("k", (x,)), [numbers((1024,))])
    assert exchanges(laid_out) == [] and barriers(laid_out) == []


@pytest.mark.parametrize("decides", [False, True])
def test_copies_may_differ_unless_they_decide_a_way(decides: bool) -> None:
    """A row of weights, loaded in copies, in a loop that stores tiles: lanes of two blocks are not ordered. But all
    threads must see one flag."""
    b, w, out, trips = Tiles(), pointer("w", i32), pointer("out", i32), parameter("trips", i32)

    def body(b: Tiles, i: Value, carried: list[Value]) -> list[Value]:
        weights = b.load(w, b.index((32,)))
        tile = b.broadcast(b.shaped(weights, (1, 32)), (64, 32))
        b.store(out, b.index((64, 32)), b.binary(ops.Add, tile, b.splat(i, (64, 32))))
        return [b.reduce(weights, 0)] if decides else [carried[0]]

    (last,) = b.loop(trips, [b.constant(0, i32)], body)
    test = b.add(ops.CmpGt, lhs=last, rhs=b.constant(0, i32))
    (number,) = b.branch(test, lambda b: [last], lambda b: [trips])
    b.append(ops.Store(pointer=w, value=number))
    laid_out = check(b.finish("k", (w, out, trips)), [numbers((32,)), np.zeros(2048, np.int32), 2])
    assert barriers(laid_out) == ([["load"], ["store"], ["store"]] if decides else [["store"]])


def test_loads_and_stores_in_a_loop_wait_for_the_last_trip() -> None:
    """`for i: s = *p; x[...] = s; *p = s + 1`: the scalar is read by all before it is stored, in every trip."""
    b, p, x, trips = Tiles(), pointer("p", i32), pointer("x", i32), parameter("trips", i32)

    def body(b: Tiles, i: Value, carried: list[Value]) -> list[Value]:
        old = b.add(ops.Load, pointer=p)
        start = b.splat(b.binary(ops.Mul, i, b.constant(256, i32)), (256,))
        b.store(x, b.binary(ops.Add, b.index((256,)), start), b.splat(old, (256,)))
        b.append(ops.Store(pointer=p, value=b.binary(ops.Add, old, b.constant(1, i32))))
        return []

    b.loop(trips, [], body)
    args: list[Any] = [np.array([7], np.int32), np.zeros(768, np.int32), 3]
    laid_out = check(b.finish("k", (p, x, trips)), args, order=[3, 0, 2, 1])
    assert barriers(laid_out) == [["load"], ["store"], ["store"]]


# --- control flow -----------------------------------------------------------------------------------------------------


def test_while_until_a_sum_is_reached() -> None:
    b, x, out, limit = Tiles(), pointer("x", i32), pointer("out", i32), parameter("limit", i32)
    tile = b.load(x, b.index((16, 64)))
    zero = b.constant(0, i32)

    def condition(b: Tiles, carried: list[Value]) -> Value:
        rows = b.reduce(carried[1], 1)
        return b.add(ops.CmpLt, lhs=b.reduce(rows, 0), rhs=limit)

    def body(b: Tiles, carried: list[Value]) -> list[Value]:
        return [b.binary(ops.Add, carried[0], b.constant(1, i32)), b.binary(ops.Add, carried[1], tile)]

    count, total = b.repeat([zero, b.constant(0, i32, (16, 64))], condition, body)
    b.store(out, b.index((16, 64)), b.binary(ops.Add, total, b.splat(count, (16, 64))))
    func = b.finish("k", (x, out, limit))
    args: list[Any] = [np.ones((16, 64), np.int32), np.zeros((16, 64), np.int32), 3000]
    for num_warps in (1, 2, 4, 8):
        laid_out = check(func, args, Target(num_warps=num_warps), list(range(num_warps))[::-1])
        simulate.run(laid_out, args, (1,))
        assert set(args[1].reshape(-1).tolist()) == {6}  # three trips of ones


def test_if_on_a_reduction_with_blocks_of_two_layouts() -> None:
    b, x, out = Tiles(), pointer("x", i32), pointer("out", i32)
    tile = b.load(x, b.index((32, 32)))
    positive = b.add(ops.CmpGt, lhs=b.reduce(b.reduce(tile, 0), 0), rhs=b.constant(0, i32))
    (chosen,) = b.branch(positive, lambda b: [b.add(ops.Transpose, source=tile, order=(1, 0))], lambda b: [tile])
    b.store(out, b.index((32, 32)), chosen)
    func = b.finish("k", (x, out))
    for sign in (1, -1):
        x_values = np.abs(numbers((32, 32))) * np.int32(sign)
        out_values = np.zeros_like(x_values)
        laid_out = check(func, [x_values, out_values], order=[2, 1, 0, 3])
        simulate.run(laid_out, [x_values, out_values], (1,))
        np.testing.assert_array_equal(out_values, x_values.T if sign == 1 else x_values)
    assert "shared" in "".join(exchanges(laid_out))


def test_threads_that_would_take_different_ways_are_found() -> None:
    """One thread stores what the others decide by: without the barrier they may see the new value."""
    b, p, out = Tiles(), pointer("p", i32), pointer("out", i32)
    b.append(ops.Store(pointer=p, value=b.constant(1, i32)))
    test = b.add(ops.CmpGt, lhs=b.add(ops.Load, pointer=p), rhs=b.constant(0, i32))

    def then(b: Tiles) -> list[Value]:
        b.store(out, b.index((16,)), b.constant(1, i32, (16,)))
        return []

    b.branch(test, then, lambda b: [])
    func = b.finish("k", (p, out))
    check(func, [np.zeros(1, np.int32), np.zeros(16, np.int32)], order=[3, 2, 1, 0])
    with pytest.raises(InternalError, match=r"disagree on %\d+"):
        simulate.run(
            without_barriers(lay_out(func, Target())),
            [np.zeros(1, np.int32), np.zeros(16, np.int32)],
            (1,),
            warps=[3, 2, 1, 0],
        )


# --- what is shown ----------------------------------------------------------------------------------------------------


def test_every_element_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    b, x = Tiles(), pointer("x", i32)
    tile = b.load(x, b.index((2, 4)))
    b.append(ops.Print(values=(tile, b.reduce(tile, 0), b.constant(3, i32)), prefix="v"))
    func = b.finish("k", (x,))
    args = [np.arange(8, dtype=np.int32)]
    interp.run(func, args, (2,))
    expected = capsys.readouterr().out.splitlines()
    simulate.run(lay_out(func, Target()), args, (2,))
    actual = capsys.readouterr().out.splitlines()
    assert len(expected) == 2 * (8 + 4 + 1) and "pid (1, 0, 0) idx (2) v: 8" in expected
    assert sorted(actual) == sorted(expected)


def test_a_failing_assertion_names_the_element() -> None:
    b, x = Tiles(), pointer("x", i32)
    holds = b.add(ops.CmpLt, lhs=b.load(x, b.index((512,))), rhs=b.constant(300, i32, (512,)))
    b.append(ops.Assert(condition=holds, message="too large"))
    laid_out = lay_out(b.finish("k", (x,)), Target(num_warps=1))
    with pytest.raises(LaunchError, match=r"assertion failed in lane 300 of program \(0, 0, 0\): too large"):
        simulate.run(laid_out, [np.arange(512, dtype=np.int32)], (1,))


@pytest.mark.parametrize("depth", [1, 100])
def test_deep_nesting(depth: int) -> None:
    b, x, out, n = Tiles(), pointer("x", i32), pointer("out", i32), parameter("n", i32)
    test = b.add(ops.CmpGt, lhs=n, rhs=b.constant(0, i32))

    def nested(b: Tiles, value: Value, left: int) -> Value:
        total = b.binary(ops.Add, value, b.load(x, b.index((64,))))
        if left == 0:
            return total
        return b.branch(test, lambda b: [nested(b, total, left - 1)], lambda b: [value])[0]

    b.store(out, b.index((64,)), nested(b, b.constant(0, i32, (64,)), depth))
    laid_out = check(b.finish("k", (x, out, n)), [numbers((64,)), np.zeros(64, np.int32), 1])
    assert sum(isinstance(item, Nested) for item in laid_out.walk()) == depth
