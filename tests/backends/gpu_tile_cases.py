"""Kernels of `gpu_cases` about tiles: shapes, broadcasting, transposition, conversions and reductions.

Floats are small whole numbers where they are added or multiplied, so that every order of a reduction gives the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.core import ParamInfo, Value
from mytriton.types import FLOATS, INTEGERS, ScalarType, f16, f32, f64, i1, i8, i16, i32, i64, shape_of, u8
from tests.backends.gpu_case import NUMBERS, Case, edges
from tests.ir.kernels import pointer
from tests.layout.tiles import Tiles, matmul, softmax


def finish(b: Tiles, name: str, params: Sequence[Value], args: Sequence[Any], ulp: int = 0) -> Case:
    """A case of one program whose arrays are aligned."""
    info = {p.id: ParamInfo(True) for p in params}
    return Case(b.finish(name, tuple(params), info), tuple(args), ulp=ulp)


def store_all(b: Tiles, out: Value, value: Value) -> None:
    """Store a block, or a scalar, from the pointer on."""
    if shape_of(value.type):
        b.store(out, b.index(shape_of(value.type)), value)
    else:
        b.append(ops.Store(pointer=out, value=value))


# --- reductions -------------------------------------------------------------------------------------------------------


def _numbers(element: ScalarType, combine: str, size: int) -> Any:
    rng = np.random.default_rng(size)
    dtype = DTYPES[element]
    if element == i1:
        return rng.random(size) < {"and": 0.97, "or": 0.03, "xor": 0.5}[combine]
    if combine == "add":
        return rng.integers(-2 if element.signed else 0, 3, size).astype(dtype)
    if combine == "mul":
        return rng.choice([1, 1, 1, -1 if element.signed else 1, 3 if element.kind == "int" else 1], size).astype(dtype)
    special = edges(element, min(size, 16))
    numbers = (
        rng.standard_normal(size).astype(dtype) if element.kind == "float" else np.resize(edges(element, 64), size)
    )
    numbers[rng.permutation(size)[: len(special) // 2]] = special[: len(special) // 2]
    return numbers


def reduced(element: ScalarType, combine: str, shape: tuple[int, ...], axis: int) -> Case:
    b, x, out = Tiles(), pointer("x", element), pointer("out", element)
    result = b.reduce(b.load(x, b.index(shape)), axis, combine)
    store_all(b, out, result)
    size = prod(shape_of(result.type))
    name = f"{combine}_{element}_{'x'.join(map(str, shape))}_{axis}"
    arrays = _numbers(element, combine, prod(shape)), np.zeros(size, DTYPES[element])
    return finish(b, name, (x, out), arrays)


def exact_sum(size: int) -> Case:
    """A sum of many fractions, which a serial order would round over and over: compared with the tree's, bit by bit
    up to a few units."""
    b, x, out = Tiles(), pointer("x", f32), pointer("out", f32)
    store_all(b, out, b.reduce(b.load(x, b.index((size,))), 0))
    values = np.random.default_rng(1).random(size).astype(np.float32)
    return finish(b, f"fractions_{size}", (x, out), (values, np.zeros(1, np.float32)), ulp=4)


def reductions() -> list[Case]:
    """Every way of combining on every type, along every axis of a few shapes."""
    shapes = itertools.cycle([((1024,), 0), ((16, 64), 1), ((64, 16), 0), ((4, 8, 32), 1), ((2, 16, 4), 0)])
    combines: list[tuple[str, tuple[ScalarType, ...]]] = [
        *((c, NUMBERS) for c in ("add", "mul", "maximum", "minimum")),
        *((c, FLOATS) for c in ("maximum_nan", "minimum_nan")),
        *((c, (i1, *INTEGERS)) for c in ("and", "or", "xor")),
    ]
    return [reduced(element, combine, *next(shapes)) for combine, elements in combines for element in elements]


def reduction_shapes(largest: int) -> list[Case]:
    """Sizes from one element on, along every axis."""
    cases = [reduced(i32, "add", (1 << n,), 0) for n in range(largest.bit_length())]
    for shape in ((1, 8), (8, 1), (2, 256), (256, 2), (64, 64), (8, 4, 2), (1, 1, 32), (16, 16, 16), (512, 64)):
        cases += [reduced(i32, "xor", shape, axis) for axis in range(len(shape)) if prod(shape) <= largest]
    # More registers across warps than the buffer in shared memory holds.
    cases += [reduced(f64, "add", (2, 8192), 0)] if largest >= 8192 else []
    return [*cases, *(exact_sum(n) for n in (512, largest))]


# --- shapes -----------------------------------------------------------------------------------------------------------


def transposed(element: ScalarType, shape: tuple[int, ...], order: tuple[int, ...]) -> Case:
    b, x, out = Tiles(), pointer("x", element), pointer("out", element)
    value = b.add(ops.Transpose, source=b.load(x, b.index(shape)), order=order)
    # Stored as it is and, through an operation of both, beside what was not transposed.
    store_all(b, out, value)
    if shape_of(value.type) == shape and element == i32:
        both = b.binary(ops.Sub, value, b.load(x, b.index(shape)))
        b.store(b.add(ops.AddPtr, pointer=out, offset=b.constant(prod(shape), i32)), b.index(shape), both)
    name = f"transposed_{element}_{'x'.join(map(str, shape))}_{''.join(map(str, order))}"
    arrays = np.resize(edges(element, 100), prod(shape)), np.zeros(2 * prod(shape), DTYPES[element])
    return finish(b, name, (x, out), arrays)


def broadcast(shape: tuple[int, ...]) -> Case:
    """The sum of one vector for each axis, each along its own."""
    b, out = Tiles(), pointer("out", f32)
    inputs = [pointer(f"x{axis}", f32) for axis in range(len(shape))]
    total = None
    for axis, extent in enumerate(shape):
        ones = tuple(extent if i == axis else 1 for i in range(len(shape)))
        row = b.broadcast(b.shaped(b.load(inputs[axis], b.add(ops.Arange, start=0, end=extent)), ones), shape)
        total = row if total is None else b.binary(ops.Add, total, row)
    assert total is not None
    store_all(b, out, total)
    arrays = [np.arange(n, dtype=np.float32) * 10.0 ** (3 * i) for i, n in enumerate(shape)]
    name = f"broadcast_{'x'.join(map(str, shape))}"
    return finish(b, name, (*inputs, out), (*arrays, np.zeros(prod(shape), np.float32)))


def reshaped(shapes: Sequence[tuple[int, ...]]) -> Case:
    """Through several shapes, with something that depends on the place in each."""
    b, x, out = Tiles(), pointer("x", i64), pointer("out", i64)
    value = b.load(x, b.index(shapes[0]))
    for number, shape in enumerate(shapes):
        value = b.shaped(value, shape)
        rows = b.broadcast(
            b.shaped(b.add(ops.Arange, start=0, end=shape[0]), (shape[0], *[1] * (len(shape) - 1))), shape
        )
        scaled = b.binary(ops.Mul, b.cast(rows, i64), b.constant(1000 + number, i64, shape))
        value = b.binary(ops.Add, value, scaled)
    store_all(b, out, value)
    size = prod(shapes[0])
    name = "reshaped_" + "_".join("x".join(map(str, s)) for s in shapes)
    return finish(b, name, (x, out), (np.arange(size), np.zeros(size, np.int64)))


def means(rows: int, columns: int, element: ScalarType) -> Case:
    """Rows less their mean and columns less theirs: what is reduced along one axis is used along both."""
    b, x, out = Tiles(), pointer("x", element), pointer("out", element)
    shape = (rows, columns)
    tile = b.cast(b.load(x, b.index(shape)), f32)
    for axis in (1, 0):
        count = b.constant(float(shape[axis]), f32, shape)
        tile = b.binary(ops.Sub, tile, b.binary(ops.Div, b.keep(b.reduce(tile, axis), axis, shape), count))
    store_all(b, out, b.cast(tile, element))
    values = np.random.default_rng(rows).integers(-8, 9, rows * columns).astype(DTYPES[element])
    return finish(b, f"means_{rows}x{columns}_{element}", (x, out), (values, np.zeros_like(values)))


def softmax_case(shape: tuple[int, ...], axis: int) -> Case:
    func = softmax(shape, axis)
    values = np.random.default_rng(3).standard_normal(prod(shape)).astype(np.float32)
    name = f"softmax_{'x'.join(map(str, shape))}_{axis}"
    renamed = type(func)(name, func.body, func.info, func.span, func.next_value, func.next_inline)
    return Case(renamed, (values, np.zeros_like(values)), ulp=64)


def matmul_case(m: int, n: int, k: int) -> Case:
    func = matmul(m, n, k)
    rng = np.random.default_rng(m)
    a, b = rng.integers(-4, 5, m * k).astype(np.float32), rng.integers(-4, 5, k * n).astype(np.float32)
    renamed = type(func)(f"matmul_{m}x{n}x{k}", func.body, func.info, func.span, func.next_value, func.next_inline)
    return Case(renamed, (a, b, np.zeros(m * n, np.float32), k))


def shape_cases() -> list[Case]:
    """Every way of looking at a block, and of moving it between threads."""
    square = [transposed(e, (32, 64), (1, 0)) for e in (i1, i8, i16, i32, i64, f16, u8, f64)]
    square += [transposed(i32, (n, n), (1, 0)) for n in (1, 2, 16, 64, 128)] + [transposed(f64, (128, 128), (1, 0))]
    cubes = [transposed(i32, (4, 8, 16), order) for order in itertools.permutations(range(3))]
    flat = [broadcast(s) for s in ((8,), (16, 32), (128, 2), (1, 64), (4, 8, 16), (64, 64))]
    views = [
        reshaped(s) for s in ([(64,), (8, 8), (2, 4, 8), (64,)], [(1024, 2), (2, 1024), (2048,)], [(1,), (1, 1), (1,)])
    ]
    mixed = [means(m, n, e) for (m, n), e in itertools.product([(4, 8), (32, 64), (128, 16)], (f32, f16))]
    sums = [softmax_case((8, 128), 1), softmax_case((64, 32), 0), softmax_case((1, 2048), 1)]
    return [*square, *cubes, *flat, *views, *mixed, *sums, matmul_case(16, 16, 8), matmul_case(64, 32, 4)]


def tile_cases(largest: int = 8192) -> list[Case]:
    """What depends on the number of warps."""
    return [*reduction_shapes(largest), *shape_cases()]
