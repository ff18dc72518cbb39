"""Calls of `@jit` helpers: arguments, results, early returns, where their lines come from, and caching."""

from __future__ import annotations

import importlib.util
import types
from textwrap import dedent

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import CompileError, Target, compile_kernel, parse_signature, read_module
from tests.frontend.support import HEAD, rendered

f32, i32 = np.float32, np.int32
OFFSET = tl.constexpr(100)


def run(kernel, grid, *args, **constexprs):
    return kernel[grid](*args, backend="interp", **constexprs)


@triton.jit
def scaled(v, by: tl.constexpr, plus=1, *, minus=0):
    """Has a docstring, constexprs, defaults and a keyword-only parameter."""
    return v * by + plus - minus


@triton.jit
def pair(pointer, n):
    i = tl.arange(0, 4)
    v = tl.load(pointer + i)
    if n > 2:
        return v, (n, 5)
    v = scaled(v, 3, plus=n)
    return v, (n + 10, 6)


@triton.jit
def calls(x, out, n):
    v, (m, c) = pair(x, n)
    i = tl.arange(0, 4)
    tl.store(out + i, scaled(v, by=2, minus=c) + m)
    tl.store(out + 4 + i, scaled(minus=1, plus=i, v=i, by=10))


@pytest.mark.parametrize("n", [2, 3])
def test_arguments_results_and_helpers_of_helpers(n):
    x, out = np.arange(4, dtype=f32), np.zeros(8, f32)
    run(calls, 1, x, out, n)
    v, m, c = (x, n, 5) if n > 2 else (x * 3 + n, n + 10, 6)
    i = np.arange(4)
    assert out.tolist() == [*(v * 2 + 1 - c + m), *(i * 10 + i - 1)]


@triton.jit
def sign(x):
    if x > 0:
        return 1
    elif x == 0:  # noqa: RET505 (as authors write it)
        return 0
    return -1


@triton.jit
def first_above(x, limit, N: tl.constexpr):
    for k in tl.static_range(N):
        if tl.load(x + k) > limit:
            return k
    return -1


@triton.jit
def searches(x, out, n):
    for k in range(n):
        tl.store(out + k, sign(k - 2) * 100 + first_above(x, k, 4))


def test_early_returns_of_helpers_in_a_loop():
    x, out = np.array([1, 3, 0, 4], i32), np.zeros(6, i32)
    run(searches, 1, x, out, 6)
    assert out.tolist() == [-100 + 0, -100 + 1, 1, 103, 99, 99]


@triton.jit
def ordered(p, q, swap: tl.constexpr):
    return (q, p) if swap else (p, q)


@triton.jit
def bump(pointers, i):
    tl.store(pointers[0], tl.load(pointers[0]) + i)
    return (pointers[0] + 1, pointers[1])


@triton.jit
def three(a, b, c=5):
    return a * 100 + b * 10 + c


@triton.jit
def stars(x, n):
    pair = (n, 2)
    tl.store(x, three(*pair) + three(1, *(2, 3)) + three(*(n,), *(), b=1))
    tl.store(*(x + 1, 7))


def test_tuples_are_unpacked_into_arguments():
    x = np.zeros(2, i32)
    run(stars, 1, x, 4)
    assert x.tolist() == [425 + 123 + 415, 7]


@triton.jit
def tuples(x, y, n):
    pointers = ordered(x, y, True)
    for i in range(n):
        pointers = bump(pointers, i + OFFSET)
    tl.store(pointers[1], 7)


def test_tuples_go_in_and_out_and_statements_of_helpers_act():
    x, y = np.zeros(4, i32), np.zeros(4, i32)
    run(tuples, 1, x, y, 3)
    assert (x.tolist(), y.tolist()) == ([7, 0, 0, 0], [100, 101, 102, 0])


def test_each_line_comes_from_the_helper_and_knows_where_it_is_called():
    result = run(calls, 1, np.zeros(4, f32), np.zeros(8, f32), 2)
    compilation = result.compilation
    assert [unit.name for unit in compilation.units] == ["calls", "pair", "scaled"]
    line = next(li for li in compilation.stage("ssa").lines if "mul" in li.text)
    chain, span = [], line.span
    while span is not None:
        unit = compilation.units[span.unit]
        chain.append((unit.name, unit.line(span.line)[span.column - 1 : span.end_column - 1]))
        span = span.call_site
    assert chain == [("scaled", "v * by"), ("pair", "scaled(v, 3, plus=n)"), ("calls", "pair(x, n)")]


FILE = (
    HEAD
    + """
@triton.jit
def k(x, n):
    i = tl.arange(0, 4)
    tl.store(x + i, outer(i, n))

@triton.jit
def outer(v, n):
    return inner(v, n) + SHIFT

SHIFT = tl.constexpr(2)

@triton.jit
def inner(v, n, W: tl.constexpr = 3):
    return v * W + n
"""
)


