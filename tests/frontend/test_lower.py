"""The SSA that statements become: order, types, promotion, constants and compile-time control flow."""

from __future__ import annotations

from pathlib import Path

import pytest

from mytriton import CompileError, read_module
from mytriton.frontend import syntax
from mytriton.frontend.constants import convert, round_float
from mytriton.frontend.lower import lower
from mytriton.frontend.parse import parse
from mytriton.ir.ops import Constant
from mytriton.ir.printer import print_func
from mytriton.specialize import parse_signature
from mytriton.types import bf16, f16, f32, f64, i1, i32, i64
from tests.frontend.support import errors, lowered, ssa

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"


@pytest.mark.parametrize(
    ("file", "name", "signature"),
    [("add", "add_kernel", "*fp32, *fp32, *fp32, i32, 256"), ("copy_swap", "copy_kernel", "*fp32, *fp32, i32, 256")],
)
def test_the_listings_of_the_introductory_kernels(golden, file, name, signature):
    path = EXAMPLES / f"{file}.py"
    kernel = read_module(path.read_text(), str(path)).kernel(name)
    func, warnings, _ = lower(parse(kernel), parse_signature(kernel, signature))
    assert warnings == ()
    golden(f"{name}.ssa", "\n".join(line.text for line in print_func(func)))


def test_pure_operations_stand_at_their_first_use_and_loads_where_they_are_written():
    text = """
    def k(x, y):
        unused = tl.program_id(1)
        p = tl.program_id(0)
        a = tl.load(y)
        b = tl.load(x + p)
        tl.store(x, a)
        tl.store(x + p, b)
    """
    assert ssa(text, "*fp32, *fp32").splitlines() == [
        "%0 = load y : f32",
        "%1 = program_id {axis=0} : i32",
        "%2 = addptr x, %1 : ptr<f32>",
        "%3 = load %2 : f32",
        "store x, %0",
        "%4 = addptr x, %1 : ptr<f32>",
        "store %4, %3",
        "%5 = program_id {axis=1} : i32",
    ]


def test_values_carry_the_names_and_places_of_their_author():
    text = "def k(x, n):\n    offs = n * 2 + 1\n    same = offs\n    tl.store(x + same, 1.0)"
    func, _ = lowered(text, "*fp32, i32")
    named = {v.id: v.hint for op in func.walk() for v in op.results if v.hint}
    assert named == {"%1": "offs"}
    spans = {op.result.id: (op.span.line, op.span.column) for op in func.walk() if op.results and not op.inline}
    assert spans == {"%0": (3, 12), "%1": (3, 12), "%2": (5, 14)}
    assert all(op.span is not None for op in func.walk())


# Every row: expression of f16/bf16/f32/f64/i32/i64/bool scalars h b f d i l t -> its type. A number is a constexpr.
PROMOTION = {
    "i + l": "i64",
    "i + f": "f32",
    "l + h": "f16",
    "h + b": "f32",
    "b + l": "f32",
    "b * t": "f32",
    "b + 1": "bf16",
    "h + f": "f32",
    "f + d": "f64",
    "t + i": "i32",
    "t + t": "i32",
    "t & t": "bool",
    "t & i": "i32",
    "h + 1": "f16",
    "h + 1.5": "f16",
    "f + 1e300": "f32",
    "b * 2.0": "bf16",
    "i + 1": "i32",
    "i + True": "i32",
    "i + 1.5": "f32",
    "i + 1e300": "f64",
    "l + 1": "i64",
    "t + 1": "i32",
    "h / h": "f32",
    "h / 2": "f32",
    "b % b": "f32",
    "h % 2.0": "f32",
    "i / i": "f32",
    "l / 2": "f32",
    "i / d": "f64",
    "t / t": "f32",
    "i // l": "i64",
    "i % 3": "i32",
    "-t": "i32",
    "+h": "f16",
    "~t": "bool",
    "~l": "i64",
    "i < f": "bool",
    "t < t": "bool",
    "0 < i < 5": "bool",
    "tl.maximum(i, 0.5)": "f32",
    "tl.maximum(t, t)": "i32",
    "tl.maximum(1, 2)": "i32",
    "min(i, 3, l)": "i64",
    "tl.where(t, i, f)": "f32",
    "tl.where(t, h, 1)": "f16",
    "tl.where(t, t, t)": "bool",
    "tl.exp(h)": "f16",
    "tl.exp(1)": "f32",
    "abs(t)": "bool",
    "tl.cdiv(i, l)": "i64",
    "i.to(tl.float64)": "f64",
    "i.to(l.dtype)": "i64",
    "(3).to(tl.float16)": "f16",
}


