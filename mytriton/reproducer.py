"""Reproducers: everything that one stage of a compilation needs, in a folder of its own, with a script that runs it.

The stage itself is not run here, only those before it: it may be one that crashes the process.
"""

from __future__ import annotations

import platform
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path, PurePath
from typing import Any

import mytriton
from mytriton import backends, reruns
from mytriton.backends.mlir.listing import module_text
from mytriton.diagnostics import MytritonError
from mytriton.frontend.kernel import Kernel
from mytriton.stage import Compilation, Stage
from mytriton.versions import versions

SCRIPT = "rerun.py"


class NoReproducer(MytritonError):
    """There is nothing that could be run again; the message says why."""


@dataclass(frozen=True)
class Reproducer:
    """The files of a reproducer of `stage`, by their paths inside its folder; `about` is to be read by people."""

    stage: str
    about: str
    files: dict[str, str | bytes] = field(repr=False)

    def write(self, folder: str | Path) -> str:
        """Write the files into a folder that must not be there yet (`FileExistsError`); the command that runs it."""
        folder = Path(folder)
        folder.mkdir(parents=True)
        shown = command(folder)
        for name, content in {**self.files, "README.txt": f"{shown}\n\n{self.about}"}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return shown


def command(folder: Path) -> str:
    """The command that runs the script in a folder with this Python and this mytriton."""
    words = [sys.executable or "python", str(folder / SCRIPT)]
    try:
        distribution("mytriton")
    except PackageNotFoundError:  # run from a checkout
        words[:0] = ["env", f"PYTHONPATH={Path(mytriton.__file__).parents[1]}"]
    return shlex.join(words)


def reproducer(
    compilation: Compilation,
    kernel: Kernel,
    stage: str,
    *,
    text: str,
    known: Mapping[str, Any] | None = None,
    error: str = "",
) -> Reproducer:
    """A reproducer of one planned stage of the compilation of `kernel`, which was read from a file with that `text` and
    those `known` globals. `error` is what is to be reproduced. Raises `NoReproducer`."""
    return _Maker(compilation, kernel, stage, text, known or {}).make(error)


def about_pipeline(pipeline: str) -> list[str]:
    """What is said of the pass that a reproducer runs."""
    return [
        f"pipeline    builtin.module({pipeline})",
        'locations   "-":LINE:COLUMN is a place in emitted.mlir; below it the row of input.mlir is printed',
    ]


def about(rows: Sequence[str], error: str) -> str:
    """What people read of a reproducer: its rows, what is installed, and the error that is to be reproduced."""
    installed = [f"python {platform.python_version()}  {platform.platform()}"]
    installed += [f"{name} {version}" for name, version in versions()]
    return "\n".join([*rows, "", *installed, "", "What it failed with:", "", error or "It did not fail."]) + "\n"


