"""Tiles, reductions and transpositions: what the layout step makes of them, and that it is right."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from mytriton.ir import ops
from mytriton.ir.builder import parameter
from mytriton.ir.core import Func, Value
from mytriton.layout import simulate
from mytriton.layout.assign import lay_out
from mytriton.layout.ops import Convert, PartialReduce
from mytriton.layout.program import Exchange, Nested, Segment
from mytriton.target import Target
from mytriton.types import ScalarType, bf16, f16, f32, f64, i1, i32, i64, shape_of
from tests.ir.kernels import pointer
from tests.layout.tiles import Tiles, check, exchanges, matmul, numbers, reduction, softmax

SHAPES = [(1,), (2,), (64,), (1024,), (1, 1), (1, 128), (64, 32), (8, 4, 16), (2, 1024)]


# --- reductions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_warps", [1, 2, 4, 8])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reductions_over_every_axis(shape: tuple[int, ...], num_warps: int) -> None:
    order = list(range(num_warps))[::-1]
    for axis in range(len(shape)):
        kept = shape[:axis] + shape[axis + 1 :]
        for combine in ("add", "minimum"):
            args = [numbers(shape), np.zeros(kept or (1,), np.int32)]
            laid_out = check(reduction(shape, axis, combine), args, Target(num_warps=num_warps), order)
            assert "shared" not in exchanges(laid_out)  # the result is stored where it is


@pytest.mark.parametrize("size", [1, 32, 256, 131072])
@pytest.mark.parametrize("form", ["tuned", "plain"])
def test_sum_of_a_block(size: int, form: Literal["tuned", "plain"]) -> None:
    out = np.zeros(1, np.int32)
    x = np.arange(size, dtype=np.int32)
    check(reduction((size,), 0), [x, out], Target(num_warps=8, form=form), exact=True)
    simulate.run(lay_out(reduction((size,), 0), Target(num_warps=16, form=form)), [x, out], (1,))
    assert out[0] == np.int32(x.sum() & 0xFFFFFFFF if size < 65536 else np.int64(x.sum()) - (1 << 33))


@pytest.mark.parametrize("element", [i1, i32, i64, f16, bf16, f32, f64], ids=str)
def test_reductions_of_every_type(element: ScalarType) -> None:
    combine = "xor" if element.kind == "bool" else "maximum"
    x = np.arange(1024) % 3 == 0 if element.kind == "bool" else numbers((1024,), element)
    check(reduction((1024,), 0, combine, element), [x, np.zeros(1, x.dtype)])


def test_a_reduction_goes_only_through_what_holds_the_axis() -> None:
    assert exchanges(lay_out(reduction((64, 32), 1), Target())) == ["registers", "lanes"]
    assert exchanges(lay_out(reduction((64, 32), 0), Target())) == ["registers", "lanes", "warps"]
    assert exchanges(lay_out(reduction((4, 1024), 0), Target())) == ["registers"]
    assert exchanges(lay_out(reduction((32,), 0), Target())) == ["lanes"]
    assert exchanges(lay_out(reduction((1,), 0), Target())) == []
    assert exchanges(lay_out(reduction((1024,), 0), Target(num_warps=1))) == ["registers", "lanes"]
    steps = [op for op in lay_out(reduction((64, 32), 0), Target()).func.walk() if isinstance(op, PartialReduce)]
    assert [(op.across, op.bits, shape_of(op.result.type)) for op in steps] == [
        ("registers", 0b110000, (16, 32)),
        ("lanes", 0b0011, (4, 32)),
        ("warps", 0b11, (1, 32)),
    ]


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(64, 32), (1, 128), (4, 1024)], ids=str)
def test_softmax(shape: tuple[int, ...], axis: int) -> None:
    x = numbers(shape, f32)
    out = np.zeros_like(x)
    laid_out = check(softmax(shape, axis), [x, out], exact=False)
    assert not any(isinstance(op, Convert) for op in laid_out.func.walk())
    simulate.run(laid_out, [x, out], (1,))
    e = np.exp(x - x.max(axis, keepdims=True))
    np.testing.assert_allclose(out, e / e.sum(axis, keepdims=True), rtol=1e-5)


def test_a_reduction_across_warps_in_rounds() -> None:
    """Sums along the axis that tells the warps apart: 256 registers in 256 threads do not fit the buffer."""
    shape = (64, 8, 128)
    laid_out = check(
        reduction(shape, 1), [numbers(shape), np.zeros((64, 128), np.int32)], Target(num_warps=8), [*range(8)][::-1]
    )
    assert exchanges(laid_out) == ["warps"]


# --- conversions ------------------------------------------------------------------------------------------------------


def transpose(shape: tuple[int, ...], order: tuple[int, ...], element: ScalarType = i32) -> Func:
    b, x, out = Tiles(), pointer("x", element), pointer("out", element)
    moved = b.add(ops.Transpose, source=b.load(x, b.index(shape)), order=order)
    b.store(out, b.index(tuple(shape[axis] for axis in order)), moved)
    return b.finish("transpose", (x, out))


@pytest.mark.parametrize("num_warps", [1, 4])
@pytest.mark.parametrize(
    ("shape", "order"), [((8, 4), (1, 0)), ((64, 32), (1, 0)), ((1, 128), (1, 0)), ((8, 4, 16), (2, 0, 1))], ids=str
)
def test_a_transposed_tile_is_converted_to_be_stored(
    shape: tuple[int, ...], order: tuple[int, ...], num_warps: int
) -> None:
    x = numbers(shape)
    out = np.zeros(x.size, np.int32)
    laid_out = check(transpose(shape, order), [x, out], Target(num_warps=num_warps))
    simulate.run(laid_out, [x, out], (1,))
    assert out.tolist() == np.transpose(x, order).reshape(-1).tolist()


def test_how_a_transposed_tile_is_converted() -> None:
    assert exchanges(lay_out(transpose((64, 32), (1, 0)), Target())) == ["shared"]
    assert exchanges(lay_out(transpose((8, 4), (1, 0)), Target(num_warps=1))) == []  # any order of lanes will do
    assert exchanges(lay_out(transpose((1, 128), (1, 0)), Target())) == []
    # Only lanes change their places, within each warp.
    b, x, out = Tiles(), pointer("x", i32), pointer("out", i32)
    moved = b.add(ops.Transpose, source=b.load(x, b.index((8, 4))), order=(1, 0))
    b.store(out, b.index((4, 8)), b.binary(ops.Add, b.load(x, b.index((4, 8))), moved))
    laid_out = check(b.finish("k", (x, out)), [numbers((32,)), np.zeros(32, np.int32)])
    assert exchanges(laid_out) == ["shuffle"]
    # Only registers change their places: the last axis is in lanes and warps.
    b, x, out = Tiles(), pointer("x", i32), pointer("out", i32)
    tile = b.load(x, b.index((2, 4, 512)))
    moved = b.add(ops.Transpose, source=tile, order=(1, 0, 2))
    last = b.binary(ops.Add, moved, b.load(x, b.index((4, 2, 512))))
    b.store(out, b.index((4, 2, 512)), last)
    laid_out = check(b.finish("k", (x, out)), [numbers((4096,)), np.zeros(4096, np.int32)])
    assert exchanges(laid_out) == ["registers"]


def test_a_conversion_in_rounds() -> None:
    x = numbers((256, 128), i64)
    laid_out = check(transpose((256, 128), (1, 0), i64), [x, np.zeros(x.size, np.int64)], Target(), [3, 1, 0, 2])
    assert exchanges(laid_out) == ["shared"]


# --- where values are made --------------------------------------------------------------------------------------------


def test_what_is_broadcast_is_loaded_in_the_slice_that_the_broadcast_needs() -> None:
    laid_out = check(
        matmul(64, 32, 16),
        [numbers((64, 16), f32), numbers((16, 32), f32), np.zeros((64, 32), np.float32), 16],
        exact=False,
    )
    assert exchanges(laid_out) == []
    loads = {
        shape_of(op.result.type): laid_out.layouts[op.result] for op in laid_out.func.walk() if isinstance(op, ops.Load)
    }
    assert [(shape, layout.copies) for shape, layout in loads.items()] == [((64,), 8), ((32,), 16)]


def sums_in_a_loop(b: Tiles, x: Value, out: Value, trips: Value) -> Func:
    """Row sums of tiles (64, 32), added up from zeros."""

    def body(b: Tiles, i: Value, carried: list[Value]) -> list[Value]:
        start = b.splat(b.binary(ops.Mul, i, b.constant(2048, i32)), (64, 32))
        return [b.binary(ops.Add, carried[0], b.reduce(b.load(x, b.binary(ops.Add, b.index((64, 32)), start)), 1))]

    (total,) = b.loop(trips, [b.constant(0, i32, (64,))], body)
    b.store(out, b.index((64,)), total)
    return b.finish("sums", (x, out, trips))


@pytest.mark.parametrize("trips", [0, 1, 3])
def test_a_carried_value_has_the_layout_of_what_is_added_to_it(trips: int) -> None:
    func = sums_in_a_loop(Tiles(), pointer("x", i32), pointer("out", i32), parameter("trips", i32))
    x, out = numbers((3, 64, 32)), np.full(64, -1, np.int32)
    laid_out = check(func, [x, out, trips])
    assert exchanges(laid_out) == ["registers", "lanes"]
    simulate.run(laid_out, [x, out, trips], (1,))
    assert out.tolist() == x[:trips].sum((0, 2)).tolist()


def test_what_comes_into_a_loop_is_converted_rather_than_what_is_made_in_it() -> None:
    b, x, out, trips = Tiles(), pointer("x", i32), pointer("out", i32), parameter("trips", i32)
    bias = b.load(x, b.binary(ops.And, b.load(x, b.index((64,))), b.constant(7, i32, (64,))))
    tile = b.load(x, b.index((64, 32)))
    (total,) = b.loop(trips, [bias], lambda b, i, carried: [b.binary(ops.Add, carried[0], b.reduce(tile, 1))])
    b.store(out, b.index((64,)), total)
    laid_out = check(b.finish("k", (x, out, trips)), [numbers((2048,)), np.zeros(64, np.int32), 3])
    assert exchanges(laid_out) == ["shared", "registers", "lanes"]
    assert isinstance(laid_out.items[-2], Nested)
    assert [type(item) for item in laid_out.items[-2].blocks[0]] == [Exchange, Exchange, Segment]


def test_one_value_may_be_carried_in_two_layouts() -> None:
    b, x, out, trips = Tiles(), pointer("x", i32), pointer("out", i32), parameter("trips", i32)
    zeros = b.constant(0, i32, (64,))

    def body(b: Tiles, i: Value, carried: list[Value]) -> list[Value]:
        tile = b.load(x, b.index((64, 64)))
        return [b.binary(ops.Add, carried[0], b.reduce(tile, 0)), b.binary(ops.Add, carried[1], b.reduce(tile, 1))]

    columns, rows = b.loop(trips, [zeros, zeros], body)
    b.store(out, b.index((64,)), b.binary(ops.Sub, columns, rows))
    laid_out = check(b.finish("k", (x, out, trips)), [numbers((64, 64)), np.zeros(64, np.int32), 2])
    assert exchanges(laid_out) == ["registers", "lanes", "warps!", "registers", "lanes", "shared!"]


def test_swapped_values_keep_their_layout() -> None:
    b, x, out, trips = Tiles(), pointer("x", i32), pointer("out", i32), parameter("trips", i32)
    first, second = b.load(x, b.index((8, 16))), b.add(ops.Transpose, source=b.load(x, b.index((16, 8))), order=(1, 0))
    last = b.loop(trips, [first, second], lambda b, i, carried: carried[::-1])
    b.store(out, b.index((8, 16)), last[0])
    for trips_made in (0, 1, 2):
        check(b.finish("k", (x, out, trips)), [numbers((128,)), np.zeros(128, np.int32), trips_made])


def test_a_cheap_value_is_made_again_rather_than_converted() -> None:
    b, x, y, out = Tiles(), pointer("x", i32), pointer("y", i32), pointer("out", i32)
    lanes = b.add(ops.Arange, start=0, end=64)
    b.store(out, lanes, b.load(x, lanes))
    column = b.broadcast(b.shaped(b.binary(ops.Mul, lanes, lanes), (64, 1)), (64, 32))
    b.store(y, b.index((64, 32)), column)
    laid_out = check(b.finish("k", (x, y, out)), [numbers((64,)), np.zeros(2048, np.int32), np.zeros(64, np.int32)])
    assert exchanges(laid_out) == []
    ranges = [op for op in laid_out.func.walk() if isinstance(op, ops.Arange) and op.end == 64]
    assert len({laid_out.layouts[op.result].map for op in ranges}) == 2


def test_addresses_are_not_converted() -> None:
    """A gather whose indices were transposed: the indices go through shared memory, not the pointers."""
    b, x, y, out = Tiles(), pointer("x", i32), pointer("y", i32), pointer("out", i32)
    indices = b.add(ops.Transpose, source=b.load(x, b.index((16, 32))), order=(1, 0))
    place = b.at(y, b.binary(ops.And, indices, b.constant(255, i32, (32, 16))))
    b.store(out, b.index((32, 16)), b.load(y, b.index((32, 16))))
    value = b.binary(ops.Add, b.load(y, b.index((32, 16))), b.constant(1, i32, (32, 16)))
    b.append(
        ops.Store(pointer=place, value=value, mask=b.add(ops.CmpEq, lhs=indices, rhs=b.constant(5, i32, (32, 16))))
    )
    x_values = np.arange(512, dtype=np.int32)
    laid_out = check(b.finish("k", (x, y, out)), [x_values, numbers((512,)), np.zeros(512, np.int32)])
    assert not any(str(op.result.type).count("ptr") for op in laid_out.func.walk() if isinstance(op, Convert))


def test_a_scalar_made_a_block_is_a_splat() -> None:
    b, x, out = Tiles(), pointer("x", i32), pointer("out", i32)
    one = b.add(ops.Reshape, source=b.reduce(b.load(x, b.index((256,))), 0), shape=(1, 1))
    b.store(out, b.index((4, 8)), b.broadcast(one, (4, 8)))
    laid_out = check(b.finish("k", (x, out)), [numbers((256,)), np.zeros(32, np.int32)])
    assert not any(isinstance(op, ops.Reshape) and op.shape == (1, 1) for op in laid_out.func.walk())
