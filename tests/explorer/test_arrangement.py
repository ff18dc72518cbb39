"""Where panes stand at the sizes that matter, and how users arrange them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from explorer.model.arrangement import LEAST_HEIGHT, LEAST_WIDTH, PANES, Arrangement, Box, arrange
from explorer.model.config import Config
from explorer.model.presets import PRESETS, TALL, Layouts, size_class
from explorer.model.state import State
from tests.explorer.explorer_support import explorer

EVERY = [(preset, size) for preset, sizes in PRESETS.items() for size in sizes]
SIZES = [(40, 10), (80, 20), (80, 37), (120, 20), (120, 37), (160, 22), (200, 58), (300, 80)]


def boxes(
    width: int, height: int, recent: list[str], tall: bool = False, zoomed: str | None = None, preset: str = "default"
) -> tuple[Box, ...]:
    return arrange(width, height, recent, zoomed, Arrangement.read(PRESETS[preset][size_class(width, tall)]))


def names(shown: tuple[Box, ...]) -> list[str]:
    return [box.pane for box in shown]


def test_80x24_shows_the_source_and_one_other_pane() -> None:
    assert boxes(80, 20, ["source"]) == (Box("source", 0, 0, 80, 10), Box("ssa", 0, 10, 80, 10))
    assert names(boxes(80, 20, ["mlir", "source"])) == ["source", "mlir"]


def test_120x40_shows_cuda_and_mlir_at_once() -> None:
    assert names(boxes(120, 37, ["source"], True)) == ["source", "ssa", "cuda", "mlir", "problems", "run"]
    assert names(boxes(120, 37, ["tree", "asm", "stages"], True))[:4] == ["source", "tree", "asm", "stages"]


def test_200x60_shows_four_panes_side_by_side_and_everything_else() -> None:
    shown = {box.pane: box for box in boxes(200, 58, ["source"], True)}
    assert set(shown) == set(PANES)
    side_by_side = [shown[name] for name in ("source", "ssa", "cuda", "mlir")]
    assert [box.y for box in side_by_side] == [0, 0, 0, 0]
    assert [box.width for box in side_by_side] == [53, 48, 48, 48]


def fits(shown: tuple[Box, ...], width: int, height: int) -> None:
    """Panes are within the area, and none is over another."""
    for box in shown:
        assert min(box.x, box.y) >= 0
        assert min(box.width, box.height) > 0
        assert box.x + box.width <= width
        assert box.y + box.height <= height
    for a, b in itertools.combinations(shown, 2):
        apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
        assert apart, (a, b)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("recent", [["source"], ["run", "asm", "tree"], list(reversed(PANES))])
def test_panes_never_overlap_nor_leave_the_area(preset: str, width: int, height: int, recent: list[str]) -> None:
    fits(boxes(width, height, recent, height >= TALL, preset=preset), width, height)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("pane", PANES)
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_every_pane_can_be_brought_into_view(preset: str, pane: str, width: int, height: int) -> None:
    assert pane in names(boxes(width, height, [pane, "source", "ssa"], height >= TALL, preset=preset))


def test_a_zoomed_pane_is_alone() -> None:
    assert boxes(80, 20, ["source"], zoomed="mlir") == (Box("mlir", 0, 0, 80, 20),)


def test_the_named_layouts_show_what_they_are_for() -> None:
    assert names(boxes(120, 37, ["source"], True, preset="learn"))[:3] == ["source", "tree", "ssa"]
    assert names(boxes(200, 58, ["source"], True, preset="learn"))[:3] == ["source", "tree", "ssa"]
    lower = names(boxes(120, 37, ["source"], True, preset="lower"))
    assert {"cuda", "mlir", "asm"} < set(lower)
    assert names(boxes(80, 20, ["source"], preset="lower")) == ["source", "mlir"]


@pytest.mark.parametrize(("preset", "size"), EVERY)
def test_what_is_written_is_read(preset: str, size: str) -> None:
    arrangement = Arrangement.read(PRESETS[preset][size])
    changed = arrangement.hiding("tree").resized("source", 8, 2, 150, 50)
    assert Arrangement.read(str(arrangement)) == arrangement
    assert Arrangement.read(str(changed)) == changed


@pytest.mark.parametrize(
    "text",
    [
        "",
        "source",
        "source | source tree ssa cuda mlir asm stages problems run",
        "source tree ssa cuda mlir asm stages problems run - " + " ".join(PANES),
        "source tree ssa cuda mlir asm stages problems run - all",
        "source:0 | tree ssa cuda mlir asm stages problems run",
        "0* source | tree ssa cuda mlir asm stages problems run",
        "source / / tree ssa cuda mlir asm stages problems run",
        "_ - _",
    ],
)
def test_what_is_no_arrangement_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no |does not have each pane once"):
        Arrangement.read(text)


FIRST = Arrangement.read("source / tree | ssa | cuda asm _ 6* stages | problems | run mlir")


def test_swapping_sharing_and_own_places() -> None:
    assert str(FIRST.swapped("source", "asm")) == "asm / tree | ssa | cuda source _ 6* stages | problems | run mlir"
    assert str(FIRST.swapped("tree", "run")) == "source / run | ssa | cuda asm _ 6* stages | problems | tree mlir"
    assert str(FIRST.stacked("ssa", "tree")) == "source / tree ssa | cuda asm _ 6* stages | problems | run mlir"
    assert FIRST.stacked("ssa", "ssa") == FIRST
    assert str(FIRST.placed("mlir", 1)) == "source / tree | ssa / mlir | cuda asm _ 6* stages | problems | run"
    assert str(FIRST.placed("asm", 3)) == "source / tree | ssa | cuda | asm _ 6* stages | problems | run mlir"
    assert str(FIRST.placed("ssa", 1)) == str(FIRST)


def test_hiding_gives_the_room_to_the_others() -> None:
    shown = arrange(90, 30, [], None, FIRST.hiding("tree").hiding("ssa"))
    assert shown[:2] == (Box("source", 0, 0, 44, 24), Box("cuda", 45, 0, 45, 24))
    one = FIRST
    for pane in PANES[:-1]:
        one = one.hiding(pane)
    assert arrange(90, 30, [], None, one) == (Box("run", 0, 0, 90, 30),)
    assert names(arrange(90, 30, [], None, one.showing(["mlir"]))) == ["run"], "they share a slot"


def test_sizes_change_by_cells_and_neighbours_keep_the_least() -> None:
    wider = FIRST.resized("source", 4, 2, 90, 30)
    assert arrange(90, 30, [], None, wider)[:2] == (Box("source", 0, 0, 33, 14), Box("tree", 0, 14, 33, 10))
    for _ in range(50):
        wider = wider.resized("source", 4, 2, 90, 30)
    shown = {box.pane: box for box in arrange(90, 30, [], None, wider)}
    assert shown["tree"].height == LEAST_HEIGHT
    assert abs(shown["ssa"].width - LEAST_WIDTH) <= 1
    lower = FIRST.resized("problems", 4, 2, 90, 30)
    assert lower.bottom_height == 8
    for _ in range(50):
        lower = lower.resized("problems", 0, 2, 90, 30)
    fits(arrange(90, 30, [], None, lower), 90, 30)


def test_damaged_layouts_are_ignored_with_a_notice() -> None:
    for remembered in (None, 7, [], {"preset": 3}, {"own": 4}, {"preset": "nonsense", "own": {"wide": 5}}):
        layouts = Layouts(remembered)
        assert layouts.preset == "default"
        assert layouts.at("wide") == Arrangement.read(PRESETS["default"]["wide"])
    assert "The layout for wide terminals is the first one" in layouts.notice


async def test_sizes_by_key_are_remembered_for_this_size_of_terminal(tmp_path: Path) -> None:
    path = tmp_path / "add.py"

    def widths(e: object) -> list[tuple[str, int, int]]:
        return [(box.pane, box.width, box.height) for box in e.main.workspace.boxes()]  # type: ignore[attr-defined]

    async with explorer(path, (120, 40)) as e:
        before = widths(e)
        await e.press("escape", "3", "greater_than_sign", "plus")
        (_, width, height) = widths(e)[1]
        assert (width, height) == (before[1][1] + 4, before[1][2] + 2)
        await e.press("less_than_sign", "less_than_sign", "minus")
        assert widths(e)[1] == ("ssa", before[1][1] - 4, before[1][2])
        assert e.main.panes["ssa"].region.width == before[1][1] - 4, "on the screen, too"
        kept = widths(e)
    async with explorer(path, (120, 40)) as e:
        assert widths(e) == kept
        await e.press("escape", "0")
        assert widths(e) == before
    async with explorer(path, (120, 40)) as e:
        assert widths(e) == before
    assert json.loads(State().path.read_text())["layout"] == {"preset": "default", "own": {}}


async def test_arranging_by_menu(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    async with explorer(path, (80, 24)) as e:
        await e.press("escape", "W", "2")
        assert e.main.workspace.visible_panes == ("source", "ssa"), "the pane in focus stays"
        await e.press("W", "5", "1")
        assert e.main.workspace.visible_panes == ("ssa", "source"), "swapped"
        await e.press("W", "5", "1", "1")
        assert e.main.workspace.visible_panes == ("source", "ssa")
        await e.main.run_action("arrange")  # as from the palette: letters are typed here
        await e.press("8")
        assert e.main.workspace.visible_panes == ("ssa",), "the source is hidden"
        assert e.main.focused_pane.name == "ssa"
        await e.press("1")
        assert e.main.workspace.visible_panes == ("source", "ssa"), "gone to, it is there for now"
    async with explorer(path, (80, 24)) as e:
        assert "source" not in e.main.workspace.visible_panes, "that is remembered"
        await e.press("escape", "W", "9")
        assert "source" in e.main.workspace.visible_panes
        await e.press("escape", "W", "1")
        assert e.main.workspace.visible_panes == ("source", "tree"), "the pane in focus stays"
        await e.press("3", "W", "7", "1")  # a place of its own, in column 1
        assert e.main.workspace.visible_panes == ("source", "tree", "ssa")
        await e.press("W", "6", "2")  # behind the tree
        assert e.main.workspace.visible_panes == ("source", "ssa")


async def test_the_layout_of_the_config_file(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40), config=Config(layout="learn")) as e:
        assert e.main.workspace.visible_panes[:3] == ("source", "tree", "ssa")


async def test_a_layout_taken_while_zoomed_shows_all_of_it(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        await e.press("escape", "5", "z", "W", "3")
        assert e.main.workspace.zoomed is None
        assert {"cuda", "asm"} & set(e.main.workspace.visible_panes)
        assert e.main.focused_pane.name in e.main.workspace.visible_panes