def test_helpers_of_a_file_that_is_only_read_may_be_defined_later():
    kernel = read_module(FILE, "file.py").kernel("k")
    compilation = compile_kernel(kernel, parse_signature(kernel, "*i32, i32"), Target("interp"))
    texts = [line.text for line in compilation.stage("ssa").lines]
    assert texts == [
        "%0 = arange {start=0, end=4} : vector<4 x i32>",
        "%1 = mul %0, 3 : vector<4 x i32>",
        "%2 = add %1, n : vector<4 x i32>",
        "%3 = add %2, 2 : vector<4 x i32>",
        "%4 = addptr x, %0 : vector<4 x ptr<i32>>",
        "store %4, %3",
    ]
    places = [(u.name, u.first_line) for u in compilation.units]
    assert places == [("k", 5), ("outer", 10), ("inner", 16)]


def test_a_mistake_in_a_helper_shows_the_chain_of_calls():
    text = FILE.replace("v * W + n", "v * W + m").replace('"file.py"', "")
    assert rendered(text, "*i32, i32") == (
        "kernel.py:18:20: error[MT131]: `m` is not defined\n"
        "18 |     return v * W + m\n"
        "   |                    ^\n"
        "called from kernel.py:12:12\n"
        "12 |     return inner(v, n) + SHIFT\n"
        "   |            ^^^^^^^^^^^\n"
        "called from kernel.py:8:21\n"
        "8 |     tl.store(x + i, outer(i, n))\n"
        "  |                     ^^^^^^^^^^^\n"
        "help: assign it before, or make it a parameter of `inner`"
    )


def test_a_mistake_in_a_helper_is_told_once_and_spoils_nothing_else():
    text = FILE.replace("v * W + n", "v * W + m")
    text = text.replace(
        "tl.store(x + i, outer(i, n))", "tl.store(x + i, outer(i, n) + outer(i, 2))\n    tl.store(x, zz)"
    )
    assert rendered(text, "*i32, i32").count("error[") == 2


def mistakes(helper: str, call: str) -> list[str]:
    text = f"{HEAD}@triton.jit\ndef k(x, n):\n    tl.store(x, {call})\n\n@triton.jit\n{dedent(helper).strip()}\n"
    try:
        rendered(text, "*i32, i32")
    except AssertionError:
        return []
    kernel = read_module(text, "kernel.py").kernel("k")
    compilation = compile_kernel(kernel, parse_signature(kernel, "*i32, i32"), Target("interp")).run()
    return [f"{d.span.unit}:{d.span.line}:{d.span.column} {d.code} {d.message}" for d in compilation.diagnostics]


MISUSES = [
    ("def h(a, b): return a", "h(1)", "0:3:17 MT120 `h` needs `b`"),
    ("def h(a): return a", "h(1, 2)", "0:3:22 MT120 `h` takes 1 arguments (a), got 2"),
    ("def h(a): return a", "h(a=1, b=2)", "0:3:26 MT120 `h` has no parameter `b`"),
    ("def h(a): return a", "h(*n)", "0:3:20 MT214 `n` (i32) cannot be unpacked"),
    ("def h(a): return a", "h(*(1, 2))", "0:3:20 MT120 `h` takes 1 arguments (a), got 2"),
    ("def h(a): return a", "h(1, a=2)", "0:3:24 MT120 `h` got `a` twice"),
    ("def h(*a): return a[0]", "h(1, 2)", "1:2:8 MT112 `a`: a kernel has a fixed number of parameters"),
    ("def h(a): pass", "h(n)", "0:3:17 MT201 this must be a number or block, got `h(n)` (None)"),
    ("def h(a):\n    with a: pass", "h(n)", "1:3:5 MT110 `with` is not part of the kernel language"),
    ("def h(a): return h(a)", "h(n)", "1:2:18 MT136 `h` calls itself; recursion is not part of the kernel language"),
    ("def h(a): return g(a)\n@triton.jit\ndef g(a): return h(a)", "h(n)",
     "2:2:18 MT136 `h` calls `g` calls `h`; recursion is not part of the kernel language"),
    ("def h(a): return k(a, a)", "h(n)",
     "1:2:18 MT136 `k` calls `h` calls `k`; recursion is not part of the kernel language"),
    ("def h(a):\n    if a > 0:\n        return 1\n    return 1.5", "h(n)",
     "1:5:5 MT152 this returns f32, but another `return` gives i32"),
    ("def h(a):\n    if a > 0:\n        return 1", "h(n)",
     "1:4:9 MT152 this returns i32, but at its end the function returns nothing"),
    ("def h(a):\n    for j in range(a):\n        return j\n    return 0", "h(n)",
     "1:4:9 MT141 `return` in a run-time loop is not part of the kernel language"),
    ("def h(a): return a + zz", "h(n) + zzz", "1:2:22 MT131 `zz` is not defined"),
]  # fmt: skip


@pytest.mark.parametrize(("helper", "call", "expected"), MISUSES)
def test_misuse(helper, call, expected):
    found = mistakes(helper, call)
    assert found[0] == expected
    assert len(found) == (2 if "zzz" in call else 1)


