"""Python's own syntax tree of a piece of source, with positions in characters and in the author's lines."""

from __future__ import annotations

import ast
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mytriton.diagnostics import CompileError, Diagnostic
from mytriton.source import SourceUnit, Span

#: `catch_warnings` changes a global list, so one thread at a time.
_parsing = threading.Lock()

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


class Positions:
    """Turns `ast` positions (UTF-8 bytes, lines of the parsed text) into spans of a unit (characters, its lines)."""

    def __init__(self, text: str, shift: int = 0, unit: int = 0, call_site: Span | None = None) -> None:
        """`text` is what spans index; `shift` is how many lines `ast` saw before its first line. `unit` and `call_site`
        are those of all spans."""
        self._unit = unit
        self._call_site = call_site
        self._lines = text.split("\n")
        self._shift = shift
        self._ascii = text.isascii()  # then bytes are characters
        self._pinned: Span | None = None

    def _column(self, line: int, offset: int) -> int:
        if self._ascii:
            return offset + 1
        text = self._lines[line - 1] if 1 <= line <= len(self._lines) else ""
        return (offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))) + 1

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias) -> Span:
        """Where `node` stands."""
        if self._pinned is not None:
            return self._pinned
        line = node.lineno - self._shift
        end = (node.end_lineno or node.lineno) - self._shift
        start, stop = self._column(line, node.col_offset), self._column(end, node.end_col_offset or 0)
        return Span(line, start, end, stop, self._unit, self._call_site)

    @contextmanager
    def pinned(self, node: ast.expr) -> Iterator[None]:
        """Until the end of the `with`, everything stands where `node` does."""
        outer, self._pinned = self._pinned, self.span(node)
        try:
            yield
        finally:
            self._pinned = outer

    def through(self, node: ast.stmt, last: ast.expr) -> Span:
        """From the start of a compound statement to the end of `last`: its header without its body."""
        start, end = self.span(node), self.span(last)
        return Span(start.line, start.column, end.end_line, end.end_column, self._unit, self._call_site)

    def header(self, node: FunctionNode) -> Span:
        """The first line of a `def`, from the keyword to the end of the line."""
        line = node.lineno - self._shift
        text = self._lines[line - 1] if line <= len(self._lines) else ""
        column, end = self._column(line, node.col_offset), len(text.rstrip()) + 1
        return Span(line, column, line, end, self._unit, self._call_site)


def parse_text(text: str, unit: SourceUnit) -> ast.Module:
    """The syntax tree of `text`; what Python's parser refuses becomes a `CompileError` pointing into `unit`."""
    try:
        # Python warns of odd literals while it parses; the author sees that when the file is run, once.
        with _parsing, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except SyntaxError as error:
        line = max(1, error.lineno or 1)
        column = max(1, error.offset or 1)
        # The end is absent, 0 or before the start in some of Python's own errors.
        end_line = max(line, error.end_lineno or 0)
        end = error.end_offset or 0
        span = Span(line, column, end_line, end if end > column or end_line > line else column + 1)
        raise CompileError([Diagnostic("MT100", _sentence(error), span, stage="tree")], [unit]) from None
    except (RecursionError, MemoryError):
        message = "this source nests too deeply for Python's own parser"
        hint = "split the longest expression into several assignments"
        raise CompileError([Diagnostic("MT101", message, None, hint=hint, stage="tree")], [unit]) from None
    except ValueError as error:  # a null byte
        raise CompileError([Diagnostic("MT100", f"not Python source: {error}", None, stage="tree")], [unit]) from None


def _sentence(error: SyntaxError) -> str:
    message = error.msg or "invalid syntax"
    return message if message.startswith(("invalid", "unexpected", "expected")) else f"invalid syntax: {message}"


def first_line(node: FunctionNode) -> int:
    """The line of the first decorator, or of the `def`; what `co_firstlineno` holds."""
    return min([node.lineno, *(d.lineno for d in node.decorator_list)])


def unit_of(node: FunctionNode, text: str, path: str) -> SourceUnit:
    """The unit of a function found in the syntax tree of the whole file `text`."""
    first, last = first_line(node), node.end_lineno or node.lineno
    return SourceUnit(path, node.name, first, "\n".join(text.split("\n")[first - 1 : last]))


def nodes(tree: ast.AST) -> list[ast.AST]:
    """A node and all in it but contexts and operators, as `ast.walk` gives them in three times the time: a file is
    walked at each key press."""
    found = [tree]
    for node in found:  # which grows
        for name in _CHILDREN[type(node)]:
            child = getattr(node, name, None)
            if type(child) is list:
                if child:
                    found += [item for item in child if isinstance(item, ast.AST)]
            elif isinstance(child, ast.AST):
                found.append(child)
    return found


class _Fields(dict[type[ast.AST], tuple[str, ...]]):
    """Names of fields that may hold something, in order of the text, by class of syntax node."""

    def __init__(self, holds: Callable[[str], bool]) -> None:
        self._holds = holds

    def __missing__(self, cls: type[ast.AST]) -> tuple[str, ...]:
        names = self[cls] = tuple(filter(self._holds, cls._fields))
        return names


#: Fields of strings, numbers, contexts and operators in whatever node they are.
_LEAVES = frozenset(
    ["id", "ctx", "attr", "arg", "op", "ops", "asname", "module", "level", "kind", "type_comment", "conversion"]
)
_CHILDREN = _Fields(lambda name: name not in _LEAVES)
#: The fields that hold statements, or what holds statements in turn.
_STATEMENTS = _Fields({"body", "handlers", "cases", "orelse", "finalbody"}.__contains__)


def functions(tree: ast.AST) -> Iterator[tuple[FunctionNode, tuple[FunctionNode, ...]]]:
    """Every function of a file in order of its text, each with the functions that enclose it, outermost first."""
    stack: list[tuple[ast.AST, tuple[FunctionNode, ...]]] = [(tree, ())]
    while stack:
        node, outer = stack.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node, outer
            outer = (*outer, node)
        # No statement hides in an expression.
        for name in reversed(_STATEMENTS[type(node)]):
            stack.extend((child, outer) for child in reversed(getattr(node, name)))
