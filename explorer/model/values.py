"""One value in one listing: the lines that define it, and all that use it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from explorer.model.result import LineView
from mytriton.records import dataclass

if TYPE_CHECKING:
    from explorer.model.names import Name

#: How a name is told from another value of the same name: in these languages by the braces it stands in, in these by
#: the function, in SASS by the order of the listing; elsewhere a name is one value.
_BRACES = ("cuda", "mlir")
_OURS = ("ssa", "layout")
_FUNCTIONS = {"ptx": (".entry ", ".func "), "llvm": ("define ",)}


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A row that names the value, the columns it stands in there, and whether the row defines it."""

    row: int
    ranges: tuple[tuple[int, int], ...]
    defines: bool


class Values:
    """The values of one listing; a row is scanned when somebody asks for it."""

    def __init__(self, lines: Sequence[LineView], language: str) -> None:
        self.lines = [line.text for line in lines]
        self.language = language
        self._views = lines
        from explorer.model.names import scanner  # its expressions take 3 ms, for which starting does not wait

        self._scan_text = scanner(language)
        self._found: dict[str, dict[int, list[Name]]] = {}

    def scan(self, row: int) -> list[Name]:
        """What a row names, from left to right."""
        found = list(self._scan_text(self.lines[row]))
        if self.language in _OURS:  # whose printer says which words are values
            known = self._views[row].values
            found = [name for name in found if name.text[0] == "%" or name.text in known]
        return found

    def names(self, row: int) -> tuple[str, ...]:
        """The values that a row names, those it defines first."""
        if not 0 <= row < len(self.lines):
            return ()
        found = sorted(self.scan(row), key=lambda name: not name.defines)
        return tuple(dict.fromkeys(name.text for name in found))

    def defined(self, row: int) -> tuple[str, ...]:
        """The values that a row defines."""
        return tuple(dict.fromkeys(n.text for n in self.scan(row) if n.defines))

    def occurrences(self, name: str, row: int | None = None) -> tuple[Occurrence, ...]:
        """Where the value stands that is called `name` in `row`; without a row, every value of that name."""
        found = self._all(name)
        if row is not None:
            if self.language in _BRACES:
                found = self._scoped(found, row)
            elif self.language in _FUNCTIONS:
                first, last = self._function(row)
                found = {r: names for r, names in found.items() if first <= r < last}
            elif self.language == "sass":
                found = self._until_set_again(name, found, row)
        return tuple(
            Occurrence(r, tuple((n.start, n.end) for n in names), any(n.defines for n in names))
            for r, names in sorted(found.items())
        )

    def _all(self, name: str) -> dict[int, list[Name]]:
        """Every value of a name. It is asked for with each cursor move while one is followed, so it is kept; and only
        lines are scanned that have the name as a word, since `v1` also stands in every `v10` to `v19999`."""
        found = self._found.get(name)
        if found is None:
            words = [name]
            if self.language == "sass":
                from explorer.model import sass

                words = sass.covering(name)
            has = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, words))})(?!\w)").search
            found = self._found[name] = {}
            for row, line in enumerate(self.lines):
                if (len(words) > 1 or name in line) and has(line):
                    names = [n for n in self.scan(row) if n.text == name or name in n.covers]
                    if names:
                        found[row] = names
        return found

    # Scopes

    def _scoped(self, found: dict[int, list[Name]], row: int) -> dict[int, list[Name]]:
        """The rows in the scope of the definition that `row` sees."""
        begins = [(r, n) for r, names in found.items() for n in names if n.role in ("declares", "binds")]
        if len(begins) < 2:
            return found
        scopes = [(r, n, self._end(r, n)) for r, n in begins]
        seen = self._seen(scopes, row)
        return {r: names for r, names in found.items() if self._seen(scopes, r) == seen}

    @staticmethod
    def _seen(scopes: Sequence[tuple[int, Name, int]], row: int) -> int | None:
        """The row of the innermost definition whose scope `row` is in."""
        return max((begin for begin, _, end in scopes if begin <= row < end), default=None)

    def _end(self, row: int, name: Name) -> int:
        """The row after the last one that a definition holds for."""
        depth = -1 if name.role == "binds" else 0
        start = name.end
        for number in range(row, len(self.lines)):
            text = self.lines[number]
            if "{" in text or "}" in text:
                for character in text[start:]:
                    depth += (character == "{") - (character == "}")
                    if depth < (0 if name.role == "declares" or number > row else -1):
                        return number if text.lstrip().startswith("}") and number > row else number + 1
            if number == row and name.role == "binds" and depth < 0:
                return row + 1  # a declaration without a body
            start = 0
        return len(self.lines)

    def _function(self, row: int) -> tuple[int, int]:
        """The rows of the function around `row`, from one head of a function to the next."""
        heads = [r for r, line in enumerate(self.lines) if any(word in line for word in _FUNCTIONS[self.language])]
        first = max((r for r in heads if r <= row), default=0)
        return first, min((r for r in heads if r > row), default=len(self.lines))

    def _until_set_again(self, name: str, found: dict[int, list[Name]], row: int) -> dict[int, list[Name]]:
        """From the last row at or before `row` that sets the register, whatever is in it, to the next that does."""
        from explorer.model import sass

        sets = [r for r, names in found.items() if any(n.defines for n in names) and not sass.guarded(self.lines[r])]
        begin = max((r for r in sets if r <= row), default=-1)
        if begin == row and not any(n.defines for n in found.get(row, ())):
            begin = -1
        end = min((r for r in sets if r > max(begin, row)), default=len(self.lines))
        kept = {r: names for r, names in found.items() if begin <= r < end}
        if begin in kept:  # what the first row reads is another value, and so is what the last one sets
            kept[begin] = [n for n in kept[begin] if n.defines]
        reads = [n for n in found.get(end, ()) if not n.defines]
        return {**kept, end: reads} if reads else kept
