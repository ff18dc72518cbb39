"""`--tune`, as text and as JSON, by a clock of the file's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from explorer.__main__ import main
from mytriton import backends

FILE = """\
import numpy as np
import mytriton as triton
import mytriton.language as tl

FIGURES = [2.0, 0.5, 0.625, 0.004]

def clock(fn, quantiles):
    fn()
    median = FIGURES.pop(0)
    return [median, median / 2, median * 2]

@triton.autotune(
    [triton.Config({"B": 16}), triton.Config({"B": 64}, 2), triton.Config({"B": 40}), triton.Config({"B": 8})],
    key=["n"], reset_to_zero=["out"], do_bench=clock,
    prune_configs_by={"early_config_prune": lambda configs, named, n, **rest: configs if n == 70 else configs[1:3]},
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["B"] == 0})
@triton.jit
def count(out, n, B: tl.constexpr, EVEN: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, i, mask=i < n)

@count.example(n=70)
@count.example(n=64)
def case(n):
    args = {"out": np.zeros(n, np.int32), "n": n, "B": 32}
    return triton.Example(args, lambda meta: (triton.cdiv(n, meta["B"]),), {"out": np.arange(n)})

@triton.jit
def plain(x):
    pass
"""


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MYTRITON_BACKEND", raising=False)
    Path("k.py").write_text(FILE)


def test_a_table_for_each_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["k.py", "--tune", "--backend", "interp"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == "count  case(n=70)  interp (interpreter)"
    assert rows[1].startswith("  4 configs in ")
    assert rows[1].endswith(", for 70, int32, backend=interp")
    assert rows[2:7] == [
        "     B   num_warps  num_stages  median    20% to 80%           of the best",
        "     16  4          3           2.00 ms   1.00 ms to 4.00 ms   x4.00",
        "  *  64  2          3           500.0 us  250.0 us to 1.00 ms",
        "     40  4          3           failed",
        "     8   4          3           625.0 us  312.5 us to 1.25 ms  x1.25",
    ]
    assert rows[7] == "  failed: B: 40, num_warps: 4, num_stages: 3"
    assert rows[8].startswith("    k.py:20:32: error[MT220]: ")
    assert "the length of tl.arange(0, 40) with B = 40 must be a power of 2, got 40" in rows[8]
    second = rows[rows.index("count  case(n=64)  interp (interpreter)") :]
    assert second[1].startswith("  2 of 4 after pruning configs in ")
    assert second[3].startswith("  *  64  2          3           ")


def test_tuning_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["k.py", "--tune", "--json", "--example", "0", "--kernel", "count", "--backend", "interp"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["schema"], found["file"], found["ok"]) == (1, "k.py", True)
    (run,) = found["runs"]
    assert (run["kernel"], run["example"], run["ok"], run["backend"]) == ("count", "case(n=70)", True, "interp")
    tuning = run["tuning"]
    assert (tuning["key"], tuning["best"], tuning["configs"]) == ([70, "int32", "backend=interp"], 1, 4)
    values = {"B": 64, "num_warps": 2, "num_ctas": 1, "num_stages": 3}
    assert tuning["trials"][1] == {"values": values, "median": 0.0005, "p20": 0.00025, "p80": 0.001, "error": ""}
    assert [bool(trial["error"]) for trial in tuning["trials"]] == [False, False, True, False]


def test_a_kernel_without_a_config_that_compiles(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.py").write_text(
        FILE.replace('"B": 16', '"B": 15').replace('"B": 64', '"B": 63').replace('"B": 8', '"B": 9')
    )
    assert main(["k.py", "--tune", "--backend", "interp", "--example", "0"]) == 1
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[-1] for row in rows[3:7]] == ["failed"] * 4
    assert sum(row.startswith("  failed: ") for row in rows) == 4


def test_examples_are_checked_in_the_first_config(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.py").write_text(FILE.replace(', "B": 32', ""))
    assert main(["k.py", "--check", "--json", "--backend", "interp"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [run["constexprs"] for run in runs] == [{"B": 16, "EVEN": False}, {"B": 16, "EVEN": True}]
    assert (
        main(["k.py", "--check", "--json", "--backend", "interp", "-D", "B=2", "--kernel", "count", "--example", "0"])
        == 0
    )
    assert json.loads(capsys.readouterr().out)["runs"][0]["constexprs"] == {"B": 2, "EVEN": True}


@pytest.mark.parametrize(
    ("argv", "block", "warps", "even"),
    [
        (["--config", "1", "--example", "1"], 64, 2, "True"),  # `n` is 64 there: heuristics are asked anew
        (["--config", "0", "-D", "B=2", "--num-warps", "1"], 2, 1, "False"),
        (["--config", "1", "--no-exec", "-D", "EVEN=True"], 64, 2, "True"),
    ],
)
def test_a_config_by_number(
    capsys: pytest.CaptureFixture[str], argv: list[str], block: int, warps: int, even: str
) -> None:
    assert main(["k.py", "--kernel", "count", "--json", "--show", "ssa,kernels", *argv]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["signature"].split(", ")[-2:] == [str(block), even]
    assert (found["num_warps"], found["config"]) == (warps, int(argv[1]))
    assert any(f"arange {{start=0, end={block}}}" in line["text"] for line in found["stages"][0]["lines"])
    configs = next(kernel for kernel in found["kernels"] if kernel["name"] == "count")["configs"]
    assert configs[1] == {"values": {"B": 64}, "num_warps": 2, "num_stages": 3}


def test_examples_run_in_a_config(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["k.py", "--check", "--json", "--kernel", "count", "--backend", "interp", "--config", "1"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [run["constexprs"] for run in runs] == [{"B": 64, "EVEN": False}, {"B": 64, "EVEN": True}]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--config", "4"], "there is no config '4'; there are 0 (B: 16, num_warps: 4, num_stages: 3), 1 (B: 64, "),
        (["--config", "x"], "--config x: configs of @autotune go by number, from 0, in the order they are written in"),
        (["--config", "0", "--tune"], "--config says what --tune chooses; leave one of them away"),
        (["--config", "0", "--kernel", "plain"], "--config 0: plain is not autotuned; put @autotune(configs, key)"),
    ],
)
def test_a_config_that_cannot_be(capsys: pytest.CaptureFixture[str], argv: list[str], message: str) -> None:
    kernel = [] if "--kernel" in argv else ["--kernel", "count"]
    assert main(["k.py", "--stages", *kernel, *argv] if "--tune" not in argv else ["k.py", *argv]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["-D", "B=16"], "-D B says what --tune chooses; leave one of them away"),
        (["--num-warps", "2"], "--num-warps says what --tune chooses; leave one of them away"),
        (["--kernel", "plain"], "plain is not autotuned; put @autotune(configs, key) above @jit"),
        (["--no-exec"], "--tune runs the file's examples, so it cannot go with --no-exec; leave one of them away"),
        (["--compare", "cpu"], "--compare A cannot go with --tune"),
    ],
)
def test_what_cannot_be_tuned(capsys: pytest.CaptureFixture[str], argv: list[str], message: str) -> None:
    assert main(["k.py", "--tune", "--backend", "interp", *argv]) == 2
    assert capsys.readouterr().err.strip() == f"mytriton-explore: {message}"


def test_files_without_something_to_tune(capsys: pytest.CaptureFixture[str]) -> None:
    Path("k.py").write_text(FILE.replace("@count.example", "@plain.example").replace("@plain.example(n=70)\n", ""))
    assert main(["k.py", "--tune", "--backend", "interp"]) == 2
    Path("p.py").write_text("import mytriton\n\n@mytriton.jit\ndef plain(x):\n    pass\n")
    assert main(["p.py", "--tune", "--backend", "interp"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        "mytriton-explore: no kernel of p.py is autotuned; put @autotune(configs, key) above @jit"
    )


def test_tuning_never_falls_back(capsys: pytest.CaptureFixture[str]) -> None:
    if (reason := backends.get("cuda").available()) is None:
        pytest.skip("there is a GPU here")
    assert main(["k.py", "--tune"]) == 3
    assert capsys.readouterr().err == f"backend cuda cannot run here: {reason}; --backend cpu tunes on the CPU\n"
