"""Small kernels of floats of 8 bits: converted, moved, and computed with in float32."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl
from tests.feature_kernels import example
from tests.float8 import CODES, E4, E5, hard, numbers, rounded

#: Numbers without rounding errors in both, zeros and subnormals among them.
N = np.array([0, -0.0, 1, -1.5, 2**-6, -(2**-9), 448, -0.25, 3.5, 96, -28, 2**-7, 14, 0.375, 20, -64], np.float32)


@triton.jit
def float8_kernel(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(out + i, v.to(out.dtype.element_ty), mask=i < n)


@float8_kernel.example(source="float8_e4m3fn", to="float32")
@float8_kernel.example(source="float8_e5m2", to="float16")
@float8_kernel.example(source="float32", to="float8_e4m3fn")
@float8_kernel.example(source="float32", to="float8_e5m2")
def float8(source, to):
    """Every code, and float32 numbers about all that rounding decides."""
    to = np.dtype(getattr(ml_dtypes, to, to))
    if source == "float32":
        with np.errstate(over="ignore"):
            x = hard(to).astype(np.float32)
        expected = rounded(x, to).view(to)
    else:
        x = CODES.view(getattr(ml_dtypes, source))
        expected = numbers(x.dtype).astype(to)
    made = example(expected, grid=triton.cdiv(len(x), 128), x=x, n=len(x), B=128)
    return replace(made, rtol=0, atol=0)


@triton.jit
def moved8_kernel(x, out, n, M: tl.constexpr, N: tl.constexpr):
    """Through shared memory and lanes, branches and loops; chosen, ordered, and made of bits."""
    i, j = tl.arange(0, M), tl.arange(0, N)
    v = tl.load(x + i[:, None] * N + j[None, :])
    bits = v.to(tl.uint8, bitcast=True)
    kept = tl.trans(v)
    for k in range(n):
        if k % 2 == 0:
            kept = tl.flip(kept, 0)
        else:
            kept = tl.where(kept.to(tl.float32) < 2.0, kept, tl.full((N, M), 0.5, tl.float32).to(v.dtype))
    tl.store(out + j[:, None] * M + i[None, :], kept)
    back = (bits ^ 128).to(x.dtype.element_ty, bitcast=True)
    tl.store(out + M * N + i[:, None] * N + j[None, :], back)


@moved8_kernel.example(n=3, m=8, n_=64, dtype="float8_e5m2")
@moved8_kernel.example(n=2, m=1, n_=16, dtype="float8_e4m3fn")
def moved8(n, m, n_, dtype):
    v = np.resize(N, (m, n_)).astype(getattr(ml_dtypes, dtype))
    kept = v.T
    for k in range(n):
        kept = kept[::-1] if k % 2 == 0 else np.where(kept.astype(np.float32) < 2, kept, v.dtype.type(0.5))
    expected = np.concatenate([kept.reshape(-1), (-v.astype(np.float32)).reshape(-1).astype(v.dtype)])
    return example(expected, x=v, n=n, M=m, N=n_)


@triton.jit
def computed8_kernel(x, y, out, B: tl.constexpr):
    i = tl.arange(0, B)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(out + i, a * b - a / 2)
    tl.store(out + B + i, tl.where(a < b, tl.abs(a), -b) + tl.max(a))
    tl.store(out + 2 * B + i, tl.sum(a * 2) + tl.exp(a * 0) + (b >= 1))
    tl.store(out + 3 * B + i, tl.sort(b) + tl.cumsum(b))


@computed8_kernel.example()
def computed8():
    x, y = N.astype(E4), np.roll(N, 3).astype(E5)
    a, b = x.astype(np.float32), y.astype(np.float32)
    chosen = np.where(a < b, np.abs(a), -b) + a.max()
    expected = [a * b - a / 2, chosen, (2 * a).sum() + 1 + (b >= 1), np.sort(b) + np.cumsum(b)]
    return example(np.concatenate(expected), x=x, y=y, B=16)


@triton.jit
def toward_zero8_kernel(x, out, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(out + i, v.to(tl.float8e5, fp_downcast_rounding="rtz"))


@toward_zero8_kernel.example()
def toward_zero8():
    """Cutting the lower bits off a float16 rounds to float8e5 toward zero; infinity stays infinity."""
    x = np.random.default_rng(3).integers(0, 65536, 256, np.uint16).view(np.float16)
    x[:4] = np.inf, -np.inf, 65504, -65504
    x[np.isnan(x)] = 1
    made = example((x.view(np.uint16) >> 8).astype(np.uint8).view(E5), x=x.astype(np.float32), B=256)
    return replace(made, rtol=0, atol=0)
