"""The options about passes: of an MLIR module, or in place of a backend's own."""

from __future__ import annotations

import re
from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from explorer.model.paths import is_mlir
from explorer.reading import BadInput, Misused, read_source, unknown
from mytriton.pipelines import PipelineError, passes
from mytriton.target import MLIR_BACKENDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from explorer.cli import Options
    from explorer.model.result import KernelInfo

_ARRAY = re.compile(r"memref<|tensor<")


def with_passes(options: Options, found: Namespace) -> Options:
    """The options with passes and schedule; raises `BadInput` for what does not go together."""
    module = is_mlir(options.path)
    if not module and found.schedule:
        raise BadInput(f"--schedule is about an MLIR module; {options.path} is none, whose name ends in .mlir")
    if found.query is not None and options.backend not in MLIR_BACKENDS:
        if found.backend:
            raise BadInput(f"--query is about MLIR, which backend {found.backend} has none of; give mlir or cpu")
        options = replace(options, backend="mlir")
    if module:
        _check(found)
        options = replace(options, backend="mlir")
    pipeline: tuple[str, ...] | None = None
    if found.pipeline is not None:
        if options.backend not in MLIR_BACKENDS:
            raise BadInput(f"--pipeline: backend {options.backend} has no MLIR passes; give --backend mlir or cpu")
        try:
            pipeline = passes(found.pipeline)
        except PipelineError as error:
            raise BadInput(f"--pipeline: {error}") from None
    text = read_source(found.schedule) if found.schedule else ""
    return replace(options, pipeline=pipeline, schedule=found.schedule, schedule_text=text)


def check_values(options: Options, functions: Sequence[KernelInfo]) -> None:
    """Raises `BadInput` for a `-D` that is none of these functions' arguments, nor the `size` of open extents."""
    numbers = {p.name for f in functions for p in f.params if not _ARRAY.match(p.annotation)}
    arrays = {p.name for f in functions for p in f.params} - numbers
    known = [*(["size"] if any("?" in p.annotation for f in functions for p in f.params) else []), *sorted(numbers)]
    for name, value in options.defines.items():
        if name in arrays:
            raise BadInput(f"-D {name}: `{name}` is an array, which is made; -D size=N says how long its open axes are")
        if name not in known:
            if not known:
                raise BadInput(f"-D {name}: there is nothing to give: no argument is a number, and no axis is open")
            raise unknown("argument", name, known)
        if name == "size" and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise BadInput(f"-D size={value}: the open extents of arrays are a whole number from 1 on")


def _check(found: Namespace) -> None:
    """Of an MLIR module there is nothing to specialize."""
    if found.backend not in (None, "mlir"):
        raise BadInput(f"--backend {found.backend}: an MLIR module goes through --pipeline; leave --backend away")
    given = {
        "--chip": found.chip,
        "--num-warps": found.num_warps,
        "--signature": found.signature,
        "--config": found.config,
        "--compare": found.compare,
        "--tune": found.tune,
    }
    if wrong := [name for name, value in given.items() if value]:
        raise Misused(f"{wrong[0]} is about kernels, which an MLIR module has none of; leave it away")
