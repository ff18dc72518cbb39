"""Small kernels, continued: helpers, arguments and order."""

from __future__ import annotations

import numpy as np

import mytriton as triton
import mytriton.language as tl
from tests.feature_kernels import X, example

# --- helpers ----------------------------------------------------------------------------------------------------------


@triton.jit
def swapped(a, b):
    return b, a


@triton.jit
def scaled(v, factor=2, OFFSET: tl.constexpr = 1):
    v = v * factor
    return v + OFFSET


@triton.jit
def store_both(out, a, b):
    tl.store(out, a)
    tl.store(out + 64, b)


@triton.jit
def sum_and_max(v):
    return tl.sum(v, axis=0), tl.max(v, axis=0)


@triton.jit
def helpers_kernel(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    a, b = swapped(v, scaled(v))
    total, largest = sum_and_max(v)
    for k in range(n):
        a, b = swapped(scaled(a, factor=k), scaled(b, 3, OFFSET=-2) + total)
    store_both(out + i, a + largest, scaled(OFFSET=5, v=b))


@helpers_kernel.example(n=0)
@helpers_kernel.example(n=3)
def helpers(n):
    v = X.astype(np.int64)
    a, b = v * 2 + 1, v
    for k in range(n):
        a, b = b * 3 - 2 + v.sum(), a * k + 1
    return example(np.stack([a + v.max(), b * 2 + 5]).astype(np.int32), x=X, n=n, B=64)


@triton.jit
def optional_kernel(x, bias, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    if bias is not None:
        v += tl.load(bias + i)
    if bias is None:
        v = -v
    tl.store(out + i, v)


@optional_kernel.example(bias=True)
@optional_kernel.example(bias=False)
def optional(bias):
    return example(2 * X if bias else -X, x=X, bias=X if bias else None, B=64)


# --- order ------------------------------------------------------------------------------------------------------------


@triton.jit
def in_place_kernel(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    for k in range(n):
        v = tl.load(out + i)
        tl.store(out + i, v + tl.load(x + i) * k)
        if k == 2:
            tl.store(out + i, -tl.load(out + i))


@in_place_kernel.example()
def in_place():
    return example(4 * X, x=X, n=5, B=64)  # 0, 1, 3, turned to -3, 0, 4
