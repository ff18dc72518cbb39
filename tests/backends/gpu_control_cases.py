"""Kernels of `gpu_cases` about control flow: bounds at the limits of their types, carried values of every kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import ParamInfo, Value
from mytriton.types import FLOATS, INTEGERS, PointerType, ScalarType, f32, i1, i32, i64, u32, u64
from tests.backends.gpu_case import Case, edges
from tests.ir.kernels import pointer
from tests.ir.structured import block, branch, fresh, loop, while_loop
from tests.layout.tiles import Tiles

#: Lower bound, upper bound and step of loops of a few trips; the last reach the limits of the type.
Bounds = tuple[int, int, int]


def _bounds(element: ScalarType) -> list[Bounds]:
    low, high = element.low, element.high
    found = [(0, 5, 1), (3, 17, 4), (5, 5, 1), (6, 2, 1), (0, 4, 0), (high - 3, high, 1), (high - 9, high, 4)]
    found += [(high - 1, high, high), (low, low + 7, 3), (low, high, high // 2 + 1)]
    if element.signed:
        found += [(5, 0, -1), (9, -8, -5), (low + 3, low, -1), (low + 9, low, -4), (0, low, low), (high, low, low)]
        found += [(low, high, high), (-7, 8, 5), (2, 9, -1), (high, high - 6, -3)]
    return found


def counting(element: ScalarType, known: bool) -> Case:
    """`for i in range(lower, upper, step)` for many bounds, known to the compiler or not: how many trips were made, and
    the sum of i times the number of the trip, in the type's own arithmetic."""
    b = Builder()
    bounds = _bounds(element)
    lower, upper, step = (pointer(name, element) for name in ("lower", "upper", "step"))
    trips, sums = pointer("trips", i32), pointer("sums", element)
    for number, numbers in enumerate(bounds):
        offset = b.constant(number, i32)

        def at(base: Value, offset: Value = offset) -> Value:
            return b.add(ops.AddPtr, pointer=base, offset=offset)

        if known:
            limits = [b.constant(n, element) for n in numbers]
        else:
            limits = [b.add(ops.Load, pointer=at(p)) for p in (lower, upper, step)]
        initial = [b.constant(0, i32), b.constant(0, element)]

        def body(b: Builder, i: Value, count: Value, total: Value) -> Sequence[Value]:
            more = b.add(ops.Add, lhs=count, rhs=b.constant(1, i32))
            weight = b.cast(more, element)
            return [more, b.add(ops.Add, lhs=total, rhs=b.add(ops.Mul, lhs=i, rhs=weight))]

        params = fresh(b, [limits[0], *initial])
        bound = dict(zip(("lower", "upper", "step"), limits, strict=True))
        done = b.append(ops.For(**bound, initial=tuple(initial), body=block(b, params, body))).results
        b.append(ops.Store(pointer=at(trips), value=done[0]))
        b.append(ops.Store(pointer=at(sums), value=done[1]))
    func = b.finish(f"counting_{element}_{'known' if known else 'given'}", (lower, upper, step, trips, sums))
    arrays = [np.array([n[i] for n in bounds], DTYPES[element]) for i in range(3)]
    return Case(func, (*arrays, np.full(len(bounds), -1, np.int32), np.zeros(len(bounds), DTYPES[element])))


def rotation(shape: tuple[int, ...], trips: int) -> Case:
    """`a, b, c = b, c, a` and `x, y = y, x` of blocks, scalars and pointers, with values made of the old ones."""
    b = Tiles()
    inputs, out = [pointer(f"x{i}", f32) for i in range(3)], pointer("out", f32)
    numbers, n = pointer("numbers", i32), parameter("n", i32)
    place = b.index(shape)
    blocks = [b.load(p, place) for p in inputs]
    scalars = [b.constant(1, i32), b.constant(1, i32)]

    def body(b: Builder, i: Value, *carried: Value) -> Sequence[Value]:
        x, y, z, k, m, p, q = carried
        sum_ = b.add(ops.Add, lhs=x, rhs=b.splat(b.cast(k, f32), shape))
        return [y, z, sum_, m, b.add(ops.Add, lhs=k, rhs=m), q, p]

    done = loop(b, 0, n, 1, [*blocks, *scalars, inputs[0], inputs[1]], body)
    size = int(np.prod(shape))
    for number, value in enumerate(done[:3]):
        b.store(b.add(ops.AddPtr, pointer=out, offset=b.constant(number * size, i32)), place, value)
    for number, value in enumerate(done[3:5]):
        b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=numbers, offset=b.constant(number, i32)), value=value))
    b.store(b.add(ops.AddPtr, pointer=out, offset=b.constant(3 * size, i32)), place, b.load(done[5], place))
    info = {p.id: ParamInfo(True) for p in (*inputs, out, numbers)}
    func = b.finish(f"rotation_{'x'.join(map(str, shape))}_{trips}", (*inputs, out, numbers, n), info)
    arrays = [np.arange(size, dtype=np.float32) + 1000 * i for i in range(3)]
    return Case(func, (*arrays, np.zeros(4 * size, np.float32), np.zeros(2, np.int32), trips))


