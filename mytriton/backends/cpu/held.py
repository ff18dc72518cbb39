"""How elements are held in memory: a bool as a byte, a bf16 as its bits.

LLVM splits a masked access of bf16, on a host without such instructions, into conversions by library routines that the
JIT does not have; integers of the same size have no such trouble.
"""

from __future__ import annotations

from mytriton.backends.mlir.writer import Writer
from mytriton.ir import ops
from mytriton.types import ScalarType, bf16, i1

BYTE = ScalarType("i8", "int", 8)
_BITS = ScalarType("i16", "int", 16)


def memory_type(element: ScalarType) -> ScalarType:
    """The type that an element has in memory."""
    return {i1: BYTE, bf16: _BITS}.get(element, element)


def to_memory(writer: Writer, value: str, element: ScalarType, name: str) -> str:
    """`value` in its memory type, under `name` unless it is already."""
    if element == i1:
        return writer.convert("arith.extui", value, i1, BYTE, name)
    if element == bf16:
        return writer.convert("arith.bitcast", value, bf16, _BITS, name)
    return value


def from_memory(writer: Writer, value: str, element: ScalarType, result: str) -> None:
    """Write the conversion of `value` from its memory type to `result`; nothing if `is_held_as_is`."""
    if element == i1:  # any non-zero byte is true
        writer.compare(ops.CmpNe, value, writer.constant(0, BYTE, f"{result}.zero"), BYTE, result)
    elif element == bf16:
        writer.convert("arith.bitcast", value, _BITS, bf16, result)


def is_held_as_is(element: ScalarType) -> bool:
    """Whether an element has one type in memory and in registers."""
    return memory_type(element) == element
