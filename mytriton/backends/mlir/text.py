"""MLIR text under construction: lines with their links, nested regions, and values made once where first needed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

from mytriton.backends.mlir.writer import constant_name, literal
from mytriton.source import Span
from mytriton.stage import Line
from mytriton.types import ScalarType

#: Types that occur only in emitted text: bytes in memory (an i1 is one there), and MLIR's index.
I8 = ScalarType("i8", "int", 8)
INDEX = ScalarType("index", "int", 64)

#: The name of the i32 constant 0.
ZERO = "%c_i32_0"


class Text:
    """Lines of MLIR. Each gets the span and the value ids of the operation being emitted (`span`, `values`).

    A region's names end with it, so the text knows for each region around the next line which names are defined
    there, and what their users want to remember of them.
    """

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.span: Span | None = None
        self.values: tuple[str, ...] = ()
        self._indent = ""
        self._scopes: list[tuple[set[str], dict[Hashable, str]]] = [(set(), {})]

    def at(self, span: Span | None, values: tuple[str, ...] = ()) -> None:
        """What the following lines come from."""
        self.span, self.values = span, values

    @contextmanager
    def elsewhere(self, span: Span | None, values: tuple[str, ...] = ()) -> Iterator[None]:
        """What the lines of the `with` come from; after it, as before."""
        link = self.span, self.values
        self.at(span, values)
        yield
        self.at(*link)

    def write(self, text: str) -> None:
        """One line, indented; the names left of ` = ` are defined from here on."""
        self.lines.append(Line(self._indent + text, self.span, self.values))
        if text.startswith("%"):
            self.define(*text.split(" = ", 1)[0].split(", "))

    def define(self, *names: str) -> None:
        """Names that the current region defines otherwise than by a line of their own: its arguments."""
        self._scopes[-1][0].update(names)

    def defined(self, name: str) -> bool:
        """Whether the name can be used in the next line."""
        return any(name in names for names, _ in self._scopes)

    def remember(self, what: Hashable, name: str) -> None:
        """Note for the rest of the current region that `name` is `what`."""
        self._scopes[-1][1][what] = name

    def recall(self, what: Hashable) -> str | None:
        """The name that is `what`, in this region or one around it."""
        return next((known[what] for _, known in reversed(self._scopes) if what in known), None)

    def fresh(self, name: str) -> str:
        """`name`, or one like it where that is defined already."""
        while self.defined(name):
            name += "_"
        return name

    @contextmanager
    def region(self, head: str, attributes: str = "", arguments: tuple[str, ...] = ()) -> Iterator[None]:
        """`head {`, what the body of the `with` writes, and `}` with the operation's attributes; the first and the last
        line have one link. The results are defined after it, `arguments` inside."""
        link = self.span, self.values
        self.lines.append(Line(f"{self._indent}{head} {{", *link))
        self._indent += "  "
        self._scopes.append((set(arguments), {}))
        yield
        self._scopes.pop()
        self._indent = self._indent[2:]
        self.at(*link)
        self.write("}" + attributes)
        if head.startswith("%"):
            self.define(*head.split(" = ", 1)[0].split(", "))

    def otherwise(self, word: str = "else", arguments: tuple[str, ...] = ()) -> None:
        """`} else {` inside a region."""
        self._scopes[-1] = (set(arguments), {})
        self._indent = self._indent[2:]
        self.write(f"}} {word} {{")
        self._indent += "  "

    def once(self, name: str, make: Callable[[str], None]) -> str:
        """The SSA name `name`, made by `make(name)` unless it already is in this region or one around it."""
        if not self.defined(name):
            make(name)
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
