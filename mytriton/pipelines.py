"""Pipeline texts, taken apart into passes that run one by one.

`builtin.module(canonicalize,gpu.module(gpu.func(cse),strip-debuginfo))` is the steps `canonicalize`,
`gpu.module(gpu.func(cse))` and `gpu.module(strip-debuginfo)`: each is a pipeline for `builtin.module(...)` of its own.
MLIR runs a nested list on one operation after the other; step by step each pass meets all of them before the next does.
That is the same for passes that only change the operation they are given, which is all they may do (MLIR, "Pass
Infrastructure").
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from mytriton import checked
from mytriton.diagnostics import MytritonError
from mytriton.records import dataclass

_OPENING = {"(": ")", "{": "}", "[": "]"}
_ROOT = "builtin.module"


class PipelineError(MytritonError):
    """A pipeline text that cannot be taken apart; `column` (from 1) is where."""

    def __init__(self, message: str, text: str, column: int) -> None:
        super().__init__(f"{message}\n{text}\n{' ' * (column - 1)}^")
        self.column = column


@dataclass(frozen=True, slots=True)
class Step:
    """One pass: its `name`, its `options` (without braces), the operations it is nested in below `builtin.module`, and
    the column (from 1) at which it stands in the text."""

    name: str
    options: str = ""
    nest: tuple[str, ...] = ()
    column: int = 1

    @property
    def title(self) -> str:
        """What its stage is called: the pass and where it runs."""
        return Step(self.name, "", self.nest).pipeline

    @property
    def pipeline(self) -> str:
        """What to run inside `builtin.module(...)`."""
        text = f"{self.name}{{{self.options}}}" if self.options else self.name
        for anchor in reversed(self.nest):
            text = f"{anchor}({text})"
        return text


def steps(text: str) -> tuple[Step, ...]:
    """The passes of a pipeline in order, whether `builtin.module(...)` is around them or not; none of an empty text.
    Raises `PipelineError` where brackets or names are missing; whether there are such passes only MLIR knows."""
    checked.expect(text, str, "mlir.steps", "the text of a pipeline")
    return tuple(_steps(text, 0, len(text), ()))


def passes(given: str | Sequence[str]) -> tuple[str, ...]:
    """The texts of passes that run one by one, given as one pipeline, or as a list of which each item stays one step.
    Raises `PipelineError` where brackets or names are missing, `ArgumentError` for what is neither."""
    if isinstance(given, str):
        return tuple(step.pipeline for step in steps(given))
    checked.expect_all(given, str, "mlir_passes", "the text of a pipeline, or a list of such texts")
    for text in given:
        if not steps(text):
            raise PipelineError("a pass has no name", text, 1)
    return tuple(given)


def named(pipeline: tuple[str, ...], own: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Passes with what their stages are called: as in a table of `own` ones, or by the pass and where it runs; the
    second of one name is `... (2)`."""
    table = {text: name for name, text in own}
    names: dict[str, int] = {}
    made: list[tuple[str, str]] = []
    for text in pipeline:
        name = table.get(text) or next((step.title for step in steps(text)), text)
        names[name] = names.get(name, 0) + 1
        made.append((name if names[name] == 1 else f"{name} ({names[name]})", text))
    return tuple(made)


def joined(parts: Sequence[Step]) -> str:
    """The pipeline of these passes, as `mlir-opt --pass-pipeline` takes it; neighbours in the same nest share it."""
    checked.expect_all(parts, Step, "mlir.joined", "a list of steps, which mlir.steps makes")
    return f"{_ROOT}({_joined([(part.nest, part) for part in parts])})"


def command(path: str | Path, pipeline: str | Sequence[Step], schedule: str | Path = "") -> str:
    """The line for a shell that has MLIR's own tool run these passes on a file; `schedule` is the file of one that is
    applied in the place of `transform-interpreter`, or else first."""
    checked.expect(path, (str, Path), "mlir.command", "the path of a file")
    parts = steps(pipeline) if isinstance(pipeline, str) else tuple(pipeline)
    if schedule:
        load = Step("transform-preload-library", f"transform-library-paths={schedule}")
        named = any(step.name == "transform-interpreter" for step in parts)
        parts = (load, *(() if named else (Step("transform-interpreter"),)), *parts)
    return shlex.join(["mlir-opt", str(path), f"--pass-pipeline={joined(parts)}"])


def _joined(parts: list[tuple[tuple[str, ...], Step]]) -> str:
    texts: list[str] = []
    while parts:
        nest, step = parts[0]
        if not nest:
            texts.append(Step(step.name, step.options).pipeline)
            del parts[0]
            continue
        count = next((i for i, (other, _) in enumerate(parts) if other[:1] != nest[:1]), len(parts))
        texts.append(f"{nest[0]}({_joined([(other[1:], inner) for other, inner in parts[:count]])})")
        del parts[:count]
    return ",".join(texts)


def _steps(text: str, start: int, end: int, nest: tuple[str, ...]) -> Iterator[Step]:
    for first, last in _items(text, start, end):
        head = first
        while head < last and text[head] not in "({":
            head += 1
        name = text[first:head].strip()
        if not name:
            raise PipelineError("a pass has no name", text, first + 1)
        rest = text[head:last].strip()
        if not rest:
            yield Step(name, "", nest, first + 1)
            continue
        closing = _closing(text, head, last)
        if text[closing + 1 : last].strip():
            raise PipelineError(f"a comma is missing after `{text[first : closing + 1]}`", text, closing + 2)
        if text[head] == "{":
            yield Step(name, text[head + 1 : closing].strip(), nest, first + 1)
        else:
            yield from _steps(text, head + 1, closing, nest if not nest and name == _ROOT else (*nest, name))


def _items(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where the parts between commas stand, without the blanks around them."""
    if not text[start:end].strip():
        return
    at = first = start
    while at <= end:
        if at == end or text[at] == ",":
            while first < at and text[first].isspace():
                first += 1
            yield first, at
            first = at + 1
        elif text[at] in _OPENING:
            at = _closing(text, at, end)
        elif text[at] in _OPENING.values():
            raise PipelineError(f"`{text[at]}` closes nothing", text, at + 1)
        at += 1


def _closing(text: str, opening: int, end: int) -> int:
    """Where the bracket at `opening` is closed."""
    expected: list[tuple[str, int]] = []
    for at in range(opening, end):
        c = text[at]
        if c in _OPENING:
            expected.append((_OPENING[c], at))
        elif c in _OPENING.values():
            if c != expected[-1][0]:
                raise PipelineError(f"`{c}` stands where `{expected[-1][0]}` is expected", text, at + 1)
            expected.pop()
            if not expected:
                return at
    raise PipelineError(f"`{text[expected[-1][1]]}` is never closed", text, expected[-1][1] + 1)
