"""Integer ranges."""

from __future__ import annotations

import pytest

from mytriton.analysis.ranges import Range, no_overflow, value_ranges
from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.target import Target
from mytriton.types import ScalarType, f32, i1, i8, i32, i64, u8, u32
from tests.ir.kernels import binary_kernel

TUNED, PLAIN = Target(), Target(form="plain")
FULL = Range(-(2**31), 2**31 - 1)


def ranges_of(func: Func, target: Target) -> dict[str, Range]:
    return {v.id: r for v, r in value_ranges(func, target).items()}


def test_offsets_fit_in_the_plain_form_only() -> None:
    func = binary_kernel(256)
    plain = ranges_of(func, PLAIN)
    assert plain["%0"] == Range(0, 2**22 - 1)
    assert plain["%1"] == Range(0, (2**22 - 1) * 256)
    assert plain["%2"] == Range(0, 255)
    assert plain["%3"] == Range(0, 2**30 - 1)
    assert plain["%4"] == Range(0, 1)
    assert plain["n"] == FULL
    assert "%6" not in plain  # floats have no range
    tuned = ranges_of(func, TUNED)
    assert (tuned["%0"], tuned["%1"], tuned["%3"]) == (Range(0, 2**31 - 2), FULL, FULL)
    sums = [op for op in func.walk() if isinstance(op, (ops.Add, ops.Mul))]
    assert [no_overflow(op, value_ranges(func, PLAIN)) for op in sums] == [True, True, False]  # the last is f32
    assert [no_overflow(op, value_ranges(func, TUNED)) for op in sums] == [False, False, False]


def test_the_grid() -> None:
    b = Builder()
    for axis in range(3):
        b.add(ops.ProgramId, axis=axis)
        b.add(ops.NumPrograms, axis=axis)
    ranges = ranges_of(b.finish("k", ()), TUNED)
    assert list(ranges.values()) == [
        Range(0, 2**31 - 2),
        Range(1, 2**31 - 1),
        Range(0, 65534),
        Range(1, 65535),
        Range(0, 65534),
        Range(1, 65535),
    ]


def result(make: type[ops.Binary] | type[ops.Unary], *operands: Range, element: ScalarType = i32) -> Range:
    """The range of an operation on values of given ranges, made as minimum(maximum(x, low), high)."""
    b = Builder()
    params = [parameter(f"x{i}", element) for i in range(len(operands))]

    def clamped(x: Value, r: Range) -> Value:
        low = b.add(ops.Maximum, lhs=x, rhs=b.constant(r.low, element))
        return b.add(ops.Minimum, lhs=low, rhs=b.constant(r.high, element))

    names = ("source",) if issubclass(make, ops.Unary) else ("lhs", "rhs")
    values = [clamped(x, r) for x, r in zip(params, operands, strict=True)]
    last = b.add(make, **dict(zip(names, values, strict=True)))
    return value_ranges(b.finish("k", tuple(params)), TUNED)[last]


