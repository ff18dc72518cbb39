"""Triton compiling the same add kernel to PTX, for a figure beside ours in the same run. Needs no GPU."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import time
from pathlib import Path

import stats

# Triton reads the kernel's source from its file, so it needs one of its own.
SOURCE = """
import triton
import triton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(x + offs, mask=mask, other=0.0)
    b = tl.load(y + offs, mask=mask, other=0.0)
    tl.store(out + offs, a + b, mask=mask)
"""


def run(runs: int) -> None:
    """Print Triton's compile time to PTX and cubin (it makes both), or why there is none."""
    if importlib.util.find_spec("triton") is None:
        print("\ntriton is not installed here: no peer in this run (pip install triton)")
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "triton_add.py"
        path.write_text(SOURCE)
        sys.path.insert(0, folder)
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
        from triton_add import add_kernel  # type: ignore[import-not-found]

        seconds = []
        signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
        for i in range(runs + 1):
            # A different constexpr each time, or Triton's cache on disk would answer.
            source = ASTSource(add_kernel, signature, {"BLOCK": 256}, {(0,): [["tt.divisibility", 16]]})
            with triton.knobs.cache.scope():
                triton.knobs.cache.dir = f"{folder}/cache{i}"
                start = time.perf_counter()
                triton.compile(source, target=GPUTarget("cuda", 90, 32))
                seconds.append(time.perf_counter() - start)
    print(f"\ntriton {triton.__version__}: to PTX and cubin, same process")
    print(" ", stats.row("add_kernel", seconds[1:]))
