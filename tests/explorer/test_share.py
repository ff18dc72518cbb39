"""Sharing from the screen: what `O` copies and writes, and that nothing is overwritten without being told to."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.engine.messages import SLOW_STAGES
from explorer.share.bundle import read
from tests.explorer.bundles import shared
from tests.explorer.explorer_support import SOURCE, Explorer, explorer


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def listening(e: Explorer) -> list[tuple[str, str]]:
    """What the explorer says from now on: title and message."""
    said: list[tuple[str, str]] = []
    e.app.notify = lambda message, title="", **_: said.append((title, message))  # type: ignore[method-assign]
    return said


async def choose(e: Explorer, number: int, name: str = "") -> None:
    """Choose an entry of the list, and give the file that it asks for."""
    await e.press("O")
    await e.press(str(number))
    if name:
        question = e.app.screen.query_one("Input")
        question.value = name  # type: ignore[attr-defined]
        await e.press("enter")


async def done(e: Explorer) -> None:
    await e.pilot.pause()
    await e.app.workers.wait_for_complete()
    await e.pilot.pause()


async def test_copies(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape")
        for number, text in (
            (1, "%0 = program_id {axis=0} : i32"),
            (3, "No problems."),
            (4, f"mytriton-explore {tmp_path}/add.py --backend cuda --chip sm_90 --kernel add_kernel --example 0"),
        ):
            await choose(e, number)
            assert e.app.clipboard == text
        await choose(e, 2)
        assert e.app.clipboard.splitlines()[-1] == "store out, %3, %7, %4"
        await choose(e, 5)
        await done(e)
        assert e.app.clipboard.startswith("## add\\_kernel (add.py)\n")
        await e.press("1")
        await e.main.run_action("share")
        await e.pilot.pause()
        await e.press("1")
        assert e.app.clipboard == "import mytriton", "of the editor, too"
        await e.main.run_action("share")
        await e.pilot.pause()
        await e.press("2")
        assert e.app.clipboard == SOURCE


async def test_a_report_is_written_once_all_of_it_is_compiled(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        said = listening(e)
        await e.press("escape", "O", "6")
        assert e.app.screen.query_one("Input").value == "add.html"  # type: ignore[attr-defined]
        await e.press("enter")
        assert e.engine.compiled[-1].backends[0] == "cuda"
        assert e.engine.compiled[-1].wanted == SLOW_STAGES
        assert said == [("", "add.html is written once all of it is compiled; x (ctrl+g) gives it up.")]
        assert not Path("add.html").exists()
        e.engine.answer(slow=True)
        await done(e)
        assert said[1:] == [("Written", f"{Path('add.html').stat().st_size:,} bytes to add.html")]
        assert "add_kernel" in Path("add.html").read_text()
        assert e.engine.compiled[-1].wanted == (), "then only what is looked at"


async def test_a_file_that_is_there_stays_unless_one_says_so(tmp_path: Path) -> None:
    Path("add.md").write_text("mine")
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape")
        await choose(e, 7, "add.md")
        assert e.app.screen.question == "add.md is there already. Overwrite it?"  # type: ignore[attr-defined]
        await e.press("n")
        await done(e)
        assert Path("add.md").read_text() == "mine"
        await choose(e, 7, "add.md")
        await e.press("o")
        e.engine.answer(slow=True)
        await done(e)
        assert Path("add.md").read_text().startswith("## add\\_kernel")


async def test_a_file_that_appears_meanwhile_stays_too(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        said = listening(e)
        await e.press("escape")
        await choose(e, 7, "add.md")
        Path("add.md").write_text("mine")
        e.engine.answer(slow=True)
        await done(e)
        assert Path("add.md").read_text() == "mine"
        assert said[-1] == ("Not written", "[Errno 17] It is there already: 'add.md'")
        await choose(e, 7, "absent/add.md")
        e.engine.answer(slow=True)
        await done(e)
        assert said[-1][0] == "Not written"
        assert "No such file or directory" in said[-1][1]


async def test_giving_it_up(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        said = listening(e)
        await e.press("escape")
        await choose(e, 9, "add.mtx")
        await e.press("x")
        assert said[-1] == ("", "add.mtx is not written.")
        assert e.engine.cancelled == 1
        e.engine.answer(slow=True)
        await done(e)
        assert not Path("add.mtx").exists()


async def test_a_bundle_has_every_backend_and_the_unsaved_text(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("x", "escape")
        await e.answer()
        await choose(e, 9, "add.mtx")
        assert sorted(e.engine.compiled[-1].backends) == ["cpu", "cuda", "interp", "mlir"]
        e.engine.answer(slow=True)
        await done(e)
        b = read("add.mtx").b
        assert (b.text, b.saved) == (f"x{SOURCE}", False)
        assert sorted(build.backend for build in b.builds) == ["cpu", "cuda", "interp", "mlir"]
        assert (b.kernel, b.example, b.module.kernels[0].examples[0].label) == ("add_kernel", 0, "n=1000")  # type: ignore[union-attr]
        assert e.main.dirty


async def test_an_edit_meanwhile_is_in_it(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape")
        await choose(e, 9, "add.mtx")
        await e.press("1", "y")
        assert len(e.engine.compiled[-1].backends) == 4, "the newer text is compiled for all of them"
        e.engine.answer(slow=True)
        await done(e)
        assert read("add.mtx").b.text == f"y{SOURCE}"


async def test_a_picture(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape")
        await choose(e, 8, "add.svg")
        await done(e)
        text = Path("add.svg").read_text()
        assert text.startswith("<svg ")
        assert "program_id" in text
        assert "Share" not in text, "the screen, not the dialog"
        assert "url(" not in text.replace("url(#", ""), "no font is fetched"


def test_a_picture_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from explorer.share.bundle import write

    Path("add.mtx").write_bytes(write(shared()))
    assert main(["add.mtx", "--svg", "add.svg", "--size", "120x40"]) == 0
    assert capsys.readouterr().err == f"{Path('add.svg').stat().st_size:,} bytes to add.svg\n"
    text = Path("add.svg").read_text()
    for part in ("read-only", "program_id", "FAIL"):
        assert part in text
