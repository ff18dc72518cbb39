"""Every action by every one of its keys, pressed, and what one sees of it. An action without a row here fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from explorer.actions import ACTIONS, MOVES, Action
from tests.explorer.explorer_support import SOURCE, Explorer, explorer, settled
from tests.explorer.screens import PASSED, Step, changed_on_disk, mistaken, ran

Look = Callable[[Explorer], Any]


@dataclass(frozen=True)
class Effect:
    """`look` gives `after` once the key was pressed, and something else before; or `after` says of both whether they
    are as they should be. `steps` lead to where that is so."""

    steps: tuple[Step, ...]
    look: Look
    after: Any


def shown_screen(e: Explorer) -> str:
    """What kind of screen is shown."""
    return type(e.app.screen).__name__


def question(e: Explorer) -> str:
    """What a dialog or a page says first."""
    screen = e.app.screen
    return str(getattr(screen, "question", None) or getattr(screen, "_question", None) or getattr(screen, "_title", ""))


def focus(e: Explorer) -> str | None:
    """The pane in focus."""
    return e.main.focused_pane.name


def at(pane: str) -> Look:
    """The row of the cursor of a listing."""
    return lambda e: e.main.panes[pane].body.cursor  # type: ignore[union-attr]


def stage(pane: str) -> Look:
    """The stage that a listing shows."""
    return lambda e: e.heading(pane).split(" > ")[1].split()[0]


def text(e: Explorer) -> str:
    """What is in the editor."""
    return e.main.editor.text


def line(e: Explorer) -> int:
    """The line of the editor's cursor, from 1."""
    return e.main.editor.cursor_location[0] + 1


def asked(what: str) -> Look:
    """How often the engine was asked for something."""
    return lambda e: len(getattr(e.engine, what))


def run(e: Explorer) -> str | None:
    """What kind of run was asked for last."""
    runs = e.engine.runs
    return None if not runs else "bench" if runs[-1].bench else "every stage" if runs[-1].every_stage else "run"


def size(pane: str) -> Look:
    """Columns and rows of a pane, as one number."""
    return lambda e: e.main.panes[pane].size.width + 1000 * e.main.panes[pane].size.height


LISTING = "escape 1 ctrl+home escape 3 g"
EDITOR = "escape 1 ctrl+home"
LINE = "%0 = program_id {axis=0} : i32"
FIRST, SECOND, *REST = SOURCE.splitlines(keepends=True)


def more(before: int, now: int) -> bool:
    """There is more of it."""
    return now > before


def less(before: int, now: int) -> bool:
    """There is less of it."""
    return now < before


async def long_lines(e: Explorer) -> None:
    """The kernel compiles to what does not fit."""
    e.main.compile()
    await e.answer(note="x" * 500)
    await settled(e.pilot)


def effect(look: Look, after: Any, *steps: Step) -> Effect:
    """A row."""
    return Effect(steps or (LISTING,), look, after)


