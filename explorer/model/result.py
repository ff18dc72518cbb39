"""What crosses the process line from the children to whoever shows it: stages, findings, kernels and run reports.

Plain data, no Textual and no mytriton: `codec.to_json` and `codec.from_json` carry all of it. Lines and columns count
from 1, in characters of the *file* being edited; a place that is not in that file is None.
"""

from __future__ import annotations

import re
from dataclasses import field, replace
from typing import Any, Literal

from explorer.model.configs import ConfigView
from explorer.model.measured import BenchView, TuningView
from explorer.model.measured import OutputReport as OutputReport
from explorer.model.measured import StepView as StepView
from mytriton.records import dataclass

Status = Literal["ok", "no change", "failed", "crashed", "skipped", "cached"]


@dataclass(frozen=True, slots=True)
class Frame:
    """A place in a function on the way to inlined code: its name, and the line of its file. `path` is "" for the file
    being edited."""

    name: str
    line: int
    path: str = ""


@dataclass(frozen=True, slots=True)
class LineView:
    """One line of a listing, the range of the file it came from, and the ids of the SSA values it mentions, first those
    it defines. Code inlined from a helper has `frames`: from the place in the helper out to the one in the kernel. What
    no line asked for says what made it (`made_by`); its place, if any, is that of its first use."""

    text: str
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    values: tuple[str, ...] = ()
    frames: tuple[Frame, ...] = ()
    made_by: str = ""


@dataclass(frozen=True, slots=True)
class UnitView:
    """A helper of another file: what it is called, and its text, which begins at line `first_line` of that file."""

    path: str
    name: str
    first_line: int
    text: str


@dataclass(frozen=True, slots=True)
class ChangeView:
    """One thing a pass did; `before` and `after` are listing lines, `why` a sentence, `line` the file line."""

    pass_name: str
    rule: str
    before: str = ""
    after: str = ""
    why: str = ""
    line: int | None = None


#: What the C library says of an assertion that fails: program, file, row, function, and what was asserted.
_ASSERTION = re.compile(r"\S+: \S*?([^/\s]+:\d+): .*?(Assertion `.*)$")
#: The code of the warning that a file was only read, since something it imports is not installed.
NOT_IMPORTED = "MT983"


@dataclass(frozen=True, slots=True)
class DiagnosticView:
    """One finding. `rendered` is the whole text with source lines and carets, as a terminal would print it."""

    code: str
    severity: str
    message: str
    path: str = ""
    line: int | None = None
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None
    hint: str = ""
    stage: str = ""
    rendered: str = ""


