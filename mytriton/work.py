"""How much a launch has to do: the bytes it must move and the floating-point operations it does.

Counted by interpreting programs of the optimized SSA on the launch's own arguments, so loops, branches and gathers
count as they go. All programs are looked at if that is quick; else some, evenly spread, and the rest is estimated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

import numpy as np

from mytriton.diagnostics import MytritonError
from mytriton.ir import interp, ops
from mytriton.ir.arithmetic import Array
from mytriton.ir.core import Func, Op
from mytriton.ir.memory import Buffer, Memory
from mytriton.layout.staging import AsyncCopy
from mytriton.types import ScalarType, Type, element_of, is_float, shape_of

#: Elements whose interpretation takes somewhat less than a second; an operation costs as much as `_OPERATION` elements.
BUDGET = 100_000_000
_OPERATION = 2_000
#: A single program may take this much of the budget.
_PATIENCE = 10
#: Where not all programs are looked at, so many are.
_SAMPLE = 64

#: Floating-point operations an element of these counts as; other elementwise ones of floats count as one.
_FLOPS: dict[type[Op], int] = {ops.Fma: 2, ops.Neg: 0, ops.Abs: 0}


@dataclass(frozen=True, slots=True)
class Work:
    """What a launch has to do.

    `read` and `written` are the ideal traffic in bytes: each element of an argument that any program loads, or stores,
    counts once, as if caches were perfect; what is masked off does not. `flops` are by type: each `+ - * / %`,
    minimum, maximum and function (`exp`, ...) of floats counts 1 an element of its block, masked-off ones too, `fma` 2,
    a reduction of n elements n - 1 and a product of matrices 2 M N K; comparisons, choices, conversions, `-x` and `abs`
    count nothing, nor do integers. If fewer programs were `counted` than there are `programs`, it is an estimate: the
    sum over the counted ones scaled up, and no array more than once. `reason` says why nothing could be counted.
    """

    read: int = 0
    written: int = 0
    flops: Mapping[str, int] = field(default_factory=dict)
    programs: int = 0
    counted: int = 0
    reason: str = ""

    @property
    def bytes(self) -> int:
        """All traffic."""
        return self.read + self.written

    @property
    def total_flops(self) -> int:
        """Those of all types."""
        return sum(self.flops.values())

    @property
    def exact(self) -> bool:
        """Whether all programs were counted."""
        return self.counted == self.programs


def flops_of(op: Op) -> tuple[str, int]:
    """The type an operation computes in, and how many floating-point operations it is."""
    if not op.results or not is_float(type_ := op.results[0].type):
        return "", 0
    if isinstance(op, ops.Reduce):
        return _element(type_), prod(shape_of(op.source.type)) - prod(shape_of(type_))
    if isinstance(op, ops.Dot):
        return _element(type_), 2 * prod(shape_of(type_)) * shape_of(op.lhs.type)[-1]
    if isinstance(op, (ops.Unary, ops.Binary, ops.Fma)):
        return _element(type_), prod(shape_of(type_)) * _FLOPS.get(type(op), 1)
    return "", 0


def _element(type_: Type) -> str:
    element = element_of(type_)
    assert isinstance(element, ScalarType)
    return element.name


def count_work(
    func: Func,
    args: Sequence[Any],
    grid: tuple[int, int, int],
    progress: Callable[[int, int], None] | None = None,
    budget: int = BUDGET,
) -> Work:
    """Count a launch of `func` on NumPy arguments, in parameter order; the programs looked at store to the arrays.
    `progress` is told how many of those are done, and may raise."""
    total = prod(grid)
    if not total:
        return Work()
    try:
        counter = _Counter(func, args, grid, budget * _PATIENCE)
        ends = [counter.run(0)]
        most = max(2, budget // max(1, counter.cost))
        if most >= total:
            numbers, counter.limit = list(range(1, total)), None
        else:
            spread = np.linspace(1, total - 2, min(most, _SAMPLE) - 2).tolist()
            numbers = sorted({int(n) for n in spread})
            ends.append(counter.run(total - 1))
        inner: list[_Share] = []
        for number in numbers:
            inner.append(counter.run(number))
            if progress is not None:
                progress(len(inner) + 1, len(numbers) + 1)
    except _TooMuch:
        return Work(programs=total, reason="one program alone does too much to be interpreted")
    except MytritonError as error:
        return Work(programs=total, reason=str(error))
    counted = len(ends) + len(inner)
    if counted == total:
        return counter.exactly(total)
    return counter.estimated(ends, inner, total, counted)


class _TooMuch(Exception):
    """The interpreter would take too long."""


#: Bytes by (read or written, parameter number), or operations by type.
_Share = Counter[Any]
_Kind = Literal["read", "written"]


class _Counter(Memory):
    """Memory that knows which elements are touched, and what else a program does."""

    def __init__(self, func: Func, args: Sequence[Any], grid: tuple[int, int, int], limit: int) -> None:
        super().__init__(func, args)
        self.cost = self._before = 0
        self.limit: int | None = limit
        self._func, self._grid = func, grid
        self._kind: _Kind = "read"
        self._touched: dict[tuple[_Kind, int], list[Array]] = {}
        self._seen: dict[tuple[_Kind, int], Array] = {}
        self._flops: _Share = Counter()
        self._all_flops: _Share = Counter()

    def run(self, number: int) -> _Share:
        """Run one program; what it does, by itself."""
        self._touched, self._flops, self._before = {}, Counter(), self.cost
        interp.run_program(self._func, self, number, self._grid, self._observe)
        share = Counter(self._flops)
        self._all_flops.update(self._flops)
        for key, parts in self._touched.items():
            elements = np.unique(np.concatenate(parts))
            buffer = self.buffers[key[1]]
            self._seen.setdefault(key, np.zeros(buffer.flat.size, bool))[elements] = True
            share[key] = elements.size * buffer.flat.itemsize
        return share

    def load(self, op: ops.Load | AsyncCopy, pointer: Array, mask: Array | None, other: Array | None) -> Array:
        """Load, and remember what."""
        self._kind = "read"
        return super().load(op, pointer, mask, other)

    def store(self, pointer: Array, value: Array, mask: Array | None) -> None:
        """Store, and remember what."""
        self._kind = "written"
        super().store(pointer, value, mask)

    def _accesses(self, pointer: Array, mask: Array | None, size: int) -> list[tuple[Any, Buffer, Array]]:
        found = super()._accesses(pointer, mask, size)
        for _, buffer, offset in found:
            number = next(n for n, b in self.buffers.items() if b is buffer)
            element = buffer.flat.itemsize
            places = np.reshape(offset, -1)
            if size > element:  # through a pointer to a wider type
                places = (places[:, None] + np.arange(0, size, element)).reshape(-1)
            self._touched.setdefault((self._kind, number), []).append(places // element)
        return found

    def _observe(self, program: tuple[int, int, int], op: Op, result: Array | None) -> None:
        self.cost += _OPERATION + (result.size if result is not None else 0)
        if self.limit is not None and self.cost - self._before > self.limit:
            raise _TooMuch
        type_, flops = flops_of(op)
        if flops:
            self._flops[type_] += flops

    def exactly(self, total: int) -> Work:
        """The sum over all programs, each element once."""

        def sizes(kind: _Kind) -> int:
            return sum(
                int(seen.sum()) * self.buffers[number].flat.itemsize
                for (k, number), seen in self._seen.items()
                if k == kind
            )

        return Work(sizes("read"), sizes("written"), dict(self._all_flops), total, total)

    def estimated(self, ends: Sequence[_Share], inner: Sequence[_Share], total: int, counted: int) -> Work:
        """The first and the last program count as they are, those between stand for all between."""
        share: _Share = sum(ends, Counter())
        middle: _Share = sum(inner, Counter())
        for key, amount in (middle or share).items():
            share[key] += round(amount * (total - len(ends)) / max(1, len(inner) if middle else len(ends)))

        def size(kind: _Kind) -> int:
            return sum(
                min(amount, self.buffers[key[1]].flat.nbytes)
                for key, amount in share.items()
                if isinstance(key, tuple) and key[0] == kind
            )

        flops = {key: amount for key, amount in share.items() if isinstance(key, str)}
        return Work(size("read"), size("written"), flops, total, counted)
