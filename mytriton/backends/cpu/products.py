"""Where what products of blocks take and make is kept: rows of factors apart, sums in the place of what is added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from mytriton.backends.cpu.plan import OUTSIDE, row_distance
from mytriton.backends.cpu.scratch import Lives
from mytriton.ir import ops
from mytriton.ir.core import Func, Value


class Products:
    """Places the products of one function. `fresh` are copies that were made for one operation."""

    def __init__(self, func: Func, lives: Lives) -> None:
        self.fresh: set[Value] = set()
        self._lives = lives
        self._uses = Counter(v for op in func.walk() for v in op.operands)
        self._factors = Counter(v for op in func.walk() if isinstance(op, ops.Dot) for v in (op.lhs, op.rhs))

    def place(self, op: ops.Dot, here: Collection[Value]) -> None:
        """Place a product, whose operands and result are in scratch memory; `here` is what its block makes."""
        lives = self._lives
        for factor in (op.lhs, op.rhs):
            only_factor = self._uses[factor] == self._factors[factor] and lives.made_in[factor] != OUTSIDE
            if factor in self.fresh or only_factor:
                lives.keep_apart(factor, row_distance(factor))
        if op.acc in self.fresh or (self._uses[op.acc] == 1 and op.acc in here):  # nothing needs it any more
            lives.share(op.result, op.acc)
