"""Common subexpression elimination: an operation already done with the same operands is not done again."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.core import Block, Effect, Func, Op, Value
from mytriton.ir.ops import Constant
from mytriton.ir.printer import Printer
from mytriton.stage import Change


def _key(op: Op) -> Hashable:
    """Equal for operations that compute the same. Constants compare by type and bits: 0.0 is not -0.0, nor True 1."""
    if isinstance(op, Constant):
        return Constant, op.type, np.array(op.value, DTYPES[op.type]).tobytes()
    operands = op.operands
    if op.commutative:
        operands = tuple(sorted(operands, key=lambda v: v.id))
    return type(op), tuple(op.attributes.items()), operands


class _Merger:
    def __init__(self, func: Func) -> None:
        self.printer = Printer(func)
        self.scopes: list[dict[Hashable, Op]] = []
        self.substitution: dict[Value, Value] = {}
        self.changes: list[Change] = []

    def block(self, block: Block) -> Block:
        # What an inner block computes is not available after it; what outer ones computed is available inside.
        self.scopes.append({})
        out: list[Op] = []
        for op in block.ops:
            done = op.with_operands(self.substitution)
            if done.regions:
                done = done.with_regions(tuple(self.block(b) for b in done.regions))
            self.printer.define(done)
            if done.effect is not Effect.NONE or done.regions:
                out.append(done)
                continue
            key = _key(done)
            first = next((scope[key] for scope in reversed(self.scopes) if key in scope), None)
            if first is None:
                self.scopes[-1][key] = done
                out.append(done)
            else:
                self._merge(done, first)
        self.scopes.pop()
        same = len(out) == len(block.ops) and all(a is b for a, b in zip(out, block.ops, strict=True))
        return block if same else Block(block.params, tuple(out))

    def _merge(self, op: Op, first: Op) -> None:
        self.substitution.update(zip(op.results, first.results, strict=True))
        if op.inline:  # it has no line of its own, and its users read as before
            return
        names = ", ".join(v.id for v in first.results)
        self.changes.append(Change("cse", "merge", self.printer.op(op), names, op.span, f"same as {names}"))


def cse(func: Func) -> tuple[Func, tuple[Change, ...]]:
    """Merge pure operations that compute the same; loads stay as they are written."""
    merger = _Merger(func)
    body = merger.block(func.body)
    return (func if body is func.body else replace(func, body=body)), tuple(merger.changes)
