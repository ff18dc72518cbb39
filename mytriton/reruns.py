"""The scripts of reproducers: each runs one stage again on the files beside it, and nothing else.

All end with 0 and print what the stage made, or with 1 and say on standard error why it failed; a stage that crashes
ends the script's process as it ended the compiler's.
"""

from __future__ import annotations

from collections.abc import Mapping
from pprint import pformat
from typing import Any

from mytriton import language
from mytriton.frontend.names import SIGNATURE_TYPES
from mytriton.ir.core import ParamInfo
from mytriton.specialize import Specialization
from mytriton.target import Target
from mytriton.types import PointerType, ScalarType, Type

_HEAD = '''\
"""{title}

Exit code 0: it succeeded, and what it made is printed. 1: it failed, as the messages say. A crash is a crash.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
'''

_MLIR = """
from mlir import ir
{imports}
{given}
failures = []
TEXT = (HERE / "input.mlir").read_text()
ROWS = TEXT.splitlines()


def row_of(where):
    # The row of input.mlir that ends with a location, or with a name for it.
    names = [row.split(" = ")[0] for row in ROWS if row.startswith("#loc") and row.endswith(f" = {{where}}")]
    ends = tuple(f" {{text}}" for text in (where, *(f"loc({{name}})" for name in names)))
    return next((f"input.mlir:{{n}}: {{row.strip()}}" for n, row in enumerate(ROWS, 1) if row.endswith(ends)), "")


def report(diagnostic):
    if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
        failures.append(diagnostic.message)
    print(f"{{diagnostic.location}}: {{diagnostic.severity.name.lower()}}: {{diagnostic.message}}", file=sys.stderr)
    if row := row_of(str(diagnostic.location)):
        print(row, file=sys.stderr)
    for note in diagnostic.notes:
        print(f"{{note.location}}: note: {{note.message}}", file=sys.stderr)
    return True


context = ir.Context(load_on_create_dialects=[])
context.enable_multithreading(False)
# Else the bindings abort the process if a pass reports an error and yet succeeds.
context.emit_error_diagnostics = True
handler = context.attach_diagnostic_handler(report)
with context:
    try:
        module = ir.Module.parse(TEXT)
{does}
    except (ir.MLIRError, ValueError) as error:
        if not failures:
            failures.append(str(error))
            print(error, file=sys.stderr)
    if failures:
        sys.exit(1)
    print(module)
"""

_PASS = {
    "imports": "from mlir.passmanager import PassManager\n",
    "given": 'PIPELINE = (HERE / "pipeline.txt").read_text().strip()',
    "does": '        PassManager.parse(f"builtin.module({PIPELINE})").run(module.operation)',
}
_SCHEDULE = {
    "imports": "from mlir.dialects.transform.interpreter import apply_named_sequence\n",
    "given": 'SEQUENCE = (HERE / "sequence.txt").read_text().strip()',
    "does": """\
        schedule = ir.Module.parse((HERE / "schedule.mlir").read_text())
        named = {str(op.operation.attributes["sym_name"]).strip('"'): op.operation for op in schedule.body.operations}
        apply_named_sequence(module.operation, named[SEQUENCE], schedule.operation)""",
}

_CODE = """
import os
import subprocess

from mytriton import mlir
from mytriton.diagnostics import CompileError
from mytriton.source import SourceUnit

STAGE = {stage!r}
PIPELINE = (HERE / "pipeline.txt").read_text().strip()

# What LLVM says before it ends the process is printed by another.
cat = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=sys.stderr)
os.dup2(cat.stdin.fileno(), 2)
cat.stdin.close()
emitted = HERE / "emitted.mlir"
unit = SourceUnit(str(emitted), "emitted", 1, emitted.read_text())
try:
    run = mlir.Run(unit, PIPELINE, mlir.read(HERE / "input.mlir").bytecode, code=True).run(STAGE)
    run.raise_if_failed()
except CompileError as error:
    sys.exit(str(error))
print(run.stage(STAGE).text)
"""

_LLVM = """
from mytriton.backends.mlir.llvm import translate_operation
from mytriton.backends.mlir.run import ModuleRun
from mytriton.stage import Line

run = ModuleRun([Line(row) for row in (HERE / "input.mlir").read_text().split("\\n")], prefix="llvm")
(parsed,) = run.stages(())
problems = [*parsed.diagnostics] if run.failed else {leftovers}
if problems:
    sys.exit("\\n".join(problem.message for problem in problems))
with run.context:
    print(translate_operation({operation}))
"""

_PTX = """
from mytriton.backends.nvidia.nvrtc import compile_ptx
from mytriton.backends.nvidia.tools import ToolFailed

OPTIONS = {options}

try:
    made = compile_ptx((HERE / "input.cu").read_text(), OPTIONS)
except ToolFailed as error:
    sys.exit(str(error))
print(made.ptx)
"""

_CUBIN = """
from mytriton.backends.nvidia.nvjitlink import link
from mytriton.backends.nvidia.tools import ToolFailed

try:
    made = link((HERE / "input.ptx").read_text(), {chip!r})
except ToolFailed as error:
    sys.exit(str(error))
print(f"{{len(made.cubin)}} bytes, linked by {{made.tool}}: {{made.resources}}")
"""

