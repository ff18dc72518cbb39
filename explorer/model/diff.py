"""What changed between two listings of one program, as a reader sees it: whatever the values are called.

Passes and printers number values anew, so a textual diff shows every line below an inserted one as changed. Here lines
are aligned by what they say when each name stands for the operation that defines it; two aligned lines are the same if
their names correspond, one to one, in the whole of both listings. Lines that only stand elsewhere are moved.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Literal

from mytriton.records import dataclass

Kind = Literal["same", "removed", "added", "changed", "moved from", "moved to"]

#: `%3`, `%arg0`, `%rd12`, `^bb3`, `$L__BB0_2`, `v12`, `R7`, `.L_x_3`, `/*00a0*/`: what is numbered anew from stage to
#: stage.
_NAME = re.compile(r"[%^!][\w.$-]+|\$L_\w+|\.L_x_\d+|/\*[0-9a-f]{4,}\*/|\b(?:v|UR|UP|R|P)\d+\b")
_WORD = re.compile(r"/\*[0-9a-f]{4,}\*/|[%^!]?[\w.$]+|\s+|.")

#: Lines that two listings may differ in between two anchors, and be compared one by one: the cost is its square.
_MAX_EDITS = 1000
#: Pairs of lines in a gap that are looked at for similarity.
_MAX_PAIRS = 2500
#: Columns of a line that is looked at word by word: a longer one is a binary in a string.
_LONGEST = 2000
#: Two lines are one line changed if this part of their words agrees.
_SIMILAR = 0.55

#: Columns from and to.
Range = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a diff. `old` and `new` are line numbers from 0, None where there is no such line; the ranges are the
    columns that differ in each."""

    kind: Kind
    old: int | None
    new: int | None
    old_ranges: tuple[Range, ...] = ()
    new_ranges: tuple[Range, ...] = ()


def diff(old: Sequence[str], new: Sequence[str]) -> list[Row]:
    """The rows that lead from `old` to `new`, in reading order: of lines that were replaced, the old ones first."""
    rows: list[Row] = []
    i = j = 0
    for a, b in [*_aligned(_keys(old), _keys(new)), (len(old), len(new))]:
        rows += _gap(range(i, a), range(j, b), old, new)
        if a < len(old):
            rows.append(Row("same", a, b))
        i, j = a + 1, b + 1
    names = _Names(old, new, [(r.old, r.new) for r in rows if r.old is not None and r.new is not None])
    return list(_moved([names.compared(row) for row in rows], old, new))


# --- alignment --------------------------------------------------------------------------------------------------------


def _keys(lines: Sequence[str]) -> list[str]:
    """Each line with its names replaced by what defines them."""
    makers: dict[str, str] = {}
    keys = []
    for line in lines:
        text = line.strip()
        keys.append(_NAME.sub(lambda m: f"<{makers.get(m.group(), '')}>", text))
        defined, equals, rest = text.partition(" = ")
        if equals:
            maker = _NAME.sub("", rest).split("{")[0].strip()
            makers.update((name.group(), maker) for name in _NAME.finditer(defined))
    return keys


