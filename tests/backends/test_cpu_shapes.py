"""Shapes and reductions on the cpu backend, against NumPy and, to the last bit, against the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
import pytest

from mytriton.backends.cpu.emit import emit
from mytriton.backends.mlir.run import mlir_available
from mytriton.ir import ops
from mytriton.ir.arithmetic import DTYPES
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Func, Value
from mytriton.target import Target
from mytriton.types import SCALARS, ScalarType, f16, f32, f64, i1, i32, i64, shape_of
from tests.backends.cpu_support import agree, at, compilation, edge_values, launcher, run
from tests.ir.kernels import pointer

pytestmark = pytest.mark.skipif(mlir_available() is not None, reason=str(mlir_available()))

RNG = np.random.default_rng(11)


def positions(b: Builder, shape: tuple[int, ...]) -> Value:
    """The row-major positions in a block."""
    return b.add(ops.Reshape, source=b.add(ops.Arange, start=0, end=prod(shape)), shape=shape)


Compute = Callable[[Builder, Value], Value]


def mapped(shape: tuple[int, ...], element: ScalarType, *computations: Compute) -> Func:
    """Loads a block, row-major, and stores what is computed from it, one after the other, row-major."""
    b = Builder()
    x, out = pointer("x", element), pointer("out", element)
    loaded = b.add(ops.Load, pointer=at(b, x, positions(b, shape)))
    start = 0
    for compute in computations:
        result = compute(b, loaded)
        new = shape_of(result.type)
        place = b.add(ops.AddPtr, pointer=out, offset=b.constant(start, i32))
        b.append(ops.Store(pointer=at(b, place, positions(b, new)) if new else place, value=result))
        start += prod(new)
    return b.finish("mapped", (x, out))


def results(func: Func, data: Any, shapes: list[tuple[int, ...]]) -> list[Any]:
    """What a `mapped` function stores, as arrays of the shapes; the same as in the interpreter."""
    sizes = [prod(s) for s in shapes]
    out = agree(func, [data, np.zeros(sum(sizes), data.dtype)])[1]
    return [part.reshape(s) for part, s in zip(np.split(out, np.cumsum(sizes)[:-1]), shapes, strict=True)]


SHAPES = [(1,), (64,), (1, 1), (1, 64), (64, 1), (4, 4), (8, 32), (1, 2, 4), (2, 4, 8), (16, 1, 4), (2, 2, 64)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_transpositions(shape: tuple[int, ...]) -> None:
    data = RNG.integers(0, 100, shape, dtype=np.int32)
    orders = {1: [(0,)], 2: [(0, 1), (1, 0)], 3: [(0, 2, 1), (1, 2, 0), (2, 1, 0)]}[len(shape)]
    func = mapped(shape, i32, *(lambda b, x, o=o: b.add(ops.Transpose, source=x, order=o) for o in orders))
    for order, result in zip(orders, results(func, data, [data.transpose(o).shape for o in orders]), strict=True):
        np.testing.assert_array_equal(result, data.transpose(order))


@pytest.mark.parametrize("shape", [s for s in SHAPES if 1 in s], ids=str)
def test_broadcasts(shape: tuple[int, ...]) -> None:
    data = RNG.integers(0, 100, shape, dtype=np.int32)
    wider = [tuple(extent if n == 1 else n for n in shape) for extent in (2, 8, 64)]
    func = mapped(shape, i32, *(lambda b, x, w=w: b.add(ops.Broadcast, source=x, shape=w) for w in wider))
    for wide, result in zip(wider, results(func, data, wider), strict=True):
        np.testing.assert_array_equal(result, np.broadcast_to(data, wide))


@pytest.mark.parametrize("element", SCALARS.values(), ids=str)
def test_every_type_is_kept_and_spread(element: ScalarType) -> None:
    """`x[:, None]` and `x[None, :]`, transposed and chosen from by a mask of one of each."""
    b = Builder()
    x, out = pointer("x", element), pointer("out", element)
    row = b.add(ops.Load, pointer=at(b, x, b.add(ops.Arange, start=0, end=32)))
    down, along = (b.add(ops.Reshape, source=row, shape=s) for s in ((32, 1), (1, 32)))
    down, along = (b.add(ops.Broadcast, source=v, shape=(32, 32)) for v in (down, along))
    places = positions(b, (32, 32))
    odd = b.add(
        ops.CmpEq, lhs=b.add(ops.And, lhs=places, rhs=b.constant(5, i32, (32, 32))), rhs=b.constant(1, i32, (32, 32))
    )
    chosen = b.add(ops.Select, condition=odd, if_true=down, if_false=along)
    turned = b.add(ops.Transpose, source=chosen, order=(1, 0))
    b.append(ops.Store(pointer=at(b, out, places), value=turned))
    func = b.finish("k", (x, out))
    data = RNG.permutation(32).astype(DTYPES[element])
    result = agree(func, [data, np.zeros((32, 32), DTYPES[element])])[1]
    expected = np.where(np.arange(1024).reshape(32, 32) & 5 == 1, data[:, None], data[None, :]).T
    np.testing.assert_array_equal(result, expected)


def test_pointers_are_spread() -> None:
    """A block of pointers, selected between two arrays, kept and broadcast; what it points to is loaded."""
    b = Builder()
    x, y, flag, out = pointer("x", f32), pointer("y", f32), pointer("flag", i1), pointer("out", f32)
    lanes = b.add(ops.Arange, start=0, end=16)
    flags = b.add(ops.Load, pointer=at(b, flag, lanes))
    rows = b.add(ops.Select, condition=flags, if_true=b.splat(x, (16,)), if_false=b.splat(y, (16,)))
    rows = b.add(ops.Broadcast, source=b.add(ops.Reshape, source=rows, shape=(16, 1)), shape=(16, 32))
    loaded = b.add(ops.Load, pointer=b.add(ops.AddPtr, pointer=rows, offset=positions(b, (16, 32))))
    b.append(ops.Store(pointer=at(b, out, positions(b, (16, 32))), value=loaded))
    func = b.finish("k", (x, y, flag, out))
    text = compilation(func).stage("cpu/emit").text
    assert "masked.gather" not in text  # runs of 32 from each row's pointer
    x_, y_ = RNG.random((2, 16, 32), np.float32)
    flags_ = RNG.random(16) < 0.5
    result = agree(func, [x_, y_, flags_, np.zeros((16, 32), np.float32)])[3]
    np.testing.assert_array_equal(result, np.where(flags_[:, None], x_, y_))


# --- reductions -------------------------------------------------------------------------------------------------------


def reduce(axis: int, combine: str) -> Compute:
    return lambda b, x: b.add(ops.Reduce, source=x, axis=axis, combine=combine)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reductions_of_any_axis(shape: tuple[int, ...]) -> None:
    data = RNG.standard_normal(shape).astype(np.float32)
    axes = range(len(shape))
    left = [shape[:axis] + shape[axis + 1 :] for axis in axes]
    func = mapped(shape, f32, *(reduce(axis, c) for axis in axes for c in ("add", "maximum")))
    found = results(func, data, [s for s in left for _ in range(2)])
    for axis in axes:
        np.testing.assert_allclose(found[2 * axis], data.astype(np.float64).sum(axis), rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(found[2 * axis + 1], data.max(axis))


@pytest.mark.parametrize("element", [t for t in SCALARS.values() if not t.is_float8], ids=str)
def test_reductions_of_every_type(element: ScalarType) -> None:
    data = np.resize(edge_values(element), (4, 64))
    data[:2] = np.resize(edge_values(element), (2, 64))[:, ::-1]
    if element.kind == "float":
        data = np.where(data == 0, np.abs(data), data).astype(data.dtype)  # the extreme of -0 and 0 is either
    logic = ["and", "or", "xor"]
    names = {"bool": logic, "int": ["add", "mul", "minimum", "maximum", *logic]}
    combine = names.get(element.kind, ["add", "mul", "minimum", "maximum", "maximum_nan", "minimum_nan"])
    func = mapped((4, 64), element, *(reduce(axis, c) for c in combine for axis in (0, 1)))
    found = results(func, data, [(64,), (4,)] * len(combine))
    numpy = {"add": np.add, "mul": np.multiply, "minimum": np.fmin, "maximum": np.fmax, "maximum_nan": np.maximum}
    numpy |= {"minimum_nan": np.minimum, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
    if element.kind != "float":
        for number, name in enumerate(combine):
            np.testing.assert_array_equal(found[2 * number], numpy[name].reduce(data, axis=0, dtype=data.dtype))


@pytest.mark.parametrize("element", [f16, f64], ids=str)
def test_the_order_is_the_interpreters(element: ScalarType) -> None:
    for size in (2, 32, 1024, 131072):
        data = (RNG.standard_normal(size) * 3).astype(DTYPES[element])
        results(mapped((size,), element, reduce(0, "add")), data, [()])


def test_reductions_combine() -> None:
    """Softmax of rows: a maximum and a sum of a tile, broadcast back, then the sum of everything."""
    b = Builder()
    x, out, total = pointer("x", f32), pointer("out", f32), pointer("total", f32)
    shape = (8, 64)
    tile = b.add(ops.Load, pointer=at(b, x, positions(b, shape)))

    def along_rows(value: Value, combine: str) -> Value:
        rows = b.add(ops.Reduce, source=value, axis=1, combine=combine)
        return b.add(ops.Broadcast, source=b.add(ops.Reshape, source=rows, shape=(8, 1)), shape=shape)

    raised = b.add(ops.Exp, source=b.add(ops.Sub, lhs=tile, rhs=along_rows(tile, "maximum")))
    result = b.add(ops.Div, lhs=raised, rhs=along_rows(raised, "add"))
    b.append(ops.Store(pointer=at(b, out, positions(b, shape)), value=result))
    columns = b.add(ops.Reduce, source=result, axis=0, combine="add")
    b.append(ops.Store(pointer=total, value=b.add(ops.Reduce, source=columns, axis=0, combine="add")))
    func = b.finish("softmax", (x, out, total))
    data = RNG.standard_normal(shape).astype(np.float32)
    out_, total_ = np.zeros(shape, np.float32), np.zeros(1, np.float32)
    run(func, [data, out_, total_])
    expected = np.exp(data - data.max(1, keepdims=True))
    np.testing.assert_allclose(out_, expected / expected.sum(1, keepdims=True), rtol=1e-6)
    np.testing.assert_allclose(total_, 8, rtol=1e-6)


def test_indices_are_reduced() -> None:
    """What is computed from indices alone, and a splat."""
    b = Builder()
    out, n = pointer("out", i32), parameter("n", i32)
    squares = b.add(ops.Mul, lhs=positions(b, (8, 16)), rhs=positions(b, (8, 16)))
    columns = b.add(ops.Reduce, source=squares, axis=0, combine="add")
    b.append(ops.Store(pointer=at(b, out, b.add(ops.Arange, start=0, end=16)), value=columns))
    many = b.add(ops.Reduce, source=b.splat(n, (32,)), axis=0, combine="add")
    b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=out, offset=b.constant(16, i32)), value=many))
    result = agree(b.finish("k", (out, n)), [np.zeros(17, np.int32), 7])[0]
    expected = (np.arange(128).reshape(8, 16) ** 2).sum(0)
    assert result.tolist() == [*expected.tolist(), 224]


# --- tiles in memory --------------------------------------------------------------------------------------------------


def tile_copy(element: ScalarType, rows: int, columns: int, wide: bool = False) -> Func:
    """`out[i, j] = x[i, j]` of a tile of matrices whose rows are `stride` elements apart, masked by n and m."""
    b = Builder()
    x, out = pointer("x", element), pointer("out", element)
    n, m, stride = parameter("n", i32), parameter("m", i32), parameter("stride", i64 if wide else i32)
    shape = (rows, columns)
    down = b.add(ops.Reshape, source=b.add(ops.Arange, start=0, end=rows), shape=(rows, 1))
    along = b.add(ops.Reshape, source=b.add(ops.Arange, start=0, end=columns), shape=(1, columns))
    scaled = b.add(ops.Mul, lhs=b.cast(down, i64) if wide else down, rhs=b.splat(stride, (rows, 1)))
    offs = b.add(
        ops.Add,
        lhs=b.add(ops.Broadcast, source=scaled, shape=shape),
        rhs=b.add(ops.Broadcast, source=b.cast(along, i64) if wide else along, shape=shape),
    )
    below = b.add(ops.CmpLt, lhs=down, rhs=b.splat(n, (rows, 1)))
    left = b.add(ops.CmpLt, lhs=along, rhs=b.splat(m, (1, columns)))
    mask = b.add(
        ops.And,
        lhs=b.add(ops.Broadcast, source=below, shape=shape),
        rhs=b.add(ops.Broadcast, source=left, shape=shape),
    )
    value = b.add(ops.Load, pointer=at(b, x, offs), mask=mask)
    b.append(ops.Store(pointer=at(b, out, offs), value=value, mask=mask))
    return b.finish("tile", (x, out, n, m, stride))


@pytest.mark.parametrize("element", [i1, f64], ids=str)
@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize(("rows", "columns"), [(64, 16), (16, 4), (4, 1)])
def test_tiles_of_matrices(element: ScalarType, wide: bool, rows: int, columns: int) -> None:
    func = tile_copy(element, rows, columns, wide)
    launch = launcher(func)
    data = RNG.integers(0, 2, (80, 40)).astype(DTYPES[element])
    for n, m in ((rows, columns), (rows - 1, columns - 1), (rows, 0), (1, 1)):
        result = agree(func, [data, np.zeros_like(data), n, m, 40], launch=launch)[1]
        expected = np.zeros_like(data)
        expected[:n, :m] = data[:n, :m]
        np.testing.assert_array_equal(result, expected)
    if columns >= 16:
        text = compilation(func).stage("cpu/emit").text
        assert text.count("masked.gather") == (0 if wide else 1)  # in the version for offsets that wrap


def test_rows_may_overlap() -> None:
    """Where rows are 1 element apart, the last store to an element wins, and loads come before all stores."""
    func = tile_copy(f64, 16, 32)
    launch = launcher(func)
    for stride in (0, 1, 3, 31):
        data = RNG.random(600)
        agree(func, [data, data, 16, 32, stride], launch=launch)


def test_offsets_of_a_tile_may_wrap() -> None:
    """Rows 2**30 elements apart: the third one's offset is -2**31, which the mask leaves out of the array."""
    data = RNG.random(64)
    func = tile_copy(f64, 8, 32)
    result = agree(func, [data, np.zeros(64), 1, 30, 2**30])[1]
    np.testing.assert_array_equal(result[:30], data[:30])
    assert (result[30:] == 0).all()


