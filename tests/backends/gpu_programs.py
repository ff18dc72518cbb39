"""Kernels with loops, branches, reductions and conversions, for the tests of emitted gpu-dialect MLIR."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import parameter
from mytriton.ir.core import Func, Value
from mytriton.layout.assign import lay_out
from mytriton.layout.layout import Layout, replicated
from mytriton.layout.ops import Convert
from mytriton.layout.program import Exchange, LaidOut, Segment
from mytriton.layout.routes import through
from mytriton.target import Target
from mytriton.types import ScalarType, bf16, f16, f32, f64, i1, i8, i32, i64, u8, u32, u64
from tests.ir.kernels import pointer
from tests.layout.tiles import Tiles, matmul, reduction, softmax


def zeros(size: int, element: ScalarType = i32) -> Any:
    return np.zeros(size, DTYPES[element])


def rotation(size: int, order: Sequence[int]) -> Func:
    """`for _ in range(n): x, y, z = (x, y, z)[order...]`, and a fourth value that counts, of a tile of `size`."""
    b, n = Tiles(), parameter("n", i32)
    arrays = [pointer(name, i32) for name in "xyz"]
    place = b.index((size,))
    loaded = [b.load(array, place) for array in arrays]

    def body(b: Tiles, i: Value, carried: list[Value]) -> list[Value]:
        more = b.binary(ops.Add, carried[3], carried[order[0]])
        return [*(carried[source] for source in order), more]

    *turned, total = b.loop(n, [*loaded, b.constant(0, i32, (size,))], body)
    for array, value in zip(arrays, turned, strict=True):
        b.store(array, place, value)
    out = pointer("out", i32)
    b.store(out, place, total)
    return b.finish("rotation", (*arrays, out, n))


def range_sums(element: ScalarType, ranges: Sequence[Sequence[int | None]]) -> Func:
    """How often each loop runs and the sum of its variable. Bounds that are None are read from an array, in order."""
    b, out, given = Tiles(), pointer("out", element), pointer("given", element)

    def at(base: Value, place: int) -> Value:
        return b.add(ops.AddPtr, pointer=base, offset=b.constant(place, i32))

    places, stores = itertools.count(), itertools.count()
    one, zero = b.constant(1, element), b.constant(0, element)
    for bounds in ranges:
        lower, upper, step = (
            b.add(ops.Load, pointer=at(given, next(places))) if n is None else b.constant(n, element) for n in bounds
        )
        i, count, total = b.params([element] * 3)
        carried = [i, count, total]
        sums = b.region(carried, lambda b, c=carried: [b.binary(ops.Add, c[1], one), b.binary(ops.Add, c[2], c[0])])
        loop = ops.For(lower=lower, upper=upper, step=step, initial=(zero, zero), body=sums)
        for value in b.append(loop).results:
            b.append(ops.Store(pointer=at(out, next(stores)), value=value))
    return b.finish("range_sums", (out, given))


def ranges_of(element: ScalarType) -> list[tuple[int, int, int]]:
    """Bounds and steps at the ends of a type."""
    low, high = element.low, element.high
    big = high // 3
    found = [(0, 10, 1), (0, 10, 3), (7, 7, 1), (9, 2, 2), (high - 5, high, 1), (high - 5, high, 4)]
    found += [(high - 7, high, 5), (low, high, big), (low, low + 3, 2), (0, high, high), (high, low, 1)]
    if element.signed:
        found += [(10, 0, -1), (10, -11, -4), (low + 5, low, -1), (low + 5, low, -4), (high, low, -big), (3, 3, -1)]
        found += [(0, low, low), (high, low, low), (0, 5, -1)]
    return [r for r in found if all(low <= n <= high for n in r)]


def collatz(size: int) -> Func:
    """`while n > 1 and steps < limit`, with a tile that grows in every other step, under an `if` in the loop."""
    b, x, out = Tiles(), pointer("x", i32), pointer("out", i32)
    n, limit = parameter("n", i32), parameter("limit", i32)
    place = b.index((size,))

    def condition(b: Tiles, carried: list[Value]) -> Value:
        more = b.add(ops.CmpGt, lhs=carried[0], rhs=b.constant(1, i32))
        return b.binary(ops.And, more, b.add(ops.CmpLt, lhs=carried[1], rhs=limit))

    def body(b: Tiles, carried: list[Value]) -> list[Value]:
        value, steps, tile, spare = carried
        odd = b.add(ops.CmpEq, lhs=b.binary(ops.And, value, b.constant(1, i32)), rhs=b.constant(1, i32))

        def up(b: Tiles) -> list[Value]:
            three = b.binary(ops.Mul, value, b.constant(3, i32))
            grown = b.binary(ops.Add, tile, b.splat(steps, (size,)))
            return [b.binary(ops.Add, three, b.constant(1, i32)), grown, tile]

        def down(b: Tiles) -> list[Value]:
            return [b.binary(ops.Shr, value, b.constant(1, i32)), spare, b.binary(ops.Add, tile, spare)]

        value, tile, spare = b.branch(odd, up, down)
        return [value, b.binary(ops.Add, steps, b.constant(1, i32)), tile, spare]

    first = [n, b.constant(0, i32), b.load(x, place), b.constant(1, i32, (size,))]
    _, steps, tile, spare = b.repeat(first, condition, body)
    total = b.binary(ops.Add, b.binary(ops.Add, tile, spare), b.splat(steps, (size,)))
    b.store(out, place, total)
    return b.finish("collatz", (x, out, n, limit))


def pointers(size: int) -> Func:
    """Walks through an array with a pointer and with a block of pointers, both carried."""
    b, x, out, n = Tiles(), pointer("x", f32), pointer("out", f32), parameter("n", i32)
    place = b.index((size,))

    def body(b: Tiles, i: Value, carried: list[Value]) -> list[Value]:
        at, block, total = carried
        first = b.add(ops.Load, pointer=at)
        total = b.binary(ops.Add, total, b.binary(ops.Mul, b.add(ops.Load, pointer=block), b.splat(first, (size,))))
        at = b.add(ops.AddPtr, pointer=at, offset=b.constant(1, i32))
        return [at, b.add(ops.AddPtr, pointer=block, offset=b.constant(size, i32, (size,))), total]

    _, _, total = b.loop(n, [x, b.at(x, place), b.constant(0.0, f32, (size,))], body)
    b.store(out, place, total)
    return b.finish("pointers", (x, out, n))


def printed(shape: tuple[int, ...], element: ScalarType) -> Func:
    b, x = Tiles(), pointer("x", element)
    value = b.load(x, b.index(shape)) if shape else b.add(ops.Load, pointer=x)
    b.append(ops.Print(values=(value,), prefix='50% "a\\b"'))
    return b.finish("printed", (x,))


COMBINE = [
    *(("add", element) for element in (i32, i64, u64)),
    *(("mul", element) for element in (i8, i32)),
    *((combine, element) for combine in ("maximum", "minimum") for element in (i8, u8, u32, i64, f16, bf16, f32, f64)),
    *((combine, element) for combine in ("maximum_nan", "minimum_nan") for element in (f16, f32, f64)),
    *((combine, element) for combine in ("and", "or", "xor") for element in (i1, i8, u32, i64)),
]


def conversion(have: Layout, want: Layout, element: ScalarType, num_warps: int, of_pointers: bool = False) -> LaidOut:
    """`out[i] = x[i]`, loaded in one layout and stored in another; by hand, since the layout step avoids it. With
    `of_pointers`, the addresses are converted and the elements loaded in the other layout."""
    b, x, out = Tiles(), pointer("x", element), pointer("out", element)

    def offsets(base: Value) -> Value:
        lanes = b.add(ops.Arange, start=0, end=have.size)
        return b.add(ops.AddPtr, pointer=b.splat(base, (have.size,)), offset=lanes)

    here = offsets(x) if of_pointers else b.add(ops.Load, pointer=offsets(x))
    first = tuple(b.ops)
    converted = b.append(Convert(source=here, through=through(have, want)))
    count = len(b.ops)
    value = b.add(ops.Load, pointer=converted.result) if of_pointers else converted.result
    b.append(ops.Store(pointer=offsets(out), value=value))
    second = tuple(b.ops[count:])
    func = b.finish("conversion", (x, out))
    layouts = {p: replicated(num_warps) for p in func.params}
    layouts |= {v: have for op in first for v in op.results} | {v: want for op in second for v in op.results}
    layouts[converted.result] = want
    items = (Segment(have, first, (here,)), Exchange(converted), Segment(want, second))
    return LaidOut(func, layouts, items, num_warps)


def spread(bits: str) -> Layout:
    """A layout for 2 warps that gives the position bits, from the lowest on, to registers `r`, lanes `l` and warps
    `w`; lanes and warps that get none hold copies."""
    entries: dict[str, list[int]] = {"r": [], "l": [], "w": []}
    for bit, kind in enumerate(bits):
        entries[kind].append(1 << bit)
    lanes, warps = (entries[kind] + [0] * (n - len(entries[kind])) for kind, n in (("l", 5), ("w", 1)))
    return Layout((1 << len(bits),), tuple(entries["r"]), tuple(lanes), tuple(warps))


LANES = (1, 2, 4, 8, 16)


CONVERSIONS = [
    (Layout((128,), (32,), LANES, (64,)), Layout((128,), (32,), LANES[::-1], (64,)), "shuffle"),
    (Layout((32,), (), LANES, (0,)), Layout((32,), (4, 8, 16), (1, 2, 0, 0, 0), (0,)), "shuffle"),
    (Layout((32,), (), LANES, (0,)), Layout((32,), (16, 2), (8, 0, 4, 0, 0), (1,)), "shuffle"),
    (Layout((128,), (32, 64), LANES, (0,)), Layout((128,), (64, 32), LANES, (0,)), "registers"),
    (Layout((8,), (1, 2, 4), (0,) * 5, (0,)), Layout((8,), (4, 1, 2), (0,) * 5, (0,)), "registers"),
    (spread("rlllllw"), spread("lllllwr"), "shared"),
    (spread("rrlllllw"), spread("wlllllrr"), "shared"),
    (spread("llr"), spread("rll"), "shared"),
    (spread("rrr"), spread("wll"), "shared"),
]


def programs(target: Target) -> list[LaidOut]:
    """One of each kind, under names of their own."""
    funcs = [rotation(1024, (1, 2, 0)), collatz(2048), pointers(512), softmax((8, 256), 1), softmax((64, 8), 0)]
    funcs += [matmul(32, 64, 5), range_sums(i64, [(None, None, None), (0, None, 3)]), printed((2, 64), f16)]
    funcs += [reduction((512,), 0, combine, element) for combine, element in COMBINE]
    laid_out = [lay_out(func, target) for func in funcs]
    laid_out += [conversion(have, want, e, 2) for have, want, _ in CONVERSIONS for e in (i1, bf16, i32, f64)]
    renamed = [replace(program.func, name=f"kernel{i}") for i, program in enumerate(laid_out)]
    return [replace(program, func=func) for program, func in zip(laid_out, renamed, strict=True)]
