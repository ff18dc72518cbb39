"""Runs an example's launch as what each stage made of it: the SSA, after each pass, and the laid-out program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mytriton import JITFunction
from mytriton.check import OutputReport, compare
from mytriton.examples import Example, ExampleCase
from mytriton.ir import interp
from mytriton.layout import simulate


def each_stage(kernel: JITFunction, case: ExampleCase) -> Iterator[tuple[str, Any, Any]]:
    """The name and artifact of every stage that can be run, and the launch: SSA, passes, both laid-out forms."""
    for backend, form in (("interp", "tuned"), ("cuda", "tuned"), ("cuda", "plain")):
        example = case.build()
        launch = kernel.prepare(example.grid, **example.args, **example.options, backend=backend, form=form)
        compilation = launch.compilation
        for name in compilation.planned:
            wanted = name == "layout" if backend == "cuda" else name == "ssa" or name.startswith("opt/")
            if wanted:
                stage = compilation.stage(name)
                compilation.raise_if_failed()
                yield f"{name} {form}" if name == "layout" else name, stage.artifact, launch.grid


def run_stage(kernel: JITFunction, example: Example, artifact: Any, grid: Any) -> list[OutputReport]:
    """Run a stage's program on the example's arrays; its outputs against the reference."""
    target = kernel.prepare(example.grid, **example.args, **example.options, backend="interp")
    runner = interp.run if hasattr(artifact, "body") else simulate.run
    runner(artifact, target.args, grid)
    assert example.expected is not None
    return [compare(n, example.args[n], e, example.rtol, example.atol) for n, e in example.expected.items()]


def small(case: ExampleCase) -> bool:
    """Whether the laid-out interpreter, thread by thread, is done in a moment."""
    return all(not isinstance(v, np.ndarray) or v.size <= 20_000 for v in case.build().args.values())
