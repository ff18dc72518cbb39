"""The command line: each kind of bad input is a sentence that says what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.__main__ import main
from tests.explorer.command_line import GOOD, ONE, TWO, file, refused


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MYTRITON_BACKEND", raising=False)


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
