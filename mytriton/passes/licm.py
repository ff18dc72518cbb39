"""Loop-invariant code motion: what is the same in every trip of a loop is computed before it.

Pure operations are moved out of every loop that their operands come from outside of, out of branches in it too: no
operation traps, so at worst one is computed that is not needed. A load is moved only if the loop runs at least once,
it is done in every trip, and nothing in the loop writes or shows anything outside. Operations that print inside their
user stay with it, and move if it does.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field, replace

from mytriton.analysis.effects import effect_of, effects_within
from mytriton.ir.core import Block, Effect, Func, Op, Value
from mytriton.ir.ops import Constant, For, Load, Reduce, While
from mytriton.ir.printer import Printer
from mytriton.passes.branches import trip_count
from mytriton.stage import Change


@dataclass
class _Frame:
    """A block being rewritten: a loop's, which may run often, or another. `reads` says that a load in it may as well be
    done once before its loop."""

    loop: bool = False
    reads: bool = False
    out: list[Op] = field(default_factory=list)


class _Hoister:
    def __init__(self, func: Func) -> None:
        self.printer = Printer(func)
        self.effects = effects_within(func)
        self.frames: list[_Frame] = []
        self.loops: list[int] = []  # which frames are a loop's
        # The number of the outermost frame in which a value is available; for one of `inline`, in which it could be.
        self.home: dict[Value, int] = {}
        self.inline: dict[Value, Op] = {}
        self.moved: set[Op] = set()
        self.changes: list[Change] = []

    def block(self, block: Block, frame: _Frame) -> Block:
        # Recursion follows the nesting of regions, not the length of the kernel.
        level = len(self.frames)
        self.frames.append(frame)
        if frame.loop:
            self.loops.append(level)
        self.home.update((p, level) for p in block.params)
        for op in block.ops:
            self._visit(op, level)
        self.frames.pop()
        if frame.loop:
            self.loops.pop()
        out = [op for op in frame.out if op not in self.moved or level == self.home[op.result]]
        same = len(out) == len(block.ops) and all(a is b for a, b in zip(out, block.ops, strict=True))
        return block if same else Block(block.params, tuple(out))

    def _visit(self, op: Op, level: int) -> None:
        to = level
        if op.structured:
            op = self._structured(op)
        elif isinstance(op, Reduce) or (isinstance(op, Load) and not op.volatile):
            to = self._outermost_load(op, level)  # a reduction orders what lanes do to memory in every trip
        elif op.results and effect_of(op) is Effect.NONE:
            to = self._outermost(op, level)
        self.home.update((v, to) for v in op.results)
        if to == level:
            self.frames[level].out.append(op)
        elif op.inline:
            self.inline[op.result] = op
            self.frames[level].out.append(op)
        else:
            self._hoist(op, to, level)

    def _structured(self, op: Op) -> Op:
        quiet = not any(self.effects[op])
        match op:
            case For():
                frames = [_Frame(True, quiet and self._runs(op))]
            case While():
                frames = [_Frame(True, quiet), _Frame(True)]
            case _:
                frames = [_Frame() for _ in op.regions]
        return op.with_regions(tuple(self.block(b, f) for b, f in zip(op.regions, frames, strict=True)))

    def _runs(self, loop: For) -> bool:
        """Whether a loop surely makes a trip."""
        bounds = [self.printer.definition(v) for v in (loop.lower, loop.upper, loop.step)]
        numbers = [int(op.value) for op in bounds if isinstance(op, Constant)]
        return len(numbers) == 3 and trip_count(*numbers) > 0

    def _needs(self, op: Op) -> int:
        """The outermost frame in which all operands are, or could be."""
        return max((self.home[v] for v in op.operands), default=0)

    def _outermost(self, op: Op, level: int) -> int:
        needs = self._needs(op)
        crossed = bisect_right(self.loops, needs)
        return self.loops[crossed] - 1 if crossed < len(self.loops) else level

    def _outermost_load(self, op: Load | Reduce, level: int) -> int:
        needs = self._needs(op)
        while level > needs and self.frames[level].loop and self.frames[level].reads:
            level -= 1
        return level

    def _hoist(self, op: Op, to: int, level: int) -> None:
        # Inline operands go first, each as far as it can: a stack, as a chain of casts may be long.
        stack = [v for v in op.operands if v in self.inline]
        while stack:
            value = stack[-1]
            if value not in self.inline:
                stack.pop()
                continue
            inner = self.inline[value]
            waiting = [v for v in inner.operands if v in self.inline]
            if waiting:
                stack += waiting
                continue
            stack.pop()
            del self.inline[value]
            self.moved.add(inner)
            self.frames[self.home[value]].out.append(inner)
        self.frames[to].out.append(op)
        crossed = sum(frame.loop for frame in self.frames[to + 1 : level + 1])
        loops = "the loop" if crossed == 1 else f"{crossed} loops"
        text = self.printer.op(op)
        self.changes.append(Change("licm", "hoist", text, text, op.span, f"the same in every trip of {loops}"))


def licm(func: Func) -> tuple[Func, tuple[Change, ...]]:
    """Move what does not change in a loop before it."""
    if not any(isinstance(op, (For, While)) for op in func.walk()):
        return func, ()
    hoister = _Hoister(func)
    body = hoister.block(func.body, _Frame())
    return (func if body is func.body else replace(func, body=body)), tuple(hoister.changes)
