"""Scans and orders: running sums of rows, a linear recurrence, the largest elements and where they are."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def cumsum_kernel(x, out, n, BLOCK: tl.constexpr):
    """The running sum of one row a program, a block at a time: each starts where the one before ended."""
    row = tl.program_id(0)
    before = tl.zeros((), dtype=tl.float32)
    for start in range(0, n, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        block = tl.load(x + row * n + offs, mask=offs < n, other=0.0)
        tl.store(out + row * n + offs, before + tl.cumsum(block, axis=0), mask=offs < n)
        before += tl.sum(block, axis=0)


@triton.jit
def then(a, b, c, d):
    """x -> a x + b, followed by x -> c x + d."""
    return a * c, b * c + d


@triton.jit
def recurrence_kernel(decay, x, out, n, BLOCK: tl.constexpr):
    """h[t] = decay[t] h[t - 1] + x[t] for all t at once: composing such steps is associative."""
    offs = tl.program_id(0) * n + tl.arange(0, BLOCK)
    mask = tl.arange(0, BLOCK) < n
    a = tl.load(decay + offs, mask=mask, other=1.0)
    b = tl.load(x + offs, mask=mask, other=0.0)
    _, h = tl.associative_scan((a, b), axis=0, combine_fn=then)
    tl.store(out + offs, h, mask=mask)


@triton.jit
def top_k_kernel(x, values, first, n, K: tl.constexpr, BLOCK: tl.constexpr):
    """The K largest elements of a row, in order, and where the largest is."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    block = tl.load(x + row * n + offs, mask=offs < n, other=float("-inf"))
    tl.store(values + row * K + tl.arange(0, K), tl.topk(block, K))
    tl.store(first + row, tl.argmax(block, axis=0))


@cumsum_kernel.example(rows=3, n=1000)
@cumsum_kernel.example(rows=1, n=1)
@cumsum_kernel.example(rows=2, n=0)
def cumsum(rows, n):
    x = np.random.default_rng(0).standard_normal((rows, n), dtype=np.float32)
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "n": n, "BLOCK": 256},
        grid=(rows,),
        expected={"out": x.cumsum(axis=1, dtype=np.float64)},
        rtol=1e-4,
        atol=1e-4,
    )


@recurrence_kernel.example(rows=3, n=200)
@recurrence_kernel.example(rows=1, n=1)
def recurrence(rows, n):
    rng = np.random.default_rng(0)
    decay, x = rng.random((rows, n), dtype=np.float32), rng.standard_normal((rows, n), dtype=np.float32)
    h = x.astype(np.float64)
    for t in range(1, n):
        h[:, t] += decay[:, t] * h[:, t - 1]
    return triton.Example(
        args={"decay": decay, "x": x, "out": np.zeros_like(x), "n": n, "BLOCK": triton.next_power_of_2(n)},
        grid=(rows,),
        expected={"out": h},
        rtol=1e-4,
        atol=1e-5,
    )


@top_k_kernel.example(rows=4, n=200, k=8)
@top_k_kernel.example(rows=1, n=1, k=1)
def top_k(rows, n, k):
    x = np.random.default_rng(0).standard_normal((rows, n), dtype=np.float32)
    return triton.Example(
        args={
            "x": x, "values": np.zeros((rows, k), np.float32), "first": np.zeros(rows, np.int32), "n": n,
            "K": k, "BLOCK": triton.next_power_of_2(n),
        },
        grid=(rows,),
        expected={"values": np.sort(x, axis=1)[:, ::-1][:, :k], "first": x.argmax(axis=1)},
    )  # fmt: skip
