"""Python's expressions to expression trees; what the language lacks is collected."""

from __future__ import annotations

import ast
from collections.abc import Callable, Generator
from typing import Any

from mytriton.diagnostics import Diagnostic
from mytriton.frontend import tree as t
from mytriton.frontend.syntax import Positions
from mytriton.source import Span

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.MatMult: "@",
}
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "-", ast.UAdd: "+", ast.Invert: "~", ast.Not: "not"}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}

#: Python that kernels do not have: what it is called, and what to do instead.
REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lambda: ("`lambda`", "write the expression where it is used"),
    ast.ListComp: ("a comprehension", "write a `for` loop over tl.static_range"),
    ast.SetComp: ("a comprehension", "write a `for` loop over tl.static_range"),
    ast.DictComp: ("a comprehension", "write a `for` loop over tl.static_range"),
    ast.GeneratorExp: ("a generator expression", "write a `for` loop over tl.static_range"),
    ast.Dict: ("a dict", "kernels compute with numbers and blocks"),
    ast.Set: ("a set", "kernels compute with numbers and blocks"),
    ast.NamedExpr: ("`:=`", "assign on a line of its own"),
    ast.Starred: ("`*` unpacking", "write the items out"),
    ast.Await: ("`await`", "kernels run to their end"),
    ast.Yield: ("`yield`", "store results through a pointer"),
    ast.YieldFrom: ("`yield`", "store results through a pointer"),
    ast.With: ("`with`", "remove it"),
    ast.Try: ("`try`", "a kernel cannot raise or catch"),
    ast.Import: ("`import`", "import at the top of the file"),
    ast.ImportFrom: ("`import`", "import at the top of the file"),
    ast.Global: ("`global`", "pass the value as an argument and store results through a pointer"),
    ast.Nonlocal: ("`nonlocal`", "pass the value as an argument and store results through a pointer"),
    ast.Delete: ("`del`", "remove it"),
    ast.FunctionDef: ("a nested function", "write its body where it is used"),
    ast.AsyncFunctionDef: ("a nested function", "write its body where it is used"),
    ast.ClassDef: ("a class", "define it outside the kernel"),
    ast.Break: ("`break`", "write a `while` loop whose condition says when to stop: while (i < n) & going:"),
    ast.Continue: ("`continue`", "put the rest of the loop's body under an `if`"),
}

_Steps = Generator[ast.expr, Any, t.Expr]


