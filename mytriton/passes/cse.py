"""Common subexpression elimination: an operation already done with the same operands is not done again."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from mytriton.analysis.effects import effect_of, effects_within
from mytriton.ir.core import Block, Effect, Func, Op, Value
from mytriton.ir.ops import Constant, If, Load, Reduce
from mytriton.ir.printer import Printer
from mytriton.stage import Change


def _key(op: Op) -> tuple[Hashable, ...]:
    """Equal for operations that compute the same. Constants compare by type and digits: 0.0 is not -0.0, nor True 1,
    and a NaN is a NaN."""
    if isinstance(op, Constant):
        return Constant, op.type, repr(op.value)
    operands = frozenset(op.operands) if op.commutative else op.operands
    return type(op), operands, *op.attributes.values()


class _Merger:
    def __init__(self, func: Func) -> None:
        self.printer = Printer(func)
        self.effects = effects_within(func)
        self.known: dict[Hashable, Op] = {}
        self.substitution: dict[Value, Value] = {}
        self.changes: list[Change] = []
        # A number for what is in memory: the same number, the same contents.
        self.memory = 0
        self.last_memory = 0

    def block(self, block: Block) -> Block:
        out: list[Op] = []
        added: list[Hashable] = []
        for op in block.ops:
            done = op.with_operands(self.substitution)
            if done is not op and done.inline:
                self.printer.define(done)
            effect = effect_of(done)
            if effect is Effect.WRITE:
                self._write()
            if done.structured:
                done = self._structured(op, done)
            if done.structured or not done.results or effect is Effect.WRITE:
                out.append(done)
                continue
            # A reduction orders what lanes do to memory, so one after a write is not one before it.
            timeless = effect is Effect.NONE and not isinstance(done, Reduce)
            key: Hashable = _key(done) if timeless else (*_key(done), self.memory)
            first = self.known.get(key)
            if first is None:
                self.known[key] = done
                added.append(key)
                out.append(done)
            else:
                self._merge(done, first)
        # What an inner block computes is not available after it; what outer ones computed is available inside.
        for key in added:
            del self.known[key]
        same = len(out) == len(block.ops) and all(a is b for a, b in zip(out, block.ops, strict=True))
        return block if same else Block(block.params, tuple(out))

    def _write(self) -> None:
        self.last_memory += 1
        self.memory = self.last_memory

    def _structured(self, original: Op, op: Op) -> Op:
        # Recursion follows the nesting of regions, not the length of the kernel.
        writes = self.effects[original].writes
        if writes and not isinstance(op, If):
            self._write()  # a later trip sees what an earlier one wrote
        before, blocks = self.memory, []
        for inner in op.regions:
            self.memory = before
            blocks.append(self.block(inner))
        if writes:
            self._write()
        return op.with_regions(tuple(blocks))

    def _merge(self, op: Op, first: Op) -> None:
        self.substitution.update(zip(op.results, first.results, strict=True))
        if op.inline:  # it has no line of its own, and its users read as before
            return
        names = ", ".join(v.id for v in first.results)
        why = f"same as {names}" + (", and nothing between them writes" if isinstance(op, Load) else "")
        self.changes.append(Change("cse", "merge", self.printer.op(op), names, op.span, why))


def cse(func: Func) -> tuple[Func, tuple[Change, ...]]:
    """Merge pure operations that compute the same, and loads of the same with no write between them."""
    merger = _Merger(func)
    body = merger.block(func.body)
    return (func if body is func.body else replace(func, body=body)), tuple(merger.changes)
