"""Control flow, tiles, assertions and prints on a real GPU, through both GPU backends."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mytriton.backends.cuda.backend import options
from mytriton.backends.cuda.emit import emit, kernel_symbol
from mytriton.backends.nvidia import nvrtc
from mytriton.backends.nvidia.launch import CubinLauncher
from mytriton.backends.nvidia.nvjitlink import link
from mytriton.ir import interp
from mytriton.target import Target
from tests.backends.gpu_case import Case, check
from tests.backends.gpu_control_cases import control_cases
from tests.backends.gpu_tile_cases import reductions, tile_cases
from tests.backends.private_programs import private_case
from tests.backends.scattered import scatter
from tests.backends.test_cuda_effects import shown
from tests.backends.test_gpu import Arrays, check_all, run, target_for

pytestmark = pytest.mark.execution

BACKENDS = ["cuda", "mlir"]


def any_arrays() -> Arrays:
    """Copies through whichever library there is."""
    return Arrays("cupy" if importlib.util.find_spec("cupy") else "torch")


@pytest.fixture
def device_arrays() -> Arrays:
    target_for("cuda")
    return any_arrays()


@pytest.mark.parametrize("backend", BACKENDS)
def test_reductions_and_control_flow(backend: str, device_arrays: Arrays) -> None:
    check_all([*reductions(), *control_cases()], target_for(backend), device_arrays)


@pytest.mark.parametrize("warps", [1, 4, 32])
@pytest.mark.parametrize("backend", BACKENDS)
def test_tiles_with_any_number_of_warps(backend: str, warps: int, device_arrays: Arrays) -> None:
    check_all(tile_cases(8192), target_for(backend, num_warps=warps), device_arrays)


@pytest.mark.parametrize(("form", "warps"), [("tuned", 1), ("tuned", 4), ("tuned", 8), ("plain", 2)])
@pytest.mark.parametrize("backend", BACKENDS)
def test_random_programs(backend: str, form: str, warps: int, device_arrays: Arrays) -> None:
    cases = [private_case(seed, elements=8 if seed % 2 else 256) for seed in range(30 * warps, 30 * warps + 30)]
    check_all(cases, target_for(backend, num_warps=warps, form=form), device_arrays)


def test_layouts_that_no_one_would_choose(device_arrays: Arrays) -> None:
    failures = []
    for number, case in enumerate([*reductions(), *tile_cases(2048), *control_cases()][::2]):
        target = target_for("cuda", num_warps=(1, 2, 4, 8)[number % 4])
        try:
            check(case, run(case, _launcher(case, target, seed=number), device_arrays))
        except AssertionError as error:
            failures.append(str(error))
    assert not failures, "\n".join(failures)


def _launcher(case: Case, target: Target, seed: int):  # type: ignore[no-untyped-def]
    lines = emit(scatter(case.func, target, seed), target)
    ptx = nvrtc.compile_ptx("\n".join(line.text for line in lines), options(target)).ptx
    params = [(p.id, p.type) for p in case.func.params]
    return CubinLauncher(link(ptx, target.chip).cubin, kernel_symbol(case.func), params, target)


# --- in a process of its own: a failed assertion leaves the GPU's context unusable ------------------------------------

_PROGRAM = """
import sys
import numpy as np
from tests.backends import test_cuda_effects as effects
from tests.backends.gpu_case import Case
from tests.backends.test_cuda_effects import shown
from tests.backends.test_gpu import Arrays, load, run, target_for
from tests.backends.test_gpu_structures import any_arrays

what, backend = sys.argv[1:]
if what == "assert":
    x = np.ones(512, np.int32)
    x[3] = -1
    case = Case(effects.checked((512,)), (x,))
else:
    func, values = effects.shown((4, 2))
    case = Case(func, tuple(values), (2, 1, 1))
launch = load(case, target_for(backend))
run(case, launch, any_arrays())
"""


def _run(what: str, backend: str) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[2]
    return subprocess.run(
        [sys.executable, "-c", _PROGRAM, what, backend],
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
        timeout=300,
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_failed_assertion_names_itself(backend: str, device_arrays: Arrays) -> None:
    done = _run("assert", backend)
    assert done.returncode != 0
    said = r"block: \[0,0,0\], thread: \[\d+,0,0\] Assertion `(line 3 of checked: )?x is 100 % \"positive\"\?` failed"
    assert re.search(said, done.stderr)


@pytest.mark.parametrize("backend", BACKENDS)
def test_prints_come_out(
    backend: str, device_arrays: Arrays, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    func, values = shown((4, 2))
    interp.run(func, values, (2,))
    expected = [line.replace(".0", "") for line in capfd.readouterr().out.splitlines()]
    done = _run("print", backend)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == sorted(expected)
