"""The SSA listing: `%3 = add %1, %2 : vector<256 x i32>`, every line with its span and the ids it mentions."""

from __future__ import annotations

from mytriton.ir.core import Block, Func, Op, Value, definitions
from mytriton.ir.ops import Cast, Constant, Splat
from mytriton.stage import Line


class Printer:
    """Prints operations of one function; inline operations (constants, casts, splats) print inside their users."""

    def __init__(self, func: Func) -> None:
        self._definitions = definitions(func)

    def define(self, op: Op) -> None:
        """Take `op` for the definition of its results from now on; for passes, which print what they change."""
        self._definitions.update((v, op) for v in op.results)

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
        """One operation as text, without its regions."""
        operands = ", ".join(self.value(v) for v in op.operands)
        attributes = ", ".join(f"{k}={v}" for k, v in op.attributes.items() if not isinstance(op, (Cast, Splat)))
        text = op.opcode + (f" {operands}" if operands else "") + (f" {{{attributes}}}" if attributes else "")
        if op.results:
            names = ", ".join(v.id for v in op.results)
            text = f"{names} = {text} : {', '.join(str(v.type) for v in op.results)}"
        return text


def print_func(func: Func) -> list[Line]:
    """The listing of a function."""
    printer = Printer(func)
    lines: list[Line] = []

    def block(body: Block, indent: str) -> None:
        # Recursion follows the nesting of loops in the kernel, not the length of expressions.
        for op in body.ops:
            if op.inline:
                continue
            lines.append(Line(indent + printer.op(op), op.span, printer.ids(op)))
            for inner in op.regions:
                block(inner, indent + "  ")

    block(func.body, "")
    return lines
