"""The device code in a module: the objects of its `gpu.binary` operations, by the attribute API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mytriton import checked
from mytriton.mlir.symbols import symbol
from mytriton.records import dataclass

if TYPE_CHECKING:
    from mytriton.mlir.module import Module


@dataclass(frozen=True, slots=True)
class Object:
    """One object: the symbol of its binary, its format (`assembly`, `binary`, `fatbin`, `offload`), its target as
    MLIR prints it, and its bytes. Assembly is text without its closing NUL; other bytes are kept as they are."""

    binary: str
    format: str
    target: str
    code: bytes


def objects(module: Module) -> list[Object]:
    """All objects, in order; none before `gpu-module-to-binary` has run."""
    checked.module(module, "mlir.objects")
    with module.native() as native:
        return objects_of(native)


def objects_of(native: Any) -> list[Object]:
    """All objects of a native module, under its context."""
    from mlir import ir
    from mlir.dialects import gpu

    found: list[Object] = []
    for view in native.body.operations:
        op = view.operation
        if op.name != "gpu.binary":
            continue
        for attribute in ir.ArrayAttr(op.attributes["objects"]):
            native_object = gpu.ObjectAttr(attribute)
            format_ = str(gpu.CompilationTarget(native_object.format)).rpartition(".")[2].lower()
            code = bytes(native_object.object)
            if format_ == "assembly":
                code = code.rstrip(b"\0")
            found.append(Object(symbol(op), format_, str(native_object.target), code))
    return found
