"""What LLVM makes of a module after its passes: LLVM IR, the same after optimization, and the machine's code.

Whether there is any, only the module tells: one of the LLVM dialect alone becomes code of this machine, one whose
device code was made by `gpu-module-to-binary` holds PTX. What cannot be is a skipped stage that says why.
"""

from __future__ import annotations

import ctypes
import platform
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mytriton.backends.cpu.listing import asm_lines, tool
from mytriton.backends.mlir.debug_locations import OPTIONS
from mytriton.backends.mlir.listing import Listings
from mytriton.backends.mlir.llvm import OPTIMIZED, llvm_lines, missing, translate_operation
from mytriton.backends.mlir.run import native_stderr
from mytriton.diagnostics import Diagnostic
from mytriton.mlir.symbols import undefined
from mytriton.stage import Clock, Line, Stage

#: The stages. The last two are slow.
CODE = ("llvm", "ptx", OPTIMIZED, "asm")
#: The pass that makes device code, and what it leaves.
TO_BINARY, BINARY = "gpu-module-to-binary", "gpu.binary"

_DEBUG = "ensure-debug-info-scope-on-llvm-func{{emission-kind={kind}}}"


def code(codes: Sequence[bytes], source: Sequence[Line], listings: Listings) -> Iterator[Stage]:
    """The stages of a module; `codes` is its bytecode after each pass."""
    with listings.module(codes[-1]) as module:
        on_device = any(op.operation.name == BINARY for op in module.body.operations)
    if on_device:
        yield from _device(codes, source, listings)
    else:
        yield from _host(codes[-1], source, listings)


def _host(bytecode: bytes, source: Sequence[Line], listings: Listings) -> Iterator[Stage]:
    with listings.module(bytecode) as module:
        left = _names(module, lambda name: name.split(".")[0] not in ("llvm", "builtin"))
        functions = [op.operation for op in module.body.operations if op.operation.name == "llvm.func"]
        empty = not left and not any(len(f.regions[0].blocks) for f in functions)  # which LLVM's JIT aborts on
    if empty:
        yield from (_skipped(name, "the module defines no function") for name in CODE)
        return
    if left:
        shown = ", ".join(left[:4]) + (f" and {len(left) - 4} more" if len(left) > 4 else "")
        yield _skipped(CODE[0], f"not lowered to LLVM: {shown}")
        yield from (_skipped(name, "not lowered to LLVM") for name in CODE[1:])
        return
    text = ""
    stage = Stage("llvm", "text", "llvm")
    with Clock() as clock, listings.module(bytecode) as module:
        _debug(module, "LineTablesOnly")
        text = stage.artifact = translate_operation(module.operation)
    stage.seconds = clock.seconds
    stage.make_lines = lambda: llvm_lines(text, source)
    yield stage
    yield _skipped("ptx", "the module holds no device code")
    yield optimized(text, source)
    yield _asm(bytecode, source, listings)


def optimized(text: str, source: Sequence[Line]) -> Stage:
    """LLVM IR after the passes that the JIT compiler has it go through, for the processor at hand."""
    options = [
        "-S",
        "-passes=default<O3>",
        "-mcpu=native",
        f"-mtriple={platform.machine()}-unknown-linux-gnu",
        OPTIONS[0],
    ]
    return tool_stage(OPTIMIZED, "opt", options, text, source)


def tool_stage(name: str, program: str, options: Sequence[str], given: str | bytes, source: Sequence[Line]) -> Stage:
    """The LLVM IR that one of LLVM's programs prints of what it is given."""
    path = tool(program)
    if path is None:
        return missing(name, program)
    stage = Stage(name, "text", "llvm")
    with Clock() as clock:
        inp = given.encode() if isinstance(given, str) else given
        done = subprocess.run([path, *options, "-o", "-", "-"], input=inp, capture_output=True, check=False)
    stage.seconds = clock.seconds
    if done.returncode:
        message = f"{program} failed:\n{done.stderr.decode(errors='replace').strip()}"
        stage.status, stage.diagnostics = "failed", (Diagnostic("MT604", message, stage=name),)
        return stage
    stage.artifact = text = done.stdout.decode()
    stage.make_lines = lambda: llvm_lines(text, source)
    return stage


