"""The colours: all that is on the screen can be read, in every theme; what colours tell is told without them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.style import Style
from textual.color import Color
from textual.screen import Screen
from textual.widgets import OptionList

from explorer.model.config import Config
from explorer.model.state import State
from explorer.model.theme_names import TERMINAL, THEMES
from explorer.palette import Palette
from explorer.screens.dialogs import Ask, Choose, Confirm
from explorer.themes import SEEDS, contrast, luminance, nearest, stands_on
from explorer.widgets.code_view import CodeView
from tests.explorer.explorer_support import Explorer, explorer, settled
from tests.explorer.screens import WRONG

#: Drawn, not read.
DRAWN = {chr(code) for code in range(0x2500, 0x25A0)}


def characters(screen: Screen[object]) -> list[tuple[str, Style]]:
    """Every character that is shown on a screen, with its style."""
    strips = screen._compositor.render_strips(screen.app.size)
    # What is behind a question is dimmed, and not there to be read.
    region = screen.children[0].region if isinstance(screen, (Confirm, Choose, Ask, Palette)) else screen.region
    rows = [strip.crop(region.x, region.right) for strip in strips[region.y : region.bottom]]
    cells = [(c, s.style or Style()) for strip in rows for s in strip for c in s.text]
    return [(c, style) for c, style in cells if c.strip() and c not in DRAWN]


def ratio(style: Style, few: bool) -> float:
    """The contrast that a character is shown with; in 256 colours that of those."""
    assert style.color is not None
    assert style.bgcolor is not None
    colours = [Color.from_rich_color(c) for c in (style.color, style.bgcolor)]
    text, ground = (nearest(c) for c in colours) if few else colours
    return contrast(text, ground)


async def visit(e: Explorer) -> list[tuple[str, Style]]:
    """What is on the screens that one gets to see: listings, a failure, a search, help, questions, the palette."""
    seen = []

    async def look() -> None:
        await settled(e.pilot)
        seen.extend(characters(e.app.screen))

    await e.press(*["down"] * 10, "x")
    await look()
    await e.answer(note="more")
    await e.press("escape", "3", "d", "slash", "l", "o", "a", "enter")
    await look()
    await e.press("1", "y")
    await e.answer(fail="ssa", diagnostic=replace(WRONG, stage="ssa"))
    await e.press("escape", "8")
    await look()
    for key in ("f1", "f4", "ctrl+t", "ctrl+p"):
        await e.press(key)
        await look()
        await e.press("escape")
    await e.press("ctrl+q")
    await look()
    return seen


@pytest.mark.parametrize(
    ("name", "few"),
    [("dark", False), ("light", False), ("contrast-dark", False), ("colour-blind-light", False), ("dark", True)],
)
async def test_all_that_is_on_the_screen_can_be_read(
    tmp_path: Path, name: str, few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if few:
        monkeypatch.delenv("COLORTERM")
    async with explorer(tmp_path / "add.py", (120, 40), config=Config(theme=name)) as e:
        assert e.app.console.color_system == ("256" if few else "truecolor")
        shown = await visit(e)
    assert len(shown) > 3000
    worst = min((ratio(style, few), c, str(style)) for c, style in {(c, style) for c, style in shown})
    assert worst[0] >= SEEDS[name].contrast, worst


@pytest.mark.parametrize("name", SEEDS)
@pytest.mark.parametrize("few", [False, True], ids=["truecolor", "256"])
def test_each_text_has_its_contrast_on_every_background(name: str, few: bool) -> None:
    seeds = SEEDS[name]
    grounds, texts = seeds.backgrounds(few), seeds.texts(few)
    for text, colour in texts.items():
        for ground in stands_on(text):
            shown = (nearest(colour), nearest(grounds[ground])) if few else (colour, grounds[ground])
            assert contrast(*shown) >= seeds.contrast, (text, ground)


def test_contrast_is_that_of_wcag() -> None:
    black, white, grey = Color.parse("#000000"), Color.parse("#ffffff"), Color.parse("#767676")
    assert contrast(black, white) == contrast(white, black) == 21
    assert round(contrast(grey, white), 2) == 4.54
    assert round(luminance(Color.parse("#ff0000")), 4) == 0.2126


#: How those who lack the cones for red (protanopia) or green (deuteranopia) see linear RGB (Machado et al. 2009).
SEEN_BY = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
}


def lab(colour: Color, seen_by: str) -> tuple[float, float, float]:
    """CIE L*a*b* of a colour as it is seen."""

    def linear(part: int) -> float:
        value = part / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    rgb = [linear(part) for part in colour.rgb]
    r, g, b = (max(0.0, sum(m * c for m, c in zip(row, rgb, strict=True))) for row in SEEN_BY[seen_by])
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089
    fx, fy, fz = (c ** (1 / 3) if c > 0.008856 else 7.787 * c + 16 / 116 for c in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def distance(one: Color, other: Color, seen_by: str) -> float:
    """How different two colours look (CIE 1976): 2 can just be seen."""
    pairs = zip(lab(one, seen_by), lab(other, seen_by), strict=True)
    return float(sum((a - b) ** 2 for a, b in pairs) ** 0.5)


@pytest.mark.parametrize("seen_by", SEEN_BY)
@pytest.mark.parametrize("name", ["colour-blind-dark", "colour-blind-light"])
def test_good_and_bad_look_different_to_the_colour_blind(name: str, seen_by: str) -> None:
    grounds, texts = SEEDS[name].backgrounds(), SEEDS[name].texts()
    assert distance(texts["text-success"], texts["text-error"], seen_by) > 40
    assert distance(grounds["success-muted"], grounds["error-muted"], seen_by) > 20
    ordinary = SEEDS["light"].texts()
    assert distance(ordinary["text-success"], ordinary["text-error"], seen_by) < 40, "which is what these are for"


async def test_choosing_shows_each_and_is_remembered(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    async with explorer(path) as e:
        assert e.app.theme == "dark"
        await e.press("escape", "T", "down")
        assert e.app.theme == "light", "shown while choosing"
        await e.press("escape")
        assert e.app.theme == "dark", "as it was"
        await e.press("T", "down", "down", "enter")
        assert e.app.theme == "contrast-dark"
    async with explorer(path) as e:
        assert e.app.theme == "contrast-dark"
    async with explorer(path, config=Config(theme="light")) as e:
        assert e.app.theme == "light", "the command line comes first"


@pytest.mark.parametrize("damage", [b"{", b"[]", b"\xff", b'{"version": 99}', b'{"version": 1, "theme": ["no"]}'])
async def test_a_damaged_state_file_is_ignored(tmp_path: Path, damage: bytes) -> None:
    state = State()
    state.path.parent.mkdir(parents=True)
    state.path.write_bytes(damage)
    async with explorer(tmp_path / "add.py") as e:
        assert e.app.theme == THEMES[0]
        await e.press("escape", "T", "2")
        assert e.app.theme == "light"
    assert json.loads(state.path.read_text()) == {"version": 1, "theme": "light"}
    assert State().notice == ""


def test_two_explorers_keep_what_the_other_remembers(tmp_path: Path) -> None:
    one, other = State(), State()
    one.set("theme", "light")
    other.set("layout", {"wide": {}})
    assert State().get("theme") == "light"
    other.set("theme", None)
    assert State().get("theme") is None
    assert State().get("layout") == {"wide": {}}


async def test_sixteen_colours_get_the_terminals_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLORTERM")
    monkeypatch.setenv("TERM", "xterm")
    async with explorer(tmp_path / "add.py") as e:
        assert e.app.theme == TERMINAL
        shown = await visit(e)
    colours = {c for _, style in shown for c in (style.color, style.bgcolor) if c is not None}
    assert all(c.is_default or c.is_system_defined for c in colours)
    # Text in one of its colours stands on its own background, never on another colour.
    assert {str(s) for _, s in shown if s.bgcolor is not None and not s.bgcolor.is_default} == set()


async def test_without_colours_everything_is_still_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with explorer(tmp_path / "add.py", config=Config(theme="light")) as e:
        await e.press("escape", "3", "down")
        await settled(e.pilot)
        driver_lines = []
        for y in range(40):
            for segment in e.app.screen._compositor.render_strips(e.app.size)[y]:
                driver_lines += [
                    s for s in e.app.get_line_filters()[0].apply([segment], Color(0, 0, 0)) if s.text.strip()
                ]
        styles = {segment.style for segment in driver_lines if segment.style is not None}
        assert all(style.color is None or style.color.is_default for style in styles)
        view = e.main.panes["ssa"].body
        assert isinstance(view, CodeView)
        cursor, other = view.row_maker()(1), view.row_maker()(3)
        assert all(segment.style is not None and segment.style.underline for segment in list(cursor)[2:])
        assert not any(segment.style is not None and segment.style.underline for segment in other)
        heading = e.main.panes["ssa"].heading.row_maker()(0)
        assert all(segment.style is not None and segment.style.reverse for segment in heading)
        await e.press("T")
        assert e.app.screen is e.main, "there is nothing to choose"
        for key in ("W", "ctrl+p"):
            await e.press(key)
            await settled(e.pilot)
            options = e.app.screen.query_one(OptionList)
            await e.pilot.pause()
            shown = [any(s.style is not None and s.style.underline for s in options.render_line(y)) for y in (0, 1)]
            assert shown == [True, False], "the row of the cursor, in a list"
            await e.press("escape")
