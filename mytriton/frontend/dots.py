"""Matrix products (see `registry.py`)."""

from __future__ import annotations

from mytriton import language as tl
from mytriton.frontend.memory import given
from mytriton.frontend.registry import builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Mistake, Operand
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.ir.ops.dot import PRECISIONS, accumulates_in
from mytriton.source import Span
from mytriton.types import ScalarType, bf16, element_of, f16, f32, i8, is_float, shape_of

#: Names of more precise ways that tensor cores of other makers have; f32 by itself is more precise than each.
_AS_IEEE = ("bf16x3", "bf16x6")


def _factor(s: Semantics, operand: Operand) -> tuple[Value, ScalarType]:
    value = s.value(operand)
    element = element_of(value.type)
    if not isinstance(element, ScalarType) or not (is_float(value.type) or element == i8):
        hint = "" if isinstance(element, ScalarType) else "load what it points to: tl.load(pointers)"
        hint = hint or f"convert it first: {s.short(operand)}.to(tl.float32)"
        message = f"tl.dot takes blocks of floats or int8, got {s.describe(operand)}"
        raise Mistake("MT203", message, operand.span, hint)
    return value, element


def _check_shapes(s: Semantics, lhs: Operand, rhs: Operand, span: Span) -> tuple[int, ...]:
    """The shape of the product."""
    left, right = shape_of(s.value(lhs).type), shape_of(s.value(rhs).type)
    for operand, shape in ((lhs, left), (rhs, right)):
        if len(shape) not in (2, 3):
            message = f"tl.dot takes blocks of two axes, or three with a batch of matrices, got {s.describe(operand)}"
            hint = f"give it a second axis: {s.short(operand)}[None, :] or [:, None]" if len(shape) == 1 else ""
            raise Mistake(
                "MT224", message, operand.span, hint or "tl.load of pointers with two axes makes such a block"
            )
    if left[:-2] != right[:-2]:
        message = f"{s.describe(lhs)} and {s.describe(rhs)} are not batches of equally many matrices"
        raise Mistake("MT224", message, span, "both have the shape (batch, rows, columns)")
    if left[-1] != right[-2]:
        pair = f"{s.describe(lhs)} has {left[-1]} columns, but {s.describe(rhs)} has {right[-2]} rows"
        hints = [f"tl.trans({s.short(rhs)})"] if right[-1] == left[-1] else []
        hints += [f"tl.trans({s.short(lhs)})"] if left[-2] == right[-2] else []
        hint = "columns of the first and rows of the second pair up"
        if hints:
            hint = f"transpose one: {' or '.join(dict.fromkeys(hints))}"
        raise Mistake("MT224", f"{pair}: they have no product", span, hint)
    return (*left[:-1], right[-1])


def _precision(s: Semantics, input_precision: Operand | None, allow_tf32: Operand | None) -> str:
    word, allowed = given(input_precision), given(allow_tf32)
    if word is not None and allowed is not None:
        message = "`input_precision` and `allow_tf32` say the same thing"
        raise Mistake("MT233", message, allowed.span, "leave out `allow_tf32`, the older name")
    if allowed is not None:
        return "tf32" if s.known(allowed, "`allow_tf32`") else "ieee"
    if word is None:
        return "tf32"
    name = s.known(word, "`input_precision`")
    if name not in (*PRECISIONS, *_AS_IEEE):
        choice = ", ".join(f'"{p}"' for p in PRECISIONS)
        message = f"`input_precision` is {s.describe(word)}"
        raise Mistake("MT233", message, word.span, f"use one of {choice}, or leave it out")
    return str(name) if name in PRECISIONS else "ieee"


def _result_type(s: Semantics, factor: ScalarType, acc: Operand | None, out_dtype: Operand | None) -> ScalarType:
    """As in Triton: `out_dtype` matters for factors of float16 only."""
    own = accumulates_in(factor)
    if out_dtype is not None:
        wanted = s.dtype(out_dtype)
        if wanted == bf16:
            message = "tl.dot gives float32, or float16 if `out_dtype` says so, not bfloat16"
            raise Mistake("MT203", message, out_dtype.span, "leave `out_dtype` out and convert: .to(tl.bfloat16)")
        own = wanted if factor == f16 and wanted in (f16, f32) else own
    elif acc is not None and factor == f16 and element_of(s.value(acc).type) == f16:
        own = f16
    return own


@builtin(tl.dot)
def _dot(
    s: Semantics,
    span: Span,
    input: Operand,
    other: Operand,
    acc: Operand | None = None,
    input_precision: Operand | None = None,
    allow_tf32: Operand | None = None,
    max_num_imprecise_acc: Operand | None = None,
    out_dtype: Operand | None = None,
) -> Item:
    (lhs, factor), (rhs, other_factor) = _factor(s, input), _factor(s, other)
    if factor.is_float8 and other_factor.is_float8:  # each is an f16
        lhs, rhs, factor = s.builder.cast(lhs, f16), s.builder.cast(rhs, f16), f16
    elif factor != other_factor:
        message = f"tl.dot takes factors of one type, got {s.describe(input)} and {s.describe(other)}"
        raise Mistake("MT203", message, span, f"convert one: {s.short(other)}.to({s.short(input)}.dtype)")
    shape = _check_shapes(s, input, other, span)
    precision = _precision(s, input_precision, allow_tf32)
    acc = given(acc)
    result = _result_type(s, factor, acc, given(out_dtype))
    total = accumulates_in(factor)
    if acc is None:
        start = s.builder.constant(0 if total.kind == "int" else 0.0, total, shape)
    else:
        start = s.value(acc)
        if shape_of(start.type) != shape or element_of(start.type) != result:
            message = f"the product is a block of {result} with the shape {shape}, but `acc` is {s.describe(acc)}"
            raise Mistake("MT224", message, acc.span, f"start with tl.zeros({shape}, tl.{tl_name(result)})")
        start = s.builder.cast(start, total)
    product = s.builder.add(ops.Dot, lhs=lhs, rhs=rhs, acc=start, precision=precision if factor == f32 else "")
    return s.builder.cast(product, result)


def tl_name(element: ScalarType) -> str:
    """`float32` for f32."""
    return {"f": "float", "i": "int", "u": "uint"}[element.name[0]] + element.name[1:]
