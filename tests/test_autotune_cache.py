"""Autotuning: timings on the disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from math import inf
from pathlib import Path

import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton import Config, timings
from tests.autotuning import CONFIGS, Clock, launch, tuned


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(timings, "cache_folder", lambda: tmp_path / "autotune")
    return tmp_path / "autotune"


def test_timings_are_kept_for_later_processes(folder: Path) -> None:
    configs = [*CONFIGS[:2], Config({"BLOCK": 100})]
    launch(tuned(Clock(3, 1), configs, cache_results=True))
    (path,) = folder.iterdir()
    assert path.name.startswith("body-")
    kept = json.loads(path.read_text())
    assert (kept["kernel"], kept["key"]) == ("body", [100, "float32", "float32", "backend=interp"])
    assert kept["best"] == "BLOCK: 64, num_warps: 2, num_stages: 3"
    assert [row["milliseconds"] for row in kept["configs"]] == [[3.0, 2.75, 3.5], [1.0, 0.75, 1.5], None]
    assert kept["configs"][1]["config"] == {"BLOCK": 64, "num_warps": 2, "num_ctas": 1, "num_stages": 3}
    assert "power of 2" in kept["configs"][2]["error"]
    again = tuned(Clock(), configs, cache_results=True)
    assert launch(again).config is configs[1]
    assert again.configs_timings == {configs[0]: [3, 2.75, 3.5], configs[1]: [1, 0.75, 1.5], configs[2]: [inf] * 3}


def test_timings_are_for_one_kernel_one_list_of_configs_one_key_and_one_target(folder: Path) -> None:
    launch(tuned(Clock(3, 1, 2), cache_results=True))
    launch(tuned(Clock(3, 1, 2), cache_results=True), 200)
    launch(tuned(Clock(3, 1), CONFIGS[:2], cache_results=True))
    launch(tuned(Clock(3, 1, 2), cache_results=True), enable_fp_fusion=False)

    @triton.jit
    def body(x, out, n, BLOCK: tl.constexpr):
        pass

    launch(triton.autotune(CONFIGS, ["n"], do_bench=Clock(3, 1, 2), cache_results=True)(body))
    assert len(list(folder.iterdir())) == 5
    launch(tuned(Clock(), cache_results=True))


def test_a_damaged_file_is_measured_anew(folder: Path) -> None:
    launch(tuned(Clock(3, 1, 2), cache_results=True))
    (path,) = folder.iterdir()
    whole = path.read_text()
    for damaged in ("", whole[:-40], "[]", "{}", whole.replace("2.75", '"x"')):
        path.write_text(damaged)
        assert launch(tuned(Clock(1, 2, 3), cache_results=True)).config is CONFIGS[0]
    assert [p.name for p in folder.iterdir()] == [path.name]


def test_nothing_is_kept_unless_asked_nor_where_a_hook_takes_part(folder: Path) -> None:
    launch(tuned(Clock(3, 1, 2)))
    launch(tuned(Clock(3, 1), [Config({"BLOCK": 32}, pre_hook=lambda a: None), CONFIGS[1]], cache_results=True))
    assert not folder.exists()


def test_a_folder_that_cannot_be_written_is_a_warning(folder: Path) -> None:
    folder.write_text("a file")
    with pytest.warns(RuntimeWarning, match="autotuning's timings could not be kept in .*body-"):
        assert launch(tuned(Clock(3, 1, 2), cache_results=True)).config is CONFIGS[1]


PROGRAM = """\
import math
import numpy as np
import mytriton as triton
import mytriton.language as tl
import helpers

FACTOR = tl.constexpr(2)

@triton.autotune([triton.Config({"B": 16}), triton.Config({"B": 32})], key=["n"], cache_results=True)
@triton.jit
def k(x, n, B: tl.constexpr):
    at = tl.arange(0, B)
    tl.store(x + at, helpers.twice(FACTOR * tl.exp(at.to(tl.float32)) + math.pi), mask=at < n)

k[(1,)](np.zeros(8, np.float32), 8, backend="interp")
print(k.tuning.seconds)
"""


def test_another_process_finds_them(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text("import mytriton as triton\n@triton.jit\ndef twice(x):\n    return x + x\n")
    (tmp_path / "program.py").write_text(PROGRAM)
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, str(tmp_path / "program.py")]
    first, second = (subprocess.run(command, capture_output=True, text=True, env=env, check=True) for _ in range(2))
    assert first.stdout == second.stdout, "the same measurement"
    (path,) = (tmp_path / "cache" / "mytriton" / "autotune").iterdir()
    assert json.loads(path.read_text())["key"] == [8, "float32", "backend=interp"]
