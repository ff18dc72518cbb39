"""Small kernels, continued: types, shapes and reductions."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl
from tests.feature_kernels import F, X, example

# --- reductions -------------------------------------------------------------------------------------------------------


@triton.jit
def reductions_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(out + n, tl.sum(tile, axis=0))
    tl.store(out + N + m, tl.max(tile, axis=1))
    tl.store(out + N + M + n, tl.min(tile, 0))
    tl.store(out + 2 * N + M, tl.sum(tile))
    tl.store(out + 2 * N + M + 1, tl.max(tl.min(tile, axis=1), axis=0))
    tl.store(out + 2 * N + M + 2, tl.xor_sum(tl.xor_sum(tile, axis=1), axis=0))
    kept = tl.sum(tile, axis=1, keep_dims=True)
    tl.store(out + 2 * N + M + 3 + m[:, None] * N + n[None, :], tile * 10 + kept)


@reductions_kernel.example(m=8, n=8)
@reductions_kernel.example(m=2, n=32)
@reductions_kernel.example(m=1, n=64)
@reductions_kernel.example(m=64, n=1)
def reductions(m, n):
    x = X.reshape(m, n)
    sums = [x.sum(axis=0), x.max(axis=1), x.min(axis=0), [x.sum(), x.min(axis=1).max(), np.bitwise_xor.reduce(X)]]
    expected = np.concatenate([*sums, (x * 10 + x.sum(axis=1, keepdims=True)).reshape(-1)])
    return example(expected.astype(np.int32), x=x, M=m, N=n)


@triton.jit
def cube_kernel(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    cube = tl.load(x + a[:, None, None] * (B * C) + b[None, :, None] * C + c[None, None, :])
    tl.store(out + b[:, None] * C + c[None, :], tl.sum(cube, axis=0))
    tl.store(out + B * C + a[:, None] * C + c[None, :], tl.max(cube, axis=1))
    tl.store(out + B * C + A * C + a[:, None] * B + b[None, :], tl.min(cube, axis=2))
    tl.store(out + B * C + A * C + A * B, tl.sum(tl.sum(cube, axis=2) * 2))


@cube_kernel.example(shape=(4, 2, 8))
@cube_kernel.example(shape=(2, 16, 2))
@cube_kernel.example(shape=(64, 1, 1))
def cube(shape):
    x = X.reshape(shape)
    parts = [x.sum(axis=0), x.max(axis=1), x.min(axis=2), 2 * x.sum()]
    expected = np.concatenate([np.reshape(part, -1) for part in parts])
    return example(expected.astype(np.int32), x=x, A=shape[0], B=shape[1], C=shape[2])


@triton.jit
def narrow_sums_kernel(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out, tl.sum(v, axis=0))
    tl.store(out + 1, tl.max(v, axis=0))
    tl.store(out + 2, tl.sum((v > 3).to(tl.int32), axis=0))


@narrow_sums_kernel.example(dtype="int8")
@narrow_sums_kernel.example(dtype="uint8")
@narrow_sums_kernel.example(dtype="int16")
@narrow_sums_kernel.example(dtype="uint32")
@narrow_sums_kernel.example(dtype="int64")
def narrow_sums(dtype):
    info = np.iinfo(dtype)
    x = np.random.default_rng(1).integers(info.min, info.max, 32, dtype=dtype, endpoint=True)
    total = int(x.astype(object).sum())
    bits = max(32, info.bits)  # narrow integers widen to 32 bits
    wrapped = (total + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) if info.min else total % 2**bits
    return example(np.array([wrapped, int(x.max()), int((x > 3).sum())], np.int64), x=x, B=32)


@triton.jit
def float_sums_kernel(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out, tl.sum(v, axis=0))
    tl.store(out + 1, tl.max(v, axis=0) - tl.min(v, axis=0))


@float_sums_kernel.example(dtype="float16")
@float_sums_kernel.example(dtype="float32")
@float_sums_kernel.example(dtype="float64")
def float_sums(dtype):
    x = F.astype(dtype)  # sums of eighths are exact
    return example(np.array([x.sum(dtype=np.float64), x.max() - x.min()]).astype(dtype), x=x, B=64)


# --- shapes -----------------------------------------------------------------------------------------------------------


@triton.jit
def turns_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    tile = tl.load(x + m[:, None] * N + n[None, :])
    turned = n[:, None] * M + m[None, :]
    tl.store(out + turned, tl.trans(tile))
    tl.store(out + M * N + turned, tile.T)
    tl.store(out + 2 * M * N + turned, tl.permute(tile, (1, 0)) + turned)
    tl.store(out + 3 * M * N + turned, tl.reshape(tile, (N, M)))
    tl.store(out + 4 * M * N + tl.arange(0, M * N), tl.reshape(tl.trans(tile), (M * N,)))


@turns_kernel.example(m=8, n=8)
@turns_kernel.example(m=2, n=32)
@turns_kernel.example(m=64, n=1)
def turns(m, n):
    x = X.reshape(m, n)
    turned = np.ascontiguousarray(x.T)
    expected = [turned, turned, turned + np.arange(64).reshape(n, m), x.reshape(n, m), turned.reshape(-1)]
    return example(np.concatenate([part.reshape(-1) for part in expected]).astype(np.int32), x=x, M=m, N=n)


@triton.jit
def axes_kernel(x, out, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a, b, c = tl.arange(0, A), tl.arange(0, B), tl.arange(0, C)
    cube = tl.load(x + a[:, None, None] * (B * C) + b[None, :, None] * C + c[None, None, :])
    flat = tl.arange(0, A * B * C)
    tl.store(out + flat, tl.reshape(tl.permute(cube, (2, 0, 1)), (A * B * C,)))
    tl.store(out + A * B * C + flat, tl.reshape(tl.trans(cube, (1, 2, 0)), (A * B * C,)))
    tl.store(out + 2 * A * B * C + flat, tl.reshape(cube, (A * B * C,)))


@axes_kernel.example(shape=(4, 2, 8))
@axes_kernel.example(shape=(1, 32, 2))
def axes(shape):
    x = X.reshape(shape)
    expected = [x.transpose(2, 0, 1), x.transpose(1, 2, 0), x]
    expected = np.concatenate([part.reshape(-1) for part in expected])
    return example(expected, x=x, A=shape[0], B=shape[1], C=shape[2])


@triton.jit
def spread_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    offs = m[:, None] * N + n[None, :]
    row, column = tl.load(x + n), tl.load(x + 32 + m)
    tl.store(out + offs, tl.broadcast_to(row[None, :], (M, N)))
    tl.store(out + M * N + offs, tl.broadcast_to(tl.expand_dims(column, 1), (M, N)) + row[None, :])
    tl.store(out + 2 * M * N + offs, tl.where(m[:, None] > n[None, :], column[:, None], 7))
    tl.store(out + 3 * M * N + offs, tl.zeros((M, N), tl.int32) + 3 * row)


@spread_kernel.example(m=4, n=16)
@spread_kernel.example(m=16, n=2)
def spread(m, n):
    row, column = X[:n], X[32 : 32 + m, None]
    i, j = np.indices((m, n))
    tiles = [row, column + row, np.where(i > j, column, 7), 3 * row]
    return example(np.stack([np.broadcast_to(t, (m, n)) for t in tiles]).astype(np.int32), x=X, M=m, N=n)


@triton.jit
def sizes_kernel(x, out, A: tl.constexpr, B: tl.constexpr):
    """Blocks of several sizes in one kernel."""
    a, b = tl.arange(0, A), tl.arange(0, B)
    narrow, wide = tl.load(x + a), tl.load(x + b)
    total = tl.sum(narrow, axis=0)
    tl.store(out + b, wide * total)
    tl.store(out + B + a, narrow + tl.max(wide, axis=0))
    ties = tl.sum((narrow[:, None] == wide[None, :]).to(tl.int32), axis=1)
    tl.store(out + B + A + a, ties)


@sizes_kernel.example(a=4, b=64)
@sizes_kernel.example(a=64, b=1)
@sizes_kernel.example(a=16, b=32)
def sizes(a, b):
    narrow, wide = X[:a], X[:b]
    ties = (narrow[:, None] == wide[None, :]).sum(axis=1)
    expected = np.concatenate([wide * narrow.sum(), narrow + wide.max(), ties])
    return example(expected.astype(np.int32), x=X, A=a, B=b)


# --- types ------------------------------------------------------------------------------------------------------------


@triton.jit
def element_types_kernel(x, out, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    if v.dtype == tl.float16:
        v = v.to(tl.float32) + 1
    wide = (v * 2).to(out.dtype.element_ty)
    tl.store(out + i, wide)
    tl.store(y + i, tl.zeros((B,), y.dtype.element_ty) + wide.to(y.dtype.element_ty))


@element_types_kernel.example(source="float16", to="float32")
@element_types_kernel.example(source="int32", to="float64")
@element_types_kernel.example(source="float32", to="int16")
def element_types(source, to):
    x = X.astype(source)
    expected = (x.astype(np.float64) + (source == "float16")) * 2
    args = {"x": x, "out": np.zeros(64, to), "y": np.zeros(64, np.int32), "B": 64}
    return triton.Example(args=args, grid=1, expected={"out": expected, "y": expected.astype(np.int32)})


@triton.jit
def bitcast_kernel(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    bits = tl.load(x + i).to(tl.int32, bitcast=True)
    sign = bits & -2147483648
    tl.store(out + i, (((bits & 0x7F800000) >> 23) - 127).to(tl.float32))
    tl.store(out + B + i, (sign | 0x3F800000).to(tl.float32, bitcast=True))


@bitcast_kernel.example()
def bitcast():
    x = np.where(F == 0, np.float32(0.5), F)
    exponent = np.floor(np.log2(np.abs(x)))
    return example(np.stack([exponent, np.copysign(1, x)]).astype(np.float32), x=x, B=64)


@triton.jit
def scalars_kernel(x, out, n, scale):
    pid = tl.program_id(0)
    v = tl.load(x + pid)
    blocks = tl.cdiv(n, 16)
    smaller = min(v, n)
    larger = max(v, blocks)
    tl.store(out + pid, (smaller * larger + n // 3 - n % 7) * scale)


@scalars_kernel.example()
def scalars():
    expected = (np.minimum(X, 50) * np.maximum(X, 4) + 50 // 3 - 50 % 7) * np.float32(0.5)
    return example(expected.astype(np.float32), grid=64, x=X, n=50, scale=0.5)


@triton.jit
def hints_kernel(x, out, n, B: tl.constexpr):
    i = tl.max_contiguous(tl.multiple_of(tl.arange(0, B), B), B)
    tl.assume(n > 0)
    mask = i < n
    v = tl.load(x + i, mask=mask, other=0, cache_modifier=".cg", eviction_policy="evict_last")
    tl.debug_barrier()
    tl.store(out + i, v + 1, mask=mask, cache_modifier=".wb", eviction_policy="evict_first")


@hints_kernel.example()
def hints():
    return example(np.where(np.arange(64) < 50, X + 1, 0).astype(np.int32), x=X, n=50, B=64)


@triton.jit
def functions_kernel(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out + i, tl.clamp(v, -2.0, 3.0))
    tl.store(out + B + i, tl.fma(v, v, 1.0))
    tl.store(out + 2 * B + i, tl.floor(v) + tl.ceil(v))
    tl.store(out + 3 * B + i, tl.sqrt(tl.abs(v)))
    tl.store(out + 4 * B + i, tl.exp2(tl.floor(v)))
    tl.store(out + 5 * B + i, tl.minimum(v, 1.5) + tl.maximum(-v, 0.5))


@functions_kernel.example()
def functions():
    rows = [np.clip(F, -2, 3), F * F + 1, np.floor(F) + np.ceil(F), np.sqrt(np.abs(F)), 2.0 ** np.floor(F)]
    rows.append(np.minimum(F, np.float32(1.5)) + np.maximum(-F, np.float32(0.5)))
    return example(np.stack(rows).astype(np.float32), x=F, B=64)


@triton.jit
def softmax_rows_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    """Statistics of rows of a tile, spread over it again."""
    m, n = tl.arange(0, M), tl.arange(0, N)
    offs = m[:, None] * N + n[None, :]
    tile = tl.load(x + offs)
    tile = tl.exp(tile - tl.max(tile, axis=1)[:, None])
    tl.store(out + offs, tile / tl.sum(tile, axis=1)[:, None])


@softmax_rows_kernel.example(m=4, n=16)
@softmax_rows_kernel.example(m=32, n=2)
def softmax_rows(m, n):
    x = F.reshape(m, n)
    wide = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return example((wide / wide.sum(axis=1, keepdims=True)).astype(np.float32), x=x, M=m, N=n)


@triton.jit
def brain_floats_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    offs = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tile = tl.load(x + offs).to(tl.float32)
    tl.store(out + offs, (tile + tl.sum(tile, axis=0)[None, :]).to(tl.bfloat16))


@brain_floats_kernel.example()
def brain_floats():
    x = np.round(F).reshape(8, 8).astype(ml_dtypes.bfloat16)
    wide = x.astype(np.float32)
    return example((wide + wide.sum(axis=0)).astype(ml_dtypes.bfloat16), x=x, M=8, N=8)
