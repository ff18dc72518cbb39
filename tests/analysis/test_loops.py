"""Ranges and runs of elements over loops, branches and shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import pytest

from mytriton.analysis.axis import ANY_POWER, AxisInfo, axis_info
from mytriton.analysis.ranges import Range, value_ranges
from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import POINTER
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Block, Func, Op, ParamInfo, Value
from mytriton.target import Target
from mytriton.types import PointerType, element_of, f32, i1, i8, i32, u8, u32
from tests.ir.kernels import pointer
from tests.ir.structured import branch, loop, while_loop
from tests.ir.structured_programs import Writer, arguments

FULL = Range(-(2**31), 2**31 - 1)


class Kernel:
    """A builder with parameters: `n` and `c` of which nothing is known, `m` divisible by 16, `x` 16-byte aligned."""

    def __init__(self) -> None:
        self.b = Builder()
        self.n, self.m, self.c = parameter("n", i32), parameter("m", i32), parameter("c", i1)
        self.x = pointer("x", f32)

    def func(self) -> Func:
        info = {"m": ParamInfo(True), "x": ParamInfo(True)}
        return self.b.finish("k", (self.n, self.m, self.c, self.x), info)

    def add(self, b: Builder, x: Value, y: Value | int) -> Value:
        return b.add(ops.Add, lhs=x, rhs=b.constant(y, i32) if isinstance(y, int) else y)


def plus(number: int) -> Callable[..., list[Value]]:
    return lambda b, i, v: [b.add(ops.Add, lhs=v, rhs=b.constant(number, i32))]


def ranges(make: Callable[[Kernel], Sequence[Value]]) -> list[Range]:
    k = Kernel()
    values = make(k)
    found = value_ranges(k.func(), Target())
    return [found[v] for v in values]


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((0, 10, 1), (0, 9)),
        ((0, 10, 4), (0, 8)),
        ((10, 0, -3), (1, 10)),
        ((10, -1, -1), (0, 10)),
        ((5, 6, 100), (5, 5)),
        ((0, "n", 1), (0, 2**31 - 2)),
        ((0, "n", 64), (0, 2**31 - 64)),
        (("n", 100, 1), (-(2**31), 99)),
        (("n", 0, -1), (1, 2**31 - 1)),
        ((3, 7, "n"), (3, 6)),
        ((-5, -2, "n"), (-5, -3)),
    ],
)
def test_the_variable_of_a_loop(bounds: tuple[int | str, ...], expected: tuple[int, int]) -> None:
    def make(k: Kernel) -> list[Value]:
        lower, upper, step = (k.n if isinstance(v, str) else v for v in bounds)
        found: list[Value] = []
        loop(k.b, lower, upper, step, [], lambda b, i: found.append(i) or [])  # type: ignore[func-returns-value]
        return found

    assert ranges(make) == [Range(*expected)]


def test_carried_values_grow_to_the_end_of_their_type_in_one_direction() -> None:
    def make(k: Kernel) -> list[Value]:
        five = k.b.constant(5, i32)
        (limited,) = loop(
            k.b, 0, k.n, 1, [five], lambda b, i, v: [b.add(ops.And, lhs=k.add(b, v, i), rhs=b.constant(255, i32))]
        )
        (halved,) = loop(k.b, 0, k.n, 1, [five], lambda b, i, v: [b.add(ops.Shr, lhs=v, rhs=b.constant(1, i32))])
        (largest,) = loop(k.b, 0, k.n, 1, [five], lambda b, i, v: [b.add(ops.Maximum, lhs=v, rhs=i)])
        (total,) = loop(k.b, 0, k.n, 1, [five], plus(1))
        return [limited, halved, largest, total]

    limited, halved, largest, total = ranges(make)
    assert limited == Range(0, 255)
    assert halved == Range(-(2**30), 5)
    assert largest == Range(5, 2**31 - 1)
    assert total == FULL


def test_nested_loops_and_branches() -> None:
    def make(k: Kernel) -> list[Value]:
        def body(b: Builder, i: Value, v: Value) -> list[Value]:
            (inner,) = loop(b, i, 8, 1, [i], lambda b, j, w: [j])
            (chosen,) = branch(b, k.c, lambda b: [inner], lambda b: [b.constant(-1, i32)])
            return [chosen]

        (last,) = loop(k.b, 0, 4, 1, [k.b.constant(2, i32)], body)
        tests: list[Value] = []

        def condition(b: Builder, v: Value) -> list[Value]:
            tests.append(v)
            return [b.add(ops.CmpLt, lhs=v, rhs=k.n)]

        (counted,) = while_loop(k.b, [last], condition, lambda b, v: [b.constant(50, i32)])
        return [last, counted, *tests]

    assert ranges(make) == [Range(-1, 7), Range(-1, 50), Range(-1, 2**31 - 1)]


def test_shapes_and_reductions() -> None:
    def make(k: Kernel) -> list[Value]:
        lanes = k.b.add(ops.Arange, start=3, end=11)
        grid = k.b.add(ops.Reshape, source=lanes, shape=(2, 4))
        turned = k.b.add(ops.Transpose, source=grid, order=(1, 0))
        rows = k.b.add(ops.Reshape, source=lanes, shape=(8, 1))
        wide = k.b.add(ops.Broadcast, source=rows, shape=(8, 16))
        combined = [k.b.add(ops.Reduce, source=wide, axis=1, combine=c) for c in ("add", "maximum", "xor", "mul")]
        narrow = k.b.cast(wide, i8)
        total = k.b.add(ops.Reduce, source=narrow, axis=1, combine="add")
        same = k.b.add(ops.Bitcast, source=narrow, to=u8)
        other = k.b.add(ops.Bitcast, source=k.add(k.b, lanes, k.b.splat(k.b.constant(-9, i32), (8,))), to=u32)
        return [turned, wide, *combined, total, same, other]

    turned, wide, added, largest, xor, product, total, same, other = ranges(make)
    assert turned == wide == largest == same == Range(3, 10)
    assert added == Range(48, 160)
    assert xor == Range(0, 15)
    assert product == FULL
    assert total == Range(-128, 127)  # 160 does not fit
    assert other == Range(0, 2**32 - 1)


# --- runs of elements -------------------------------------------------------------------------------------------------


def axes(make: Callable[[Kernel], Sequence[Value]]) -> list[tuple[int, int, int]]:
    """For each value how many elements are consecutive, their divisor, and how many are equal."""
    k = Kernel()
    values = make(k)
    found = axis_info(k.func())
    return [(found[v].contiguous, found[v].divisible, found[v].constant) for v in values]


def grid(b: Builder, rows: int, columns: int) -> tuple[Value, Value]:
    """`arange(rows)[:, None]` and `arange(columns)[None, :]`."""
    down = b.add(ops.Reshape, source=b.add(ops.Arange, start=0, end=rows), shape=(rows, 1))
    across = b.add(ops.Reshape, source=b.add(ops.Arange, start=0, end=columns), shape=(1, columns))
    return down, across


def tile(k: Kernel, stride: Value, rows: int = 16, columns: int = 64) -> tuple[Value, Value]:
    """Pointers `x + rows[:, None] * stride + cols[None, :]`, and the mask `(rows < n) & (cols < m)`."""
    b, shape = k.b, (rows, columns)
    down, across = grid(b, rows, columns)
    starts = b.add(ops.Mul, lhs=down, rhs=b.splat(stride, (rows, 1)))
    lines = b.add(ops.AddPtr, pointer=b.splat(k.x, (rows, 1)), offset=starts)
    wide = b.add(ops.Broadcast, source=lines, shape=shape)
    pointers = b.add(ops.AddPtr, pointer=wide, offset=b.add(ops.Broadcast, source=across, shape=shape))
    masks = [
        b.add(ops.Broadcast, source=b.add(ops.CmpLt, lhs=down, rhs=b.splat(k.n, (rows, 1))), shape=shape),
        b.add(ops.Broadcast, source=b.add(ops.CmpLt, lhs=across, rhs=b.splat(k.m, (1, columns))), shape=shape),
    ]
    return pointers, b.add(ops.And, lhs=masks[0], rhs=masks[1])


def test_rows_of_a_tile_are_consecutive() -> None:
    assert axes(lambda k: tile(k, k.m)) == [(64, 4, 1), (1, 1, 16)]
    assert axes(lambda k: tile(k, k.n)) == [(64, 1, 1), (1, 1, 16)]
    assert axes(lambda k: tile(k, k.m, 64, 1))[0] == (1, 4, 1)


def test_broadcasts_and_transpositions() -> None:
    def make(k: Kernel) -> list[Value]:
        b = k.b
        down, across = grid(b, 16, 8)
        pairs = b.add(ops.Reshape, source=b.add(ops.Arange, start=0, end=16), shape=(4, 1, 4))
        middle = b.add(ops.Broadcast, source=pairs, shape=(4, 2, 4))
        return [
            b.add(ops.Broadcast, source=down, shape=(16, 8)),
            b.add(ops.Broadcast, source=across, shape=(16, 8)),
            middle,
            b.add(ops.Transpose, source=middle, order=(1, 0, 2)),
            b.add(ops.Transpose, source=middle, order=(2, 0, 1)),
            b.add(ops.Transpose, source=across, order=(1, 0)),
            b.add(ops.Broadcast, source=b.add(ops.Reshape, source=b.splat(k.m, (4,)), shape=(4, 1)), shape=(4, 4)),
            b.add(ops.Broadcast, source=b.add(ops.Broadcast, source=down, shape=(16, 4)), shape=(16, 4)),
        ]

    assert axes(make) == [
        (1, 1, 8),
        (8, ANY_POWER, 1),
        (4, 4, 1),
        (4, 4, 1),
        (1, 1, 1),
        (8, ANY_POWER, 1),
        (1, 16, 16),
        (1, 1, 4),
    ]


def test_pointers_and_offsets_that_loops_carry() -> None:
    def make(k: Kernel) -> list[Value]:
        lanes = k.b.add(ops.Arange, start=0, end=256)
        start = k.b.add(ops.AddPtr, pointer=k.b.splat(k.x, (256,)), offset=lanes)
        inside: list[Value] = []

        def body(b: Builder, i: Value, p: Value, offs: Value, odd: Value) -> list[Value]:
            moved = b.add(ops.Add, lhs=b.splat(i, (256,)), rhs=lanes)
            inside.extend([i, p, offs, odd, moved])
            step = b.constant(256, i32, (256,))
            three = b.constant(3, i32, (256,))
            return [
                b.add(ops.AddPtr, pointer=p, offset=step),
                b.add(ops.Add, lhs=offs, rhs=step),
                b.add(ops.Add, lhs=odd, rhs=three),
            ]

        results = loop(k.b, 0, k.n, 256, [start, lanes, lanes], body)
        return [*inside, *results]

    i, p, offs, odd, moved, *results = axes(make)
    assert i == (1, 256, 1)
    assert p == results[0] == (256, 4, 1)
    assert offs == results[1] == moved == (256, 256, 1)  # wraps at a multiple of 256, if at all
    assert odd == results[2] == (1, 1, 1)  # may wrap anywhere


def test_what_a_loop_swaps_is_joined() -> None:
    def make(k: Kernel) -> list[Value]:
        lanes = k.b.add(ops.Arange, start=0, end=16)
        return list(loop(k.b, 0, k.n, 1, [lanes, k.b.splat(k.m, (16,))], lambda b, i, v, w: [w, v]))

    assert axes(make) == [(1, 1, 1), (1, 1, 1)]


def test_branches_and_bit_casts() -> None:
    def make(k: Kernel) -> list[Value]:
        lanes = k.b.add(ops.Arange, start=0, end=16)
        later = k.b.add(ops.Arange, start=32, end=48)
        (chosen,) = branch(k.b, k.c, lambda b: [lanes], lambda b: [later])
        floats = k.b.add(ops.AddPtr, pointer=k.b.splat(k.x, (16,)), offset=lanes)
        small = k.b.add(ops.Bitcast, source=floats, to=PointerType(i8))
        other = k.b.add(ops.Bitcast, source=small, to=PointerType(i32))
        return [chosen, small, other, k.b.add(ops.Bitcast, source=lanes, to=u32)]

    assert axes(make) == [(16, 32, 1), (1, 4, 1), (16, 4, 1), (16, ANY_POWER, 1)]


# --- every claim, against the values of random programs ----------------------------------------------------------


def check(value: np.ndarray[Any, Any], size: int, a: AxisInfo, order: Literal["C", "F"]) -> None:
    """One computed value against what is claimed of it; `size` is a pointer's element size, else 0."""
    numbers = [int(v) for v in (value["address"] // size if size else value).reshape(-1, order=order).tolist()]
    assert a.size == len(numbers)
    for g in range(0, len(numbers), a.contiguous):
        assert [v - numbers[g] for v in numbers[g : g + a.contiguous]] == list(range(a.contiguous))
        assert numbers[g] == 0 if a.divisible >= ANY_POWER else numbers[g] % a.divisible == 0
    for g in range(0, len(numbers), a.constant):
        assert len(set(numbers[g : g + a.constant])) == 1


@pytest.mark.parametrize("seeds", [range(k, k + 10) for k in range(0, 80, 10)])
def test_claims_hold_for_the_values_computed(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in seeds:
        func = Writer(seed).func
        spans = value_ranges(func, Target())
        infos, columns = axis_info(func, spans), axis_info(func, spans, columns=True)

        def verify(value: Value, array: Any, spans: Any = spans, infos: Any = infos, columns: Any = columns) -> None:
            element = element_of(value.type)
            if value in spans and array.size:
                assert spans[value].low <= int(array.min())
                assert int(array.max()) <= spans[value].high
            if value in infos:
                size = element.element.bytes if isinstance(element, PointerType) else 0
                check(array, size, infos[value], "C")
                check(array, size, columns[value], "F")

        class Watched(interp._Program):
            def _block(self, block: Block, arguments: Sequence[Any]) -> tuple[Any, ...]:
                for param, argument in zip(block.params, arguments, strict=False):
                    verify(param, argument)
                return super()._block(block, arguments)

            def _structured(self, op: Op) -> tuple[Any, ...]:
                results = super()._structured(op)
                for value, array in zip(op.results, results, strict=True):
                    verify(value, array)
                return results

        def observe(program: tuple[int, int, int], op: Op, value: Any) -> None:
            if op.results:
                assert value.dtype != POINTER or isinstance(element_of(op.result.type), PointerType)
                verify(op.result, value)

        monkeypatch.setattr(interp, "_Program", Watched)
        interp.run(func, arguments(func, seed), (2,), observe=observe)
