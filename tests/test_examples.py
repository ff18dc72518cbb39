"""Every example of every kernel in examples/kernels, on every backend."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from mytriton import JITFunction, Target, backends, check_example
from tests.frontend.test_read import EXAMPLES, load
from tests.running import on_every_backend

MODULES: dict[Path, ModuleType] = {path: load(path) for path in EXAMPLES}
CASES = [
    pytest.param(kernel, case, id=f"{path.stem}-{kernel.name}-{case.label}")
    for path, module in MODULES.items()
    for kernel in vars(module).values()
    if isinstance(kernel, JITFunction)
    for case in kernel.examples
]


@on_every_backend
@pytest.mark.parametrize(("kernel", "case"), CASES)
def test_example(run, kernel, case):
    report = check_example(kernel, case, Target(backend=run.backend))
    assert report.ok, report


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_every_kernel_has_an_example(path):
    kernels = [k for k in vars(MODULES[path]).values() if isinstance(k, JITFunction)]
    assert kernels
    assert all(kernel.examples for kernel in kernels)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_a_kernel_file_is_an_ordinary_script(path):
    env = {**os.environ, "MYTRITON_BACKEND": "interp"}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=env)
    assert (done.returncode, done.stderr) == (0, "")


def test_all_backends_are_known():
    assert all(backends.get(name).name == name for name in ("cuda", "mlir", "cpu", "interp"))
