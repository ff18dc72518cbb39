"""The listing of a laid-out program: each layout in words and as bit lists, rings of buffers in shared memory, then the
items with their operations."""

from __future__ import annotations

from collections.abc import Sequence

from mytriton.ir import ops
from mytriton.ir.core import Effect, Op
from mytriton.ir.ops.control import terminator
from mytriton.ir.printer import Printer
from mytriton.layout.dots import dot_plan
from mytriton.layout.layout import Layout
from mytriton.layout.memory_words import about, ring_lines
from mytriton.layout.ops import Convert, Finish
from mytriton.layout.program import Exchange, Exchanged, Item, LaidOut, Nested, Segment
from mytriton.layout.staging import AsyncCommit, AsyncWait, Staged
from mytriton.source import Span
from mytriton.stage import Line

_THROUGH = {"registers": "the registers of each thread", "shuffle": "shuffles in each warp", "shared": "shared memory"}
_NAMES = {"add": "sum", "mul": "product"}


def layout_lines(laid_out: LaidOut) -> list[Line]:
    """The listing; every operation's line has its source span, inline operations print inside their users."""
    return _Listing(laid_out).lines()


def describe(layout: Layout) -> str:
    """A layout in words: registers a thread, consecutive elements, copies."""
    threads = 1 << len(layout.lane) + len(layout.warp)
    registers = f"{layout.registers} register{'s' if layout.registers > 1 else ''} in each of {threads} threads"
    apart = "consecutive elements" if layout.step == 1 else f"elements that are {layout.step} apart"
    runs = f", runs of {layout.vector} {apart}" if layout.vector > 1 else ""
    return registers + runs + (f", {layout.copies} copies of each element" if layout.copies > 1 else "")


def _layout_names(laid_out: LaidOut) -> dict[Layout, str]:
    """`#b` and the shape; a number where layouts of one shape differ."""
    operations = list(laid_out.func.walk())
    values = [v for op in operations for v in (*op.results, *(p for b in op.regions for p in b.params))]
    names: dict[Layout, str] = {}
    counts: dict[tuple[int, ...], int] = {}
    for layout in dict.fromkeys(laid_out.layouts[v] for v in values):
        if layout.shape:
            number = counts[layout.shape] = counts.get(layout.shape, 0) + 1
            names[layout] = f"#b{'x'.join(map(str, layout.shape))}" + (f".{number}" if number > 1 else "")
    return names


def _first(item: Item) -> Span | None:
    """The place of what an item does first, for which threads wait before it, and run through their registers."""
    if not isinstance(item, Segment):
        return item.op.span
    return next((op.span for op in item.ops if not op.inline and op.span is not None), None)


class _Listing:
    def __init__(self, laid_out: LaidOut) -> None:
        self._laid_out = laid_out
        self._printer = Printer(laid_out.func)
        self._names = _layout_names(laid_out)
        self._lines: list[Line] = []

    def lines(self) -> list[Line]:
        for layout, name in self._names.items():
            self._lines += [Line(f"{name} = {layout}"), Line(f"  {describe(layout)}")]
        self._lines += ring_lines(self._laid_out.func)
        self._items(self._laid_out.items, "")
        return self._lines

    def _items(self, items: Sequence[Item], indent: str) -> None:
        """Recursion follows the nesting of regions."""
        for item in items:
            if isinstance(item, Segment) and all(op.inline for op in item.ops):
                continue
            first = _first(item)
            if item.barrier:
                self._lines.append(Line(f"{indent}barrier", first))
            if isinstance(item, Segment):
                values = tuple(v.id for v in item.escaping)
                self._lines.append(Line(indent + self._header(item), first, values))
                for op in item.ops:
                    if not op.inline:
                        self._op(op, self._printer.op(op), f"{indent}  ")
            elif isinstance(item, Exchange):
                self._op(item.op, self._exchange(item.op), indent, about(item, self._laid_out.layouts))
            else:
                self._nested(item, indent)

    def _op(self, op: Op, text: str, indent: str, about: str = "") -> None:
        names = [self._names[layout] for v in op.results if (layout := self._laid_out.layouts[v]).shape]
        text = f"{indent}{' '.join([text, *dict.fromkeys(names)])}{about}"
        self._lines.append(Line(text, op.span, self._printer.ids(op)))

    def _header(self, segment: Segment) -> str:
        if segment.layout is None:
            stores = any(op.effect is Effect.WRITE for op in segment.ops)
            return "scalars, in every thread" + (", stored by the first:" if stores else ":")
        where = self._names[segment.layout]
        text = f"for each of {segment.registers} registers of {where}" if segment.registers > 1 else f"in {where}"
        kept = ", ".join(self._printer.value(v) for v in segment.escaping)
        return f"{text}{f', keeping {kept}' if kept else ''}:"

    def _exchange(self, op: Exchanged) -> str:
        """The line of an exchange, up to the layout of its result."""
        if isinstance(op, (ops.InlineAsm, Finish, AsyncCommit, AsyncWait, Staged)):
            return self._printer.op(op)
        if isinstance(op, ops.Dot):
            plan = dot_plan(op, self._laid_out.layouts)
            rounds = f" in {plan.rounds} rounds" if plan.rounds > 1 else ""
            return f"{self._printer.op(op)} through {_THROUGH['shared']}{rounds},"
        if isinstance(op, (ops.Gather, ops.Histogram)):
            return f"{self._printer.op(op)} through {_THROUGH['shared']}"
        if isinstance(op, ops.Pick):
            return f"{self._printer.op(op.evolve(through=''))} through {_THROUGH[op.through]}"
        source, layout = self._printer.value(op.source), self._laid_out.layouts[op.source]
        if isinstance(op, Convert):
            text, before = f"convert {source} through {_THROUGH[op.through]}", f" {self._names[layout]} ->"
            return f"{op.result.id} = {text} : {op.result.type}{before}"
        name, count = _NAMES.get(op.combine, op.combine), 1 << op.bits.bit_count()
        text = f"{name} of {source} along axis {op.axis} across {count} {op.across}"
        return f"{op.result.id} = {text} : {op.result.type}"

    def _nested(self, item: Nested, indent: str) -> None:
        op, lines = item.op, self._lines
        params = tuple(p.id for p in op.regions[0].params)
        names = [self._names[layout] for v in op.results if (layout := self._laid_out.layouts[v]).shape]
        head = " ".join([self._printer.op(op), *dict.fromkeys(names), "{"])
        lines.append(Line(indent + head, op.span, (*self._printer.ids(op), *params)))
        for number, (block, items) in enumerate(zip(op.regions, item.blocks, strict=True)):
            last = terminator(block)
            if number > 0:
                if isinstance(op, ops.If) and len(block.ops) == 1 and not last.values:
                    continue
                ids = tuple(p.id for p in block.params)
                word = "else" if isinstance(op, ops.If) else f"do with {', '.join(ids)}" if ids else "do"
                lines.append(Line(f"{indent}}} {word} {{", op.span, ids))
            self._items(items, f"{indent}  ")
            if last.values:
                lines.append(Line(f"{indent}  {self._printer.op(last)}", last.span, self._printer.ids(last)))
        lines.append(Line(f"{indent}}}", op.span))
