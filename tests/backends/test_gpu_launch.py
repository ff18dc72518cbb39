"""Repeated launches on a real GPU, bound by Python and by C: streams, graphs, threads, forks, devices, libraries."""

from __future__ import annotations

import ctypes
import os
import signal
import threading
from contextlib import nullcontext
from typing import Any

import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.backends.nvidia import driver
from mytriton.binding import native
from mytriton.diagnostics import LaunchError
from tests.backends.test_gpu import target_for

pytestmark = pytest.mark.execution


@triton.jit
def advance(x, n, step, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offs, tl.load(x + offs, mask=offs < n) + step, mask=offs < n)


class CuPy:
    """What these tests do with CuPy."""

    def __init__(self) -> None:
        self.module = pytest.importorskip("cupy")

    def zeros(self, n: int, dtype: str = "float32") -> Any:
        return self.module.zeros(n, dtype)

    def total(self, x: Any) -> float:
        return float(x.sum(dtype="float64"))

    def stream(self) -> Any:
        return self.module.cuda.Stream(non_blocking=True)

    def on(self, stream: Any) -> Any:
        return stream

    def wait(self) -> None:
        self.module.cuda.runtime.deviceSynchronize()

    def graph(self, stream: Any, work: Any) -> Any:
        with stream:
            stream.begin_capture()
            work()
            graph = stream.end_capture()
        return lambda: graph.launch(stream)


class Torch:
    """The same with torch."""

    def __init__(self) -> None:
        self.module = pytest.importorskip("torch")

    def zeros(self, n: int, dtype: str = "float32") -> Any:
        return self.module.zeros(n, dtype=getattr(self.module, dtype), device="cuda")

    def total(self, x: Any) -> float:
        return float(x.double().sum())

    def stream(self) -> Any:
        return self.module.cuda.Stream()

    def on(self, stream: Any) -> Any:
        return self.module.cuda.stream(stream)

    def wait(self) -> None:
        self.module.cuda.synchronize()

    def graph(self, stream: Any, work: Any) -> Any:
        graph = self.module.cuda.CUDAGraph()
        with self.module.cuda.graph(graph, stream=stream):
            work()
        return graph.replay


@pytest.fixture(params=["Python", "C"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    state = native.State()
    state.search = threading.Thread()  # as if it had ended
    if request.param == "C":
        state.module = request.getfixturevalue("in_c")
    monkeypatch.setattr(native, "STATE", state)
    monkeypatch.setattr(triton.JITFunction, "__getitem__", triton.JITFunction.__getitem__)
    advance.clear_cache()
    yield request.param
    advance.clear_cache()


@pytest.fixture(params=[CuPy, Torch])
def library(request: pytest.FixtureRequest) -> Any:
    return request.param()


MEMREF = {"backend": "mlir", "form": "plain", "abi": "memref"}


@pytest.fixture(params=[{"backend": "cuda"}, {"backend": "mlir"}, MEMREF])
def options(request: pytest.FixtureRequest) -> Any:
    target_for(request.param["backend"])
    return request.param


def quick(way: str) -> bool:
    """Whether the kernel's launches go the short way that is tested."""
    latest = advance._quick.latest
    return latest != advance._quick.launch and hasattr(latest, "__wrapped__") == (way == "C")


def test_values(way, library, options):
    for dtype in ("float32", "float16", "int64"):
        for n in (1, 31, 1000, 4095, 1 << 16):
            x = library.zeros(n, dtype)
            for _ in range(3):
                advance[lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),)](x, n, 2, BLOCK=128, **options)
            part = x[1:] if n > 1 else x  # another alignment
            advance[triton.cdiv(n, 128)](part, len(part), 1, BLOCK=128, **options)
            assert library.total(x) == 6 * n + len(part) and quick(way)


