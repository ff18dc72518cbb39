"""Checks the invariants every pass relies on; runs after the frontend and after each pass that changed something."""

from __future__ import annotations

from typing import NoReturn

from mytriton.diagnostics import InternalError
from mytriton.ir.core import Block, Func, Op, TypeRuleError, Value
from mytriton.ir.ops import Yield
from mytriton.ir.printer import Printer

#: Prints raw ids: the definitions of a broken function cannot be trusted to print inside their users.
_RAW = Printer(Func("", Block((), ()), {}))


def verify(func: Func, before: Func | None = None) -> None:
    """Raise `InternalError`, naming the operation, its place and the reason, unless `func` is well formed. `before` is
    one that was verified: the operations that it shares fit their rules.

    Ids are unique and below `next_value`/`next_inline`; every operand is defined before it is used, in the same block
    or an enclosing one; every result has the type that its operation's rule gives; a `Yield` ends the block of every
    structured operation, and stands nowhere else.
    """
    _Verifier(func, before).block(func.body)


class _Verifier:
    def __init__(self, func: Func, before: Func | None) -> None:
        self.func = func
        self.fitting = set(before.walk()) if before is not None else set[Op]()
        self.ids: set[str] = set()
        self.visible: set[Value] = set()

    def block(self, block: Block, nested: bool = False) -> None:
        # Recursion follows the nesting of regions, not the length of the kernel.
        defined: list[Value] = []
        for param in block.params:
            self._define(param, None, defined)
        for position, op in enumerate(block.ops):
            if isinstance(op, Yield) and (not nested or position != len(block.ops) - 1):
                self._fail(op, "does not end the block of a structured operation")
            for operand in op.operands:
                if operand not in self.visible:
                    where = "where it is not visible" if operand.id in self.ids else "before it is defined"
                    self._fail(op, f"uses {operand.id} {where}")
            if op not in self.fitting:
                self._types(op)
            if op.structured:
                for region in op.regions:
                    self.block(region, nested=True)
            for result in op.results:
                self._define(result, op, defined)
        self.visible.difference_update(defined)

    def _types(self, op: Op) -> None:
        try:
            expected = op.type_rule()
        except TypeRuleError as error:
            self._fail(op, f"breaks its type rule: {error}")
        actual = tuple([v.type for v in op.results])
        if actual != expected:
            names = ("(" + ", ".join(map(str, types)) + ")" for types in (actual, expected))
            self._fail(op, "has results of type {}, its rule gives {}".format(*names))

    def _define(self, value: Value, op: Op | None, defined: list[Value]) -> None:
        if value.id in self.ids:
            self._fail(op, f"defines {value.id} a second time")
        if value.id[:1] == "%":
            inline = value.id[1:2] == "c"
            number = value.id[2:] if inline else value.id[1:]
            limit = self.func.next_inline if inline else self.func.next_value
            if number.isdecimal() and int(number) >= limit:
                self._fail(op, f"defines {value.id}, but the function says that the next free number is {limit}")
        self.ids.add(value.id)
        self.visible.add(value)
        defined.append(value)

    def _fail(self, op: Op | None, reason: str) -> NoReturn:
        what = "a block parameter" if op is None else f"`{_RAW.op(op)}`"
        line = f" (line {op.span.line} of the kernel)" if op is not None and op.span is not None else ""
        raise InternalError(f"invalid SSA in `{self.func.name}`: {what}{line} {reason}")