class _Maker:
    def __init__(self, compilation: Compilation, kernel: Kernel, stage: str, text: str, known: Mapping[str, Any]):
        self.compilation, self.kernel, self.text = compilation, kernel, text
        self.target = compilation.target
        self.passes = dict(backends.get(self.target.backend).passes(self.target))
        self.stage = self._made_by(stage)
        self.known = {name: value for name, value in known.items() if re.search(rf"\b{re.escape(name)}\b", text)}

    def _made_by(self, stage: str) -> str:
        """The stage that makes what `stage` shows: PTX by MLIR comes out of a pass."""
        planned = self.compilation.planned
        names = [n for n in planned if n == stage] or [n for n in planned if n.split("/")[0] == stage]
        if not names:
            raise NoReproducer(f"there is no stage {stage!r}; stages are {', '.join(planned)}")
        if names[-1] == "ptx" and self.passes:
            return list(self.passes)[-1]
        return names[-1]

    def make(self, error: str) -> Reproducer:
        stage, target = self.stage, self.target
        title = f"Runs stage {stage} of kernel {self.kernel.name} again (backend {target.backend}, {target.chip})."
        files: dict[str, str | bytes]
        if stage in self.passes:
            files = {
                SCRIPT: reruns.mlir_script(title),
                "input.mlir": self._module(self._before(stage)),
                "pipeline.txt": self._pipeline + "\n",
            }
            emitted = self._given(self._planned_index(next(iter(self.passes))) - 1)
            files["emitted.mlir"] = emitted.text + "\n"
        elif stage == "llvm":
            of = list(self.passes)[-1] if target.backend == "mlir" else stage
            files = {SCRIPT: reruns.llvm_script(title, target), "input.mlir": self._module(self._before(of))}
        elif stage == "ptx":
            from mytriton.backends.cuda.backend import options

            files = {SCRIPT: reruns.ptx_script(title, options(target)), "input.cu": self._before(stage).artifact}
        elif stage == "cubin":
            ptx = self._given(self._planned_index("ptx")).artifact  # (LLVM IR may stand between)
            files = {SCRIPT: reruns.cubin_script(title, target.chip), "input.ptx": ptx}
        elif stage == "sass":
            files = {SCRIPT: reruns.sass_script(title), "input.cubin": self._before(stage).artifact}
        else:
            files = {SCRIPT: self._source_script(title)}
            if self._planned_index(stage) > 0:
                before = self._before(stage)
                files[f"input.{before.language or 'txt'}"] = before.text + "\n"
        file = PurePath(self.kernel.unit.path).name
        return Reproducer(stage, self._about(title, error), {**files, file: self.text, **self._helpers()})

    @property
    def _pipeline(self) -> str:
        """What was run, or is to be."""
        made = next((s for s in self.compilation.stages if s.name == self.stage), None)
        return made.pipeline if made is not None and made.pipeline is not None else self.passes[self.stage]

    # The stages before

    def _planned_index(self, stage: str) -> int:
        return self.compilation.planned.index(stage)

    def _before(self, stage: str) -> Stage:
        return self._given(self._planned_index(stage) - 1)

    def _given(self, index: int) -> Stage:
        """The stage at a place in the plan, which must be good."""
        name = self.compilation.planned[index]
        self.compilation.run(name)
        found = next((s for s in self.compilation.stages if s.name == name), None)
        if found is not None and found.ok:
            return found
        culprit = self.compilation.failed or found
        what = f"stage {culprit.name!r} {culprit.status}" if culprit is not None else f"stage {name!r} is not reached"
        raise NoReproducer(f"stage {self.stage!r} has no input: {what}; reproduce that stage instead")

    def _module(self, stage: Stage) -> str:
        """A module as the next pass gets it."""
        code = stage.artifact
        return module_text(code) if isinstance(code, bytes) else f"{code}\n"

    # The files

    def _source_script(self, title: str) -> str:
        return reruns.source_script(
            title,
            self.stage,
            PurePath(self.kernel.unit.path).name,
            self.kernel.name,
            tuple(p.name for p in self.kernel.params),
            self.compilation.specialization,
            self.target,
            self.known,
        )

    def _helpers(self) -> dict[str, str | bytes]:
        """The files beside the kernel's that its helpers are in."""
        here = Path(self.kernel.unit.path)
        found: dict[str, str | bytes] = {}
        for unit in self.compilation.units[1:]:
            path = Path(unit.path)
            if path != here and path.is_relative_to(here.parent) and path.is_file():
                found[str(path.relative_to(here.parent))] = path.read_bytes()
        return found

    def _about(self, title: str, error: str) -> str:
        target, specialization = self.target, self.compilation.specialization
        params = tuple(p.name for p in self.kernel.params)
        constexprs = reruns.python(dict(specialization.constexprs))
        rows = [
            title,
            "",
            f"kernel      {self.kernel.name} in {self.kernel.unit.path}, line {self.kernel.unit.first_line}",
            f"signature   {reruns.signature(params, specialization)}",
            f"constexprs  {constexprs}",
            f"target      {target}",
        ]
        if self.stage in self.passes:
            rows += about_pipeline(self._pipeline)
        return about(rows, error)
