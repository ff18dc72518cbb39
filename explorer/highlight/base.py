"""What a tokenizer is, and the names of the styles it gives."""

from __future__ import annotations

from typing import Protocol

#: Style names. `widgets/syntax.py` maps each to colours of the current theme.
STYLES = (
    "keyword",
    "type",
    "function",
    "builtin",
    "name",
    "number",
    "string",
    "comment",
    "value",
    "label",
    "directive",
    "good",
    "bad",
    "doubtful",
)

#: `(length, style)`; "" is plain text. The lengths of the runs of a line add up to at most the line's length.
Run = tuple[int, str]


class Tokenizer(Protocol):
    """Splits one line. `state` says what construct the line starts inside; 0 is none.

    `carries` is False where no construct spans lines: such a listing can be tokenised from any line.
    """

    carries: bool

    def tokens(self, line: str, state: int = 0) -> list[Run]:
        """The runs of `line`; adjacent runs differ in style, which keeps what is written to the terminal small."""

    def carry(self, line: str, state: int) -> int:
        """The state after `line`."""


def join(pieces: list[Run]) -> list[Run]:
    """Merge neighbours of one style, and blanks into what stands before them."""
    runs: list[Run] = []
    for length, style in pieces:
        if not length:
            continue
        if runs and runs[-1][1] == style:
            runs[-1] = (runs[-1][0] + length, style)
        else:
            runs.append((length, style))
    return runs
