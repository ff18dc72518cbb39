"""Programs that add to the same places: a histogram, a sum, and a matrix product with K shared among programs."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def histogram_kernel(x, counts, n, low, width, BINS: tl.constexpr, BLOCK: tl.constexpr):
    """How many elements fall into each of BINS intervals; what lies outside counts as the first or last."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    place = tl.clamp(tl.floor((value - low) / width), 0.0, BINS - 1.0).to(tl.int32)
    tl.atomic_add(counts + place, 1, mask=mask, sem="relaxed")


@triton.jit
def sum_kernel(x, total, done, n, BLOCK: tl.constexpr):
    """The sum of all elements: each program adds what it has, and the last one to be done says so."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    part = tl.sum(tl.load(x + offs, mask=offs < n, other=0.0), axis=0)
    tl.atomic_add(total, part)
    before = tl.atomic_add(done, 1)
    if before == tl.num_programs(0) - 1:
        tl.atomic_xchg(done, -1)


@triton.jit
def split_k_kernel(
    a, b, c, M, N, K, SPLIT: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    """c += a @ b for tall K and few tiles: SPLIT programs take every SPLIT-th block of K, and add up in memory."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(tl.program_id(2) * BLOCK_K, K, SPLIT * BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.atomic_add(c + m[:, None] * N + n[None, :], acc, mask=inside, sem="relaxed")


@histogram_kernel.example(n=1000)
@histogram_kernel.example(n=1)
@histogram_kernel.example(n=0)
def histogram(n, bins=10):
    x = np.random.default_rng(0).standard_normal(n, dtype=np.float32)
    place = np.clip(np.floor((x + np.float32(2)) / np.float32(0.5)), 0, bins - 1).astype(np.int32)
    return triton.Example(
        args={
            "x": x, "counts": np.zeros(bins, np.int32), "n": n, "low": -2.0, "width": 0.5, "BINS": bins, "BLOCK": 256,
        },
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"counts": np.bincount(place, minlength=bins)},
    )  # fmt: skip


@sum_kernel.example(n=1000)
@sum_kernel.example(n=1)
def total(n):
    x = np.random.default_rng(0).standard_normal(n, dtype=np.float32)
    return triton.Example(
        args={"x": x, "total": np.zeros(1, np.float32), "done": np.zeros(1, np.int32), "n": n, "BLOCK": 128},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"total": [x.sum(dtype=np.float64)], "done": [-1]},
        rtol=1e-4,
        atol=1e-5,
    )


@split_k_kernel.example(m=20, n=17, k=200)
@split_k_kernel.example(m=1, n=1, k=1)
def split_k(m, n, k, split=4):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k), dtype=np.float32), rng.standard_normal((k, n), dtype=np.float32)
    return triton.Example(
        args={
            "a": a, "b": b, "c": np.zeros((m, n), np.float32), "M": m, "N": n, "K": k,
            "SPLIT": split, "BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 16,
        },
        grid=(triton.cdiv(m, 16), triton.cdiv(n, 16), split),
        expected={"c": a.astype(np.float64) @ b},
        rtol=1e-3,  # (factors may be rounded to tf32)
        atol=2e-2,
    )  # fmt: skip
