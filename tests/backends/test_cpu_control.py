"""Loops and branches on the cpu backend: trips, carried values of every kind, and order of memory effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mytriton.backends.cpu.plan import Move
from mytriton.backends.cpu.planner import make_plan
from mytriton.backends.mlir.run import mlir_available
from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.types import FLOATS, INTEGERS, ScalarType, bf16, f32, f64, i1, i8, i32, i64, u8, u32, u64
from tests.backends.cpu_support import agree, at, compilation, launcher
from tests.ir.kernels import pointer
from tests.ir.structured import block, branch, fresh, loop, while_loop

pytestmark = pytest.mark.skipif(mlir_available() is not None, reason=str(mlir_available()))


def counting(element: ScalarType) -> Func:
    """Stores the values of `for i in range(lower, upper, step)` one after the other, and then how many there were."""
    b = Builder()
    out, count = pointer("out_ptr", element), pointer("count_ptr", i32)
    bounds = {name: parameter(name, element) for name in ("lower", "upper", "step")}
    one = b.constant(1, i32)

    def body(b: Builder, i: Value, p: Value, n: Value) -> list[Value]:
        b.append(ops.Store(pointer=p, value=i))
        return [b.add(ops.AddPtr, pointer=p, offset=one), b.add(ops.Add, lhs=n, rhs=one)]

    initial = (out, b.constant(0, i32))
    params = fresh(b, [bounds["lower"], *initial])
    _, n = b.append(ops.For(**bounds, initial=initial, body=block(b, params, body))).results
    b.append(ops.Store(pointer=count, value=n))
    return b.finish("counting", (out, count, *bounds.values()))


@pytest.mark.parametrize("element", INTEGERS, ids=str)
def test_trips(element: ScalarType) -> None:
    low, high = element.low, element.high
    cases = [(0, 10, 1), (0, 10, 3), (3, 3, 1), (5, 2, 1), (high - 5, high, 1), (high - 7, high, 5), (low, low + 9, 4)]
    cases += [(0, 10, 0), (10, 0, 0), (high, high, 1), (low, high, high // 3), (1, high, high - 1)]
    if element.signed:
        cases += [(10, 0, -1), (10, 0, -3), (low + 5, low, -2), (low + 7, low, -6), (high, low, low), (0, 10, -1)]
        cases += [(-3, 4, 2), (high, low, -(high // 2)), (low, high, high)]
    func = counting(element)
    launch = launcher(func)
    for lower, upper, step in cases:
        out, count = np.zeros(20, DTYPES[element]), np.zeros(1, np.int32)
        launch((1, 1, 1), [out, count, lower, upper, step])
        expected = list(range(lower, upper, step)) if step else []
        assert count[0] == len(expected), (lower, upper, step)
        assert out[: len(expected)].tolist() == expected


@pytest.mark.parametrize("step", [1, 2, -1, -3, 0])
@pytest.mark.parametrize("element", [i8, i32, u32, i64, u64], ids=str)
def test_constant_steps(element: ScalarType, step: int) -> None:
    if step < 0 and not element.signed:
        return
    b = Builder()
    out = pointer("out_ptr", element)
    lower, upper = parameter("lower", element), parameter("upper", element)
    params = fresh(b, [lower, out])

    def body(b: Builder, i: Value, p: Value) -> list[Value]:
        b.append(ops.Store(pointer=p, value=i))
        return [b.add(ops.AddPtr, pointer=p, offset=b.constant(1, i32))]

    bounds = {"lower": lower, "upper": upper, "step": b.constant(step, element)}
    b.append(ops.For(**bounds, initial=(out,), body=block(b, params, body)))
    func = b.finish("k", (out, lower, upper))
    launch = launcher(func)
    for lower_, upper_ in ((0, 9), (9, 0), (element.high - 4, element.high), (element.low + 3, element.low)):
        expected = list(range(lower_, upper_, step))[:20] if step else []
        result = agree(func, [np.zeros(20, DTYPES[element]), lower_, upper_], launch=launch)[0]
        assert result[: len(expected)].tolist() == expected


def test_blocks_are_carried() -> None:
    """A running sum of rows, and the row before: `total += x[i]; last, before = x[i], last`."""
    b = Builder()
    x, out, n = pointer("x_ptr", f32), pointer("out_ptr", f32), parameter("n", i32)
    lanes = b.add(ops.Arange, start=0, end=64)
    zero = b.constant(0.0, f32, (64,))

    def body(b: Builder, i: Value, total: Value, last: Value, before: Value) -> list[Value]:
        start = b.add(ops.Mul, lhs=i, rhs=b.constant(64, i32))
        offs = b.add(ops.Add, lhs=b.splat(start, (64,)), rhs=lanes)
        row = b.add(ops.Load, pointer=at(b, x, offs))
        return [b.add(ops.Add, lhs=total, rhs=row), row, last]

    results = loop(b, 0, n, 1, [zero, zero, zero], body)
    for number, value in enumerate(results):
        offs = b.add(ops.Add, lhs=lanes, rhs=b.constant(64 * number, i32, (64,)))
        b.append(ops.Store(pointer=at(b, out, offs), value=value))
    func = b.finish("rows", (x, out, n))
    data = np.arange(64 * 5, dtype=np.float32).reshape(5, 64)
    launch = launcher(func)
    for n_ in (0, 1, 2, 5):
        result = agree(func, [data, np.ones((3, 64), np.float32), n_], launch=launch)[1]
        np.testing.assert_array_equal(result[0], data[:n_].sum(0))
        np.testing.assert_array_equal(result[1], data[n_ - 1] if n_ > 0 else 0)
        np.testing.assert_array_equal(result[2], data[n_ - 2] if n_ > 1 else 0)


@pytest.mark.parametrize("order", [(1, 0, 2), (1, 2, 0), (2, 0, 1), (0, 0, 1), (2, 1, 0), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("add", [False, True])
def test_carried_blocks_change_places(order: tuple[int, int, int], add: bool) -> None:
    """Three blocks, permuted in each trip (or all but one made new)."""
    b = Builder()
    out, n = pointer("out_ptr", i32), parameter("n", i32)
    lanes = b.add(ops.Arange, start=0, end=32)
    initial = [b.add(ops.Add, lhs=lanes, rhs=b.constant(100 * k, i32, (32,))) for k in range(3)]

    def body(b: Builder, i: Value, *carried: Value) -> list[Value]:
        values = [carried[k] for k in order]
        if add:
            values[1] = b.add(ops.Add, lhs=values[1], rhs=carried[0])
        return values

    for number, value in enumerate(loop(b, 0, n, 1, initial, body)):
        offs = b.add(ops.Add, lhs=lanes, rhs=b.constant(32 * number, i32, (32,)))
        b.append(ops.Store(pointer=at(b, out, offs), value=value))
    func = b.finish("rotate", (out, n))
    expected = np.arange(32) + 100 * np.arange(3)[:, None]
    launch = launcher(func)
    for trips in range(5):
        result = agree(func, [np.zeros(96, np.int32), trips], launch=launch)[0].reshape(3, 32)
        np.testing.assert_array_equal(result, expected)
        changed = expected[list(order)]
        if add:
            changed[1] += expected[0]
        expected = changed


def test_carried_blocks_are_made_of_each_other() -> None:
    """`a, b, c = b * 3 + i, a - c, a ^ b`: none is made in its new place before all that need the old ones are."""
    b = Builder()
    x, out, n = pointer("x_ptr", i32), pointer("out_ptr", i32), parameter("n", i32)
    lanes = b.add(ops.Arange, start=0, end=64)
    initial = [b.add(ops.Mul, lhs=lanes, rhs=b.constant(k, i32, (64,))) for k in (1, 2, 5)]

    def body(b: Builder, i: Value, *v: Value) -> list[Value]:
        first = b.add(ops.Mul, lhs=v[1], rhs=b.constant(3, i32, (64,)))
        first = b.add(ops.Add, lhs=first, rhs=b.splat(i, (64,)))
        return [first, b.add(ops.Sub, lhs=v[0], rhs=v[2]), b.add(ops.Xor, lhs=v[0], rhs=v[1])]

    for number, value in enumerate(loop(b, 0, n, 1, initial, body)):
        offs = b.add(ops.Add, lhs=lanes, rhs=b.constant(64 * number, i32, (64,)))
        b.append(ops.Store(pointer=at(b, out, offs), value=value))
    func = b.finish("mixed", (x, out, n))
    assert not any(isinstance(op, Move) for n, it in enumerate(make_plan(func).loops) if n for op in it.ops)
    v = [np.arange(64) * k for k in (1, 2, 5)]
    for i in range(5):
        v = [v[1] * 3 + i, v[0] - v[2], v[0] ^ v[1]]
    result = agree(func, [np.zeros(1, np.int32), np.zeros((3, 64), np.int32), 5])[1]
    np.testing.assert_array_equal(result, np.stack(v))


def test_blocks_of_pointers_are_carried() -> None:
    """`p += 64` in each trip; what is loaded through it is added up in another array, element by element."""
    b = Builder()
    x, out, n, move = pointer("x_ptr", f64), pointer("out_ptr", f64), parameter("n", i32), parameter("move", i32)
    lanes = b.add(ops.Arange, start=0, end=64)

    def body(b: Builder, i: Value, p: Value, total: Value) -> list[Value]:
        total = b.add(ops.Add, lhs=total, rhs=b.add(ops.Load, pointer=p))
        return [b.add(ops.AddPtr, pointer=p, offset=b.splat(move, (64,))), total]

    _, total = loop(b, 0, n, 1, [at(b, x, lanes), b.constant(0.0, f64, (64,))], body)
    b.append(ops.Store(pointer=at(b, out, lanes), value=total))
    func = b.finish("walk", (x, out, n, move))
    assert "masked.gather" not in compilation(func).stage("cpu/emit").text
    data = np.random.default_rng(1).random(640)
    result = agree(func, [data, np.zeros(64), 5, 64])[1]
    np.testing.assert_array_equal(result, data[:320].reshape(5, 64).cumsum(0)[-1])
    agree(func, [data, np.zeros(64), 7, 3])


@pytest.mark.parametrize("element", [i1, u8, bf16, *FLOATS], ids=str)
def test_scalars_are_carried(element: ScalarType) -> None:
    """The last two of the array's elements that were read, swapped in each trip."""
    b = Builder()
    x, out, n = pointer("x_ptr", element), pointer("out_ptr", element), parameter("n", i32)

    def body(b: Builder, i: Value, last: Value, before: Value) -> list[Value]:
        return [b.add(ops.Load, pointer=b.add(ops.AddPtr, pointer=x, offset=i)), last]

    first = b.add(ops.Load, pointer=x)
    results = loop(b, 1, n, 1, [first, first], body)
    for number, value in enumerate(results):
        b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=out, offset=b.constant(number, i32)), value=value))
    func = b.finish("k", (x, out, n))
    data = np.arange(10).astype(DTYPES[element])
    result = agree(func, [data, np.zeros(2, DTYPES[element]), 7])[1]
    assert result.tolist() == [data[6], data[5]]


