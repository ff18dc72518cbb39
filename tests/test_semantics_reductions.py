"""What a kernel means, continued: reductions, on every backend."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.running import on_every_backend

pytestmark = on_every_backend

f16, f32, f64, bf16 = np.float16, np.float32, np.float64, ml_dtypes.bfloat16


@pytest.fixture(autouse=True)
def quiet() -> Any:
    with np.errstate(all="ignore"):
        yield


@triton.jit
def sums(x, out, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, B))
    total = tl.sum(v, axis=0)
    tl.store(out, total)
    tl.store(out + 1, total.to(tl.int64) + 1)
    tl.store(out + 2, tl.xor_sum(v, axis=0))
    tl.store(out + 3, tl.max(v, axis=0))
    tl.store(out + 4, tl.min(v, axis=0))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
def test_integers_under_32_bits_widen_and_wider_ones_wrap(run, dtype):
    info = np.iinfo(dtype)
    x = np.random.default_rng(0).integers(info.min, info.max, 512, dtype=dtype, endpoint=True)
    x[:100] = info.max  # so that the sum leaves the type
    out = np.zeros(5, np.int64)
    run(sums, 1, x, out, B=512)
    bits, total = max(32, info.bits), sum(x.tolist())
    wrapped = total % 2**bits - (2**bits if info.min and total % 2**bits >= 2 ** (bits - 1) else 0)
    assert out.tolist() == [wrapped, wrapped + 1, int(np.bitwise_xor.reduce(x)), info.max, int(x.min())]


@triton.jit
def count_of_bools(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out, tl.sum(tl.load(x + i) > 0, axis=0))
    tl.store(out + 1, tl.sum(i < B))


def test_the_sum_of_bools_counts(run):
    x, out = np.arange(-100, 156, dtype=np.int32), np.zeros(2, np.int32)
    run(count_of_bools, 1, x, out, B=256)
    assert out.tolist() == [155, 256]


@triton.jit
def float_type_of_sum(x, out, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, B))
    total = tl.sum(v, axis=0)
    tl.store(out, total)
    tl.store(out + 1, total * total)  # overflows in float16 only


@pytest.mark.parametrize("dtype", [f16, bf16, f32, f64])
def test_floats_keep_their_type(run, dtype):
    out = np.zeros(2, f64)
    run(float_type_of_sum, 1, np.full(64, 16, dtype), out, B=64)
    assert out.tolist() == [1024, np.inf if dtype is f16 else 2.0**20]


@triton.jit
def long_sum(x, out, B: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, B)), axis=0))


@pytest.mark.parametrize("block", [4096, 16384])
def test_an_order_that_loses_what_a_tree_keeps_is_not_taken(run, block):
    # One running sum of these is off by about 1e-4 in the end, a tree by no more than its depth in roundings.
    x = np.full(block, 0.1, f32)
    out = np.zeros(1, f32)
    run(long_sum, 1, x, out, B=block)
    exact = float(f32(0.1)) * block
    assert abs(out[0] - exact) <= 16 * np.spacing(f32(exact)) / 2
    serial = np.cumsum(x, dtype=f32)[-1]
    assert abs(serial - exact) > 16 * np.spacing(f32(exact)) / 2


@triton.jit
def extremes(x, out, B: tl.constexpr):
    v = tl.load(x + tl.arange(0, B))
    tl.store(out, tl.max(v, axis=0))
    tl.store(out + 1, tl.min(v, axis=0))
    tl.store(out + 2, tl.max(tl.abs(v), axis=0))


@pytest.mark.parametrize("dtype", [f16, bf16, f32, f64])
@pytest.mark.parametrize("numbers", [[1, np.nan, -3, 2], [np.nan, np.nan, np.nan, 5], [-np.inf, np.nan, np.inf, 0]])
def test_extremes_ignore_nan(run, dtype, numbers):
    x, out = np.tile(np.array(numbers, dtype), 32), np.zeros(3, f64)
    run(extremes, 1, x, out, B=128)
    wide = x.astype(f64)
    assert out.tolist() == [np.nanmax(wide), np.nanmin(wide), np.nanmax(np.abs(wide))]


def test_extremes_of_nothing_but_nan_are_nan(run):
    out = np.zeros(3, f32)
    run(extremes, 1, np.full(64, np.nan, f32), out, B=64)
    assert np.isnan(out).all()


@triton.jit
def nan_propagates(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + B + i, tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL))
    tl.store(out + 2 * B + i, tl.maximum(a, b))


@pytest.mark.parametrize("dtype", [f16, f32, f64])
def test_nan_propagates_where_the_author_asks(run, dtype):
    x, y = np.array([1, np.nan, 3, np.nan], dtype), np.array([2, 1, np.nan, np.nan], dtype)
    out = np.zeros((3, 4), dtype)
    run(nan_propagates, 1, x, y, out, B=4)
    np.testing.assert_array_equal(out, [np.maximum(x, y), np.minimum(x, y), np.fmax(x, y)])


@triton.jit
def every_axis(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    v = tl.load(x + a[:, None, None] * (B * C) + b[None, :, None] * C + c[None, None, :])
    tl.store(out, tl.sum(v))
    tl.store(out + 1, tl.sum(tl.sum(tl.sum(v, axis=2), axis=1), axis=0))
    tl.store(out + 2, tl.sum(tl.sum(tl.sum(v, axis=0), axis=0), axis=0))
    tl.store(out + 3, tl.sum(tl.sum(v, axis=1, keep_dims=True) * 2))
    tl.store(out + 4, tl.max(tl.max(v, axis=-1)))


@pytest.mark.parametrize(("shape", "num_warps"), [((4, 8, 16), 4), ((16, 1, 32), 1), ((1, 1, 1), 4), ((2, 128, 2), 8)])
def test_axes_are_reduced_in_any_order(run, shape, num_warps):
    x = np.random.default_rng(0).integers(-99, 100, shape, dtype=np.int32)
    out = np.zeros(5, np.int32)
    run(every_axis, 1, x, out, A=shape[0], B=shape[1], C=shape[2], num_warps=num_warps)
    total = int(x.sum())
    assert out.tolist() == [total, total, total, 2 * total, int(x.max())]


@triton.jit
def across_a_reduction(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i))
    total = tl.sum(tl.load(x + i), axis=0)
    tl.store(x + i, tl.load(out + B - 1 - i) + total)


@triton.jit
def across_a_barrier(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i))
    tl.debug_barrier()
    other = tl.load(out + B - 1 - i)
    tl.debug_barrier()
    tl.store(x + i, other + tl.load(x + i) * 0)


@pytest.mark.parametrize("num_warps", [1, 4])
def test_lanes_see_what_others_stored_before_a_reduction(run, num_warps):
    numbers = np.arange(512, dtype=np.int32)
    x, out = numbers.copy(), np.zeros(512, np.int32)
    run(across_a_reduction, 1, x, out, B=512, num_warps=num_warps)
    assert x.tolist() == (numbers[::-1] + numbers.sum()).tolist()


@pytest.mark.parametrize("num_warps", [1, 4])
def test_lanes_see_what_others_stored_before_a_barrier(run, num_warps):
    numbers = np.arange(512, dtype=np.int32)
    x, out = numbers.copy(), np.zeros(512, np.int32)
    run(across_a_barrier, 1, x, out, B=512, num_warps=num_warps)
    assert x.tolist() == numbers[::-1].tolist()
