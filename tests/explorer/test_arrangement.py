"""Where panes stand at the sizes that matter."""

from __future__ import annotations

import itertools

import pytest

from explorer.model.arrangement import PANES, TALL, Box, arrange


def names(boxes: tuple[Box, ...]) -> list[str]:
    return [box.pane for box in boxes]


def test_80x24_shows_the_source_and_one_other_pane() -> None:
    boxes = arrange(80, 20, ["source"])
    assert boxes == (Box("source", 0, 0, 80, 10), Box("ssa", 0, 10, 80, 10))
    assert names(arrange(80, 20, ["mlir", "source"])) == ["source", "mlir"]


def test_120x40_shows_cuda_and_mlir_at_once() -> None:
    assert names(arrange(120, 37, ["source"], tall=True)) == ["source", "ssa", "cuda", "mlir", "problems", "run"]
    assert names(arrange(120, 37, ["tree", "asm", "stages"], tall=True))[:4] == ["source", "tree", "asm", "stages"]


def test_200x60_shows_four_panes_side_by_side_and_everything_else() -> None:
    boxes = {box.pane: box for box in arrange(200, 58, ["source"], tall=True)}
    assert set(boxes) == set(PANES)
    side_by_side = [boxes[name] for name in ("source", "ssa", "cuda", "mlir")]
    assert [box.y for box in side_by_side] == [0, 0, 0, 0]
    assert [box.width for box in side_by_side] == [53, 48, 48, 48]


@pytest.mark.parametrize(
    ("width", "height"), [(40, 10), (80, 20), (120, 20), (120, 37), (160, 22), (200, 58), (300, 80)]
)
@pytest.mark.parametrize("recent", [["source"], ["run", "asm", "tree"], list(reversed(PANES))])
def test_panes_never_overlap_nor_leave_the_area(width: int, height: int, recent: list[str]) -> None:
    boxes = arrange(width, height, recent, tall=height >= TALL)
    for box in boxes:
        assert box.x >= 0
        assert box.y >= 0
        assert box.width > 0
        assert box.height > 0
        assert box.x + box.width <= width
        assert box.y + box.height <= height
    for a, b in itertools.combinations(boxes, 2):
        apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
        assert apart, (a, b)


@pytest.mark.parametrize("pane", PANES)
@pytest.mark.parametrize(("width", "height"), [(80, 20), (120, 20), (120, 37), (160, 22), (200, 58)])
def test_every_pane_can_be_brought_into_view(pane: str, width: int, height: int) -> None:
    assert pane in names(arrange(width, height, [pane, "source", "ssa"], tall=height >= TALL))


def test_a_zoomed_pane_is_alone() -> None:
    assert arrange(80, 20, ["source"], zoomed="mlir") == (Box("mlir", 0, 0, 80, 20),)
