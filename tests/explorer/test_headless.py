"""The command line's headless twins: stages, checks, JSON, reproducers, and what surrounds them."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from explorer.__main__ import main
from mytriton.passes import PASSES
from tests.explorer.command_line import ADD, GOOD, ONE, file, refused


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MYTRITON_BACKEND", raising=False)


def test_stages(capsys: pytest.CaptureFixture[str]) -> None:
    file("k.py", GOOD)
    assert main(["k.py", "--stages", "--backend", "interp"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert [row[0] for row in rows] == ["source", "tree", "ssa", *(f"opt/{p.name}" for p in PASSES)]
    assert rows[2][1] == "ok"


def test_print_stops_at_the_stage(capsys: pytest.CaptureFixture[str]) -> None:
    file("k.py", GOOD)
    assert main(["k.py", "--print", "ssa", "-D", "B=64"]) == 0
    text = (
        "%0 = arange {start=0, end=64} : vector<64 x i32>\n%1 = addptr x, %0 : vector<64 x ptr<f32>>\nstore %1, 1.0\n"
    )
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("*fp32", "the constexpr parameter `B` of `fill` is not given"),
        ("*float, 8", "'*float' is not a type of a signature"),
    ],
)
def test_print_says_what_is_wrong_with_the_signature(
    capsys: pytest.CaptureFixture[str], signature: str, message: str
) -> None:
    file("k.py", GOOD)
    argv = ["k.py", "--no-exec", "--print", "opt", "--backend", "interp", "--signature", signature]
    assert message in refused(capsys, *argv)


def test_types_nobody_gave_are_guessed_and_said(capsys: pytest.CaptureFixture[str]) -> None:
    file("k.py", GOOD)
    assert main(["k.py", "--no-exec", "--print", "ssa", "--backend", "interp"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("%0 = arange {start=0, end=16} : vector<16 x i32>\n")
    assert said.err.startswith("warning[MT973]: the types are guessed from names and uses: *fp32:16, 16\n")
    assert main(["k.py", "--no-exec", "--print", "ssa", "--backend", "interp", "-D", "B=64"]) == 0
    assert "uses: *fp32:16, 64\n" in capsys.readouterr().err


@pytest.mark.parametrize(("family", "backend"), [("mlir", "mlir"), ("llvm", "mlir"), ("asm", "cpu"), ("cuda", "cuda")])
def test_print_says_which_backend_has_the_stage(capsys: pytest.CaptureFixture[str], family: str, backend: str) -> None:
    file("k.py", GOOD)
    message = refused(capsys, "k.py", "--print", family, "--backend", "interp")
    assert message == f"mytriton-explore: there is no stage '{family}' on backend interp; give --backend {backend}\n"


def test_a_reader_that_goes_away_is_no_failure_to_report() -> None:
    file("k.py", GOOD)
    command = [sys.executable, "-m", "explorer", "k.py", "--print", "ssa", "--backend", "interp"]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_kernel_that_does_not_compile(capsys: pytest.CaptureFixture[str]) -> None:
    file("k.py", GOOD.replace("tl.store(x +", "tl.stor(x +"))
    assert main(["k.py", "--stages", "--backend", "interp"]) == 1
    captured = capsys.readouterr()
    assert captured.out.splitlines()[-1].split()[1] == "failed"
    assert "k.py:7:5: error[" in captured.err


def test_json_is_strict_and_whole(capsys: pytest.CaptureFixture[str]) -> None:
    file("k.py", GOOD)
    assert main(["k.py", "--json", "--backend", "interp", "--num-warps", "8"]) == 0
    found = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert (found["ok"], found["kernel"], found["num_warps"]) == (True, "fill", 8)
    assert found["signature"] == "*fp32:16, 32"
    ssa = next(s for s in found["stages"] if s["name"] == "ssa")
    assert ssa["lines"][2] == {
        "text": "store %1, 1.0",
        "line": 7,
        "column": 5,
        "end_line": 7,
        "end_column": 39,
        "values": ["%1", "%0"],
    } | {"values": ssa["lines"][2]["values"]}


def test_check(capsys: pytest.CaptureFixture[str]) -> None:
    file("k.py", GOOD)
    assert main(["k.py", "--check", "--backend", "interp"]) == 0
    line = capsys.readouterr().out
    assert line.startswith("PASS  fill  case(n=32)  interp (interpreter)  x: max abs 0, rel 0, 0 ulp, 0/32 wrong; ")

    file("k.py", GOOD.replace("1.0)", "1.5)"))
    assert main(["k.py", "--check", "--backend", "interp"]) == 1
    assert "32/32 wrong, first at [0]: 1.5, expected 1.0" in capsys.readouterr().out


def test_check_never_falls_back(capsys: pytest.CaptureFixture[str]) -> None:
    from mytriton import backends

    reason = backends.get("cuda").available()
    if reason is None:
        pytest.skip("there is a GPU here")
    file("k.py", GOOD)
    assert main(["k.py", "--check", "--backend", "cuda"]) == 3
    assert capsys.readouterr().err == f"backend cuda cannot run here: {reason}; --backend cpu checks on the CPU\n"


def test_the_author_sees_their_own_frames(capsys: pytest.CaptureFixture[str]) -> None:
    file("k.py", ONE.replace("ARRAY", "1 / 0"))
    assert main(["k.py", "--check", "--backend", "interp"]) == 1
    captured = capsys.readouterr()
    assert "FAIL  fill  case(n=32)  interp  ZeroDivisionError: division by zero" in captured.out
    assert '  File "k.py", line 11, in case\n' in captured.err
    assert "running.py" not in captured.err


def test_a_check_that_crashes_is_a_failure_with_its_cause(capsys: pytest.CaptureFixture[str]) -> None:
    file("k.py", ONE.replace("ARRAY", "__import__('os').kill(__import__('os').getpid(), 11)"))
    assert main(["k.py", "--check", "--backend", "interp"]) == 1
    message = "killed by SIGSEGV while running fill, case(n=32), on backend interp"
    assert f"FAIL  fill  case(n=32)  interp  {message}" in capsys.readouterr().out


def test_the_environment_chooses_the_backend(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MYTRITON_BACKEND", "nope")
    file("k.py", GOOD)
    assert refused(capsys, "k.py", "--stages").startswith(
        "mytriton-explore: there is no backend 'nope'; there are cuda"
    )


def test_headless_imports_no_textual() -> None:
    code = (
        "import sys; from explorer.__main__ import main; main(sys.argv[1:]);"
        "bad = [m for m in ('textual', 'mlir', 'cupy', 'numpy') if m in sys.modules]; sys.exit(str(bad) if bad else 0)"
    )
    root = str(Path(__file__).parents[2])
    env = {**os.environ, "PYTHONPATH": root}
    done = subprocess.run(
        [sys.executable, "-c", code, f"{root}/{ADD}", "--print", "ssa"], env=env, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("%0 = program_id {axis=0} : i32\n")


def test_python_dash_m_and_help() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "explorer", "--help"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0
    assert "--signature SIG" in done.stdout
    assert "exit codes: 0 all well, 1 a kernel or a check failed, 2 bad input, 3 the backend" in done.stdout


def test_files_that_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe.py")
    Path("link.py").symlink_to("nowhere.py")
    assert "pipe.py is not a regular file" in refused(capsys, "pipe.py", "--stages")
    assert "/dev/zero is not a regular file" in refused(capsys, "/dev/zero", "--stages")
    assert "link.py is a link to nowhere.py, which does not exist" in refused(capsys, "link.py", "--stages")


@pytest.mark.parametrize("value", ["abc", "-1", "nan"])
def test_a_limit_that_is_none(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    file("k.py", GOOD)
    monkeypatch.setenv("MYTRITON_EXPLORER_RUN_S", value)
    assert f"MYTRITON_EXPLORER_RUN_S={value!r} is not a number greater than 0" in refused(capsys, "k.py", "--stages")


@pytest.mark.parametrize(
    ("redirected", "code", "out", "err"),
    [
        (">/dev/full", 1, "", "mytriton-explore: [Errno 28] No space left on device\n"),
        (">&-", 0, "", ""),
        ("2>&-", 0, "%0 = arange", ""),
        ("<&- 2>&-", 0, "%0 = arange", ""),
    ],
)
def test_descriptors_that_are_closed_or_full(redirected: str, code: int, out: str, err: str) -> None:
    file("k.py", GOOD)
    command = f"{sys.executable} -m explorer k.py --print ssa --backend interp {redirected}"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stderr) == (code, err)
    assert done.stdout.startswith(out)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("class E(BaseException): pass\nraise E('what')", "E: what"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("X = 10**6000; Y = 'a' * 10**6", ""),
        ("import os; os.fork()", ""),
        (
            "import sys, threading, time; threading.Thread(target=time.sleep, args=(9**9,)).start()",
            "",
        ),
    ],
)
def test_what_a_module_does(capsys: pytest.CaptureFixture[str], line: str, message: str) -> None:
    file("k.py", f"{line}\n{GOOD}")
    assert main(["k.py", "--json", "--backend", "interp"]) == (2 if message else 0)
    captured = capsys.readouterr()
    found = json.loads(captured.out)
    assert found["ok"] is (not message)
    assert message in found.get("error", "")
    assert "Traceback" not in captured.err


def test_where_the_working_directory_is_gone(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(GOOD)
    folder = tmp_path / "gone"
    folder.mkdir()
    command = f"cd {folder}; rmdir {folder}; {sys.executable} -m explorer {tmp_path}/k.py --check --backend interp"
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("PASS  fill")


def test_a_reproducer(capsys: pytest.CaptureFixture[str]) -> None:
    argv = (file("one.py", GOOD), "--no-exec", "--signature", "*fp32, 32", "--backend", "cuda", "--reproduce", "repro")
    message = "mytriton-explore: no stage failed; to reproduce one all the same, name it with --stage\n"
    assert refused(capsys, *argv) == message
    assert main((*argv, "--stage", "cuda")) == 0
    out = capsys.readouterr().out.strip()
    assert out.endswith(" repro/rerun.py")
    again = subprocess.run(shlex.split(out), capture_output=True, text=True, check=False)
    assert (again.returncode, 'extern "C" __global__' in again.stdout) == (0, True)
    assert "is there already; nothing is overwritten" in refused(capsys, *argv, "--stage", "cuda")
    assert "give both" in refused(capsys, argv[0], "--stage", "cuda")


def test_a_reproducer_of_what_fails(capsys: pytest.CaptureFixture[str]) -> None:
    path = file("one.py", GOOD.replace("tl.store(", "tl.stoer("))
    argv = ("--no-exec", "--signature", "*fp32, 32", "--backend", "interp", "--reproduce", "repro")
    assert main((path, *argv)) == 0
    said = capsys.readouterr()
    assert "failed: " in said.err and "stoer" in said.err
    again = subprocess.run(shlex.split(said.out), capture_output=True, text=True, check=False)
    assert (again.returncode, "stoer" in again.stderr) == (1, True)
    assert "stoer" in Path("repro/README.txt").read_text()
