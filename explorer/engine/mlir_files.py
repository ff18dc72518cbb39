"""MLIR files: what is in one, and its way through passes. They have functions where Python files have kernels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from explorer.engine.messages import PassesKnown
from explorer.engine.requests import CompileRequest, RunRequest
from explorer.model.result import ExampleInfo, KernelInfo, ModuleInfo, OptionView, ParamView, PassView
from mytriton.diagnostics import CompileError, Diagnostic, MytritonError
from mytriton.mlir.module import Module, Run, parse
from mytriton.mlir.passes import registered
from mytriton.mlir.trial import INTEGER, SIZE
from mytriton.pipelines import Step, steps
from mytriton.source import SourceUnit

_FUNCTION = re.compile(r'^[ \t]*func\.func[ \t]+(?:public[ \t]+)?@([\w$.-]+|"[^"\n]*")\s*\(', re.MULTILINE)
_OPENING, _CLOSING = "([{<", ")]}>"


def module_info(text: str, path: str) -> ModuleInfo:
    """The functions that can be called from outside, read without MLIR: a file that it cannot read has some, too."""
    return ModuleInfo(path, tuple(_functions(text)), executed=True, text=text)


def _functions(text: str) -> Iterator[KernelInfo]:
    for found in _FUNCTION.finditer(text):
        end = _closing(text, found.end() - 1)
        if end is None or "{" not in text[end : text.find("\n", end) + 1 or len(text)]:  # declared, not defined
            continue
        name = found[1].strip('"')
        params = tuple(_params(text[found.end() : end]))
        values = {"size": SIZE} if any("?" in p.annotation for p in params) else {}
        values |= {p.name: INTEGER for p in params if re.fullmatch(r"index|i\d+", p.annotation)}
        types = {p.name: p.annotation for p in params}
        line = text.count("\n", 0, found.start(1)) + 1
        label = f"{name}({', '.join(f'{n}={v}' for n, v in values.items())})"
        yield KernelInfo(name, line, params, (ExampleInfo(label, types, values=values),))


def _params(text: str) -> Iterator[ParamView]:
    for item in _split(text):
        name, colon, type_ = item.partition(":")
        if colon:
            yield ParamView(name.strip().lstrip("%"), annotation=_without_attributes(type_.strip()))


def _without_attributes(type_: str) -> str:
    """`memref<4xf32> {llvm.noalias}` and `f32 loc(...)` are types with something behind them."""
    depth = 0
    for at, c in enumerate(type_):
        if c in " \t\n" and depth == 0:
            return type_[:at]
        depth += (c in _OPENING) - (c in _CLOSING and type_[at - 1 : at] != "-")
    return type_


def _split(text: str) -> Iterator[str]:
    """The parts of a list between its own commas."""
    depth = first = 0
    for at, c in enumerate(text):
        if c == "," and depth == 0:
            yield text[first:at]
            first = at + 1
        depth += (c in _OPENING) - (c in _CLOSING and text[at - 1 : at] != "-")
    if text[first:].strip():
        yield text[first:]


def _closing(text: str, opening: int) -> int | None:
    """Where the parenthesis at `opening` is closed."""
    depth = 0
    for at in range(opening, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return at
    return None


def known(generation: int) -> PassesKnown:
    """All passes that MLIR has."""
    try:
        found = registered()
    except ImportError as error:
        return PassesKnown(generation, error=str(error))
    return PassesKnown(
        generation,
        tuple(
            PassView(
                p.name,
                p.help,
                tuple(OptionView(o.name, "|".join(o.values) or o.type or "true|false", o.help) for o in p.options),
                p.on,
            )
            for p in found.values()
        ),
    )


def signature(info: KernelInfo | None) -> str:
    """The types of a function's arguments."""
    return ", ".join(p.annotation for p in info.params) if info is not None else ""


def passes(request: CompileRequest | RunRequest) -> tuple[Step, ...]:
    """The passes of a request; raises `PipelineError`."""
    return tuple(step for text in request.pipelines.get("mlir", ()) for step in steps(text))


def schedule(request: CompileRequest | RunRequest) -> Module | None:
    """The schedule of a request; raises `CompileError` if it is no module."""
    return parse(request.schedule_text, request.schedule) if request.schedule else None


def run(request: CompileRequest) -> Run:
    """The module of a request on its way; raises `CompileError` if passes or schedule cannot be read."""
    path = request.path
    unit = SourceUnit(path, Path(path).stem, 1, request.text)
    try:
        return Run(unit, passes(request), schedule=schedule(request), code=True, rows=True)
    except CompileError:
        raise
    except MytritonError as error:  # no list of passes, no such sequence, no MLIR
        raise CompileError([Diagnostic("MT607", str(error), stage="source")], (unit,)) from None
