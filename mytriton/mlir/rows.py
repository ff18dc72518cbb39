"""Texts whose own rows are to count: a module that some program printed has locations of another file in it."""

from __future__ import annotations

import re

_LOCATION = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|(?P<loc>(?:^[ \t]*#[\w$.]+[ \t]*=[ \t]*)?(?<![\w.$#%@-])loc\()', re.MULTILINE
)
_PART = re.compile(r'"(?:[^"\\\n]|\\.)*"|[()]')


def without_locations(text: str) -> str:
    """A text of MLIR without `loc(...)` and their aliases; all else stays in its row and column."""
    pieces: list[str] = []
    kept = at = 0
    while found := _LOCATION.search(text, at):
        at = found.end()
        if found["loc"] is None:  # a string or a comment
            continue
        end = _closing(text, at)
        if end is None:
            break  # which MLIR will say
        pieces += [text[kept : found.start()], "\n" * text.count("\n", found.start(), end)]
        kept = at = end
    return "".join([*pieces, text[kept:]])


def _closing(text: str, at: int) -> int | None:
    """The end of what a parenthesis before `at` opens."""
    depth = 1
    for part in _PART.finditer(text, at):
        depth += {"(": 1, ")": -1}.get(part[0], 0)
        if depth == 0:
            return part.end()
    return None
