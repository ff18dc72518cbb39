"""Launches that go the short way on a GPU, against stand-ins for the driver, CuPy and torch: they ask of the driver
what the long way asks, and nothing goes the short way that the long one would refuse or compile anew."""

from __future__ import annotations

import ctypes
import itertools
import re
import struct
import sys
import threading
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import mytriton
import mytriton.language as tl
from mytriton import LaunchError, options
from mytriton.backends.cuda.backend import CudaBackend
from mytriton.backends.nvidia import device, driver, way
from mytriton.backends.nvidia.launch import MEMREF, CubinLauncher
from mytriton.binding import native
from tests.backends.gpu_stand_ins import Array, DriverError, Exchange, Machine, Parameter, Tensor
from tests.backends.grids import REFUSED_GRIDS

FACTOR = tl.constexpr(2)


@mytriton.jit
def helper(value):
    return value * FACTOR


@mytriton.jit
def scale(x, y, n, bias=0.5, flag=None, BLOCK: tl.constexpr = 8):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offs, helper(tl.load(x + offs, mask=offs < n, other=0)) * FACTOR + bias, mask=offs < n)


@pytest.fixture(autouse=True, params=["Python", "C", "C, DLPack"])
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    made = Machine()
    state = native.State()
    monkeypatch.setattr(native, "STATE", state)
    monkeypatch.setattr(mytriton.JITFunction, "__getitem__", mytriton.JITFunction.__getitem__)
    state.search = threading.Thread()  # as if it had ended
    if request.param != "Python":
        state.module = request.getfixturevalue("in_c")
        functions = made.in_c()
        addresses = tuple(ctypes.cast(function, ctypes.c_void_p).value for function in functions)
        monkeypatch.setattr(driver, "addresses", lambda: addresses)
    if request.param == "C, DLPack":
        exchange = Exchange(made)
        monkeypatch.setattr(Tensor, "__dlpack_c_exchange_api__", exchange.capsule, raising=False)
    found = device.Probe("ready", (device.Device("stand-in", (9, 0)),) * 2, (13, 0))
    for module in (options, way):
        monkeypatch.setattr(module, "probe", lambda: found)
    monkeypatch.setattr(driver, "library", lambda: made.cuda)
    monkeypatch.setattr(driver, "primary_context", driver.primary_context.__wrapped__)
    calls = SimpleNamespace(
        launchKernel=made.launch_kernel, ctxGetCurrent=lambda: made.cuda.current, CUDADriverError=DriverError
    )
    cuda = SimpleNamespace(driver=calls, get_current_stream=lambda gpu: SimpleNamespace(ptr=made.stream + 100 * gpu))
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(ndarray=Array, cuda=cuda))  # type: ignore[arg-type]
    raw = SimpleNamespace(_cuda_getCurrentRawStream=lambda gpu: made.stream + 100 * gpu)
    torch = SimpleNamespace(Tensor=Tensor, _C=raw, nn=SimpleNamespace(Parameter=Parameter))
    monkeypatch.setitem(sys.modules, "torch", torch)  # type: ignore[arg-type]

    def load(self: Any, compilation: Any) -> CubinLauncher:  # as if it were compiled
        params = [(name, type_) for name, type_, _ in compilation.specialization.params]
        return CubinLauncher(b"", "scale", params, compilation.target)

    def long(self: CubinLauncher, grid: Any, args: Any) -> None:
        made.long += 1
        original(self, grid, args)

    original = CubinLauncher.__call__
    monkeypatch.setattr(CubinLauncher, "__call__", long)
    monkeypatch.setattr(CudaBackend, "load", load)
    scale.clear_cache()
    made.by_c = request.param != "Python"
    yield made
    scale.clear_cache()


def xy(kind: Any = Array) -> tuple[Any, Any]:
    return kind(0x1000), kind(0x2000)


