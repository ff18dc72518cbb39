"""Kernels of our own with the features of 25 that people wrote, from public repositories: they compile
for every backend, but those with inline assembly for GPUs only, and the backends compute what NumPy does.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from mytriton import CompileError, JITFunction, Target, check_example
from tests.frontend.test_read import load
from tests.running import GPU, on_every_backend

FILES = sorted(p for p in Path(__file__).parent.glob("*.py") if not p.stem.startswith("test_"))
MODULES: dict[str, ModuleType] = {path.stem: load(path) for path in FILES}
KERNELS = {
    name: next(k for k in vars(m).values() if isinstance(k, JITFunction) and k.examples) for name, m in MODULES.items()
}

#: Those with inline assembly, which only NVIDIA's GPUs run.
ASSEMBLY = ("quantize_packed", "rotary_backward")
CASES = [
    pytest.param(kernel, case, id=f"{name}-{case.label}")
    for name, kernel in KERNELS.items()
    for case in kernel.examples
]


def test_the_set_is_complete():
    assert len(KERNELS) == 25
    assert all(MODULES[name].__doc__.startswith(("T1 ", "T2 ", "T3 ", "T4 ")) for name in MODULES)


@on_every_backend
@pytest.mark.parametrize(("kernel", "case"), CASES)
def test_it_computes_what_numpy_does(run, kernel, case):
    if case.label.startswith(ASSEMBLY) and run.backend not in GPU:
        with pytest.raises(CompileError, match=f"the {run.backend} backend runs no inline assembly"):
            check_example(kernel, case, Target(backend=run.backend))
        return
    report = check_example(kernel, case, Target(backend=run.backend))
    assert report.ok, report


@pytest.mark.parametrize(("backend", "stage"), [("cuda", "ptx"), ("mlir", "ptx"), ("cpu", "asm")])
@pytest.mark.parametrize("name", KERNELS)
def test_it_compiles_for_every_backend(name, backend, stage):
    if name in ASSEMBLY and backend not in GPU:
        return
    kernel = KERNELS[name]
    example = kernel.examples[0].build()
    compilation = kernel.prepare(example.grid, **example.args, backend=backend).compilation
    made = compilation.stage(stage)
    compilation.raise_if_failed()
    if made.status == "skipped":
        pytest.skip(made.reason)
    assert made.text
    # MLIR leaves such a cast where a lowering is missing, and fails on it later without saying whose it is.
    for earlier in ("mlir", "cpu"):
        if stages := [n for n in compilation.planned if n.startswith(earlier + "/")]:
            assert "unrealized_conversion_cast" not in compilation.stage(stages[-1]).text
