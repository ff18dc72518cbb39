"""Small kernels that look elements up by others, and count them."""

from __future__ import annotations

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def gather_kernel(x, at, out, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Rows of another length, columns, and indices that are computed or themselves looked up."""
    i, j, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)[None, :]
    v = tl.load(x + i * N + j)
    where = tl.load(at + i * K + k)
    rows = tl.gather(v, where, 1)
    tl.store(out + i * K + k, rows)
    turned = v.gather(((i + j) % M).to(tl.int64), axis=-2)
    tl.store(out + M * K + i * N + j, turned)
    line = tl.load(at + tl.arange(0, K))
    twice = tl.gather(line, tl.gather(line, line & (K - 1), 0) & (K - 1), 0)
    tl.store(out + M * (K + N) + tl.arange(0, K), twice)


@gather_kernel.example(m=4, n=16, k=8, dtype="float32")
@gather_kernel.example(m=1, n=1, k=4, dtype="int8")
@gather_kernel.example(m=2, n=64, k=256, dtype="int64")
@gather_kernel.example(m=64, n=256, k=2, dtype="float32")
def gather(m, n, k, dtype):
    x = (np.arange(m * n) * 37 % 101 - 50).reshape(m, n).astype(dtype)
    at = (np.arange(m * k) * 29 % n).reshape(m, k).astype(np.int32)
    i, j, line = np.arange(m)[:, None], np.arange(n), at[0]
    parts = [np.take_along_axis(x, at, 1), np.take_along_axis(x, (i + j) % m, 0), line[line[line % k] % k]]
    out = np.concatenate([p.reshape(-1) for p in parts]).astype(dtype)
    return triton.Example(
        args={"x": x, "at": at, "out": np.zeros_like(out), "M": m, "N": n, "K": k}, grid=1, expected={"out": out}
    )


@triton.jit
def table_kernel(x, out, n, B: tl.constexpr):
    """Halves and bools, looked up in a loop that changes them."""
    i = tl.arange(0, B)
    v = tl.load(x + i)
    odd = (i & 1) == 1
    for k in range(n):
        v = tl.gather(v, i ^ k, 0) + 1
        odd = tl.gather(odd, (i + 1) % B, 0)
    tl.store(out + i, tl.where(odd, v, -v))


@table_kernel.example(n=3, block=16)
@table_kernel.example(n=2, block=512)
def table(n, block):
    i = np.arange(block)
    x = (i * 7 % 31).astype(np.float16)
    v, odd = x, i & 1 == 1
    for k in range(n):
        v, odd = v[i ^ k] + np.float16(1), odd[(i + 1) % block]
    expected = np.where(odd, v, -v).astype(np.float16)
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "n": n, "B": block}, grid=1, expected={"out": expected}
    )


@triton.jit
def beyond_kernel(x, out, B: tl.constexpr):
    """An index counts modulo the extent."""
    i = tl.arange(0, B)
    tl.store(out + i, tl.gather(tl.load(x + i), -3 * i, 0))


@beyond_kernel.example(block=32)
def beyond(block):
    x = np.arange(block, dtype=np.int32)
    expected = x[-3 * x % block]
    return triton.Example(args={"x": x, "out": np.zeros_like(x), "B": block}, grid=1, expected={"out": expected})


@triton.jit
def histogram_kernel(x, out, n, B: tl.constexpr, BINS: tl.constexpr):
    """All programs' counts of what is inside, and of what is so twice as often."""
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0)
    counts = tl.histogram(v, BINS, mask=i < n)
    bins = tl.arange(0, BINS)
    tl.atomic_add(out + bins, counts)
    both = tl.sum(v.to(tl.uint32, bitcast=True).histogram(BINS) + tl.histogram(v & 1, BINS))
    tl.atomic_add(out + BINS, both)


@histogram_kernel.example(n=100, block=64, bins=16)
@histogram_kernel.example(n=1, block=1, bins=1)
@histogram_kernel.example(n=1024, block=1024, bins=256)
@histogram_kernel.example(n=200, block=256, bins=16384)
def histogram(n, block, bins):
    x = (np.arange(n) * 7919 % (bins + 5) - 2).astype(np.int32)
    padded = np.append(x, np.zeros(-n % block, np.int32))
    counts = np.bincount(x[(x >= 0) & (x < bins)], minlength=bins)
    both = ((padded >= 0) & (padded < bins)).sum() + ((padded & 1) < bins).sum()
    out = np.append(counts, both).astype(np.int32)
    return triton.Example(
        args={"x": x, "out": np.zeros(bins + 1, np.int32), "n": n, "B": block, "BINS": bins},
        grid=triton.cdiv(n, block),
        expected={"out": out},
    )
