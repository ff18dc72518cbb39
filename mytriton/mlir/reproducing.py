"""A folder that runs one pass of a run again: its input, the pipeline of that pass, a script, versions."""

from __future__ import annotations

from mytriton import reruns
from mytriton.backends.mlir.listing import module_text
from mytriton.mlir.module import READ, Run
from mytriton.mlir.schedule import Transform
from mytriton.reproducer import SCRIPT, NoReproducer, Reproducer, about, about_pipeline


def reproducer(run: Run, stage: str | None = None, error: str = "") -> Reproducer:
    """A reproducer of the pass, or the step of a schedule, that made `stage`, or of the one that failed; `error` is
    what it is to reproduce, if the run did not get to it. Raises `NoReproducer` if there is none."""
    failed = run.failed
    name = stage or (failed.name if failed is not None else "")
    passes = run.planned[len(READ) : len(READ) + len(run.steps)]
    if name not in passes:
        raise NoReproducer(f"there is no pass {name!r}; passes are {', '.join(passes)}" if name else "no pass failed")
    number = passes.index(name)
    step = run.steps[number]
    # A step of a schedule does those before it again.
    first = number - step.number if isinstance(step, Transform) else number
    given_by = run.planned[len(READ) - 1 + first]
    run.run(given_by)
    before = next((s for s in run.stages if s.name == given_by), None)
    if before is None or not before.ok:
        raise NoReproducer(f"pass {name!r} has no input: it was not reached")
    what = f"{step.name} of {step.schedule.unit.path}" if isinstance(step, Transform) else f"the pass {step.pipeline}"
    title = f"Runs {what} on the module that it was given in {run.units[0].path}."
    given = module_text(before.artifact) if isinstance(before.artifact, bytes) else before.text
    if failed is not None and failed.name == name:
        error = error or "\n".join(d.message for d in failed.diagnostics)
    files: dict[str, str | bytes] = {"input.mlir": given + "\n", "emitted.mlir": run.units[0].text}
    if isinstance(step, Transform):
        files[SCRIPT] = reruns.schedule_script(title)
        files["schedule.mlir"] = step.text + "\n"
        files["sequence.txt"] = step.sequence + "\n"
    else:
        files[SCRIPT] = reruns.mlir_script(title)
        files["pipeline.txt"] = step.pipeline + "\n"
    return Reproducer(name, about([title, "", *about_pipeline(step.pipeline)], error), files)
