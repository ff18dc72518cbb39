"""How many lines of a listing each line of the source became."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from explorer.model import panes
from explorer.model.links import links_of
from explorer.model.session import Session
from mytriton.records import dataclass

#: The panes whose listings can be counted; of those that were not in focus yet, the first that has one is.
COUNTED = ("asm", "mlir", "cuda", "ssa")
_NAMES = {"ssa": "SSA", "ptx": "PTX", "sass": "SASS", "cuda": "CUDA", "llvm": "LLVM"}


@dataclass(frozen=True, slots=True)
class LineCounts:
    """`of` is the listing's name ("": there is none), `lines` its number of lines by file line, where there are any."""

    of: str = ""
    lines: Mapping[int, int] = field(default_factory=dict)
    stale: bool = False

    @property
    def words(self) -> str:
        """What is counted, for a heading."""
        return f"lines in {_NAMES.get(self.of, self.of)}{'  stale' if self.stale else ''}" if self.of else ""


def line_counts(session: Session, recent: Sequence[str], chosen: Mapping[str, str]) -> LineCounts:
    """The counts of the listing that was in focus last (`recent` orders panes so), in the stage it shows."""
    for pane in dict.fromkeys((*(p for p in recent if p in COUNTED), *COUNTED)):
        name = panes.chosen_stage(session, pane, chosen)
        if name is None:
            continue
        result = session.results[panes.backend_of(session, pane)]
        stage, stale = result.listing(name)
        if stage is not None and stage.lines:
            lines = links_of(stage.lines).counts
            return LineCounts(name, carried(lines, result.texts.get(name, session.text), session.text), stale)
        if stage.pending if stage is not None else result.awaited(name):
            return LineCounts(name)
    return LineCounts()


def carried(counts: Mapping[int, int], before: str, now: str) -> Mapping[int, int]:
    """Counts of a text by the lines of what it was edited into since. Lines that were replaced by more or fewer have
    none; as long as there are as many, each keeps its own."""
    if before == now:
        return counts
    old, new = before.split("\n"), now.split("\n")
    moved = len(new) - len(old)
    if not moved:
        return counts
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    return {
        line if line <= head else line + moved: count
        for line, count in counts.items()
        if line <= head or line > len(old) - tail
    }