def _aligned(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of line numbers with equal keys, both rising: lines that occur once in each first, then between these."""
    pairs: list[tuple[int, int]] = []
    stack = [(0, len(old), 0, len(new))]
    while stack:
        a, b, c, d = stack.pop()
        while a < b and c < d and old[a] == new[c]:
            pairs.append((a, c))
            a, c = a + 1, c + 1
        while a < b and c < d and old[b - 1] == new[d - 1]:
            b, d = b - 1, d - 1
            pairs.append((b, d))
        if a == b or c == d:
            continue
        anchors = _anchors(old, new, range(a, b), range(c, d))
        if anchors:
            for i, j in [*anchors, (b, d)]:
                stack.append((a, i, c, j))
                a, c = i + 1, j + 1
            pairs += anchors
        else:
            pairs += [(a + i, c + j) for i, j in _shortest(old[a:b], new[c:d])]
    return sorted(pairs)


def _shortest(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """The pairs that a shortest edit script keeps (Myers, "An O(ND) Difference Algorithm", 1986); none if it has more
    than `_MAX_EDITS` edits."""
    ends = {1: 0}  # how far into `old` each diagonal gets
    history: list[dict[int, int]] = []
    for edits in range(min(len(old) + len(new), _MAX_EDITS) + 1):
        history.append(dict(ends))
        for k in range(-edits, edits + 1, 2):
            down = k == -edits or (k != edits and ends[k - 1] < ends[k + 1])
            i = ends[k + 1] if down else ends[k - 1] + 1
            j = i - k
            while i < len(old) and j < len(new) and old[i] == new[j]:
                i, j = i + 1, j + 1
            ends[k] = i
            if i >= len(old) and j >= len(new):
                return list(_kept(history, i, j))
    return []


def _kept(history: Sequence[dict[int, int]], i: int, j: int) -> Iterator[tuple[int, int]]:
    """The diagonal steps of the path that ends at (i, j), last first."""
    for edits in range(len(history) - 1, -1, -1):
        ends, k = history[edits], i - j
        down = k == -edits or (k != edits and ends[k - 1] < ends[k + 1])
        before = k + 1 if down else k - 1
        x = ends[before] if edits else 0
        start = x if down else x + 1
        while i > start and j > start - k:
            i, j = i - 1, j - 1
            yield i, j
        i, j = x, x - before


def _anchors(old: Sequence[str], new: Sequence[str], left: range, right: range) -> list[tuple[int, int]]:
    """The longest rising run of pairs of lines that occur once on each side (patience)."""

    def once(lines: Sequence[str], where: range) -> dict[str, int]:
        found: dict[str, int] = {}
        for number in where:
            found[lines[number]] = -1 if lines[number] in found else number
        return {line: number for line, number in found.items() if number >= 0}

    ours, theirs = once(old, left), once(new, right)
    pairs = [(number, theirs[line]) for line, number in ours.items() if line in theirs]
    tops: list[int] = []  # the least end of a run of each length, and the pairs that lead there
    ends: list[int] = []
    before: dict[int, int] = {}
    for index, (_, j) in enumerate(pairs):
        length = bisect_left(tops, j)
        if length:
            before[index] = ends[length - 1]
        tops[length:], ends[length:] = ([j, *tops[length + 1 :]], [index, *ends[length + 1 :]])
    run = []
    at = ends[-1] if ends else None
    while at is not None:
        run.append(pairs[at])
        at = before.get(at)
    return run[::-1]


class _Names:
    """Which name of one listing is which of the other: as the pairs of lines that define them say."""

    def __init__(self, old: Sequence[str], new: Sequence[str], pairs: Sequence[tuple[int, int]]) -> None:
        self._old, self._new = old, new
        self._pairs = {a: (_NAME.findall(old[a]), _NAME.findall(new[b])) for a, b in pairs}
        other: dict[str, str] = {}
        back: dict[str, str] = {}
        for ours, theirs in self._pairs.values():
            for x, y in zip(ours, theirs, strict=False):
                # The first line that mentions a name decides: it defines it, or is the list of parameters.
                if x not in other and y not in back:
                    other[x], back[y] = y, x
        self._other, self._back = other, back  # a name that found no partner is in neither

    def compared(self, row: Row) -> Row:
        """A row of two lines with what differs in them; others as they are."""
        if row.old is None or row.new is None:
            return row
        ours, theirs = self._pairs[row.old]
        corresponding = len(ours) == len(theirs) and all(map(self._same, ours, theirs))
        if row.kind == "same" and corresponding:
            return row
        differing = self._words(self._old[row.old], self._new[row.new])
        return Row("changed" if any(differing) else "same", row.old, row.new, *differing)

    def _same(self, x: str, y: str) -> bool:
        return self._other.get(x) == y

    def _words(self, old: str, new: str) -> tuple[tuple[Range, ...], tuple[Range, ...]]:
        """The columns of the words that differ, and of the names that do not correspond."""
        if len(old) + len(new) > 2 * _LONGEST:
            return ((), ()) if old == new else (((0, len(old)),), ((0, len(new)),))
        left, right = list(_WORD.finditer(old)), list(_WORD.finditer(new))
        texts = [m[0] for m in left], [self._back_name(m[0]) for m in right]
        changed = [op for op in SequenceMatcher(None, *texts, autojunk=False).get_opcodes() if op[0] != "equal"]
        ours = tuple((left[a].start(), left[b - 1].end()) for _, a, b, _, _ in changed if b > a)
        theirs = tuple((right[c].start(), right[d - 1].end()) for _, _, _, c, d in changed if d > c)
        return ours, theirs

    def _back_name(self, word: str) -> str:
        """A word of the new listing as the old one has it; a name without a partner is like no word of it."""
        if not _NAME.fullmatch(word):
            return word
        return self._back.get(word, f"{word} ")


# --- what was not aligned ---------------------------------------------------------------------------------------------


def _gap(left: range, right: range, old: Sequence[str], new: Sequence[str]) -> Iterator[Row]:
    """Rows for lines that nothing was aligned with: similar ones are one line changed."""
    i, j = left.start, right.start
    if len(left) * len(right) <= _MAX_PAIRS:
        for a, b in _similar(left, right, old, new):
            yield from (Row("removed", k, None) for k in range(i, a))
            yield from (Row("added", None, k) for k in range(j, b))
            yield Row("changed", a, b)
            i, j = a + 1, b + 1
    yield from (Row("removed", k, None) for k in range(i, left.stop))
    yield from (Row("added", None, k) for k in range(j, right.stop))


def _similar(left: range, right: range, old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    # What is computed of a line of `new` is kept for all lines of `old`.
    theirs = {b: SequenceMatcher(None, b=_split(new[b]), autojunk=False) for b in right if len(new[b]) <= _LONGEST}
    start = right.start
    for a in left:
        if len(old[a]) > _LONGEST:
            continue
        ours = _split(old[a])
        best, score = None, _SIMILAR
        for b in range(start, right.stop):
            if (pair := theirs.get(b)) is None:
                continue
            pair.set_seq1(ours)
            # The first two are upper bounds of the third, and cost less.
            if pair.real_quick_ratio() > score and pair.quick_ratio() > score and (ratio := pair.ratio()) > score:
                best, score = b, ratio
        if best is not None:
            yield a, best
            start = best + 1


def _split(line: str) -> list[str]:
    return [_NAME.sub("%", word) for word in _WORD.findall(line.strip()) if not word.isspace()]


def _moved(rows: Sequence[Row], old: Sequence[str], new: Sequence[str]) -> Iterator[Row]:
    """The same rows, with lines that were removed here and added there called moved."""
    here = _by_text((row.old, old) for row in rows if row.kind == "removed")
    there = _by_text((row.new, new) for row in rows if row.kind == "added")
    pairs = {numbers[0]: there[text][0] for text, numbers in here.items() if _is_one_each(numbers, there.get(text))}
    back = {b: a for a, b in pairs.items()}
    for row in rows:
        if row.kind == "removed" and row.old in pairs:
            yield Row("moved from", row.old, pairs[row.old])
        elif row.kind == "added" and row.new in back:
            yield Row("moved to", back[row.new], row.new)
        else:
            yield row


def _by_text(lines: Iterator[tuple[int | None, Sequence[str]]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, text in lines:
        if number is not None and len(key := _NAME.sub("%", text[number].strip())) > 3:
            found.setdefault(key, []).append(number)
    return found


def _is_one_each(ours: list[int], theirs: list[int] | None) -> bool:
    return len(ours) == 1 and theirs is not None and len(theirs) == 1
