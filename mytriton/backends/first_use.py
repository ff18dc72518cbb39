"""Places for instructions that a compiler left without one: they are there for the first that uses their result."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mytriton.stage import Line

#: The names that the instruction in a row sets, and those that it reads; None if the row holds no instruction.
Names = Callable[[str], tuple[Sequence[str], Sequence[str]] | None]


def placed(lines: Sequence[Line], names: Names, made_by: str, reused: bool = False) -> list[Line]:
    """The rows; each instruction without a span whose result is used has the span and values of its first use below, or
    else of the first above, which is the next trip of a loop. All of these are marked as made by the program `made_by`,
    which is what those that nothing uses are of, too.
    Where names are `reused`, as those of a machine's registers, what sets one again hides what is below."""
    made = list(lines)
    found = [(row, *its) for row, line in enumerate(made) if (its := names(line.text)) is not None]
    if all(made[row].span is not None for row, _, _ in found):
        return made
    uses: dict[str, Line] = {}
    for _ in range(2):
        for row, sets, reads in reversed(found):
            line = made[row]
            if line.span is None:
                use = next((uses[name] for name in sets if name in uses), None)
                if use is not None:
                    line = made[row] = Line(line.text, use.span, use.values, line.made_by or made_by)
            if reused:
                for name in sets:
                    uses.pop(name, None)
            if line.span is not None:
                uses.update(dict.fromkeys(reads, line))
    for row, _, _ in found:
        line = made[row]
        if line.span is None:
            made[row] = Line(line.text, made_by=line.made_by or made_by)
    return made
