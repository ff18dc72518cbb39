"""Launches on the host that go the short way, in Python and in C, and those whose arguments are bound once: they do
what the long way does, and nothing goes the short way that the long one would refuse or compile anew."""

from __future__ import annotations

import gc
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mytriton
import mytriton.language as tl
from mytriton import LaunchError
from mytriton.backends.cpu import jit
from mytriton.binding import native
from tests.backends.grids import REFUSED_GRIDS

FACTOR = tl.constexpr(2)


@mytriton.jit
def scale(x, y, n, bias=0.5, flag=None, BLOCK: tl.constexpr = 16):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + offs, tl.load(x + offs, mask=offs < n, other=0) * FACTOR + bias, mask=offs < n)


@mytriton.jit
def reversed_sum(x, out, BLOCK: tl.constexpr):
    """Needs memory to keep a tile in: what it reads is gathered out of it."""
    values = tl.load(x + tl.arange(0, BLOCK))
    turned = tl.gather(values, BLOCK - 1 - tl.arange(0, BLOCK), axis=0)
    tl.store(out + tl.arange(0, BLOCK), tl.cumsum(turned, axis=0))


@mytriton.jit
def speaks(x, y, limit):
    value = tl.load(x)
    tl.device_assert(value < limit, "too large")
    tl.store(y, value)


@mytriton.jit
def prints(x, y):
    tl.device_print("x", tl.load(x))
    tl.store(y, tl.load(x))


@mytriton.jit
def total(arrays, out):
    value = tl.load(out) * 0
    for i in tl.static_range(len(arrays)):
        value += tl.load(arrays[i])
    tl.store(out, value)


KERNELS = (scale, reversed_sum, speaks, prints, total)


class Ways:
    """How many launches went which way; what went neither the long way nor that of Python was called by C."""

    def __init__(self) -> None:
        self.long = self.python = 0
        self.by_c = False


@pytest.fixture(autouse=True, params=["Python", "C"])
def ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    made, state = Ways(), native.State()
    monkeypatch.setattr(native, "STATE", state)
    monkeypatch.setattr(mytriton.JITFunction, "__getitem__", mytriton.JITFunction.__getitem__)
    monkeypatch.setenv("MYTRITON_BACKEND", "cpu")
    state.search = threading.Thread()  # as if it had ended
    if request.param == "C":
        state.module = request.getfixturevalue("in_c")
    launch, share = jit.Code.launch, jit.Code.share

    def counted_launch(self: Any, *args: Any) -> None:
        made.long += 1
        launch(self, *args)

    def counted_share(self: Any, *args: Any) -> None:
        made.python += 1
        share(self, *args)

    monkeypatch.setattr(jit.Code, "launch", counted_launch)
    monkeypatch.setattr(jit.Code, "share", counted_share)
    made.by_c = request.param == "C"
    for kernel in KERNELS:
        kernel._quick.clear()
    yield made
    for kernel in KERNELS:
        kernel._quick.clear()


def xy(dtype: Any = np.float32) -> tuple[Any, Any]:
    return np.arange(1, 41).astype(dtype), np.zeros(40, dtype)


