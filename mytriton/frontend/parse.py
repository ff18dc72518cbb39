"""Python syntax to statements and expression trees; whatever the language lacks is reported, all of it at once."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import EllipsisType

from mytriton.diagnostics import CompileError, Diagnostic
from mytriton.frontend import tree as t
from mytriton.frontend.expressions import BINARY, ExpressionParser
from mytriton.frontend.kernel import Kernel
from mytriton.frontend.syntax import Positions
from mytriton.source import Span

#: Every `elif` is an `if` inside the `else` of another, and each level takes some of Python's stack.
MAX_ELIFS = 150


class StatementParser(ExpressionParser):
    """Statements to `Stmt` nodes."""

    def body(self, nodes: Sequence[ast.stmt]) -> tuple[t.Stmt, ...]:
        """The statements; ones that are refused are left out."""
        found = (self._statement(node) for node in nodes)
        return tuple(s for s in found if s is not None)

    def _statement(self, node: ast.stmt) -> t.Stmt | None:
        # This recursion follows the nesting of statements, which Python itself limits to 100 levels, and `elif`.
        span = self._positions.span(node)
        match node:
            case ast.Pass():
                return t.Pass(span)
            case ast.Expr(value=ast.Constant(value=str() | EllipsisType())):
                return t.Pass(span)
            case ast.Expr():
                return t.ExprStmt(span, self.expr(node.value))
            case ast.Assign():
                targets = tuple(self._target(x) for x in node.targets)
                return t.Assign(span, targets, self.expr(node.value))
            case ast.AnnAssign(value=None):
                return t.Pass(span)  # as in Python, `acc: float` alone changes nothing
            case ast.AnnAssign(value=ast.expr() as value):
                return t.Assign(span, (self._target(node.target),), self.expr(value), self.expr(node.annotation))
            case ast.AugAssign():
                target = self._target(node.target)
                return t.AugAssign(span, self._name(target), BINARY[type(node.op)], self.expr(node.value))
            case ast.If():
                span = self._positions.through(node, node.test)
                if _elifs(node) > MAX_ELIFS:
                    message = f"this `if` has more than {MAX_ELIFS} `elif` branches"
                    self._error("MT113", message, span, "choose from a tuple with a constexpr index")
                    return None
                return t.If(span, self.expr(node.test), self.body(node.body), self.body(node.orelse))
            case ast.For():
                return self._for(node)
            case ast.While():
                self._refuse_else(node)
                span = self._positions.through(node, node.test)
                return t.While(span, self.expr(node.test), self.body(node.body))
            case ast.Assert():
                return t.Assert(span, self.expr(node.test), None if node.msg is None else self.expr(node.msg))
            case ast.Raise():
                return t.Raise(span, "" if node.exc is None else ast.unparse(node.exc))
            case ast.Return():
                return t.Return(span, None if node.value is None else self.expr(node.value))
        self._refuse(node)
        return None

    def _for(self, node: ast.For) -> t.Stmt:
        self._refuse_else(node)
        target = self._name(self._target(node.target))
        return t.For(self._positions.through(node, node.iter), target, self.expr(node.iter), self.body(node.body))

    def _refuse_else(self, node: ast.For | ast.While) -> None:
        if node.orelse:
            where, word = self._positions.span(node.orelse[0]), "for" if isinstance(node, ast.For) else "while"
            hint = "put those statements after the loop"
            self._error("MT110", f"`else` of a `{word}` is not part of the kernel language", where, hint)

    def _name(self, target: t.Target) -> t.Name:
        if isinstance(target, t.Name):
            return target
        self._error("MT111", "a single name is needed here", target.span, "unpack it on a line of its own")
        return t.Name(target.span, "_")

    def _target(self, node: ast.expr) -> t.Target:
        span = self._positions.span(node)
        if isinstance(node, ast.Name):
            return t.Name(span, node.id)
        if isinstance(node, (ast.Tuple, ast.List)):
            return t.TupleExpr(span, tuple(self._target(x) for x in node.elts))
        if isinstance(node, ast.Subscript):
            hint = "store through a pointer: tl.store(pointer + offsets, value, mask=mask)"
            self._error("MT111", "assigning to an element is not part of the kernel language", span, hint)
        elif isinstance(node, ast.Attribute):
            hint = "use a variable, or store through a pointer"
            self._error("MT111", "assigning to an attribute is not part of the kernel language", span, hint)
        else:
            self._refuse(node)
        return t.Name(span, "_")


def _elifs(node: ast.If) -> int:
    """How many `elif` branches follow."""
    count = 0
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        node, count = node.orelse[0], count + 1
    return count


def parse(kernel: Kernel, unit: int = 0, call_site: Span | None = None) -> t.Tree:
    """The statements of a kernel, or of a helper: the unit with that number, called at `call_site`. Raises
    `CompileError` with everything in it that the language lacks."""
    node, text = kernel.node, kernel.unit
    assert node is not None
    positions = Positions(text.text, text.first_line - 1, unit, call_site)
    parser = StatementParser(positions)
    header = positions.header(node)
    if isinstance(node, ast.AsyncFunctionDef):
        parser.diagnostics.append(Diagnostic("MT110", "a kernel cannot be `async`", header, stage="tree"))
    for variadic in (node.args.vararg, node.args.kwarg):
        if variadic is not None:
            message = f"`{variadic.arg}`: a kernel has a fixed number of parameters"
            span = positions.span(variadic)
            parser.diagnostics.append(Diagnostic("MT112", message, span, hint="name each parameter", stage="tree"))
    body = parser.body(node.body)
    if parser.diagnostics:
        found = sorted(parser.diagnostics, key=lambda d: (d.span.line, d.span.column) if d.span else (0, 0))
        raise CompileError(found, [kernel.unit])
    return t.Tree(kernel, body, header)
