"""Folding of operations on shapes, and of reductions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Value
from mytriton.ir.interp import run
from mytriton.ir.printer import print_func
from mytriton.ir.verify import verify
from mytriton.passes.dce import dce
from mytriton.passes.fold import fold
from mytriton.types import ScalarType, element_of, f16, f32, i8, i32, shape_of, u8
from tests.ir.kernels import pointer


def folded(make: Callable[[Builder, Value], Value], element: ScalarType = i32) -> tuple[list[str], list[str]]:
    """The listing without its last line, a store of `make(b, x)` for a parameter `x`, and the rules applied."""
    b = Builder()
    x = parameter("x", element)
    value = make(b, x)
    out = pointer("out", element_of(value.type))  # type: ignore[arg-type]
    b.append(ops.Store(pointer=b.splat(out, shape_of(value.type)), value=value))
    func = b.finish("k", (x, out))
    result, changes = fold(func)
    verify(result)
    text = [line.text for line in print_func(dce(result)[0])]
    return [*text[:-1], text[-1].removeprefix("store out, ")], [c.rule for c in changes]


def arange(b: Builder, n: int = 8) -> Value:
    return b.add(ops.Arange, start=0, end=n)


def reshape(b: Builder, x: Value, *shape: int) -> Value:
    return b.add(ops.Reshape, source=x, shape=shape)


def trans(b: Builder, x: Value, *order: int) -> Value:
    return b.add(ops.Transpose, source=x, order=order)


def broadcast(b: Builder, x: Value, *shape: int) -> Value:
    return b.add(ops.Broadcast, source=x, shape=shape)


@pytest.mark.parametrize(
    ("make", "text", "rules"),
    [
        (lambda b, x: reshape(b, arange(b), 8), ["%0"], ["same_type"]),
        (lambda b, x: broadcast(b, arange(b), 8), ["%0"], ["same_type"]),
        (lambda b, x: trans(b, reshape(b, arange(b), 2, 4), 0, 1), ["%1"], ["trans_same"]),
        (
            lambda b, x: reshape(b, reshape(b, arange(b), 2, 4), 4, 2),
            ["%3 = reshape %0 {shape=(4, 2)} : vector<4x2 x i32>", "%3"],
            ["reshape_reshape"],
        ),
        (lambda b, x: reshape(b, reshape(b, arange(b), 2, 4), 8), ["%0"], ["reshape_reshape", "same_type"]),
        (
            lambda b, x: broadcast(b, broadcast(b, reshape(b, arange(b), 1, 8, 1), 2, 8, 1), 2, 8, 4),
            ["%4 = broadcast %1 {shape=(2, 8, 4)} : vector<2x8x4 x i32>", "%4"],
            ["broadcast_broadcast"],
        ),
        (
            lambda b, x: trans(b, trans(b, reshape(b, arange(b), 2, 2, 2), 1, 2, 0), 0, 2, 1),
            ["%4 = trans %1 {order=(1, 0, 2)} : vector<2x2x2 x i32>", "%4"],
            ["trans_trans"],
        ),
        (
            lambda b, x: trans(b, trans(b, reshape(b, arange(b), 2, 2, 2), 1, 2, 0), 2, 0, 1),
            ["%1"],
            ["trans_trans", "trans_same"],
        ),
        (
            lambda b, x: trans(b, broadcast(b, reshape(b, b.splat(x, (8,)), 8, 1), 8, 2), 1, 0),
            ["x"],
            ["shape_splat"] * 3,
        ),
        (lambda b, x: reshape(b, b.splat(x, (1,))), ["x"], ["shape_splat"]),
    ],
)
def test_shapes(make: Callable[[Builder, Value], Value], text: list[str], rules: list[str]) -> None:
    found, applied = folded(make)
    made = ("%0 = arange", "%1 = ")  # what the operations are tried on
    listed = [line for line in found if not line.startswith(made)]
    assert (listed, applied) == (text, rules)


def reduce(b: Builder, x: Value, combine: str, axis: int = 0) -> Value:
    return b.add(ops.Reduce, source=x, combine=combine, axis=axis)


@pytest.mark.parametrize(
    ("combine", "element", "text"),
    [
        ("add", i32, ["%1 = mul x, 64 : i32", "%1"]),
        ("add", i8, ["%1 = mul x, 64 : i8", "%1"]),
        ("add", f32, ["%1 = mul x, 64.0 : f32", "%1"]),
        ("maximum", f32, ["x"]),
        ("minimum_nan", f32, ["x"]),
        ("or", i32, ["x"]),
        ("xor", i32, ["0"]),
        ("mul", i32, ["%0 = reduce x {axis=0, combine=mul} : i32", "%0"]),
    ],
)
def test_reductions_of_one_scalar(combine: str, element: ScalarType, text: list[str]) -> None:
    assert folded(lambda b, x: reduce(b, b.splat(x, (64,)), combine), element)[0] == text


def test_a_sum_of_more_equal_elements_than_the_type_counts() -> None:
    assert folded(lambda b, x: reduce(b, b.splat(x, (256,)), "add"), i8)[0] == ["0"]
    assert folded(lambda b, x: reduce(b, b.splat(x, (128,)), "add"), i8)[0] == ["%1 = mul x, -128 : i8", "%1"]
    assert folded(lambda b, x: reduce(b, b.splat(x, (1 << 16,)), "add"), f16)[1] == []  # 65536 is infinite in f16


@pytest.mark.parametrize(
    ("combine", "number", "element", "text"),
    [
        ("add", 3, i32, "24"),
        ("add", 100, u8, "32"),
        ("mul", 3, i32, "6561"),
        ("add", 0.1, f16, "0.7998046875"),
        ("mul", -2.0, f32, "256.0"),
        ("xor", 3, i32, "0"),
        ("maximum", -0.0, f32, "-0.0"),
    ],
)
def test_reductions_of_constants(combine: str, number: float, element: ScalarType, text: str) -> None:
    def make(b: Builder, x: Value) -> Value:
        value = np.float16(number).item() if element == f16 else number
        return reduce(b, b.constant(value, element, (2, 8)), combine, axis=1)

    assert folded(make, element) == ([text], ["reduce_constant"])


def test_reductions_of_one_element() -> None:
    text, rules = folded(lambda b, x: reduce(b, reshape(b, arange(b), 8, 1), "add", axis=1))
    assert (text[-1], rules) == ("%0", ["reduce_one", "reshape_reshape", "same_type"])


def test_sums_of_equal_elements_as_the_interpreter_adds_them() -> None:
    for element, numbers in ((f16, (0.1, -1e-7, 60000.0, float("nan"))), (i8, (3, -128, 77)), (f32, (0.3, 3e38))):
        b = Builder()
        x, out = parameter("x", element), pointer("out", element)
        total = reduce(b, reduce(b, b.splat(x, (64, 4)), "add", axis=1), "add")
        b.append(ops.Store(pointer=out, value=total))
        func = b.finish("k", (x, out))
        for number in numbers:
            results = []
            for f in (func, fold(func)[0]):
                array = np.zeros(1, {f16: np.float16, i8: np.int8, f32: np.float32}[element])
                run(f, [number, array], (1,))
                results.append(array.tobytes())
            assert results[0] == results[1]
