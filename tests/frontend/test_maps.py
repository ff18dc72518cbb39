"""`tl.map_elementwise`: what functions of single elements become, mistakes, and that they do what the functions do."""

from __future__ import annotations

import importlib.util
import random

import numpy as np
import pytest

from tests.frontend.support import errors, hints, ssa
from tests.random_expressions import Expr
from tests.random_features import FeatureWriter

KERNELS = """
@triton.jit
def plain(a, b):
    return a * 2 + b


@triton.jit
def branch(p, a):
    if a > 0:
        a = tl.load(p + a)
    return a


@triton.jit
def uniform(a, n):
    while n > 0:
        n = n // 2
        a += n
    return a


@triton.jit
def countdown(a):
    while a > 0:
        a -= 1
    return a


@triton.jit
def makes(a):
    return a + tl.sum(tl.arange(0, 4))


@triton.jit
def prints(a):
    if a > 0:
        tl.device_print("a", a)
    return a


@triton.jit
def types(a, b):
    return a, b.to(tl.float32)


@triton.jit
def three(a, b):
    return a, b, a


@triton.jit
def nothing(a):
    pass
"""


def kernel(statements: str) -> str:
    """A file whose first kernel has these statements, with a block of integers and a scalar."""
    return f"@triton.jit\ndef k(p, n):\n    i = tl.arange(0, 4)\n    {statements}\n{KERNELS}"


def lines(statements: str) -> list[str]:
    """The listing from what is made of the function on."""
    text = ssa(f"import triton\nimport triton.language as tl\n\n{kernel(statements)}", "*i32, i32")
    return [line.split(" : ")[0] for line in text.split("\n") if "arange" not in line]


def test_without_branches_it_is_inlined():
    assert lines("tl.store(p + i, tl.map_elementwise(plain, i, n))") == [
        "%1 = mul %0, 2",
        "%2 = add %1, n",
        "%3 = addptr p, %0",
        "store %3, %2",
    ]


def test_a_branch_is_a_mask_and_a_choice():
    assert lines("tl.store(p + i, tl.map_elementwise(branch, p, i))") == [
        "%1 = addptr p, %0",
        "%2 = cmp_gt %0, 0",
        "%3 = load %1, %2",
        "%4 = select %2, %3, %0",
        "%5 = addptr p, %0",
        "store %5, %4",
    ]


def test_a_loop_that_is_the_same_for_all_stays_one():
    assert lines("tl.store(p + i, tl.map_elementwise(uniform, i, n))")[:5] == [
        "%1, %2 = while with %3 = n, %4 = %0",
        "  %5 = cmp_gt %3, 0",
        "  yield %5",
        "} do with %6, %7 {",
        "  %8 = idiv %6, 2",
    ]


def test_a_loop_of_each_element_lasts_as_long_as_the_longest():
    assert lines("tl.store(p + i, tl.map_elementwise(countdown, i))")[:12] == [
        "%1 = cmp_gt %0, 0",
        "%2, %3 = while with %4 = %1, %5 = %0",
        "  %6 = reduce i32(%4) {axis=0, combine=or}",
        "  %7 = cmp_ne %6, 0",
        "  yield %7",
        "} do with %8, %9 {",
        "  %10 = sub %9, 1",
        "  %11 = cmp_gt %10, 0",
        "  %12 = and %8, %11",
        "  %13 = select %8, %10, %9",
        "  yield %12, %13",
        "}",
    ]


MISTAKES = [
    ("tl.map_elementwise(plain, n, 2)", "MT229 tl.map_elementwise needs a block to go through", "for single numbers, "),
    (
        "tl.map_elementwise(makes, i)",
        "MT229 a function of single elements makes a block",
        "leave blocks to what calls it",
    ),
    (
        "tl.map_elementwise(prints, i)",
        "MT229 a function of single elements prints all or none, not those in a branch",
        "print before it, or after it what it has left",
    ),
    ("tl.map_elementwise(plain, i)", "MT120 `plain` needs `b`", "its parameters are, in order, a, b"),
    (
        "tl.map_elementwise(plain, i, i, pack=8)",
        "MT229 `pack` must be a power of 2, at most the 4 elements there are, not 8",
        "it says how many elements a call of the function is given",
    ),
    (
        "tl.map_elementwise(three, i, pack=2)",
        "MT229 `three` returns 3 values, for 2 elements",
        "return as many for each element, those of one result together",
    ),
    (
        "tl.map_elementwise(types, i, pack=2)",
        "MT229 `types` returns values of several types, vector<2 x i32> and vector<2 x f32>, as one result",
        "convert them to one type",
    ),
    (
        "tl.map_elementwise(plain, i, tl.arange(0, 8))",
        "MT204 shapes do not match: `i` (vector<4 x i32>) and `tl.arange(0, 8)` (vector<8 x i32>)",
        "to combine each element of one with each of the other",
    ),
    (
        "tl.map_elementwise(nothing, i) + 1",
        "MT212 `tl.map_elementwise(nothing, i) + 1` cannot be computed: unsupported operand type(s) for +: 'NoneType'",
        "constexprs are computed as Python computes them",
    ),
]


@pytest.mark.parametrize(("expression", "message", "hint"), MISTAKES)
def test_a_mistake_says_what_to_do(expression, message, hint):
    text = f"import triton\nimport triton.language as tl\n\n{kernel(f'r = {expression}')}"
    (found,) = errors(text, "*i32, i32")
    assert found.split(" ", 1)[1].startswith(message)
    assert hints(text, "*i32, i32")[0].startswith(hint)


def mapped(seed: int) -> str:
    """A random function `m0`, and kernels that give it single numbers, one a program, and blocks."""
    writer = FeatureWriter(random.Random(seed))
    writer.pool = [Expr("x", "int32"), Expr("y", "int32")]
    writer.map()
    parts = ["import mytriton as triton", "import mytriton.language as tl", "", *writer.helpers]
    for name, at, call in (
        ("single", "tl.program_id(0)", "m0("),
        ("blocks", "tl.arange(0, 64)", "tl.map_elementwise(m0, "),
    ):
        parts += ["@triton.jit", f"def {name}(x, y, n):", f"    i = {at}"]
        parts += [f"    a, b = {call}tl.load(x + i), tl.load(y + i), n)"]
        parts += ["    tl.store(x + i, a)", "    tl.store(y + i, b)", "", ""]
    return "\n".join(parts)


@pytest.mark.parametrize("seed", range(12))
def test_it_does_what_the_function_does(seed, tmp_path):
    path = tmp_path / "random_map.py"
    path.write_text(mapped(seed))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x, y = np.random.default_rng(seed).integers(-9, 12, (2, 64), dtype=np.int32)
    found = []
    for kernel, grid in ((module.single, 64), (module.blocks, 1)):
        arrays = x.copy(), y.copy()
        kernel[(grid,)](*arrays, seed % 5, backend="interp")
        found.append(arrays)
    np.testing.assert_array_equal(*found)
