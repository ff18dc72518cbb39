"""What typing, moving and results cost: rows, updates and bytes, which do not depend on how busy the machine is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from textual.strip import Strip

from explorer.engine.process import default_command, spawn, spawn_early
from explorer.screens.base import MainBase
from explorer.widgets.bar import Bar
from explorer.widgets.rows import ChangedRows
from tests.explorer.explorer_support import explorer, settled

SIZE = (160, 50)


@pytest.fixture
def painted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counter[str]]:
    """Counts the rows that are painted, by widget."""
    counts: Counter[str] = Counter()
    rows = ChangedRows.rows

    def counted(self: ChangedRows) -> Callable[[int], Strip]:
        row = rows(self)

        def give(y: int) -> Strip:
            counts[self.id or type(self).__name__] += 1
            return row(y)

        return give

    monkeypatch.setattr(ChangedRows, "rows", counted)
    yield counts


async def test_a_key_paints_its_row_and_the_header(tmp_path: Path, painted: Counter[str]) -> None:
    async with explorer(tmp_path / "add.py", SIZE) as e:
        await e.press("down", "down")  # a line with room
        await e.press("x")  # from now on the header says that it is edited
        before = await settled(e.pilot)
        painted.clear()
        await e.press("y")
        assert await settled(e.pilot) - before <= 200
        assert painted["editor"] == 1
        assert sum(painted.values()) <= 4


async def test_a_cursor_move_paints_two_rows_of_the_editor(tmp_path: Path, painted: Counter[str]) -> None:
    async with explorer(tmp_path / "add.py", SIZE) as e:
        await e.press(*["down"] * 5)
        before = await settled(e.pilot)
        painted.clear()
        await e.press("down")
        assert await settled(e.pilot) - before <= 1500
        assert painted["editor"] == 2
        assert sum(painted.values()) <= 20


async def test_results_that_look_the_same_paint_nothing_of_the_listings(tmp_path: Path, painted: Counter[str]) -> None:
    async with explorer(tmp_path / "add.py", SIZE) as e:
        await e.press("x")
        await e.answer()
        await settled(e.pilot)
        await e.press("y")
        await settled(e.pilot)
        painted.clear()
        await e.answer()
        await settled(e.pilot)
        assert [name for name in painted if name.startswith("view-") and name != "view-stages"] == []


async def test_a_line_more_paints_that_line_and_the_ends_of_the_bars(tmp_path: Path, painted: Counter[str]) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("x")
        await e.answer()
        before = await settled(e.pilot)
        assert isinstance(e.main.panes["ssa"].body.vertical_scrollbar, Bar)
        painted.clear()
        await e.answer(note="%8 = one more")
        assert await settled(e.pilot) - before <= 1000
        assert painted["view-ssa"] <= 2
        assert painted["Bar"] <= 4


async def test_all_that_arrives_at_once_is_shown_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    updates = []
    update = MainBase._update
    monkeypatch.setattr(MainBase, "_update", lambda self: (updates.append(1), update(self)))
    async with explorer(tmp_path / "add.py", SIZE) as e:
        await e.press("x")
        await settled(e.pilot)
        updates.clear()
        await e.answer()  # some twenty events
        await settled(e.pilot)
        assert len(updates) <= 2
        assert "opt/dce" in e.heading("ssa")


def test_a_child_that_was_started_early_is_taken_once() -> None:
    command = (*default_command(), "tools")
    spawn_early(["tools"])
    early = spawn(command)
    other = spawn(command)
    try:
        assert early.pid != other.pid
        assert early.args == other.args == command
    finally:
        for process in (early, other):
            process.kill()
            process.communicate()