@pytest.mark.parametrize(("expression", "expected"), PROMOTION.items())
def test_promotion(expression, expected):
    text = "def k(h, b, f, d, i, l, t, o):\n    value = " + expression + "\n    tl.store(o, value.dtype == tl."
    spelled = {"f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "bool": "int1"}
    full = spelled.get(expected, expected.replace("i", "int"))
    listing = ssa(f"{text}{full})", "fp16, bf16, fp32, fp64, i32, i64, i1, *i1").splitlines()
    assert "store o, true" in listing


def test_blocks_take_scalars_of_any_kind_as_promotion_says():
    text = """
    def k(x, out, n, wide):
        i = tl.arange(0, 8)
        v = tl.load(x + i)
        tl.store(out + i, v * n + 1)
        tl.store(out + i, i * wide)
    """
    assert ssa(text, "*fp16, *fp32, i32, i64").splitlines() == [
        "%0 = arange {start=0, end=8} : vector<8 x i32>",
        "%1 = addptr x, %0 : vector<8 x ptr<f16>>",
        "%2 = load %1 : vector<8 x f16>",
        "%3 = mul %2, f16(n) : vector<8 x f16>",
        "%4 = add %3, 1.0 : vector<8 x f16>",
        "%5 = addptr out, %0 : vector<8 x ptr<f32>>",
        "store %5, f32(%4)",
        "%6 = mul i64(%0), wide : vector<8 x i64>",
        "%7 = addptr out, %0 : vector<8 x ptr<f32>>",
        "store %7, f32(%6)",
    ]


def test_pointer_arithmetic_in_every_grouping():
    text = """
    def k(x, n):
        i = tl.arange(0, 8)
        tl.store(x + n + i, 1.0)
        tl.store(n + (i + x), 1.0)
        tl.store(x - n - 1, 1.0)
        tl.store(x + True, 1.0)
        tl.store(x + 3000000000, 1.0)
    """
    assert [line for line in ssa(text, "*fp32, i32").splitlines() if "addptr" in line or "neg" in line] == [
        "%0 = addptr x, n : ptr<f32>",
        "%2 = addptr %0, %1 : vector<8 x ptr<f32>>",
        "%3 = addptr x, %1 : vector<8 x ptr<f32>>",
        "%4 = addptr %3, n : vector<8 x ptr<f32>>",
        "%5 = neg n : i32",
        "%6 = addptr x, %5 : ptr<f32>",
        "%7 = addptr %6, -1 : ptr<f32>",
        "%8 = addptr x, 1 : ptr<f32>",
        "%9 = addptr x, 3000000000 : ptr<f32>",
    ]


def test_masks_and_other_values_take_the_shape_and_type_of_the_load():
    text = """
    def k(x, n, flag):
        i = tl.arange(0, 8)
        a = tl.load(x + i, mask=flag, other=n)
        b = tl.load(x + i, mask=i < n, other=-1)
        c = tl.load(x, mask=True, other=float("inf"))
        d = tl.load(x, mask=None, other=None)
        tl.store(x + i, 7, mask=i < n)
    """
    listing = ssa(text, "*i32, i32, i1").splitlines()
    assert [line.split(" = ")[1] for line in listing if "load" in line] == [
        "load %1, flag, n : vector<8 x i32>",
        "load %3, %4, -1 : vector<8 x i32>",
        "load x, true, 2147483647 : i32",
        "load x : i32",
    ]
    assert listing[-1] == "store %8, 7, %9"


def test_constexpr_arithmetic_is_pythons():
    text = """
    def k(out, N: tl.constexpr, F: tl.constexpr, S: tl.constexpr, NONE: tl.constexpr):
        tl.store(out, -N // 2)
        tl.store(out, -N % 4)
        tl.store(out, N / 2)
        tl.store(out, 2 ** 10 + (1 << 3) | 1)
        tl.store(out, 5 if N == 7 and not F else undefined)
        tl.store(out, (N is not None) + (NONE is None) + (out is not None))
        tl.store(out, 3 if S == "gelu" else 4)
        tl.store(out, min(N, 3) + max(1, N, 2) + abs(-N) + len((1, 2)) + int(2.5))
        tl.store(out, triton.cdiv(N, 2) + triton.next_power_of_2(N) + tl.cdiv(N, 4))
        tl.store(out, (N, 9)[1] + (N, 9)[-2])
        tl.store(out, 1 < N <= 7 < 8)
        tl.store(out, N or undefined)
        tl.store(out, float("-inf"))
        tl.store(out, ~F)
        tl.store(out, ~N)
    """
    stores = ssa(text, '*fp64, 7, False, "gelu", None').splitlines()
    values = [line.removeprefix("store out, ") for line in stores]
    assert values[:7] == ["-4.0", "1.0", "3.5", "1033.0", "5.0", "3.0", "3.0"]
    assert values[7:] == ["21.0", "14.0", "16.0", "1.0", "7.0", "-inf", "1.0", "-8.0"]


def test_math_functions_of_constexprs():
    head = "import math, triton\nimport triton.language as tl\n@triton.jit\n"
    text = head + "def k(x):\n    tl.store(x, math.pi + math.sqrt(4))"
    assert ssa(text, "*fp64") == "store x, 5.141592653589793"
    assert errors(text.replace("math.sqrt(4)", "math.exp(tl.load(x))"), "*fp64") == [
        "3:36 MT213 `math.exp` works on constexprs only, but `tl.load(x)` (f64) is computed at run time"
    ]


def test_loops_unroll_and_branches_vanish():
    text = """
    def k(x, N: tl.constexpr):
        for j in tl.static_range(N):
            if j == 0:
                tl.store(x, 10)
            elif j % 2:
                tl.store(x + j, 20)
            else:
                pass
        for j in tl.static_range(3, -1, step=-2):
            tl.store(x + j, j)
        if N > 3:
            return
        tl.store(x, 99)
    """
    assert [line for line in ssa(text, "*i32, 4").splitlines() if line.startswith("store")] == [
        "store x, 10",
        "store %0, 20",
        "store %1, 20",
        "store %2, 3",
        "store %3, 1",
    ]
    assert "99" in ssa(text, "*i32, 3")


def test_assignments():
    text = '''
    def k(x):
        """A docstring."""
        a, (b, c) = 1, (2, 3)
        a, b = b, a
        p = q = c
        p += 1
        n: tl.constexpr = 4
        p: float
        r: "anything" = p
        tl.store(x, a * 10000 + b * 1000 + p * 100 + q * 10 + r)
        tl.store(x + n, 0)
    '''
    assert ssa(text, "*i32").splitlines()[0] == "store x, 21434"


def test_a_parameter_may_be_assigned_anew():
    assert ssa(
        "def k(x, n, B: tl.constexpr):\n    n = n + B\n    B = B * 2\n    tl.store(x, n * B)", "*i32, i32, 4"
    ) == ("%0 = add n, 4 : i32\n%1 = mul %0, 8 : i32\nstore x, %1")


def test_none_arguments_and_defaults_are_constexprs():
    text = """
    def k(x, bias=None, scale: tl.constexpr = 2):
        v = tl.load(x) * scale
        if bias is not None:
            v += tl.load(bias)
        tl.store(x, v)
    """
    assert "add" not in ssa(text, "*fp32")
    assert "add" in ssa(text, "*fp32, *fp32")


def test_dtypes_are_values():
    text = """
    def k(x, out, T: tl.constexpr):
        v = tl.load(x)
        acc = v.to(tl.float32) if x.dtype.element_ty == tl.float16 else v
        tl.store(out, acc.to(T))
        tl.store(out, tl.arange(0, 8).shape[0])
    """
    assert ssa(text, "*fp16, *fp64, fp32").splitlines()[:3] == [
        "%0 = load x : f16",
        "store out, f64(f32(%0))",
        "store out, 8.0",
    ]
    assert ssa(text, "*fp64, *fp64, fp32").splitlines()[1] == "store out, f64(f32(%0))"


def test_long_expressions_and_loops_do_not_overflow_the_stack():
    terms = " + ".join(["n"] * 900)  # about as many as Python's own parser takes
    assert ssa(f"def k(x, n):\n    tl.store(x, {terms})", "*i32, i32").count("add") == 899
    text = "def k(x, n, N: tl.constexpr):\n    a = n\n    for j in tl.static_range(N):\n        a = a * n + j\n"
    text += "    tl.store(x, a)"
    assert ssa(text, "*i32, i32, 5000").count("\n") == 10000


def test_more_than_pythons_parser_takes_is_an_error_that_says_so(monkeypatch):
    def too_deep(text):
        raise RecursionError  # where the limit lies depends on the version of Python

    monkeypatch.setattr(syntax.ast, "parse", too_deep)
    with pytest.raises(CompileError, match="nests too deeply for Python's own parser"):
        read_module("x = 1 + 1", "file.py")


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        (0.1, f32, 0.10000000149011612),
        (16777217.0, f32, 16777216.0),
        (3.4028235677973366e38, f32, float("inf")),
        (3.4028235e38, f32, 3.4028234663852886e38),
        (1e-45, f32, 1.401298464324817e-45),
        (1e-46, f32, 0.0),
        (65519.0, f16, 65504.0),
        (65520.0, f16, float("inf")),
        (6e-8, f16, 5.960464477539063e-08),
        (1.00390625, bf16, 1.0),
        (1.01171875, bf16, 1.015625),
        (1e308, f64, 1e308),
    ],
)
def test_float_constants_round_once_to_nearest_even(value, type_, expected):
    assert round_float(value, type_) == expected
    assert round_float(-value, type_) == -expected


