"""What the writers of scalars and of loops share: lines with their links, names and types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mytriton.ir.core import Func, Op, Value
from mytriton.source import Span
from mytriton.stage import Line
from mytriton.types import PointerType, ScalarType

POINTER = "!llvm.ptr"

_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z", re.ASCII)


#: Elements a vector operation handles. 16 f32 fill an AVX-512 register; LLVM splits where registers are shorter. 32
#: were 40 % slower in a vector add, and 8 the same as 16.
LANES = 16


def width_of(size: int) -> int:
    """Lanes used for blocks of `size` elements."""
    return min(LANES, size)


def type_name(element: ScalarType | PointerType, width: int | None = None) -> str:
    """The MLIR type of a scalar, or of a vector of `width`."""
    name = POINTER if isinstance(element, PointerType) else element.signless
    return name if width is None else f"vector<{width}x{name}>"


class Text:
    """Lines under construction. Every line is linked to the operation that `at` named last.

    The value `%3` is named `%v3`, since a number takes no suffix in MLIR. Names that the emitter adds have a dot in
    them, which no Python name has.
    """

    def __init__(self, func: Func) -> None:
        self.lines: list[Line] = []
        self.functions: dict[str, list[str]] = {}  # that the lines call, by name
        self._indent = ""
        self._scopes: list[set[str]] = [set()]
        self._span: Span | None = func.span
        self._values: tuple[str, ...] = ()
        self._names: dict[Value, str] = {}
        for number, param in enumerate(func.params):
            self._names[param] = f"%{param.id}" if _BARE.match(param.id) else f"%arg.{number}"
        self._params = set(self._names.values())

    def name(self, value: Value) -> str:
        """The SSA name of a value."""
        name = self._names.get(value)
        if name is None:
            name = value.id if value.id.startswith("%c") else f"%v{value.id[1:]}"
            name = self._names[value] = f"{name}." if name in self._params else name
        return name

    def at(self, op: Op | None) -> None:
        """Link the lines that follow to `op`; None links them to nothing."""
        self._span = op.span if op is not None else None
        self._values = tuple(v.id.split(".")[0] for v in (*op.results, *op.operands)) if op is not None else ()

    def write(self, line: str) -> None:
        """Append one line at the current indentation."""
        self.lines.append(Line(self._indent + line, self._span, self._values))

    @contextmanager
    def block(self, head: str, end: str = "}") -> Iterator[None]:
        """Lines within braces: `head {`, the lines, `end`. A following `else` block takes `end` away again."""
        self.write(f"{head} {{")
        outer, self._indent = self._indent, self._indent + "  "
        self._scopes.append(set())
        yield
        self._scopes.pop()
        self._indent = outer
        self.write(end)

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """The else branch of the block just closed."""
        self.lines.pop()
        with self.block("} else"):
            yield

    @contextmanager
    def then_do(self, head: str) -> Iterator[None]:
        """The second region of the loop just closed, starting with the line `head` if that is not empty."""
        self.lines.pop()
        with self.block("} do"):
            if head:
                self.write(head)
            yield

    def once(self, name: str) -> bool:
        """Whether `name` is still to be written: true the first time in a region and those within it."""
        if any(name in scope for scope in self._scopes):
            return False
        self._scopes[-1].add(name)
        return True


def symbol(name: str, what: str = "programs") -> str:
    """The symbol of a kernel's function. The dot keeps it apart from C functions: a kernel may be called `exp`."""
    return f"@{name}.{what}" if _BARE.match(name) else f'@"{name}.{what}"'


def dense(values: Sequence[int]) -> str:
    """An attribute with these elements."""
    return f"dense<[{', '.join(map(str, values))}]>"
