"""Triton compiling the same add kernel, for a figure beside ours in the same run. Needs no GPU.

    python tests/benchmarks/peer.py RUNS

Imports nothing of this project, so that Triton may be in another environment.
"""

from __future__ import annotations

import os
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
    """Compile once, and then print the times of `runs` more compilations to PTX and cubin (Triton makes both)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "triton_add.py"
        path.write_text(SOURCE)
        sys.path.insert(0, folder)
        os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # as before 3.10; it warns if nothing is said
        import triton
        from triton.backends.compiler import GPUTarget
        from triton.compiler import ASTSource
        from triton_add import add_kernel  # type: ignore[import-not-found]

        wall, cpu = [], []
        signature = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
        aligned = {(i,): [["tt.divisibility", 16]] for i in range(3)}
        for i in range(runs + 1):
            # An empty cache each time, or Triton's cache on disk would answer.
            source = ASTSource(add_kernel, signature, {"BLOCK": 256}, aligned)
            with triton.knobs.cache.scope():
                triton.knobs.cache.dir = f"{folder}/cache{i}"
                start, started = time.perf_counter(), time.process_time()
                triton.compile(source, target=GPUTarget("cuda", 90, 32))
                wall.append(time.perf_counter() - start)
                cpu.append(time.process_time() - started)
    if runs:
        print(f"\nTriton {triton.__version__}: to PTX and cubin, same process; CPU time without that of ptxas")
        print(" ", stats.row("add_kernel", wall[1:]))
        print(" ", stats.cpu_row("add_kernel, CPU", cpu[1:]))


if __name__ == "__main__":
    run(int(sys.argv[1]))
