"""Saving, and keeping unsaved edits."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.model.files import SourceFile, Swap
from explorer.model.source_text import split_lines


def test_saving_keeps_mode_line_ends_and_links(tmp_path: Path) -> None:
    real = tmp_path / "real.py"
    real.write_bytes(b"a\r\nb\r\n")
    real.chmod(0o640)
    link = tmp_path / "link.py"
    link.symlink_to(real)
    file = SourceFile(str(link))
    assert file.saved == "a\nb\n"
    file.save("a\nc\n")
    assert link.is_symlink()
    assert real.read_bytes() == b"a\r\nc\r\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.py", "real.py"]


@pytest.mark.parametrize(
    ("data", "text", "saved"),
    [
        (b"a\r\nb", "a\nb", b"a\r\nb!"),
        (b"a\rb\r", "a\nb\n", b"a\rb\r!"),
        (b"a\r\nb\nc\n", "a\nb\nc\n", b"a\nb\nc\n!"),  # mixed: what most of its lines have
        (b"\xef\xbb\xbfa\n", "a\n", b"\xef\xbb\xbfa\n!"),
        (b"# coding: latin-1\n\xe9", "# coding: latin-1\n\xe9", b"# coding: latin-1\n\xe9!"),
        (
            b"a\x0cb\x0bc\x1cd\xc2\x85e\xe2\x80\xa8f",
            "a\fb\vc\x1cd\x85e\u2028f",
            b"a\x0cb\x0bc\x1cd\xc2\x85e\xe2\x80\xa8f!",
        ),
        (b"", "", b"!"),
    ],
)
def test_a_file_keeps_its_form(tmp_path: Path, data: bytes, text: str, saved: bytes) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(data)
    file = SourceFile(str(path))
    assert file.saved == text
    assert split_lines(text) == text.split("\n")
    file.save(text + "!")
    assert path.read_bytes() == saved
    assert file.changed_on_disk() is None


def test_a_character_that_the_encoding_lacks_is_not_saved(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(b"# coding: latin-1\n")
    with pytest.raises(UnicodeError, match="latin-1"):
        SourceFile(str(path)).save("# coding: latin-1\n\u20ac")
    assert path.read_bytes() == b"# coding: latin-1\n"
    SourceFile(str(path)).save("# coding: utf-8\n\u20ac")
    assert path.read_bytes() == b"# coding: utf-8\n\xe2\x82\xac"


def test_a_read_only_file_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_text("old")
    file = SourceFile(str(path))
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write to any
    with pytest.raises(PermissionError, match="The file is read-only"):
        file.save("new")
    assert path.read_text() == "old"


@pytest.mark.parametrize("folder", ["/dev/null", "/proc/self", "/" + "x" * 300])
def test_where_no_swap_file_is_possible(folder: str) -> None:
    swap = Swap("a.py", Path(folder) / "swap")
    assert swap.recover("") is None
    with pytest.raises(OSError, match="Errno"):
        swap.write("text")
    swap.clear()
    swap.close()


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.py"
    path.write_text("old")
    file = SourceFile(str(path))

    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        file.save("new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.py"]


def test_changes_on_disk_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("one")
    file = SourceFile(str(path))
    assert file.changed_on_disk() is None
    path.write_text("two")
    assert file.changed_on_disk() == "The file was changed by another program."
    path.unlink()
    assert file.changed_on_disk() == "The file is gone from the disk."
    file.save("mine")
    assert path.read_text() == "mine"


def test_edits_of_a_killed_process_come_back_and_those_of_a_live_one_do_not(tmp_path: Path) -> None:
    path, state = tmp_path / "a.py", tmp_path / "state"
    path.write_text("saved")
    code = (
        "import os, sys; from pathlib import Path; from explorer.model.files import Swap\n"
        f"swap = Swap({str(path)!r}, Path({str(state)!r})); swap.write('edited')\n"
        "print('written', flush=True); sys.stdin.read()"
    )
    writer = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline() == b"written\n"
    assert Swap(str(path), state).recover("saved") is None
    writer.kill()
    writer.communicate()
    recovered = Swap(str(path), state).recover("saved")
    assert recovered is not None
    assert recovered.text == "edited"
    assert Swap(str(path), state).recover("edited") is None, "what was saved meanwhile is not offered"
    assert list(state.glob("*.json")) == []


def test_a_damaged_swap_file_is_passed_over(tmp_path: Path) -> None:
    swap = Swap(str(tmp_path / "a.py"), tmp_path / "state")
    swap.write("text")
    swap.file.write_text("{")
    swap.close()
    assert Swap(str(tmp_path / "a.py"), tmp_path / "state").recover("") is None