def test_nested_loops() -> None:
    """`for i: for j: t = t * 3 + x[i] - j` on blocks and on a scalar, with an inner loop over i's."""
    b = Builder()
    x, out, n = pointer("x_ptr", i32), pointer("out_ptr", i32), parameter("n", i32)
    lanes = b.add(ops.Arange, start=0, end=16)
    three = b.constant(3, i32)

    def inner(i: Value) -> Any:
        def body(b: Builder, j: Value, t: Value, s: Value) -> list[Value]:
            offs = b.add(ops.Add, lhs=lanes, rhs=b.splat(i, (16,)))
            loaded = b.add(ops.Load, pointer=at(b, x, offs))
            t = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=t, rhs=b.splat(three, (16,))), rhs=loaded)
            s = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=s, rhs=three), rhs=j)
            return [b.add(ops.Sub, lhs=t, rhs=b.splat(j, (16,))), s]

        return body

    def outer(b: Builder, i: Value, t: Value, s: Value) -> list[Value]:
        return list(loop(b, 0, i, 1, [t, s], inner(i)))

    t, s = loop(b, 0, n, 1, [lanes, b.constant(0, i32)], outer)
    b.append(ops.Store(pointer=at(b, out, lanes), value=b.add(ops.Add, lhs=t, rhs=b.splat(s, (16,)))))
    func = b.finish("nested", (x, out, n))
    result = agree(func, [np.arange(32, dtype=np.int32), np.zeros(16, np.int32), 6])[1]
    t_, s_ = np.arange(16), 0
    for i in range(6):
        for j in range(i):
            t_, s_ = t_ * 3 + np.arange(16) + i - j, s_ * 3 + j
    np.testing.assert_array_equal(result, (t_ + s_).astype(np.int32))