class ExpressionParser:
    """Expressions to trees; `diagnostics` collects what the language lacks."""

    def __init__(self, positions: Positions) -> None:
        self._positions = positions
        self.diagnostics: list[Diagnostic] = []
        self._rules: dict[type[ast.expr], Callable[[Any], _Steps]] = {
            ast.UnaryOp: self._unary,
            ast.BinOp: self._binary,
            ast.Compare: self._comparison,
            ast.BoolOp: self._logical,
            ast.IfExp: self._conditional,
            ast.Call: self._call,
            ast.Attribute: self._attribute,
            ast.Subscript: self._subscript,
            ast.Slice: self._slice,
            ast.Tuple: self._tuple,
            ast.List: self._tuple,
            ast.JoinedStr: self._fstring,
            ast.FormattedValue: self._formatted,
        }

    def _error(self, code: str, message: str, span: Span, hint: str = "") -> None:
        self.diagnostics.append(Diagnostic(code, message, span, hint=hint, stage="tree"))

    def _refuse(self, node: ast.expr | ast.stmt) -> None:
        what, hint = REFUSED.get(type(node), (f"`{type(node).__name__}`", ""))
        hint = hint or "kernels are made of assignments, expressions, `if`, `for` and calls of tl functions"
        self._error("MT110", f"{what} is not part of the kernel language", self._positions.span(node), hint)

    # --- expressions: each rule yields the children it needs and is sent their trees, so that depth costs no Python
    # stack and a long sum cannot overflow it ---

    def expr(self, node: ast.expr) -> t.Expr:
        """The tree of an expression."""
        stack: list[_Steps] = []
        done: Any = self._leaf_or_push(node, stack)
        while stack:
            try:
                child = stack[-1].send(done)
            except StopIteration as stop:
                stack.pop()
                done = stop.value
            else:
                done = self._leaf_or_push(child, stack)
        tree: t.Expr = done
        return tree

    def _leaf_or_push(self, node: ast.expr, stack: list[_Steps]) -> t.Expr | None:
        if isinstance(node, ast.Name):
            return t.Name(self._positions.span(node), node.id)
        if isinstance(node, ast.Constant):
            span = self._positions.span(node)
            if isinstance(node.value, (complex, bytes)) or node.value is Ellipsis:
                what = "`...`" if node.value is Ellipsis else f"a {type(node.value).__name__} literal"
                hint = "write `:` for each axis" if node.value is Ellipsis else "use int, float or bool"
                self._error("MT110", f"{what} is not part of the kernel language", span, hint)
            return t.Literal(span, node.value)
        rule = self._rules.get(type(node))
        if rule is None:
            self._refuse(node)
            return t.Literal(self._positions.span(node), None)
        stack.append(rule(node))
        return None  # what starts the generator

    def _unary(self, node: ast.UnaryOp) -> _Steps:
        return t.UnaryOp(self._positions.span(node), UNARY[type(node.op)], (yield node.operand))

    def _binary(self, node: ast.BinOp) -> _Steps:
        lhs = yield node.left
        rhs = yield node.right
        return t.BinaryOp(self._positions.span(node), BINARY[type(node.op)], lhs, rhs)

    def _comparison(self, node: ast.Compare) -> _Steps:
        first = yield node.left
        rest = []
        for child in node.comparators:
            rest.append((yield child))
        ops = tuple(COMPARISONS[type(op)] for op in node.ops)
        return t.Comparison(self._positions.span(node), first, ops, tuple(rest))

    def _logical(self, node: ast.BoolOp) -> _Steps:
        operands = []
        for child in node.values:
            operands.append((yield child))
        op = "and" if isinstance(node.op, ast.And) else "or"
        return t.Logical(self._positions.span(node), op, tuple(operands))

    def _conditional(self, node: ast.IfExp) -> _Steps:
        test = yield node.test
        if_true = yield node.body
        if_false = yield node.orelse
        return t.Conditional(self._positions.span(node), test, if_true, if_false)

    def _call(self, node: ast.Call) -> _Steps:
        function = yield node.func
        args: list[t.Expr] = []
        for child in node.args:
            if isinstance(child, ast.Starred):
                args.append(t.Starred(self._positions.span(child), (yield child.value)))
            else:
                args.append((yield child))
        keywords = []
        for keyword in node.keywords:
            if keyword.arg is None:
                self._error(
                    "MT110",
                    "`**` unpacking is not part of the kernel language",
                    self._positions.span(keyword),
                    "write the keywords out",
                )
                continue
            keywords.append((keyword.arg, (yield keyword.value)))
        return t.Call(self._positions.span(node), function, tuple(args), tuple(keywords))

    def _attribute(self, node: ast.Attribute) -> _Steps:
        return t.Attribute(self._positions.span(node), (yield node.value), node.attr)

    def _subscript(self, node: ast.Subscript) -> _Steps:
        base = yield node.value
        index = yield node.slice
        return t.Subscript(self._positions.span(node), base, index)

    def _slice(self, node: ast.Slice) -> _Steps:
        parts = []
        for child in (node.lower, node.upper, node.step):
            parts.append(None if child is None else (yield child))
        return t.Slice(self._positions.span(node), *parts)

    def _tuple(self, node: ast.Tuple | ast.List) -> _Steps:
        items = []
        for child in node.elts:
            items.append((yield child))
        return t.TupleExpr(self._positions.span(node), tuple(items))

    def _fstring(self, node: ast.JoinedStr) -> _Steps:
        parts = []
        # Before Python 3.12 the places of what stands inside an f-string are wrong.
        with self._positions.pinned(node):
            for child in node.values:
                parts.append((yield child))
        return t.FString(self._positions.span(node), tuple(parts))

    def _formatted(self, node: ast.FormattedValue) -> _Steps:
        value = yield node.value
        spec = None if node.format_spec is None else (yield node.format_spec)
        conversion = "" if node.conversion < 0 else chr(node.conversion)
        return t.Formatted(self._positions.span(node), value, conversion, spec)
