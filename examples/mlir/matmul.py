"""A matrix product built in four ways, beside NumPy on one thread: `python examples/mlir/matmul.py [size]`.

The payload only says that it is a product; how it is computed is said by schedules of the transform dialect, in
`matmul_schedules.mlir`. Step through one with `mytriton-explore examples/mlir/matmul.mlir
--schedule examples/mlir/matmul_schedules.mlir --pipeline "transform-interpreter{entry-point=tiled}"`.
"""

import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported

import numpy as np

from mytriton import mlir

HERE = Path(__file__).parent
SIZE = 512
#: The sequences of the schedule; "" is none.
WAYS = {"naive": "", "tiled": "tiled", "tiled, vectorized, hoisted": "vectorized", "packed": "packed"}


def payload(size: int) -> mlir.Module:
    """c += a @ b of square matrices; the file has it for 512."""
    return mlir.parse((HERE / "matmul.mlir").read_text().replace(f"{SIZE}x{SIZE}", f"{size}x{size}"))


def best(calls: Mapping[str, Callable[[], object]], seconds: float = 3.0) -> dict[str, float]:
    """The least time of each call; they are called in turn, so that other programs disturb all alike."""
    least = dict.fromkeys(calls, float("inf"))
    rounds, end = 0, time.perf_counter() + seconds
    while rounds < 3 or time.perf_counter() < end:
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            least[name] = min(least[name], time.perf_counter() - start)
        rounds += 1
    return least


def main(size: int = SIZE, seconds: float = 3.0) -> None:
    a, b = np.random.default_rng(0).standard_normal((2, size, size), dtype=np.float32)
    exact, out = a.astype(np.float64) @ b, np.empty_like(a)
    calls: dict[str, Callable[[], object]] = {"NumPy": lambda: np.matmul(a, b, out=out)}
    schedules = mlir.read(HERE / "matmul_schedules.mlir")
    for name, sequence in WAYS.items():
        start = time.perf_counter()
        module = payload(size)
        scheduled = mlir.apply(module, schedules, sequence) if sequence else module
        function = mlir.jit(scheduled)["matmul"]
        taken = time.perf_counter() - start
        c = np.zeros_like(a)
        function(a, b, c)
        error = abs(c - exact).max()
        print(f"{name:27} built in {1e3 * taken:5.0f} ms, differs from the exact result by {error:.1e}")
        assert error < 1e-5 * size, name
        calls[name] = function.bind(a, b, c)
    times = best(calls, seconds)
    for name, time_ in times.items():
        speed = 2 * size**3 / time_ / 1e9
        print(f"{name:27} {1e3 * time_:9.3f} ms {speed:7.1f} GFLOP/s {times['NumPy'] / time_:6.2f} x NumPy")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