def test_branches() -> None:
    """Scalars and blocks out of branches, with stores in one of them, nested, and one without an else."""
    b = Builder()
    x, out, n = pointer("x_ptr", f32), pointer("out_ptr", f32), parameter("n", i32)
    lanes = b.add(ops.Arange, start=0, end=32)
    value = b.add(ops.Load, pointer=at(b, x, lanes))

    def positive(b: Builder) -> list[Value]:
        doubled = b.add(ops.Add, lhs=value, rhs=value)
        b.append(ops.Store(pointer=at(b, x, lanes), value=doubled))
        return [doubled, b.constant(1.0, f32)]

    def negative(b: Builder) -> list[Value]:
        inner = b.add(ops.CmpEq, lhs=n, rhs=b.constant(0, i32))
        (block_,) = branch(b, inner, lambda b: [value], lambda b: [b.constant(-1.0, f32, (32,))])
        return [block_, b.constant(2.0, f32)]

    block_, scalar = branch(b, b.add(ops.CmpGt, lhs=n, rhs=b.constant(0, i32)), positive, negative)
    again = b.add(ops.Load, pointer=at(b, x, lanes))
    total = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=block_, rhs=b.splat(scalar, (32,))), rhs=again)

    def last(b: Builder) -> list[Value]:
        b.append(ops.Store(pointer=out, value=scalar))
        return []

    b.append(ops.Store(pointer=at(b, out, lanes), value=total))
    branch(b, b.add(ops.CmpLt, lhs=n, rhs=b.constant(0, i32)), last)
    func = b.finish("branches", (x, out, n))
    data = np.arange(32, dtype=np.float32)
    for n_, expected in ((3, 4 * data), (0, 3 * data), (-2, np.where(data == 0, 2, data - 2))):
        np.testing.assert_array_equal(agree(func, [data, np.zeros(32, np.float32), n_])[1], expected)


