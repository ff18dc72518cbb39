"""Where what products of blocks take and make is kept: rows of factors apart, second factors in panels, which stay in
the cache nearest to the processor while all rows of the first one are multiplied by them, sums in the place of what is
added, and first factors where they are loaded from, if they can be read there as well."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from mytriton.backends.cpu.dots import panel_columns
from mytriton.backends.cpu.plan import OUTSIDE, factor_rows, is_block_op
from mytriton.backends.cpu.scratch import Lives
from mytriton.backends.cpu.views import view_through
from mytriton.backends.cpu.writer import LANES
from mytriton.ir import ops
from mytriton.ir.core import Block, Effect, Func, Value
from mytriton.ir.ops import Load
from mytriton.ir.ops.control import terminator, yielded
from mytriton.types import element_of, i1, shape_of

#: Elements of a row.
_LONG = 2 * LANES


class Products:
    """Places the products of one function. `fresh` are copies that were made for one operation."""

    def __init__(self, func: Func, lives: Lives) -> None:
        self.fresh: set[Value] = set()
        self._lives = lives
        self._uses = Counter(v for op in func.walk() for v in op.operands)
        dots = [op for op in func.walk() if isinstance(op, ops.Dot)]
        self._factors = Counter(v for op in dots for v in (op.lhs, op.rhs))
        self._firsts = {op.lhs for op in dots}
        self._definitions = func.definitions
        for value in _sums(func):
            lives.keep_rows(value, factor_rows(value))
        self.read_in_place: set[Load] = set()
        if self._factors:
            for block in (func.body, *(b for op in func.walk() for b in op.regions)):
                self._find(block)

    def _find(self, block: Block) -> None:
        """Loads of a block that only products of the block need, with nothing written in between."""
        since: set[Value] = set()
        for op in block.ops:
            if isinstance(op, Load) and not op.volatile and self._uses[op.result] == 1:
                since.add(op.result)
            elif isinstance(op, ops.Dot) and op.lhs in since and _is_long(op.lhs):
                load = self._definitions[op.lhs]
                assert isinstance(load, Load)
                self.read_in_place.add(load)
            elif op.regions or op.effect in (Effect.WRITE, Effect.OUTPUT):
                since.clear()

    def place(self, op: ops.Dot, here: Collection[Value]) -> None:
        """Place a product, whose operands and result are in scratch memory; `here` is what its block makes."""
        lives = self._lives
        for factor in (op.lhs, op.rhs):
            only_factor = self._uses[factor] == self._factors[factor] and lives.made_in[factor] != OUTSIDE
            if factor in self.fresh or only_factor:
                is_first = factor is op.lhs or factor in self._firsts
                lives.keep_rows(factor, factor_rows(factor, 0 if is_first else panel_columns(factor)))
        if op.acc in self.fresh and op.result in lives.rows:
            lives.keep_rows(op.acc, lives.rows[op.result])
        if op.acc in self.fresh or (self._uses[op.acc] == 1 and op.acc in here):  # nothing needs it any more
            lives.share(op.result, op.acc)


def _sums(func: Func) -> set[Value]:
    """Matrices of sums, with what is kept where they are, whose rows may be kept apart: whatever else makes or reads
    them does it chunk by chunk."""
    together: dict[Value, Value] = {}
    sums: set[Value] = set()
    others: set[Value] = set(func.params)

    def find(value: Value) -> Value:
        while value in together:
            value = together[value]
        return value

    def join(first: Value, second: Value) -> None:
        if find(first) is not find(second):
            together[find(first)] = find(second)

    for op in func.walk():
        match op:
            case ops.Dot():
                join(op.acc, op.result)
                sums.add(op.result)
                others |= {op.lhs, op.rhs}
            case ops.For():
                for carried, result, last in zip(op.carried, op.results, yielded(op.body), strict=True):
                    join(carried, result)
                    join(last, result)
            case ops.If() | ops.While():
                others.update(op.results, *((*block.params, *terminator(block).operands) for block in op.regions))
            case ops.Yield():
                pass
            case _ if not is_block_op(op) or view_through(op) is not None:
                others.update(op.results, op.operands)
    kept = {find(v) for v in sums if len(shape_of(v.type)) == 2} - {find(v) for v in others}
    return {v for v in (*together, *kept) if find(v) in kept}


def _is_long(value: Value) -> bool:
    """Whether it is one matrix, of rows for which it pays to look where they are."""
    shape = shape_of(value.type)
    return len(shape) == 2 and shape[0] > 1 and shape[1] >= _LONG and element_of(value.type) != i1