def old_and_new(trips: int) -> Case:
    """A carried block whose old value is still needed when the new one is there: `s, t = s + t, s`, and one that a
    store in the middle of the trip still reads."""
    b, shape = Tiles(), (512,)
    x, out, n = pointer("x", i32), pointer("out", i32), parameter("n", i32)
    place = b.index(shape)
    first = b.load(x, place)

    def body(b: Builder, i: Value, s: Value, t: Value) -> Sequence[Value]:
        total = b.add(ops.Add, lhs=s, rhs=t)
        to = b.add(ops.AddPtr, pointer=out, offset=b.add(ops.Mul, lhs=i, rhs=b.constant(512, i32)))
        product = b.add(ops.Mul, lhs=total, rhs=s)
        b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=b.splat(to, shape), offset=place), value=product))
        return [total, s]

    s, t = loop(b, 0, n, 1, [first, b.constant(1, i32, shape)], body)
    last = b.add(ops.AddPtr, pointer=out, offset=b.add(ops.Mul, lhs=n, rhs=b.constant(512, i32)))
    b.store(last, place, b.binary(ops.Sub, s, t))
    func = b.finish(f"old_and_new_{trips}", (x, out, n), {p.id: ParamInfo(True) for p in (x, out)})
    return Case(func, (np.arange(512, dtype=np.int32), np.zeros(512 * (trips + 1), np.int32), trips))


def collatz() -> Case:
    """Trips that the data decides: `while n != 1: n = n // 2 if n % 2 == 0 else 3 * n + 1`, one number a program."""
    b = Builder()
    x, out = pointer("x", i64), pointer("out", i32)
    pid = b.add(ops.ProgramId, axis=0)
    start = b.add(ops.Load, pointer=b.add(ops.AddPtr, pointer=x, offset=pid))
    one, two, three = (b.constant(n, i64) for n in (1, 2, 3))

    def condition(b: Builder, n: Value, count: Value) -> Sequence[Value]:
        return [b.add(ops.CmpNe, lhs=n, rhs=one)]

    def body(b: Builder, n: Value, count: Value) -> Sequence[Value]:
        even = b.add(ops.CmpEq, lhs=b.add(ops.Mod, lhs=n, rhs=two), rhs=b.constant(0, i64))
        (next_,) = branch(
            b,
            even,
            lambda b: [b.add(ops.FloorDiv, lhs=n, rhs=two)],
            lambda b: [b.add(ops.Add, lhs=b.add(ops.Mul, lhs=n, rhs=three), rhs=one)],
        )
        return [next_, b.add(ops.Add, lhs=count, rhs=b.constant(1, i32))]

    _, count = while_loop(b, [start, b.constant(0, i32)], condition, body)
    b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=out, offset=pid), value=count))
    numbers = np.array([1, 2, 3, 7, 27, 97, 871, 2**40 + 1])
    return Case(b.finish("collatz", (x, out)), (numbers, np.zeros(8, np.int32)), (8, 1, 1))


