"""Compiling small kernels from text, and their findings as text."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent
from typing import Any

import numpy as np

from mytriton import CompileError, Diagnostic, parse_signature, read_module
from mytriton.frontend.kernel import Kernel
from mytriton.frontend.lower import lower
from mytriton.frontend.parse import parse
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.core import Func
from mytriton.ir.interp import run
from mytriton.ir.printer import print_func
from mytriton.ir.verify import verify
from mytriton.source import SourceUnit

HEAD = "import triton\nimport triton.language as tl\n\n"


def kernel_from(text: str, name: str | None = None) -> Kernel:
    """The kernel in `text`; a lone `def` gets the imports and decorator that make it a file, and starts at line 5."""
    text = dedent(text).strip("\n") + "\n"
    if not text.startswith(("import", "from", "@")):
        text = HEAD + "@triton.jit\n" + text
    found = read_module(text, "kernel.py").kernel(name)
    assert found is not None
    return found


def lowered(text: str, signature: str, **constexprs: Any) -> tuple[Func, tuple[Diagnostic, ...]]:
    """The verified SSA of a kernel and its warnings."""
    kernel = kernel_from(text)
    func, warnings, _ = lower(parse(kernel), parse_signature(kernel, signature, constexprs))
    verify(func)
    return func, warnings


def ssa(text: str, signature: str, **constexprs: Any) -> str:
    """The first SSA listing."""
    return "\n".join(line.text for line in print_func(lowered(text, signature, **constexprs)[0]))


def place(diagnostic: Diagnostic, unit: SourceUnit) -> str:
    """`line:column code message`, lines of the unit (the decorator is line 1, the `def` line 2)."""
    where = f"{diagnostic.span.line}:{diagnostic.span.column} " if diagnostic.span else ""
    return f"{where}{diagnostic.code} {diagnostic.message}"


def errors(text: str, signature: str = "", **constexprs: Any) -> list[str]:
    """The findings of a kernel that does not compile, in order."""
    return [line for line, _ in _findings(text, signature, constexprs)]


def hints(text: str, signature: str = "", **constexprs: Any) -> list[str]:
    """The hints of the same findings."""
    return [hint for _, hint in _findings(text, signature, constexprs)]


def rendered(text: str, signature: str = "", **constexprs: Any) -> str:
    """The message a user sees."""
    try:
        lowered(text, signature, **constexprs)
    except CompileError as error:
        return str(error)
    raise AssertionError("the kernel compiles")


def _findings(text: str, signature: str, constexprs: dict[str, Any]) -> list[tuple[str, str]]:
    try:
        lowered(text, signature, **constexprs)
    except CompileError as error:
        return [(place(d, error.units[0]), d.hint) for d in error.diagnostics]
    raise AssertionError("the kernel compiles")


def interpret(text: str, signature: str, args: Sequence[Any], grid: tuple[int, ...] = (1,), **constexprs: Any) -> None:
    """Run the first SSA of a kernel in the interpreter, in place on the NumPy arrays among `args`."""
    func, _ = lowered(text, signature, **constexprs)
    run(func, args, grid)


def expression_kernel(expression: str, out: Any, inputs: dict[str, Any], said: str = "") -> tuple[str, str]:
    """The text and signature of a kernel `k(*inputs, out)` that stores an expression of the inputs: blocks for NumPy
    arrays, scalars for NumPy scalars. `said` is a statement about `result`."""
    lines, entries = [], []
    for name, value in [*inputs.items(), ("out", out)]:
        element = next(t for t, dtype in DTYPES.items() if dtype == value.dtype)
        entries.append(("*" if value.shape or name == "out" else "") + element.name)
        if value.shape and name != "out":
            offsets = f"tl.reshape(tl.arange(0, {value.size}), {value.shape})"
            lines.append(f"    {name} = tl.load({name} + {offsets})")
    pointer = f"out + tl.reshape(tl.arange(0, {out.size}), {out.shape})" if out.shape else "out"
    lines += [f"    result = {expression}", *([f"    {said}"] if said else []), f"    tl.store({pointer}, result)"]
    head = HEAD + "from triton.language.extra import libdevice\n\n@triton.jit\n"
    return head + f"def k({', '.join([*inputs, 'out'])}):\n" + "\n".join(lines) + "\n", ", ".join(entries)


def value_of(expression: str, expected: Any, **inputs: Any) -> Any:
    """What the interpreter computes for an expression of NumPy arrays (blocks) and NumPy scalars, in an array of the
    shape and dtype of `expected`."""
    out = np.zeros(expected.shape, expected.dtype)
    interpret(*expression_kernel(expression, out, inputs), [*inputs.values(), out.reshape(-1)])
    return out


def type_of(expression: str, signature: str = "", parameters: str = "") -> str:
    """The type of an expression of scalar or pointer parameters, as it prints."""
    func, _ = lowered(f"def k({parameters}):\n    result = {expression}", signature)
    (value,) = (v for op in func.walk() for v in op.results if v.hint == "result")
    return str(value.type)
