"""Several files: each keeps what is its own, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.cli import parse
from explorer.engine.messages import RunFinished
from explorer.model.files import Swap
from explorer.model.kernel_files import completions, kernel_count, kernel_files
from explorer.model.result import RunReport
from explorer.reading import BadInput, Misused
from tests.explorer.explorer_support import SOURCE, Explorer, explorer, settled

OTHER = SOURCE.replace("add_kernel", "other_kernel")


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two kernel files, and one that has none."""
    (tmp_path / "add.py").write_text(SOURCE)
    (tmp_path / "other.py").write_text(OTHER)
    (tmp_path / "plain.py").write_text("x = 1\n")
    return tmp_path / "add.py", tmp_path / "other.py"


async def go(e: Explorer, name: str) -> None:
    """Show another file, by its name."""
    await e.press("escape", "E")
    await e.app.workers.wait_for_complete()
    await e.press(*name, "enter")
    await settled(e.pilot)


async def test_each_file_keeps_its_edits_cursor_undo_and_results(two: tuple[Path, Path]) -> None:
    async with explorer(two[0]) as e:
        await e.press("x", "y", "down", "down")
        assert "1/" not in e.line("#header")
        await go(e, "other")
        assert e.main.editor.text == OTHER
        assert e.line("#header").startswith(" other.py 2/2 +1 [edited]")
        assert e.engine.opened[-1] == OTHER
        assert e.engine.compiled[-1].path == str(two[1])
        await e.answer(note="of the other")
        assert "of the other" in e.lines("ssa")
        await e.press("escape", "1", "z")
        await go(e, "add")
        assert e.line("#header").startswith(" add.py 1/2 [edited] +1 [edited]")
        assert e.main.editor.text == "xy" + SOURCE
        assert e.main.editor.cursor_location == (2, 0)
        assert "of the other" not in e.lines("ssa"), "the results are its own, before it is compiled again"
        assert e.lines("ssa")
        assert e.engine.compiled[-1].path == str(two[0])
        await e.press("escape", "1", "ctrl+z")
        assert e.main.editor.text in (SOURCE, "x" + SOURCE), "undo is its own, too"
        assert two[0].read_text() == SOURCE


async def test_what_the_engine_says_of_the_file_before_is_not_taken_for_this_one(two: tuple[Path, Path]) -> None:
    async with explorer(two[0], others=[str(two[1])]) as e:
        await e.press("escape", "r")
        generation = e.engine.generation
        assert e.main.session.running
        first = e.main
        await go(e, "other")
        assert e.engine.cancelled == 1, "a run ends with its file"
        assert not first.session.running
        e.engine.emit(RunFinished(generation, RunReport(True, "cpu")))
        await e.pilot.pause()
        assert e.main.session.report is None


async def test_files_of_the_command_line_and_of_the_folder(two: tuple[Path, Path]) -> None:
    (two[0].parent / "third.py").write_text(SOURCE)
    async with explorer(two[0], others=[str(two[1])]) as e:
        assert e.line("#header").startswith(" add.py 1/2")
        await e.press("escape", "E")
        await e.app.workers.wait_for_complete()
        await e.pilot.pause()
        labels = [str(option.prompt) for option in e.app.screen.query_one("OptionList").options]  # type: ignore[attr-defined]
        assert labels == ["add.py  shown", "other.py  open", "third.py  1 kernel"]
        await e.press("down", "down", "enter")
        await settled(e.pilot)
        assert e.line("#header").startswith(" third.py 3/3")


async def test_a_path_is_completed(two: tuple[Path, Path], tmp_path: Path) -> None:
    below = tmp_path / "below"
    below.mkdir()
    (below / "deep.py").write_text(OTHER)
    async with explorer(two[0]) as e:
        await e.press("escape", "E", *"./be", "tab", *"de", "tab", "enter")
        await settled(e.pilot)
        assert e.main.file.path == below / "deep.py"
        await e.press("escape", "E", *"/no/such/file.py", "enter")
        await e.pilot.pause()
        assert e.main.file.path == below / "deep.py"
        assert any("No such file" in note.message for note in e.app._notifications)
        await e.press("escape", "E", "escape")
        assert e.app.screen is e.main
        e.app.open_file(str(tmp_path / "some.mtx"))
        await e.pilot.pause()
        assert any("start mytriton-explore with it" in note.message for note in e.app._notifications)