def _asm(bytecode: bytes, source: Sequence[Line], listings: Listings) -> Stage:
    from mlir.execution_engine import ExecutionEngine

    objdump = tool("llvm-objdump")
    if objdump is None:
        return missing("asm", "llvm-objdump")
    stage = Stage("asm", "text", "asm")
    error, made = "", b""
    with Clock() as clock, listings.module(bytecode) as module, native_stderr() as stderr:
        _debug(module, "LineTablesOnly")
        try:
            engine = ExecutionEngine(module, opt_level=3, enable_object_dump=True)
            for name in undefined(module):  # nothing is called, and LLVM aborts where it finds none of that name
                engine.raw_register_runtime(name, ctypes.c_void_p(1))
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "module.o"
                engine.dump_to_object_file(str(path))
                made = path.read_bytes() if path.exists() else b""
        except RuntimeError as raised:
            error = str(raised)
    stage.seconds = clock.seconds
    if error or not made:
        message = "\n".join(filter(None, ("LLVM cannot compile the module for this machine", error, stderr())))
        stage.status, stage.diagnostics = "failed", (Diagnostic("MT604", message, stage="asm"),)
        return stage
    stage.artifact = made
    stage.make_lines = lambda: _own(asm_lines(objdump, made, source))
    return stage


def _own(lines: Sequence[Line]) -> list[Line]:
    """The listing without the functions that `ExecutionEngine` adds, to call others by arrays of pointers."""
    kept: list[Line] = []
    added = False
    for line in lines:
        if line.text.startswith("<") and not line.text.startswith("<L"):
            added = line.text.startswith("<_mlir_") and not line.text.startswith("<_mlir_ciface_")
        if not added:
            kept.append(line)
    return kept


def _device(codes: Sequence[bytes], source: Sequence[Line], listings: Listings) -> Iterator[Stage]:
    """Of a module with device code: PTX, and the LLVM IR it was made of, which the module before still holds."""
    text = _assembly(codes[-1], listings)
    before = next((c for c in reversed(codes) if not _has(c, BINARY, listings)), b"")
    unseen = "the module was given with its device code; what that was made of is not there"
    yield device_llvm(before, source, listings) if before else _skipped("llvm", unseen)
    if text is None:
        yield _skipped("ptx", "the device code is no PTX: give gpu-module-to-binary format=isa")
    else:
        stage = Stage("ptx", "text", "ptx", artifact=text)
        stage.make_lines = lambda: [Line(row) for row in text.rstrip("\n").split("\n")]
        yield stage
    yield device_optimized(before, source, listings) if before else _skipped(OPTIMIZED, unseen)
    yield _skipped("asm", "the module holds device code; there is no code of this machine to show")


def device_llvm(bytecode: bytes, source: Sequence[Line], listings: Listings) -> Stage:
    """LLVM IR of the first `gpu.module` of a module that is ready for `gpu-module-to-binary`."""
    stage = Stage("llvm", "text", "llvm")

    def lines() -> list[Line]:
        with listings.module(bytecode) as module:
            _debug(module, "DebugDirectivesOnly")
            device = next(op.operation for op in module.body.operations if op.operation.name == "gpu.module")
            return llvm_lines(translate_operation(device), source)

    stage.make_lines = lines
    return stage


def device_optimized(bytecode: bytes, source: Sequence[Line], listings: Listings) -> Stage:
    """LLVM IR after optimization and with the device library linked, of which PTX is made."""
    from mlir.passmanager import PassManager

    from mytriton.mlir.objects import objects_of

    with listings.module(bytecode) as module:
        _debug(module, "DebugDirectivesOnly")
        PassManager.parse("builtin.module(gpu-module-to-binary{format=llvm})").run(module.operation)
        (made, *_) = objects_of(module)
    return tool_stage(OPTIMIZED, "llvm-dis", [], made.code, source)


def _assembly(bytecode: bytes, listings: Listings) -> str | None:
    from mytriton.mlir.objects import objects_of

    with listings.module(bytecode) as module:
        found = [made.code.decode() for made in objects_of(module) if made.format == "assembly"]
    return "\n".join(found) if found else None


def _has(bytecode: bytes, name: str, listings: Listings) -> bool:
    with listings.module(bytecode) as module:
        return any(op.operation.name == name for op in module.body.operations)


def _names(module: Any, wanted: Callable[[str], bool]) -> list[str]:
    from mlir import ir

    found: dict[str, None] = {}

    def visit(op: Any) -> Any:
        if wanted(op.name):
            found[op.name] = None
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return list(found)


def _debug(module: Any, kind: str) -> None:
    """Have LLVM keep the rows of the text. Changes nothing where the module's own passes have seen to it."""
    from mlir.passmanager import PassManager

    module.context.get_dialect_descriptor("llvm")  # loads it, which a module of other operations has not
    PassManager.parse(f"builtin.module({_DEBUG.format(kind=kind)})").run(module.operation)


def _skipped(name: str, reason: str) -> Stage:
    return Stage(name, "text", name.split("/")[0], "skipped", reason=reason)
