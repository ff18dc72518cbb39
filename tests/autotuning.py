"""A kernel that is autotuned with a clock of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import mytriton as triton
import mytriton.language as tl
from mytriton import Config


class Clock:
    """A `do_bench` that launches once and gives the next of the figures it was made with."""

    def __init__(self, *milliseconds: float, runs: int = 1) -> None:
        self.milliseconds, self.runs = list(milliseconds), runs
        self.quantiles: list[Sequence[float]] = []

    def __call__(self, fn: Callable[[], None], quantiles: Sequence[float]) -> list[float]:
        for _ in range(self.runs):
            fn()
        self.quantiles.append(quantiles)
        median = self.milliseconds.pop(0)
        return [median, median - 0.25, median + 0.5]


def body(x, out, n, BLOCK: tl.constexpr, SCALE: tl.constexpr = 1):
    """Adds to what `out` holds, so that a launch too many shows."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(out + at, tl.load(out + at, mask=inside) + SCALE * tl.load(x + at, mask=inside), mask=inside)


CONFIGS = [Config({"BLOCK": 32}), Config({"BLOCK": 64}, num_warps=2), Config({"BLOCK": 128}, num_warps=8, num_stages=2)]


def tuned(clock: Any, configs: Sequence[Config] = CONFIGS, key: Sequence[str] = ("n",), **options: Any) -> Any:
    return triton.autotune(configs, key, do_bench=clock, **options)(triton.jit(body))


def grid(meta: Any) -> tuple[int]:
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


def arrays(n: int = 100, dtype: Any = np.float32) -> tuple[Any, Any]:
    return np.arange(n, dtype=dtype), np.zeros(n, dtype)


def launch(kernel: Any, n: int = 100, dtype: Any = np.float32, **keywords: Any) -> Any:
    x, out = arrays(n, dtype)
    return kernel[grid](x, out, n, **{"backend": "interp", **keywords})


def example_of(kernel: Any, **more: Any) -> triton.ExampleCase:
    @kernel.example(n=100)
    def case(n: int) -> triton.Example:
        x, out = arrays(n)
        scale = 3 if kernel.base is not kernel.fn else more.get("SCALE", 1)
        return triton.Example({"x": x, "out": out, "n": n, **more}, grid, {"out": scale * x})

    return kernel.examples[-1]
