"""The command line: each kind of bad input is a sentence that says what to do, and the headless twins."""

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

ADD = "examples/kernels/add.py"

TWO = """\
import mytriton
import mytriton.language as tl

@mytriton.jit
def first(x: "*fp32", B: tl.constexpr = 32):
    tl.store(x + tl.arange(0, B), 1.0)

@mytriton.jit
def second(x: "*fp32", B: tl.constexpr = 32):
    tl.store(x + tl.arange(0, B), 2.0)
"""

ONE = """\
import numpy as np
import mytriton
import mytriton.language as tl

@mytriton.jit
def fill(x, B: tl.constexpr):
    tl.store(x + tl.arange(0, B), 1.0)

@fill.example(n=32)
def case(n):
    return mytriton.Example(args={"x": ARRAY, "B": n}, grid=1, expected={"x": np.ones(32, np.float32)})
"""
GOOD = ONE.replace("ARRAY", "np.zeros(32, np.float32)")


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MYTRITON_BACKEND", raising=False)


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The message of a command that is refused with exit code 2."""
    assert main(argv) == 2
    captured = capsys.readouterr()
    if captured.out:
        assert "--json" in argv
        assert captured.err == f"mytriton-explore: {json.loads(captured.out)['error']}\n"
    return captured.err


def file(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    return name


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        ([], "the following arguments are required: FILE; see mytriton-explore --help"),
        (
            ["two.py", "--backend", "cdua"],
            "there is no backend 'cdua'; did you mean 'cuda'? there are cuda, mlir, cpu, ",
        ),
        (["two.py", "--chip", "sm_91"], "there is no chip 'sm_91'; did you mean 'sm_90'? there are sm_75, "),
        (["two.py", "--num-warps", "3"], "--num-warps 3: the number of warps must be 1, 2, 4, 8, 16 or 32"),
        (["two.py", "--num-warps", "x"], "--num-warps x: the number of warps must be 1, 2, 4, 8, 16 or 32"),
        (["two.py", "-D", "B"], "-D B: write it as NAME=VALUE, such as -D BLOCK=1024"),
        (["two.py", "-D", "B=x"], "-D B=x: 'x' is not a Python number, string, True, False or None"),
        (
            ["two.py", "-D", "B=relu"],
            "-D B=relu: 'relu' is not a Python number, string, True, False or None; for a string: -D 'B=\"relu\"'",
        ),
        (["two.py", "-D", "B=[1]"], "-D B=[1]: '[1]' is not a Python number, string, True, False or None"),
        (["two.py", "-D", "B=(1, 2)"], "-D B=(1, 2): a constexpr must be a number, a string, True, False or None"),
        (["two.py", "--check", "--no-exec"], "--check runs the file's examples, so it cannot go with --no-exec"),
        (["two.py", "--stages", "--check"], "argument --check: not allowed with argument --stages"),
        (["two.py", "--example", "big"], "--example big: in the UI give an example by its number, from 0"),
        (["tow.py"], "tow.py does not exist; did you mean two.py?"),
        (["absent/nowhere.py"], "absent/nowhere.py does not exist; check the path"),
        (["two.py/x"], "two.py/x cannot be read (Not a directory); check its permissions"),
        ([".", "--stages"], ". is a directory; name a kernel file, such as two.py"),
    ],
)
def test_what_needs_no_look_into_the_file(capsys: pytest.CaptureFixture[str], argv: list[str], message: str) -> None:
    file("two.py", TWO)
    assert refused(capsys, *argv).startswith(f"mytriton-explore: {message}")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x7fELF\0\0", "k.py is a binary file; name a Python file with a kernel in it"),
        (b"# one\n# caf\xe9\n", "k.py is not utf-8 text, at line 2; save it as UTF-8, or declare its encoding in the "),
        (b"# -*- coding: nope -*-\n", "k.py: unknown encoding: nope; correct the encoding its first line declares"),
        ("", "k.py has no kernel in it; a kernel is a function decorated with @jit"),
        ("x = 1\n", "k.py has no kernel in it; a kernel is a function decorated with @jit"),
        ("# -*- coding: latin-1 -*-\n# caf\u00e9\n".encode("latin-1"), "k.py has no kernel in it"),
        ("def f(:\n", "k.py cannot be used\nk.py:1:7: error[MT100]: invalid syntax\n1 | def f(:\n"),
        ("import sys\nsys.exit(4)\n" + TWO, "k.py cannot be used\nk.py:2: error[MT982]: the file ends the process"),
        ("1 / 0\n" + TWO, "k.py cannot be used\nk.py:1: error[MT982]: ZeroDivisionError: division by zero\n1 | 1 / 0"),
        (TWO, "k.py has several kernels: first, second; choose one with --kernel"),
        (
            ONE.replace("ARRAY", "np.zeros(32, np.complex64)"),
            "the example case(n=32) gives no types: argument `x` is a ",
        ),
        (
            ONE.replace("ARRAY", "'text'"),
            "the example case(n=32) gives no types: argument `x` is a str, which no kernel",
        ),
    ],
)
def test_what_is_in_the_file(capsys: pytest.CaptureFixture[str], content: str | bytes, message: str) -> None:
    file("k.py", content)
    assert refused(capsys, "k.py", "--stages").startswith(f"mytriton-explore: {message}")


def test_a_file_whose_import_fails_is_read_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    file("k.py", "import absent_x\n" + TWO)
    assert main(["k.py", "--kernel", "second", "--print", "ssa"]) == 0
    said = capsys.readouterr()
    assert said.out.endswith("store %1, 2.0\n")
    what = "ModuleNotFoundError: No module named 'absent_x'"
    assert said.err.startswith(f"k.py:1: warning[MT983]: read without being executed, since an import fails: {what}\n")
    assert "k.py could not be executed" in refused(capsys, "k.py", "--check")
    assert main(["k.py", "--no-exec", "--kernel", "second", "--print", "ssa"]) == 0
    assert capsys.readouterr() == (said.out, "")


def test_a_helper_is_not_taken_for_the_kernel_of_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    head = "import mytriton\nimport mytriton.language as tl\n\n@mytriton.jit\ndef twice(x):\n    return x + x\n\n"
    file("k.py", head + "@mytriton.jit\ndef k(x):\n    tl.store(x, twice(1.0))\n")
    assert main(["k.py", "--print", "ssa", "--signature", "*fp32"]) == 0
    assert capsys.readouterr().out == "store x, 2.0\n"


def test_a_file_that_imports_triton_is_told_what_to_import(capsys: pytest.CaptureFixture[str]) -> None:
    file("k.py", "import triton.absent_x\n" + TWO)
    assert main(["k.py", "--kernel", "second", "--print", "ssa"]) == 0
    hint = "examples need the import: write `import mytriton as triton` and `import mytriton.language as tl`\n"
    assert capsys.readouterr().err.endswith(hint)


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (
            ["--kernel", "frist", "--stages"],
            "there is no kernel 'frist'; did you mean 'first'? there are first, second",
        ),
        (
            ["--kernel", "first", "--print", "sas"],
            "there is no stage 'sas' on backend cuda; did you mean 'sass'? there ",
        ),
        (["--kernel", "first", "-D", "C=3", "--json"], "`first` has no parameter `C`; its parameters are x, B"),
        (
            ["--kernel", "first", "--signature", "*fp33", "--stages"],
            "'*fp33' is not a type of a signature; did you mean",
        ),
        (["--kernel", "first", "--example", "0", "--stages"], "first has no examples; declare one with @first.example"),
        (["--check"], "no kernel of two.py has an example to check; declare one with @first.example"),
        (["--check", "--kernel", "second"], "second has no example to check; declare one with @second.example"),
    ],
)
def test_what_is_not_in_the_file(capsys: pytest.CaptureFixture[str], argv: list[str], message: str) -> None:
    file("two.py", TWO)
    assert refused(capsys, "two.py", *argv).startswith(f"mytriton-explore: {message}")


def test_unknown_example(capsys: pytest.CaptureFixture[str]) -> None:
    file("k.py", GOOD)
    assert "there is no example '7'; there is 0 (case(n=32))" in refused(capsys, "k.py", "--example", "7", "--stages")


def test_mixed_host_and_device_arrays(capsys: pytest.CaptureFixture[str]) -> None:
    launch = """
class OnDevice:
    __cuda_array_interface__ = {"shape": (32,), "typestr": "<f4", "data": (4096, False), "version": 3}

@mytriton.jit
def copy(x, y, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), tl.load(x + tl.arange(0, B)))

copy[1](np.zeros(32, np.float32), OnDevice(), B=32)
"""
    file("k.py", GOOD + launch)
    message = refused(capsys, "k.py", "--stages")
    assert "k.py:20: error[MT982]: argument `x` is a NumPy array but `y` is a " in message
    assert "; pass all arrays in host memory, or all on the GPU" in message


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
