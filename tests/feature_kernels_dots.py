"""Small kernels of matrix products: shapes, types, and where their factors and sums come from."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def product_kernel(a, b, out, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    m, k, n = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(x, y))


@product_kernel.example(m=1, k=1, n=1, dtype="float32")
@product_kernel.example(m=1, k=64, n=2, dtype="float32")
@product_kernel.example(m=64, k=2, n=1, dtype="float32")
@product_kernel.example(m=32, k=128, n=64, dtype="float64", warps=2)  # three rounds of eight: 32 KB hold 42 steps
@product_kernel.example(m=2, k=4, n=256, dtype="float32", warps=1)
@product_kernel.example(m=16, k=16, n=32, dtype="int8")
@product_kernel.example(m=8, k=32, n=8, dtype="bfloat16", warps=8)
def product(m, k, n, dtype, warps=4):
    rng = np.random.default_rng(m + k)
    integers = dtype == "int8"
    numbers = rng.integers(-128, 128, 2 * (m * k + k * n)) if integers else rng.standard_normal(2 * (m * k + k * n))
    numbers = numbers.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    a, b = numbers[: m * k].reshape(m, k), numbers[m * k : m * k + k * n].reshape(k, n)
    wide = np.int32 if integers else np.float64
    total = {"int8": np.int32, "float64": np.float64}.get(dtype, np.float32)
    return triton.Example(
        args={"a": a, "b": b, "out": np.zeros((m, n), total), "M": m, "K": k, "N": n},
        grid=1,
        expected={"out": a.astype(wide) @ b.astype(wide)},
        options={"num_warps": warps},
        atol=1e-5,
        rtol=1e-5,
    )


@triton.jit
def chain_kernel(a, out, n, S: tl.constexpr):
    """Products of products: transposed, converted, made of constants, in branches and in a loop whose sums and factors
    are both carried."""
    i = tl.arange(0, S)
    at = i[:, None] * S + i[None, :]
    x = tl.load(a + at)
    ones = tl.dot(tl.full((S, S), 1.0, tl.float32), x)  # each row: the sums of the columns
    square = tl.dot(x, tl.trans(x), ones)
    left, total = x, tl.zeros((S, S), tl.float32)
    for j in range(n):
        if j % 2 == 0:
            total = tl.dot(left, x, acc=total)
        else:
            left = tl.dot(x, left) * 0.25
    half = tl.dot(x.to(tl.float16), square.to(tl.float16) * 0.0 + 1.0, out_dtype=tl.float16)
    tl.store(out + at, square)
    tl.store(out + S * S + at, total)
    tl.store(out + 2 * S * S + at, tl.trans(left))
    tl.store(out + 3 * S * S + at, half)


@chain_kernel.example(n=3, s=16)
@chain_kernel.example(n=0, s=4)
def chain(n, s):
    x = np.random.default_rng(1).standard_normal((s, s), dtype=np.float32)
    left, total = x.astype(np.float64), np.zeros((s, s))
    for j in range(n):
        if j % 2 == 0:
            total += left @ x
        else:
            left = x @ left * 0.25
    halves = (x.astype(np.float16).astype(np.float64) @ np.ones((s, s))).astype(np.float16)
    expected = np.concatenate([x.sum(0) + x.astype(np.float64) @ x.T, total, left.T, halves])
    return triton.Example(
        args={"a": x, "out": np.zeros((4 * s, s), np.float32), "n": n, "S": s},
        grid=1,
        expected={"out": expected},
        atol=1e-3,
        rtol=1e-3,
    )


@triton.jit
def batch_kernel(a, b, c, out, B: tl.constexpr, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr):
    i, m, k, n = tl.arange(0, B)[:, None, None], tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    x = tl.load(a + (i * M + m[None, :, None]) * K + k[None, None, :])
    y = tl.load(b + (i * K + k[None, :, None]) * N + n[None, None, :])
    at = (i * M + m[None, :, None]) * N + n[None, None, :]
    tl.store(out + at, tl.dot(x, y, tl.load(c + at), input_precision="ieee") + tl.sum(x))


@batch_kernel.example(shape=(4, 8, 2, 16))
@batch_kernel.example(shape=(2, 1, 64, 128))
def batch(shape):
    b, m, k, n = shape
    rng = np.random.default_rng(2)
    x, y, z = (rng.standard_normal(s, dtype=np.float32) for s in ((b, m, k), (b, k, n), (b, m, n)))
    return triton.Example(
        args={"a": x, "b": y, "c": z, "out": np.zeros((b, m, n), np.float32), "B": b, "M": m, "K": k, "N": n},
        grid=1,
        expected={"out": x.astype(np.float64) @ y + z + x.sum(dtype=np.float64)},
        atol=1e-4,
        rtol=1e-5,
    )


@triton.jit
def itself_kernel(a, out, n, S: tl.constexpr):
    """One value is both factors and what is added, and its name that of the result, too."""
    i = tl.arange(0, S)
    at = i[:, None] * S + i[None, :]
    x = tl.load(a + at)
    for _ in range(n):
        x = tl.dot(x, x, x)
    tl.store(out + at, x)
    tl.store(out + S * S, tl.sum(x))


@itself_kernel.example(n=2, s=64)  # two rounds, in the second of which the factors must still be what they were
@itself_kernel.example(n=1, s=1)
def itself(n, s):
    x = np.random.default_rng(3).integers(-2, 3, (s, s)).astype(np.float64)
    product = x
    for _ in range(n):
        product = product @ product + product
    return triton.Example(
        args={"a": x, "out": np.zeros(s * s + 1), "n": n, "S": s},
        grid=1,
        expected={"out": np.append(product, product.sum())},
    )
