"""Names that operations define and use, and those that nothing defines."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from mytriton.diagnostics import MytritonError


def symbol(op: Any) -> str:
    """The name that a native operation defines; '' if it defines none."""
    from mlir import ir

    return ir.StringAttr(op.attributes["sym_name"]).value if "sym_name" in op.attributes else ""


def undefined(native: Any, libraries: Sequence[str] = ()) -> dict[str, str]:
    """The functions that a native module of the LLVM dialect uses, but that neither it nor this process nor the shared
    libraries at these paths define: their names, with the location of the first use as MLIR prints it. Raises
    `MytritonError` for a library that cannot be loaded."""
    from mlir import ir

    declared = set()
    for view in native.body.operations:
        op = view.operation
        if op.name == "llvm.func" and not op.regions[0].blocks and not symbol(op).startswith("llvm."):
            declared.add(symbol(op))
    used: dict[str, str] = {}

    def visit(op: Any) -> Any:
        for name in op.attributes:
            attribute = op.attributes[name]
            if isinstance(attribute, ir.FlatSymbolRefAttr):
                used.setdefault(attribute.value, str(op.location))
        return ir.WalkResult.ADVANCE

    native.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    wanted = {name: where for name, where in used.items() if name in declared}
    found = [ctypes.CDLL(None), *map(_library, libraries)] if wanted or libraries else []
    return {name: where for name, where in wanted.items() if not any(hasattr(each, name) for each in found)}


def _library(path: str) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise MytritonError(f"the library {path!r} cannot be loaded: {error}") from None
