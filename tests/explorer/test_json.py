"""`--json` and the other twins of what the panes show."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from explorer.__main__ import main
from explorer.cli import parse
from explorer.gathering import Gathering
from explorer.model.result import LineView, RunReport, StageView
from explorer.share import bundle, document
from explorer.share.record import Made, shared
from tests.explorer.command_line import file, refused
from tests.explorer.test_compare import session

KERNEL = """\
import numpy as np
import mytriton
import mytriton.language as tl


@mytriton.jit
def fill(x, B: tl.constexpr):
    offs = tl.arange(0, B)
    tl.store(x + offs, 8.0 + tl.load(x + offs) * 1.0)


@fill.example(n=32)
def case(n):
    expected = {"x": np.full(n, 8.0, np.float32)}
    return mytriton.Example(args={"x": np.zeros(n, np.float32), "B": n}, grid=1, expected=expected)
"""
ALWAYS = [
    *(
        "schema",
        "file",
        "backend",
        "chip",
        "num_warps",
        "kernel",
        "example",
        "signature",
        "constexprs",
        "config",
        "pipeline",
        "schedule",
        "planned",
    ),
    *("ok", "versions", "python"),
]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The kernel, compiled for `interp` and run, as a bundle: most questions need no compiler of their own."""
    path = tmp_path_factory.mktemp("compiled") / "k.py"
    path.write_text(KERNEL)
    options = replace(parse([str(path), "--backend", "interp", "--json"]), path="k.py")

    async def gathered() -> bytes:
        gathering = Gathering(options)
        module = await gathering.open()
        gathering.select(gathering.kernel(module), 0)
        await gathering.compile()
        await gathering.run(gathering.session, fallback=True)
        await gathering.close()
        return bundle.write(shared(gathering.session))

    return asyncio.run(gathered())


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: bytes) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MYTRITON_BACKEND", raising=False)
    file("k.py", KERNEL)
    file("k.mtx", compiled)


def asked(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0, of: str = "k.py") -> Any:
    """What a command prints, as JSON."""
    assert main([of, *argv, "--json"]) == code
    return json.loads(capsys.readouterr().out, parse_constant=pytest.fail)


def test_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "--backend", "interp", "-D", "B=64")
    assert list(found) == [*ALWAYS, "stages", "source", "problems", "resources", "history", "kernels", "log"]
    assert found["schema"] == 1
    assert (found["file"], found["kernel"], found["example"]) == ("k.py", "fill", "case(n=32)")
    assert (found["signature"], found["constexprs"]) == ("*fp32:16, 64", {"B": 64})
    assert found["source"] == {"text": KERNEL, "saved": True}
    assert [stage["name"] for stage in found["stages"]] == found["planned"]
    fold = next(stage for stage in found["stages"] if stage["name"] == "opt/fold")
    assert (fold["status"], fold["ok"], fold["cause"], fold["ops"]) == ("ok", True, None, {"before": 7, "after": 6})
    change = {
        "pass_name": "fold",
        "rule": "mul_one",
        "before": "%3 = mul %2, 1.0 : vector<64 x f32>",
        "after": "%2",
        "why": "x * 1 = x",
        "line": 9,
    }
    assert fold["changes"] == [change]
    assert fold["lines"][0]["text"] == "%0 = arange {start=0, end=64} : vector<64 x i32>"
    assert (fold["lines"][0]["line"], fold["lines"][0]["column"], fold["lines"][0]["values"]) == (8, 12, ["%0"])
    assert found["resources"]["registers"] is None
    assert found["resources"]["missing"] == "interp: no code is made, no GPU resources"
    assert (found["kernels"][0]["params"][1]["name"], found["kernels"][0]["params"][1]["constexpr"]) == ("B", True)
    assert found["log"] == []


