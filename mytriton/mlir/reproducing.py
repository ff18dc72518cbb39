"""A folder that runs one stage of a run again: its input, the pipeline of that pass, a script, versions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias

from mytriton import checked, reruns
from mytriton.backends.mlir.listing import Listings, module_text
from mytriton.mlir.code import TO_BINARY
from mytriton.mlir.module import READ, Run
from mytriton.mlir.targets import unknown
from mytriton.pipelines import Step
from mytriton.reproducer import SCRIPT, NoReproducer, Reproducer, about, about_pipeline

#: Makes a script with this title.
Script: TypeAlias = Callable[[str], str]


def reproducer(run: Run, stage: str | None = None, error: str = "") -> Reproducer:
    """A reproducer of `stage` (parsing, a pass, a step of a schedule, or code), or of the one that failed; `error` is
    what it is to reproduce, if the run did not get to it. Raises `NoReproducer` if there is none."""
    checked.expect(run, Run, "mlir.reproducer", "a run, which module.run(...) makes")
    failed = run.failed
    name = stage or (failed.name if failed is not None else "")
    known = run.planned[len(READ) - 1 :]
    if name not in known:
        raise NoReproducer(f"there is no stage {name!r}; stages are {', '.join(known)}" if name else "no stage failed")
    if failed is not None and failed.name == name:
        error = error or "\n".join(d.message for d in failed.diagnostics)
    number = known.index(name) - 1
    if number < 0:
        return _made(run, name, "the parser of MLIR on the text", run.units[0].text, "", reruns.mlir_script, error)
    if number >= len(run.steps):
        # Of device code LLVM IR is shown as it is before the pass that makes it.
        binary = (i for i, s in enumerate(run.steps) if isinstance(s, Step) and s.name == TO_BINARY)
        first = next(binary, len(run.steps))
        rest = ",".join(s.pipeline for s in run.steps[first:])
        script: Script = partial(reruns.code_script, stage=name)
        return _made(run, name, f"the stage {name} on the module", _given(run, name, first), rest, script, error)
    step = run.steps[number]
    if isinstance(step, Step):
        what, given = f"the pass {step.pipeline} on the module that it was given", _given(run, name, number)
        refused = partial(reruns.code_script, stage=f"mlir/{step.title}")
        script = refused if _refused(step, given) else reruns.mlir_script
        return _made(run, name, what, given, step.pipeline, script, error)
    what = f"{step.name} of {step.schedule.unit.path} on the module that it was given"
    given = _given(run, name, number - step.number)  # a step of a schedule does those before it again
    made = _made(run, name, what, given, step.pipeline, reruns.schedule_script, error)
    del made.files["pipeline.txt"]
    made.files.update({"schedule.mlir": step.text + "\n", "sequence.txt": step.sequence + "\n"})
    return made


def _given(run: Run, name: str, number: int) -> str:
    """The module that step `number` is given, for the reproducer of stage `name`."""
    given_by = run.planned[len(READ) - 1 + number]
    run.run(given_by)
    before = next((s for s in run.stages if s.name == given_by), None)
    if before is None or not before.ok:
        raise NoReproducer(f"stage {name!r} has no input: it was not reached")
    return module_text(before.artifact) if isinstance(before.artifact, bytes) else before.text


def _refused(step: Step, given: str) -> bool:
    """Whether it is not MLIR that refuses to run a pass on this module, but `mytriton.mlir`."""
    if step.name != TO_BINARY:
        return False
    with Listings().module(given.encode()) as native:
        return unknown(native) is not None


def _made(run: Run, name: str, what: str, given: str, pipeline: str, script: Script, error: str) -> Reproducer:
    title = f"Runs {what} in {run.units[0].path}."
    files: dict[str, str | bytes] = {
        SCRIPT: script(title),
        "input.mlir": given + "\n",
        "pipeline.txt": pipeline + "\n",
        "emitted.mlir": run.units[0].text,
    }
    return Reproducer(name, about([title, "", *about_pipeline(pipeline)], error), files)
