"""MLIR text under construction: lines with their links, nested regions, and values made once where first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mytriton.backends.mlir.writer import constant_name, literal
from mytriton.source import Span
from mytriton.stage import Line
from mytriton.types import ScalarType

#: Types that occur only in emitted text: bytes in memory (an i1 is one there), and MLIR's index.
I8 = ScalarType("i8", "int", 8)
INDEX = ScalarType("index", "int", 64)


class Text:
    """Lines of MLIR. Each gets the span and the value ids of the operation being emitted (`span`, `values`).

    A region's values end with it, so what is shared (constants, a thread's position) is remembered by region.
    """

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.span: Span | None = None
        self.values: tuple[str, ...] = ()
        self._indent = ""
        self._scopes: list[set[str]] = [set()]

    def at(self, span: Span | None, values: tuple[str, ...] = ()) -> None:
        """What the following lines come from."""
        self.span, self.values = span, values

    def write(self, text: str) -> None:
        """One line, indented."""
        self.lines.append(Line(self._indent + text, self.span, self.values))

    @contextmanager
    def region(self, head: str, attributes: str = "") -> Iterator[None]:
        """`head {`, what the body of the `with` writes, and `}` with the operation's attributes; the first and the last
        line have one link."""
        link = self.span, self.values
        self.write(f"{head} {{")
        self._indent += "  "
        self._scopes.append(set())
        yield
        self._scopes.pop()
        self._indent = self._indent[2:]
        self.at(*link)
        self.write("}" + attributes)

    def otherwise(self) -> None:
        """`} else {` inside a region."""
        self._scopes[-1] = set()
        self._indent = self._indent[2:]
        self.write("} else {")
        self._indent += "  "

    def once(self, name: str, make: Callable[[str], None]) -> str:
        """The SSA name `name`, made by `make(name)` unless it already is in this region or one around it."""
        if not any(name in scope for scope in self._scopes):
            make(name)
            self._scopes[-1].add(name)
        return name

    def constant(self, value: bool | int | float, type_: ScalarType, width: int | None = None) -> str:
        """A constant, splat to `width`: `%c_i32_256`, `%c_i32_256_x4`."""
        text = literal(value, type_)
        if width is not None:
            name = f"%{constant_name(value, type_)}_x{width}"
            return self.once(
                name, lambda n: self.write(f"{n} = arith.constant dense<{text}> : vector<{width}x{type_.signless}>")
            )
        typed = text if type_.kind == "bool" else f"{text} : {type_.signless}"
        return self.once(f"%{constant_name(value, type_)}", lambda n: self.write(f"{n} = arith.constant {typed}"))

    def i32(self, value: int) -> str:
        """A constant i32."""
        return self.constant(value, ScalarType("i32", "int", 32))