def test_while() -> None:
    """Collatz steps of each program's number, and a block halved as often; the condition loads, too."""
    b = Builder()
    out, x, halves = pointer("out_ptr", i32), pointer("x_ptr", i32), pointer("halves_ptr", f32)
    lanes = b.add(ops.Arange, start=0, end=16)
    pid = b.add(ops.ProgramId, axis=0)
    one, two = b.constant(1, i32), b.constant(2, i32)

    def test(b: Builder, value: Value, count: Value, row: Value) -> list[Value]:
        return [b.add(ops.CmpGt, lhs=value, rhs=b.add(ops.Load, pointer=x))]

    def body(b: Builder, value: Value, count: Value, row: Value) -> list[Value]:
        odd = b.add(ops.CmpEq, lhs=b.add(ops.Mod, lhs=value, rhs=two), rhs=one)
        more = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=value, rhs=b.constant(3, i32)), rhs=one)
        less = b.add(ops.FloorDiv, lhs=value, rhs=two)
        value = b.add(ops.Select, condition=odd, if_true=more, if_false=less)
        half = b.add(ops.Mul, lhs=row, rhs=b.constant(0.5, f32, (16,)))
        return [value, b.add(ops.Add, lhs=count, rhs=one), half]

    start = b.add(ops.Add, lhs=pid, rhs=one)
    _, count, row = while_loop(b, [start, b.constant(0, i32), b.constant(1.0, f32, (16,))], test, body)
    b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=out, offset=pid), value=count))
    offs = b.add(ops.Add, lhs=b.splat(b.add(ops.Mul, lhs=pid, rhs=b.constant(16, i32)), (16,)), rhs=lanes)
    b.append(ops.Store(pointer=at(b, halves, offs), value=row))
    func = b.finish("collatz", (out, x, halves))
    result = agree(func, [np.zeros(9, np.int32), np.ones(1, np.int32), np.zeros(9 * 16, np.float32)], (9,))
    assert result[0].tolist() == [0, 1, 7, 2, 5, 8, 16, 3, 19]
    np.testing.assert_array_equal(result[2].reshape(9, 16)[:, 5], 0.5 ** result[0])


def test_a_loop_with_nothing_to_carry() -> None:
    b = Builder()
    x, n = pointer("x_ptr", i32), parameter("n", i32)
    lanes = b.add(ops.Arange, start=0, end=16)

    def body(b: Builder, i: Value) -> list[Value]:
        value = b.add(ops.Load, pointer=at(b, x, lanes))
        b.append(ops.Store(pointer=at(b, x, lanes), value=b.add(ops.Add, lhs=value, rhs=b.splat(i, (16,)))))
        return []

    loop(b, 0, n, 1, [], body)
    limit = b.constant(100, i32)

    def test(b: Builder) -> list[Value]:
        return [b.add(ops.CmpLt, lhs=b.add(ops.Load, pointer=x), rhs=limit)]

    while_loop(b, [], test, lambda b: body(b, n))
    result = agree(b.finish("k", (x, n)), [np.zeros(16, np.int32), 7])[0]
    assert result.tolist() == [21 + 7 * 12] * 16


def test_a_chain_of_scalars_in_a_while_loop_compiles() -> None:
    """`while i < n: a = x[0]; a = a * a + a (30 times); out[i] = a`: LLVM's vectorizer would take hours."""
    b = Builder()
    x, out, n = pointer("x_ptr", i32), pointer("out_ptr", i32), parameter("n", i32)

    def body(b: Builder, i: Value) -> list[Value]:
        a = b.add(ops.Load, pointer=x)
        for _ in range(30):
            a = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=a, rhs=a), rhs=a)
        b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=out, offset=i), value=a))
        return [b.add(ops.Add, lhs=i, rhs=b.constant(1, i32))]

    while_loop(b, [b.constant(0, i32)], lambda b, i: [b.add(ops.CmpLt, lhs=i, rhs=n)], body)
    agree(b.finish("chain", (x, out, n)), [np.full(1, 3, np.int32), np.zeros(9, np.int32), 9])