@pytest.mark.parametrize(
    ("make", "operands", "expected"),
    [
        (ops.Add, ((-5, 10), (1, 2)), (-4, 12)),
        (ops.Sub, ((-5, 10), (1, 2)), (-7, 9)),
        (ops.Mul, ((-5, 10), (-3, 2)), (-30, 20)),
        (ops.Mul, ((0, 2**20), (0, 2**12)), (-(2**31), 2**31 - 1)),  # may wrap: nothing is known
        (ops.FloorDiv, ((-7, 9), (2, 4)), (-3, 4)),
        (ops.FloorDiv, ((-7, 9), (-1, 4)), (-(2**31), 2**31 - 1)),
        (ops.FloorDiv, ((-(2**31), 0), (-1, -1)), (-(2**31), 2**31 - 1)),
        (ops.Mod, ((0, 100), (1, 8)), (0, 7)),
        (ops.Mod, ((-3, 100), (8, 8)), (-3, 7)),
        (ops.And, ((-5, 100), (0, 15)), (0, 15)),
        (ops.Or, ((0, 5), (0, 8)), (0, 15)),
        (ops.Xor, ((-1, 5), (0, 8)), (-(2**31), 2**31 - 1)),
        (ops.Shl, ((-3, 5), (0, 4)), (-48, 80)),
        (ops.Shl, ((0, 1), (0, 31)), (-(2**31), 2**31 - 1)),
        (ops.Shl, ((0, 1), (0, 32)), (-(2**31), 2**31 - 1)),
        (ops.Shr, ((-9, 100), (1, 3)), (-5, 50)),
        (ops.Shr, ((-9, 100), (1, 2**31 - 1)), (-5, 50)),
        (ops.Shr, ((-9, 100), (-1, 3)), (-9, 100)),
        (ops.Neg, ((-5, 10),), (-10, 5)),
        (ops.Abs, ((-5, 3),), (0, 5)),
        (ops.Abs, ((-5, -3),), (3, 5)),
        (ops.Abs, ((-(2**31), 0),), (-(2**31), 2**31 - 1)),
        (ops.Maximum, ((-5, 3), (0, 1)), (0, 3)),
    ],
)
def test_arithmetic(
    make: type[ops.Binary] | type[ops.Unary], operands: tuple[tuple[int, int], ...], expected: tuple[int, int]
) -> None:
    assert result(make, *(Range(*r) for r in operands)) == Range(*expected)


@pytest.mark.parametrize(
    ("make", "operands", "expected"),
    [
        (ops.Add, ((5, 10), (1, 2)), (6, 12)),
        (ops.Add, ((5, 10), (1, 2**32 - 1)), (0, 2**32 - 1)),
        (ops.Sub, ((5, 10), (6, 6)), (0, 2**32 - 1)),
        (ops.Shr, ((0, 2**32 - 1), (28, 28)), (0, 15)),
        (ops.Shr, ((16, 2**32 - 1), (0, 2**32 - 1)), (0, 2**32 - 1)),
        (ops.FloorDiv, ((7, 2**32 - 1), (2, 4)), (1, 2**31 - 1)),
        (ops.And, ((0, 2**32 - 1), (0, 15)), (0, 15)),
        (ops.Neg, ((0, 1),), (0, 2**32 - 1)),
    ],
)
def test_unsigned_arithmetic(make, operands, expected) -> None:
    assert result(make, *(Range(*r) for r in operands), element=u32) == Range(*expected)


def test_casts_that_change_the_sign_or_the_width() -> None:
    b = Builder()
    n, x = parameter("n", i32), parameter("x", u8)
    below = b.add(ops.And, lhs=n, rhs=b.constant(127, i32))
    found = [b.cast(below, i8), b.cast(n, u32), b.cast(n, i8), b.cast(x, i8), b.cast(x, i64), b.cast(below, u32)]
    ranges = value_ranges(b.finish("k", (n, x)), TUNED)
    whole = [Range(0, 127), Range(0, 2**32 - 1), Range(-128, 127), Range(-128, 127), Range(0, 255), Range(0, 127)]
    assert [ranges[v] for v in found] == whole


def test_casts_and_selects() -> None:
    b = Builder()
    k, flag, x = parameter("k", i64), parameter("flag", i1), parameter("x", f32)
    small = b.add(ops.And, lhs=k, rhs=b.constant(255, i64))
    found = [b.cast(small, i32), b.cast(k, i32), b.cast(flag, i32), b.cast(x, i32)]
    chosen = b.add(ops.Select, condition=flag, if_true=found[0], if_false=b.constant(-4, i32))
    ranges = value_ranges(b.finish("k", (k, flag, x)), TUNED)
    assert [ranges[v] for v in found] == [Range(0, 255), FULL, Range(0, 1), FULL]
    assert ranges[chosen] == Range(-4, 255)
