"""Structured control flow in emitted gpu-dialect MLIR: `scf.for`, `scf.while` and `scf.if` over the items of blocks.

A carried value of one chunk is an argument of the operation. One of more is in an array, one for the initial value, the
parameters and the result: it is filled before the loop, and at the end of each trip from what the body yields.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from mytriton.analysis.ranges import Range
from mytriton.backends.mlir.context import Context
from mytriton.backends.mlir.homes import Home, joined
from mytriton.backends.mlir.loops import counter
from mytriton.backends.mlir.names import number
from mytriton.ir import ops
from mytriton.ir.core import Value
from mytriton.ir.ops.control import yielded
from mytriton.ir.printer import Printer
from mytriton.layout.program import Item, Nested
from mytriton.types import element_of


class Control:
    """Writes structured operations; `items` writes the items of a block."""

    def __init__(
        self,
        context: Context,
        printer: Printer,
        items: Callable[[Sequence[Item]], None],
        ranges: Mapping[Value, Range],
    ) -> None:
        self._context, self._text, self._printer = context, context.text, printer
        self._items, self._ranges = items, ranges

    def emit(self, nested: Nested) -> None:
        """The operation and what is in it."""
        op = nested.op
        match op:
            case ops.For():
                self._for(op, nested.blocks[0])
            case ops.While():
                self._while(op, *nested.blocks)
            case ops.If():
                self._if(op, *nested.blocks)
        for result in op.results:
            if not self._array(result):
                self._bind(result, _name(result))

    # --- operations ---------------------------------------------------------------------------------------------------

    def _for(self, op: ops.For, body: Sequence[Item]) -> None:
        initial = self._enter(op, op.initial)
        self._at(op)
        count = counter(self._context, op, self._ranges)
        params = [p for p in op.carried if not self._array(p)]
        arguments = ", ".join(f"{_name(p)} = {v}" for p, v in zip(params, initial, strict=True))
        carried = f" iter_args({arguments}) -> ({self._types(params)})" if params else ""
        head = f"{_results(op, self._array)}scf.for {count.head}{carried} : {count.type}"
        with self._text.region(head, arguments=(count.name, *map(_name, params))):
            self._context.names[op.induction] = count.make()
            self._body(op, params, body)

    def _while(self, op: ops.While, test: Sequence[Item], body: Sequence[Item]) -> None:
        initial = self._enter(op, op.initial)
        self._at(op)
        before, after = ([p for p in b.params if not self._array(p)] for b in op.regions)
        types = self._types(after)
        arguments = ", ".join(f"{_name(p)} = {v}" for p, v in zip(before, initial, strict=True))
        signature = f"({arguments}) : ({types}) -> ({types})" if before else ": () -> ()"
        head = f"{_results(op, self._array)}scf.while {signature}"
        with self._text.region(head, arguments=tuple(map(_name, before))):
            for param in before:
                self._bind(param, _name(param))
            self._items(test)
            condition = self._context.ref(yielded(op.condition)[0])
            passed = "".join(f" {n}" for n in [", ".join(map(_name, before))] if n)
            self._at(op)
            self._text.write(f"scf.condition({condition}){passed}{f' : {types}' if before else ''}")
            self._text.otherwise("do", tuple(map(_name, after)))
            if after:
                typed = ", ".join(f"{_name(p)}: {self._types([p])}" for p in after)
                self._text.write(f"^bb0({typed}):")
            self._body(op, after, body)
            if not after:
                self._text.write("scf.yield")  # that of `scf.for` may be left out; this one may not

    def _body(self, op: ops.For | ops.While, params: Sequence[Value], items: Sequence[Item]) -> None:
        """One trip, up to its `scf.yield`."""
        for param in params:
            self._bind(param, _name(param))
        self._items(items)
        self._leave([group[-1] for group in joined(op)], yielded(op.body))

    def _if(self, op: ops.If, then: Sequence[Item], orelse: Sequence[Item]) -> None:
        self._at(op)
        plain = [v for v in op.results if not self._array(v)]
        types = f" -> ({self._types(plain)})" if plain else ""
        condition = self._context.ref(op.condition)
        with self._text.region(f"{_results(op, self._array)}scf.if {condition}{types}"):
            self._items(then)
            self._leave(op.results, yielded(op.then))
            if orelse or op.results:
                self._at(op)
                self._text.otherwise()
                self._items(orelse)
                self._leave(op.results, yielded(op.orelse))

    # --- values from one block to another -----------------------------------------------------------------------------

    def _enter(self, op: ops.For | ops.While, initial: Sequence[Value]) -> list[str]:
        """The initial values of a loop: those in arrays are copied, the others named."""
        return self._assign([group[0] for group in joined(op)], initial)

    def _leave(self, targets: Sequence[Value], values: Sequence[Value]) -> None:
        """The end of a block: the values become those of `targets`, all at once."""
        names = self._assign(targets, values)
        if names:
            types = self._types([t for t in targets if not self._array(t)])
            self._text.write(f"scf.yield {', '.join(names)} : {types}")

    def _assign(self, targets: Sequence[Value], values: Sequence[Value]) -> list[str]:
        """Fill the arrays of `targets`; returns the names of the values of the others, in order.

        In each trip of a copy all values are read before one is written: they may be each other's.
        """
        self._text.at(None)
        names = []
        for target, value in zip(targets, values, strict=True):
            if not self._array(target):
                with self._context.each(1, self._width(target)):
                    names.append(self._context.ref(value))
        groups: dict[tuple[int, int | None], list[tuple[Value, Home, Value]]] = {}
        for target, value in zip(targets, values, strict=True):
            home = self._array(target)
            if home and self._context.homes.get(value) != home:
                groups.setdefault((home.chunks, home.width), []).append((target, home, value))
        for (chunks, width), copies in groups.items():
            with self._context.each(chunks, width):
                read = [self._context.ref(value) for _, _, value in copies]
                for (target, home, _), name in zip(copies, read, strict=True):
                    self._text.at(None, (target.id,))
                    self._context.form.keep(home, element_of(target.type), self._context.chunk, name)
                self._text.at(None)
        return names

    def _bind(self, value: Value, name: str) -> None:
        with self._context.each(1, self._width(value)):
            self._context.bind(value, name)

    def _types(self, values: Sequence[Value]) -> str:
        return ", ".join(self._context.form.type_of(v.type, self._width(v)) for v in values)

    def _width(self, value: Value) -> int | None:
        """How a value that some block yields is held."""
        home = self._context.homes.get(value)
        return home.width if home is not None else None

    def _array(self, value: Value) -> Home | None:
        """Where the value lives, if that is an array."""
        home = self._context.homes.get(value)
        return home if home is not None and home.array is not None else None

    def _at(self, op: ops.For | ops.While | ops.If) -> None:
        self._text.at(op.span, self._printer.ids(op))


def _name(value: Value) -> str:
    return f"%v{number(value)}"


def _results(op: ops.For | ops.While | ops.If, array: Callable[[Value], Home | None]) -> str:
    names = ", ".join(_name(v) for v in op.results if not array(v))
    return f"{names} = " if names else ""
