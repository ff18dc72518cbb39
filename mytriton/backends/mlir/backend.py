"""The mlir backend: laid-out program -> gpu dialect -> named pass stages -> NVVM -> PTX -> cubin -> SASS."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from mytriton.backends.base import Launcher
from mytriton.backends.mlir.bases import bases
from mytriton.backends.mlir.emit import emit
from mytriton.backends.mlir.kept import KeptRun, Made
from mytriton.backends.mlir.llvm import OPTIMIZED, llvm_lines, optimized, translate
from mytriton.backends.mlir.names import entry_name
from mytriton.backends.mlir.run import ModuleRun, mlir_available
from mytriton.backends.nvidia import stages as nvidia
from mytriton.backends.nvidia.device import probe
from mytriton.backends.nvidia.shared import dynamic_bytes, too_large
from mytriton.diagnostics import BackendUnavailable, Diagnostic
from mytriton.ir import ops
from mytriton.ir.core import Func
from mytriton.pipelines import named
from mytriton.records import dataclass
from mytriton.source import SourceUnit
from mytriton.stage import Clock, Compilation, Line, Stage
from mytriton.target import CHIPS, Target

#: The stages after `mlir/emit`: name, and the pipeline inside `builtin.module(...)`. Up to the debug information they
#: are general; the last makes PTX text, which needs no other program. `DebugDirectivesOnly` keeps full optimization.
PIPELINE: tuple[tuple[str, str], ...] = (
    ("cleanup", "any(cse,canonicalize)"),
    ("attach-nvvm-target", "nvvm-attach-target{{module=.* chip={chip} features={features} O=3}}"),
    ("convert-scf-to-cf", "gpu.module(gpu.func(convert-scf-to-cf))"),
    ("convert-gpu-to-nvvm", "gpu.module(convert-gpu-to-nvvm)"),
    ("reconcile-unrealized-casts", "gpu.module(reconcile-unrealized-casts)"),
    ("debug-info", "ensure-debug-info-scope-on-llvm-func{{emission-kind=DebugDirectivesOnly}}"),
    ("gpu-module-to-binary", "gpu-module-to-binary{{format=isa}}"),
)

#: The operations there is MLIR text for.
TAKEN = (
    *(ops.Unary, ops.Binary, ops.Compare, ops.Select, ops.Fma, ops.Cast, ops.Bitcast, ops.Constant, ops.Splat),
    *(ops.Arange, ops.ProgramId, ops.NumPrograms, ops.AddPtr, ops.Load, ops.Store, ops.Atomic),
    *(ops.Assert, ops.Print, ops.Barrier, ops.For, ops.While, ops.If, ops.Yield),
    *(ops.Broadcast, ops.Reshape, ops.Transpose, ops.Reduce),
    *(ops.Dot, ops.Pick, ops.Gather, ops.Histogram, ops.InlineAsm),
)


def pipeline(target: Target) -> tuple[tuple[str, str], ...]:
    """`PIPELINE` for one chip."""
    return tuple((name, text.format(chip=target.chip, features=CHIPS[target.chip])) for name, text in PIPELINE)


#: The stages after the passes.
_AFTER = ("llvm", nvidia.NAMES[0], OPTIMIZED, *nvidia.NAMES[1:])


class MlirBackend:
    """See `mytriton.backends.base.Backend`. `table` stands in for `PIPELINE` with other passes."""

    name = "mlir"

    def __init__(self, table: Sequence[tuple[str, str]] | None = None) -> None:
        self._table = table

    def _passes(self, target: Target) -> tuple[tuple[str, str], ...]:
        own = pipeline(target) if self._table is None else tuple(self._table)
        return own if target.mlir_passes is None else named(target.mlir_passes, own)

    def passes(self, target: Target) -> Sequence[tuple[str, str]]:
        return tuple((f"mlir/{name}", pipeline) for name, pipeline in self._passes(target))

    def planned(self, target: Target) -> Sequence[str]:
        names = [name for name, _ in self.passes(target)]
        return ("layout", "mlir/emit", *names, *_AFTER)

    def available(self) -> str | None:
        return mlir_available() or (None if probe().state == "ready" else probe().reason)

    def check(self, func: Func, target: Target) -> Sequence[Diagnostic]:
        unknown = [
            Diagnostic("MT611", f"the mlir backend cannot compile `{op.opcode}`", op.span, stage="mlir")
            for op in func.walk()
            if not isinstance(op, TAKEN)
        ]
        return [*unknown, *too_large(func, target, "mlir"), *(bases(func)[1] if target.abi == "memref" else [])]

    def lower(self, func: Func, target: Target, units: Sequence[SourceUnit] = ()) -> Iterator[Stage]:
        layout = nvidia.layout_stage(func, target)
        yield layout
        with Clock() as clock:
            lines = emit(layout.artifact, target)
        after = _After(lines, target, dynamic_bytes(layout.artifact), units)
        with Clock() as search:
            kept = KeptRun(lines, self._passes(target), __file__)
            made = kept.read()
        if made is not None:
            yield _emitted(lines, clock.seconds)
            made.stages[-1].seconds = search.seconds
            yield from made.stages
            yield from after.stages(made, cached=True)
            return
        reason = mlir_available()
        if reason is None:
            yield from self._run(lines, target, clock.seconds + search.seconds, kept, after)
            return
        yield _emitted(lines, clock.seconds)
        yield from _skipped(self.planned(target)[2:], reason)

    def _run(self, lines: list[Line], target: Target, seconds: float, kept: KeptRun, after: _After) -> Iterator[Stage]:
        run = ModuleRun(lines, prefix="mlir", seconds=seconds)
        made = Made([], b"", "", run.listings)
        codes: list[bytes] = []
        for stage in run.stages(self._passes(target)):
            made.stages.append(stage)
            codes.append(run.bytecode)
            if stage.name == "mlir/gpu-module-to-binary" and stage.ok:
                made.ptx = stage.artifact = _ptx(run)
                if len(codes) == 1 + len(self._passes(target)):
                    kept.write(made, codes)
            elif not made.ptx:
                made.lowered = run.bytecode
            yield stage
        if made.ptx:
            yield from after.stages(made)
        elif not run.failed:
            yield from _skipped(_AFTER, "no stage gpu-module-to-binary has made PTX")

    def load(self, compilation: Compilation) -> Launcher:
        from mytriton.backends.nvidia.launch import MEMREF, POINTER, CubinLauncher  # see `numbers`

        if probe().state != "ready":
            raise BackendUnavailable(probe().reason)
        target = compilation.target
        params = [(name, type_) for name, type_, _ in compilation.specialization.params]
        stage, layout = compilation.find("cubin"), compilation.find("layout")
        compilation.raise_if_failed()
        if stage is None or not stage.ok:
            raise BackendUnavailable(stage.reason if stage is not None else "the compilation made no cubin")
        cubin: Any = stage.artifact
        arrays = POINTER if target.abi == "pointer" else MEMREF
        assert layout is not None, "a cubin comes after it"
        shared = dynamic_bytes(layout.artifact)
        return CubinLauncher(cubin, entry_name(compilation.kernel), params, target, arrays, shared)


def _emitted(lines: list[Line], seconds: float) -> Stage:
    text = "\n".join(line.text for line in lines)
    return Stage("mlir/emit", "text", "mlir", seconds=seconds, artifact=text, make_lines=lambda: lines)


@dataclass()
class _After:
    """The stages after the passes, of emitted lines; `shared` and `units` are those of `nvidia.finish`."""

    lines: list[Line]
    target: Target
    shared: int
    units: Sequence[SourceUnit]

    def stages(self, made: Made, cached: bool = False) -> Iterator[Stage]:
        """Making PTX went through LLVM IR: it is made once more only for who looks at it."""
        lines = self.lines
        stage = Stage("llvm", "text", "llvm")
        stage.make_lines = lambda: llvm_lines(translate(made.listings, made.lowered, "gpu.module"), lines)
        yield stage
        rest = nvidia.finish(made.ptx, lambda: lines, self.target, self.shared, cached=cached, units=self.units)
        yield next(rest)
        yield optimized("llvm-dis", lambda: _optimized(made, lines))
        yield from rest


def _optimized(made: Made, lines: list[Line]) -> Stage:
    from mytriton.mlir.code import device_optimized  # and with it what launches do without

    return device_optimized(made.lowered, lines, made.listings)


def _skipped(names: Sequence[str], reason: str) -> Iterator[Stage]:
    for name in names:
        language = name.split("/")[0]
        yield Stage(name, "binary" if name == "cubin" else "text", language, "skipped", reason=reason)


#: How MLIR prints a byte of a string that is not printable, a quote or a backslash.
_ESCAPED = re.compile(r"\\(\\|[0-9A-F]{2})")


def _ptx(run: ModuleRun) -> str:
    """The text in the module's one `gpu.binary`; '' if passes that are not ours have left something else. It is read as
    MLIR prints it: before the bindings hand an attribute of the gpu dialect to Python, they make a class for each of
    its operations."""
    from mlir import ir

    found: list[str] = []

    def visit(op: Any) -> Any:
        if op.name == "gpu.binary":
            found.append(str(op.attributes["objects"]))
        return ir.WalkResult.ADVANCE

    with run.context:
        run.module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    text = "".join(found).partition('assembly = "')[2]
    return unescaped(text.split('"')[0]).rstrip("\0")


def unescaped(printed: str) -> str:
    """A string as it is, of which MLIR prints this."""
    raw = _ESCAPED.sub(lambda match: "\\" if match[1] == "\\" else chr(int(match[1], 16)), printed)
    return raw.encode("latin-1").decode()


BACKEND = MlirBackend()
