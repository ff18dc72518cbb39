"""Collects the lines of a kernel, each with its Python span and the values it mentions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from mytriton.ir.core import Value
from mytriton.source import Span
from mytriton.stage import Line

#: The most registers over which a loop is unrolled; a thread has 255 of 32 bits in all.
UNROLLED = 128


class Writer:
    """Writes indented lines. What is `mention`ed since `start` is linked to every line written then."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._indent = "    "
        self._span: Span | None = None
        self._mentioned: dict[str, None] = {}

    def start(self, span: Span | None, values: Iterable[Value] = ()) -> None:
        """The lines that follow are of this span, and mention these values."""
        self._span = span
        self._mentioned = dict.fromkeys(v.id for v in values)

    def mention(self, value: Value) -> None:
        """The lines that follow mention the value."""
        self._mentioned[value.id] = None

    def line(self, text: str) -> None:
        """Write one line."""
        self.lines.append(Line(self._indent + text, self._span, tuple(self._mentioned)))

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """Write `head {`, what is written inside, and `}`, which is linked as the line before is."""
        self.line(head + " {")
        self._indent += "    "
        yield
        self._indent = self._indent[4:]
        self.line("}")

    @contextmanager
    def loop(self, registers: int, step: int = 1, name: str = "r") -> Iterator[None]:
        """A loop over the register numbers 0, `step`...; none where one trip is made. The compiler unrolls it, unless
        there are so many that no array of them fits into registers, and NVRTC would be at it for minutes."""
        if registers <= step:
            yield
            return
        self.line("#pragma unroll" if registers <= UNROLLED else "#pragma unroll 1")
        following = f"++{name}" if step == 1 else f"{name} += {step}"
        with self.block(f"for (int {name} = 0; {name} < {registers}; {following})"):
            yield
