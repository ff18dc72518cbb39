"""The listing of a laid-out program: each layout in words and as bit lists, then the segments with their operations."""

from __future__ import annotations

from mytriton.ir.core import Effect, Op
from mytriton.ir.printer import Printer
from mytriton.layout.layout import Layout
from mytriton.layout.program import LaidOut, Segment
from mytriton.stage import Line


def layout_lines(laid_out: LaidOut) -> list[Line]:
    """The listing; every operation's line has its source span, inline operations print inside their users."""
    printer = Printer(laid_out.func)
    blocks = dict.fromkeys(layout for layout in laid_out.layouts.values() if layout.shape)
    names = {layout: f"#b{'x'.join(map(str, layout.shape))}" for layout in blocks}
    lines: list[Line] = []
    for layout, name in names.items():
        lines += [Line(f"{name} = {layout}"), Line(f"  {describe(layout)}")]
    for segment in laid_out.segments:
        listed = [op for op in segment.ops if not op.inline]
        if not listed:
            continue
        if segment.barrier:
            lines.append(Line("barrier"))
        header = _header(segment, names, printer)
        lines.append(Line(header, values=tuple(v.id for v in segment.escaping)))
        lines += [Line(f"  {_op(op, printer, laid_out, names)}", op.span, printer.ids(op)) for op in listed]
    return lines


def describe(layout: Layout) -> str:
    """A layout in words: registers a thread, consecutive elements, copies."""
    register, lane, warp = layout.free_bits()
    threads = 1 << len(layout.lane) + len(layout.warp)
    copies = 1 << register.bit_count() + lane.bit_count() + warp.bit_count()
    registers = f"{layout.registers} register{'s' if layout.registers > 1 else ''} in each of {threads} threads"
    runs = f", runs of {layout.vector} consecutive elements" if layout.vector > 1 else ""
    return registers + runs + (f", {copies} copies of each element" if copies > 1 else "")


def _header(segment: Segment, names: dict[Layout, str], printer: Printer) -> str:
    if segment.layout is None:
        stores = any(op.effect is Effect.WRITE for op in segment.ops)
        return "scalars, in every thread" + (", stored by the first:" if stores else ":")
    where = names[segment.layout]
    text = f"for each of {segment.registers} registers of {where}" if segment.registers > 1 else f"in {where}"
    kept = ", ".join(printer.value(v) for v in segment.escaping)
    return f"{text}{f', keeping {kept}' if kept else ''}:"


def _op(op: Op, printer: Printer, laid_out: LaidOut, names: dict[Layout, str]) -> str:
    layout = laid_out.layouts[op.results[0]] if op.results else None
    return printer.op(op) + (f" {names[layout]}" if layout in names else "")