def choices(shape: tuple[int, ...]) -> Case:
    """`if`s with and without `else`, in each other, whose results are blocks, scalars and pointers."""
    b = Tiles()
    x, y, out, n = pointer("x", f32), pointer("y", f32), pointer("out", f32), parameter("n", i32)
    place = b.index(shape)
    value = b.load(x, place)
    pid = b.add(ops.ProgramId, axis=0)

    def is_(b: Builder, k: int) -> Value:
        return b.add(ops.CmpEq, lhs=b.add(ops.Add, lhs=pid, rhs=n), rhs=b.constant(k, i32))

    def inner(b: Builder) -> Sequence[Value]:
        return branch(
            b,
            is_(b, 1),
            lambda b: [b.add(ops.Neg, source=value), y, b.constant(7, i32)],
            lambda b: [b.add(ops.Mul, lhs=value, rhs=value), x, n],
        )

    chosen, source, number = branch(b, is_(b, 0), lambda b: [value, y, n], inner)

    def write(b: Builder) -> Sequence[Value]:
        total = b.add(ops.Add, lhs=chosen, rhs=b.splat(b.cast(number, f32), shape))
        to = b.add(ops.AddPtr, pointer=out, offset=b.add(ops.Mul, lhs=pid, rhs=b.constant(int(np.prod(shape)), i32)))
        at = b.add(ops.AddPtr, pointer=b.splat(source, shape), offset=place)
        sum_ = b.add(ops.Add, lhs=total, rhs=b.add(ops.Load, pointer=at))
        b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=b.splat(to, shape), offset=place), value=sum_))
        return []

    branch(b, b.add(ops.CmpNe, lhs=pid, rhs=b.constant(3, i32)), write)
    func = b.finish(
        f"choices_{'x'.join(map(str, shape))}", (x, y, out, n), {p.id: ParamInfo(True) for p in (x, y, out)}
    )
    size = int(np.prod(shape))
    arrays = np.arange(size, dtype=np.float32), np.arange(size, dtype=np.float32) * 100
    return Case(func, (*arrays, np.zeros(4 * size, np.float32), 0), (4, 1, 1))


def nested(rows: int) -> Case:
    """Sums of rows in a loop in a loop, with pointers that move on: `p += 1; q += n`."""
    b = Builder()
    x, out, m, n = pointer("x", f32), pointer("out", f32), parameter("m", i32), parameter("n", i32)

    def row(b: Builder, i: Value, p: Value, to: Value) -> Sequence[Value]:
        def element(b: Builder, j: Value, q: Value, total: Value) -> Sequence[Value]:
            more = b.add(ops.Add, lhs=total, rhs=b.add(ops.Load, pointer=q))
            return [b.add(ops.AddPtr, pointer=q, offset=b.constant(1, i32)), more]

        last, total = loop(b, 0, n, 1, [p, b.constant(0.0, f32)], element)
        b.append(ops.Store(pointer=to, value=total))
        return [last, b.add(ops.AddPtr, pointer=to, offset=b.constant(1, i32))]

    loop(b, 0, m, 1, [x, out], row)
    func = b.finish(f"nested_{rows}", (x, out, m, n))
    return Case(func, (np.arange(rows * 7, dtype=np.float32), np.zeros(rows, np.float32), rows, 7))


def long_sum(size: int, block: int, step: int = 1) -> Case:
    """The loop of every row kernel: blocks of a long array added up, then reduced; the mask cuts the last one."""
    b = Tiles()
    x, out, n = pointer("x", f32), pointer("out", f32), parameter("n", i32)
    lanes = b.index((block,))

    def body(b: Builder, start: Value, total: Value) -> Sequence[Value]:
        offs = b.add(ops.Add, lhs=b.splat(start, (block,)), rhs=lanes)
        mask = b.add(ops.CmpLt, lhs=offs, rhs=b.splat(n, (block,)))
        at = b.add(ops.AddPtr, pointer=b.splat(x, (block,)), offset=offs)
        return [b.add(ops.Add, lhs=total, rhs=b.add(ops.Load, pointer=at, mask=mask))]

    (total,) = loop(b, 0, n, block, [b.constant(0.0, f32, (block,))], body)
    b.append(ops.Store(pointer=out, value=b.reduce(total, 0)))
    info = {"x": ParamInfo(True), "out": ParamInfo(True), "n": ParamInfo(size % 16 == 0)}
    func = b.finish(f"long_sum_{size}_{block}", (x, out, n), info)
    values = np.random.default_rng(size).integers(-4, 5, size).astype(np.float32)
    return Case(func, (values, np.zeros(1, np.float32), size))


