"""Launches that repeat an earlier one: equal keys are compiled alike, and repeating changes nothing but the time."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mytriton
import mytriton.language as tl
from mytriton import LaunchError
from mytriton.arrays import address_of
from mytriton.repeat import CallShape

FACTOR = tl.constexpr(2)


@mytriton.jit
def scale(x, n, BIAS: tl.constexpr = 0, BLOCK: tl.constexpr = 8):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + offs, tl.load(x + offs, mask=offs < n, other=0.0) * FACTOR + BIAS, mask=offs < n)


# --- keys -------------------------------------------------------------------------------------------------------------


def key_of(*args: Any, **keywords: Any) -> Any:
    shape = CallShape(scale.kernel, len(args), keywords)
    return shape.key(scale.kernel, shape.values(args, keywords))


def compiled(*args: Any, **keywords: Any) -> Any:
    """What the long way compiles: one object for each specialization and target; the error if it refuses."""
    try:
        return scale.prepare(1, *args, **keywords).compilation
    except (LaunchError, ValueError) as error:
        return str(error)


def assert_finer(launches: Iterable[tuple[tuple[Any, ...], dict[str, Any]]]) -> int:
    """Check that launches of equal keys are compiled alike; gives the number of keys."""
    known: dict[Any, Any] = {}
    for args, keywords in launches:
        key = key_of(*args, **keywords)
        if key is not None:
            made = compiled(*args, **keywords)
            same = known.setdefault((len(args), *keywords, key), made)
            assert same is made or (isinstance(made, str) and same == made), (args, keywords)
    return len(known)


def arrays() -> list[np.ndarray]:
    """Arrays of every element type that differ in alignment, size, shape, order and permission."""
    made: list[np.ndarray] = []
    for dtype in ("?", "i4", "i8", "f2", "f4", "f8", ml_dtypes.bfloat16):
        memory = np.zeros(300, dtype)
        start = next(i for i in range(16) if memory[i:].ctypes.data % 16 == 0)
        aligned, shifted = memory[start:][:256], memory[start + 1 :][:256]
        square, locked = aligned.reshape(16, 16), aligned[:]
        locked.flags.writeable = False
        made += [aligned, shifted, shifted[:0], aligned[::2], shifted[::2], square, square.T, square[:, :1], locked]
    return made


def test_keys_of_arrays():
    # 7 types, aligned or not: what else differs does not count, or has no key.
    assert assert_finer(((x, 5), {"backend": "cpu"}) for x in arrays()) == 14
    whole = np.zeros((4, 4), np.float32)
    assert key_of(whole[:, ::2], 5) == key_of(whole, 5)
    assert key_of(np.zeros(4, "f4, i1")["f0"], 5) is None
    assert key_of(np.zeros(4, np.float32).view(np.recarray), 5) is None


@pytest.mark.parametrize("backend", ["cpu", "cuda"])
def test_keys_of_numbers(backend):
    edges = [sign * 2**bits + off for bits in (0, 4, 31, 32, 63) for off in (-16, -1, 0, 1) for sign in (-1, 1)]
    values = [*edges, True, False, 0.0, -0.0, 1.5, float("nan"), None]
    values += [type_(16) for type_ in (np.int8, np.int32, np.int64, np.float32, np.float64, np.bool_)]
    assert (
        assert_finer(((v, v), {"backend": backend}) for v in values) == 14
    )  # 2 widths by divisibility, 1, 3 types, and 6 of NumPy's


@given(st.lists(st.integers(-(2**64), 2**64) | st.integers(-64, 64).map(lambda i: 2**31 + i), min_size=2, max_size=9))
def test_keys_of_integers(values):
    assert_finer(((None, v), {"backend": "cpu"}) for v in values)


def test_keys_of_tuples():
    x = np.zeros(4, np.float32)
    items: list[Any] = [x, x.astype(np.int32), 5, 16, 1, 2**40, 1.5, None, (x,), (5, 1.5)]
    values = [(), *((item,) for item in items), *((x, item) for item in items), ((x, 5), 5), (x, (5, 5))]
    assert assert_finer(((None, v), {"backend": "cpu"}) for v in values) == len(values)
    assert key_of(None, (x, "name")) is None and key_of(None, (tl.constexpr(1),)) is None


CONSTANTS = [
    0,
    1,
    1.0,
    True,
    False,
    0.0,
    -0.0,
    float("nan"),
    float("inf"),
    None,
    "1",
    "",
    tl.float16,
    tl.float32,
    2**70,
]
HAVE_NO_KEY = [(1,), [1], tl.constexpr(1), np.int64(1), np.float64(1), np.zeros(2)]


def test_keys_of_constexprs_and_options():
    assert assert_finer(((None, 1), {"BIAS": v}) for v in CONSTANTS) == len(CONSTANTS)
    assert all(key_of(None, 1, BIAS=v) is None for v in HAVE_NO_KEY)
    options: list[dict[str, Any]] = [{"backend": b} for b in ("cpu", "interp", "cuda", "mlir", None)]
    options += [{"num_warps": v} for v in (1, 2, True, 1.0)] + [{"enable_fp_fusion": v} for v in (True, False, 1, 0)]
    assert assert_finer(((None, 1), {"backend": "cuda", **o}) for o in options) == 13


class FakeCupyArray:
    """A GPU array as CuPy has it. The interface of an empty one gives the address 0."""

    __module__ = "cupy"

    def __init__(self, dtype: str, address: int, size: int = 4, contiguous: bool = True) -> None:
        self.dtype, self.size = np.dtype(dtype), size
        self.data = SimpleNamespace(ptr=address)
        self.flags, self.itemsize = SimpleNamespace(c_contiguous=contiguous), self.dtype.itemsize
        self.strides = (self.itemsize if contiguous else 64,)
        self.__cuda_array_interface__ = {
            "shape": (size,), "strides": None if contiguous else (64,), "typestr": self.dtype.str,
            "data": (address if size else 0, False), "version": 3,
        }  # fmt: skip


class FakeTensor:
    """A torch tensor."""

    def __init__(
        self, dtype: str, address: int, device: str = "cpu", contiguous: bool = True, neg: bool = False
    ) -> None:
        self.dtype, self.device, self.is_sparse = f"torch.{dtype}", SimpleNamespace(type=device), False
        self.is_cuda, self.is_cpu = device == "cuda", device == "cpu"
        self.data_ptr, self.is_contiguous, self.is_neg = lambda: address, lambda: contiguous, lambda: neg


def test_keys_of_arrays_of_other_libraries(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(ndarray=FakeCupyArray))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=FakeTensor))
    values: list[Any] = [
        FakeCupyArray(d, a, s, c) for d in ("f4", "i4") for a in (64, 68) for s in (4, 0) for c in (True, False)
    ]
    values += [
        FakeTensor(d, a, where, c, neg)
        for d in ("float32", "int32") for a in (64, 68) for where in ("cpu", "cuda", "mps")
        for c in (True, False) for neg in (True, False)
    ]  # fmt: skip
    assert assert_finer(((v, 1), {"backend": "cuda"}) for v in values) == 12
    mixed = [(v, w) for v in values for w in [np.zeros(4, np.float32), values[0], values[-1]]]
    assert_finer((pair, {"backend": "cuda"}) for pair in mixed)


def test_addresses():
    for array in [*arrays(), np.zeros(4, ">f4"), np.zeros((2, 0)), np.array(1.0), np.zeros(3, "i4,f8")]:
        assert address_of(array) == array.__array_interface__["data"][0]


# --- repeating --------------------------------------------------------------------------------------------------------


@pytest.fixture
def never_twice(monkeypatch):
    """Has the long way counted: a list with an entry for each launch that took it."""
    taken: list[Any] = []
    prepare = scale._prepare
    monkeypatch.setattr(scale, "_prepare", lambda *args: taken.append(args) or prepare(*args))
    scale.clear_cache()
    yield taken
    scale.clear_cache()


@pytest.mark.parametrize("backend", ["cpu", "interp"])
def test_a_repeated_launch_takes_the_short_way(never_twice, backend):
    for i in range(1, 4):
        x = np.full(8, i, np.float32)
        result = scale[1](x, n=4 * 16 + i, BIAS=3, backend=backend)
        assert x.tolist() == [2 * i + 3] * 8
        assert result.ran and result.compilation.target.backend == backend
    assert len(never_twice) == 1


def test_arguments_by_name_in_any_order_and_defaults(never_twice):
    for _ in range(2):
        x = np.ones(8, np.float32)
        scale[1](BLOCK=4, n=7, backend="cpu", x=x)
        scale[1](n=7, x=x, backend="cpu", BIAS=1)
        assert x.tolist() == [5] * 4 + [3] * 3 + [1]
    assert len(never_twice) == 3  # the second form, bound by Python, passes the first on in an order of its own


def test_a_grid_function_gets_every_argument(never_twice):
    seen = []

    def grid(bound):
        seen.append(bound)
        return mytriton.cdiv(bound["n"], bound["BLOCK"]), 1

    x = np.ones(16, np.float32)
    for _ in range(3):
        scale[grid](x, n=12, backend="cpu")
    assert x.tolist() == [8] * 12 + [1] * 4
    assert [list(bound.items()) for bound in seen] == [[("x", x), ("n", 12), ("BIAS", 0), ("BLOCK", 8)]] * 3
    assert len(never_twice) == 1


def test_an_empty_grid_runs_nothing_before_and_after(never_twice):
    x = np.ones(8, np.float32)
    ran = [scale[grid](x, 8, backend="cpu").ran for grid in (0, 1, (1, 0), 1, 0)]
    assert ran == [False, True, False, True, False] and x.tolist() == [4] * 8
    assert len(never_twice) == 2


def test_host_arrays_on_a_gpu_backend_only_compile(never_twice):
    results = [scale[1](np.ones(8, np.float32), 8, backend="cuda") for _ in range(3)]
    assert [r.ran for r in results] == [False] * 3 and len({r.compilation for r in results}) == 1
    assert len(never_twice) == 1


def test_globals_are_never_stale(never_twice, monkeypatch):
    for factor in (2, 3, 2, 3.0, 2):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        x = np.ones(8, np.float32)
        scale[1](x, 8, backend="cpu")
        assert x.tolist() == [factor] * 8
    assert len(never_twice) == 3
    constant = tl.constexpr(5)
    monkeypatch.setitem(globals(), "FACTOR", constant)
    for constant.value in (5, 7, 5):
        x = np.ones(8, np.float32)
        scale[1](x, 8, backend="cpu")
        assert x.tolist() == [constant.value] * 8
    assert len(never_twice) == 5


def test_the_backend_of_the_environment_is_never_stale(never_twice, monkeypatch):
    for name in ("cpu", "interp", "cuda", "interp", "cpu"):
        monkeypatch.setenv("MYTRITON_BACKEND", name)
        assert scale[1](np.ones(8, np.float32), 8).compilation.target.backend == name
    assert len(never_twice) == 3
    monkeypatch.setenv("MYTRITON_BACKEND", "abacus")
    with pytest.raises(ValueError, match="unsupported backend 'abacus'"):
        scale[1](np.ones(8, np.float32), 8)


REFUSED = [
    (1, (np.ones(8, np.float32), 8, 0, 8, 9), {}, "`scale` takes 4 arguments"),
    (1, (np.ones(8, np.float32),), {}, "`scale` needs the argument `n`"),
    (1, (np.ones(8, np.float32), 8), {"x": 1}, "`scale` got `x` twice"),
    (1, (np.ones(8, np.float32), 8), {"BLOK": 8}, "did you mean `BLOCK`?"),
    (1, (np.ones(8, "f4, i1")["f0"], 8), {}, "do not lie a whole number of elements apart"),
    (1, (np.ones(8, np.float32), 2**64), {}, "does not fit in a 64-bit integer"),
    (-1, (np.ones(8, np.float32), 8), {}, "extent 0 of the grid must be an integer of at least 0, got -1"),
    (True, (np.ones(8, np.float32), 8), {}, "must be an integer of at least 0, got True"),
    ((1, 2**16), (np.ones(8, np.float32), 8), {}, "extent 1 of the grid is 65536"),
    (1.5, (np.ones(8, np.float32), 8), {}, "use triton.cdiv"),
]


@pytest.mark.parametrize(("grid", "args", "keywords", "message"), REFUSED)
def test_refusals_are_the_same_after_launches_that_worked(grid, args, keywords, message):
    for _ in range(2):
        scale[1](np.ones(8, np.float32), 8, backend="cpu")
        with pytest.raises(LaunchError) as caught:
            scale[grid](*args, backend="cpu", **keywords)
        assert message in str(caught.value)


def test_a_read_only_array_is_refused_by_the_launcher_of_a_repeat():
    scale[1](np.ones(8, np.float32), 8, backend="cpu")
    locked = np.ones(8, np.float32)
    locked.flags.writeable = False
    with pytest.raises(LaunchError, match="argument `x` is read-only"):
        scale[1](locked, 8, backend="cpu")


def test_threads_that_repeat_launches_do_not_mix_them():
    wrong = []

    def work(bias):
        for i in range(50):
            x = np.full(8, i, np.float32)
            scale[1](x, 8, BIAS=bias, backend="cpu")
            if x.tolist() != [2 * i + bias] * 8:
                wrong.append((bias, i))

    scale.clear_cache()
    threads = [threading.Thread(target=work, args=(bias % 3,)) for bias in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
