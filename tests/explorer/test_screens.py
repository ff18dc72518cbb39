"""Every screen at the sizes that matter, as text. `pytest --update-golden` rewrites the pictures.

The rows are in `screens.py`. Text rather than SVG: a change is read in the diff, and Textual's own changes of styling
make none. What text does not show, that it can be read in 16 colours, is checked of every picture as well.
`test_themes.py` computes the contrast of more colours.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.color import ColorSystem
from rich.style import Style

from explorer.actions import ACTIONS
from explorer.share.bundle import write
from tests.explorer.bundles import opened, record, shared
from tests.explorer.explorer_support import SOURCE, Explorer, explorer, screen, segments, settled
from tests.explorer.screens import SCREENS, Shown

SIZES = ((200, 60), (120, 40), (80, 24))
#: The actions in pictures of the help and the palette.
LISTED = ("help", "run", "run(True)", "backend", "stage(-1)", "zoom", "find", "copy(False)", "save", "theme", "quit")

Golden = Callable[[str, str], None]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What differs from machine to machine is the same: the folder, versions, the system."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm")  # which has 16 colours
    monkeypatch.delenv("COLORTERM")
    monkeypatch.setattr("explorer.screens.info.versions", lambda: (("textual", "8.2.8"), ("numpy", "not installed")))
    monkeypatch.setattr("platform.python_version", lambda: "3.11.0")
    monkeypatch.setattr("platform.platform", lambda: "Linux")
    # Tables of keys are drawn for some actions: a new one need not be in the pictures, `test_actions.py` sees to it.
    some = tuple(action for action in ACTIONS if action.name in LISTED)
    monkeypatch.setattr("explorer.screens.help.ACTIONS", some)
    monkeypatch.setattr("explorer.palette.ACTIONS", some)


def unreadable(running: Explorer) -> list[str]:
    """What has the colour of its background on a terminal with 16 colours."""
    return [
        segment.text
        for row in segments(running)
        for segment in row
        if segment.text.strip() and segment.style is not None and invisible(segment.style)
    ]


def invisible(style: Style) -> bool:
    """Whether text and background become the same of the 16 colours."""
    if style.color is None or style.bgcolor is None:
        return False
    text, back = (colour.downgrade(ColorSystem.STANDARD) for colour in (style.color, style.bgcolor))
    return text.number is not None and text.number == back.number  # the default on the default can be read


def test_each_screen_has_its_own_name() -> None:
    assert len({shown.name for shown in SCREENS}) == len(SCREENS)


@pytest.mark.parametrize("shown", SCREENS, ids=lambda shown: shown.name)
async def test_screen(shown: Shown, tmp_path: Path, golden: Golden) -> None:
    """Opened at the first size; the others are what becomes of it when the window shrinks."""
    Path("add.py").write_text(SOURCE)
    shown.before(tmp_path)
    async with explorer(Path("add.py"), SIZES[0], **shown.settings) as e:
        await shown.go(e)
        for size in SIZES:
            if e.app.size != size:
                await e.pilot.resize_terminal(*size)
            await settled(e.pilot)
            assert not unreadable(e)
            golden(f"screens/{shown.name}-{size[0]}x{size[1]}.txt", screen(e))


async def test_screen_of_a_bundle(tmp_path: Path, golden: Golden) -> None:
    (tmp_path / "add.mtx").write_bytes(write(shared("in B", record("in A"))))
    app = opened(Path("add.mtx"))
    async with app.run_test(size=SIZES[0]) as pilot:
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            golden(f"screens/bundle-{size[0]}x{size[1]}.txt", screen(SimpleNamespace(app=app)))


async def test_a_long_header_is_cut_with_dots(tmp_path: Path) -> None:
    async with explorer(tmp_path / "a_long_name_of_a_file_with_one_kernel.py", (80, 24)) as e:
        await e.press("x")
        await settled(e.pilot)
        left, right = " a_long_name_of_a_file_with_one_kernel.py [edite.. ", "backend cuda  sm_90  4 warps"
        assert screen(e).splitlines()[0] == left + right
