"""Lays functions out badly: every value has a layout drawn at random, so that every way of converting one into another
is taken, and every operation is a segment of its own. What is computed must not depend on it."""

from __future__ import annotations

import random
from dataclasses import replace
from math import prod
from typing import Any

from mytriton.ir import ops
from mytriton.ir.builder import Ids, complete
from mytriton.ir.core import Block, Effect, Func, Op, Value
from mytriton.layout.layout import Layout, index_bits, replicated
from mytriton.layout.ops import Convert, PartialReduce
from mytriton.layout.program import Exchange, Item, LaidOut, Nested, Segment
from mytriton.layout.routes import through
from mytriton.target import Target
from mytriton.types import shape_of


def scatter(func: Func, target: Target, seed: int) -> LaidOut:
    """The function with random layouts; equal for equal seeds."""
    return _Scatter(func, target, random.Random(seed)).run()


class _Scatter:
    def __init__(self, func: Func, target: Target, rng: random.Random) -> None:
        self.func, self.warps, self.rng = func, target.num_warps, rng
        self.ids = Ids(func.next_value, func.next_inline)
        self.layouts: dict[Value, Layout] = {p: replicated(self.warps) for p in func.params}
        self.now: dict[Value, Value] = {}  # what stands for a value of the function

    def run(self) -> LaidOut:
        block, items = self.block(self.func.body)
        func = replace(self.func, body=block, next_value=self.ids.value, next_inline=self.ids.inline)
        return LaidOut(func, self.layouts, items, self.warps)

    def layout(self, shape: tuple[int, ...]) -> Layout:
        """Bits anywhere; with copies now and then, and always where there are more threads than elements."""
        bits = [1 << i for i in range(prod(shape).bit_length() - 1)]
        places = 5 + self.warps.bit_length() - 1
        self.rng.shuffle(bits)
        copies = self.rng.randint(0, places) if prod(shape) <= 64 else places
        used = bits[: self.rng.choice([places, copies])]
        threads = used + [0] * (places - len(used))
        self.rng.shuffle(threads)
        return Layout(shape, tuple(bits[len(used) :]), tuple(threads[:5]), tuple(threads[5:]))

    def turned(self, layout: Layout) -> Layout:
        """The same elements in each warp: in other registers, and perhaps other lanes."""
        register, lane = list(layout.register), list(layout.lane)
        self.rng.shuffle(register)
        if self.rng.random() < 0.5:
            self.rng.shuffle(lane)
        return replace(layout, register=tuple(register), lane=tuple(lane))

    # --- operations ---------------------------------------------------------------------------------------------------

    def block(self, block: Block, wanted: tuple[Layout, ...] = ()) -> tuple[Block, tuple[Item, ...]]:
        """A block whose yielded values have the wanted layouts."""
        self.ops: list[Op]
        outer, self.ops, self.items = (getattr(self, "ops", []), getattr(self, "items", [])), [], []
        for op in block.ops:
            if isinstance(op, ops.Yield):
                values = tuple(self.convert(self.get(v), w) for v, w in zip(op.values, wanted, strict=True))
                self.ops.append(op.evolve(values=values))
            else:
                self.operation(op)
        made = Block(block.params, tuple(self.ops)), tuple(self.items)
        self.ops, self.items = outer
        return made

    def get(self, value: Value) -> Value:
        return self.now.get(value, value)

    def operation(self, op: Op) -> None:
        mapping = {v: self.get(v) for v in op.operands}
        op = op.with_operands(mapping)
        if op.regions:
            self.structured(op)
        elif isinstance(op, ops.Reduce):
            self.reduce(op)
        elif isinstance(op, ops.Reshape) and not shape_of(op.source.type):
            self.segment(ops.Splat(source=op.source, shape=op.shape, results=op.results, span=op.span))
        elif isinstance(op, ops.Broadcast):
            layout = self.layout(op.shape)
            source = self.convert(op.source, layout.sliced(shape_of(op.source.type)))
            self.segment(op.evolve(source=source), layout)
        elif isinstance(op, ops.Reshape):
            layout = self.layouts[op.source].reshaped(op.shape) if op.shape else replicated(self.warps)
            self.segment(op, layout)
        elif isinstance(op, ops.Transpose):
            self.segment(op, self.layouts[op.source].transposed(op.order))
        elif isinstance(op, ops.Print):
            for value in op.values:
                self.segment(op.evolve(values=(value,)), self.layouts[value])
        else:
            blocks = [v for v in op.operands if shape_of(v.type)]
            if blocks:
                layout = self.rng.choice([lambda x: x, self.turned])(self.layouts[self.rng.choice(blocks)])
                op = op.with_operands({v: self.convert(v, layout) for v in blocks})
                self.segment(op, layout)
            else:
                self.segment(op)

    def segment(self, op: Op, layout: Layout | None = None) -> None:
        shapes = [shape_of(v.type) for v in op.results]
        if layout is None:
            layout = self.layout(shapes[0]) if shapes and shapes[0] else replicated(self.warps)
        self.layouts.update((v, layout) for v in op.results)
        self.ops.append(op)
        where = layout if layout.shape else None
        self.items.append(Segment(where, (op,), op.results if where else (), barrier=op.effect is not Effect.NONE))

    def exchange(self, op: Any, layout: Layout, span: Any) -> Value:
        done = complete(op.evolve(span=span), self.ids)
        self.ops.append(done)
        self.layouts[done.result] = layout
        self.items.append(Exchange(done, barrier=True))
        return done.result

    def convert(self, value: Value, layout: Layout) -> Value:
        have = self.layouts[value]
        if have == layout or not layout.shape:
            return value
        return self.exchange(Convert(source=value, through=through(have, layout)), layout, None)

    def reduce(self, op: ops.Reduce) -> None:
        value = op.source
        for across, which in (("registers", 0), ("lanes", 1), ("warps", 2)):
            layout = self.layouts[value]
            extent = layout.shape[op.axis]
            unit = index_bits(layout.shape, op.axis, 1)
            entries = (layout.register, layout.lane, layout.warp)[which]
            bits = sum(e // unit for e in entries if unit <= e < unit * extent)
            if bits:
                step = PartialReduce(source=value, axis=op.axis, combine=op.combine, across=across, bits=bits)
                value = self.exchange(step, layout.reduced(op.axis, bits), op.span)
        shape = shape_of(op.result.type)
        layout = self.layouts[value].reshaped(shape) if shape else replicated(self.warps)
        self.segment(ops.Reshape(source=value, shape=shape, results=op.results, span=op.span), layout)

    def structured(self, op: Op) -> None:
        if isinstance(op, ops.If):
            wanted = tuple(self.of_result(v) for v in op.results)
        else:
            assert isinstance(op, (ops.For, ops.While))
            wanted = tuple(self.of_result(v) for v in op.results)
            initial = tuple(self.convert(v, w) for v, w in zip(op.initial, wanted, strict=True))
            op = op.evolve(initial=initial)
            if isinstance(op, ops.For):
                self.layouts[op.induction] = replicated(self.warps)
            for block in op.regions:
                params = block.params[1:] if isinstance(op, ops.For) else block.params
                self.layouts.update(zip(params, wanted, strict=True))
        made = []
        for number, block in enumerate(op.regions):
            test = isinstance(op, ops.While) and number == 0
            made.append(self.block(block, (replicated(self.warps),) if test else wanted))
        done = op.with_regions(tuple(b for b, _ in made))
        self.ops.append(done)
        self.layouts.update(zip(op.results, wanted, strict=True))
        self.items.append(Nested(done, tuple(i for _, i in made), barrier=True))  # type: ignore[arg-type]

    def of_result(self, value: Value) -> Layout:
        shape = shape_of(value.type)
        return self.layout(shape) if shape else replicated(self.warps)
