"""`--bench`, as text and as JSON; and what `--check` says of what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.__main__ import main
from mytriton import backends

ADD = "examples/kernels/add.py"

WRONG = """\
import numpy as np
import mytriton
import mytriton.language as tl

@mytriton.jit
def count(out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.where(i < 64, i, -i), mask=i < n)

@count.example(n=70)
def case(n):
    args = {"out": np.zeros(n, np.int32), "n": n, "B": 32}
    return mytriton.Example(args, mytriton.cdiv(n, 32), {"out": np.arange(n)})
"""


def test_one_example_is_shown_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([ADD, "--bench", "--example", "1", "--backend", "interp", "--seconds", "0.01"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].startswith("PASS  add_kernel  add(n=1000)  interp (interpreter)  out: max abs 0, rel 0, 0 ulp")
    assert rows[1:3] == ["", "add_kernel on interp (interpreter)"]
    assert rows[3].startswith("median ")
    assert rows[4].startswith("moved ")
    assert " out of the L" in rows[4], "12 kB are in a cache of whatever there is"
    assert rows[6].startswith("roofline: not limited by memory, which gives ")
    assert rows[-2] == "a launch: 8 kB in, 4 kB out (each element once), 1.02 kFLOP of f32"


def test_all_examples_are_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    if (reason := backends.get("cpu").available()) is not None:
        pytest.skip(reason)
    assert main([ADD, "--bench", "--backend", "cpu", "--seconds", "0.01"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows[:3]] == ["PASS"] * 3
    assert rows[4] == "add_kernel on cpu (CPU)"
    assert [row.split()[0] for row in rows[5:9]] == ["example", "add(n=1)", "add(n=1000)", "add(n=98432)"]
    assert rows[9] == "by wall clock, caches as the run before left them"


def test_a_bench_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([ADD, "--bench", "--json", "--example", "1", "--backend", "interp", "--seconds", "0.01"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["ok"], found["file"]) == (1, True, ADD)
    (run,) = found["runs"]
    assert (run["kernel"], run["example"], run["verdict"]) == ("add_kernel", "add(n=1000)", "PASS")
    bench = run["bench"]
    assert (bench["read"], bench["written"], bench["bytes"]) == (8000, 4000, 12000)
    assert (bench["flops"], bench["total_flops"]) == ({"f32": 1024}, 1024)
    assert (bench["limit"], bench["share"], bench["cache"][0]) == ("", 0, "L")
    assert bench["bandwidth"] == pytest.approx(12000 / bench["median"])


def test_benching_never_falls_back(capsys: pytest.CaptureFixture[str]) -> None:
    if (reason := backends.get("cuda").available()) is None:
        pytest.skip("there is a GPU here")
    assert main([ADD, "--bench", "--backend", "cuda"]) == 3
    assert capsys.readouterr().err == f"backend cuda cannot run here: {reason}; --backend cpu benches on the CPU\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seconds", "2"], "--seconds says how long --bench times an example; give both"),
        (["--bench", "--seconds", "x"], "--seconds x: write a number of seconds above 0, at most 60"),
        (["--bench", "--seconds", "100"], "--seconds 100: write a number of seconds above 0, at most 60"),
        (
            ["--bench", "--no-exec"],
            "--bench runs the file's examples, so it cannot go with --no-exec; leave one of them away",
        ),
    ],
)
def test_mistakes(capsys: pytest.CaptureFixture[str], options: list[str], message: str) -> None:
    assert main([ADD, *options]) == 2
    assert capsys.readouterr().err == f"mytriton-explore: {message}\n"


def test_a_check_shows_where_it_is_wrong(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "k.py"
    path.write_text(WRONG)
    assert main([str(path), "--check", "--backend", "interp"]) == 1
    head, *rows = capsys.readouterr().out.splitlines()
    assert "6/70 wrong, first at [64]: -64, expected 64" in head
    assert [row.removeprefix(6 * " ") for row in rows] == [
        "written by program (2, 0, 0), lane 0 of its block, line 8",
        "which: the last, partial block: the last 6 elements",
        "#: all of a cell differ, o: some, N: some by NaN or inf, .: none",
        "a cell is one element; a row is a block of 32",
        "   0               16            31",
        " 0 " + 32 * ".",
        "32 " + 32 * ".",
        "64 ######",
    ]
