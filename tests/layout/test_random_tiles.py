"""Random kernels with tiles, reductions, transpositions and control flow: the laid-out program does what the SSA does,
on any number of warps and in any order of warps between barriers.

There are three kinds of arrays: one only loaded from (also at computed places), one that every store has a part of, and
ones that are loaded and stored at the same places by blocks of one size, and by scalars. Across a reduction or a
barrier, blocks may change to the places of other lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any, Literal

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mytriton.ir import ops
from mytriton.ir.builder import parameter
from mytriton.ir.core import Func, Value
from mytriton.passes import PASSES
from mytriton.target import Target
from mytriton.types import i32, shape_of
from tests.ir.kernels import pointer
from tests.layout.tiles import Tiles, check

SHAPES = [(16,), (512,), (4, 4), (16, 32), (64, 8), (8, 4, 16), (1, 512)]
RARE_SHAPES = [(1,), (1, 1), (64,), (2, 4, 8), (1, 1, 64)]
SIZES = (1, 16, 64, 512)
BINARY = (ops.Add, ops.Sub, ops.Mul, ops.Minimum, ops.And, ops.Xor)
LARGEST = 1024
STORES = 24


@dataclass
class _Kernel:
    """What is being made: parameters, the stores made so far, and how each size's array is accessed (forwards or
    backwards) since when."""

    draw: st.DrawFn
    inputs: Value = field(default_factory=lambda: pointer("inputs", i32))
    outputs: Value = field(default_factory=lambda: pointer("outputs", i32))
    trips: Value = field(default_factory=lambda: parameter("trips", i32))
    stores: int = 0
    backwards: dict[int, bool] = field(default_factory=dict)
    fixed: set[int] = field(default_factory=set)  # sizes whose places may not change until a reduction

    def __post_init__(self) -> None:
        self.both = {size: pointer(f"both{size}", i32) for size in SIZES}

    def choose(self, values: Any) -> Any:
        """One of some values; the first ones make the simplest kernels."""
        return self.draw(st.sampled_from(values))

    def steps(self, b: Tiles, pool: list[Value], count: int, depth: int) -> None:
        for _ in range(count):
            kinds = ["load", "gather", "binary", "binary", "reduce", "reduce", "exchange", "move", "broadcast", "store"]
            kinds += ["both"] * 4 + ["scalar", "barrier"] + (["loop", "while", "if"] if depth < 2 else [])
            getattr(self, f"_{self.choose(kinds)}")(b, pool, depth)

    def shape(self) -> tuple[int, ...]:
        shapes: list[tuple[int, ...]] = self.choose([*[SHAPES] * 7, RARE_SHAPES])
        return self.draw(st.sampled_from(shapes))

    def place(self, b: Tiles, shape: tuple[int, ...]) -> Value:
        return b.index(shape)

    def _load(self, b: Tiles, pool: list[Value], depth: int) -> None:
        shape = self.shape()
        start = b.constant(self.choose((0, 1, 7)), i32, shape)
        mask = None
        if self.draw(st.booleans()):
            limit = b.constant(self.choose((1, 10, 200)), i32, shape)
            mask = b.add(ops.CmpLt, lhs=self.place(b, shape), rhs=limit)
        pool.append(b.load(self.inputs, b.binary(ops.Add, self.place(b, shape), start), mask))

    def _gather(self, b: Tiles, pool: list[Value], depth: int) -> None:
        index = self.choose(pool)
        pool.append(b.load(self.inputs, b.binary(ops.And, index, b.constant(255, i32, shape_of(index.type)))))

    def _binary(self, b: Tiles, pool: list[Value], depth: int) -> None:
        x = self.choose(pool[::-1])
        same = [v for v in pool if v.type == x.type]
        result = b.binary(self.choose(BINARY), x, self.choose(same))
        if self.draw(st.booleans()):
            mask = b.add(ops.CmpLt, lhs=self.choose(same), rhs=x)
            result = b.add(ops.Select, condition=mask, if_true=result, if_false=self.choose(same))
        pool.append(result)

    def _reduce(self, b: Tiles, pool: list[Value], depth: int) -> None:
        blocks = [v for v in pool if shape_of(v.type)]
        if not blocks:
            return
        x = self.choose(blocks[::-1])
        axis = self.choose(range(len(shape_of(x.type))))
        pool.append(b.reduce(x, axis, self.choose(("add", "maximum", "xor"))))
        if depth == 0:
            self.fixed.clear()

    def _exchange(self, b: Tiles, pool: list[Value], depth: int) -> None:
        """Elements picked or looked up, or their numbers counted."""
        blocks = [v for v in pool if shape_of(v.type)]
        if not blocks:
            return
        x = self.choose(blocks[::-1])
        shape = shape_of(x.type)
        axis = self.choose(range(len(shape)))
        old, kind = shape[axis], self.choose(("pick", "pick", "gather", "histogram"))
        if kind == "histogram":
            numbers = b.shaped(b.binary(ops.And, x, b.constant(31, i32, shape)), (prod(shape),))
            pool.append(b.add(ops.Histogram, source=numbers, bins=self.choose((1, 16, 256))))
            return
        if kind == "gather":
            others = (*shape[:axis], 0, *shape[axis + 1 :])
            alike = [v for v in blocks if (*(s := shape_of(v.type))[:axis], 0, *s[axis + 1 :]) == others]
            index = self.choose(alike)
            inside = b.binary(ops.And, index, b.constant(old - 1, i32, shape_of(index.type)))
            pool.append(b.add(ops.Gather, source=x, index=inside, axis=axis))
            return
        extent = 1 << self.draw(st.integers(0, old.bit_length() - 1))
        keep, flip = self.draw(st.integers(0, extent - 1)), self.draw(st.integers(0, old - 1))
        pool.append(b.add(ops.Pick, source=x, axis=axis, extent=extent, keep=keep, flip=flip))

    def _barrier(self, b: Tiles, pool: list[Value], depth: int) -> None:
        b.append(ops.Barrier())
        if depth == 0:
            self.fixed.clear()

    def _move(self, b: Tiles, pool: list[Value], depth: int) -> None:
        x = self.choose(pool[::-1])
        shape = shape_of(x.type)
        if len(shape) > 1 and self.draw(st.booleans()):
            pool.append(b.add(ops.Transpose, source=x, order=tuple(self.draw(st.permutations(range(len(shape)))))))
        else:
            pool.append(
                b.shaped(x, self.choose([(prod(shape),), *(s for s in SHAPES + RARE_SHAPES if prod(s) == prod(shape))]))
            )

    def _broadcast(self, b: Tiles, pool: list[Value], depth: int) -> None:
        x = self.choose(pool[::-1])
        shape = shape_of(x.type)
        if not shape:
            pool.append(b.splat(x, self.shape()))
            return
        if len(shape) < 3 and 1 not in shape:
            axis = self.choose(range(len(shape) + 1))
            shape = (*shape[:axis], 1, *shape[axis:])
            x = b.shaped(x, shape)
        wide = tuple(self.choose((1, 2, 16)) if n == 1 else n for n in shape)
        if prod(wide) <= LARGEST:
            pool.append(b.broadcast(x, wide))

    def _store(self, b: Tiles, pool: list[Value], depth: int) -> None:
        if self.stores == STORES:
            return
        self.stores += 1
        x = self.choose(pool[::-1])
        start = b.constant((self.stores - 1) * LARGEST, i32)
        if not shape_of(x.type):
            b.append(ops.Store(pointer=b.at(self.outputs, start), value=x))
            return
        shape = shape_of(x.type)
        b.store(self.outputs, b.binary(ops.Add, self.place(b, shape), b.splat(start, shape)), x)

    def _both(self, b: Tiles, pool: list[Value], depth: int) -> None:
        """Load or store a block in the array of its size."""
        found = [v for v in pool if prod(shape_of(v.type)) in SIZES and shape_of(v.type)]
        shape = shape_of(self.choose(found).type) if found else self.shape()
        size = prod(shape)
        if size not in self.fixed and depth == 0:
            self.backwards[size] = self.draw(st.booleans())
        self.fixed.add(size)
        place = self.place(b, shape)
        if self.backwards.get(size):
            place = b.binary(ops.Sub, b.constant(size - 1, i32, shape), place)
        values = [v for v in found if shape_of(v.type) == shape]
        if values and self.choose((False, True)):
            b.store(self.both[size], place, self.choose(values[::-1]))
        else:
            pool.append(b.load(self.both[size], place))

    def _scalar(self, b: Tiles, pool: list[Value], depth: int) -> None:
        """Load or store one element of such an array."""
        size = self.choose(SIZES)
        place = b.at(self.both[size], b.constant(self.draw(st.integers(0, size - 1)), i32))
        if self.draw(st.booleans()):
            pool.append(b.add(ops.Load, pointer=place))
        else:
            scalars = [v for v in pool if not shape_of(v.type)]
            b.append(ops.Store(pointer=place, value=self.choose(scalars)))

    def _ends(self, b: Tiles, pool: list[Value], wanted: list[Value], depth: int) -> list[Value]:
        """The end of a block: values of the types of `wanted`."""
        pool = list(pool)
        self.steps(b, pool, self.draw(st.integers(0, 3)), depth + 1)
        return [self.choose([x for x in pool if x.type == v.type][::-1]) for v in wanted]

    def _carried(self, pool: list[Value]) -> list[Value]:
        return [self.choose(pool[::-1]) for _ in range(self.draw(st.integers(1, 3)))]

    def _loop(self, b: Tiles, pool: list[Value], depth: int) -> None:
        initial = self._carried(pool)
        trips = self.trips if self.draw(st.booleans()) else b.constant(self.choose((0, 1, 3)), i32)
        pool += b.loop(trips, initial, lambda b, i, params: self._ends(b, [*pool, i, *params], initial, depth))

    def _while(self, b: Tiles, pool: list[Value], depth: int) -> None:
        initial = [b.constant(0, i32), *self._carried(pool)]

        def condition(b: Tiles, params: list[Value]) -> Value:
            inner = [*pool, *params]
            self.steps(b, inner, self.draw(st.integers(0, 2)), depth + 1)
            return b.add(ops.CmpLt, lhs=params[0], rhs=self.trips)

        def body(b: Tiles, params: list[Value]) -> list[Value]:
            ends = self._ends(b, [*pool, *params], initial[1:], depth)
            return [b.binary(ops.Add, params[0], b.constant(1, i32)), *ends]

        pool += b.repeat(initial, condition, body)

    def _if(self, b: Tiles, pool: list[Value], depth: int) -> None:
        scalars = [v for v in pool if not shape_of(v.type)]
        condition = b.add(ops.CmpLt, lhs=self.choose(scalars[::-1]), rhs=self.choose(scalars))
        wanted = [self.choose(pool[::-1]) for _ in range(self.draw(st.integers(0, 2)))]
        branches = [lambda b: self._ends(b, pool, wanted, depth)] * 2
        pool += b.branch(condition, *branches)


@st.composite
def kernels(draw: st.DrawFn) -> Func:
    kernel, b = _Kernel(draw), Tiles()
    pool: list[Value] = [kernel.trips, b.constant(3, i32)]
    kernel.steps(b, pool, draw(st.integers(2, 16)), 0)
    for value in pool[-3:]:
        kernel._store(b, [value], 0)
    return b.finish("tiles", (kernel.inputs, kernel.outputs, *kernel.both.values(), kernel.trips))


def arguments(trips: int) -> list[Any]:
    rng = np.random.default_rng(1)
    inputs = rng.integers(-1000, 1000, 2 * LARGEST).astype(np.int32)
    both = [rng.integers(-1000, 1000, size).astype(np.int32) for size in SIZES]
    return [inputs, np.zeros((STORES + 3) * LARGEST, np.int32), *both, trips]


@given(kernels(), st.data())
@settings(max_examples=60)
def test_random_tiles(func: Func, data: st.DataObject) -> None:
    warps = data.draw(st.sampled_from((1, 2, 4, 8)))
    form: Literal["tuned", "plain"] = data.draw(st.sampled_from(("tuned", "plain")))
    order = data.draw(st.permutations(range(warps)))
    if data.draw(st.booleans()):
        for pass_ in PASSES:
            func, _ = pass_.run(func)
    check(func, arguments(data.draw(st.integers(0, 2))), Target(num_warps=warps, form=form), order)
