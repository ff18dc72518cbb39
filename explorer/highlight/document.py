"""Lines with their tokens, computed on demand and kept."""

from __future__ import annotations

from collections.abc import Callable

from explorer.highlight.base import Run, Tokenizer


class Highlighted:
    """Tokens of the lines that `line(number)` gives. Carried state is computed in order, only as far as is looked at.

    `forget(first)` is called after an edit at line `first`; tokens are cached by text and state, so unchanged lines
    cost a dictionary look-up.
    """

    #: Entries kept; a listing rarely has this many distinct lines on screen in its life.
    LIMIT = 20_000

    def __init__(self, tokenizer: Tokenizer, line: Callable[[int], str]) -> None:
        self._tokenizer = tokenizer
        self._line = line
        self._states = [0]
        self._cache: dict[tuple[str, int], list[Run]] = {}

    def forget(self, first: int = 0) -> None:
        """Lines from `first` on may have changed."""
        del self._states[max(1, first + 1) :]

    def state(self, number: int) -> int:
        """The state at the start of line `number`."""
        if not self._tokenizer.carries:
            return 0
        while len(self._states) <= number:
            last = len(self._states) - 1
            self._states.append(self._tokenizer.carry(self._line(last), self._states[last]))
        return self._states[number]

    def tokens(self, number: int) -> list[Run]:
        """The runs of line `number`."""
        key = (self._line(number), self.state(number))
        runs = self._cache.get(key)
        if runs is None:
            if len(self._cache) >= self.LIMIT:
                self._cache.clear()
            runs = self._cache[key] = self._tokenizer.tokens(*key)
        return runs

    def code(self, number: int) -> str:
        """Line `number` with a NUL for each character of a string or comment."""
        line = self._line(number)
        pieces, at = [], 0
        for length, style in self.tokens(number):
            pieces.append("\0" * length if style in ("string", "comment") else line[at : at + length])
            at += length
        return "".join([*pieces, line[at:]])
