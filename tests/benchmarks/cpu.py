"""The cpu backend beside NumPy, call by call in turn: `python -m tests.benchmarks.cpu [row...]`.

Every result is checked first. Rows are of one thread, ours and NumPy's, and of the time that it has a processor. Of
time as it passes is only what compares numbers of threads, which says something where all cores are idle.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = os.environ["MYTRITON_CPU_THREADS"] = "1"

import numpy as np

import mytriton as triton
from examples.kernels import activations, add, layer_norm, reductions, rms_norm, softmax
from mytriton import mlir
from mytriton.backends.cpu import shares
from mytriton.binding import native
from tests.benchmarks.cpu_kernels import matmul_kernel

SECONDS = 3.0
SAXPY = Path(__file__).parents[2] / "examples" / "mlir" / "saxpy.mlir"
#: Tiles of the product that are tried: the fastest counts.
TILES = ((128, 128, 128), (256, 256, 256), (256, 512, 128))

Call = Callable[[], object]


class Row(NamedTuple):
    """What is compared: `ours`, of which the fastest counts, and `peers`, the first of which the ratio is to. `work` is
    what a call does, in 10**9 `unit`; so many `calls` are timed at once."""

    title: str
    work: float
    unit: str
    ours: Mapping[str, Call]
    peers: Mapping[str, Call]
    check: Callable[[], None]
    target: str = ""
    clock: Callable[[], float] = time.thread_time
    calls: int = 1


def main(wanted: list[str]) -> None:
    """Print the rows, or those that are wanted."""
    config: Any = np.show_config(mode="dicts")
    blas = config["Build Dependencies"]["blas"]
    cores = len(os.sched_getaffinity(0))
    print(f"{_processor()}, {cores} cores; NumPy {np.__version__}, {blas['name']} {blas['version']}")
    for name in wanted or ROWS:
        for row in ROWS[name]():
            for call in row.ours.values():
                call()
                row.check()
            show(row, best({**row.ours, **row.peers}, row.clock, row.calls))


def best(calls: Mapping[str, Call], clock: Callable[[], float], count: int) -> dict[str, float]:
    """The least time of each call, called in turn, so many times in a row."""
    least = dict.fromkeys(calls, float("inf"))
    rounds, end = 0, time.perf_counter() + SECONDS
    while rounds < 10 or time.perf_counter() < end:
        for name, call in calls.items():
            start = clock()
            for _ in range(count):
                call()
            least[name] = min(least[name], (clock() - start) / count)
        rounds += 1
    return least


def show(row: Row, times: Mapping[str, float]) -> None:
    """One line for each contender."""
    first = times[next(iter(row.peers))]
    print(f"\n{row.title}{f'   target: {row.target}' if row.target else ''}")
    for name, seconds in times.items():
        speed = f"{row.work / seconds / 1e9:9.1f} {row.unit}" if row.unit else ""
        print(f"  {name:24} {seconds * 1e6:10.2f} us {speed}   {first / seconds:6.2f} x", flush=True)


def _processor() -> str:
    rows = Path("/proc/cpuinfo").read_text().splitlines()
    return next((row.partition(": ")[2] for row in rows if row.startswith("model name")), "processor unknown")


def launch(kernel: Any, grid: Any, *args: Any, **constants: Any) -> Call:
    """Launches a kernel on the cpu backend."""
    return lambda: kernel[grid](*args, **constants, backend="cpu")


def close(result: Any, expected: Any, tolerance: float = 1e-5) -> Callable[[], None]:
    """Raises AssertionError where a result is wrong."""
    return lambda: np.testing.assert_allclose(result, expected, tolerance, tolerance)


def normal(*shape: int) -> Any:
    """The same random numbers every time."""
    return np.random.default_rng(0).standard_normal(shape, dtype=np.float32)


def on_threads(count: int, call: Call) -> Call:
    """A call that uses so many threads of ours."""

    def run() -> None:
        os.environ["MYTRITON_CPU_THREADS"] = str(count)
        shares.threads.cache_clear()
        call()

    return run


# --- rows -------------------------------------------------------------------------------------------------------------


def rows_add(n: int = 10_000_000) -> Iterator[Row]:
    """Three arrays of 40 MB."""
    x, y = normal(2, n)
    out, theirs = np.zeros_like(x), np.zeros_like(x)
    ours = launch(add.add_kernel, (triton.cdiv(n, 4096),), x, y, out, n, BLOCK=4096)
    peer = {"NumPy": lambda: np.add(x, y, out=theirs)}
    yield Row(f"add, f32, {n}", 12 * n, "GB/s", {"ours": ours}, peer, close(out, x + y), ">= 1.0 x")


def rows_softmax(rows: int = 4096, columns: int = 1024) -> Iterator[Row]:
    """On one thread; and on two, beside one."""
    x, place = normal(rows, columns), np.empty((rows, columns), np.float32)
    out = np.zeros_like(x)

    def plain() -> Any:
        numerator = np.exp(x - x.max(axis=1, keepdims=True))
        return numerator / numerator.sum(axis=1, keepdims=True)

    def in_place() -> None:
        np.subtract(x, x.max(axis=1, keepdims=True), out=place)
        np.exp(place, out=place)
        np.divide(place, place.sum(axis=1, keepdims=True), out=place)

    ours = launch(softmax.softmax_kernel, (rows,), out, x, columns, columns, columns, BLOCK=columns)
    title, work, check = f"softmax, f32, {rows} x {columns}", 8 * x.size, close(out, plain(), 1e-6)
    yield Row(title, work, "GB/s", {"ours": ours}, {"NumPy": plain, "NumPy in place": in_place}, check, ">= 8 x")
    two, one = {"two threads": on_threads(2, ours)}, {"one thread": on_threads(1, ours)}
    yield Row(title, work, "GB/s", two, one, check, ">= 1.7 x where both cores are idle", time.perf_counter)


def rows_matmul(n: int = 512) -> Iterator[Row]:
    """`tl.dot` in tiles."""
    a, b = normal(2, n, n)
    c, theirs = np.zeros_like(a), np.zeros_like(a)
    ours: dict[str, Call] = {}
    for m, columns, k in TILES:
        grid, tile = (triton.cdiv(n, m), triton.cdiv(n, columns)), {"BLOCK_M": m, "BLOCK_N": columns, "BLOCK_K": k}
        ours[f"ours, {m} x {columns} x {k}"] = launch(matmul_kernel, grid, a, b, c, n, n, n, **tile)
    peer = {"NumPy": lambda: np.matmul(a, b, out=theirs)}
    check = close(c, a.astype(np.float64) @ b, 1e-3)
    yield Row(f"matmul, f32, {n}^3", 2 * n**3, "GFLOP/s", ours, peer, check, ">= 1.0 x")


def rows_examples(rows: int = 2048, columns: int = 1024) -> Iterator[Row]:
    """Kernels of examples/kernels beside what one would write with NumPy."""
    x, weight, bias = normal(rows, columns), normal(columns), normal(columns) + 1
    flat, n = x.reshape(-1), x.size
    out, row_out, other = np.zeros_like(x), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
    grid = (triton.cdiv(n, 4096),)

    def gelu() -> Any:
        return 0.5 * x * (1 + np.tanh(np.float32(0.7978845608) * (x + np.float32(0.044715) * x * x * x)))

    def silu() -> Any:
        return x / (1 + np.exp(-x))

    def softplus() -> Any:
        return np.maximum(x, 0) + np.log(1 + np.exp(-np.abs(x)))

    def rms() -> Any:
        return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + np.float32(1e-6)) * weight

    def layer() -> Any:
        centred = x - x.mean(axis=1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + np.float32(1e-6)) * weight + bias

    def total() -> Any:
        return x.sum(axis=1)

    flat_out = out.reshape(-1)
    sizes: tuple[Any, ...] = columns, columns
    elementwise = (flat, flat_out, n)
    cases: dict[str, tuple[Call, Any, Callable[[], Any]]] = {
        "gelu (tanh)": (launch(activations.gelu_tanh_kernel, grid, *elementwise, BLOCK=4096), out, gelu),
        "silu": (launch(activations.silu_kernel, grid, *elementwise, BLOCK=4096), out, silu),
        "softplus": (launch(activations.softplus_kernel, grid, *elementwise, BLOCK=4096), out, softplus),
        "rms norm": (
            launch(rms_norm.rms_norm_kernel, (rows,), x, out, weight, row_out, *sizes, columns, 1e-6, ADD_ONE=False,
                   BLOCK=columns), out, rms,
        ),
        "layer norm": (
            launch(layer_norm.layer_norm_kernel, (rows,), x, out, weight, bias, row_out, other, *sizes, 1e-6,
                   BLOCK=columns), out, layer,
        ),
        "row sum": (launch(reductions.row_sum_kernel, (rows,), x, row_out, *sizes, BLOCK=columns), row_out, total),
    }  # fmt: skip
    for name, (ours, result, peer) in cases.items():
        work = 4 * (n + result.size)
        yield Row(f"{name}, f32, {rows} x {columns}", work, "GB/s", {"ours": ours}, {"NumPy": peer},
                  close(result, peer(), 1e-4))  # fmt: skip


def rows_call(n: int = 64) -> Iterator[Row]:
    """What a launch costs that does next to nothing."""
    x, y = normal(2, n)
    out, theirs = np.zeros_like(x), np.zeros_like(x)
    kernel, given = add.add_kernel, {"BLOCK": 64, "backend": "cpu"}
    saxpy = mlir.jit(mlir.read(SAXPY))["saxpy"].bind(1.0, x, np.zeros_like(x))
    kernel[(1,)](x, y, out, n, **given)
    way = "C" if native.wait() else "Python"
    ready, bound = kernel[(1,)], kernel.bind((1,), x, y, out, n, **given)
    in_python: Any = getattr(ready.__func__, "__wrapped__", ready.__func__)
    calls: dict[str, Call] = {
        f"kernel[grid](...), by {way}": lambda: kernel[(1,)](x, y, out, n, BLOCK=64, backend="cpu"),
        "kernel[grid] made before": lambda: ready(x, y, out, n, BLOCK=64, backend="cpu"),
        "the same, by Python": lambda: in_python((1,), x, y, out, n, BLOCK=64, backend="cpu"),
        "kernel.bind(...)": bound,
        "kernel.prepare(...).run()": kernel.prepare((1,), x, y, out, n, **given).run,
    }
    peer: dict[str, Call] = {"NumPy": lambda: np.add(x, y, out=theirs), "bound in mytriton.mlir": saxpy}
    target = "1.5 us, bound 0.5"
    yield Row(f"call, add of {n}", n, "", calls, peer, close(out, x + y), target, calls=1000)


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "add": rows_add,
    "softmax": rows_softmax,
    "matmul": rows_matmul,
    "examples": rows_examples,
    "call": rows_call,
}


if __name__ == "__main__":
    main(sys.argv[1:])
