"""The place of the cursor in words: its line, the way its code was inlined, and what became of it in each listing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from explorer.model.links import Place, linked, links_of
from explorer.model.result import Frame, UnitView
from explorer.model.session import Session

Ways = tuple[tuple[Frame, ...], ...]


def ways_of(session: Session, place: Place | None) -> Ways:
    """How the code of a place was inlined: the way it has, or all those that the SSA tells of."""
    if place is None:
        return ()
    if place.frames:
        return (place.frames,)
    stage = session.result.listing("ssa")[0]
    return links_of(stage.lines).ways(place) if stage is not None else ()


def counts(session: Session, place: Place | None, ways: Ways, ssa: str = "", mlir: str = "") -> list[tuple[str, int]]:
    """How many lines of each listing of the selected backend belong to a place, in the order of the stages. `ssa` and
    `mlir` are the stages that those panes show."""
    found: list[tuple[str, int]] = []
    if place is None:
        return found
    result = session.result
    last = next((name for name in reversed(result.planned) if name.startswith("opt/")), "ssa")
    ssa = ssa if ssa in result.planned else last
    emitted = [mlir] if mlir in result.planned else ["mlir/emit", "cpu/emit"]
    shown = {"tree": "tree", ssa: "layout" if ssa.startswith("layout") else "SSA", "cuda": "CUDA",
             **dict.fromkeys(emitted, "MLIR"), "ptx": "PTX", "sass": "SASS", "asm": "asm"}  # fmt: skip
    for name in result.planned:
        stage = result.listing(name)[0] if name in shown else None
        if stage is not None and stage.lines:
            found.append((shown[name], len(linked(links_of(stage.lines), place, ways))))
    return found


def told(session: Session, place: Place | None, ways: Ways) -> str:
    """A place in words: `line 12`, or through calls `twice line 6 <- kernel line 10`."""
    if place is None:
        return ""
    if place.frames:
        return _chain(place.frames) + _text(session, place.frames[0])
    inside = [frames for frames in ways if not frames[0].path and frames[0].line == place.line]
    outer = tuple(dict.fromkeys(frames[1:] for frames in inside))
    words = f"{_where(inside[0][0])} <- {_callers(outer)}" if inside else f"line {place.line}"
    inner = tuple(called[-1] for frames in ways if (called := _until(frames, place.line)))
    return f"{words}, which inlines {_functions(inner)}" if inner else words


def _until(frames: Sequence[Frame], line: int) -> Sequence[Frame]:
    """What is called at a line: the frames inside of the one there."""
    at = next((i for i, frame in enumerate(frames) if not frame.path and frame.line == line), 0)
    return frames[:at]


def _where(frame: Frame) -> str:
    return f"{frame.name} {Path(frame.path).name}:{frame.line}" if frame.path else f"{frame.name} line {frame.line}"


def _chain(frames: Sequence[Frame]) -> str:
    return " <- ".join(map(_where, frames))


def _callers(ways: Sequence[Sequence[Frame]]) -> str:
    """Several ways out; those that are one call in one function are told together."""
    if all(len(frames) == 1 for frames in ways) and len({(f.name, f.path) for (f,) in ways}) == 1:
        lines = ", ".join(str(line) for line in sorted({f.line for (f,) in ways}))
        return f"{ways[0][0].name} line{'s' if len(ways) > 1 else ''} {lines}"
    return "; ".join(map(_chain, ways))


def _functions(frames: Sequence[Frame]) -> str:
    """The functions that places are in, with their files where that is another one."""
    names = dict.fromkeys(f"{f.name} of {Path(f.path).name}" if f.path else f.name for f in frames)
    return ", ".join(names)


def unit_of(session: Session, frame: Frame) -> UnitView | None:
    """The helper of another file that a place is in."""
    stage = session.result.listing("ssa")[0]
    units = stage.units if stage is not None else ()
    inside = (u for u in units if u.path == frame.path and u.name == frame.name)
    return next((u for u in inside if 0 <= frame.line - u.first_line < len(u.text.split("\n"))), None)


def _text(session: Session, frame: Frame) -> str:
    """The line of another file, since no pane shows it."""
    unit = unit_of(session, frame) if frame.path else None
    return f"   {unit.text.split(chr(10))[frame.line - unit.first_line].strip()}" if unit is not None else ""
