"""Small kernels of addresses: pointers as conditions, as numbers, and made of numbers."""

from __future__ import annotations

import numpy as np

import mytriton as triton
import mytriton.language as tl

X = np.arange(16, dtype=np.int32) * 3 - 7


@triton.jit
def optional_kernel(x, bias, out, n, B: tl.constexpr):
    """What is done where an array is there, and where a pointer leads nowhere."""
    i = tl.arange(0, B)
    nowhere = (bias.to(tl.int64) - bias.to(tl.int64)).to(tl.pointer_type(tl.int32))
    total = tl.load(x + i)
    if bias:
        total += tl.load(bias + i)
    if nowhere and n > 0:
        total += tl.load(nowhere + i)
    if not nowhere:
        total += 100
    total += 1000 if nowhere or n > 3 else 2000
    tl.store(out + i, total)


@optional_kernel.example(n=4)
@optional_kernel.example(n=3)
def optional(n):
    return triton.Example(
        args={"x": X, "bias": X * 2, "out": np.zeros_like(X), "n": n, "B": 16},
        grid=1,
        expected={"out": X * 3 + 100 + (1000 if n > 3 else 2000)},
    )


@triton.jit
def addresses_kernel(x, out, n, B: tl.constexpr):
    """Elements at addresses that were computed as numbers: a block of them, the upper halves of words, a scalar."""
    i = tl.arange(0, B)
    words = (x.to(tl.uint64) + 8 * i.to(tl.uint64)).to(tl.pointer_type(tl.int64))
    here = i < n
    upper = tl.load(words, mask=here, other=0) >> 32
    tl.store(out + i, upper.to(tl.int32))
    last = (words.to(tl.int64) + 4).to(tl.pointer_type(tl.int32))
    tl.store(out + B + i, tl.load(last, mask=here & last.to(tl.int1), other=-1))
    end = (out.to(tl.int64) + 8 * B).to(tl.pointer_type(tl.int32))
    tl.store(end, tl.load(end - 1) + n)


@addresses_kernel.example(n=5)
@addresses_kernel.example(n=8)
def addresses(n):
    odd, here = X[1::2], np.arange(8) < n
    expected = np.concatenate([np.where(here, odd, 0), np.where(here, odd, -1), [0]])
    expected[-1] = expected[-2] + n
    return triton.Example(
        args={"x": X, "out": np.zeros(17, np.int32), "n": n, "B": 8},
        grid=1,
        expected={"out": expected.astype(np.int32)},
        options={"num_warps": 1},
    )