def test_single_elements_are_loaded_from_where_loaded_ones_say() -> None:
    """`out[x[x[i]]] = x[i]` on blocks of one element."""
    b = Builder()
    x, out = pointer("x", i32), pointer("out", i32)
    place = b.add(ops.Reshape, source=b.add(ops.ProgramId, axis=0), shape=(1, 1))
    first = b.add(ops.Load, pointer=at(b, x, place))
    second = b.add(ops.Load, pointer=at(b, x, first))
    b.append(ops.Store(pointer=at(b, out, second), value=first))
    data = RNG.permutation(8).astype(np.int32)
    result = agree(b.finish("k", (x, out)), [data, np.zeros(8, np.int32)], (8,))[1]
    np.testing.assert_array_equal(result[data[data]], data)


def test_large_tiles() -> None:
    """128 x 128 of f64, transposed and reduced, in two programs."""
    b = Builder()
    x, out, sums = pointer("x", f64), pointer("out", f64), pointer("sums", f64)
    shape = (128, 128)
    start = b.add(ops.Mul, lhs=b.add(ops.ProgramId, axis=0), rhs=b.constant(128 * 128, i32))
    offs = b.add(ops.Add, lhs=b.splat(start, shape), rhs=positions(b, shape))
    tile = b.add(ops.Load, pointer=at(b, x, offs))
    turned = b.add(ops.Add, lhs=b.add(ops.Transpose, source=tile, order=(1, 0)), rhs=tile)
    b.append(ops.Store(pointer=at(b, out, offs), value=turned))
    total = b.add(ops.Reduce, source=turned, axis=0, combine="add")
    lanes = b.add(ops.Arange, start=0, end=128)
    row = b.add(ops.Add, lhs=lanes, rhs=b.splat(b.add(ops.FloorDiv, lhs=start, rhs=b.constant(128, i32)), (128,)))
    b.append(ops.Store(pointer=at(b, sums, row), value=total))
    func = b.finish("large", (x, out, sums))
    data = RNG.random((2, 128, 128))
    result = agree(func, [data, np.zeros_like(data), np.zeros((2, 128))], (2,), Target("cpu", enable_fp_fusion=False))
    expected = data + data.transpose(0, 2, 1)
    np.testing.assert_array_equal(result[1], expected)
    np.testing.assert_allclose(result[2], expected.sum(1), rtol=1e-12)


def test_scratch_memory_is_used_again() -> None:
    """A chain of reductions that each need a copy of a row takes no more memory than one of them, or two."""
    b = Builder()
    x, out = pointer("x", f32), pointer("out", f32)
    lanes = b.add(ops.Arange, start=0, end=1024)
    for number in range(10):
        place = at(b, x, b.add(ops.Add, lhs=lanes, rhs=b.constant(1024 * number, i32, (1024,))))
        total = b.add(ops.Reduce, source=b.add(ops.Load, pointer=place), axis=0, combine="add")
        b.append(ops.Store(pointer=b.add(ops.AddPtr, pointer=out, offset=b.constant(number, i32)), value=total))
    func = b.finish("k", (x, out))
    assert emit(func, Target("cpu")).scratch_bytes <= 2 * 4096 + 1024
    data: Any = RNG.integers(0, 9, (10, 1024)).astype(np.float32)
    assert agree(func, [data, np.zeros(10, np.float32)])[1].tolist() == data.sum(1).tolist()
