"""Compiled code kept on disk: what is found is what would be made, and whatever happens to files costs only time."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import mytriton
import mytriton.language as tl
from mytriton import cache
from mytriton.backends.cuda import backend as cuda
from mytriton.backends.mlir import backend as mlir
from mytriton.backends.nvidia import disasm, nvjitlink, nvrtc
from mytriton.cache import Entry
from mytriton.reproducer import reproducer
from mytriton.stage import Compilation
from mytriton.target import Target

SIGNATURE = "*fp32:16, *fp32:16, *fp32:16, i32, 256"


@mytriton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out + offs, tl.load(x + offs, mask=mask) + tl.load(y + offs, mask=mask), mask=mask)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of this test's own."""
    where = tmp_path / "kept"
    monkeypatch.setenv("MYTRITON_CACHE_DIR", str(where))
    return where


def entry(*inputs: str) -> Entry:
    return Entry("test", inputs, (sys.executable,), (__file__,))


def files(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.exists() else []


# --- the stages -------------------------------------------------------------------------------------------------------


def compiled(backend: str, until: str = "cubin", **options: object) -> Compilation:
    add_kernel.clear_cache()
    made = add_kernel.compile(SIGNATURE, target=Target(backend, **options)).run(until)
    made.raise_if_failed()
    return made


def never(*_: object, **__: object) -> None:
    raise AssertionError("compiled again")


@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_a_second_compilation_runs_no_native_compiler_and_shows_the_same(backend, monkeypatch):
    if backend == "mlir":
        pytest.importorskip("mlir.ir", reason="needs the MLIR bindings", exc_type=ImportError)
    first = compiled(backend)
    texts = {stage.name: stage.text for stage in first.stages}
    for module, name in ((nvrtc, "compile_ptx"), (nvjitlink, "link"), (mlir, "ModuleRun")):
        monkeypatch.setattr(module, name, never)
    second = compiled(backend)
    assert {stage.name: stage.text for stage in second.stages} == texts
    for old, new in zip(first.stages, second.stages, strict=True):
        native = new.name in ("ptx", "cubin") or (new.name.startswith("mlir/") and new.name != "mlir/emit")
        assert old.status in ("ok", "no change")
        assert new.status == ("cached" if native and old.status == "ok" else old.status), new.name
        assert new.lines == old.lines and new.stats == old.stats
        if native:
            assert new.artifact == old.artifact


def test_sass_is_kept_too(monkeypatch):
    pytest.importorskip("mlir.ir", reason="needs the MLIR bindings", exc_type=ImportError)
    listing, cached = disasm.kept_disassembly(compiled("mlir").stage("cubin").artifact)
    assert not cached
    monkeypatch.setattr(disasm, "disassemble", never)
    found = compiled("mlir", "sass").stage("sass")
    assert found.artifact == listing and found.status == "cached" and "STG" in found.text


def test_another_chip_option_or_compiler_is_another_result(monkeypatch):
    assert compiled("cuda").stage("ptx").status == "ok"
    for options in ({"chip": "sm_80"}, {"enable_fp_fusion": False}, {"num_warps": 2}):
        assert compiled("cuda", "ptx", **options).stage("ptx").status == "ok"
        assert compiled("cuda", "ptx", **options).stage("ptx").status == "cached"
    for name in ("tool_identity", "source_identity"):
        with monkeypatch.context() as patch:
            patch.setattr(cache, name, lambda path: "another version")
            assert [stage.status for stage in compiled("cuda").stages[-2:]] == ["ok", "ok"]
    assert compiled("cuda").stage("cubin").status == "cached"


def test_what_was_refused_is_not_kept(folder, monkeypatch):
    def refuse(*_: object) -> None:
        raise cuda.ToolFailed("NVRTC: no")

    monkeypatch.setattr(nvrtc, "compile_ptx", refuse)
    add_kernel.clear_cache()
    assert add_kernel.compile(SIGNATURE).run("ptx").failed.name == "ptx"
    assert files(folder) == []


def test_a_reproducer_of_a_cached_stage_has_its_input():
    ptx = compiled("cuda").stage("ptx").text
    again = compiled("cuda")
    assert again.stage("cubin").status == "cached"
    made = reproducer(again, add_kernel.kernel, "cubin", text=Path(__file__).read_text())
    assert made.files["input.ptx"] == ptx and "import link" in made.files["rerun.py"]  # not from the cache


# --- files ------------------------------------------------------------------------------------------------------------


def test_parts_come_back_also_in_another_process(folder):
    parts = {"a": b"\0\1\n", "empty": b"", "b": bytes(range(256)) * 40}
    entry("x", "y").write(parts)
    assert entry("x", "y").read() == parts
    assert entry("xy", "").read() is None and entry("x").read() is None
    code = "import sys; from mytriton.cache import Entry; "
    code += f"print(len(Entry('test', ('x', 'y'), (sys.executable,), ({__file__!r},)).read()['b']))"
    env = {**os.environ, "PYTHONPATH": str(Path(cache.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert done.stdout == "10240\n"
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_damaged_or_foreign_file_is_ignored_and_replaced(folder):
    entry("x").write({"a": b"1234567890"})
    (path,) = files(folder)
    whole = path.read_bytes()
    entry("y").write({"a": b"1234567890"})
    (other,) = (p for p in files(folder) if p != path)
    changed = [whole[:i] + bytes([whole[i] ^ 1]) + whole[i + 1 :] for i in range(len(whole))]
    for bad in (
        b"",
        b"#!/bin/sh\n",
        other.read_bytes(),
        whole + b"\0",
        *(whole[:i] for i in range(0, len(whole), 7)),
        *changed,
    ):
        path.write_bytes(bad)
        assert entry("x").read() is None
    entry("x").write({"a": b"1234567890"})
    assert path.read_bytes() == whole and len(files(folder)) == 2
    path.unlink()
    path.mkdir()
    entry("x").write({"a": b"1"})
    assert entry("x").read() is None and len(files(folder)) == 2


def test_no_folder_no_room_and_no_permission_are_no_errors(folder, monkeypatch, tmp_path):
    def full(self: Path, data: bytes) -> None:
        self.touch()
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        entry("x").write({"a": b"1"})
    assert files(folder) == [] and folder.exists()
    (tmp_path / "file").write_text("")
    for where in (str(tmp_path / "file"), str(tmp_path / "file" / "below"), "/proc/nowhere", ""):
        monkeypatch.setenv("MYTRITON_CACHE_DIR", where)
        entry("x").write({"a": b"1"})
        assert entry("x").read() is None
    assert compiled("cuda").stage("cubin").status == "ok"
    monkeypatch.setenv("MYTRITON_CACHE_DIR", str(folder))
    missing = Entry("test", (), ("/nowhere/libnvrtc.so",), ())
    missing.write({"a": b"1"})
    assert missing.read() is None and files(folder) == []


def test_what_was_used_longest_ago_goes_first(folder, monkeypatch):
    monkeypatch.setenv("MYTRITON_CACHE_MB", "0.5")
    monkeypatch.setattr(cache._Written, "bytes", 0.0)
    for number in range(5):
        entry(str(number)).write({"a": bytes(100_000)})
    for age, path in enumerate(files(folder)):
        os.utime(path, (time.time() - 9000 - age,) * 2)
    left = folder / "x.tmp"
    left.write_bytes(b"")
    os.utime(left, (time.time() - 9000,) * 2)
    (folder / "mine.txt").write_text("of no concern")
    (folder / "y.tmp").write_text("being written")
    assert entry("0").read() is not None  # is now the one used last
    entry("5").write({"a": bytes(100_000)})
    kept = [number for number in range(6) if entry(str(number)).read() is not None]
    assert len(kept) == 3 and {0, 5} < set(kept)  # three quarters of the room, with what was used and written last
    assert sorted(p.name for p in files(folder) if p.suffix != ".kept") == ["mine.txt", "y.tmp"]
    entry("large").write({"a": bytes(600_000)})
    assert entry("large").read() is None


def test_the_size_of_the_environment(monkeypatch):
    for text, megabytes in {"2": 2, "": 512, "lots": 512, "inf": 512, "-1": 0}.items():
        monkeypatch.setenv("MYTRITON_CACHE_MB", text)
        assert cache.limit() == megabytes << 20


def test_writers_and_readers_at_once_never_see_a_part(folder):
    wrong: list[object] = []

    def work(letter: bytes) -> None:
        for _ in range(40):
            entry("x").write({"a": letter * 50_000})
            found = entry("x").read()
            if found is None or len(set(found["a"])) != 1 or len(found["a"]) != 50_000:
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(letter,)) for letter in (b"a", b"b", b"c")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and len(files(folder)) == 1
