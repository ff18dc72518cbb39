"""Small kernels with functions of single elements, which take different ways through branches and loops."""

from __future__ import annotations

import numpy as np

import mytriton as triton
import mytriton.language as tl
from tests.feature_kernels import F, X, example


@triton.jit
def selu(x, alpha):
    if x > 0:
        return x
    return alpha * (tl.exp(x) - 1)


@triton.jit
def collatz(n, limit):
    """How many steps it takes to 1, and the largest number on the way."""
    steps = 0
    most = n
    while n > 1 and steps < limit:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
            most = max(most, n)
        steps += 1
    return steps, most


@triton.jit
def ranges(start, end, step):
    """A loop whose bounds are each element's own, in one that is the same for all."""
    total = 0
    last = 0
    for k in range(2):
        for i in range(start, end, step):
            total += i * (k + 1)
            last = i
    return total * 1000 + last


@triton.jit
def chosen(p, out, x):
    """Memory is touched only where it is needed: there is nothing beyond the ends."""
    found = x - x
    if x >= 0 and x < 64:
        found = tl.load(p + x)
        tl.store(out + x, found + 1)
        if found % 2 == 0:
            tl.atomic_add(out + 64, 1)
    return found


@triton.jit
def divmod_pairs(a0, a1, b0, b1):
    return a0 // b0, a1 // b1, a0 % b0, a1 % b1


@triton.jit
def selu_kernel(x, out, alpha, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.map_elementwise(selu, tl.load(x + i), alpha))


@selu_kernel.example()
def branches():
    expected = np.where(F > 0, F, np.float32(1.5) * (np.exp(F) - 1)).astype(np.float32)
    return example(expected, x=F, alpha=1.5, B=64)


@triton.jit
def collatz_kernel(out, limit, B: tl.constexpr):
    i = tl.arange(0, B)
    steps, most = tl.map_elementwise(collatz, i[:, None] * 16 + tl.arange(0, 16)[None, :], limit)
    at = i[:, None] * 16 + tl.arange(0, 16)[None, :]
    tl.store(out + at, steps)
    tl.store(out + 16 * B + at, most)


@collatz_kernel.example(limit=30)
@collatz_kernel.example(limit=0)
def ways(limit):
    expected = np.zeros((2, 64), np.int32)
    for n in range(64):
        m = most = n
        steps = 0
        while m > 1 and steps < limit:
            m = m // 2 if m % 2 == 0 else 3 * m + 1
            most, steps = max(most, m), steps + 1
        expected[:, n] = steps, most
    return example(expected, limit=limit, B=4)


@triton.jit
def ranges_kernel(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out + i, tl.map_elementwise(ranges, v % 7, i % 9 + (v >> 31) * 12, (v | 1) % 4))


@ranges_kernel.example()
def own_ranges():
    expected = []
    for i, v in enumerate(X.tolist()):
        start, step = int(np.fmod(v, 7)), int(np.fmod(v | 1, 4))
        numbers = list(range(start, i % 9 + (v >> 31) * 12, step))
        expected.append(sum(numbers) * 3 * 1000 + (numbers[-1] if numbers else 0))
    return example(np.array(expected, np.int32), x=X, B=64)


@triton.jit
def chosen_kernel(p, x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + 65 + i, tl.map_elementwise(chosen, p, out, tl.load(x + i)))


@chosen_kernel.example()
def memory():
    p = np.arange(64, dtype=np.int32) * 3 + 1
    found = np.where((X >= 0) & (X < 64), p[np.clip(X, 0, 63)], 0)
    inside = np.unique(X[X >= 0])
    out = np.zeros(65 + 64, np.int32)
    out[inside] = p[inside] + 1
    out[64] = (found[X >= 0] % 2 == 0).sum()
    out[65:] = found
    return example(out, p=p, x=X, B=64)


@triton.jit
def pairs_kernel(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    quotient, rest = tl.map_elementwise(divmod_pairs, tl.load(x + i), i + 1, pack=2)
    tl.store(out + i, quotient)
    tl.store(out + B + i, rest)


@pairs_kernel.example()
def packed():
    i = np.arange(64) + 1
    quotient = np.trunc(X / i).astype(np.int32)
    return example(np.stack([quotient, X - quotient * i]).astype(np.int32), x=X, B=64)


@triton.jit
def nearest(a, b):
    """The one of two nearer to 10, by a branch."""
    if abs(a - 10) <= abs(b - 10):
        return a
    return b


@triton.jit
def combined_kernel(x, out, B: tl.constexpr):
    """Functions by which blocks are reduced and scanned are of single elements, too."""
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out + i, tl.associative_scan(v, 0, nearest))
    tl.store(out + B, tl.reduce(v, 0, nearest))


@combined_kernel.example()
def combined():
    scanned = [X[0]]
    for v in X[1:]:
        scanned.append(scanned[-1] if abs(scanned[-1] - 10) <= abs(v - 10) else v)
    return example(np.array([*scanned, scanned[-1]], np.int32), x=X, B=64)