@pytest.mark.parametrize(
    ("value", "type_", "expected"),
    [
        (2**31, i32, -(2**31)),
        (-(2**31) - 1, i32, 2**31 - 1),
        (2**64 + 5, i64, 5),
        (1.9, i32, 1),
        (-1.9, i32, -1),
        (1e30, i32, 2**31 - 1),
        (-1e30, i64, -(2**63)),
        (float("nan"), i32, 0),
        (float("-inf"), i32, -(2**31)),
        (True, f32, 1.0),
        (2, i1, True),
        (2**60 + 2**36 + 1, f32, float(2**60 + 2**37)),
        (2**24 + 1, f32, float(2**24)),
        (-(2**24) - 3, f32, -float(2**24 + 4)),
        pytest.param(10**400, f32, float("inf"), id="huge"),
    ],
)
def test_constants_convert_as_casts_do(value, type_, expected):
    converted = convert(value, type_)
    assert converted == expected
    assert type(converted) is type(expected)


def test_constants_are_exact_in_their_type():
    func, _ = lowered("def k(x):\n    tl.store(x, 0.1)\n    tl.store(x, -0.0)\n    tl.store(x, 3)", "*fp32")
    values = [op.value for op in func.walk() if isinstance(op, Constant)]
    assert [v.hex() for v in values] == ["0x1.99999a0000000p-4", "-0x0.0p+0", "0x1.8000000000000p+1"]
