"""A reproducer's script fails as its stage did: the same exit and the same words."""

from __future__ import annotations

import os
import runpy
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy
import pytest

import mytriton.compile as driver
import mytriton.language as tl
from mytriton import Target, compile_kernel, parse_signature, read_module
from mytriton.backends.cpu import backend as cpu
from mytriton.backends.mlir import backend as mlir
from mytriton.backends.mlir.llvm import llvm_lines
from mytriton.passes import Pass
from mytriton.reproducer import SCRIPT, NoReproducer, reproducer
from mytriton.reruns import python

TEXT = """\
import mytriton
import mytriton.language as tl

SCALE = unknowable()

@mytriton.jit
def scale(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, tl.exp(tl.load(x + at, mask=at < n)) * SCALE, mask=at < n)
"""


class Case:
    """A compilation of the kernel, and its reproducers."""

    def __init__(self, folder: Path, backend: str, text: str = TEXT) -> None:
        self.text = text
        self.folder = folder / "repro"
        self.known = {"SCALE": float("inf"), "OTHER": 1}
        path = folder / "scale.py"
        (self.kernel,) = read_module(text, str(path), self.known).kernels
        specialization = parse_signature(self.kernel, "*fp32:16, i32, 64")
        self.compilation = compile_kernel(self.kernel, specialization, Target(backend, num_warps=2))

    def write(self, stage: str, error: str = "") -> str:
        made = reproducer(self.compilation, self.kernel, stage, text=self.text, known=self.known, error=error)
        return made.write(self.folder)

    def rerun(self, stage: str, before: str = "") -> subprocess.CompletedProcess[str]:
        """Run the command that is shown; `before` comes first in the module path."""
        words = shlex.split(self.write(stage))
        words = [w.replace("PYTHONPATH=", f"PYTHONPATH={before}:") if before else w for w in words]
        # The command sets no path where mytriton is installed.
        path = os.pathsep.join(filter(None, (before, os.environ.get("PYTHONPATH"))))
        env = {**os.environ, "PYTHONPATH": path} if before else None
        return subprocess.run(words, capture_output=True, text=True, check=False, env=env)


def replaced(table: Any, name: str, pipeline: str) -> Any:
    assert any(n == name for n, _ in table)
    return tuple((n, pipeline if n == name else p) for n, p in table)


