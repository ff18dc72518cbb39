"""Reading kernels, from live functions and from text: the same kernel either way, at its true lines and columns."""

from __future__ import annotations

import dataclasses
import importlib.util
import linecache
import sys
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

import mytriton
import mytriton.language as tl
from mytriton import CompileError, JITFunction, kernel_of, read_module
from mytriton.frontend.kernel import MISSING, Kernel, Unresolved, is_kernel
from mytriton.frontend.parse import parse
from mytriton.frontend.show import tree_lines
from mytriton.language import constexpr

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "kernels").glob("*.py"))


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"kernels_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def written(folder: Path, text: str) -> ModuleType:
    path = folder / "module.py"
    path.write_text(dedent(text))
    linecache.checkcache(str(path))
    return load(path)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_text_and_live_function_give_the_same_kernel(path):
    module = load(path)
    kernels = read_module(path.read_text(), str(path)).kernels
    assert kernels
    for kernel in kernels:
        assert with_helpers(getattr(module, kernel.name).to_compile) == with_helpers(kernel)


def with_helpers(kernel: Kernel) -> Kernel:
    """The kernel, and in place of the functions it names their kernels."""
    names = {name: with_helpers(v.kernel) if is_kernel(v) else v for name, v in kernel.names.items()}
    return dataclasses.replace(kernel, names=names)


def test_the_unit_is_the_verbatim_text_with_decorators():
    text = "import triton\n\n\n@triton.jit()\n@other\ndef k(x):  # why\n    pass\n\nlater = 1\n"
    kernel = read_module(text, "file.py").kernels[0]
    assert kernel.unit.text == "@triton.jit()\n@other\ndef k(x):  # why\n    pass"
    assert kernel.unit.first_line == 4
    assert kernel.unit.file_line(kernel.params[0].span) == 6
    assert (kernel.params[0].span.line, kernel.params[0].span.column) == (3, 7)


def test_a_nested_kernel_with_comments_and_strings_at_the_margin(tmp_path):
    module = written(
        tmp_path,
        '''
        import mytriton
        import mytriton.language as tl

        def make(scale):
            @mytriton.jit
            def inner(x, n: tl.constexpr):
        # a comment at the margin
                """Text
        at the margin."""
                y = (tl.load(x)
        + 1)
                tl.store(x, y * scale)
            return inner
        ''',
    )
    kernel = module.make(3).kernel
    assert kernel.names["scale"] == 3
    tree = parse(kernel)
    statement = tree.body[-2]
    assert (statement.span.line, statement.span.column) == (6, 9)
    assert statement.span.end_line == 7
    assert [p.is_constexpr for p in kernel.params] == [False, True]


def test_string_annotations_and_an_import_inside_the_enclosing_function(tmp_path):
    module = written(
        tmp_path,
        """
        from __future__ import annotations
        import mytriton

        def make():
            import mytriton.language as tl
            from mytriton.language import constexpr as static

            @mytriton.jit
            def inner(x, n: tl.constexpr, m: static, s: "tl.constexpr", t: "*fp32", u: float):
                tl.store(x, n + m + s)
            return inner
        """,
    )
    params = module.make().kernel.params
    assert [p.name for p in params if p.is_constexpr] == ["n", "m", "s"] or [
        p.name for p in params if p.is_constexpr
    ] == ["n", "s"]
    assert [p.type for p in params] == ["", "", "", "", "*fp32", ""]


def test_every_way_to_name_the_language():
    text = """
    import mytriton
    import mytriton as mt
    import triton.language as tl
    from mytriton import language
    from triton.language import load as read, constexpr
    import triton.language

    @mt.jit
    def a(x, B: constexpr):
        mt.language.store(x, language.load(x) + read(x) + tl.load(x) + triton.language.load(x) + mytriton.cdiv(B, 2))

    from mytriton import jit

    @jit
    def b(x, B: "mt.language.constexpr"):
        pass
    """
    a, b = read_module(dedent(text), "f.py").kernels
    assert a.params[1].is_constexpr
    assert b.params[1].is_constexpr
    assert a.names["language"] is tl
    assert a.names["triton"] is mytriton
    assert a.names["read"] is tl.load


def test_defaults_and_written_types():
    text = """
    import triton
    import triton.language as tl
    N = 4
    @triton.jit
    def k(x: "*fp32:16", n: tl.int32, s: "fp32" = 1.5, B: tl.constexpr = N * 2, C: tl.constexpr = unknown(), *, d=None):
        pass
    """
    params = read_module(dedent(text), "f.py").kernels[0].params
    assert [p.default for p in params] == [MISSING, MISSING, 1.5, 8, MISSING, None]
    assert [p.type for p in params] == ["*fp32:16", "i32", "fp32", "", "", ""]


