"""The expression tree listing: one line a node, drawn as a tree, with the author's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from mytriton.frontend import tree as t
from mytriton.source import Span
from mytriton.stage import Line

#: A labelled child: what the parent calls it ('' if its position says enough), and the node.
_Child: TypeAlias = "tuple[str, t.Expr | t.Stmt | _Group]"


class _Group:
    """A line without a node of its own, such as the `else` of an `if`."""

    def __init__(self, title: str, span: Span, children: Sequence[_Child]) -> None:
        self.title = title
        self.span = span
        self.children = children


def _target(target: t.Target) -> str:
    if isinstance(target, t.Name):
        return target.id
    return "(" + ", ".join(_target(x) for x in target.items if isinstance(x, (t.Name, t.TupleExpr))) + ")"


def dotted(expr: t.Expr) -> str:
    """`tl.load` for the expression of a dotted name; '' for any other."""
    path: list[str] = []
    while isinstance(expr, t.Attribute):
        path.append(expr.name)
        expr = expr.base
    return ".".join([expr.id, *reversed(path)]) if isinstance(expr, t.Name) else ""


def _plain(items: Sequence[t.Expr | t.Stmt]) -> list[_Child]:
    return [("", item) for item in items]


def _describe(node: t.Expr | t.Stmt | _Group) -> tuple[str, Sequence[_Child]]:
    """The text of a node's own line, and its children."""
    match node:
        case _Group():
            return node.title, node.children
        case t.Name():
            return node.id, ()
        case t.Literal():
            return repr(node.value), ()
        case t.UnaryOp():
            return node.op, [("", node.operand)]
        case t.BinaryOp():
            return node.op, [("", node.lhs), ("", node.rhs)]
        case t.Comparison():
            return " ".join(node.ops), _plain([node.first, *node.rest])
        case t.Logical():
            return node.op, _plain(node.operands)
        case t.Conditional():
            return "if-else", [("test", node.test), ("true", node.if_true), ("false", node.if_false)]
        case t.Call():
            name = dotted(node.function)
            callee: list[_Child] = [] if name else [("function", node.function)]
            return f"{name or 'call'}()", [*callee, *_plain(node.args), *node.keywords]
        case t.Starred():
            return "*", [("", node.value)]
        case t.Attribute():
            name = dotted(node)
            return name or f".{node.name}", () if name else [("", node.base)]
        case t.Subscript():
            return "[]", [("", node.base), ("index", node.index)]
        case t.Slice():
            parts = (("start", node.start), ("stop", node.stop), ("step", node.step))
            return ":", [(name, part) for name, part in parts if part is not None]
        case t.TupleExpr():
            return "tuple", _plain(node.items)
        case t.Assign():
            return " = ".join(_target(x) for x in node.targets) + " =", [("", node.value)]
        case t.AugAssign():
            return f"{node.target.id} {node.op}=", [("", node.value)]
        case t.ExprStmt():
            return _describe(node.value)
        case t.If():
            branches: list[_Child] = [("test", node.test), ("", _Group("then", node.span, _plain(node.body)))]
            if node.orelse:
                branches.append(("", _Group("else", node.orelse[0].span, _plain(node.orelse))))
            return "if", branches
        case t.For():
            return f"for {node.target.id}", [("in", node.iterable), *_plain(node.body)]
        case t.While():
            return "while", [("test", node.test), *_plain(node.body)]
        case t.Assert():
            message: list[_Child] = [] if node.message is None else [("message", node.message)]
            return "assert", [("", node.test), *message]
        case t.FString():
            return "f-string", _plain(node.parts)
        case t.Formatted():
            spec: list[_Child] = [] if node.spec is None else [("format", node.spec)]
            return f"{{!{node.conversion}}}" if node.conversion else "{}", [("", node.value), *spec]
        case t.Raise():
            return f"raise {node.text}".strip(), ()
        case t.Return():
            return "return", [] if node.value is None else [("", node.value)]
        case t.Pass():
            return "pass", ()


def tree_lines(tree: t.Tree) -> list[Line]:
    """The listing of a parsed kernel."""
    params = ", ".join(f"{p.name}: constexpr" if p.is_constexpr else p.name for p in tree.kernel.params)
    lines = [Line(f"kernel {tree.kernel.name}({params})", tree.span)]
    # (text before this node's line, text before its children's lines, label, node); a stack, for deep expressions
    stack: list[tuple[str, str, str, t.Expr | t.Stmt | _Group]] = []

    def push(children: Sequence[_Child], indent: str) -> None:
        for position, (label, node) in reversed(list(enumerate(children))):
            last = position == len(children) - 1
            stack.append((indent + ("└─ " if last else "├─ "), indent + ("   " if last else "│  "), label, node))

    push(_plain([s for s in tree.body if not isinstance(s, t.Pass)]), "")
    while stack:
        before, indent, label, node = stack.pop()
        text, children = _describe(node)
        lines.append(Line(f"{before}{label + ': ' if label else ''}{text}", node.span))
        push(children, indent)
    return lines
