"""Statements and expression trees: what the kernel says, in order, before anything has a type.

Statements keep the author's order; an expression tree hangs in each. Nodes compare by identity, carry their span, and
may nest deeply, so whoever walks them keeps an explicit stack.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from mytriton.frontend.kernel import Kernel
from mytriton.records import dataclass
from mytriton.source import Span

# --- expressions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, slots=True)
class Name:
    """A variable, parameter or global."""

    span: Span
    id: str


@dataclass(frozen=True, eq=False, slots=True)
class Literal:
    """A number, bool, string or None."""

    span: Span
    value: Any


@dataclass(frozen=True, eq=False, slots=True)
class UnaryOp:
    """`op` is one of `-`, `+`, `~`, `not`."""

    span: Span
    op: str
    operand: Expr


@dataclass(frozen=True, eq=False, slots=True)
class BinaryOp:
    """`op` is the Python operator: `+`, `//`, `&`, ..."""

    span: Span
    op: str
    lhs: Expr
    rhs: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Comparison:
    """`first ops[0] rest[0] ops[1] rest[1] ...`; more than one operator is a chained comparison."""

    span: Span
    first: Expr
    ops: tuple[str, ...]
    rest: tuple[Expr, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Logical:
    """`and` or `or` of two or more operands."""

    span: Span
    op: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Conditional:
    """`if_true if test else if_false`."""

    span: Span
    test: Expr
    if_true: Expr
    if_false: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Call:
    """A call; `keywords` keep their order."""

    span: Span
    function: Expr
    args: tuple[Expr, ...]
    keywords: tuple[tuple[str, Expr], ...]


@dataclass(frozen=True, eq=False, slots=True)
class Starred:
    """`*value` among the arguments of a call."""

    span: Span
    value: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Attribute:
    """`base.name`."""

    span: Span
    base: Expr
    name: str


@dataclass(frozen=True, eq=False, slots=True)
class Subscript:
    """`base[index]`."""

    span: Span
    base: Expr
    index: Expr


@dataclass(frozen=True, eq=False, slots=True)
class Slice:
    """`start:stop:step` in an index; what is left out is None."""

    span: Span
    start: Expr | None = None
    stop: Expr | None = None
    step: Expr | None = None


@dataclass(frozen=True, eq=False, slots=True)
class TupleExpr:
    """A tuple or list of expressions."""

    span: Span
    items: tuple[Expr, ...]


@dataclass(frozen=True, eq=False, slots=True)
class FString:
    """An f-string: literals and formatted values."""

    span: Span
    parts: tuple[Expr, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Formatted:
    """`{value!conversion:spec}` in an f-string; `conversion` is '', 'r', 's' or 'a'."""

    span: Span
    value: Expr
    conversion: str
    spec: Expr | None


Expr: TypeAlias = (
    Name
    | Literal
    | UnaryOp
    | BinaryOp
    | Comparison
    | Logical
    | Conditional
    | Call
    | Starred
    | Attribute
    | Subscript
    | Slice
    | TupleExpr
    | FString
    | Formatted
)

# --- statements -------------------------------------------------------------------------------------------------------

#: What an assignment binds: a name, or a tuple of targets.
Target: TypeAlias = "Name | TupleExpr"


@dataclass(frozen=True, eq=False, slots=True)
class Assign:
    """`targets[0] = targets[1] = ... = value`; `annotation` is the one of `name: annotation = value`."""

    span: Span
    targets: tuple[Target, ...]
    value: Expr
    annotation: Expr | None = None


@dataclass(frozen=True, eq=False, slots=True)
class AugAssign:
    """`target op= value`."""

    span: Span
    target: Name
    op: str
    value: Expr


@dataclass(frozen=True, eq=False, slots=True)
class ExprStmt:
    """An expression for its effect."""

    span: Span
    value: Expr


@dataclass(frozen=True, eq=False, slots=True)
class If:
    """`if test: body else: orelse`; an `elif` is an If in `orelse`."""

    span: Span
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]


@dataclass(frozen=True, eq=False, slots=True)
class For:
    """`for target in iterable: body`."""

    span: Span
    target: Name
    iterable: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, eq=False, slots=True)
class While:
    """`while test: body`."""

    span: Span
    test: Expr
    body: tuple[Stmt, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Assert:
    """`assert test` or `assert test, message`."""

    span: Span
    test: Expr
    message: Expr | None


@dataclass(frozen=True, eq=False, slots=True)
class Return:
    """`return` or `return value`."""

    span: Span
    value: Expr | None


@dataclass(frozen=True, eq=False, slots=True)
class Raise:
    """`raise error`, as it is written: where it is compiled, the kernel is refused."""

    span: Span
    text: str


@dataclass(frozen=True, eq=False, slots=True)
class Pass:
    """A statement without meaning: `pass`, a docstring, a bare annotation."""

    span: Span


Stmt: TypeAlias = Assign | AugAssign | ExprStmt | If | For | While | Assert | Raise | Return | Pass


@dataclass(frozen=True, eq=False, slots=True)
class Tree:
    """A parsed kernel; `span` is that of its `def` line."""

    kernel: Kernel
    body: tuple[Stmt, ...]
    span: Span


def bound_names(body: tuple[Stmt, ...]) -> Iterator[Name]:
    """The names that the statements bind, nested ones included, in order."""
    stack: list[Stmt | Target] = list(reversed(body))
    while stack:
        node = stack.pop()
        if isinstance(node, Name):
            yield node
        elif isinstance(node, TupleExpr):
            stack += [t for t in reversed(node.items) if isinstance(t, (Name, TupleExpr))]
        elif isinstance(node, Assign):
            stack += reversed(node.targets)
        elif isinstance(node, AugAssign):
            stack.append(node.target)
        elif isinstance(node, If):
            stack += [*reversed(node.orelse), *reversed(node.body)]
        elif isinstance(node, For):
            stack += [*reversed(node.body), node.target]
        elif isinstance(node, While):
            stack += reversed(node.body)
