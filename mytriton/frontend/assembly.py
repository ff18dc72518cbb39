"""Inline assembly (see `registry.py`)."""

from __future__ import annotations

import re
from inspect import cleandoc

from mytriton import language as tl
from mytriton.frontend.registry import builtin
from mytriton.frontend.semantics import Semantics
from mytriton.frontend.values import Item, Mistake, Operand, Tuple, items_of
from mytriton.ir import ops
from mytriton.ir.assembly import NotationError
from mytriton.ir.ops.assembly import check
from mytriton.source import Span
from mytriton.types import element_of, i1, shape_of

_MAX_PACK = 64
_COMMENT = re.compile(r"//.*|/\*[\s\S]*?\*/")


def _text(s: Semantics, operand: Operand, name: str) -> str:
    text = s.known(operand, f"`{name}`")
    if not isinstance(text, str):
        raise Mistake(
            "MT211", f"`{name}` must be a string, got {s.describe(operand)}", operand.span, "put it in quotes"
        )
    return text


def _pack(s: Semantics, operand: Operand) -> int:
    pack = s.known_int(operand, "`pack`")
    if not 1 <= pack <= _MAX_PACK or pack & (pack - 1):
        message = f"`pack` must be a power of two, at most {_MAX_PACK}, got {pack}"
        raise Mistake("MT212", message, operand.span, "pack=1 gives the assembly one element at a time")
    return pack


@builtin(tl.inline_asm_elementwise)
def _inline_asm_elementwise(
    s: Semantics,
    span: Span,
    asm: Operand,
    constraints: Operand,
    args: Operand,
    dtype: Operand,
    is_pure: Operand,
    pack: Operand,
) -> Item:
    if not isinstance(args.item, Tuple):
        message = f"`args` must be a list of blocks and scalars, got {s.describe(args)}"
        raise Mistake("MT203", message, args.span, f"write args=[{s.short(args)}]")
    inputs = list(items_of(args))
    results = items_of(dtype) if isinstance(dtype.item, Tuple) else (dtype,)
    elements = tuple(s.dtype(one) for one in results)
    if not elements:
        raise Mistake("MT203", "assembly needs a result", dtype.span, "name the type of one that is not used")
    values = [s.value(one) for one in inputs]
    types = (*(element_of(v.type) for v in values), *elements)
    for operand, element in zip((*inputs, *results), types, strict=True):
        if element == i1:
            message = f"assembly takes and gives no bools: {s.describe(operand)}"
            raise Mistake("MT203", message, operand.span, "use int32, and compare what comes out: result != 0")
    values = s.same_shape(values, inputs, span) if values else []
    shape = shape_of(values[0].type) if values else ()
    values = values if shape else [s.reshape(v, (1,)) for v in values]
    text, registers, count = cleandoc(_text(s, asm, "asm")), _text(s, constraints, "constraints"), _pack(s, pack)
    opened, closed = (_COMMENT.sub("", text).count(brace) for brace in "{}")
    if opened != closed:  # else the assembler would find fault with what follows the text
        message = f"the text opens {opened} and closes {closed} braces"
        raise Mistake("MT229", message, asm.span, "registers that are declared between { and } are its own")
    try:
        check(text, registers, [element_of(v.type) for v in values], elements, count)
    except NotationError as error:
        hint = 'outputs come first, then inputs, one for each register: "=r,f" is an int32 of a float32'
        if error.in_text:
            hint = "operands are numbered through, outputs first: $0 is the first output"
        raise Mistake("MT229", str(error), (asm if error.in_text else constraints).span, hint) from None
    made = s.builder.append(
        (ops.InlineAsm if s.flag(is_pure, "is_pure") else ops.VolatileAsm)(
            args=tuple(values), text=text, constraints=registers, elements=elements, shape=shape or (1,), pack=count
        )
    )
    found = tuple(s.reshape(result, shape) for result in made.results)
    return Tuple(found) if isinstance(dtype.item, Tuple) else found[0]
