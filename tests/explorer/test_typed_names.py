"""Names and values that nobody should type: they are refused in a sentence, in every field that takes one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from textual.widgets import Input

from explorer.model.form import Field
from explorer.model.literals import literal
from explorer.model.paths import real, typed
from explorer.screens.help import help_lines
from tests.explorer.explorer_support import SOURCE, explorer

LONG = "x" * 300


@pytest.mark.parametrize("key", ["S", "w", "E"])
async def test_a_name_that_cannot_be_is_refused(tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    async with explorer(tmp_path / "k.py") as e:
        for name in ("~nosuchuser/x", LONG, "loop/x"):
            await e.press("escape", key)
            e.app.screen.query_one(Input).value = name
            await e.press("enter")
            await e.app.workers.wait_for_complete()
            (notice,) = e.app._notifications
            assert (notice.title.split()[-1], notice.severity) in {(w, "error") for w in ("saved", "written", "opened")}
            e.app.clear_notifications()
            await e.press("escape")
        assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == ["k.py"]


async def test_a_file_that_became_a_circle_of_links_is_not_saved_and_its_edits_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    async with explorer(path) as e:
        await e.press("#")
        path.unlink()
        path.symlink_to("k.py")
        await e.press("ctrl+s", "o")
        assert any("symbolic links" in notice.message for notice in e.app._notifications)
        assert e.main.dirty
        assert e.main.editor.text == f"#{SOURCE}"


def test_paths_that_may_be_anything() -> None:
    assert typed(" ~nosuchuser/a\0b ") == Path("~nosuchuser/ab")
    assert real("/tmp/../etc") == Path("/etc")


@pytest.mark.parametrize("text", ["{{}}", "{[]: 1}", "{}", "{1}", "b'x'", "1j", "...", "[1]", "1e999", hex(1 << 5000)])
def test_a_value_that_no_kernel_can_have_is_none(text: str) -> None:
    with pytest.raises(ValueError):
        literal(text)
    field = Field("value", "n", "5", "5")
    assert field.say(text) == "no Python number, string, True, False, None or type"
    assert field.good == "5"


def test_a_tuple_of_tuples_is_a_value() -> None:
    assert literal("(1, (2, None), 'a')") == (1, (2, None), "a")


@pytest.mark.parametrize("name", [LONG, "loop"])
def test_the_command_line_refuses_a_name_that_cannot_be(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    done = _explore(tmp_path, name, "--stages")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "cannot be read" in done.stderr


def test_the_command_line_refuses_a_value_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(SOURCE)
    done = _explore(tmp_path, "k.py", "--stages", "-D", "BLOCK={[]: 1}")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "-D BLOCK={[]: 1}" in done.stderr


def _explore(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", "explorer", *arguments]
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=300)


async def test_a_file_whose_name_is_no_text_opens(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"k\xff.py")
    async with explorer(path) as e:
        await e.press("#")
        e.main.write_swap()
        assert e.main.swap.file.exists()


@pytest.mark.parametrize("key", ["pageup", "pagedown"])
async def test_pages_of_a_palette_that_is_not_drawn_yet(tmp_path: Path, key: str) -> None:
    async with explorer(tmp_path / "k.py", size=(80, 24)) as e:
        await e.pilot.press("ctrl+p", key)
        await e.press("escape")
        assert e.app.screen is e.main


def test_help_in_a_terminal_of_no_width() -> None:
    assert help_lines("ssa", -2)[0] == "This pane: SSA"


async def test_the_folder_that_one_started_in_may_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in").mkdir()
    monkeypatch.chdir(tmp_path / "in")
    async with explorer(Path("k.py")) as e:
        (tmp_path / "in" / "k.py").unlink()
        (tmp_path / "in").rmdir()
        for key in ("E", "R", "ctrl+p", "S"):
            await e.press("escape", key)
            await e.press("escape", "escape")
        assert e.app.screen is e.main