def load(path, text):
    path.write_text(text.replace("import triton", "import mytriton as triton", 1).replace("triton.l", "mytriton.l", 1))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_globals_of_a_helper_are_those_of_its_own_file_and_never_stale(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    load(tmp_path / "helpers_of_test.py", f"{HEAD}C = tl.constexpr(3)\n@triton.jit\ndef h(v):\n    return v * C\n")
    body = "C = tl.constexpr(1000)\n@triton.jit\ndef k(x):\n    tl.store(x, h(tl.load(x)))\n"
    module = load(tmp_path / "kernel_of_test.py", f"{HEAD}from helpers_of_test import h\n{body}")
    x = np.ones(1, i32)
    run(module.k, 1, x)
    assert x[0] == 3
    import helpers_of_test

    helpers_of_test.C = tl.constexpr(5)
    run(module.k, 1, x)
    assert x[0] == 15
    changed = f"{HEAD}C = tl.constexpr(3)\n@triton.jit\ndef h(v):\n    return v - C\n"
    module.h = load(tmp_path / "changed_of_test.py", changed).h
    run(module.k, 1, x)
    assert x[0] == 12


@triton.jit(noinline=True, do_not_specialize=["v"])
def advised(v):
    return v + 1


@triton.jit(debug=True)
def calls_advised(x):
    tl.store(x, advised(tl.load(x)))


def test_the_keywords_of_tritons_jit_are_accepted():
    x = np.ones(1, i32)
    run(calls_advised, 1, x)
    assert x[0] == 2
    with pytest.raises(TypeError, match="has no option `inline`; it accepts version, repr"):
        triton.jit(inline=True)


def test_a_helper_may_have_a_parameter_named_like_an_option(tmp_path):
    text = "@triton.jit\ndef h(num_warps):\n    return num_warps + 1\n@triton.jit\ndef k(x):\n    tl.store(x, h(4))\n"
    module = load(tmp_path / "options_of_test.py", HEAD + text)
    x = np.zeros(1, i32)
    run(module.k, 1, x)
    assert x[0] == 5
    with pytest.raises(triton.LaunchError, match="has a parameter `num_warps`, which is a launch option"):
        run(module.h, 1, x)


def test_a_helper_without_source_is_an_error_of_the_kernel_that_calls_it(tmp_path):
    made = "space = {'triton': triton}\nexec('@triton.jit\\ndef h(v):\\n    return v', space)\nh = space['h']\n"
    module = load(tmp_path / "exec_of_test.py", f"{HEAD}{made}@triton.jit\ndef k(x):\n    tl.store(x, h(1))\n")
    with pytest.raises(CompileError, match="cannot read the source of `h`"):
        run(module.k, 1, np.zeros(1, i32))


MULTIPLIER = types.ModuleType("multiplier")
MULTIPLIER.scaled, MULTIPLIER.BY, MULTIPLIER.inner = scaled, tl.constexpr(3), types.ModuleType("multiplier.inner")
MULTIPLIER.inner.PLUS = 100


@triton.jit
def through_a_module(x, out):
    i = tl.arange(0, 4)
    tl.store(out + i, MULTIPLIER.scaled(tl.load(x + i), MULTIPLIER.BY, plus=MULTIPLIER.inner.PLUS))


def test_helpers_and_constexprs_are_used_through_a_module_and_never_stale(monkeypatch):
    x, out = np.arange(4, dtype=f32), np.zeros(4, f32)
    run(through_a_module, 1, x, out)
    assert out.tolist() == [100, 103, 106, 109]
    monkeypatch.setattr(MULTIPLIER, "BY", tl.constexpr(5))
    run(through_a_module, 1, x, out)
    assert out.tolist() == [100, 105, 110, 115]
    monkeypatch.setattr(MULTIPLIER.inner, "PLUS", 7)
    run(through_a_module, 1, x, out)
    assert out.tolist() == [7, 12, 17, 22]


RUN_TIME = """
@triton.jit
def k(x, n):
    A: tl.constexpr = n * 2
    A += tl.constexpr(n)
    for i in range(n):
        A += 1
    tl.store(x, h(A, n))

@triton.jit
def h(a, N: tl.constexpr):
    N += 1
    return a * N
"""


def test_run_time_values_where_a_constexpr_is_declared_are_taken_with_a_warning():
    found = read_module(HEAD + RUN_TIME, "kernel.py").kernel("k")
    assert found is not None
    compilation = compile_kernel(found, parse_signature(found, "*i32, i32"), Target("interp")).run()
    what = ["the value of a `constexpr` variable", "the argument of tl.constexpr", "the constexpr parameter `N` of `h`"]
    values = ["`n * 2` (i32)", "`n` (i32)", "`n` (i32)"]
    assert [d.message for d in compilation.diagnostics] == [
        f"{w} is no constexpr: {v} is computed at run time" for w, v in zip(what, values, strict=True)
    ]
    assert {d.severity for d in compilation.diagnostics} == {"warning"}
    assert compilation.stage("ssa").text.count("for ") == 1
    needed = rendered(HEAD + RUN_TIME.replace("a * N", "tl.arange(0, N)"), "*i32, i32")
    assert "the end of tl.arange must be a constexpr, but `N` (i32) is not" in needed