FORMS: list[tuple[tuple[Any, ...], dict[str, Any], str, tuple[Any, ...]]] = [
    ((*xy(), 5), {}, "@QQif", (0x1000, 0x2000, 5, 0.5)),
    ((*xy(), 2**31), {"bias": 2.5}, "@QQqf", (0x1000, 0x2000, 2**31, 2.5)),
    ((*xy(), 2**63), {}, "@QQQf", (0x1000, 0x2000, 2**63, 0.5)),
    ((*xy(), True), {"BLOCK": 16, "bias": -3, "num_warps": 2}, "@QQ?i", (0x1000, 0x2000, True, -3)),
    ((*xy(Tensor), 5), {"flag": 1.0}, "@QQiff", (0x1000, 0x2000, 5, 0.5, 1.0)),
    ((Parameter(0x1000), Tensor(0x2000), 5), {}, "@QQif", (0x1000, 0x2000, 5, 0.5)),
    ((*xy(), np.int64(-16)), {"bias": np.float32(0.25)}, "@QQqf", (0x1000, 0x2000, -16, 0.25)),
    ((*xy(Tensor), np.uint8(5)), {"bias": np.float64(0.1), "flag": np.True_}, "@QQBd?", (0x1000, 0x2000, 5, 0.1, True)),
    (
        (),
        {"n": 5, "bias": 1e300, "y": Array(0x2004), "x": Tensor(0x1008)},
        "@QQif",
        (0x1008, 0x2004, 5, float("inf")),
    ),
]


@pytest.mark.parametrize(("args", "keywords", "layout", "values"), FORMS)
def test_the_short_way_asks_of_the_driver_what_the_long_one_does(machine, args, keywords, layout, values):
    results = [scale[(2, 3)](*args, **keywords) for _ in range(3)]
    first, second, third = machine.calls
    assert first == second == third
    assert first == (100, 1100, (2, 3, 1, 32 * keywords.get("num_warps", 4), 1, 1, 0), 7, struct.pack(layout, *values))
    assert machine.long == (3 if 2**63 in args else 1)  # so large a number always goes the long way
    assert all(r.ran and r.compilation is results[0].compilation for r in results)
    one_library = len({a.__module__ for a in (*args, *keywords.values()) if isinstance(a, (Array, Tensor))}) == 1
    numbers = any(isinstance(a, np.generic) for a in (*args, *keywords.values()))
    assert machine.native == (2 if machine.by_c and one_library and not numbers and 2**63 not in args else 0)


