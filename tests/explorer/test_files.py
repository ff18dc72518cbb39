"""Saving, and keeping unsaved edits."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.model.files import SourceFile, Swap


def test_saving_keeps_mode_line_ends_and_links(tmp_path: Path) -> None:
    real = tmp_path / "real.py"
    real.write_bytes(b"a\r\nb\r\n")
    real.chmod(0o640)
    link = tmp_path / "link.py"
    link.symlink_to(real)
    file = SourceFile(str(link))
    assert file.saved == "a\r\nb\r\n"
    file.save("a\r\nc\r\n")
    assert link.is_symlink()
    assert real.read_bytes() == b"a\r\nc\r\n"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.py", "real.py"]


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
