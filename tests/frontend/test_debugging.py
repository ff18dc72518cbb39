"""Assertions and printing, while a kernel runs and while it is compiled; f-strings and functions of constexprs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import LaunchError
from mytriton.frontend import limits
from tests.frontend.support import HEAD, errors, lowered, rendered, ssa

f32, i32 = np.float32, np.int32


@triton.jit
def checked(x, out, n, NAME: tl.constexpr):
    i = tl.arange(0, 4)
    v = tl.load(x + i)
    assert n > 0
    tl.device_assert(v >= 0, f"{NAME} is negative", mask=i < n)
    assert v[:, None] < 10, "large"
    tl.store(out + i, v)


def failure(kernel, *args, **constexprs):
    """The statements that a failed assertion names, innermost first, and its message."""
    with pytest.raises(LaunchError) as caught:
        kernel[1](*args, backend="interp", **constexprs)
    places, message = str(caught.value).split(": assertion failed in ")
    lines = Path(__file__).read_text().split("\n")
    return [lines[int(place.split(":")[1]) - 1].strip() for place in places.split(", called from ")], message


@pytest.mark.parametrize(("x", "n"), [([0, 1, 2, 3], 4), ([0, 1, 2, -3], 3)])
def test_assertions_that_hold(x, n):
    out = np.zeros(4, f32)
    checked[1](np.array(x, f32), out, n, NAME="x", backend="interp")
    assert out.tolist() == x


@pytest.mark.parametrize(
    ("x", "n", "statement", "message"),
    [
        ([0, 1, -2, -3], 3, "tl.device_assert(v >= 0", "lane 2 of program (0, 0, 0): x is negative"),
        ([0, 1, 2, 3], 0, "assert n > 0", "program (0, 0, 0): n > 0"),
        ([0, 10, 2, 3], 4, "assert v[:, None] < 10", "lane 1 of program (0, 0, 0): large"),
    ],
)
def test_assertions_stop_the_launch(x, n, statement, message):
    out = np.zeros(4, f32)
    (place,), found = failure(checked, np.array(x, f32), out, n, NAME="x")
    assert place.startswith(statement)
    assert found == message
    assert out.tolist() == [0] * 4


@triton.jit
def positive(v):
    assert v > 0
    return v


@triton.jit
def asks(out, n):
    tl.store(out, positive(n))


def test_an_assertion_in_a_helper_says_who_called_it():
    places, message = failure(asks, np.zeros(1, i32), 0)
    assert places == ["assert v > 0", "tl.store(out, positive(n))"]
    assert message == "program (0, 0, 0): v > 0"


def test_assertions_of_constexprs():
    assert ssa("def k(x, B: tl.constexpr):\n    assert B > 2\n    tl.device_assert(True)", "*i32, 3") == ""
    text = "def k(x, n, B: tl.constexpr):\n    if n > B:\n        assert False, f'more than {B}'"
    assert "  assert false {message=more than 3}" in ssa(text, "*i32, i32, 3").splitlines()


@triton.jit
def printing(x, n, NAME: tl.constexpr):
    """Prints."""
    p = tl.program_id(0)
    v = tl.load(x + tl.arange(0, 2))
    if p == 1:
        tl.device_print(f"{NAME}[{2:03d}] = ", v, n > 3)
    print("p:", p, 7)


def test_printing(capsys):
    printing[2](np.array([1.5, -0.0], f32), 5, NAME="v", backend="interp")
    assert capsys.readouterr().out.splitlines() == [
        "pid (0, 0, 0) idx () p: 0",
        "pid (0, 0, 0) idx () p: 7",
        "pid (1, 0, 0) idx (0) v[002] =: 1.5",
        "pid (1, 0, 0) idx (1) v[002] =: -0.0",
        "pid (1, 0, 0) idx () v[002] =: True",
        "pid (1, 0, 0) idx () p: 1",
        "pid (1, 0, 0) idx () p: 7",
    ]


def test_static_prints_are_notes_of_the_compilation(capsys):
    text = """
    def k(x, n, B: tl.constexpr):
        for j in tl.static_range(2):
            tl.static_print("j =", j, "of", B, n, tl.arange(0, B), (1, n), tl.float16, x)
        tl.static_print(B, None, sep=", ")
    """
    _, notes = lowered(text, "*fp32, i32, 4")
    assert [(d.severity, d.span.line, d.message) for d in notes] == [
        ("note", 4, "j = 0 of 4 i32 vector<4 x i32> (1, i32) f16 ptr<f32>"),
        ("note", 4, "j = 1 of 4 i32 vector<4 x i32> (1, i32) f16 ptr<f32>"),
        ("note", 5, "4, None"),
    ]
    assert capsys.readouterr().out == ""


def test_static_assertions():
    text = "def k(x, B: tl.constexpr):\n    tl.static_assert(B % 2 == 0, f'B is {B}')\n    tl.static_assert(B != 3)"
    lowered(text, "*fp32, 2")
    assert errors(text, "*fp32, 3") == [
        "3:5 MT161 static assertion failed: B is 3",
        "4:5 MT161 static assertion failed: `B != 3` is false",
    ]
    assert rendered(text, "*fp32, 5").endswith("help: `B % 2 == 0` is false")


def test_strings_of_constexprs():
    text = """
    def k(x, ACT: tl.constexpr, N: tl.constexpr, T: tl.constexpr):
        name: tl.constexpr = f"{ACT}_{N:>3}{N!r}" + "!"
        if name == "relu_  77!" and ACT in ("relu", "gelu") and "lu" in ACT and T not in (tl.float16, None):
            tl.store(x, 1)
        if ACT != "gelu" and not (N in (1, 2) or ACT == "x"):
            tl.store(x, 2)
    """
    assert ssa(text, '*fp32, "relu", 7, fp32').splitlines() == ["store x, 1.0", "store x, 2.0"]


@triton.constexpr_function
def blocks_of(n, size=16, *more, extra=0):
    if n < 0:
        raise ValueError("negative")
    return (n + size - 1) // size + sum(more) + extra


@tl.constexpr_function
def dtype_for(name):
    return {"half": tl.float16, "single": tl.float32}.get(name, object())


@triton.jit
def calls(x, N: tl.constexpr, NAME: tl.constexpr):
    count: tl.constexpr = blocks_of(N)
    i = tl.arange(0, count)
    tl.store(x + i, (blocks_of(N, 8, 1, 2, extra=3) + i).to(dtype_for(NAME)))


def test_python_functions_of_constexprs():
    assert blocks_of(33) == 3
    x = np.zeros(4, f32)
    calls[1](x, N=50, NAME="half", backend="interp")
    assert x.tolist() == [13, 14, 15, 16]


@pytest.mark.parametrize(
    ("n", "name", "message"),
    [
        (-1, "half", "`blocks_of(N)` raises ValueError: negative"),
        (50, "double", "`dtype_for` returns a object"),
    ],
)
def test_python_functions_that_fail(n, name, message):
    with pytest.raises(triton.CompileError) as caught:
        calls[1](np.zeros(4, f32), N=n, NAME=name, backend="interp")
    assert message in str(caught.value)


READ = """
@triton.constexpr_function
def log2(n):
    steps = 0
    while n > 1:
        n //= 2
        steps += 1
    return steps