def at(offset: int, dtype: Any = np.float32, read_only: bool = False) -> Any:
    """40 elements so many bytes beyond an address that is divisible by 64."""
    memory = np.zeros(40 * np.dtype(dtype).itemsize + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset
    made: Any = np.ndarray(40, dtype, memory, start)
    made[...] = np.arange(1, 41)
    made.flags.writeable = not read_only
    return made


def test_a_launch_is_repeated(ways):
    x, y = xy()
    for bias in (0.5, 1.5, -2.0):
        result = scale[3](x, y, 40, bias)
        assert result.ran and np.array_equal(y, 2 * x + np.float32(bias))
    other, out = at(16), at(32)
    for _ in range(2):  # not where the first ones were, and half of them
        scale[(3, 1)](other[:16], out[:16], n=16)
        assert np.array_equal(out[:16], 2 * other[:16] + np.float32(0.5)) and np.array_equal(out[16:], other[16:])
    assert ways.long == 2 and ways.python == (2 if ways.by_c else 5)


def outcome(launch: Any, out: Any) -> Any:
    """What compilation a launch gives, and what is in an array after it."""
    out[...] = 7
    return launch().compilation, out.tobytes()


def test_launches_that_are_compiled_differently_are_told_apart(ways):
    x, y = xy()
    arrays = [at(0), at(4), at(0, np.int32), at(4, np.int32), at(0, read_only=True), at(0)[::2], at(0)[19::-1]]
    arrays += [at(0, ml_dtypes.bfloat16), x[:0], np.float32(x).reshape(5, 8).T]
    numbers = [0, 1, 5, 16, 20, -16, 2**31, -(2**31), -(2**31) - 1, 2**40, 2**63, True, np.int32(16), np.int64(5)]
    launches: list[tuple[tuple[Any, ...], dict[str, Any]]] = [((a, y, min(20, a.size)), {}) for a in arrays]
    launches += [((x, y, 20), {"bias": b}) for b in (3, 0.0, 1e300, np.float32(0.25), float("nan"), np.float64(0.1))]
    launches += [((x, y, 20), {"flag": f}) for f in (None, 0.0, 1)] + [((x, y, 20), {"BLOCK": b}) for b in (16, 8)]
    launches += [((x, y, 20), {"enable_fp_fusion": v}) for v in (True, False, 1)]
    launches += [((x, y, n), {}) for n in numbers if n < 41]
    launches += [((np.zeros(48, np.float32), np.zeros(48, np.float32), n), {}) for n in numbers]  # room for all lanes
    wanted = [outcome(scale.prepare(3, *a, **k).run, a[1]) for a, k in launches]
    ways.long = 0
    for _ in range(3):
        for (args, keywords), expected in zip(launches, wanted, strict=True):
            found = outcome(lambda a=args, k=keywords: scale[3](*a, **k), args[1])
            assert found[0] is expected[0] and found[1] == expected[1], (args[2], keywords)
    assert ways.long < 2 * len(launches)


REFUSED: list[tuple[Any, tuple[Any, ...], dict[str, Any], str]] = [
    (1, (*xy(), 5, 0.5, None, 16, 9), {}, "takes 6 arguments"),
    (1, xy(), {}, "needs the argument `n`"),
    (1, (*xy(), 5), {"x": 1}, "got `x` twice"),
    (1, (*xy(), 2**64), {}, "does not fit in a 64-bit integer"),
    (1, (xy()[0], at(0, read_only=True), 5), {}, "argument `y` is read-only"),
    (1, (xy()[0], at(2), 5), {}, "argument `y` is not aligned"),
    (1, (at(0, np.complex64), xy()[1], 5), {}, "complex64"),
    (1, (at(0, ">f4"), xy()[1], 5), {}, "byte-swapped float32"),
    (1, (np.zeros(8, "f4,i1")["f0"], xy()[1], 5), {}, "do not lie a whole number of elements apart"),
    (1, ([1.0, 2.0], xy()[1], 5), {}, "list"),
    *((grid, (*xy(), 5), {}, message) for grid, message in REFUSED_GRIDS),
]


@pytest.mark.parametrize(("grid", "args", "keywords", "message"), REFUSED)
def test_refusals_are_the_same_after_launches_that_worked(ways, grid, args, keywords, message):
    for _ in range(2):
        scale[1](*xy(), 5)
        scale[1](at(4), at(4), 5)
        with pytest.raises(LaunchError) as caught:
            scale[grid](*args, **keywords)
        assert message in str(caught.value)


def test_grids(ways):
    seen: list[Any] = []

    def grid(meta: dict[str, Any]) -> Any:
        seen.append(meta)
        return mytriton.cdiv(meta["n"], meta["BLOCK"]), 1

    x, y = xy()
    for extents in (3, (3,), [3, 1], (np.int64(3), 1), grid, (3, 2, 2)):
        for _ in range(3):
            y[...] = 0
            assert scale[extents](x, y, 40).ran and np.array_equal(y, 2 * x + np.float32(0.5))
    expected = {"x": x, "y": y, "n": 40, "bias": 0.5, "flag": None, "BLOCK": 16}
    assert len(seen) == 3 and all([*meta] == [*expected] and meta["x"] is x and meta["n"] == 40 for meta in seen)
    y[...] = 0
    assert [scale[empty](x, y, 40).ran for empty in (0, (1, 0), lambda meta: 0)] == [False] * 3 and not y.any()
    with pytest.raises(LaunchError, match="extent 0 of the grid must be an integer of at least 0, got <function"):
        scale[lambda meta: grid](x, y, 40)
    assert len(seen) == 3


def test_nothing_outside_is_stale(ways, monkeypatch):
    x, y = xy()
    for value in (2, 3, 2, tl.constexpr(5)):
        monkeypatch.setitem(globals(), "FACTOR", value)
        factor = getattr(value, "value", value)
        for _ in range(2):
            scale[3](x, y, 40)
            assert np.array_equal(y, factor * x + np.float32(0.5))
    checks = []
    for value in ("1", "0", "1", ""):
        monkeypatch.setenv("MYTRITON_CHECK_BOUNDS", value)
        checks += [scale[3](x, y, 40).compilation.target.check_bounds for _ in range(2)]
    assert checks == [True, True, False, False] * 2
    monkeypatch.setenv("MYTRITON_BACKEND", "abacus")
    with pytest.raises(ValueError, match="unsupported backend 'abacus'"):
        scale[3](x, y, 40)
    assert scale[3](x, y, 40, backend="interp").compilation.target.backend == "interp"


def test_arrays_are_let_go(ways):
    held = []
    for _ in range(3):
        x, y = xy()
        scale[3](x, y, 40)
        held += [weakref.ref(x), weakref.ref(y)]
    del x, y
    gc.collect()
    assert [reference() for reference in held] == [None] * 6


def test_code_lives_as_long_as_launchers_that_were_made_before(ways):
    x, y = xy()
    scale[3](x, y, 40)
    ready, bound = scale[3], scale.bind(3, x, y, 40)
    scale.clear_cache()
    gc.collect()
    for launch in (lambda: ready(x, y, 40), bound):
        y[...] = 0
        assert launch().ran and np.array_equal(y, 2 * x + np.float32(0.5))


def test_threads_do_not_mix_what_they_keep(ways):
    def work(number: int) -> None:
        x, out = np.arange(64, dtype=np.float32) + number, np.zeros(64, np.float32)
        expected, bound = np.cumsum(x[::-1]), kept[number % 2]
        for _ in range(200):
            out[...] = 0
            reversed_sum[1](x, out, BLOCK=64)
            assert np.array_equal(out, expected)
            bound()

    shared = [(np.arange(64, dtype=np.float32) + n, np.zeros(64, np.float32)) for n in range(2)]
    kept = [reversed_sum.bind(1, x, out, BLOCK=64) for x, out in shared]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(work, range(6)))
    assert all(np.array_equal(out, np.cumsum(x[::-1])) for x, out in shared)
    assert ways.long <= 6  # those that were under way before the first was over


