"""Runs an example's launch as what each stage made of it: the SSA, after each pass, and the laid-out program."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from mytriton import Compilation, JITFunction
from mytriton.comparison import OutputReport, compare
from mytriton.examples import ExampleCase
from mytriton.ir import interp
from mytriton.ir.core import Func
from mytriton.layout import simulate
from mytriton.layout.assign import lay_out
from mytriton.ready import Launch


def launch_of(kernel: JITFunction, case: ExampleCase) -> tuple[Launch, Any]:
    """The launch of an example in the interpreter, and the example."""
    example = case.build()
    return kernel.prepare(example.grid, **example.args, **example.options, backend="interp"), example


def each_stage(kernel: JITFunction, case: ExampleCase) -> Iterator[tuple[str, Any]]:
    """The name and artifact of every stage that can be run: SSA, passes that changed something, both laid-out forms."""
    yield from stages_of(launch_of(kernel, case)[0].compilation)


def optimized(compilation: Compilation) -> Func:
    """The SSA that backends get, of whom one may refuse it."""
    last = [name for name in compilation.planned if name.startswith("opt/")][-1]
    made = compilation.find(last)
    if made is None or not made.ok:
        compilation.raise_if_failed()
    assert made is not None
    func: Func = made.artifact
    return func


def stages_of(compilation: Compilation, **options: Any) -> Iterator[tuple[str, Any]]:
    """The same of a compilation; options are those of the target of the layout."""
    func: Func | None = None
    for name in compilation.planned:
        if name == "ssa" or name.startswith("opt/"):
            stage = compilation.stage(name)
            compilation.raise_if_failed()
            if stage.artifact is not func:
                yield name, stage.artifact
            func = stage.artifact
    assert func is not None
    for form in ("tuned", "plain"):
        target = dataclasses.replace(compilation.target, backend="cuda", form=form, **options)
        yield f"layout {form}", lay_out(func, target)


def run_stage(kernel: JITFunction, case: ExampleCase, artifact: Any) -> list[OutputReport]:
    """Run a stage's program on the example's arrays; its outputs against the reference."""
    launch, example = launch_of(kernel, case)
    runner = interp.run if isinstance(artifact, Func) else simulate.run
    runner(artifact, launch.args, launch.grid)
    assert example.expected is not None
    return [compare(n, example.args[n], e, example.rtol, example.atol) for n, e in example.expected.items()]


def wrong_stages(kernel: JITFunction, case: ExampleCase) -> list[tuple[str, OutputReport]]:
    """The stages that compute something else than the reference, with what."""
    return [
        (name, output)
        for name, artifact in each_stage(kernel, case)
        for output in run_stage(kernel, case, artifact)
        if not output.ok
    ]


def small(case: ExampleCase) -> bool:
    """Whether the laid-out interpreter, thread by thread, is done in a moment."""
    return all(not isinstance(v, np.ndarray) or v.size <= 20_000 for v in case.build().args.values())