@triton.constexpr_function
def width(n, limit=64):
    if n > limit:
        return limit
    total = -1
    for i in range(n):
        total = total + i * 2
    return total // 2, "even" if n % 2 == 0 else "odd"

@triton.jit
def k(x, N: tl.constexpr):
    w = width(N)
    tl.static_assert(w[0] == 5 and w[1] == "even" and width(100) == 64 and log2(N * 16) == 6)
    tl.store(x + tl.arange(0, 1 << log2(N)), width(2, limit=1))
"""


@tl.constexpr
def wide(dtype):
    return tl.float64 if dtype == tl.float32 else dtype


@triton.jit
def widened(x, N: tl.constexpr):
    bits: tl.constexpr = tl.standard._log2(N)
    tl.store(x, tl.full((2,), bits, wide(x.dtype.element_ty)).dtype.primitive_bitwidth)


def test_a_function_that_is_a_constexpr_and_triton_s_own():
    x = np.zeros(1, f32)
    widened[1](x, 2, backend="interp")
    assert x[0] == 64 and wide(tl.float16) == tl.float16
    text = (
        HEAD + "@tl.constexpr\ndef twice(n):\n    return n * 2\n\n@triton.jit\ndef k(x):\n    tl.store(x, twice(4))\n"
    )
    assert ssa(text, "*i32") == "store x, 8"


ORDINARY = """
def unwrapped(o):
    return o.value if isinstance(o, tl.constexpr) else o

