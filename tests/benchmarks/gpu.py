"""Vector addition on a CUDA device: our backends beside CuPy's and torch's own, in the same run.

    python tests/benchmarks/gpu.py [log2 of the elements]

Each round times every contender once, so that a drift of the clocks meets all alike. Device times are CUDA events
around one launch, queued behind another, on arrays far larger than the L2 cache; bytes are counted once in and once
out. Host times are of the Python call alone, on small arrays, too few launches to fill the queue. Every result is
checked first.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import cupy
import stats

import mytriton as triton
import mytriton.language as tl
from mytriton.backends.nvidia.device import probe

ROUNDS = 30


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(x + offs, mask=mask, other=0.0)
    b = tl.load(y + offs, mask=mask, other=0.0)
    tl.store(out + offs, a + b, mask=mask)


#: Name -> launch options.
OURS: dict[str, dict[str, Any]] = {
    "cuda BLOCK 256": {"backend": "cuda", "BLOCK": 256},
    "cuda BLOCK 1024": {"backend": "cuda", "BLOCK": 1024},
    "cuda BLOCK 4096": {"backend": "cuda", "BLOCK": 4096},
    "cuda plain, BLOCK 256": {"backend": "cuda", "BLOCK": 256, "form": "plain", "num_warps": 8},
    "mlir BLOCK 256": {"backend": "mlir", "BLOCK": 256},
    "mlir BLOCK 1024": {"backend": "mlir", "BLOCK": 1024},
    "mlir BLOCK 4096": {"backend": "mlir", "BLOCK": 4096},
    "mlir plain, BLOCK 256": {"backend": "mlir", "BLOCK": 256, "form": "plain", "num_warps": 8},
    "mlir plain, memref, BLOCK 256": {
        "backend": "mlir",
        "BLOCK": 256,
        "form": "plain",
        "abi": "memref",
        "num_warps": 8,
    },
}


def contenders(x: Any, y: Any, out: Any, n: int) -> dict[str, Callable[[], object]]:
    """A call for each contender, all adding the same arrays."""

    def ours(options: dict[str, Any]) -> Callable[[], object]:
        kernel = add_kernel[triton.cdiv(n, options["BLOCK"])]
        return lambda: kernel(x, y, out, n, **options)

    calls: dict[str, Callable[[], object]] = {name: ours(options) for name, options in OURS.items()}
    calls["cupy.add"] = lambda: cupy.add(x, y, out)
    if importlib.util.find_spec("torch"):
        import torch

        tx, ty, tout = (torch.as_tensor(a, device="cuda") for a in (x, y, out))
        calls["torch.add"] = lambda: torch.add(tx, ty, out=tout)
        options = OURS["cuda BLOCK 1024"]
        torch_kernel = add_kernel[triton.cdiv(n, options["BLOCK"])]
        calls["cuda BLOCK 1024, torch tensors"] = lambda: torch_kernel(tx, ty, tout, n, **options)
    return calls


def device_times(n: int) -> None:
    """Print the bandwidth of each contender."""
    x, y = cupy.random.random(n, dtype=cupy.float32), cupy.random.random(n, dtype=cupy.float32)
    out, want = cupy.empty_like(x), x + y
    calls = contenders(x, y, out, n)
    for name, call in calls.items():
        out.fill(0)
        call()
        cupy.cuda.runtime.deviceSynchronize()
        assert bool((out == want).all()), name
    del want
    seconds: dict[str, list[float]] = defaultdict(list)
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            call()  # keeps the device busy while the host prepares the timed launch
            start.record()
            call()
            end.record()
            end.synchronize()
            seconds[name].append(cupy.cuda.get_elapsed_time(start, end) / 1e3)
    print(f"\ndevice time, f32 add of {n} elements")
    for name, values in seconds.items():
        print(" ", stats.row(name, values, f"{3 * 4 * n / stats.percentile(values, 0.5) / 1e9:.0f} GB/s"))


def host_times() -> None:
    """Print what one launch costs the host."""
    n = 1024
    x = cupy.zeros(n, dtype=cupy.float32)
    print("\nhost time of one launch, 3 arrays of 1024")
    for name, call in contenders(x, x, cupy.empty_like(x), n).items():
        values = []
        for _ in range(50):
            call()
            cupy.cuda.runtime.deviceSynchronize()
            start = time.perf_counter()
            for _ in range(20):
                call()
            values.append((time.perf_counter() - start) / 20)
        print(" ", stats.row(name, values, f"{stats.percentile(values, 0.5) * 1e6:.1f} us"))


def main() -> None:
    """Print the tables."""
    n = 1 << (int(sys.argv[1]) if len(sys.argv) > 1 else 28)
    print(f"{probe()}, CuPy {cupy.__version__}")
    device_times(n)
    host_times()


if __name__ == "__main__":
    main()
