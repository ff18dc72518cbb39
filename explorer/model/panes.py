"""What each pane shows of a session: which stages it can show, which one it does, and under what title."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from textwrap import shorten

from explorer.model import report, runs
from explorer.model.compare import pinned_stage
from explorer.model.failure import brief, given
from explorer.model.result import LineView, StageView
from explorer.model.session import Session
from explorer.model.stages import stage_list
from explorer.model.story import Mark, Mode, changed_stage, told
from mytriton.records import dataclass

TITLES = {
    "source": "source",
    "tree": "tree",
    "ssa": "SSA",
    "cuda": "CUDA",
    "mlir": "MLIR",
    "asm": "PTX / SASS",
    "stages": "stages",
    "problems": "problems",
    "run": "run",
}

#: Stage families of each listing.
FAMILIES = {
    "tree": ("tree",),
    "ssa": ("ssa", "opt", "layout"),
    "cuda": ("cuda",),
    "mlir": ("mlir", "cpu"),
    "asm": ("llvm", "ptx", "cubin", "sass", "asm"),
}


@dataclass(frozen=True, slots=True)
class Listing:
    """What a pane shows: title, a few words about it, lines, and for some rows the `(backend, stage)` they lead to or
    the mark of a diff."""

    title: str
    note: str = ""
    lines: tuple[LineView, ...] = ()
    language: str = ""
    stale: bool = False
    targets: tuple[tuple[str, str] | None, ...] = ()
    marks: tuple[Mark | None, ...] = ()


def backend_of(session: Session, pane: str) -> str:
    """The backend whose stages a pane shows: the selected one, unless the pane is about a certain one."""
    if session.is_module:
        return session.backend
    if pane == "cuda":
        return "cuda"
    if pane == "mlir":
        return "cpu" if session.backend == "cpu" else "mlir"
    if pane == "asm" and session.backend == "interp":
        return "cuda"
    return session.backend


def stages_of(session: Session, pane: str) -> tuple[str, ...]:
    """The stages a pane can show, in order."""
    result = session.results.get(backend_of(session, pane))
    planned = result.planned if result is not None else ()
    return tuple(name for name in planned if name.split("/")[0] in FAMILIES[pane])


def default_stage(session: Session, pane: str, names: tuple[str, ...]) -> str:
    """The stage a pane shows if none was chosen: the last pass for SSA, the emitted text for MLIR, PTX before SASS; of
    an MLIR file what its passes leave, and the code that there is."""
    if session.is_module:
        if pane == "mlir":
            return names[-1]
        ptx = session.result.stage("ptx")
        return "ptx" if ptx is not None and ptx.ok else names[0]
    if pane == "ssa":
        return next((n for n in reversed(names) if n.startswith(("opt", "ssa"))), names[0])
    if pane == "asm":
        return next((n for n in ("ptx", "asm", "llvm") if n in names), names[0])
    return names[0]


def chosen_stage(session: Session, pane: str, chosen: Mapping[str, str]) -> str | None:
    """The stage a pane shows; None if there is none (yet)."""
    names = stages_of(session, pane)
    if not names:
        return None
    return chosen[pane] if chosen.get(pane) in names else default_stage(session, pane, names)


def shown_stages(session: Session, visible: tuple[str, ...], chosen: Mapping[str, str]) -> tuple[str, ...]:
    """The stages that the visible panes show."""
    shown = (chosen_stage(session, pane, chosen) for pane in visible if pane in FAMILIES)
    return tuple(name for name in shown if name is not None)


def wanted_backends(session: Session, visible: tuple[str, ...]) -> tuple[str, ...]:
    """The backends that a visible pane shows."""
    return tuple(dict.fromkeys(backend_of(session, pane) for pane in visible if pane in FAMILIES))


def listing(
    session: Session,
    pane: str,
    chosen: Mapping[str, str],
    width: int = 1000,
    modes: Mapping[str, Mode] | None = None,
    whole: Collection[str] = ("stages",),
) -> Listing:
    """What `pane` shows, as text or as a story (`modes`, by pane); sentences are folded to `width` columns. The panes
    in `whole` show what others leave out: stages that changed nothing, the rest of long findings."""
    if pane == "stages":
        return Listing(TITLES[pane], "enter: open", *stage_list(session, pane not in whole))
    if pane == "problems":
        problems = session.problems
        return Listing(
            TITLES[pane],
            str(len(problems)) if problems else "none",
            report.problem_lines(problems, width, pane in whole),
            "report",
        )
    if pane == "run":
        return Listing(TITLES[pane], "", runs.run_lines(session, width), "report", session.report_is_stale)
    backend, name = backend_of(session, pane), chosen_stage(session, pane, chosen)
    if name is None:
        why = "a module has none" if session.is_module else ""
        return Listing(TITLES[pane], "waiting" if not session.results else why)
    names = stages_of(session, pane)
    stage, stale = session.results[backend].listing(name)
    words = [f"{names.index(name) + 1}/{len(names)}"] if len(names) > 1 else []
    title = f"{TITLES[pane]} > {name}"
    if backend != session.backend and pane == "asm":
        title += f" ({backend})"
    if stage is None or stage.pending:
        coming = stage is not None or session.results[backend].awaited(name)
        return Listing(title, "  ".join([*words, "..." if coming else "not reached"]))
    words += report.stage_words(stage)
    if stale:
        words.append("stale")
    a = pinned_stage(session.pinned, backend, stage) if session.pinned is not None else None
    story = told(session.results[backend], names, stage, (modes or {}).get(pane, "text"), a)
    if story is not None:
        words.append(story.note)
        language = stage.language if story.marks else "story"
        return Listing(title, "  ".join(words), story.lines, language, stale, marks=story.marks)
    failure = given(session.results[backend], stage)
    if failure is not None and failure.lines:
        room = width - len(title) - len("  ".join(words)) - 8
        words += [shorten(brief(stage), room, placeholder=" ...")] if room > 30 else []
        return Listing(title, "  ".join(words), failure.lines, failure.language, stale, marks=failure.marks)
    lines = stage.lines or tuple(LineView(text) for text in report.why_empty(stage))
    return Listing(title, "  ".join(words), lines, stage.language if stage.lines else "report", stale)


def stage_at(session: Session, pane: str, chosen: Mapping[str, str], step: int) -> str | None:
    """The stage `step` away from the one shown, not past the ends."""
    names, name = stages_of(session, pane), chosen_stage(session, pane, chosen)
    if name is None:
        return None
    return names[max(0, min(len(names) - 1, names.index(name) + step))]


def changed_stage_at(session: Session, pane: str, chosen: Mapping[str, str], step: int) -> str | None:
    """The nearest stage in that direction that changed something; the one shown if there is none."""
    names, name = stages_of(session, pane), chosen_stage(session, pane, chosen)
    if name is None:
        return None
    return changed_stage(session.results[backend_of(session, pane)], names, name, step)


def pane_of(stage: StageView | str) -> str | None:
    """The pane that shows a stage."""
    family = (stage if isinstance(stage, str) else stage.name).split("/")[0]
    return "source" if family == "source" else next((p for p, families in FAMILIES.items() if family in families), None)
