"""Kernels of our own with the features of 25 that people wrote, from public repositories: what compiles for every
backend, and what the backends compute. Those that need what this compiler lacks must say so, and nothing else.
"""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from mytriton import CompileError, JITFunction, LaunchError, Target, check_example
from tests.frontend.test_read import load
from tests.running import on_every_backend

FILES = sorted(p for p in Path(__file__).parent.glob("*.py") if not p.stem.startswith("test_"))
MODULES: dict[str, ModuleType] = {path.stem: load(path) for path in FILES}
KERNELS = {
    name: next(k for k in vars(m).values() if isinstance(k, JITFunction) and k.examples) for name, m in MODULES.items()
}

#: What a kernel needs that is not there yet: the words of the first error.
LACKS = {
    "quantize_packed": "`tl.inline_asm_elementwise` is not supported yet",
    "rotary_backward": "`tl.inline_asm_elementwise` is not supported yet",
}
CASES = [
    pytest.param(kernel, case, id=f"{name}-{case.label}")
    for name, kernel in KERNELS.items()
    if name not in LACKS
    for case in kernel.examples
]


def test_the_set_is_complete():
    assert len(KERNELS) == 25
    assert all(MODULES[name].__doc__.startswith(("T1 ", "T2 ", "T3 ", "T4 ")) for name in MODULES)
    print(f"{len(KERNELS) - len(LACKS)} of {len(KERNELS)} kernels compile for every backend and agree")


@on_every_backend
@pytest.mark.parametrize(("kernel", "case"), CASES)
def test_it_computes_what_numpy_does(run, kernel, case):
    report = check_example(kernel, case, Target(backend=run.backend))
    assert report.ok, report


@pytest.mark.parametrize(("backend", "stage"), [("cuda", "ptx"), ("mlir", "ptx"), ("cpu", "asm")])
@pytest.mark.parametrize("name", [n for n in KERNELS if n not in LACKS])
def test_it_compiles_for_every_backend(name, backend, stage):
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


@pytest.mark.parametrize("name", LACKS)
def test_what_is_missing_is_named(name):
    kernel = KERNELS[name]
    example = kernel.examples[0].build()
    with pytest.raises((CompileError, LaunchError)) as caught:
        kernel.prepare(example.grid, **example.args, backend="interp").load()
    messages = [d.message for d in caught.value.diagnostics] if isinstance(caught.value, CompileError) else []
    assert LACKS[name] in (messages or [str(caught.value)])[0], messages
