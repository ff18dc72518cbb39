"""The listing widget: what is rendered, what is repainted, what is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from textual.app import App, ComposeResult
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.screen import Screen
from textual.selection import Selection
from textual.strip import Strip

from explorer.highlight import Run
from explorer.widgets.code_view import CodeView, moved
from explorer.widgets.painter import Painter
from tests.explorer.explorer_support import CountingDriver, settled

LINES = [f"%{i} = add %{i - 1}, %{i - 2} : vector<256 x f32>" for i in range(20_000)]


class ViewApp(App[None]):
    def __init__(self) -> None:
        super().__init__(driver_class=CountingDriver)
        self.animation_level = "none"

    def get_default_screen(self) -> Screen[None]:
        screen: Screen[None] = Screen(id="_default")
        screen._compositor = Painter()
        return screen

    def compose(self) -> ComposeResult:
        yield CodeView()

    @property
    def written(self) -> int:
        assert isinstance(self._driver, CountingDriver)
        return self._driver.written


@asynccontextmanager
async def opened(lines: list[str]) -> AsyncIterator[tuple[CodeView, Pilot[None]]]:
    app = ViewApp()
    # `headless=False` so that frames are rendered to bytes; the driver shows none of them.
    async with app.run_test(size=(100, 30), headless=False) as pilot:
        view = app.query_one(CodeView)
        view.load(lines, "ssa")
        view.focus()
        await settled(pilot)
        yield view, pilot


def row(view: CodeView, y: int) -> str:
    return "".join(segment.text for segment in view.row_maker()(y)).rstrip()


async def test_a_cursor_move_repaints_two_rows_and_few_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(LINES) as (view, pilot):
        app = view.app
        assert isinstance(app, ViewApp)
        rendered: list[int] = []
        made = view.rows

        def recorded() -> Callable[[int], Strip]:
            row = made()

            def give(y: int) -> Strip:
                rendered.append(y)
                return row(y)

            return give

        monkeypatch.setattr(view, "rows", recorded)
        before = app.written
        view.action_move(1)
        await settled(pilot)
        assert rendered == [0, 1]
        assert 0 < app.written - before <= 4096
        before = app.written
        view.link([5], [5])
        await settled(pilot)
        assert sorted(rendered[2:]) == [5]
        assert 0 < app.written - before <= 4096


async def test_only_lines_that_are_shown_are_tokenised(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(LINES) as (view, pilot):
        seen: set[int] = set()
        tokens = view._highlighted.tokens

        def recorded(number: int) -> list[Run]:
            seen.add(number)
            return tokens(number)

        monkeypatch.setattr(view._highlighted, "tokens", recorded)
        view.action_page(1)
        view.action_edge(True)
        await pilot.pause()
        assert view.cursor == len(LINES) - 1
        assert row(view, view.size.height - 1).endswith(LINES[-1])
        assert len(seen) <= 3 * view.size.height


async def test_a_listing_that_changes_elsewhere_keeps_cursor_and_scroll() -> None:
    async with opened(LINES[:200]) as (view, pilot):
        view.move_to(100)
        await pilot.pause()
        top = row(view, 0)
        view.load(["new", *LINES[:200]], "ssa")
        await pilot.pause()
        assert view.cursor == 101
        assert row(view, 0) == top


async def test_linked_lines_come_into_view_and_are_signed() -> None:
    async with opened(LINES) as (view, pilot):
        view.link([5000, 5001], [5000, 5001])
        await pilot.pause()
        signs = [row(view, y)[:1] for y in range(view.size.height)]
        assert signs.count(">") == 2
        assert any(row(view, y) == f"> {LINES[5000]}" for y in range(view.size.height))


async def test_mouse_selection_gives_exact_text() -> None:
    async with opened(["abc def", "ghi"]) as (view, _):
        text = view.get_selection(Selection(Offset(4, 0), Offset(2, 1)))
        assert text == ("def\ngh", "\n")


async def test_tabs_and_control_characters_are_made_visible() -> None:
    async with opened(["\ta\x1b[31m"]) as (view, _):
        assert row(view, 0) == "\u258c         a\ufffd[31m"


def test_rows_move_with_the_text_around_them() -> None:
    old = ["a", "b", "c", "d"]
    assert [moved(old, ["a", "x", "b", "c", "d"], r) for r in range(4)] == [0, 2, 3, 4]
    assert moved(old, ["a"], 3) == 0
    assert moved([], old, 0) == 0
    assert moved(old, [], 2) == 0
