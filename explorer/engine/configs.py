"""The configs of a kernel's `autotune` as its text has them."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from explorer.engine import messages as m
from explorer.engine.plain import to_plain
from explorer.model.configs import ConfigView
from mytriton.diagnostics import CompileError, Diagnostic
from mytriton.frontend.decorators import written_configs
from mytriton.frontend.kernel import Kernel


def written(kernel: Kernel) -> tuple[ConfigView, ...]:
    """Those that stand in the text as literals; none if one of them does not."""
    try:
        return tuple(
            ConfigView({name: to_plain(ast.literal_eval(value)) for name, value in kwargs.items()}, **_options(options))
            for kwargs, options in (written_configs(kernel.node) if kernel.node is not None else ())
        )
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return ()


def _options(options: Mapping[str, ast.expr]) -> dict[str, Any]:
    return {n: ast.literal_eval(value) for n, value in options.items() if n in ("num_warps", "num_stages")}


def filled_in(kernel: Kernel, job: m.CompileJob) -> m.CompileJob:
    """A job whose request says itself what the config gives that it names, unless the example's description says that.
    Raises `CompileError` where there is no such config."""
    request, example = job.request, job.example
    if request.config is None or (example is not None and example.described):
        return job
    found = written(kernel)
    if request.config >= len(found):
        hint = "save the file to have it executed" if found == () else f"it has {len(found)}"
        message = f"the text of `{kernel.name}` has no config {request.config}"
        raise CompileError([Diagnostic("MT973", message, hint=hint, stage="source")])
    config, names = found[request.config], {p.name for p in kernel.params}
    given = {n: v for n, v in config.values.items() if n in names and n not in request.types}
    defines = {**given, **request.defines} if not request.signature.strip() else request.defines
    warps, options = request.num_warps or config.num_warps, {"num_stages": config.num_stages, **request.options}
    return replace(job, request=replace(request, defines=defines, num_warps=warps, options=options))
