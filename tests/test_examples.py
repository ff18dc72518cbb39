"""Every example of every kernel in examples/kernels, on every backend and as every stage."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from mytriton import JITFunction, Target, backends, check_example
from mytriton.backends.mlir.run import mlir_available
from mytriton.check import built
from tests import links
from tests.frontend.test_read import EXAMPLES, load
from tests.running import on_every_backend
from tests.stage_runs import small, wrong_stages

MODULES: dict[Path, ModuleType] = {path: load(path) for path in EXAMPLES}
KERNELS = {path: [k for k in vars(m).values() if isinstance(k, JITFunction)] for path, m in MODULES.items()}
CASES = [
    pytest.param(kernel, case, id=f"{path.stem}-{kernel.name}-{case.label}")
    for path, kernels in KERNELS.items()
    for kernel in kernels
    for case in kernel.examples
]


@on_every_backend
@pytest.mark.parametrize(("kernel", "case"), CASES)
def test_example(run, kernel, case):
    report = check_example(kernel, case, Target(backend=run.backend))
    assert report.ok, report


@pytest.mark.parametrize(("kernel", "case"), [c for c in CASES if small(c.values[1])])
def test_every_stage_computes_the_example(kernel, case):
    assert wrong_stages(kernel, case) == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_kernel_has_an_example_and_every_file_says_what_it_teaches(path):
    called = {name for kernel in KERNELS[path] for name in kernel.function.__code__.co_names}
    assert KERNELS[path]
    assert all(kernel.examples for kernel in KERNELS[path] if kernel.name not in called)  # helpers need none
    assert MODULES[path].__doc__


FIRST = [pytest.param(k, k.examples[0], id=k.name) for kernels in KERNELS.values() for k in kernels if k.examples]


@pytest.mark.skipif(mlir_available() is not None, reason="MLIR is not installed")
@pytest.mark.parametrize("backend", ["mlir", "cpu"])
@pytest.mark.parametrize(("kernel", "case"), FIRST)
def test_every_operation_of_mlir_leads_to_a_line_of_the_kernel(kernel, case, backend):
    example = built(kernel, case)
    options = {name: value for name, value in example.options.items() if name != "backend"}
    compilation = kernel.base.prepare(example.grid, **example.args, **options, backend=backend).compilation
    names = [name for name in compilation.planned if name.startswith(("mlir/", "cpu/"))]
    for name in (names[0], names[-1] if backend == "cpu" else names[-2]):
        lines = [line for line in compilation.stage(name).lines if line.text != "module {"]  # which MLIR prints around
        assert [line.text for line in lines if line.span is None and line.text.strip()[:1] not in ("", *"}^#/")] == []


#: What compilers make that no line of a kernel asks for: jumps, and checks of their own that none of its results needs.
_OF_NO_LINE = {"bra", "bra.uni", "exit", "mov.b32", "or.b64", "and.b64", "setp.eq.s64"}


@pytest.mark.skipif(mlir_available() is not None, reason="MLIR is not installed")
@pytest.mark.parametrize("backend", ["cuda", "mlir"])
@pytest.mark.parametrize(("kernel", "case"), FIRST)
def test_every_line_down_to_ptx_leads_to_a_line_of_the_kernel_or_says_what_made_it(kernel, case, backend):
    made = links.compiled(kernel, case, backend)
    for name in ("layout", "cuda") if backend == "cuda" else ():
        stage = made.stage(name)
        assert [line.text for line, _ in links.instructions(stage.language, stage.lines) if line.span is None] == []
    rest = [(line, kind) for line, kind in links.instructions("ptx", made.stage("ptx").lines) if line.span is None]
    assert {kind for _, kind in rest} <= _OF_NO_LINE
    assert {line.made_by for line, _ in rest} <= {"LLVM" if backend == "mlir" else "NVRTC"}


def test_kernel_files_are_ordinary_scripts():
    env = {**os.environ, "MYTRITON_BACKEND": "interp"}
    run_all = "import runpy, sys\nfor path in sys.argv[1:]: runpy.run_path(path, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", run_all, *map(str, EXAMPLES)], capture_output=True, text=True, env=env)
    assert (done.returncode, done.stderr) == (0, "")


def test_all_backends_are_known():
    assert all(backends.get(name).name == name for name in ("cuda", "mlir", "cpu", "interp"))