@tl.constexpr
def wide(bits):
    return tl.core.get_int_dtype(unwrapped(bits) * 2, True)

@triton.jit
def k(x):
    tl.static_assert(isinstance(1.5, float) and not isinstance(tl.load(x), tl.constexpr))
    tl.store(x, tl.full((), 7, wide(8)) + tl.core.cdiv(5, 2))
"""


def test_functions_of_constexprs_call_ordinary_ones_and_kernels_do_not():
    assert ssa(HEAD + ORDINARY, "*i16").splitlines()[-1] == "store x, %1"
    assert "add 7, 3 : i16" in ssa(HEAD + ORDINARY, "*i16")
    text = HEAD + ORDINARY.replace("wide(8)", "unwrapped(8)")
    assert errors(text, "*i16")[0].endswith(
        "MT133 the value of `unwrapped` is not known: it is an ordinary Python function"
    )
    assert "no integers of 10 bits" in errors(HEAD + ORDINARY.replace("wide(8)", "wide(5)"), "*i16")[0]


def test_functions_of_constexprs_in_a_file_that_is_only_read(monkeypatch):
    assert ssa(HEAD + READ, "*i32, 4").splitlines()[-1] == "store %1, 1"
    monkeypatch.setattr(limits, "MAX_ITERATIONS", 100)
    text = HEAD + READ.replace("n //= 2", "n += 1")
    assert errors(text, "*i32, 4") == ["4:5 MT142 unrolling this loop exceeds 100 iterations in one kernel"]
    text = HEAD + READ.replace("width(N)", "width(x)")
    assert errors(text, "*i32, 4")[0] == (
        "3:15 MT210 the constexpr parameter `n` of `width` must be a constexpr, but `x` (ptr<i32>) is not"
    )


MISUSES = [
    ("assert n, n", "4:15 MT210 the message of an assertion must be a constexpr, but `n` (i32) is not"),
    ("assert n, 5", "4:15 MT211 the message of an assertion must be a string, got 5"),
    ("assert n, f'{n}'", "4:15 MT210 a value in an f-string must be a constexpr, but `f'{n}'` (i32) is not"),
    ("assert None", "4:12 MT201 an asserted condition must be a number or block, got None"),
    ("tl.device_assert(i > 0, 'm', n)", "4:34 MT231 a mask must be bool, got `n` (i32)"),
    ("tl.device_assert(i > 0, mask=tl.arange(0, 8) > 0)",
     "4:5 MT204 shapes do not match: `i > 0` (vector<4 x bool>) and `tl.arange(0, 8) > 0` (vector<8 x bool>) "
     "have extents 4 and 8 on axis 0"),
    ("print('x')", "4:5 MT160 there is nothing to print for each program"),
    ("print(n, n)", "4:11 MT211 what is printed begins with a string, not `n` (i32)"),
    ("print('x', x)", "4:16 MT203 pointers cannot be printed: `x` (ptr<f32>)"),
    ("print('x', None)", "4:16 MT201 this must be a number or block, got None"),
    ("print('x', n, hex=True)", "4:23 MT160 printing in hexadecimal is not supported"),
    ("tl.static_assert(n)",
     "4:22 MT210 the condition of tl.static_assert must be a constexpr, but `n` (i32) is not"),
    ("tl.static_assert(B < 0, B)", "4:29 MT211 the message must be a string, got `B` (4)"),
    ("y = f'{x:{n}}'", "4:9 MT210 a value in an f-string must be a constexpr, but `f'{x:{n}}'` (i32) is not"),
    ("y = f'{B:zz}'", "4:9 MT212 `f'{B:zz}'` cannot be computed"),
]  # fmt: skip


@pytest.mark.parametrize(("statement", "message"), MISUSES)
def test_misuse(statement, message):
    (found,) = errors(f"def k(x, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    {statement}", "*fp32, i32, 4")
    assert found.split(": Unknown")[0].split(": Invalid")[0] == message  # Python's own words differ between versions