def carried_types() -> Case:
    """A block of every type carried through a loop that swaps it with its neighbour of the same type."""
    b, shape = Tiles(), (128,)
    types = (i1, *INTEGERS, *FLOATS)
    inputs, outputs = [pointer(f"x{t}", t) for t in types], [pointer(f"o{t}", t) for t in types]
    n, place = parameter("n", i32), b.index(shape)
    blocks = [b.load(p, place) for p in inputs]
    others = [b.constant(False if t == i1 else 1.0 if t.kind == "float" else 1, t, shape) for t in types]

    def body(b: Builder, i: Value, *carried: Value) -> Sequence[Value]:
        half = len(carried) // 2
        return [*carried[half:], *carried[:half]]

    done = loop(b, 0, n, 1, [*blocks, *others], body)
    for out, value in zip(outputs, done, strict=False):
        b.store(out, place, value)
    func = b.finish("carried_types", (*inputs, *outputs, n))
    arrays = [edges(t, 128, 5) for t in types]
    return Case(func, (*arrays, *(np.zeros(128, DTYPES[t]) for t in types), 6))


def bit_casts() -> Case:
    """Every number as another of its width, and memory through a pointer of another type."""
    b, shape = Tiles(), (64,)
    pairs = [(s, t) for s in (*INTEGERS, *FLOATS) for t in (*INTEGERS, *FLOATS) if s.bits == t.bits and s != t]
    inputs = [pointer(f"x{n}", s) for n, (s, _) in enumerate(pairs)]
    outputs = [pointer(f"o{n}", t) for n, (_, t) in enumerate(pairs)]
    place = b.index(shape)
    for x, out, (_, to) in zip(inputs, outputs, pairs, strict=True):
        b.store(out, place, b.add(ops.Bitcast, source=b.load(x, place), to=to))
    words, bytes_ = pointer("words", u32), pointer("bytes", u64)
    as_words = b.add(ops.Bitcast, source=bytes_, to=PointerType(u32))
    b.store(words, b.index((128,)), b.load(as_words, b.index((128,))))
    func = b.finish("bit_casts", (*inputs, *outputs, words, bytes_))
    arrays = [edges(s, 64, 9) for s, _ in pairs]
    results = [np.zeros(64, DTYPES[t]) for _, t in pairs]
    return Case(func, (*arrays, *results, np.zeros(128, np.uint32), edges(u64, 64)))


def hinted(element: ScalarType, block: int) -> Case:
    """Loads and stores with every hint for the cache, masked and not."""
    b, shape = Tiles(), (block,)
    x, n = pointer("x", element), parameter("n", i32)
    hints = [
        (load, store) for load, store in zip(("", "ca", "cg", "cv", "cs"), ("wb", "cg", "cs", "wt", ""), strict=True)
    ]
    outputs = [pointer(f"out{i}", element) for i in range(2 * len(hints) + 1)]
    place = b.index(shape)
    mask = b.binary(ops.CmpLt, place, b.splat(n, shape))  # type: ignore[type-var]
    for number, (load, store) in enumerate(hints):
        for masked in (False, True):
            where = mask if masked else None
            value = b.add(ops.Load, pointer=b.at(x, place), mask=where, cache=load, eviction="evict_first")
            to = b.at(outputs[2 * number + masked], place)
            b.append(ops.Store(pointer=to, value=value, mask=where, cache=store, eviction="evict_last"))
    value = b.add(ops.Load, pointer=b.at(x, place), volatile=True)
    b.store(outputs[-1], place, value)
    func = b.finish(f"hinted_{element}_{block}", (x, *outputs, n), {p.id: ParamInfo(True) for p in (x, *outputs)})
    results = [np.zeros(block, DTYPES[element]) for _ in outputs]
    return Case(func, (edges(element, block), *results, block - 3))


def control_cases() -> list[Case]:
    """All of them; what they do depends on the number of warps only where blocks are carried."""
    cases = [counting(element, known) for element in INTEGERS for known in (True, False)]
    cases += [rotation(shape, trips) for shape in ((1,), (256,), (32, 32)) for trips in (0, 1, 4)]
    cases += [old_and_new(trips) for trips in (0, 1, 5)] + [choices(s) for s in ((4,), (1024,), (16, 16))]
    cases += [nested(0), nested(5), *(long_sum(n, k) for n, k in ((0, 64), (1000, 256), (4096, 1024), (70, 8)))]
    cases += [hinted(e, 1024) for e in (i1, f32, FLOATS[0], i64)] + [hinted(f32, 16)]
    return [*cases, collatz(), carried_types(), bit_casts()]