def test_what_is_selected(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "--show", "opt/fold, problems,run", "--diff", of="k.mtx")
    assert list(found) == [*ALWAYS, "stages", "problems", "run"]
    (fold,) = found["stages"]
    rows = [(row["sign"], row["text"], row["line"]) for row in fold["diff"]["rows"] if row["sign"]]
    assert fold["diff"]["against"] == "ssa"
    assert rows[0] == ("-", "%3 = mul %2, 1.0 : vector<32 x f32>", 9)
    assert (found["run"]["verdict"], found["run"]["backend"], found["run"]["example"]) == (
        "PASS",
        "interp",
        "case(n=32)",
    )
    assert found["run"]["outputs"][0]["mismatches"] == 0
    stages = asked(capsys, "--stages", of="k.mtx")["stages"]
    assert [stage["name"] for stage in stages][:3] == ["source", "tree", "ssa"]
    assert not any("lines" in stage for stage in stages)
    (ssa,) = asked(capsys, "--print", "ssa", of="k.mtx")["stages"]
    assert ssa["lines"][-1]["text"] == "store %5, %4"


def test_a_gpu_build(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "--show", "sass,ptx,resources")
    ptx, sass = found["stages"]
    if sass["status"] == "skipped":
        pytest.skip(sass["cause"])
    assert [stage["name"] for stage in (ptx, sass)] == ["ptx", "sass"]
    controls = [line["control"] for line in sass["lines"] if "control" in line]
    assert len(controls) == found["resources"]["instructions"]
    assert all(list(control) == ["wait", "read", "write", "yield", "stall"] for control in controls)
    assert found["resources"]["registers"] > 0
    assert found["resources"]["spills"] == 0


def test_a_control_code() -> None:
    code = "/*0060*/ [01---- r2 w- y s05] IMAD R0, R0, 0x80, R3 ;"
    assert document._line(LineView(code, 3), "sass") == {
        "text": code,
        "line": 3,
        "control": {"wait": [0, 1], "read": 2, "write": None, "yield": True, "stall": 5},
    }


def test_a_kernel_with_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    file("k.py", KERNEL.replace("tl.store(", "tl.stoer("))
    found = asked(capsys, "--backend", "interp", "--show", "problems,stages", code=1)
    (problem,) = found["problems"]
    assert (problem["path"], problem["line"], problem["column"], problem["severity"]) == ("k.py", 9, 5, "error")
    assert "tl.stoer" in problem["message"] or "stoer" in problem["message"]
    assert "store" in problem["hint"]
    assert found["ok"] is False
    assert found["stages"][-1]["status"] == "failed"
    assert found["stages"][-1]["cause"].startswith("9:5 ")


def test_the_check(capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "--check", "--backend", "interp")
    assert (found["ok"], len(found["runs"]), found["runs"][0]["verdict"]) == (True, 1, "PASS")
    file("k.py", KERNEL.replace("8.0 + tl", "9.0 + tl"))
    found = asked(capsys, "--check", "--backend", "interp", code=1)
    assert (found["ok"], found["runs"][0]["outputs"][0]["mismatches"]) == (False, 32)
    from mytriton import backends

    if (reason := backends.get("cuda").available()) is not None:
        found = asked(capsys, "--check", code=3)
        assert found["error"] == f"backend cuda cannot run here: {reason}; --backend cpu checks on the CPU"