def variations() -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Launches that differ in what is compiled for, and some that do not."""
    x, y = xy()
    places = itertools.product((64, 68), ("f4", "i4", "f8"), (4, 0), (None, (16,)))
    arrays: list[Any] = [Array(*place) for place in places]
    arrays += [Tensor(a, t) for a in (64, 68) for t in ("float32", "int32")]
    edges = [sign * 2**bits + off for bits in (0, 4, 31, 32) for off in (-16, -1, 0, 1) for sign in (-1, 1)]
    numbers = [*edges, 2**63, 2**63 - 1, True, 0.0, 1.5]
    numbers += [
        kind(v) for kind in (np.int8, np.int32, np.uint64, np.float32, np.float64, np.float16) for v in (0, 1, 16)
    ]
    made: list[tuple[tuple[Any, ...], dict[str, Any]]] = [((a, y, 5), {}) for a in arrays]
    made += [((x, y, n), {}) for n in numbers] + [((x, y, 5), {"bias": n}) for n in numbers]
    made += [((x, y, 5), {"flag": f}) for f in (None, 0.0, -0.0, 1, True)]
    made += [((x, y, 5), {"BLOCK": b}) for b in (8, 16)] + [((x, y, 5), {"num_warps": w}) for w in (1, 2)]
    return made + [((x, y, 5), {"enable_fp_fusion": v}) for v in (True, False, 1, 0)]


def test_launches_that_are_compiled_differently_are_told_apart(machine):
    launches = variations()
    wanted = [scale.prepare(1, *args, **keywords).compilation for args, keywords in launches]
    for _ in range(2):
        for (args, keywords), compilation in zip(launches, wanted, strict=True):
            assert scale[1](*args, **keywords).compilation is compilation, (args, keywords)
    assert machine.long < 2 * len(launches) - 60


REFUSED: list[tuple[Any, tuple[Any, ...], dict[str, Any], str]] = [
    (1, (*xy(), 5, 0.5, None, 8, 9), {}, "takes 6 arguments"),
    (1, xy(), {}, "needs the argument `n`"),
    (1, (*xy(), 5), {"x": 1}, "got `x` twice"),
    (1, (*xy(), 5), {"BLOK": 8}, "did you mean `BLOCK`?"),
    (1, (*xy(), 2**64), {}, "does not fit in a 64-bit integer"),
    (1, (Array(64, strides=(6,)), Array(64), 5), {}, "do not lie a whole number of elements apart"),
    (1, (Array(64, "c8"), Array(64), 5), {}, "of complex64"),
    (1, (Array(64), np.zeros(4, np.float32), 5), {}, "argument `y` is a NumPy array but `x` is a CuPy array"),
    (1, (Tensor(64), Tensor(64, where="cpu"), 5), {}, "argument `y` is a torch CPU tensor but `x`"),
    (1, (Tensor(64), Tensor(64, negated=True), 5), {}, "argument `y` is a torch tensor but `x`"),
    (1, (Array(64), Array(64, gpu=1), 5), {}, "argument 'y' is on GPU 1, another is on GPU 0"),
    *((grid, (*xy(), 5), {}, message) for grid, message in REFUSED_GRIDS),
]


@pytest.mark.parametrize(("grid", "args", "keywords", "message"), REFUSED)
def test_refusals_are_the_same_after_launches_that_worked(machine, grid, args, keywords, message):
    for kind in (Array, Tensor, Array):
        scale[1](*xy(kind), 5)
        with pytest.raises(LaunchError) as caught:
            scale[grid](*args, **keywords)
        assert message in str(caught.value)
    assert len(machine.calls) == 3


def test_grids(machine):
    seen: list[Any] = []

    def grid(meta: dict[str, Any]) -> Any:
        seen.append(meta)
        return mytriton.cdiv(meta["n"], meta["BLOCK"]), 1

    x, y = xy()
    for extents in (4, (4,), [4, 1], (np.int64(4), 1), grid):
        for _ in range(2):
            assert scale[extents](x, y, 32).ran
    assert {shape[:3] for _, _, shape, _, _ in machine.calls} == {(4, 1, 1)} and len(machine.calls) == 10
    expected = {"x": x, "y": y, "n": 32, "bias": 0.5, "flag": None, "BLOCK": 8}
    assert [list(meta.items()) for meta in seen] == [list(expected.items())] * 2
    assert [scale[empty](x, y, 32).ran for empty in (0, (1, 0), lambda meta: 0)] == [False] * 3
    assert len(machine.calls) == 10


def test_streams_devices_and_contexts_are_the_callers_now(machine):
    for stream in (7, 8):
        machine.stream = stream
        for gpu in (0, 1):
            for _ in range(2):
                machine.cuda.current = 100  # another library has switched
                scale[1](Array(64, gpu=gpu), Array(64, gpu=gpu), 5)
            machine.cuda.current = 100
            scale[1](*xy(Tensor), 5)
    assert machine.long == 3
    wanted = [(100 + gpu, 1100 + gpu, stream + 100 * gpu) for stream in (7, 8) for gpu in (0, 0, 0, 1, 1, 0)]
    assert [(context, function, stream) for context, function, _, stream, _ in machine.calls] == wanted


def test_bound_launches_ask_what_launches_do(machine):
    for arrays in (xy(), xy(Tensor), (Array(64, gpu=1), Array(64, gpu=1))):
        bound = scale.bind((2, 3), *arrays, 5, bias=1e300)
        for stream in (7, 8):
            machine.stream, machine.cuda.current = stream, 77  # another library has switched
            results = [bound(), scale[(2, 3)](*arrays, 5, bias=1e300)]
            assert machine.calls[-2] == machine.calls[-1] and all(result.ran for result in results)
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(bound).result() is results[0] and machine.calls[-1] == machine.calls[-2]
    assert machine.long == 3 and len(machine.calls) == 18
    kept = weakref.ref(arrays[0])
    del arrays
    assert kept() is not None and bound().ran
    machine.fails = True
    with pytest.raises(LaunchError, match=r"failed: CUDA_ERROR_NOT_INITIALIZED.*forked from one that uses the GPU"):
        bound()
    for grid, args, keywords, message in REFUSED:
        with pytest.raises(LaunchError, match=re.escape(message)):
            scale.bind(grid, *args, **keywords)


def test_a_thread_without_a_context_gets_one(machine, monkeypatch):
    found = device.Probe("ready", (device.Device("stand-in", (9, 0)),), (13, 0))
    for module in (options, way):
        monkeypatch.setattr(module, "probe", lambda: found)
    scale[1](*xy(), 5)
    for context in (0, 7):
        machine.cuda.current, machine.fails = context, True
        monkeypatch.setattr(machine.cuda, "cuCtxSetCurrent", lambda now: machine.enter(now))
        assert scale[1](*xy(), 5).ran and machine.cuda.current == 100
    assert len(machine.calls) == 3 and machine.long == 1


def test_memref_descriptors_take_the_short_way(machine, monkeypatch):
    def load(self: Any, compilation: Any) -> CubinLauncher:
        params = [(name, type_) for name, type_, _ in compilation.specialization.params]
        return CubinLauncher(b"", "scale", params, compilation.target, MEMREF)

    monkeypatch.setattr(CudaBackend, "load", load)
    for arrays in (xy(), xy(Tensor)):
        machine.calls.clear()
        for _ in range(2):
            assert scale[1](*arrays, 5).ran
        (*_, packed), again = machine.calls
        fields = (0x1000, 0x1000, 0, 4, 1, 0x2000, 0x2000, 0, 4, 1, 5, 0.5)
        assert (*_, packed) == again and packed == struct.pack("@QQqqqQQqqqif", *fields)
    assert machine.long == 2


def test_calls_of_other_forms_keep_their_arguments(machine):
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((*xy(), 5), {}), ((*xy(),), {"n": 5}), ((*xy(), 5), {"BLOCK": 16}), ((*xy(), 5, 0.5, None, 16), {}),
        ((), dict(zip(("x", "y", "n"), (*xy(), 5), strict=True))), ((*xy(), 5), {"bias": 1, "BLOCK": 8}),
        ((*xy(), 5), {"BLOCK": 8, "bias": 1}), ((*xy(), 5), {"".join(("BLO", "CK")): 16}),  # which is not interned
    ]  # fmt: skip
    for _ in range(3):
        for args, keywords in calls:
            assert scale[1](*args, **keywords).compilation is scale.prepare(1, *args, **keywords).compilation
    assert machine.long <= 7 and len(machine.calls) == 24


def test_nothing_outside_is_stale(machine, monkeypatch):
    values = (2, 3, 2, tl.constexpr(5))
    for value in values:
        monkeypatch.setitem(globals(), "FACTOR", value)
        for _ in range(2):
            result = scale[1](*xy(), 5)
            assert result.compilation is scale.prepare(1, *xy(), 5).compilation
    before = result.compilation
    values[3].value = 6
    assert scale[1](*xy(), 5).compilation is not before
    assert scale[1](*xy(), 5).compilation is scale.prepare(1, *xy(), 5).compilation
    monkeypatch.setenv("MYTRITON_BACKEND", "abacus")
    with pytest.raises(ValueError, match="unsupported backend 'abacus'"):
        scale[1](*xy(), 5)
    monkeypatch.setenv("MYTRITON_BACKEND", "cuda")
    assert scale[1](*xy(), 5).ran
    for value, found in (("1", True), ("0", False), ("1", True)):
        monkeypatch.setenv("MYTRITON_LINE_INFO", value)
        assert [scale[1](*xy(), 5).compilation.target.line_info for _ in range(2)] == [found] * 2


def test_what_changes_all_the_time_goes_the_long_way(machine, monkeypatch):
    for value in (2, 3) * 12:
        monkeypatch.setitem(globals(), "FACTOR", value)
        made, wanted = scale[1](*xy(), 5).compilation, scale.prepare(1, *xy(), 5).compilation
        assert made.stage("ssa").text == wanted.stage("ssa").text
    assert machine.long > 12 and len(machine.calls) == 24


def test_a_cleared_cache_is_forgotten_by_launchers_that_were_made_before(machine):
    ready = scale[1]
    first = [ready(*xy(), 5), scale[1](*xy(), 5)]
    held = scale[1]
    assert held(*xy(), 5).compilation is first[0].compilation and machine.long == 1
    scale.clear_cache()
    for launcher in (held, ready, scale[1]):
        assert launcher(*xy(), 5).compilation is not first[0].compilation
    assert machine.long == 2


def test_what_the_driver_says_is_a_launch_error(machine):
    scale[1](*xy(), 5)
    machine.fails = True
    for _ in range(2):
        with pytest.raises(LaunchError, match=r"failed: CUDA_ERROR_NOT_INITIALIZED.*forked from one that uses the GPU"):
            scale[1](*xy(), 5)
    machine.fails = False
    assert scale[1](*xy(), 5).ran and machine.long == 1


def test_without_cupy_the_driver_is_called_by_ctypes(machine, monkeypatch):
    monkeypatch.delitem(sys.modules, "cupy")
    for _ in range(3):
        assert scale[1](*xy(Tensor), 5).ran
    assert machine.long == 1 and len(set(machine.cuda.launches)) == 1
    machine.cuda.cuLaunchKernel = lambda *args: 3
    with pytest.raises(LaunchError, match=r"launching the kernel failed: CUDA_ERROR_FAKE \(3\).*forked"):
        scale[1](*xy(Tensor), 5)


def test_threads_do_not_mix_their_parameters(machine):
    wrong: list[Any] = []
    local = threading.local()

    def check(*given: Any) -> None:
        fields = (ctypes.c_void_p * 5).from_address(given[-1])
        packed = ctypes.string_at(fields[1] or 0, 24)
        if packed != struct.pack("@QQif", local.address, 0x2000, local.address, 0.5)[:24]:
            wrong.append(packed)

    sys.modules["cupy"].cuda.driver.launchKernel = check  # type: ignore[attr-defined]

    def work(number: int) -> None:
        for step in itertools.count():
            local.address = 16 * (1 + number + 8 * step)
            scale[1](Array(local.address), Array(0x2000), local.address)
            if step == 100:
                return

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_threads_learn_while_others_launch(machine):
    """More kinds of launches than C remembers, by tensors whose answers let other threads run."""
    kinds = [(warps, dtype, odd) for warps in (1, 2, 4, 8) for dtype in ("float32", "int32") for odd in (0, 1)]

    def tensor(address: int, dtype: str) -> Any:
        made = Tensor(address, dtype)
        made.is_neg = lambda: time.sleep(0)  # which is not true
        return made

    def work(number: int) -> None:
        for step in range(60):
            warps, dtype, odd = kinds[(7 * step + number) % len(kinds)]
            x, y = tensor(1 << 12 | warps << 4, dtype), tensor(2 << 12 | odd << 2, dtype)
            assert scale[warps](x, y, 16 * step + odd, num_warps=warps).ran

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(machine.calls) == 480
    for _, _, shape, _, packed in machine.calls:
        x, y, n, bias = struct.unpack("@QQif", packed)
        warps = x >> 4 & 15
        assert shape == (warps, 1, 1, 32 * warps, 1, 1, 0) and (y >> 2 & 1) == n % 16 and bias == 0.5
