"""Every kernel of examples/kernels through every stage, host assembly included, with no CUDA installed; one of each
file, of cuda and mlir in turn, up to SASS, which costs a process each time.

In a process whose environment holds nothing but a home and a PATH without compilers. A toolkit that this machine may
have elsewhere must not be touched: the libraries that were loaded are looked up.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from mytriton.backends.mlir.run import mlir_available

ROOT = Path(__file__).parents[1]

SCRIPT = """
import importlib.util, json, sys
from pathlib import Path
from mytriton import JITFunction

statuses, local = {}, {}
half = int(sys.argv[1])
for number, path in enumerate(sorted(Path("examples/kernels").glob("*.py"))[half::2]):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    kernels = [k for k in vars(module).values() if isinstance(k, JITFunction) and k.examples]
    for kernel in kernels:
        example = kernel.examples[0].build()
        for backend in ("cuda", "mlir", "cpu"):
            chip = ("sm_80", "sm_90", "sm_100")[number % 3]
            compilation = kernel.prepare(example.grid, backend=backend, chip=chip, **example.args).compilation
            disassembled = kernel is kernels[0] and backend == ("cuda", "mlir")[number % 2]
            planned = [name for name in compilation.planned if name != "sass" or disassembled]
            compilation.stage(planned[-1])
            if backend != "cpu":
                figures = compilation.stage("cubin").stats
                used = {name: figures[name] for name in ("stack", "spill_stores", "spill_loads") if figures[name]}
                local |= {f"{path.stem}.{kernel.name} {backend} {chip}": used} if used else {}
            statuses[f"{path.stem}.{kernel.name} {backend}"] = {
                name: next((s.status + s.reason for s in compilation.stages if s.name == name), "not reached")
                for name in planned
            }
maps = Path("/proc/self/maps").read_text().split()
libraries = sorted({word for word in maps if "nvrtc" in word or "nvJitLink" in word})
print(json.dumps({"statuses": statuses, "libraries": libraries, "local": local}))
"""


def test_every_stage_of_every_example_without_cuda(tmp_path: Path) -> None:
    missing = mlir_available()
    if missing:
        pytest.skip(missing)
    env = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    commands = ([sys.executable, "-c", SCRIPT, half] for half in "01")
    running = [subprocess.Popen(c, stdout=PIPE, stderr=PIPE, text=True, cwd=ROOT, env=env) for c in commands]
    statuses: dict[str, dict[str, str]] = {}
    libraries: list[str] = []
    local: dict[str, dict[str, int]] = {}
    for process in running:
        out, err = process.communicate()
        assert process.returncode == 0, err
        statuses |= json.loads(out)["statuses"]
        libraries += json.loads(out)["libraries"]
        local |= json.loads(out)["local"]
    assert len(statuses) >= 3 * 18
    assert sum("sass" in stages for stages in statuses.values()) >= 18  # by turns of cuda and mlir
    bad = {
        (kernel, stage): status
        for kernel, stages in statuses.items()
        for stage, status in stages.items()
        if status not in ("ok", "no change")
    }
    assert not bad
    assert not local, "registers hold everything"
    assert libraries
    assert all(Path(library).is_relative_to(Path(sys.prefix).resolve()) for library in libraries)
