"""What a kernel's author is told: line, column, words and hint of each mistake, and that all are found at once."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

from mytriton import CompileError, Specialization
from mytriton.frontend.lower import lower
from mytriton.frontend.outside import outside_item
from mytriton.frontend.parse import parse
from mytriton.frontend.values import Mistake
from mytriton.source import Span
from tests.frontend.support import errors, hints, kernel_from, lowered, rendered

# One statement in a kernel of pointers x (f32) and out (f32), an i32 n, a block i (8 x i32) and a block a (8 x f32);
# it stands in line 5 after four blanks.
PREAMBLE = """
def k(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i)
"""
SIGNATURE = "*fp32, *fp32, i32, 8"

TYPE_ERRORS = [
    ("tl.arange(0, n)", 18, "MT210 the end of tl.arange must be a constexpr, but `n` (i32) is not"),
    ("tl.arange(4, 4)", 5, "MT220 tl.arange(4, 4) is empty: its end must be above its start"),
    ("tl.arange(0, 20)", 5, "MT220 the length of tl.arange(0, 20) must be a power of 2, got 20"),
    ("tl.zeros((3,), tl.int32)", 15, "MT220 the extent of a block must be a power of 2, got 3"),
    ("tl.full((B,), a, tl.float32)", 19, "MT204 tl.full fills a block with one scalar, not with `a` (vector<8 x f32>)"),
    (
        "i + tl.arange(0, 16)",
        5,
        "MT204 shapes do not match: `i` (vector<8 x i32>) and `tl.arange(0, 16)` (vector<16 x i32>) have extents 8 and "
        "16 on axis 0",
    ),
    ("x + 1.5", 9, "MT205 a pointer moves by an integer number of elements, not by 1.5"),
    ("x + out", 9, "MT205 a pointer moves by an integer number of elements, not by `out` (ptr<f32>)"),
    ("x * 2", 5, "MT203 `*` does not take the pointer `x` (ptr<f32>)"),
    ("n - x", 5, "MT203 `-` does not take the pointer `x` (ptr<f32>)"),
    ("-x", 5, "MT203 `-` takes numbers, but `x` (ptr<f32>) is a pointer"),
    ("a // 2", 5, "MT203 `//` takes integers, not floats: a // 2"),
    ("n & 1.5", 9, "MT203 `&` takes integers and bools, but 1.5 is a float"),
    ("~a", 5, "MT203 `~` takes integers and bools, not `a` (vector<8 x f32>)"),
    ("a << 2", 5, "MT203 `<<` takes integers and bools, but `a` (vector<8 x f32>) is a float"),
    ("n >> 1.5", 10, "MT203 `>>` takes integers and bools, but 1.5 is a float"),
    ("n.to(tl.uint8) + 256", 22, "MT207 256 does not fit in u8, the type of `n.to(tl.uint8)` (u8)"),
    ("n.to(tl.uint32) > -1", 23, "MT207 -1 does not fit in u32, the type of `n.to(tl.uint32)` (u32)"),
    (
        "n // i.to(tl.uint32)",
        5,
        "MT203 `//` takes two signed or two unsigned integers, not `n` (i32) and `i.to(tl.uint32)` (vector<8 x u32>)",
    ),
    ("n ** 2", 5, "MT202 `**` works on constexprs only"),
    ("(i < n) % 2", 5, "MT203 `%` takes two signed or two unsigned integers, not `i < n` (vector<8 x bool>) and 2"),
    ("n // (n > 0)", 5, "MT203 `//` takes two signed or two unsigned integers, not `n` (i32) and `n > 0` (bool)"),
    ("n + 3000000000", 9, "MT207 3000000000 does not fit in i32, the type of `n` (i32)"),
    ("n < 3000000000", 9, "MT207 3000000000 does not fit in i32, the type of `n` (i32)"),
    ("n + None", 9, "MT201 an operand of `+` must be a number or block, got None"),
    ("n + tl.float32", 9, "MT201 an operand of `+` must be a number or block, got `tl.float32` (a dtype)"),
    ("a.to(3)", 10, "MT211 a dtype is needed here, got 3"),
    ("a.too(tl.int32)", 5, "MT134 `a` (vector<8 x f32>) has no `.too`"),
    ("a[0]", 7, "MT202 `a` (vector<8 x f32>) cannot be indexed with `0`"),
    ("a[1:2]", 7, "MT202 `a` (vector<8 x f32>) cannot be indexed with `1:2`"),
    ("a[:, :]", 10, "MT212 too many indices: `a` (vector<8 x f32>) has 1 axis"),
    ("tl.exp(n)", 12, "MT203 tl.exp takes floats, got `n` (i32)"),
    ("tl.abs(x)", 12, "MT203 tl.abs takes numbers, got `x` (ptr<f32>)"),
    ("tl.maximum(a, a, propagate_nan=True)", 36, "MT211 `propagate_nan` is True"),
    ("tl.where(n > 0, x, a)", 21, "MT203 `tl.where` takes numbers, but `x` (ptr<f32>) is a pointer"),
    ("tl.program_id(3)", 19, "MT221 the axis must be 0, 1 or 2, got 3"),
    ("tl.program_id(n)", 19, "MT210 the axis must be a constexpr, but `n` (i32) is not"),
    ("float(n)", 11, "MT213 `float` works on constexprs only, but `n` (i32) is computed at run time"),
    ("tl.load(n)", 13, "MT230 tl.load needs a pointer, got `n` (i32)"),
    ("tl.load(a)", 13, "MT230 tl.load needs a pointer, got `a` (vector<8 x f32>)"),
    ("tl.load(x + i, mask=n)", 25, "MT231 a mask must be bool, got `n` (i32)"),
    (
        "tl.load(x, mask=i < n, other=0)",
        21,
        "MT204 the mask `i < n` (vector<8 x bool>) is a block, but the pointer `x` (ptr<f32>) is a scalar",
    ),
    ("tl.load(x + i, other=0.0)", 26, "MT232 `other` has no meaning without a mask"),
    (
        "tl.store(out, a)",
        19,
        "MT204 the stored value `a` (vector<8 x f32>) is a block, but the pointer `out` (ptr<f32>) is a scalar",
    ),
    ("tl.store(out + i)", 5, "MT120 `tl.store` needs `value`"),
    ("tl.store(out, 1, None, 4)", 28, "MT120 `tl.store` takes 3 arguments (pointer, value, mask), got 4"),
    ("tl.load(x, maks=None)", 21, "MT120 `tl.load` has no parameter `maks`"),
    ("tl.load(x, pointer=x)", 24, "MT120 `tl.load` got `pointer` twice"),
    ("tl.laod(x)", 5, "MT135 there is no `tl.laod`"),
    ("tl.slice(a)", 5, "MT135 `tl.slice` is not supported yet"),
    ("nn + 1", 5, "MT131 `nn` is not defined"),
    ("print(n)", 11, "MT211 what is printed begins with a string, not `n` (i32)"),
    ("k(x, out, n, 8)", 5, "MT136 `k` calls itself; recursion is not part of the kernel language"),
    ("range(4)", 5, "MT136 `range` is used only as `for i in range(...)`"),
    ("B(1)", 5, "MT136 `B` (8) cannot be called in a kernel"),
    ("1 // (B - 8)", 5, "MT212 `1 // (B - 8)` cannot be computed: integer division or modulo by zero"),
    ("2 ** 100000", 5, "MT212 `2 ** 100000` cannot be computed: the result has more than 4096 bits"),
    ("(1, 2)[n]", 12, "MT210 an index must be a constexpr, but `n` (i32) is not"),
    ("(1, 2)[2]", 12, "MT212 index 2 is out of range of 2 items"),
    ("p, q = 1, 2, 3", 5, "MT214 2 names for 3 values"),
    ("p, q = n", 12, "MT214 `n` (i32) cannot be unpacked"),
    ("raise ValueError('no')", 5, "MT161 this `raise` is reached: ValueError('no')"),
    ("n if n > 0 else x", 5, "MT153 the sides of this `if`-`else` have different types: i32 and ptr<f32>"),
    (
        "for t in [1, 2]: pass",
        14,
        "MT143 a `for` loop in a kernel runs over range(...), tl.range(...) or tl.static_range(...)",
    ),
    (
        "for t in tl.static_range(n): pass",
        30,
        "MT210 a bound of `tl.static_range` must be a constexpr, but `n` (i32) is not",
    ),
    ("for t in range(0, 8, B - 8): pass", 26, "MT144 the step of a loop must not be 0"),
    ("for t in tl.static_range(10 ** 9): pass", 5, "MT142 unrolling this loop exceeds 65536 iterations in one kernel"),
    ("while True: pass", 11, "MT151 the condition of this `while` is always true"),
    ("return n", 5, "MT141 a kernel returns nothing"),
    ("if a > 0: pass", 8, "MT148 the condition of an `if` must be one number, but `a > 0` (vector<8 x bool>) has many"),
]


@pytest.mark.parametrize(("statement", "column", "message"), TYPE_ERRORS)
def test_one_mistake(statement, column, message):
    assert errors(PREAMBLE + "    " + statement, SIGNATURE) == [f"5:{column} {message}"]


def test_a_loop_that_changes_a_function_names_both():
    (found,) = errors(PREAMBLE + "    y = tl.exp\n    for j in range(n): y = tl.exp2", SIGNATURE)
    assert found == "6:24 MT145 `y` is the function `exp` before the loop, but becomes the function `exp2` here"


SYNTAX_ERRORS = [
    ("with x: pass", 5, "`with`"),
    ("y = [j for j in x]", 9, "a comprehension"),
    ("x[0] = 1", 5, "assigning to an element"),
    ("x.y = 1", 5, "assigning to an attribute"),
    ("y = lambda: 0", 9, "`lambda`"),
    ("y = {}", 9, "a dict"),
    ("y = 1j", 9, "a complex literal"),
    ("y = ...", 9, "`...`"),
    ("print(y := 1)", 11, "`:=`"),
    ("y = *x, 1", 9, "`*` unpacking"),
    ("tl.load(**x)", 13, "`**` unpacking"),
    ("import os", 5, "`import`"),
    ("global x2", 5, "`global`"),
    ("def f(): pass", 5, "a nested function"),
    ("class C: pass", 5, "a class"),
    ("try: pass\n    finally: pass", 5, "`try`"),
    ("for j in range(2): break", 24, "`break`"),
    ("for j in range(2): pass\n    else: pass", 11, "`else` of a `for`"),
    ("while n > 2: pass\n    else: pass", 11, "`else` of a `while`"),
    ("for j in range(2): continue", 24, "`continue`"),
]


@pytest.mark.parametrize(("statement", "column", "what"), SYNTAX_ERRORS)
def test_python_that_kernels_lack(statement, column, what):
    (found,) = errors(PREAMBLE + "    " + statement, SIGNATURE)
    code = "MT111" if what.startswith("assigning") else "MT110"
    line = 6 if "`else`" in what else 5
    assert found == f"{line}:{column} {code} {what} is not part of the kernel language"
    if what != "assigning to an attribute":
        assert hints(PREAMBLE + "    " + statement, SIGNATURE) != [""]


def test_mistakes_are_collected_and_do_not_cascade():
    text = """
    def k(x, out, n):
        z = tl.laod(x)
        y = z + 1 + undefined
        w = tl.where(y > 0, y, z)
        tl.store(out, w)
        tl.store(out, n.dtpye)
        if n:
            q = 1
        tl.store(out, q)
    """
    assert errors(text, "*fp32, *fp32, i32") == [
        "3:9 MT135 there is no `tl.laod`",
        "4:17 MT131 `undefined` is not defined",
        "7:19 MT134 `n` (i32) has no `.dtpye`",
        "10:19 MT130 `q` is not defined here",
    ]


def test_an_unrolled_loop_reports_a_mistake_once():
    assert errors("def k(x):\n    for j in range(5):\n        tl.store(x + j, y)", "*fp32") == [
        "4:25 MT131 `y` is not defined"
    ]


def test_near_names_are_suggested():
    text = "def k(pointer, n):\n    tl.load(pointr, maks=n)\n    tl.maximun(1, 2)\n    n.dtpye"
    assert hints(text, "*fp32, i32") == [
        "did you mean `pointer`?",
        "did you mean `tl.maximum`?",
        "did you mean `.dtype`?",
    ]


def test_the_message_for_a_block_size_names_parameter_value_and_next_power():
    text = "def k(x, BLOCK: tl.constexpr):\n    i = tl.arange(0, BLOCK)\n    tl.store(x + i, 0)"
    assert rendered(text, "*fp32, 20") == (
        "kernel.py:6:9: error[MT220]: the length of tl.arange(0, 20) with BLOCK = 20 must be a power of 2, got 20\n"
        "6 |     i = tl.arange(0, BLOCK)\n"
        "  |         ^^^^^^^^^^^^^^^^^^^\n"
        "help: use 32 and a mask for the elements beyond 20"
    )


def test_names_bound_only_in_a_branch_or_loop_say_where():
    text = """
    def k(x, out, F: tl.constexpr):
        if F:
            y = tl.load(x)
        for j in range(2):
            z = j
        tl.store(out, y)
        tl.store(out, z)
        tl.store(out, j)
    """
    assert errors(text, "*fp32, *fp32, 0") == [
        "7:19 MT130 `y` is not defined here",
        "8:19 MT130 `z` is not defined here",
        "9:19 MT130 `j` is not defined here",
    ]
    message = rendered(text, "*fp32, *fp32, 0")
    assert "kernel.py:7:9: assigned only here, in a branch that is not taken" in message
    assert "kernel.py:9:9: assigned only here, inside a loop" in message
    assert "kernel.py:8:9: the loop variable ends with its loop" in message


def test_a_branch_taken_at_compile_time_binds_its_names():
    text = """
    def k(x, out, F: tl.constexpr):
        if F:
            y = tl.load(x)
        else:
            y = tl.nonsense(undefined)
        tl.store(out, y)
    """
    lowered(text, "*fp32, *fp32, 1")
    assert errors(text, "*fp32, *fp32, 0") == [
        "6:13 MT135 there is no `tl.nonsense`",
        "6:25 MT131 `undefined` is not defined",
    ]


def test_columns_count_characters_and_carets_stand_below_them():
    text = "def k(x, größe):\n    ä = größe + ü"
    assert errors(text, "*fp32, i32") == ["3:17 MT131 `ü` is not defined"]
    assert rendered(text, "*fp32, i32").splitlines()[1:3] == ["6 |     ä = größe + ü", "  |                 ^"]


def test_a_load_with_a_mask_and_no_other_warns():
    text = "def k(x, out, n):\n    i = tl.arange(0, 8)\n    tl.store(out + i, tl.load(x + i, mask=i < n), mask=i < n)"
    _, (warning,) = lowered(text, "*fp32, *fp32, i32")
    assert (warning.severity, warning.code) == ("warning", "MT290")
    assert (warning.span.line, warning.span.column) == (4, 23)
    assert warning.message == "this load has a mask but no `other`: masked-off elements of x + i read as 0"


def test_missing_parameters_are_named():
    with pytest.raises(CompileError, match="the constexpr parameter `B` has no value"):
        lower(parse(kernel_from("def k(x, B: tl.constexpr): pass")), Specialization(()))


def test_a_variadic_kernel_is_refused():
    assert errors("def k(x, *rest, **more): pass", "*fp32") == [
        "2:11 MT112 `rest`: a kernel has a fixed number of parameters",
        "2:19 MT112 `more`: a kernel has a fixed number of parameters",
    ]


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("undefined", "assign it before, or make it a parameter of `k`"),
        ("w = None\n    w + n", "where it may be None, ask first: `if w is not None:`"),
        ("(i, a) * 2", "take one of its items, as `(i, a)[0]`, or unpack it"),
        ("tl.float32 * a", "convert a value to the dtype with x.to(tl.float32)"),
        ("n + tl.exp", "call it: tl.exp(...)"),
        ("n + 's'", "strings are for names and messages: compare them with == and !="),
        ("a & 1", "convert it with .to(tl.int32), or compare it, as in `a != 0`"),
        ("tl.xor_sum(a)", "convert it with .to(tl.int32), or compare it, as in `a != 0`"),
        ("x + a", "convert it: a.to(tl.int32)"),
        ("x + a / 2", "convert it: (a / 2).to(tl.int32)"),
        ("n == None", "whether something is None is asked with `is None`"),
        ("2 @ B", "constexprs are computed as Python computes them, while the kernel is compiled"),
        ("tl.arange(0, 8.0)", "write 8"),
        ("min(a)", "along an axis of a block: tl.min(x, axis)"),
        ("sum(a)", "tl.sum(x, axis) adds up a block; of numbers write a + b"),
        ("tl.debug_barrier(n)", "leave away what is too much"),
        ("for j in tl.range(n, unroll=2): pass", "leave `unroll` away"),
        ("tl.program_id(3)", "a grid has three axes; compute others from these with // and %"),
        (
            "tl.store(x)",
            "its parameters are, in order, pointer, value, mask, boundary_check, cache_modifier, eviction_policy",
        ),
    ],
)
def test_what_is_wrong_with_an_operand_comes_with_what_to_write(statement, hint):
    assert hints(PREAMBLE + "    " + statement, SIGNATURE) == [hint]


def test_functions_of_other_modules_are_those_of_tl_in_a_kernel() -> None:
    hint = "call functions of tl, such as tl.exp; import numbers and @jit functions: from numpy import ..."
    with pytest.raises(Mistake) as caught:
        outside_item("np", np, Span(1, 1, 1, 3))
    assert caught.value.diagnostic.hint == hint
    head = "import numpy as np\nimport mytriton\nimport mytriton.language as tl\n\n\n@mytriton.jit\n"
    text = head + "def k(x, B: tl.constexpr):\n    a = np.exp(tl.load(x + tl.arange(0, B)))\n"
    assert hints(text, "*fp32, 8") == [hint], "the same where the file is only read"


def test_every_mistake_comes_with_what_to_do():
    calls = [
        (path.name, node)
        for path in Path(outside_item.__code__.co_filename).parent.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Mistake"
    ]
    assert len(calls) > 100
    bare = [f"{name}:{node.lineno}" for name, node in calls if len(node.args) < 4 and "MT200" not in ast.unparse(node)]
    assert bare == []
