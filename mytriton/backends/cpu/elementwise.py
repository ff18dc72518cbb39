"""Elementwise operations on the host: those on pointers, and those for which the common text would not do well.

The common text is `mlir/ops.py`. It is exact here too, but where LLVM would take a vector apart lane by lane, or turn
bf16 into calls of routines that the JIT does not have, another text stands here.
"""

from __future__ import annotations

from mytriton.backends.cpu.held import from_memory, memory_type, to_memory
from mytriton.backends.cpu.library import VECTOR_FUNCTIONS, vector_function, vector_function_name
from mytriton.backends.cpu.writer import Text, type_name
from mytriton.backends.mlir.casts import cast
from mytriton.backends.mlir.ops import ElementEmitter
from mytriton.backends.mlir.writer import PREDICATES
from mytriton.diagnostics import InternalError
from mytriton.ir import ops
from mytriton.ir.core import Op, Value
from mytriton.types import PointerType, ScalarType, bf16, element_of, f32, f64, i1, is_float, is_pointer


def elementwise(
    text: Text, emitter: ElementEmitter, op: Op, result: str, names: list[str], width: int | None = None
) -> None:
    """Write an elementwise operation, on pointers too, for scalars (`width` None) or vectors."""
    pointer, bools = type_name(PointerType(i1), width), type_name(i1, width)
    match op:
        case ops.AddPtr():
            offset, held = element_of(op.offset.type), memory_type(pointee(op.pointer)).signless
            index = type_name(offset, width)
            text.write(
                f"{result} = llvm.getelementptr {names[0]}[{names[1]}] : ({pointer}, {index}) -> {pointer}, {held}"
            )
        case ops.Bitcast() if is_pointer(op.source.type) or isinstance(op.to, PointerType):
            old, new = type_name(element_of(op.source.type), width), type_name(op.to, width)
            how = "bitcast" if old == new else "inttoptr" if isinstance(op.to, PointerType) else "ptrtoint"
            text.write(f"{result} = llvm.{how} {names[0]} : {old} to {new}")
        case ops.Compare() if isinstance(element_of(op.lhs.type), PointerType):
            predicate = PREDICATES[type(op)][1]
            text.write(f'{result} = llvm.icmp "{predicate}" {names[0]}, {names[1]} : {pointer}')
        case ops.Select() if isinstance(element_of(op.if_true.type), PointerType):
            text.write(f"{result} = llvm.select {names[0]}, {names[1]}, {names[2]} : {bools}, {pointer}")
        case ops.Unary() if width is not None and op.opcode in VECTOR_FUNCTIONS and element_of(op.result.type) != f64:
            _vector_function(text, emitter, op, result, names[0], width)
        case ops.Cast() if width is not None and is_float(op.source.type) and op.to.kind == "int":
            _saturate(emitter, op, result, names[0])
        case ops.Cast() if element_of(op.source.type) == bf16 and op.to == f64:
            # Only the step to f32 is written out in integers; LLVM would turn another into bf16 arithmetic.
            wide = emitter.convert("arith.extf", names[0], bf16, f32, f"{result}.f32")
            emitter.convert("arith.extf", wide, f32, f64, result)
        case ops.Select() if element_of(op.if_true.type) == bf16:
            if_true, if_false = (to_memory(emitter, names[n], bf16, f"{result}.choice_{n}") for n in (1, 2))
            chosen = emitter.select(names[0], if_true, if_false, memory_type(bf16), f"{result}.bits")
            from_memory(emitter, chosen, bf16, result)
        case _:
            emitter.emit(op, result, names)


def _vector_function(text: Text, emitter: ElementEmitter, op: ops.Unary, result: str, source: str, width: int) -> None:
    """A function of f32 vectors; f16 and bf16 are widened and rounded once."""
    element, vector = element_of(op.result.type), type_name(f32, width)
    assert isinstance(element, ScalarType)
    name = vector_function_name(op.opcode, width)
    text.functions[name] = vector_function(op.opcode, width)
    if element != f32:
        source = emitter.convert("arith.extf", source, element, f32, f"{result}.wide")
    value = result if element == f32 else f"{result}.{op.opcode}"
    text.write(f"{value} = func.call @{name}({source}) : ({vector}) -> {vector}")
    if element != f32:
        emitter.convert("arith.truncf", value, f32, element, result)


def _saturate(emitter: ElementEmitter, op: ops.Cast, result: str, source: str) -> None:
    """Floats to integers with comparisons; the saturating intrinsic would be taken apart lane by lane.

    The least integer and the one above the greatest are powers of two (or 0), exact in f32: below the first and from
    the second on the integer's limits are chosen; what is in between, and only that, is converted; NaN compares false
    and stays 0.
    """
    element = element_of(op.source.type)
    assert isinstance(element, ScalarType)
    if element.bits < 32:
        source, element = cast(emitter, source, element, f32, f"{result}.wide", narrows_f64=False), f32
    limits = ((float(op.to.low), "low"), (float(op.to.high + 1), "high"))
    low, high = (emitter.constant(n, element, f"{result}.{s}") for n, s in limits)
    is_low = emitter.compare(ops.CmpLt, source, low, element, f"{result}.is_low")
    is_high = emitter.compare(ops.CmpGe, source, high, element, f"{result}.is_high")
    above = emitter.compare(ops.CmpGe, source, low, element, f"{result}.is_above")
    below = emitter.compare(ops.CmpLt, source, high, element, f"{result}.is_below")
    inside = emitter.apply("arith.andi", (above, below), i1, f"{result}.is_inside")
    zero = emitter.constant(0.0, element, f"{result}.zero")
    safe = emitter.select(inside, source, zero, element, f"{result}.safe")
    to_integer = "arith.fptosi" if op.to.signed else "arith.fptoui"
    converted = emitter.convert(to_integer, safe, element, op.to, f"{result}.converted")
    lowest, highest = (
        emitter.constant(n, op.to, f"{result}.{s}") for n, s in ((op.to.low, "lowest"), (op.to.high, "highest"))
    )
    raised = emitter.select(is_low, lowest, converted, op.to, f"{result}.raised")
    emitter.select(is_high, highest, raised, op.to, result)


def pointee(pointer: Value) -> ScalarType:
    """The type of the elements behind a pointer, or a block of pointers."""
    element = element_of(pointer.type)
    if not isinstance(element, PointerType):
        raise InternalError(f"{pointer.id} is not a pointer")
    return element.element