def test_large_grids_are_shared_among_threads(ways, monkeypatch):
    monkeypatch.setattr(jit, "threads", lambda: 3)
    n = 3 << 18
    x, y = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    bound = scale.bind((n // 4096,), x, y, n, BLOCK=4096)
    for launch in [lambda: scale[(n // 4096,)](x, y, n, BLOCK=4096)] * 3 + [bound]:
        y[...] = 0
        assert launch().ran and np.array_equal(y, 2 * x + np.float32(0.5))
    assert (ways.long, ways.python) == (1, 4)  # C leaves them to Python
    for rows in (1, 4):
        scale[rows](x, y, n, BLOCK=4096)
    assert (ways.long, ways.python) == (1, 4 if ways.by_c else 6)


def test_what_speaks_speaks_each_time(ways, capsys):
    x, y = np.zeros(1, np.float32), np.zeros(1, np.float32)
    bound = speaks.bind(1, x, y, 5.0)
    for value in (1, 2, 9, 3, 9):
        x[0] = value
        for launch in (lambda: speaks[1](x, y, 5.0), bound):
            if value < 5:
                assert launch().ran and y[0] == value
            else:
                with pytest.raises(LaunchError, match=r"program \(0, 0, 0\): too large"):
                    launch()
    capsys.readouterr()
    bound = prints.bind(1, x, y)
    for _ in range(3):
        prints[1](x, y)
        bound()
    assert capsys.readouterr().out.count("9.0") == 6


def test_bounds_are_checked_each_time(ways):
    x, y = xy()
    bound = scale.bind(3, x, y[:39], 40, check_bounds=True)
    for _ in range(3):
        scale[3](x, y, 40, check_bounds=True)
        for launch in (lambda: scale[3](x, y[:39], 40, check_bounds=True), bound):
            with pytest.raises(LaunchError, match=r"store outside of `y`, lane 7 of program \(2, 0, 0\)"):
                launch()
    assert ways.long == 6


def test_bound_arguments_are_checked_once_and_kept(ways):
    x, y = xy()
    bound = scale.bind((3,), x, y, 40, bias=1e300)
    before = ways.long
    kept, expected = weakref.ref(y), 2 * x + np.float32(1.5)
    x[...] = -x
    assert bound() is bound() and ways.long == before and np.isinf(y).all()
    bound = scale.bind(lambda meta: meta["n"] // 8, x, y, n=40, bias=-1.5)
    assert bound().ran and np.array_equal(-y, expected)
    del y
    gc.collect()
    assert kept() is not None and bound().ran
    with pytest.raises(TypeError):
        bound(1)
    for refused in ((x, at(0, read_only=True), 5), (x, at(2), 5), (x, x)):
        with pytest.raises(LaunchError):
            scale.bind(1, *refused)
    assert not scale.bind(0, x, x, 5)().ran and not scale.bind(1, x, x, 5, backend="cuda")().ran
    assert scale.bind(1, x, x, 40, BLOCK=64, backend="interp")().ran
    del bound
    gc.collect()
    assert kept() is None


def test_what_was_bound_before_there_was_code_in_c_uses_it(ways):
    module, native.STATE.module = native.STATE.module, None
    x, y = xy()
    bound: Any = scale.bind(3, x, y, 40)
    for now_by_c in (False, ways.by_c):
        y[...] = 0
        assert bound().ran and np.array_equal(y, 2 * x + np.float32(0.5)) and bound.by_c == now_by_c
        for waiting in list(native.STATE.waiting) if module else []:
            waiting.quicken(module)
    with pytest.raises(TypeError):
        bound(1)


@pytest.mark.parametrize("count", [63, 64, 70, 300, 511, 512, 520])
def test_any_number_of_parameters_is_bound(ways, count):
    arrays, out = tuple(np.full(1, i, np.int32) for i in range(count)), np.zeros(1, np.int32)
    before = ways.python + ways.long
    bound: Any = total.bind(1, arrays, out)
    for factor in (1, 3):
        arrays[-1][0] = factor * (count - 1)
        assert bound().ran and out[0] == (count - 1) * (count - 2) // 2 + factor * (count - 1)
    in_c = ways.by_c and count + 1 <= 512  # the array of results is a parameter too
    assert (type(bound).__name__ == "method") == in_c and ways.python + ways.long == before
    with pytest.raises(TypeError, match="a bound launch takes no arguments" if in_c else "takes no|takes 1 pos"):
        bound(3)
    assert total[1](arrays, out).ran and out[0] == (count - 1) * (count - 2) // 2 + 3 * (count - 1)


def test_kernels_that_are_completed_are_bound_as_they_are_launched(ways):
    calls: list[int] = []
    configs = [mytriton.Config({"BLOCK": 16}, pre_hook=lambda named: calls.append(named["n"]))]
    tuned = mytriton.autotune(configs, key=["n"])(scale)
    x, y = xy()
    for launch in (lambda: tuned[3](x, y, 40), tuned.bind(3, x, y, 40)):
        y[...], calls[:] = 0, []
        assert launch().ran and np.array_equal(y, 2 * x + np.float32(0.5)) and calls == [40]
    computed = mytriton.heuristics({"BLOCK": lambda named: 2 * named["n"]})(scale)
    for launch in (lambda: computed[1](x, y, 8), computed.bind(1, x, y, 8)):
        y[...] = 0
        assert launch().ran and launch().compilation.stage("llvm").ok and y[:8].all() and not y[8:].any()


def test_torch_tensors(ways):
    torch = pytest.importorskip("torch")
    x, y = torch.arange(40.0), torch.zeros(40)
    half = torch.nn.Parameter(x.to(torch.bfloat16))
    negated = torch.complex(x, x).conj().imag
    for _ in range(3):
        scale[3](half, y, 40)
        assert torch.equal(y, 2 * x + 0.5)
        scale[3](x, y, 40, bias=1.5)
        scale[3](x[1:], y[1:], 39)
        assert torch.equal(y[1:], 2 * x[1:] + 0.5) and y[0] == 1.5
        for refused, message in ((torch.zeros(40, device="meta"), "torch tensor on meta"), (negated, "lazily negated")):
            with pytest.raises(LaunchError, match=message):
                scale[3](x, refused, 40)
    assert (ways.long, ways.python) == (3, 3 if ways.by_c else 9)
