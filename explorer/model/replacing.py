"""Find and replace in the text that is edited."""

from __future__ import annotations

import re
import signal
import threading
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from types import FrameType

from explorer.model.editing import Place
from mytriton.records import dataclass

#: Seconds that an expression may take: some take for ever, and nothing else happens meanwhile.
LONGEST = 0.25


class BadPattern(ValueError):
    """What is looked for, or put in its place, is no regular expression. A few words that say why."""


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for: `text` as it stands or as a regular expression, whole words only, letter case or not."""

    text: str
    case: bool = False
    regex: bool = False
    word: bool = False

    def find(self, text: str, longest: float = LONGEST) -> list[re.Match[str]]:
        """All that is found, without what is empty; raises `BadPattern`, also if it takes longer than that."""
        if not self.text:
            return []
        source = self.text if self.regex else re.escape(self.text)
        if self.word:
            source = rf"(?<!\w)(?:{source})(?!\w)"
        try:
            pattern = re.compile(source, re.MULTILINE | (0 if self.case else re.IGNORECASE))
            with _limited(longest):
                return [match for match in pattern.finditer(text) if match.end() > match.start()]
        except re.error as error:
            raise BadPattern(error.msg) from None
        except (RecursionError, OverflowError, TimeoutError):
            raise BadPattern("takes too long") from None

    def replacement(self, match: re.Match[str], template: str) -> str:
        r"""What takes the place of `match`; with `regex`, `\1` and the like are what groups matched."""
        if not self.regex:
            return template
        try:
            return match.expand(template)
        except (re.error, IndexError) as error:
            raise BadPattern(f"replacement: {error}") from None

    def replace_all(self, text: str, template: str) -> tuple[int, int, str, int]:
        """Start and end of what changes, what it becomes, and how many were replaced."""
        found = self.find(text)
        if not found:
            return 0, 0, "", 0
        pieces, at = [], found[0].start()
        for match in found:
            pieces += [text[at : match.start()], self.replacement(match, template)]
            at = match.end()
        return found[0].start(), at, "".join(pieces), len(found)


@contextmanager
def _limited(longest: float) -> Iterator[None]:
    """Ends the matching of an expression that takes too long. The matcher looks for signals now and then."""
    if threading.current_thread() is not threading.main_thread():
        yield  # where signals cannot be handled
        return

    def too_long(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    handler = signal.signal(signal.SIGALRM, too_long)
    # Again and again: where it comes in the callback of a weak reference, say, the exception is dropped.
    timer = signal.setitimer(signal.ITIMER_REAL, longest, longest)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, *timer)
        signal.signal(signal.SIGALRM, handler)


class Lines:
    """Rows and columns of a text's offsets."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._starts = [0, *accumulate(len(line) + 1 for line in lines)]

    def place(self, offset: int) -> Place:
        """The place of an offset."""
        row = min(bisect_right(self._starts, offset), len(self._starts) - 1) - 1
        return row, offset - self._starts[row]

    def offset(self, place: Place) -> int:
        """The offset of a place."""
        return self._starts[place[0]] + place[1]

    def by_row(self, matches: Sequence[re.Match[str]]) -> dict[int, list[tuple[int, int]]]:
        """The columns that the matches take of each row."""
        rows: dict[int, list[tuple[int, int]]] = {}
        for match in matches:
            (top, left), (bottom, right) = self.place(match.start()), self.place(match.end())
            for row in range(top, bottom + 1):
                end = right if row == bottom else self._starts[row + 1] - self._starts[row] - 1
                rows.setdefault(row, []).append((left if row == top else 0, end))
        return rows


def count(matches: Sequence[re.Match[str]], start: int, end: int) -> str:
    """`3 of 17` if the selection from `start` to `end` is the third; else how many there are."""
    if not matches:
        return "no match"
    number = next((n for n, match in enumerate(matches, start=1) if match.span() == (start, end)), None)
    return f"{number} of {len(matches)}" if number is not None else f"{len(matches)} found"


def next_match(matches: Sequence[re.Match[str]], start: int, end: int, step: int) -> re.Match[str] | None:
    """The match after (`step` 1), at or after (0), or before (-1) a selection, around the end."""
    if not matches:
        return None
    if step < 0:
        return next((match for match in reversed(matches) if match.end() <= start), matches[-1])
    return next((match for match in matches if match.start() >= (end if step else start)), matches[0])
