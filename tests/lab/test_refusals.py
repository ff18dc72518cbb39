"""What the MLIR library refuses, and in which words."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mytriton import CompileError, LaunchError, mlir
from mytriton.checked import ArgumentError
from mytriton.diagnostics import MytritonError, OptionError
from tests.lab.modules import SAXPY

pytest.importorskip("mlir.ir", reason="the MLIR bindings are not installed")

MADE = "a module, which mlir.parse or mlir.read makes"
PASSES = 'passes: "canonicalize,func.func(cse)", or a list of such texts and of steps'


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: mlir.parse(b"x"), "mlir.parse takes the text of a module, got bytes"),
        (lambda m: mlir.read(3), "mlir.read takes the path of a file, got 3 (int)"),
        (lambda m: m.run(None), f"a run takes {PASSES}, got NoneType"),
        (lambda m: m.run(["cse", 1]), f"a run takes {PASSES}, got 1 (int)"),
        (lambda m: m.run("cse", "s.mlir"), f"the schedule of a run takes {MADE}, got 's.mlir' (str)"),
        (lambda m: mlir.jit("x.mlir"), f"mlir.jit takes {MADE}, got 'x.mlir' (str)"),
        (
            lambda m: mlir.jit(m, libraries="libm.so"),
            "mlir.jit takes a list of the paths of libraries, got 'libm.so' (str)",
        ),
        (lambda m: list(mlir.walk(None)), f"mlir.walk takes {MADE}, got NoneType"),
        (lambda m: mlir.query(m, 1), "mlir.query takes a question as a text, got 1 (int)"),
        (lambda m: mlir.apply(m, "s"), f"mlir.apply takes {MADE}, got 's' (str)"),
        (lambda m: mlir.objects([]), f"mlir.objects takes {MADE}, got list"),
        (lambda m: mlir.steps(None), "mlir.steps takes the text of a pipeline, got NoneType"),
        (lambda m: mlir.joined("cse"), "mlir.joined takes a list of steps, which mlir.steps makes, got 'cse' (str)"),
        (lambda m: mlir.command(1, "cse"), "mlir.command takes the path of a file, got 1 (int)"),
        (lambda m: mlir.reproducer(m), "mlir.reproducer takes a run, which module.run(...) makes, got Module"),
        (lambda m: mlir.isolated.run("m", "cse"), f"mlir.isolated.run takes {MADE}, got 'm' (str)"),
        *(
            (
                lambda m, seconds=seconds: mlir.isolated.run(m, "cse", seconds=seconds),
                f"mlir.isolated.run takes seconds as a number above 0, or None for no limit, got {shown}",
            )
            for seconds, shown in ((0, "0 (int)"), ("x", "'x' (str)"), (True, "True (bool)"), (np.inf, "inf (float)"))
        ),
    ],
)
def test_arguments_of_other_types(call, message):
    with pytest.raises(ArgumentError) as error:
        call(mlir.parse(SAXPY))
    assert str(error.value) == message


def test_passes_may_be_a_list_of_texts():
    run = mlir.parse(SAXPY).run(["cse,canonicalize", *mlir.steps("func.func(cse)")])
    assert [step.pipeline for step in run.steps] == ["cse", "canonicalize", "func.func(cse)"]


def test_what_llvm_would_abort_for():
    with pytest.raises(OptionError, match="level=7: the optimization levels of LLVM are 0, 1, 2 and 3"):
        mlir.jit(mlir.parse(SAXPY), level=7)
    with pytest.raises(MytritonError, match=r"the library '/nowhere\.so' cannot be loaded: .*No such file"):
        mlir.jit(mlir.parse(SAXPY), libraries=["/nowhere.so"])
    text = "func.func private @far(f32) -> f32\nfunc.func @f(%a: f32) -> f32 {\n"
    text += "  %0 = call @far(%a) : (f32) -> f32\n  return %0 : f32\n}\n"
    with pytest.raises(CompileError) as error:
        mlir.jit(mlir.parse(text))
    first = "error[MT608]: `_mlir_ciface_far`, the C interface of `far`, is declared, but nothing defines it"
    assert str(error.value).splitlines()[0] == f"<text>:1:1: {first}"
    assert str(error.value).splitlines()[-1].startswith("help: give the path of the shared library that has it")


def test_functions_that_cannot_be_called_leave_the_others():
    bad = "func.func @two(%a: f32) -> (f32, f32) {\n  return %a, %a : f32, f32\n}\n"
    library = mlir.jit(mlir.parse(SAXPY + bad))
    assert "two" not in library
    assert library["square"](3) == 9
    with pytest.raises(LaunchError, match="`two` returns 2 values; return one, and write others to memrefs"):
        library["two"]
    with pytest.raises(LaunchError, match="`two` returns 2 values"):
        mlir.jit(mlir.parse(bad))


def test_numbers_that_do_not_fit():
    half = mlir.jit(mlir.parse("func.func @f(%a: f16) -> f16 {\n  return %a : f16\n}\n"))["f"]
    assert half(65504) == 65504
    assert half(float("inf")) == float("inf")
    with pytest.raises(LaunchError, match=re.escape("argument 0 of `f` is f16; 1000000.0 does not fit")):
        half(1e6)
    with pytest.raises(TypeError, match="takes 0 positional arguments but 1 was given"):
        half.bind(1.0)(2.0)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"ML\xefRxxxx", "is no bytecode that this MLIR can read: bytecode version"),
        (b"\xff\xfe\x00", "is neither MLIR as text (UTF-8) nor as bytecode"),
    ],
)
def test_files_that_hold_no_module(tmp_path, content, message):
    path = tmp_path / "a.mlir"
    path.write_bytes(content)
    with pytest.raises(MytritonError, match=re.escape(f"{path} {message}")):
        mlir.read(path)


@pytest.mark.parametrize(
    ("text", "pipeline", "head", "cause"),
    [
        (
            'func.func @f() {\n  "foo.bar"() : () -> ()\n  return\n}\n',
            "",
            "2:4",
            "MLIR has no dialect `foo`, and so no operation 'foo.bar'",
        ),
        (SAXPY, "nope", "", "'nope' does not refer to a registered pass or pass pipeline"),
        (SAXPY, "cse{x=1}", "", "no such option x"),
    ],
)
def test_causes_in_the_words_of_the_author(text, pipeline, head, cause):
    with pytest.raises(CompileError) as error:
        mlir.parse(text).run(pipeline).result  # noqa: B018
    assert error.value.diagnostics[0].message.splitlines()[1] == cause
    assert str(error.value).startswith(f"<text>:{head}: error" if head else "error")


def test_another_process_finds_a_checkout_by_its_path(tmp_path):
    root = Path(mlir.__file__).parents[2]
    code = f"import sys; sys.path.insert(0, {str(root)!r}); from mytriton import mlir\n"
    code += "print([s.status for s in mlir.isolated.run(mlir.parse('func.func @f() { return }'), 'cse').stages])"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "['ok', 'ok', 'no change']\n"


PAST_THE_END = """\
func.func @shift(%x: memref<?xf32>, %n: index) {
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i + 1] : memref<?xf32>
    affine.store %0, %x[%i] : memref<?xf32>
  }
  return
}
"""


def test_an_access_out_of_bounds_is_named_and_nothing_is_written() -> None:
    shift = mlir.jit(mlir.parse(PAST_THE_END, "shift.mlir"), check_bounds=True)["shift"]
    x = np.arange(4, dtype=np.float32)
    with pytest.raises(
        mlir.OutOfBounds, match=r"^shift.mlir:3:10: error\[MT609\]: out-of-bounds access: .*memref.load"
    ):
        shift(x, 4)
    assert x.tolist() == [0, 1, 2, 3]
    shift(x, 3)
    assert x.tolist() == [1, 2, 3, 3]
    with pytest.raises(OptionError, match="check_bounds=1: it is True or False"):
        mlir.jit(mlir.parse(PAST_THE_END), check_bounds=1)  # type: ignore[arg-type]


def test_what_things_are_called() -> None:
    module = mlir.parse(SAXPY, "saxpy.mlir")
    assert repr(module).startswith("<Module of saxpy.mlir, ")
    run = module.run("canonicalize")
    assert repr(run) == "<Run of saxpy.mlir: nothing yet of 3 stages>"
    assert repr(run.run("mlir/parse")) == "<Run of saxpy.mlir: source ok, mlir/parse ok of 3 stages>"
    library = mlir.jit(module)
    assert repr(library).startswith("<Library of saxpy(f32, memref<?xf32>, memref<?xf32>); square(i32) -> i32; ")
    assert repr(library["square"]) == "<Function square(i32) -> i32>"
    with pytest.raises(ArgumentError, match=r"takes a module, got Run: give run\.result, what its"):
        mlir.jit(run)  # type: ignore[arg-type]


def test_the_value_that_an_option_does_not_take(capfd: pytest.CaptureFixture[str]) -> None:
    run = mlir.parse(SAXPY).run("func.func(affine-loop-tile{tile-size=abc})").run()
    assert run.failed is not None
    (told,) = run.failed.diagnostics
    assert told.message.split("\n")[1:] == [
        "option tile-size: 'abc' value invalid for uint argument!",
        "failed to add `affine-loop-tile` with options `tile-size=abc`",
    ]
    assert capfd.readouterr().err == ""
