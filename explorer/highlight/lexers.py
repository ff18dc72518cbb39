"""Pygments lexers as line tokenizers."""

from __future__ import annotations

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


class PygmentsTokenizer:
    """A Pygments lexer fed one line at a time; no construct spans lines."""

    carries = False

    def __init__(self, make: Callable[[], Any]) -> None:
        self._lexer = make()

    def tokens(self, line: str, state: int = 0) -> list[Run]:
        """The runs of `line`."""
        pieces: list[Run] = []
        left = len(line)
        for _, kind, text in self._lexer.get_tokens_unprocessed(line + "\n"):
            length = min(len(text), left)
            left -= length
            style = _CACHE.get(kind)
            pieces.append((length, style_of(kind) if style is None else style))
        return join(pieces)

    def carry(self, line: str, state: int) -> int:
        """Always 0."""
        return 0