_SASS = """
from mytriton.backends.nvidia.disasm import disassemble
from mytriton.backends.nvidia.tools import ToolFailed

try:
    print(disassemble((HERE / "input.cubin").read_bytes()))
except ToolFailed as error:
    sys.exit(str(error))
"""

_SOURCE = """
import traceback

import mytriton.language as tl
from mytriton import Target, compile_kernel, parse_signature, read_module
from mytriton.diagnostics import render

STAGE = {stage!r}
#: Values that executing the file had given to its globals.
KNOWN = {known}
#: Types of the run-time parameters; `None` is the place of one whose value follows.
SIGNATURE = {signature!r}
CONSTEXPRS = {constexprs}

path = HERE / {file!r}
kernel = read_module(path.read_text(encoding="utf-8"), str(path), KNOWN).kernel({kernel!r})
target = {target}
compilation = compile_kernel(kernel, parse_signature(kernel, SIGNATURE, CONSTEXPRS), target).run(STAGE)
failed = compilation.failed
if failed is not None:
    print(f"stage {{failed.name}} failed", file=sys.stderr)
    for finding in failed.diagnostics:
        print(render(finding, compilation.units), file=sys.stderr)
    if isinstance(failed.artifact, Exception):
        traceback.print_exception(type(failed.artifact), failed.artifact, failed.artifact.__traceback__)
    sys.exit(1)
print(compilation.stage(STAGE).text)
"""


def mlir_script(title: str) -> str:
    """Runs the pipeline of `pipeline.txt` on `input.mlir`; needs only the package `mlir`."""
    return _HEAD.format(title=title) + _MLIR.format(**_PASS)


def schedule_script(title: str) -> str:
    """Applies the sequence that `sequence.txt` names, of `schedule.mlir`, to `input.mlir`; needs only `mlir`."""
    return _HEAD.format(title=title) + _MLIR.format(**_SCHEDULE)


def code_script(title: str, stage: str) -> str:
    """Makes `stage`, a pass of `pipeline.txt` on `input.mlir` or code after them, as `mytriton.mlir` does."""
    return _HEAD.format(title=title) + _CODE.format(stage=stage)


def llvm_script(title: str, target: Target) -> str:
    """Translates `input.mlir` to LLVM IR."""
    if target.backend == "cpu":
        operation, leftovers = "run.module.operation", 'run.leftovers(("llvm", "builtin"))'
    else:
        operation = 'next(op.operation for op in run.module.body.operations if op.operation.name == "gpu.module")'
        leftovers = "[]"
    return _HEAD.format(title=title) + _LLVM.format(operation=operation, leftovers=leftovers)


def ptx_script(title: str, options: list[str]) -> str:
    """Compiles `input.cu` with NVRTC."""
    return _HEAD.format(title=title) + _PTX.format(options=pformat(options, width=100))


def cubin_script(title: str, chip: str) -> str:
    """Assembles `input.ptx`."""
    return _HEAD.format(title=title) + _CUBIN.format(chip=chip)


def sass_script(title: str) -> str:
    """Disassembles `input.cubin`."""
    return _HEAD.format(title=title) + _SASS


def source_script(
    title: str,
    stage: str,
    file: str,
    kernel: str,
    params: tuple[str, ...],
    specialization: Specialization,
    target: Target,
    known: Mapping[str, Any],
) -> str:
    """Compiles the kernel of `file` through `stage`: for stages whose input has no text that can be read back."""
    constexprs = dict(specialization.constexprs)
    return _HEAD.format(title=title) + _SOURCE.format(
        stage=stage,
        known=python(dict(known)),
        signature=signature(params, specialization),
        constexprs=python(constexprs),
        file=file,
        kernel=kernel,
        target=repr(target),
    )


def signature(params: tuple[str, ...], specialization: Specialization) -> str:
    """The types of the run-time parameters in Triton's notation, `None` in place of the others."""
    types = {name: _entry(type_, info) for name, type_, info in specialization.params}
    types.update((each.name, str(each)) for each in specialization.descriptors)
    return ", ".join(types.get(name, "None") for name in params)


def _entry(type_: Type, info: ParamInfo) -> str:
    pointer = isinstance(type_, PointerType)
    element = type_.element if isinstance(type_, PointerType) else type_
    name = next(name for name, each in SIGNATURE_TYPES.items() if each is element)
    return ("*" if pointer else "") + name + (":16" if info.divisible_by_16 else ":1" if info.is_one else "")


def python(value: Any) -> str:
    """A compile-time value as an expression of Python, where `tl` is the kernel language."""
    if isinstance(value, ScalarType):
        return "tl." + next(name for name, each in vars(language).items() if each is value)
    if isinstance(value, language.constexpr):
        return f"tl.constexpr({python(value.value)})"
    if isinstance(value, tuple):
        return "(" + "".join(f"{python(item)}, " for item in value) + ")"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {python(item)}" for key, item in value.items()) + "}"
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f"float({str(value)!r})"
    return repr(value)
