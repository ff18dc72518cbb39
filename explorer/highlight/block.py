"""Constructs that span lines."""

from __future__ import annotations

import re


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
