"""The SSA listing: `%3 = add %1, %2 : vector<256 x i32>`, every line with its span and the ids it mentions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cached_property

from mytriton.ir.core import Block, Func, Op, Value
from mytriton.ir.ops import Cast, Constant, For, If, InlineAsm, Splat, While, Yield
from mytriton.ir.ops.control import terminator
from mytriton.stage import Line


class Printer:
    """Prints operations of one function; inline operations (constants, casts, splats) print inside their users."""

    def __init__(self, func: Func) -> None:
        self._func = func

    @cached_property
    def _definitions(self) -> dict[Value, Op]:
        # Made when there is something to print: many a pass changes nothing.
        return dict(self._func.definitions)

    def define(self, op: Op) -> None:
        """Take `op` for the definition of its results from now on; for passes, which print what they change."""
        for value in op.results:
            self._definitions[value] = op

    def definition(self, value: Value) -> Op | None:
        """The operation that defines `value`; None for a parameter."""
        return self._definitions.get(value)

    def value(self, value: Value) -> str:
        """How `value` reads as an operand: `%3`, `x`, `256`, `f32(%4)`."""
        prefix, suffix = "", ""
        while True:  # a loop, not recursion: a chain of casts may be long
            op = self._definitions.get(value)
            if isinstance(op, Splat):
                value = op.source
            elif isinstance(op, Cast):
                prefix, suffix = f"{prefix}{op.to}(", f"){suffix}"
                value = op.source
            elif isinstance(op, Constant):
                text = str(op.value).lower() if isinstance(op.value, bool) else repr(op.value)
                return f"{prefix}{text}{suffix}"
            else:
                return f"{prefix}{value.id}{suffix}"

    def ids(self, op: Op) -> tuple[str, ...]:
        """Ids of the results and of everything the printed operands mention."""
        found = [v.id for v in op.results]
        for value in op.operands:
            while True:
                found.append(value.id)
                inner = self._definitions.get(value)
                if not isinstance(inner, (Splat, Cast)):
                    break
                value = inner.source
        return tuple(dict.fromkeys(found))

    def op(self, op: Op) -> str:
        """One operation as text; of a structured one the line that opens it, without the brace."""
        if op.regions:
            return self._head(op)
        operands = ", ".join(self.value(v) for v in op.operands)
        if isinstance(op, InlineAsm):
            pack = f" pack {op.pack}" if op.pack > 1 else ""
            return self._results(op, f'{op.opcode} {_quoted(op.text)} "{op.constraints}"({operands}){pack}')
        shown = {} if isinstance(op, (Cast, Splat)) else op.attributes
        # Hints and flags that are not given are not worth their place.
        attributes = ", ".join(f"{k}={v}" for k, v in shown.items() if v != "" and v is not False)
        text = op.opcode + (f" {operands}" if operands else "") + (f" {{{attributes}}}" if attributes else "")
        return self._results(op, text)

    def _head(self, op: Op) -> str:
        text = op.opcode
        if isinstance(op, For):
            lower, upper, step = (self.value(v) for v in (op.lower, op.upper, op.step))
            text += f" {op.induction.id} = {lower} to {upper} step {step}{self._carried(op.carried, op.initial)}"
            text += f" {{num_stages={op.num_stages}}}" if op.num_stages else ""
        elif isinstance(op, While):
            text += self._carried(op.condition.params, op.initial)
        else:
            text += "".join(f" {self.value(v)}" for v in op.operands)
        return self._results(op, text)

    def _carried(self, params: Sequence[Value], initial: Sequence[Value]) -> str:
        pairs = ", ".join(f"{p.id} = {self.value(v)}" for p, v in zip(params, initial, strict=False))
        return f" with {pairs}" if pairs else ""

    def _results(self, op: Op, text: str) -> str:
        if not op.results:
            return text
        return f"{', '.join(v.id for v in op.results)} = {text} : {', '.join(str(v.type) for v in op.results)}"


def _quoted(text: str) -> str:
    """A text on one line."""
    return json.dumps(text, ensure_ascii=False)


def print_func(func: Func) -> list[Line]:
    """The listing of a function."""
    printer = Printer(func)
    lines: list[Line] = []

    def block(body: Block, indent: str) -> None:
        # Recursion follows the nesting of loops in the kernel, not the length of expressions.
        for op in body.ops:
            if op.inline or (isinstance(op, Yield) and not op.values):
                continue
            ids = (*printer.ids(op), *(p.id for b in op.regions[:1] for p in b.params))
            lines.append(Line(indent + printer.op(op) + (" {" if op.regions else ""), op.span, ids))
            for number, inner in enumerate(op.regions):
                if number > 0:
                    if isinstance(op, If) and _is_empty(inner):
                        continue
                    params = f" with {', '.join(p.id for p in inner.params)}" if inner.params else ""
                    word = "else" if isinstance(op, If) else "do"
                    lines.append(Line(f"{indent}}} {word}{params} {{", op.span, tuple(p.id for p in inner.params)))
                block(inner, indent + "  ")
            if op.regions:
                lines.append(Line(indent + "}", op.span))

    block(func.body, "")
    return lines


def _is_empty(block: Block) -> bool:
    return not terminator(block).values and all(op.inline for op in block.ops[:-1])