def test_a_pipeline_that_does_not_parse(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlir.ir")
    monkeypatch.setattr(
        mlir, "PIPELINE", replaced(mlir.PIPELINE, "convert-scf-to-cf", "canonicalize{{top-down=maybe}}")
    )
    case = Case(tmp_path, "mlir")
    failed = case.compilation.run().failed
    assert failed is not None
    done = case.rerun("mlir/convert-scf-to-cf")
    assert done.returncode == 1
    head, cause = failed.diagnostics[0].message.split("\n", 1)
    assert head == "MLIR stage 'mlir/convert-scf-to-cf' failed:"
    for said in (
        "'maybe' is invalid value for boolean argument! Try 0 or 1",
        "failed to add `canonicalize` with options",
    ):
        assert said in cause and said in done.stderr


def test_an_operation_that_no_pass_has_lowered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlir.ir")
    table = tuple(p for p in mlir.PIPELINE if p[0] not in ("convert-scf-to-cf", "convert-gpu-to-nvvm"))
    monkeypatch.setattr(mlir, "PIPELINE", table)
    case = Case(tmp_path, "mlir")
    failed = case.compilation.run().failed
    assert failed is not None
    done = case.rerun(failed.name)
    assert done.returncode == 1
    assert failed.diagnostics[0].message.split("\n", 1)[1].splitlines()[0] in done.stderr


def test_what_is_left_before_llvm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlir.ir")
    monkeypatch.setattr(cpu, "PASSES", tuple(p for p in cpu.PASSES if p[0] != "convert-scf-to-cf"))
    case = Case(tmp_path, "cpu")
    failed = case.compilation.run().failed
    assert failed is not None
    done = case.rerun(failed.name)
    assert done.returncode == 1
    message = failed.diagnostics[0].message.split("failed:\n")[-1].splitlines()[0]
    assert message in done.stderr


def test_an_abort(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mlir.ir")
    at = [name for name, _ in mlir.PIPELINE].index("convert-gpu-to-nvvm")
    bad = ("convert-math-to-llvm", "convert-math-to-llvm")
    monkeypatch.setattr(mlir, "PIPELINE", (*mlir.PIPELINE[:at], bad, *mlir.PIPELINE[at:]))
    case = Case(tmp_path, "mlir", TEXT.replace("tl.exp", "tl.tanh"))
    done = case.rerun("mlir/gpu-module-to-binary")  # which is not run in this process
    assert done.returncode == -signal.SIGABRT
    assert "LLVM ERROR: Cannot select: " in done.stderr
    assert case.compilation.stages[-1].name == "mlir/debug-info"


def test_a_segmentation_fault(tmp_path: Path) -> None:
    pytest.importorskip("mlir.ir")
    case = Case(tmp_path, "mlir")
    # The parser of MLIR overflows its stack on this.
    deep = "func.func @deep(%c: i1) {\n" + "scf.if %c {\n" * 20_000 + "}\n" * 20_000 + "return\n}\n"
    case.compilation.stage("mlir/emit").artifact = deep
    done = case.rerun("mlir/cleanup")
    assert done.returncode == -signal.SIGSEGV
    assert (case.folder / "input.mlir").read_text() == deep + "\n"


def test_an_error_of_the_assembler(tmp_path: Path) -> None:
    case = Case(tmp_path, "cuda")
    stage = case.compilation.stage("ptx")
    stage.artifact = stage.artifact.replace("st.global.f32", "st.global.f33")
    failed = case.compilation.run().failed
    if failed is None:
        pytest.skip("there is no assembler here")
    assert (failed.name, failed.status) == ("cubin", "failed")
    assert failed.culprit is not None and "f33" in stage.artifact.splitlines()[failed.culprit]
    done = case.rerun("cubin")
    assert done.returncode == 1
    assert "f33" in done.stderr
    assert failed.diagnostics[0].message in done.stderr


def test_an_error_of_nvrtc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(tmp_path, "cuda")
    stage = case.compilation.stage("cuda")
    stage.artifact = stage.artifact.replace("float*", "float**")
    failed = case.compilation.run().failed
    if failed is None:
        pytest.skip("there is no NVRTC here")
    done = case.rerun("ptx")
    assert done.returncode == 1
    assert failed.name == "ptx"
    assert failed.culprit is not None and "? x[at] :" in stage.artifact.splitlines()[failed.culprit]
    assert failed.diagnostics[0].message in done.stderr


BROKEN_CSE = """\
import mytriton.passes
from mytriton.passes import PASSES, Pass

def broken(func):
    raise IndexError("a fault on purpose")

mytriton.passes.PASSES = tuple(Pass("cse", broken) if p.name == "cse" else p for p in PASSES)
"""


def test_an_internal_error_of_a_pass(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(func: Any) -> Any:
        raise IndexError("a fault on purpose")

    passes = tuple(Pass("cse", broken) if p.name == "cse" else p for p in driver.PASSES)
    monkeypatch.setattr(driver, "PASSES", passes)
    case = Case(tmp_path, "interp")
    failed = case.compilation.run().failed
    assert failed is not None
    assert failed.name == "opt/cse"
    # The script's process has the same fault.
    (tmp_path / "sitecustomize.py").write_text(BROKEN_CSE)
    done = case.rerun("opt/cse", before=str(tmp_path))
    assert done.returncode == 1
    assert failed.diagnostics[0].message in done.stderr
    assert "IndexError: a fault on purpose" in done.stderr
    assert (case.folder / "input.ssa").read_text().startswith("%0 = program_id")


@pytest.mark.parametrize("backend", ["cuda", "mlir", "cpu", "interp"])
def test_a_stage_that_is_good_prints_what_it_made(
    tmp_path: Path, backend: str, capsys: pytest.CaptureFixture[str]
) -> None:
    case = Case(tmp_path, backend)
    mlir_ptx = backend == "mlir" and "ptx"
    for number, stage in enumerate(case.compilation.run().stages):
        shared = stage.name.split("/")[0] in ("source", "tree", "ssa", "opt")
        if stage.status == "skipped" or (shared and backend != "interp"):
            continue
        case.folder = tmp_path / str(number)
        case.write(stage.name)
        runpy.run_path(str(case.folder / SCRIPT))
        printed = capsys.readouterr().out.strip()
        if stage.name in ("mlir/gpu-module-to-binary", mlir_ptx):
            assert "gpu.binary @kernels" in printed
        elif stage.name == "cubin":
            assert printed.startswith(f"{len(stage.artifact)} bytes")
        elif stage.name == "llvm":
            assert "\n".join(line.text for line in llvm_lines(printed, ())) == stage.text
        elif stage.name in ("ptx", "sass"):
            assert printed == stage.artifact.strip()
        else:
            assert stage.text.startswith(printed), stage.name  # a listing also has the names of debug information


def test_what_is_in_the_folder(tmp_path: Path) -> None:
    pytest.importorskip("mlir.ir")
    case = Case(tmp_path, "mlir")
    command = case.write("mlir/convert-gpu-to-nvvm", "it went wrong")
    names = {p.name for p in case.folder.iterdir()}
    assert names == {"README.txt", "rerun.py", "input.mlir", "pipeline.txt", "emitted.mlir", "scale.py"}
    assert command.endswith(f" {case.folder / 'rerun.py'}")
    about = (case.folder / "README.txt").read_text()
    assert about.startswith(command + "\n")
    assert about.endswith("What it failed with:\n\nit went wrong\n")
    for row in (
        "signature   *fp32:16, i32, None",
        "constexprs  {'B': 64}",
        "pipeline    builtin.module(gpu.module(convert-gpu-to-nvvm))",
        "numpy " + numpy.__version__,
    ):
        assert row in about.splitlines()
    assert "import mytriton" not in (case.folder / "rerun.py").read_text()
    assert (case.folder / "scale.py").read_text() == TEXT
    case.compilation.find("mlir/convert-gpu-to-nvvm")
    source = Case(tmp_path, "mlir")
    source.folder = tmp_path / "other"
    source.write("layout")
    script = (source.folder / "rerun.py").read_text()
    assert "KNOWN = {'SCALE': float('inf')}" in script, "only what the file names"


def test_values_as_python() -> None:
    values = {"a": (tl.float16, 1, (2.5,)), "b": tl.constexpr(float("-inf")), "c": None, "d": "x'y"}
    text = python(values)
    assert text == "{'a': (tl.float16, 1, (2.5, ), ), 'b': tl.constexpr(float('-inf')), 'c': None, 'd': \"x'y\"}"


def test_folder_is_never_overwritten(tmp_path: Path) -> None:
    case = Case(tmp_path, "cuda")
    case.folder.mkdir()
    with pytest.raises(FileExistsError):
        case.write("cuda")
    with pytest.raises(NoReproducer, match="there is no stage 'mlir'; stages are source"):
        case.write("mlir")