async def test_quitting_asks_about_all_files(two: tuple[Path, Path]) -> None:
    async with explorer(two[0]) as e:
        await e.press("x")
        await go(e, "other")
        await e.press("escape", "1", "y", "f10")
        assert "add.py, other.py" in str(e.app.screen.query("Static").first().content)  # type: ignore[attr-defined]
        await e.press("s")
        await e.pilot.pause()
    assert not e.app.is_running
    assert two[0].read_text() == "x" + SOURCE
    assert two[1].read_text() == "y" + OTHER


async def test_quitting_asks_about_a_file_that_is_not_shown(two: tuple[Path, Path]) -> None:
    async with explorer(two[0]) as e:
        await e.press("x")
        await go(e, "other")
        await e.press("f10")
        assert "add.py" in str(e.app.screen.query("Static").first().content)  # type: ignore[attr-defined]
        await e.press("escape")
        assert e.app.is_running
        await e.press("f10", "d")
    assert two[0].read_text() == SOURCE
    assert Swap(str(two[0])).recover(SOURCE) is None


async def test_edits_of_each_file_are_recovered(two: tuple[Path, Path]) -> None:
    for path in two:
        lost = Swap(str(path))
        lost.write("# lost\n" + path.read_text())
        lost.close()
    async with explorer(two[0]) as e:
        await e.press("r")
        assert e.main.editor.text == "# lost\n" + SOURCE
        await go(e, "other")
        await e.press("r")
        assert e.main.editor.text == "# lost\n" + OTHER
        assert e.line("#header").startswith(" other.py 2/2 [edited] +1 [edited]")


async def test_a_file_that_changes_while_another_is_shown_is_read_when_it_is_shown_again(
    two: tuple[Path, Path],
) -> None:
    async with explorer(two[0]) as e:
        await go(e, "other")
        two[0].write_text("# theirs\n" + SOURCE)
        for _ in range(5):
            await e.pilot.pause(0.1)
        assert e.engine.opened[-1] == OTHER, "the engine stays with the file that is shown"
        await go(e, "add")
        for _ in range(10):
            await e.pilot.pause(0.1)
        assert e.main.editor.text == "# theirs\n" + SOURCE


async def test_files_that_are_left_are_kept(two: tuple[Path, Path]) -> None:
    async with explorer(two[0]) as e:
        await e.press("x")
        await go(e, "other")
        await e.press("escape", "1", "y")
        e.app.exit()  # as when something else ends it
    recovered = [Swap(str(path)).recover(path.read_text()) for path in two]
    assert [r.text if r is not None else "" for r in recovered] == ["x" + SOURCE, "y" + OTHER]
    assert e.engine.closed == 1


def test_kernels_are_counted_without_executing(tmp_path: Path) -> None:
    text = "@triton.jit\ndef a(): pass\n\n@jit\ndef b(): pass\n# @jit\nx = '@jit'\n    @mytriton.jit(x=1)\n"
    (tmp_path / "k.py").write_text(text)
    (tmp_path / "none.py").write_bytes(b"\xff\x00 nothing")
    assert kernel_count(tmp_path / "k.py") == 3
    assert kernel_count(tmp_path / "absent.py") == 0
    assert kernel_files(tmp_path) == [(tmp_path / "k.py", 2 + 1)]
    assert kernel_files(tmp_path / "absent") == []


def test_completions_are_python_files_and_folders(tmp_path: Path) -> None:
    for name in ("alpha.py", "album", "beta.py", ".hidden.py", "album.txt"):
        (tmp_path / name).mkdir() if name == "album" else (tmp_path / name).write_text("")
    assert [p.name for p in completions("", tmp_path)] == ["alpha.py", "beta.py", "album"]
    assert [p.name for p in completions("al", tmp_path)] == ["alpha.py", "album"]
    assert [p.name for p in completions(f"{tmp_path}/b", Path("/"))] == ["beta.py"]
    assert [p.name for p in completions(".h", tmp_path)] == [".hidden.py"]
    assert completions("nowhere/x", tmp_path) == []


def test_the_command_line_takes_files_and_folders(two: tuple[Path, Path]) -> None:
    options = parse([str(two[1]), str(two[0].parent)])
    assert (options.path, options.others) == (str(two[1]), (str(two[0]),))
    with pytest.raises(Misused, match="--stages is about one file, not 2"):
        parse([*map(str, two), "--stages"])
    (two[0].parent / "empty").mkdir()
    with pytest.raises(BadInput, match=r"no Python file in .*empty has a kernel"):
        parse([str(two[0].parent / "empty")])
