"""Errors of ptxas, followed from its row of PTX to the operation: MLIR says them of the whole `gpu.module`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from mytriton.backends.mlir.listing import Listings
from mytriton.mlir.objects import objects_of

_ERROR = re.compile(r"^ptxas \S+, line (\d+); error\b", re.MULTILINE)
# PTX ISA, "Debugging Directives: .loc": `.loc file line column`.
_LOC = re.compile(r"\.loc\s+\d+\s+(\d+)\s+(\d+)")
_DEBUG = "ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly}"


def place(message: str, bytecode: bytes, listings: Listings) -> str:
    """The location of the operation that the first error in ptxas' `message` is about, in a module that is ready for
    `gpu-module-to-binary`; '' if the message or the PTX does not tell."""
    error = _ERROR.search(message)
    if error is None:
        return ""
    with listings.module(bytecode) as module:
        given = _rows(module)
    with listings.module(bytecode) as module:
        told = _rows(module, _DEBUG)
    number = int(error[1]) - 1
    if number >= len(given):
        return ""
    # Rows that say where they are from may stand between; so it is the n-th row of that text.
    wanted, nth = given[number], given[: number + 1].count(given[number])
    at = ""
    for row in told:
        if found := _LOC.match(row):
            at = f'loc("-":{found[1]}:{found[2]})'
        nth -= row == wanted
        if nth == 0:
            return at
    return ""


def _rows(module: Any, *passes: str) -> Sequence[str]:
    """The PTX of a native module after these passes, without blanks around its rows."""
    from mlir.passmanager import PassManager

    pipeline = ",".join([*passes, "gpu-module-to-binary{format=isa}"])
    PassManager.parse(f"builtin.module({pipeline})").run(module.operation)
    return [row.strip() for made in objects_of(module)[:1] for row in made.code.decode().split("\n")]