def test_globals_that_can_be_told_from_the_text():
    text = """
    import math, os
    import triton
    import triton.language as tl
    A = 3
    B = tl.constexpr(A * 2)
    C: tl.constexpr = 5
    D = triton.cdiv(1000, 256) + triton.next_power_of_2(20) + min(A, 2)
    E = math.sqrt(16.0)
    F = -float("inf")
    G = tl.float16
    H = os.environ.get("H")
    I = [1, 2]
    if os.path.exists("/"):
        J = 1
    K, L = 1, 2
    M = tl.constexpr("gelu")
    N = (1, (2, 3))
    def helper(): pass

    @triton.jit
    def k(x):
        A, B, C, D, E, F, G, H, I, J, K, M, N, helper, k, os, nowhere = 0
    """
    reads = dedent(text).replace("= 0\n", "")
    names = read_module(reads, "f.py").kernels[0].names
    plain = {n: v for n, v in names.items() if not isinstance(v, (Unresolved, ModuleType)) and n != "k"}
    assert {n: v.value if isinstance(v, constexpr) else v for n, v in plain.items()} == {
        "A": 3,
        "B": 6,
        "C": 5,
        "D": 4 + 32 + 2,
        "E": 4.0,
        "F": float("-inf"),
        "G": tl.float16,
        "M": "gelu",
        "N": (1, (2, 3)),
    }
    assert isinstance(names["B"], constexpr) and isinstance(names["C"], constexpr) and isinstance(names["M"], constexpr)
    assert [n for n, v in names.items() if isinstance(v, Unresolved)] == ["H", "I", "J", "K", "helper", "os"]
    assert "nowhere" not in names


def test_reading_executes_nothing_and_keeps_values_learned_before():
    text = """
    raise SystemExit
    import missing_package
    import triton
    S = missing_package.value()
    @triton.jit
    def k(x):
        triton.language.store(x, S)
    """
    assert isinstance(read_module(dedent(text), "f.py").kernels[0].names["S"], Unresolved)
    assert read_module(dedent(text), "f.py", {"S": 7}).kernels[0].names["S"] == 7


def test_python_that_does_not_parse_points_at_the_place():
    with pytest.raises(CompileError) as caught:
        read_module("import triton\n\ndef f(x):\n    é = x +\n", "file.py")
    (found,) = caught.value.diagnostics
    assert (found.code, found.span.line) == ("MT100", 4)
    assert str(caught.value) == ("file.py:4:12: error[MT100]: invalid syntax\n4 |     é = x +\n  |            ^")


@pytest.mark.parametrize("text", ["", "\x00", "def f(", "x = 'abc\n", "    x = 1\n y = 2", "é = $"])
def test_odd_text_never_raises_anything_else(text):
    try:
        assert read_module(text, "f.py").kernels == ()
    except CompileError as error:
        assert error.diagnostics


def test_line_ends_and_form_feeds():
    text = "import triton\r\n\x0c\r\n@triton.jit\r\ndef k(x):\r\n    # \x0c\u2028\r\n    y = x\r\n"
    kernel = read_module(text, "f.py").kernels[0]
    (statement,) = parse(kernel).body
    assert (statement.span.line, statement.span.column) == (4, 5)
    assert kernel.unit.line(4) == "    y = x"


def test_kernels_keep_the_order_of_the_file_and_several_are_found():
    text = "import triton\n@triton.jit\ndef b(): pass\nclass C:\n    @triton.jit\n    def a(): pass\ndef c(): pass\n"
    module = read_module(text, "f.py")
    assert [k.name for k in module.kernels] == ["b", "a"]
    assert module.kernel().name == "b"
    assert module.kernel("a").name == "a"
    assert module.kernel("c") is None


def test_functions_without_source_are_refused_with_a_reason():
    scope = {}
    exec("def f(x):\n    pass", scope)
    with pytest.raises(CompileError, match="cannot read the source of `f`: it was not read from a file"):
        kernel_of(scope["f"])
    with pytest.raises(CompileError, match="a kernel is a `def`"):
        kernel_of(lambda x: x)
    with pytest.raises(CompileError, match="it is not a function"):
        kernel_of(len)


def test_the_tree_of_the_introductory_kernel(golden):
    path = next(p for p in EXAMPLES if p.stem == "add")
    lines = tree_lines(parse(read_module(path.read_text(), "add.py").kernels[0]))
    golden("add_kernel.tree", "\n".join(line.text for line in lines))
    places = {line.text.strip("│├└─ "): (line.span.line, line.span.column) for line in lines}
    assert places["kernel add_kernel(x, y, out, n, BLOCK: constexpr)"] == (2, 1)
    assert places["pid ="] == (3, 5)
    assert places["tl.arange()"] == (4, 26)


def test_the_tree_of_everything(golden):
    text = '''
    import triton
    @triton.jit
    def k(x, n: triton.language.constexpr):
        """Not shown."""
        a, (b, c) = d = -x + 1, (2, not n)
        a += b if n else c
        for i in range(n):
            if 0 < i <= 3 and i or n:
                x.to(n)[0].y
            elif ~i:
                pass
            else:
                f(1)(k=2)
        while n:
            return
        z: int = 1
        z: int
        return [None, "s"]
    '''
    lines = tree_lines(parse(read_module(dedent(text), "f.py").kernels[0]))
    golden("everything.tree", "\n".join(line.text for line in lines))
    assert all(line.span is not None for line in lines)


def test_jit_functions_know_their_python_function():
    @mytriton.jit
    def k(x):
        """What it does."""

    assert isinstance(k, JITFunction)
    assert (k.name, k.__doc__) == ("k", "What it does.")
    assert mytriton.jit()(k.function).name == "k"
    assert mytriton.jit(k) is k