EFFECTS = {
    "help": effect(question, "Help"),
    "run": effect(run, "run"),
    "run(True)": effect(run, "every stage"),
    "bench": effect(run, "bench"),
    "bench(True)": effect(run, "bench"),
    "tune": effect(lambda e: [n.title for n in e.app._notifications], ["add_kernel is not autotuned"]),
    "past_runs": effect(question, "Runs of this session", LISTING, "r", ran(PASSED)),
    "backend": effect(lambda e: e.main.session.backend, "mlir"),
    "pin": effect(lambda e: e.main.session.pinned is not None, True),
    "compare": effect(question, "Compare the present build (B) with A"),
    "stage(-1)": effect(stage("ssa"), "opt/fold"),
    "stage(1)": effect(stage("ssa"), "opt/fold", LISTING, "left_square_bracket " * 3),
    "choose": effect(question, "Kernel and example"),
    "signature": effect(shown_screen, "FormScreen"),
    "passes": effect(shown_screen, "PassesScreen", LISTING, "b"),
    "mlir_opt": effect(
        lambda e: e.app.clipboard,
        "mlir-opt add_kernel.mlir-emit.mlir '--pass-pipeline=builtin.module()'",
        LISTING,
        "b",
    ),
    "query": effect(lambda e: [n.message for n in e.app._notifications], ["cuda has no MLIR: questions are about it."]),
    "complete": effect(lambda e: e.main.editor.popup is not None, True, EDITOR, "end enter t"),
    "problem(1)": effect(line, 11, EDITOR, mistaken),
    "problem(-1)": effect(line, 11, EDITOR, mistaken),
    "replace": effect(lambda e: e.main.replace_bar is not None and e.main.replace_bar.is_open, True, EDITOR),
    "comment": effect(text, "# " + SOURCE, EDITOR),
    "move_lines(-1)": effect(text, "".join((SECOND, FIRST, *REST)), EDITOR, "down"),
    "move_lines(1)": effect(text, "".join((SECOND, FIRST, *REST)), EDITOR),
    "duplicate": effect(text, FIRST + SOURCE, EDITOR),
    "zoom": effect(lambda e: e.main.workspace.zoomed, "ssa"),
    "find_everywhere": effect(shown_screen, "SearchScreen"),
    "arrange": effect(question, "Arrange the panes"),
    "resize(1, 0)": effect(size("ssa"), more),
    "resize(-1, 0)": effect(size("ssa"), less),
    "resize(0, 1)": effect(size("cuda"), more, LISTING, "4"),
    "resize(0, -1)": effect(size("cuda"), less, LISTING, "4"),
    "sizes": effect(size("ssa"), less, LISTING, "greater_than_sign"),
    "find": effect(lambda e: e.main.find_bar.is_open, True),
    "story": effect(lambda e: e.main.modes.get("ssa"), "diff"),
    "changed_stage(-1)": effect(stage("ssa"), "ssa"),
    "changed_stage(1)": effect(stage("ssa"), "opt/dce", LISTING, "left_square_bracket " * 3),
    "whole": effect(lambda e: "stages" in e.main.whole, False),
    "linked(1)": effect(at("ssa"), 2, "escape 3 g j"),
    "linked(-1)": effect(at("ssa"), 2, "escape 3 g j j j"),
    "lock": effect(lambda e: e.main.locked, True),
    "counts": effect(lambda e: e.main.editor.counting, False),
    "value": effect(lambda e: e.main.followed is not None, True),
    "choose_value": effect(question, "Follow the value", "escape 3 g j j j"),
    "value_story": effect(question, "What became of %0", LISTING, "f"),
    "became": effect(focus, "mlir"),
    "history(-1)": effect(focus, "ssa", LISTING, "4"),
    "history(1)": effect(focus, "cuda", LISTING, "4 u"),
    "reproduce": effect(asked("reproduced"), more),
    "find_next(1)": effect(at("ssa"), 6, LISTING, "slash l o a d enter"),
    "find_next(-1)": effect(at("ssa"), 5, LISTING, "slash l o a d enter n"),
    "copy(False)": effect(lambda e: e.app.clipboard, LINE),
    "copy(True)": effect(lambda e: e.app.clipboard.count("\n"), 8),
    "write": effect(question, "Write the listing to"),
    "share": effect(question, "Share"),
    "save": effect(lambda e: e.main.file.path.read_text() == text(e), True, EDITOR, "x escape 3"),
    "open": effect(shown_screen, "OpenFile"),
    "save_as": effect(question, "Save as"),
    "goto": effect(question, "Go to line of ssa (1 to 9), or line:column"),
    "follow": effect(line, 6),
    "jump": effect(question, "Go to pane"),
    "compile": effect(asked("compiled"), more),
    "cancel": effect(lambda e: e.engine.cancelled, more),
    "info": effect(question, "Information"),
    "theme": effect(question, "Colours"),
    "reload": effect(text, "# theirs\n", EDITOR, changed_on_disk),
    "quit": effect(question, "add.py has unsaved edits.", EDITOR, "x escape 3"),
    "back": effect(focus, "ssa", LISTING, "1"),
    "cycle(1)": effect(focus, "cuda"),
    "cycle(-1)": effect(focus, "tree"),
    **{
        f"pane({number})": effect(focus, name, "escape 3" if number != 3 else "escape 4")
        for number, name in enumerate(("source", "tree", "ssa", "cuda", "mlir", "asm", "stages", "problems", "run"), 1)
    },
    "move(1)": effect(at("ssa"), 1),
    "move(-1)": effect(at("ssa"), 1, LISTING, "j j"),
    "page(1)": effect(at("ssa"), 8),
    "page(-1)": effect(at("ssa"), 0, LISTING, "G"),
    "edge(False)": effect(at("ssa"), 0, LISTING, "G"),
    "edge(True)": effect(at("ssa"), 8),
    "shift(-8)": effect(lambda e: e.main.panes["ssa"].body.scroll_x, 0, LISTING, long_lines, "l"),
    "shift(8)": effect(lambda e: e.main.panes["ssa"].body.scroll_x, 8, LISTING, long_lines),
}


@pytest.mark.parametrize("action", (*ACTIONS, *MOVES), ids=lambda action: action.name)
async def test_key(action: Action, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each key in an explorer of its own; an action without one as the palette does it."""
    monkeypatch.chdir(tmp_path)
    assert action.name in EFFECTS, "an action that no key is pressed for here"
    wanted = EFFECTS[action.name]
    for number, key in enumerate((*action.letters, *action.keys) or ("",)):
        path = Path(f"{number}") / "add.py"
        path.parent.mkdir()
        async with explorer(path, (200, 60)) as e:
            for step in wanted.steps:
                await (e.press(*step.split()) if isinstance(step, str) else step(e))
            before = wanted.look(e)
            assert before != wanted.after, f"it is so before {key or action.name}"
            if key:
                await e.press(key)
            else:
                await e.main.run_action(action.name)
                await e.pilot.pause()
            now = wanted.look(e)
            assert wanted.after(before, now) if callable(wanted.after) else now == wanted.after, (key, before, now)