def test_the_callers_stream_and_graphs_of_it(way, library, options):
    n = 1000
    x, stream = library.zeros(n), library.stream()
    launch = advance[(8,)]
    library.wait()
    for context in (nullcontext(), library.on(stream)):
        with context:
            for _ in range(3):
                launch(x, n, 1, BLOCK=128, **options)
                advance[(8,)](x, n, 1, BLOCK=128, **options)
        library.wait()
    assert library.total(x) == 12 * n and quick(way)

    def work() -> None:
        for _ in range(5):
            advance[(8,)](x, n, 1, BLOCK=128, **options)

    replay = library.graph(stream, work)
    library.wait()
    assert library.total(x) == 12 * n  # what is captured has not run
    for _ in range(3):
        replay()
    library.wait()
    assert library.total(x) == 27 * n


def test_the_first_launch_may_be_in_a_capture(library, options):
    advance.clear_cache()
    x = library.zeros(1000)
    library.wait()
    replay = library.graph(library.stream(), lambda: advance[(8,)](x, 1000, 1, BLOCK=128, **options))
    for _ in range(3):
        replay()
    library.wait()
    assert library.total(x) == 3000


def test_threads_have_their_own_parameters_and_streams(way, library, options):
    n, wrong = 1000, list[Any]()
    advance[(8,)](library.zeros(n), n, 1, BLOCK=128, **options)

    def work(number: int) -> None:
        stream = library.stream()
        with library.on(stream):
            x = library.zeros(n)
            for _ in range(200):
                advance[(8,)](x, n, number, BLOCK=128, **options)
            stream.synchronize()
            total = library.total(x)
        if total != 200 * n * number:
            wrong.append((number, total))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_queue_that_is_full_and_a_wrong_grid(way, library, options):
    x = library.zeros(1000)
    for _ in range(5000):
        advance[(8,)](x, 1000, 1, BLOCK=128, **options)
    with pytest.raises(LaunchError, match="extent 1 of the grid is 65536"):
        advance[(8, 65536)](x, 1000, 1, BLOCK=128, **options)
    assert not advance[(0,)](x, 1000, 1, BLOCK=128, **options).ran
    library.wait()
    assert library.total(x) == 5_000_000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_is_told_that_it_cannot(way, library, options):
    x = library.zeros(1000)
    for _ in range(2):
        advance[(8,)](x, 1000, 1, BLOCK=128, **options)
    library.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            advance[(8,)](x, 1000, 1, BLOCK=128, **options)
        except LaunchError as error:
            os._exit(7 if "forked" in str(error) else 8)
        finally:
            os._exit(9)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7
    advance[(8,)](x, 1000, 1, BLOCK=128, **options)
    assert library.total(x) == 3000


def test_the_driver_has_the_figures_that_we_tell_without_a_gpu(options):
    """`Resources` against cuFuncGetAttribute: 1 shared (static), 3 local, 4 registers."""
    x = CuPy().zeros(1000)
    result = advance[(8,)](x, 1000, 1, BLOCK=128, **options)
    (entry,) = (e for e in advance._cache.values() if e.compilation is result.compilation)
    launcher: Any = entry.launcher()
    value = ctypes.c_int()

    def asked(number: int) -> int:
        assert (
            driver.library().cuFuncGetAttribute(ctypes.byref(value), number, ctypes.c_void_p(launcher.function(0))) == 0
        )
        return value.value

    found = result.resources
    assert (asked(1), asked(3), asked(4)) == (found.shared - launcher.shared, found.stack, found.registers)
    blocks = ctypes.c_int()
    code = driver.library().cuOccupancyMaxActiveBlocksPerMultiprocessor(
        ctypes.byref(blocks), ctypes.c_void_p(launcher.function(0)), 128, ctypes.c_size_t(launcher.shared)
    )
    assert code == 0 and found.occupancy is not None and blocks.value == found.occupancy.blocks


def test_several_devices(way):
    if triton.backends.nvidia.device.probe().devices[1:] == ():
        pytest.skip("there is one device")
    torch = pytest.importorskip("torch")
    for number in (0, 1, 0, 1):
        x = torch.zeros(1000, device=f"cuda:{number}")
        for _ in range(3):
            advance[(8,)](x, 1000, 1, BLOCK=128)
        assert float(x.sum()) == 3000