def test_numbers_that_json_lacks_are_strings() -> None:
    made = session("interp", StageView("ssa", "ir", "ssa"))
    made.report = RunReport(False, "cpu", seconds=float("inf"))
    made._run_text = made.text
    found = document.document(made, ("run",), made=Made())
    assert found["run"]["seconds"] == "inf"
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_the_comparison(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["k.py", "--compare", "B=64", "--backend", "interp"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[:3] == [
        "A  interp sm_90 4 warps  fill(*fp32:16, 64)",
        "   B=64",
        "B  interp sm_90 4 warps  fill(*fp32:16, 32)",
    ]
    assert "run time                         -        -         --check runs both" in rows
    found = asked(capsys, "--compare", "cpu", "--backend", "interp", "--show", "comparison,opt/dce")
    assert found["comparison"]["a"]["backend"] == "cpu"
    assert found["comparison"]["a"]["label"] == "backend cpu"
    by_name = {stage["name"]: stage for stage in found["comparison"]["stages"]}
    assert by_name["ssa"]["ops"] == [7, 7]
    assert by_name["llvm"]["lines"][1] is None
    assert found["comparison"]["source"] == []
    assert found["stages"][0]["compared"]["note"] == "A and B are the same"


def test_a_listing_as_the_pane_shows_it(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["k.mtx", "--print", "opt/fold"]
    assert main([*argv, "--diff"]) == 0
    said = capsys.readouterr()
    assert said.err == "# diff against ssa\n"
    assert said.out.splitlines()[2:4] == [
        "  %2 = load %1 : vector<32 x f32>",
        "- %3 = mul %2, 1.0 : vector<32 x f32>",
    ]
    assert main([*argv, "--log"]) == 0
    assert capsys.readouterr().out == (
        "line 9: %3 = mul %2, 1.0 : vector<32 x f32>\n    -> %2    x * 1 = x  (fold/mul_one)\n"
    )
    assert main(["k.py", "--backend", "interp", "--print", "opt/fold", "--compare", "B=64"]) == 0
    said = capsys.readouterr()
    assert said.err == "# A against B\n"
    assert said.out.splitlines()[:2] == [
        "- %0 = arange {start=0, end=64} : vector<64 x i32>",
        "+ %0 = arange {start=0, end=32} : vector<32 x i32>",
    ]


def test_the_times_of_both(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["k.py", "--check", "--compare", "cpu", "--backend", "interp"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].startswith("PASS  fill  case(n=32)  interp (interpreter)  x: ")
    assert any(row.startswith("run time  ") and row.endswith("  on cpu and interp") for row in rows)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--show", "ssa"], "--show says what --json prints; give both, and none of --stages, --print, --check and"),
        (["--diff"], "--diff says how --print shows a stage, or --json; give one of them"),
        (["--log", "--stages"], "--log says how --print shows a stage; give both"),
        (["--print", "ssa", "--log", "--diff"], "argument --diff: not allowed with argument --log"),
        (["--print", "ssa", "--diff", "--compare", "cpu"], "--compare A cannot go with --diff or --log"),
        (["--stages", "--compare", "cpu"], "--compare A cannot go with --stages"),
        (["--size", "80x24"], "--size says how large the picture of --svg is; give both"),
        (["--svg", "x.svg", "--size", "80"], "--size 80: write columns and rows as in 120x40, from 40x10 to 500x200"),
        (["--report", "x.pdf"], "--report x.pdf: the name must end in .html or .md"),
        (["--report", "k.py.md", "--json"], "--report writes files, and --json prints; leave one of them away"),
        (["--bundle", "k.py"], "k.py is there already; --overwrite replaces it"),
        (
            ["--json", "--show", "sssa"],
            "there is no pane or stage 'sssa'; did you mean 'ssa'? there are source, stages",
        ),
        (["--json", "--show", "llvm"], "there is no stage 'llvm' on backend interp; give --backend mlir"),
        (["--compare", "smm"], "there is no build to compare with 'smm', nor is it NAME=VALUE or a bundle; "),
        (["--compare", "B=x"], "-D B=x: 'x' is not a Python number, string, True, False or None"),
        (["--compare", "C=3"], "`fill` has no parameter `C`; its parameters are x, B"),
        (["--compare", "commit"], "--compare commit: there is no last commit to compare with: fatal: not a git repo"),
        (["--compare", "no.mtx"], "--compare: no.mtx cannot be read (No such file or directory)"),
    ],
)
def test_what_does_not_go_together(capsys: pytest.CaptureFixture[str], argv: list[str], message: str) -> None:
    of_bundle = argv[0] == "--json" or argv[-1] in ("smm", "no.mtx", "B=x")
    said = refused(capsys, "k.mtx" if of_bundle else "k.py", "--backend", "interp", *argv)
    assert said.startswith(f"mytriton-explore: {message}"), said


def test_the_last_commit(capsys: pytest.CaptureFixture[str]) -> None:
    import subprocess

    who = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for argv in (["init", "-q"], ["add", "k.py"], [*who, "commit", "-qm", "k"]):
        subprocess.run(["git", *argv], check=True)
    file("k.py", KERNEL.replace(" * 1.0", ""))
    found = asked(capsys, "--compare", "commit", "--backend", "interp", "--show", "comparison")["comparison"]
    assert next(stage for stage in found["stages"] if stage["name"] == "ssa")["ops"] == [7, 6]
    assert [row for row in found["source"] if row[0] in "+-" and row[1] == " "] == [
        "-    tl.store(x + offs, 8.0 + tl.load(x + offs) * 1.0)",
        "+    tl.store(x + offs, 8.0 + tl.load(x + offs))",
    ]
