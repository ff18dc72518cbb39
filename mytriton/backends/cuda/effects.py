"""Assertions and prints, with the functions that every device has for them (CUDA programming guide, "Assertion",
"Formatted Output")."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from math import prod

from mytriton.backends.cuda.expressions import without_parentheses
from mytriton.backends.cuda.positions import owner, position
from mytriton.backends.cuda.section import Section
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.types import ScalarType, element_of, f64, i1, shape_of

_FORMATS = {"i64": "%lld", "u64": "%llu", "u32": "%u"}


class Effects(Section):
    """Prints the assertions and prints of one kernel; of threads that hold copies one speaks."""

    def assertion(self, op: ops.Assert) -> None:
        """An assertion that fails stops the launch. The driver prints the kernel's name, the line in it, the program
        and the message, and every later use of the context is an error."""
        span = op.span
        while span is not None and span.call_site is not None:  # the line of the kernel, not of a helper
            span = span.call_site
        name, line = c_string(self._facts.func.name), span.line if span else 0
        conditions = [f"!{self._values(op.condition)}", *self._owner(op.condition)]
        with self._writer.block(f"if ({' && '.join(conditions)})"):
            self._writer.line(f"__assertfail({c_string(op.message)}, {name}, {line}, {name}, 1);")

    def printing(self, op: ops.Print) -> None:
        """One line an element: `pid (0, 0, 0) idx (3) prefix: 1.5`."""
        for value in op.values:
            conditions = self._owner(value)
            block: AbstractContextManager[None] = nullcontext()
            if conditions:
                block = self._writer.block(f"if ({' && '.join(conditions)})")
            with block:
                self._print(op, value)

    def _print(self, op: ops.Print, value: Value) -> None:
        element, shape = element_of(value.type), shape_of(value.type)
        assert isinstance(element, ScalarType)
        text = self._values(value)
        if element == i1:
            format_, text = "%s", f'{text} ? "True" : "False"'
        elif element.kind == "int":
            format_ = _FORMATS.get(element.name, "%d")
        else:
            format_, text = "%g", self._values.expressions.cast(text, element, f64)
        arguments = [f"blockIdx.{axis}" for axis in "xyz"]
        if shape:
            at = position(self._facts.laid_out.layouts[value], 0)
            for axis, extent in enumerate(shape):
                inner = prod(shape[axis + 1 :])
                index = at if inner == 1 else f"({at}) / {inner}"
                arguments.append(without_parentheses(f"({index})" if axis == 0 else f"({index}) % {extent}"))
        index = ", ".join(["%d"] * len(shape))
        prefix = op.prefix.replace("%", "%%")
        template = c_string(f"pid (%d, %d, %d) idx ({index}) {prefix}: {format_}\n")
        self._writer.line(f"printf({', '.join([template, *arguments, text])});")

    def _owner(self, value: Value) -> list[str]:
        return owner(self._facts.laid_out.layouts[value], self._facts.target.threads)


def c_string(text: str) -> str:
    """A C++ string literal of the text in UTF-8."""
    return '"' + "".join(_character(byte) for byte in text.encode("utf-8", "surrogateescape")) + '"'


def _character(byte: int) -> str:
    if chr(byte) in '"\\':
        return "\\" + chr(byte)
    # Three octal digits end an escape, whatever follows; `?` might begin a trigraph.
    return chr(byte) if 32 <= byte < 127 and chr(byte) != "?" else f"\\{byte:03o}"
