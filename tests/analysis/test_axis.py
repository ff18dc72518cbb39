"""Contiguity and divisibility, on named examples and against the values that random index expressions really take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mytriton.analysis.axis import ANY_POWER, AxisInfo, axis_info
from mytriton.analysis.ranges import value_ranges
from mytriton.ir import ops
from mytriton.ir.arithmetic import POINTER
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Op, ParamInfo, Value
from mytriton.ir.interp import run
from mytriton.target import Target
from mytriton.types import ScalarType, element_of, f32, i8, i32, i64, u8, u32, u64
from tests.ir.kernels import at_offsets, offsets, pointer

N = 256


class Setup:
    """A builder with parameters: `x` is 16-byte aligned, `m` divisible by 16, nothing is known of `y` and `n`."""

    def __init__(self) -> None:
        self.b = Builder()
        self.x, self.y = pointer("x", f32), pointer("y", f32)
        self.n, self.m, self.k = parameter("n", i32), parameter("m", i32), parameter("k", i64)
        self.params = (self.x, self.y, self.n, self.m, self.k)

    def arange(self, start: int = 0, size: int = N) -> Value:
        return self.b.add(ops.Arange, start=start, end=start + size)

    def add(self, x: Value, y: Value) -> Value:
        return self.b.add(ops.Add, lhs=x, rhs=y)

    def splat(self, x: Value) -> Value:
        return self.b.splat(x, (N,))

    def func(self) -> Func:
        return self.b.finish("k", self.params, {"x": ParamInfo(True), "m": ParamInfo(True)})


def info(make: Callable[[Setup], Value], target: Target | None = None) -> AxisInfo:
    setup = Setup()
    value = make(setup)
    func = setup.func()
    return axis_info(func, value_ranges(func, target) if target else None)[value]


def summary(a: AxisInfo) -> tuple[int | None, int, int]:
    return a.stride, a.contiguous, a.divisible


def row(s: Setup, stride: Value) -> Value:
    pid = s.b.add(ops.ProgramId, axis=0)
    return s.add(s.splat(s.b.add(ops.Mul, lhs=pid, rhs=stride)), s.arange())


def rest(s: Setup, x: Value, y: Value) -> Value:
    return s.b.add(ops.Mod, lhs=x, rhs=s.splat(y))


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda s: s.arange(), (1, 256, ANY_POWER)),
        (lambda s: s.arange(8), (1, 256, 8)),
        (lambda s: offsets(s.b, N), (1, 256, 256)),  # wraps at a multiple of 256, if at all
        (lambda s: row(s, s.n), (1, 1, 1)),  # may wrap anywhere
        (lambda s: row(s, s.m), (1, 16, 16)),
        (lambda s: at_offsets(s.b, s.x, offsets(s.b, N)), (1, 256, 4)),
        (lambda s: at_offsets(s.b, s.y, offsets(s.b, N)), (1, 256, 1)),
        (lambda s: at_offsets(s.b, s.x, row(s, s.n)), (1, 1, 1)),
        (lambda s: at_offsets(s.b, s.x, s.b.cast(row(s, s.m), i64)), (1, 16, 4)),
        (lambda s: s.add(s.arange(), s.b.constant(1, i32, (N,))), (1, 256, 1)),  # in range: cannot wrap
        (lambda s: s.b.add(ops.Mul, lhs=s.arange(), rhs=s.b.constant(2, i32, (N,))), (2, 1, 2)),
        (lambda s: s.b.add(ops.Sub, lhs=s.splat(s.n), rhs=s.arange()), (-1, 1, 1)),
        (lambda s: s.splat(s.m), (0, 1, 16)),
        (lambda s: s.b.add(ops.FloorDiv, lhs=s.arange(), rhs=s.b.constant(2, i32, (N,))), (None, 1, 1)),
        (lambda s: rest(s, row(s, s.m), s.m), (1, 16, 16)),  # no group of 16 passes a multiple of m
        (lambda s: rest(s, row(s, s.m), s.n), (None, 1, 1)),
        (lambda s: rest(s, row(s, s.n), s.m), (None, 1, 1)),
        (lambda s: rest(s, s.arange(), s.b.constant(64, i32)), (1, 64, 64)),
        (lambda s: rest(s, s.arange(-128), s.b.constant(64, i32)), (None, 1, 1)),  # the rest of -64 is 0, of -63 -63
    ],
)
def test_examples(make: Callable[[Setup], Value], expected: tuple[int | None, int, int]) -> None:
    assert summary(info(make)) == expected


def test_a_shift_left_is_a_multiplication() -> None:
    def make(s: Setup) -> Value:
        pid = s.b.add(ops.ProgramId, axis=0)
        return s.add(s.splat(s.b.add(ops.Shl, lhs=pid, rhs=s.b.constant(8, i32))), s.arange())

    assert summary(info(make)) == (1, 256, 256)


def test_a_narrow_block_wraps_at_its_own_width() -> None:
    # 128 of 0, 1, ... fit in int8, then it jumps; in uint8 all 256 do
    assert summary(info(lambda s: s.b.cast(s.arange(), i8))) == (1, 128, 128)
    assert summary(info(lambda s: s.b.cast(s.arange(), u8))) == (1, 256, ANY_POWER)
    widened = info(lambda s: at_offsets(s.b, s.x, s.b.cast(s.b.cast(s.arange(), i8), i32)))
    assert summary(widened) == (1, 128, 4)


def test_a_sign_that_is_reinterpreted_may_jump() -> None:
    # -1 and 0 follow each other as int32, and do not as uint32
    assert info(lambda s: s.b.cast(row(s, s.m), u32)).contiguous == 16
    assert info(lambda s: s.b.cast(s.add(s.arange(), s.b.constant(-3, i32, (N,))), u32)).contiguous == 1
    assert info(lambda s: s.b.cast(s.arange(), u64)).contiguous == 256


def test_ranges_of_the_target_prove_what_alignment_cannot() -> None:
    def make(s: Setup) -> Value:
        return s.add(offsets(s.b, N), s.b.constant(3, i32, (N,)))

    assert info(make, Target()).contiguous == 1
    assert info(make, Target(form="plain")).contiguous == 256


def test_scalars_added_after_widening_do_not_wrap_in_32_bits() -> None:
    def make(s: Setup) -> Value:
        return s.add(s.splat(s.k), s.b.cast(s.arange(), i64))

    assert summary(info(make)) == (1, 1, 1)
    assert summary(info(lambda s: at_offsets(s.b, s.x, make(s)))) == (1, 256, 1)  # an address may wrap as it likes


def test_a_pointer_moved_twice() -> None:
    def make(s: Setup) -> Value:
        base = s.b.add(ops.AddPtr, pointer=s.x, offset=s.b.constant(2, i32))
        return at_offsets(s.b, base, s.arange())

    assert summary(info(make)) == (1, 256, 2)


def test_selects() -> None:
    def make(s: Setup) -> Value:
        uniform = s.splat(s.b.add(ops.CmpLt, lhs=s.n, rhs=s.m))
        return s.b.add(ops.Select, condition=uniform, if_true=s.arange(16), if_false=s.arange(32))

    def ragged(s: Setup) -> Value:
        each = s.b.add(ops.CmpLt, lhs=s.arange(), rhs=s.splat(s.n))
        return s.b.add(ops.Select, condition=each, if_true=s.arange(16), if_false=s.arange(32))

    assert summary(info(make)) == (1, 256, 16)
    assert summary(info(ragged))[1:] == (1, 1)
    assert info(lambda s: s.splat(s.b.add(ops.CmpLt, lhs=s.n, rhs=s.m))).constant == 256


# --- every claim, against real values ---------------------------------------------------------------------------------

_SCALARS = (0, 1, -1, 16, 48, 2**31 - 16, 2**31 - 17, -(2**31), 2**30, 123456)


@st.composite
def index_kernels(draw: st.DrawFn) -> tuple[Func, list[Any]]:
    s = Setup()
    b = s.b
    scalars = [s.n, s.m, s.k, b.add(ops.ProgramId, axis=0), b.constant(draw(st.sampled_from(_SCALARS)), i32)]
    pool = [s.arange(draw(st.sampled_from((0, 8, 100)))), *(s.splat(v) for v in scalars)]
    for _ in range(draw(st.integers(1, 10))):
        x = draw(st.sampled_from(pool[::-1]))
        same = [v for v in pool if v.type == x.type]
        y = draw(st.sampled_from(same))
        element = element_of(x.type)
        assert isinstance(element, ScalarType)
        kind = draw(st.sampled_from(("add", "add", "sub", "mul", "factor", "cast", "cast", "shift", "select", "other")))
        match kind:
            case "add" | "sub" | "mul":
                cls: type[Op] = {"add": ops.Add, "sub": ops.Sub, "mul": ops.Mul}[kind]
                pool.append(b.add(cls, lhs=x, rhs=y))
            case "factor":
                factor = draw(st.sampled_from((2, 3, 16, 256, -1, 65536, 2**20)))
                factor = (factor - element.low) % 2**element.bits + element.low
                number = b.constant(factor, element, (N,))
                pool.append(b.add(ops.Mul, lhs=number, rhs=x))
            case "cast":
                pool.append(b.cast(x, draw(st.sampled_from([t for t in (i8, u8, i32, u32, i64, u64) if t != element]))))
            case "shift":
                amount = b.constant(draw(st.sampled_from((0, 1, 4, 8, 20, 31, 64))), element, (N,))
                pool.append(b.add(draw(st.sampled_from((ops.Shl, ops.Shr))), lhs=x, rhs=amount))
            case "select":
                condition = b.add(ops.CmpLt, lhs=draw(st.sampled_from(same)), rhs=y)
                pool.append(b.add(ops.Select, condition=condition, if_true=x, if_false=draw(st.sampled_from(same))))
            case "other":
                pool.append(b.add(draw(st.sampled_from((ops.And, ops.FloorDiv, ops.Maximum))), lhs=x, rhs=y))
    for offset in pool[-3:]:
        moved = at_offsets(b, draw(st.sampled_from((s.x, s.y))), b.cast(offset, i64))
        last = draw(st.sampled_from(pool))
        b.add(ops.AddPtr, pointer=moved, offset=last if element_of(last.type) in (i32, i64) else b.cast(last, i32))
    n, m = draw(st.sampled_from(_SCALARS)), draw(st.sampled_from(_SCALARS)) // 16 * 16
    memory = np.zeros(64, np.float32)
    aligned = memory[-(memory.ctypes.data // 4) % 4 :]
    return s.func(), [aligned, aligned[1:], n, m, draw(st.sampled_from((0, 2**40 + 1, 2**63 - 1, -(2**63))))]


def _check(values: list[int], a: AxisInfo, modulus: int) -> None:
    """`modulus` is 0 for integers; addresses count modulo 2**64 bytes."""
    c, d = a.contiguous, a.divisible
    for g in range(0, len(values), c):
        steps = [v - values[g] for v in values[g : g + c]]
        assert [s % modulus if modulus else s for s in steps] == list(range(c))
        assert values[g] == 0 if d >= ANY_POWER else values[g] % d == 0
    for g in range(0, len(values), a.constant):
        assert len(set(values[g : g + a.constant])) == 1


@given(index_kernels(), st.sampled_from((Target(), Target(form="plain"))))
@settings(max_examples=25)
def test_claims_hold_for_the_values_computed(kernel: tuple[Func, list[Any]], target: Target) -> None:
    func, args = kernel
    ranges = value_ranges(func, target)
    infos = axis_info(func, ranges)

    def observe(program: tuple[int, int, int], op: Op, value: np.ndarray[Any, Any] | None) -> None:
        assert value is not None
        numbers = (value["address"] // 4 if value.dtype == POINTER else value).reshape(-1).tolist()
        _check([int(v) for v in numbers], infos[op.result], 2**62 if value.dtype == POINTER else 0)
        if op.result in ranges:
            assert ranges[op.result].low <= min(numbers)
            assert max(numbers) <= ranges[op.result].high

    run(func, args, (2,), observe=observe)
