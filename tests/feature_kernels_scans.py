"""Small kernels of scans, orders, and reductions with functions of the author's."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl
from tests.feature_kernels import example


@triton.jit
def larger(first, i, second, j):
    """The larger of two values and its index; of equals the first."""
    ours = (first > second) | ((first == second) & (i < j))
    return tl.where(ours, first, second), tl.where(ours, i, j)


@triton.jit
def highest(a, b):
    return tl.maximum(a, b)


@triton.jit
def lowest(a, b):
    return tl.minimum(a, b)


@triton.jit
def after(a, b, c, d):
    """x -> a x + b, and then x -> c x + d. Not commutative."""
    return a * c, b * c + d


@triton.jit
def scans_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    at = m * N + n
    v = tl.load(x + at)
    tl.store(out + at, tl.cumsum(v, axis=1))
    tl.store(out + M * N + at, tl.cumsum(v, 0, reverse=True))
    tl.store(out + 2 * M * N + at, tl.cumprod(v | 1, -1, dtype=tl.int32))
    tl.store(out + 3 * M * N + at, tl.associative_scan(v, 0, highest))
    a, b = tl.associative_scan((v, v + 3), axis=1, combine_fn=after, reverse=True)
    tl.store(out + 4 * M * N + at, a + b)


@scans_kernel.example(m=4, n=16)
@scans_kernel.example(m=1, n=1)
@scans_kernel.example(m=256, n=2)
@scans_kernel.example(m=2, n=512)
def scans(m, n):
    x = (np.arange(m * n, dtype=np.int32) * 37 % 41).reshape(m, n) - 20
    a, b = x.copy(), x + 3
    for j in range(n - 2, -1, -1):  # from the end: what is there so far, and then x
        a[:, j], b[:, j] = a[:, j + 1] * x[:, j], b[:, j + 1] * x[:, j] + x[:, j] + 3
    parts = [x.cumsum(1), x[::-1].cumsum(0)[::-1], (x | 1).cumprod(1, dtype=np.int32), np.maximum.accumulate(x), a + b]
    return example(np.concatenate(parts).astype(np.int32), x=x, M=m, N=n)


@triton.jit
def orders_kernel(x, out, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    at = m * N + n
    v = tl.load(x + at)
    tl.store(out + at, tl.sort(v))
    tl.store(out + M * N + at, v.sort(0, descending=True))
    tl.store(out + 2 * M * N + at, tl.flip(v, 0).flip())
    half = m * (N // 2) + tl.arange(0, N // 2)[None, :]
    top, small = tl.topk(v, N // 2), tl.topk(v, N // 2, descending=False)
    tl.store(out + 3 * M * N + at, tl.cat(top, small, dim=1))
    even, odd = tl.split(tl.reshape(v, (M, N // 2, 2)))
    tl.store(out + 4 * M * N + at, tl.interleave(odd, even))
    tl.store(out + 5 * M * N + half, tl.join(even, odd).permute(2, 0, 1).sum(0))
    tl.store(
        out + 5 * M * N + M * N // 2 + half,
        tl.bitonic_merge(tl.cat(top, tl.flip(small), dim=1), 1).reshape(M, 2, N // 2).max(1),
    )


@orders_kernel.example(m=4, n=16, dtype="int32")
@orders_kernel.example(m=1, n=2, dtype="float32")
@orders_kernel.example(m=2, n=256, dtype="uint8")
@orders_kernel.example(m=64, n=4, dtype="bfloat16")
def orders(m, n, dtype):
    dtype = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    x = (np.arange(m * n) * 37 % 101).reshape(m, n).astype(dtype)
    ordered = np.sort(x, 1)
    even, odd = x[:, ::2], x[:, 1::2]
    pairs = np.stack([odd, even], 2).reshape(m, n)
    both = np.concatenate([ordered[:, ::-1][:, : n // 2], ordered[:, : n // 2]], 1)
    full = [ordered, -np.sort(-x.astype(np.float32), 0), x[::-1, ::-1], both, pairs]
    wide = np.uint32 if dtype == np.uint8 else dtype
    sums = (even.astype(wide) + odd.astype(wide)).astype(dtype)
    merged = np.sort(both, 1).reshape(m, 2, n // 2).max(1)
    return triton.Example(
        args={"x": x, "out": np.zeros((6 * m, n), dtype), "M": m, "N": n},
        grid=1,
        expected={
            "out": np.concatenate([p.reshape(-1) for p in (*full, sums, merged)]).astype(dtype).reshape(6 * m, n)
        },
    )


@triton.jit
def indices_kernel(x, out, values, M: tl.constexpr, N: tl.constexpr):
    m, n = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + m[:, None] * N + n[None, :])
    tl.store(out + m, tl.argmax(v, 1))
    tl.store(out + M + m, v.argmin(axis=1))
    largest, where = tl.max(v, 1, return_indices=True)
    smallest, first = tl.min(v, 1, return_indices=True, keep_dims=True)
    tl.store(out + 2 * M + m, where + tl.reshape(first, (M,)))
    tl.store(values + m, largest - tl.reshape(smallest, (M,)))
    best, at = tl.reduce((v, n[None, :] + tl.zeros((M, N), tl.int32)), 1, larger)
    tl.store(out + 3 * M + m, at)
    tl.store(values + M + m, best)
    tl.store(out + 4 * M, tl.reduce(n, 0, lowest) + tl.reduce(m, None, highest))


@indices_kernel.example(m=4, n=16, nan=False)
@indices_kernel.example(m=1, n=1, nan=False)
@indices_kernel.example(m=2, n=512, nan=False)
@indices_kernel.example(m=8, n=8, nan=True)
def indices(m, n, nan):
    x = (np.arange(m * n) * 37 % 23).reshape(m, n).astype(np.float32)
    known = x.copy()
    best = x.max(1)
    if nan:
        x[::2, 3] = np.nan
        known = np.nan_to_num(x, nan=-1.0)
        best = known.max(1)
    highest = known.argmax(1)
    lowest = np.where(np.isnan(x), np.inf, x).argmin(1)
    out = np.concatenate([highest, lowest, highest + lowest, highest, [m - 1]]).astype(np.int32)
    values = np.concatenate([best - np.nanmin(x, 1), best]).astype(np.float32)
    if nan:  # what a comparison makes of NaN is up to the author's function
        out[3 * m : 4 * m] = _folded(x)[1]
        values[m:] = _folded(x)[0]
    return triton.Example(
        args={"x": x, "out": np.zeros_like(out), "values": np.zeros_like(values), "M": m, "N": n},
        grid=1,
        expected={"out": out, "values": values},
    )


def _folded(x):
    """`larger` in halves, as it is defined."""
    values, at = x, np.broadcast_to(np.arange(x.shape[1]), x.shape)
    while values.shape[1] > 1:
        (a, b), (i, j) = np.split(values, 2, 1), np.split(at, 2, 1)
        ours = (a > b) | ((a == b) & (i < j))
        values, at = np.where(ours, a, b), np.where(ours, i, j)
    return values[:, 0], at[:, 0]
