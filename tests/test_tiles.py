"""Whole kernels on tiles, on every backend: shapes that meet in loads and stores, other pointers, far offsets."""

from __future__ import annotations

import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from tests.running import on_every_backend

pytestmark = on_every_backend


@triton.jit
def outer(x, y, out, rows, columns, stride, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    a = tl.load(x + i[:, None], mask=i[:, None] < rows, other=0)
    b = tl.load(y + j, mask=j < columns, other=0)
    tl.store(out + i[:, None] * stride + j, a * b + i[:, None], mask=(i[:, None] < rows) & (j < columns))


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 3), (16, 32), (33, 65)])
def test_tiles_of_rows_and_columns(run, rows, columns):
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-99, 99, n).astype(np.int32) for n in (rows, columns))
    out = np.full((rows, columns + 3), -1, np.int32)
    grid = (triton.cdiv(rows, 16), triton.cdiv(columns, 32))
    run(outer, grid, x, y, out, rows, columns, columns + 3, BM=16, BN=32)
    np.testing.assert_array_equal(out[:, :columns], x[:, None] * y + np.arange(rows)[:, None])
    assert (out[:, columns:] == -1).all()


@triton.jit
def transpose(x, out, rows, columns, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    mask = (i[:, None] < rows) & (j[None, :] < columns)
    tile = tl.load(x + i[:, None] * columns + j[None, :], mask=mask, other=0)
    tl.store(out + j[:, None] * rows + i[None, :], tile.T, mask=mask.T)


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8])
@pytest.mark.parametrize(("rows", "columns"), [(1, 7), (64, 32), (37, 50)])
def test_a_transposed_matrix(run, dtype, rows, columns):
    x = np.random.default_rng(1).integers(-99, 99, (rows, columns)).astype(dtype)
    out = np.zeros((columns, rows), dtype)
    run(transpose, (triton.cdiv(rows, 32), triton.cdiv(columns, 16)), x, out, rows, columns, BM=32, BN=16)
    np.testing.assert_array_equal(out, x.T)


@triton.jit
def cubes(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i, j, k = tl.arange(0, A)[:, None, None], tl.arange(0, B)[None, :, None], tl.arange(0, C)[None, None, :]
    cube = tl.load(x + (i * B + j) * C + k)
    turned = tl.permute(cube, (2, 0, 1)) + tl.max(cube, axis=2)[None]
    tl.store(out + (tl.arange(0, C)[:, None, None] * A + tl.arange(0, A)[:, None]) * B + tl.arange(0, B), turned)
    tl.store(out + A * B * C + tl.arange(0, B * C), tl.sum(cube, axis=0).reshape(B * C))
    tl.store(out + A * B * C + B * C, tl.min(cube))


@pytest.mark.parametrize("shape", [(2, 4, 8), (8, 16, 4), (1, 32, 64)])
def test_cubes(run, shape):
    a, b, c = shape
    x = np.random.default_rng(2).integers(-999, 999, shape).astype(np.int32)
    out = np.zeros(a * b * c + b * c + 1, np.int32)
    run(cubes, (1,), x, out, A=a, B=b, C=c)
    turned = x.transpose(2, 0, 1) + x.max(2)[None]
    np.testing.assert_array_equal(out, np.concatenate([turned.ravel(), x.sum(0).ravel(), [x.min()]]))


@triton.jit
def other_types(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    halves = tl.load(x.to(tl.pointer_type(tl.uint16)) + i)
    tl.store(out + i, halves)
    words = (out + B + 2 * i).to(tl.pointer_type(tl.uint32), bitcast=True)
    tl.store(words, halves.to(tl.uint32) * 65537)


def test_pointers_to_other_types_keep_their_address(run):
    x = np.random.default_rng(3).integers(-(2**31), 2**31, 32).astype(np.int32)
    out = np.zeros(3 * 64, np.uint16)
    run(other_types, (1,), x, out, B=64)
    halves = x.view(np.uint16)
    np.testing.assert_array_equal(out, np.concatenate([halves, np.repeat(halves, 2)]))


@triton.jit
def rounded(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(x + i).to(tl.float16, fp_downcast_rounding="rtz"))


def test_rounding_toward_zero(run):
    rng = np.random.default_rng(4)
    x = (rng.standard_normal(256) * 2.0 ** rng.integers(-30, 20, 256)).astype(np.float32)
    out = np.zeros(256, np.float16)
    run(rounded, (1,), x, out, B=256)
    with np.errstate(all="ignore"):
        nearest = x.astype(np.float16)
        too_far = np.abs(nearest.astype(np.float32)) > np.abs(x)
        expected = np.where(too_far, nearest.view(np.uint16) - 1, nearest.view(np.uint16)).astype(np.uint16)
    np.testing.assert_array_equal(out.view(np.uint16), expected)


@triton.jit
def far(x, out, row, stride):
    i = tl.arange(0, 8)
    tl.store(out + i, tl.load(x + row.to(tl.int64) * stride + i))
    tl.store(x + row.to(tl.int64) * stride + 8 + i, i)


def test_offsets_beyond_two_to_the_31(run):
    x, out = np.zeros(2**31 + 64, np.int8), np.zeros(8, np.int8)  # on the CPU only the last page is touched
    x[2**31 : 2**31 + 8] = range(1, 9)
    run(far, (1,), x, out, 2, 2**30)
    assert out.tolist() == list(range(1, 9))
    assert x[2**31 + 8 : 2**31 + 16].tolist() == list(range(8))


@triton.jit
def scalars(n, out):
    tl.store(out, n)
    tl.store(out + 1 + tl.arange(0, 4), n + tl.zeros((4,), n.dtype))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16,
                                   np.float32, np.float64, np.bool_])  # fmt: skip
def test_scalars_of_every_type(run, dtype):
    out = np.zeros(5, dtype)
    number = dtype(True) if dtype == np.bool_ else np.iinfo(dtype).max if np.dtype(dtype).kind in "iu" else dtype(1.5)
    run(scalars, (1,), dtype(number), out)
    assert out.tolist() == [dtype(number)] * 5
