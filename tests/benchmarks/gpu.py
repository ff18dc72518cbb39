"""The table of what this project should reach on a GPU, with its peers in the same run.

    python -m tests.benchmarks.gpu [SECTION ...]     add, softmax, sum, matmul, launch, first; all without one

Ours (both GPU backends), Triton, torch (cuBLAS for products), CuPy and CUDA C++ written by hand. Device times are CUDA
events around one launch with the L2 cache cleared before it, each contender once a round; bytes are counted once in and
once out. A contender that may be launched in several ways (warps, tiles) counts with its fastest. Every result is
checked first; the program fails if one is wrong. Needs CuPy and torch; Triton is left out if it is not there.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import cupy
import torch

from mytriton import cdiv
from mytriton.backends.nvidia.device import probe
from mytriton.backends.nvidia.events import Events
from mytriton.binding import native
from tests.benchmarks import first_call, gpu_kernels, stats
from tests.benchmarks.contest import Call, Row

ROUNDS = 30
ADDED = 1 << 28
BLOCKS = (256, 1024, 2048, 4096, 8192)
ROWS = ((16384, 1024, 3800), (16384, 4096, 4100), (8192, 16384, 4100))
#: BM, BN, BK, warps, stages.
TILES = (
    (128, 256, 64, 8, 4),
    (128, 256, 64, 8, 3),
    (128, 128, 64, 4, 3),
    (128, 128, 64, 8, 3),
    (64, 128, 64, 4, 4),
    (64, 64, 64, 4, 4),
)
GROUP = 8
PRODUCTS = (
    (torch.float16, 4096, 400),
    (torch.bfloat16, 4096, 400),
    (torch.bfloat16, 1024, 200),
    (torch.float32, 4096, 150),
)
GPU = torch.device("cuda")

ADD_4 = """
extern "C" __global__ void add_4(const float4* __restrict__ x, const float4* __restrict__ y, float4* out, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        float4 a = x[i], b = y[i];
        out[i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    }
}"""


def of_triton(folder: Path) -> ModuleType | None:
    """`gpu_kernels` as Triton's, which reads the source of a kernel from its file."""
    if importlib.util.find_spec("triton") is None:
        return None
    path = folder / "gpu_kernels_of_triton.py"
    path.write_text(Path(gpu_kernels.__file__).read_text().replace("import mytriton", "import triton"))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Benchmark:
    """The sections, each a method."""

    def __init__(self, triton: ModuleType | None) -> None:
        self.triton = triton
        self.failures: list[str] = []
        self._timer = Events()

    def _kernels(self, name: str) -> list[tuple[str, Callable[[Any], Callable[..., object]]]]:
        """A kernel by contender, as a function of the grid."""
        ours = getattr(gpu_kernels, name)
        found: list[tuple[str, Callable[[Any], Callable[..., object]]]] = []
        for backend in ("cuda", "mlir"):
            found.append((backend, lambda grid, b=backend: partial(ours[(grid,)], backend=b)))
        if self.triton is not None:
            theirs = getattr(self.triton, name)
            found.append(("Triton", lambda grid: theirs[(grid,)]))
        return found

    def _run(self, row: Row) -> None:
        row.run(self._timer, ROUNDS, self.failures)

    def add(self) -> None:
        """Vector addition at each BLOCK."""
        x, y = (torch.randn(ADDED, device=GPU) for _ in range(2))
        out, want = torch.empty_like(x), x + y
        right = lambda: "" if torch.equal(out, want) else "wrong result"  # noqa: E731
        row = Row(f"add f32, {ADDED} elements", 3 * x.nbytes, "GB/s", out.zero_, right, ("float4", "Triton 1024"))
        row.target = "0.99 of float4"
        add_4 = cupy.RawKernel(ADD_4, "add_4")
        cx, cy, cout = map(cupy.asarray, (x, y, out))
        row.add("float4", lambda: add_4((ADDED // 1024,), (256,), (cx, cy, cout, cupy.int32(ADDED // 4))))
        for contender, launch in self._kernels("add_kernel"):
            for block in BLOCKS:
                grid = launch(cdiv(ADDED, block))
                row.add(f"{contender} {block}", partial(grid, x, y, out, ADDED, BLOCK=block))
        row.add("torch.add", partial(torch.add, x, y, out=out))
        row.add("cupy.add", partial(cupy.add, cx, cy, out=cout))
        self._run(row)
        copied = lambda: "" if torch.equal(out, x) else "wrong result"  # noqa: E731
        copy = Row(f"copy f32, {ADDED} elements", 2 * x.nbytes, "GB/s", out.zero_, copied, ())
        copy.add("torch copy_", lambda: out.copy_(x))
        self._run(copy)

    def softmax(self) -> None:
        """Softmax of rows."""
        for rows, columns, target in ROWS:
            x = torch.randn(rows, columns, device=GPU)
            out, want = torch.empty_like(x), torch.softmax(x.double(), -1)
            check = partial(_close, out, want, 1e-5, 1e-9)
            row = Row(f"softmax f32 {rows} x {columns}", 2 * x.nbytes, "GB/s", out.zero_, check, ("Triton", "torch"))
            row.target = f"{target} GB/s"
            self._by_row(row, "softmax_kernel", out, x)
            row.add("torch", partial(torch.softmax, x, -1, out=out))
            self._run(row)

    def sum(self) -> None:
        """Sums of rows."""
        rows, columns = 16384, 4096
        x = torch.randn(rows, columns, device=GPU)
        out, want = torch.empty(rows, device=GPU), x.double().sum(-1)
        check = partial(_close, out, want, 1e-5, 1e-3)
        row = Row(f"row sum f32 {rows} x {columns}", x.nbytes, "GB/s", out.zero_, check, ("Triton", "torch"))
        row.target = "4000 GB/s"
        self._by_row(row, "row_sum_kernel", out, x)
        row.add("torch", partial(torch.sum, x, -1, out=out))
        cx, cout = cupy.asarray(x), cupy.asarray(out)
        row.add("CuPy", partial(cupy.sum, cx, axis=1, out=cout))
        self._run(row)

    def _by_row(self, row: Row, kernel: str, out: torch.Tensor, x: torch.Tensor) -> None:
        rows, columns = x.shape
        for contender, launch in self._kernels(kernel):
            for warps in (4, 8, 16):
                call = partial(launch(rows), out, x, columns, columns, BLOCK=columns, num_warps=warps)
                row.add(contender, call, f"{warps} warps")

    def matmul(self) -> None:
        """Square products in three types. Of f32 factors the products are of tf32, everywhere."""
        torch.backends.cuda.matmul.allow_tf32 = True
        for dtype, size, target in PRODUCTS:
            a, b = (torch.randn(size, size, device=GPU).to(dtype) for _ in range(2))
            out, want = torch.empty_like(a), a.double() @ b.double()
            check = partial(_close, out, want, 1e-5 if dtype == torch.float32 else 1e-2, 0.5)
            name = "tf32" if dtype == torch.float32 else str(dtype).removeprefix("torch.")
            row = Row(f"matmul {name} {size}^3", 2 * size**3, "TFLOP/s", out.zero_, check, ("cuBLAS", "Triton"))
            row.target = f"{target} TFLOP/s"
            row.add("cuBLAS", partial(torch.matmul, a, b, out=out))
            for contender, launch in self._kernels("matmul_kernel"):
                for bm, bn, bk, warps, stages in TILES:
                    depth = min(bk, 32) if dtype == torch.float32 else bk
                    grid = launch(cdiv(size, bm) * cdiv(size, bn))
                    ways = {"BM": bm, "BN": bn, "BK": depth, "num_warps": warps, "num_stages": stages, "GROUP": GROUP}
                    call = partial(grid, a, b, out, *[size] * 6, **ways)
                    row.add(contender, call, f"{bm}x{bn}x{depth}, {warps} warps, {stages} stages")
            self._run(row)

    def launch(self) -> None:
        """What one launch of three arrays costs the host."""
        print("\nhost time of one launch, 3 arrays of 1024   target: 5 us")
        x = torch.zeros(1024, device=GPU)
        cx, n = cupy.asarray(x), cupy.int32(256)
        add_4 = cupy.RawKernel(ADD_4, "add_4")
        kernel, theirs = gpu_kernels.add_kernel, self.triton and self.triton.add_kernel
        calls: dict[str, Call] = {
            "CuPy RawKernel": lambda: add_4((1,), (256,), (cx, cx, cx, n)),
            "cuda, CuPy": lambda: kernel[(1,)](cx, cx, cx, 1024, BLOCK=1024),
            "cuda, CuPy, kernel.bind": kernel.bind((1,), cx, cx, cx, 1024, BLOCK=1024),
            "cuda, torch": lambda: kernel[(1,)](x, x, x, 1024, BLOCK=1024),
            "mlir, CuPy": lambda: kernel[(1,)](cx, cx, cx, 1024, BLOCK=1024, backend="mlir"),
            "mlir, torch": lambda: kernel[(1,)](x, x, x, 1024, BLOCK=1024, backend="mlir"),
        }
        if theirs:
            calls["Triton, torch"] = lambda: theirs[(1,)](x, x, x, 1024, BLOCK=1024)
        calls |= {"torch.add": partial(torch.add, x, x, out=x), "cupy.add": partial(cupy.add, cx, cx, out=cx)}
        calls["cuda, CuPy"]()
        print(f"  ours are bound by {'C' if native.wait() else 'Python'}")
        seconds: dict[str, list[float]] = {name: [] for name in calls}
        for _, (name, call) in itertools.product(range(60), calls.items()):
            call()
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(50):  # too few to fill the queue
                call()
            seconds[name].append((time.perf_counter() - start) / 50)
        for name, values in seconds.items():
            p50, p80 = (stats.percentile(values, q) * 1e6 for q in (0.5, 0.8))
            print(f"  {name:34} {p50:8.2f} us p50 {p80:8.2f} us p80", flush=True)

    def first(self) -> None:
        """First calls in fresh processes with empty caches."""
        print("\nfirst call in a fresh process, empty cache   target: 250 ms, next specialisation 60 ms")
        for contender in ("cuda", "mlir", *(["Triton"] if self.triton is not None else [])):
            print(f"  {contender:34} {first_call.median(contender)}", flush=True)


def _close(out: torch.Tensor, want: torch.Tensor, relative: float, absolute: float) -> str:
    """What is wrong, or ""."""
    excess = ((out.double() - want).abs() - relative * want.abs()).max().item()
    return "" if excess <= absolute else f"wrong result, by {excess:.3g}"


SECTIONS = ("add", "softmax", "sum", "matmul", "launch", "first")


def main(sections: Sequence[str]) -> int:
    """Print the tables; the number of contenders that failed."""
    with tempfile.TemporaryDirectory() as folder:
        benchmark = Benchmark(of_triton(Path(folder)))
        version = "no Triton" if benchmark.triton is None else f"Triton {importlib.import_module('triton').__version__}"
        print(f"{probe()}, CuPy {cupy.__version__}, torch {torch.__version__}, {version}\n{benchmark._timer.clock}")
        for name in sections or SECTIONS:
            getattr(benchmark, name)()
    for failure in benchmark.failures:
        print(f"FAILED {failure}")
    return len(benchmark.failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