@dataclass(frozen=True, slots=True)
class StageView:
    """One step of a compilation. `ms` is its time, `stats` integers worth showing, `reason` why it was skipped or how
    it crashed; `language` names the highlighter. `pending` means that the lines are not there yet: the same stage
    follows once more with them. `culprit` is the row that a failed stage failed at, in what it was given. The stage
    `ssa` has the helpers of other files that were inlined (`units`)."""

    name: str
    kind: str
    language: str
    status: Status = "ok"
    ms: float = 0.0
    lines: tuple[LineView, ...] = ()
    changes: tuple[ChangeView, ...] = ()
    stats: dict[str, int] = field(default_factory=dict)
    diagnostics: tuple[DiagnosticView, ...] = ()
    reason: str = ""
    pending: bool = False
    culprit: int | None = None
    units: tuple[UnitView, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the listing is good (not failed, crashed or skipped)."""
        return self.status in ("ok", "no change", "cached")

    @property
    def text(self) -> str:
        """The listing as one string."""
        return "\n".join(line.text for line in self.lines)

    @classmethod
    def crashed(cls, failure: ChildFailure) -> StageView:
        """The stage a child died of."""
        cause = f"{failure.cause}: {failure.said}" if failure.said else failure.cause
        rows = list(failure.log)
        if (trace := next((i for i, row in enumerate(rows) if row.startswith("Fatal Python error")), None)) is not None:
            del rows[trace:]  # how our own code came there
        rendered = "\n".join([f"error[MT980]: {cause}", *rows])
        finding = DiagnosticView("MT980", "error", cause, stage=failure.stage, rendered=rendered)
        return cls(failure.stage or "source", "text", "", "crashed", diagnostics=(finding,), reason=cause)


@dataclass(frozen=True, slots=True)
class OperationView:
    """An operation of an MLIR module (`mytriton.mlir.operations.Operation`); `line` is None if it has no place. Of a
    kernel `stage` holds it, and `path` is the file that the line is of, if it is another."""

    name: str
    line: int | None = None
    column: int | None = None
    within: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    maps: tuple[str, ...] = ()
    stage: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class OptionView:
    """An option of a pass: what it takes (`<uint>`, or the values there are) and what it is for."""

    name: str
    takes: str = ""
    help: str = ""


@dataclass(frozen=True, slots=True)
class PassView:
    """A pass that MLIR has; `on` is what it has to be nested in: an operation, `function` for any, '' for nothing."""

    name: str
    help: str = ""
    options: tuple[OptionView, ...] = ()
    on: str = ""


@dataclass(frozen=True, slots=True)
class ParamView:
    """A kernel parameter as written; `default` and `annotation` are source text ('' if there is none)."""

    name: str
    constexpr: bool = False
    default: str = ""
    annotation: str = ""


@dataclass(frozen=True, slots=True)
class ExampleInfo:
    """An example launch of a kernel.

    `types` maps runtime parameters to types in Triton's notation (`*fp32:16`, `i32`), `constexprs` the others to plain
    values (what JSON has no word for is `{"dtype": "fp32"}`, `{"tuple": [...]}` or `{"constexpr": ...}`). All are empty
    until the example was described (its inputs are built only when somebody looks); `error` says why they cannot be.
    `values` are what its function is called with, as far as they are plain, `options` those of the launch.
    """

    label: str
    types: dict[str, str] = field(default_factory=dict)
    constexprs: dict[str, Any] = field(default_factory=dict)
    grid: tuple[int, ...] = ()
    num_warps: int | None = None
    error: str = ""
    values: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def described(self) -> bool:
        """Whether its types are known, or why they cannot be."""
        return bool(self.types or self.constexprs or self.error)

    def called(self, values: dict[str, Any]) -> str:
        """Its label, called with other values."""
        if not values:
            return self.label
        written = ", ".join(f"{name}={value!r}" for name, value in {**self.values, **values}.items())
        return f"{self.label.partition('(')[0]}({written})"


@dataclass(frozen=True, slots=True)
class KernelInfo:
    """A kernel of the file: `line` is that of its `def`, `lines` is how many it has with its decorators; a `helper` is
    called by another kernel of the file. `tuned` are the arguments that its `autotune` chooses, if the file was
    executed and it has one, and `configs` what it chooses from."""

    name: str
    line: int
    params: tuple[ParamView, ...] = ()
    examples: tuple[ExampleInfo, ...] = ()
    helper: bool = False
    lines: int = 0
    tuned: tuple[str, ...] = ()
    configs: tuple[ConfigView, ...] = ()

    @property
    def opening(self) -> int:
        """The example that is shown where none was chosen: the first that stands for others, which one of 1 or 0
        elements does not: its arguments are constants of the code."""
        small = [any(type(v) is int and v < 2 for v in example.values.values()) for example in self.examples]
        return small.index(False) if False in small else 0

    def called(self, number: int, values: dict[str, Any]) -> str:
        """The label of an example, called with those of these values that it takes."""
        example = self.examples[number]
        takes = {*example.values, *(p.name for p in self.params)}
        return example.called({name: value for name, value in values.items() if name in takes})


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """What is known of the file. `executed` is False for a file that was only read (`--no-exec`, or its import failed);
    `diagnostics` then say why, if it was not asked for. `names` holds the global numbers and strings that executing it
    gave, and `text` what was executed."""

    path: str
    kernels: tuple[KernelInfo, ...] = ()
    diagnostics: tuple[DiagnosticView, ...] = ()
    executed: bool = False
    seconds: float = 0.0
    names: dict[str, Any] = field(default_factory=dict)
    text: str = ""

    def kernel(self, name: str | None) -> KernelInfo | None:
        """The kernel of that name; for None the first that is no helper, else the first."""
        if name is None:
            return min(self.kernels, key=lambda k: k.helper, default=None)
        return next((k for k in self.kernels if k.name == name), None)

    def with_example(self, kernel: str, number: int, info: ExampleInfo) -> ModuleInfo:
        """The same, with the description of one example filled in."""

        def filled(k: KernelInfo) -> KernelInfo:
            if k.name != kernel or number >= len(k.examples):
                return k
            known = replace(info, label=k.examples[number].label, values=k.examples[number].values)
            return replace(k, examples=(*k.examples[:number], known, *k.examples[number + 1 :]))

        return replace(self, kernels=tuple(filled(k) for k in self.kernels))

    def not_reloaded(self, read: ModuleInfo) -> ModuleInfo:
        """What is known after the file could only be read: what executing it gave earlier still holds."""
        examples = {k.name: k.examples for k in self.kernels}
        kernels = tuple(replace(k, examples=examples.get(k.name, ())) for k in read.kernels) or self.kernels
        return replace(self, kernels=kernels, diagnostics=read.diagnostics)


@dataclass(frozen=True, slots=True)
class RunReport:
    """One example run and checked.

    `backend` and `device` are what it really ran on; `note` says so if another backend was asked for. `reference` is
    what the outputs were compared with ("NumPy" or "interpreter"). `message` is why it could not run or failed as a
    whole; `unavailable` is True if the backend cannot run on this machine at all. `steps` are there if it was run after
    every stage: the last one is the first that differs, if one does. `origin` says what wrote the first wrong element,
    in file line `origin_line`; `began` that it ended while it ran, and `line` at which line of the file, if known.
    `bench` is there if it was timed, `tuning` instead of outputs if it was autotuned. `chip` is empty unless it ran on
    a GPU.
    """

    ok: bool
    backend: str
    device: str = ""
    kernel: str = ""
    example: str = ""
    outputs: tuple[OutputReport, ...] = ()
    seconds: float = 0.0
    reference: str = ""
    note: str = ""
    message: str = ""
    unavailable: bool = False
    diagnostics: tuple[DiagnosticView, ...] = ()
    steps: tuple[StepView, ...] = ()
    origin: str = ""
    origin_line: int | None = None
    bench: BenchView | None = None
    tuning: TuningView | None = None
    chip: str = ""
    num_warps: int = 0
    constexprs: dict[str, Any] = field(default_factory=dict)
    began: bool = False
    line: int | None = None

    @property
    def took(self) -> float:
        """Seconds of one launch: the median, if it was benched."""
        return self.bench.median if self.bench is not None else self.seconds


@dataclass(frozen=True, slots=True)
class ChildFailure:
    """A child process died, hung or was killed for what it used.

    `cause` is a sentence such as "killed by SIGSEGV while running stage 'mlir/convert-gpu-to-nvvm'"; `log` holds the
    last lines it wrote to its standard output or error; `backend` is the one that was being compiled for, if any.
    """

    child: str
    cause: str
    stage: str = ""
    generation: int = 0
    log: tuple[str, ...] = ()
    backend: str = ""

    @property
    def said(self) -> str:
        """The line of the log that says why native code ended the process, if there is one."""
        errors = ("LLVM ERROR: ", "error: ")
        row = next((row for row in reversed(self.log) if row.startswith(errors) or "Assertion `" in row), "")
        if assertion := _ASSERTION.match(row):
            return f"{assertion[2]} ({assertion[1]})"
        return row

    @property
    def is_access(self) -> bool:
        """Whether memory was read or written that is none of the process's."""
        return "SIGSEGV" in self.cause or "SIGBUS" in self.cause

    @property
    def explained(self) -> str:
        """The cause, and what to do if it is the author's."""
        if "SIGFPE" in self.cause:
            return f"{self.cause}; an integer that is divided by 0 does that"
        if "on backend cpu" in self.cause and (self.is_access or "SIGABRT" in self.cause):
            return (
                f"{self.cause}; a load or store outside of its array does that: "
                "MYTRITON_CHECK_BOUNDS=1, check_bounds=True of the example, or backend interp says which"
            )
        return self.cause
