"""Every kernel of `gpu_cases` on a real GPU, through both GPU backends, on CuPy and on torch arrays."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np
import pytest

from mytriton import backends
from mytriton.backends.base import Launcher
from mytriton.backends.nvidia.device import probe
from mytriton.diagnostics import LaunchError
from mytriton.ir.core import ParamInfo
from mytriton.specialize import Specialization
from mytriton.stage import Compilation
from mytriton.target import Target
from tests.backends.gpu_case import Case, check
from tests.backends.gpu_cases import every_case, memory_cases
from tests.backends.gpu_memory_cases import pointer_chain, scalar_update

pytestmark = pytest.mark.execution


def unavailable(reason: str) -> NoReturn:
    """Skip, or fail where the run is there to test a GPU."""
    if os.environ.get("MYTRITON_REQUIRE_CUDA") == "1":
        pytest.fail(f"MYTRITON_REQUIRE_CUDA=1, but {reason}")
    pytest.skip(reason)


def target_for(backend: str, **options: Any) -> Target:
    """A target for the device of this machine."""
    reason = backends.get(backend).available()
    if reason is not None:
        unavailable(reason)
    chip = probe().devices[0].chip
    if chip is None:
        unavailable(f"no chip we compile for runs on {probe().devices[0]}")
    return Target(backend=backend, chip=chip, **options)


class Arrays:
    """Device copies of NumPy arrays, as bytes: neither library has all our types, and a launch takes addresses."""

    def __init__(self, library: str) -> None:
        if importlib.util.find_spec(library) is None:
            pytest.skip(f"{library} is not installed")
        self._library = importlib.import_module(library)
        self._is_cupy = library == "cupy"

    def to_device(self, array: Any) -> Any:
        data = array.view(np.uint8)
        return self._library.asarray(data) if self._is_cupy else self._library.from_numpy(data.copy()).cuda()

    def to_host(self, array: Any, like: Any) -> Any:
        data = array.get() if self._is_cupy else array.cpu().numpy()
        return data.view(like.dtype)


@pytest.fixture(params=["cupy", "torch"])
def arrays(request: pytest.FixtureRequest) -> Arrays:
    if probe().state != "ready":
        unavailable(probe().reason)
    return Arrays(request.param)


def load(case: Case, target: Target) -> Launcher | None:
    """A launcher, through the stages everybody sees; None if the backend says that it does not take the kernel."""
    backend = backends.get(target.backend)
    if backend.check(case.func, target):
        return None
    params = tuple((p.id, p.type, case.func.info.get(p.id, ParamInfo())) for p in case.func.params)
    stages = backend.lower(case.func, target)
    planned = backend.planned(target)
    compilation = Compilation(case.func.name, (), Specialization(params), target, planned, stages)
    return backend.load(compilation)


def run(case: Case, launch: Launcher, arrays: Arrays) -> list[Any]:
    """The arguments after a launch, on the host."""
    args = case.copies()
    device = [arrays.to_device(a) if isinstance(a, np.ndarray) else a for a in args]
    launch(case.grid, device)
    return [arrays.to_host(d, a) if isinstance(a, np.ndarray) else a for d, a in zip(device, args, strict=True)]


def check_all(cases: Sequence[Case], target: Target, arrays: Arrays, may_refuse: int = 0) -> None:
    """Run all, then report all that differ."""
    failures, refused = [], []
    for case in cases:
        launch = load(case, target)
        if launch is None:
            refused.append(case.name)
            continue
        try:
            check(case, run(case, launch, arrays))
        except AssertionError as error:
            failures.append(str(error))
    assert not failures, "\n".join(failures)
    assert len(refused) <= may_refuse, refused


CONFIGURATIONS = [
    pytest.param("cuda", {}, id="cuda"),
    pytest.param("cuda", {"form": "plain"}, id="cuda-plain"),
    pytest.param("mlir", {}, id="mlir"),
    pytest.param("mlir", {"abi": "memref"}, id="mlir-memref"),
]


@pytest.mark.parametrize(("backend", "options"), CONFIGURATIONS)
def test_every_case_with_one_warp(backend: str, options: dict[str, Any], arrays: Arrays) -> None:
    # A memref kernel refuses the one kernel that chooses between pointers of two arrays.
    refusable = 1 if options.get("abi") == "memref" else 0
    check_all(every_case(1024), target_for(backend, num_warps=1, **options), arrays, refusable)


@pytest.mark.parametrize("warps", [2, 4, 8])
@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_blocks_of_every_size_and_order_of_accesses(backend: str, warps: int, arrays: Arrays) -> None:
    check_all(memory_cases(8192), target_for(backend, num_warps=warps), arrays)


@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_a_scalar_update_happens_once_however_often_it_runs(backend: str, arrays: Arrays) -> None:
    case = scalar_update()
    launch = load(case, target_for(backend, num_warps=8))
    assert launch is not None
    counters, out = (arrays.to_device(a) for a in case.copies())
    for _ in range(100):
        launch(case.grid, [counters, out])
    assert list(arrays.to_host(counters, case.args[0])) == [107, 97, -(2**31) + 99]


@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_a_launch_in_a_thread_that_has_no_context_yet(backend: str, arrays: Arrays) -> None:
    import threading

    case = pointer_chain()
    launch = load(case, target_for(backend))
    assert launch is not None
    device = [arrays.to_device(a) for a in case.copies()]
    thread = threading.Thread(target=launch, args=(case.grid, device))
    thread.start()
    thread.join()
    check(case, [arrays.to_host(d, a) for d, a in zip(device, case.args, strict=True)])


def test_errors_of_the_driver_are_sentences(arrays: Arrays) -> None:
    from mytriton.backends.nvidia.launch import CubinLauncher

    launch: Callable[..., None] = CubinLauncher(b"not a cubin", "kernel", [], target_for("cuda"))
    with pytest.raises(LaunchError, match="loading the cubin failed: CUDA_ERROR_"):
        launch((1, 1, 1), [])


@pytest.mark.parametrize("backend", ["cuda", "mlir"])
def test_one_kernel_runs_on_several_devices(backend: str) -> None:
    """What is loaded is kept by device."""
    target = target_for(backend)
    cupy = pytest.importorskip("cupy")
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("there is one device")
    case = memory_cases()[0]
    launch = load(case, target)
    assert launch is not None
    for number in (0, 1, 0):
        with cupy.cuda.Device(number):
            check(case, run(case, launch, Arrays("cupy")))
