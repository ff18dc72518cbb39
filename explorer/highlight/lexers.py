"""Pygments lexers as line tokenizers, with just the state that has to cross a line end."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pygments import token
from pygments.token import STANDARD_TYPES

from explorer.highlight.base import Run, join

_STYLES: dict[Any, str] = {
    token.Comment: "comment",
    token.Comment.Preproc: "directive",
    token.Keyword: "keyword",
    token.Keyword.Type: "type",
    token.Keyword.Reserved: "directive",
    token.Keyword.Constant: "builtin",
    token.Name.Function: "function",
    token.Name.Class: "function",
    token.Name.Decorator: "directive",
    token.Name.Builtin: "builtin",
    token.Name.Variable: "value",
    token.Name.Label: "label",
    token.Literal.Number: "number",
    token.Literal.String: "string",
    token.Operator.Word: "keyword",
}


def style_of(kind: Any) -> str:
    """The style of a Pygments token type: that of its nearest ancestor with one."""
    while kind not in _STYLES:
        if kind is None or kind is token.Token:
            return ""
        kind = kind.parent
    return _STYLES[kind]


_CACHE = {kind: style_of(kind) for kind in STANDARD_TYPES}


class Block:
    """Constructs that span lines: `opening` finds where one may start (or what hides it), `closing` where it ends."""

    def __init__(self, opening: str, closings: dict[str, str], style: str) -> None:
        self._opening = re.compile(opening)
        self._kinds = list(closings)
        self._closings = [re.compile(c) for c in closings.values()]
        self.style = style

    def end(self, line: str, state: int) -> int | None:
        """Where the construct that `line` starts inside ends; None if not in this line."""
        match = self._closings[state - 1].search(line)
        return match.end() if match else None

    def after(self, line: str, state: int) -> int:
        """The state after `line`: 0, or 1 + the index of the construct that is open."""
        if not state and not any(kind in line for kind in self._kinds):
            return 0  # as of nearly every line of a long listing
        at = 0
        while True:
            if state:
                match = self._closings[state - 1].search(line, at)
                if match is None:
                    return state
                at, state = match.end(), 0
            match = self._opening.search(line, at)
            if match is None:
                return 0
            at = match.end()
            if match.lastgroup == "open":
                state = 1 + self._kinds.index(match["open"])


#: Strings and comments are named first in each expression, so that an opening inside one is not seen.
PYTHON_STRINGS = Block(
    r"""#.*|(?P<open>'''|\"\"\")|"(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?""",
    {"'''": r"(?:[^\\]|^)(?:\\\\)*'''|^'''", '"""': r'(?:[^\\]|^)(?:\\\\)*"""|^"""'},
    "string",
)
C_COMMENTS = Block(r'//.*|"(?:\\.|[^"\\])*"?|(?P<open>/\*)', {"/*": r"\*/"}, "comment")


class PygmentsTokenizer:
    """A Pygments lexer fed one line at a time; `block` names the constructs that cross lines."""

    def __init__(self, make: Callable[[], Any], block: Block | None = None) -> None:
        self._lexer = make()
        self._block = block
        self.carries = block is not None

    def tokens(self, line: str, state: int = 0) -> list[Run]:
        """The runs of `line`."""
        pieces: list[Run] = []
        if state and self._block is not None:
            end = self._block.end(line, state)
            pieces.append((len(line) if end is None else end, self._block.style))
            line = "" if end is None else line[end:]
        left = len(line)
        for _, kind, text in self._lexer.get_tokens_unprocessed(line + "\n"):
            length = min(len(text), left)
            left -= length
            style = _CACHE.get(kind)
            pieces.append((length, style_of(kind) if style is None else style))
        return join(pieces)

    def carry(self, line: str, state: int) -> int:
        """The state after `line`."""
        return self._block.after(line, state) if self._block is not None else 0
