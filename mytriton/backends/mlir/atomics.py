"""Atomic operations in emitted gpu-dialect MLIR, on one element a thread."""

from __future__ import annotations

from mytriton.backends.cpu.atomics import added_in_a_loop, instruction
from mytriton.backends.mlir.context import Context
from mytriton.backends.mlir.names import number
from mytriton.ir import ops
from mytriton.target import Target
from mytriton.types import ScalarType, bf16, element_of

_POINTER = "!llvm.ptr<1>"
_ORDERS = {"acq_rel": "acq_rel", "acquire": "acquire", "release": "release", "relaxed": "monotonic"}
#: What is read although nothing is written takes no part in a release.
_FAILED = {"acq_rel": "acquire", "acquire": "acquire", "release": "monotonic", "relaxed": "monotonic"}
_SCOPES = {"gpu": ' syncscope("device")', "cta": ' syncscope("block")', "sys": ""}


def write_atomic(context: Context, op: ops.Atomic, result: str, owner: str | None, target: Target) -> None:
    """The operation by the thread that owns the element at hand; the others have 0."""
    text, element = context.text, element_of(op.value.type)
    assert isinstance(element, ScalarType)
    conditions = [c for c in (owner, context.ref(op.mask) if op.mask is not None else None) if c]
    operands = [context.ref(v) for v in (op.pointer, op.value, *([op.compare] if op.compare is not None else []))]
    if not conditions:
        _update(context, op, element, operands, result, target)
        return
    condition = conditions[0]
    if len(conditions) == 2:
        condition = text.fresh(f"{result}_here")
        text.write(f"{condition} = arith.andi {conditions[0]}, {conditions[1]} : i1")
    nothing = text.constant(0.0 if element.kind == "float" else 0, element)
    with text.region(f"{result} = scf.if {condition} -> ({element.signless})"):
        name = text.fresh(f"%found{number(op.result)}")
        _update(context, op, element, operands, name, target)
        text.write(f"scf.yield {name} : {element.signless}")
        text.otherwise()
        text.write(f"scf.yield {nothing} : {element.signless}")


def _update(
    context: Context, op: ops.Atomic, element: ScalarType, operands: list[str], result: str, target: Target
) -> None:
    text, held, bits = context.text, element.signless, f"i{element.bits}"
    order, scope = _ORDERS[op.order], _SCOPES[op.scope]
    if op.kind == "add" and element == bf16 and target.generation < 90:
        how = f"{scope} {order} {_FAILED[op.order]}"
        pointer, value = operands
        for line in added_in_a_loop(text.fresh(f"{result}_add"), result, (pointer, value), element, how, _POINTER):
            text.write(line)
        return
    if op.kind != "cas":
        what = instruction(op.kind, element)
        text.write(f"{result} = llvm.atomicrmw {what} {operands[0]}, {operands[1]}{scope} {order} : {_POINTER}, {held}")
        return
    pointer, value, compare = operands
    is_float = element.kind == "float"
    if is_float:
        for what, name in (("value", value), ("compare", compare)):
            text.write(f"{result}_{what} = arith.bitcast {name} : {held} to {bits}")
        value, compare = f"{result}_value", f"{result}_compare"
    exchange = f"llvm.cmpxchg {pointer}, {compare}, {value}{scope} {order} {_FAILED[op.order]}"
    text.write(f"{result}_pair = {exchange} : {_POINTER}, {bits}")
    found = f"{result}_bits" if is_float else result
    text.write(f"{found} = llvm.extractvalue {result}_pair[0] : !llvm.struct<({bits}, i1)>")
    if is_float:
        text.write(f"{result} = arith.bitcast {found} : {bits} to {held}")
