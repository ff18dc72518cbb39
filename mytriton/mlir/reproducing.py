"""A folder that runs one pass of a run again: its input, the pipeline of that pass, a script, versions."""

from __future__ import annotations

import platform

from mytriton import reruns
from mytriton.backends.mlir.listing import module_text
from mytriton.mlir.module import READ, Run
from mytriton.reproducer import SCRIPT, NoReproducer, Reproducer
from mytriton.versions import versions


def reproducer(run: Run, stage: str | None = None) -> Reproducer:
    """A reproducer of the pass that made `stage`, or of the one that failed; raises `NoReproducer` if there is none."""
    failed = run.failed
    name = stage or (failed.name if failed is not None else "")
    passes = run.planned[len(READ) :]
    if name not in passes:
        raise NoReproducer(f"there is no pass {name!r}; passes are {', '.join(passes)}" if name else "no pass failed")
    before = run.find(run.planned[run.planned.index(name) - 1])
    if before is None or not before.ok:
        raise NoReproducer(f"pass {name!r} has no input: it was not reached")
    step = run.steps[passes.index(name)]
    title = f"Runs the pass {step.pipeline} on the module that it was given in {run.units[0].path}."
    given = module_text(before.artifact) if isinstance(before.artifact, bytes) else before.text
    said = "\n".join(d.message for d in failed.diagnostics) if failed is not None and failed.name == name else ""
    rows = [
        title,
        "",
        f"pipeline    builtin.module({step.pipeline})",
        'locations   "-":LINE:COLUMN is a place in emitted.mlir',
        "",
        f"python {platform.python_version()}  {platform.platform()}",
        *(f"{package} {version}" for package, version in versions()),
        *("", "What it failed with:", "", said or "It did not fail."),
    ]
    files: dict[str, str | bytes] = {
        SCRIPT: reruns.mlir_script(title),
        "input.mlir": given + "\n",
        "pipeline.txt": step.pipeline + "\n",
        "emitted.mlir": run.units[0].text,
    }
    return Reproducer(name, "\n".join(rows) + "\n", files)
