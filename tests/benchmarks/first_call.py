"""The first launch of a kernel in a fresh process whose caches are empty, and that of its next specialisation.

    python -m tests.benchmarks.first_call cuda|mlir|Triton [parts]

`parts` tells what of ours takes how long: the stages, and what is not a stage (imports, the driver).
Times count from when CuPy (torch, for Triton) is imported and its context exists, so they include importing us.
"""

from __future__ import annotations

import importlib
import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RUNS = 3


def median(contender: str) -> str:
    """The medians of some runs."""
    found = []
    for _ in range(RUNS):
        with tempfile.TemporaryDirectory() as folder:
            away = {"MYTRITON_CACHE_DIR": "", "TRITON_CACHE_DIR": folder}
            command = [sys.executable, "-m", "tests.benchmarks.first_call", contender]
            done = subprocess.run(command, env={**os.environ, **away}, capture_output=True, text=True, check=False)
        if done.returncode:
            return f"failed: {done.stderr.strip().splitlines()[-1]}"
        found.append([float(number) for number in re.findall(r"[\d.]+", done.stdout)])
    imported, first, following = (sorted(values)[RUNS // 2] for values in zip(*found, strict=True))
    return f"import {imported:.0f} ms, first call {first:.0f} ms, next specialisation {following:.0f} ms"


def _parts(result: Any, seconds: float) -> None:
    stages = {stage.name: 1e3 * stage.seconds for stage in result.compilation.stages if stage.seconds > 1e-4}
    print("  stages:", ", ".join(f"{name} {ms:.1f}" for name, ms in stages.items()))
    print(f"  all stages {sum(stages.values()):.1f} ms, the rest {1e3 * seconds - sum(stages.values()):.1f} ms")


def _main(contender: str, parts: bool) -> None:
    if contender == "Triton":
        import torch

        x = torch.zeros(4096, device="cuda")
        options = {}
        wait = torch.cuda.synchronize
    else:
        import cupy

        x = cupy.zeros(4096, dtype=cupy.float32)
        options = {"backend": contender}
        wait = cupy.cuda.runtime.deviceSynchronize
    wait()
    times = [time.perf_counter()]
    with tempfile.TemporaryDirectory() as folder:
        if contender == "Triton":
            text = Path(__file__).with_name("gpu_kernels.py").read_text().replace("import mytriton", "import triton")
            Path(folder, "kernels_of_triton.py").write_text(text)
            sys.path.insert(0, folder)
            kernel = importlib.import_module("kernels_of_triton").add_kernel
        else:
            from tests.benchmarks.gpu_kernels import add_kernel as kernel  # type: ignore[assignment]
        times.append(time.perf_counter())
        results = []
        for block in (1024, 2048):
            results.append(kernel[(4,)](x, x, x, 4096, BLOCK=block, **options))
            wait()
            times.append(time.perf_counter())
    print(*(f"{1e3 * (end - start):.1f}" for start, end in itertools.pairwise(times)))
    if parts and contender != "Triton":
        for number, result in enumerate(results, 1):
            _parts(result, times[number + 1] - times[number])


if __name__ == "__main__":
    _main(sys.argv[1], "parts" in sys.argv)
