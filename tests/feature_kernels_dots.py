"""Small kernels of matrix products: shapes, types, and where their factors and sums come from."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def product_kernel(a, b, out, M: tl.constexpr, K: tl.constexpr, N: tl.constexpr, FLIP: tl.constexpr,
                   PRECISION: tl.constexpr):  # fmt: skip
    """Both factors as they are, or both from the transposed blocks."""
    m, k, n = tl.arange(0, M), tl.arange(0, K), tl.arange(0, N)
    if FLIP:
        x = tl.trans(tl.load(a + k[:, None] * M + m[None, :]))
        y = tl.trans(tl.load(b + n[:, None] * K + k[None, :]))
    else:
        x = tl.load(a + m[:, None] * K + k[None, :])
        y = tl.load(b + k[:, None] * N + n[None, :])
    tl.store(out + m[:, None] * N + n[None, :], tl.dot(x, y, input_precision=PRECISION))


@product_kernel.example(m=1, k=1, n=1, dtype="float32")
@product_kernel.example(m=1, k=64, n=2, dtype="float32")
@product_kernel.example(m=64, k=2, n=1, dtype="float32")
@product_kernel.example(m=32, k=128, n=64, dtype="float64", warps=2)  # three rounds of eight: 32 KB hold 42 steps
@product_kernel.example(m=2, k=4, n=256, dtype="float32", warps=1)
@product_kernel.example(m=16, k=16, n=32, dtype="int8")
@product_kernel.example(m=8, k=32, n=8, dtype="bfloat16", warps=8)
@product_kernel.example(m=8, k=16, n=4, dtype="float8_e4m3fn")
@product_kernel.example(m=32, k=64, n=16, dtype="bfloat16")  # tensor cores from here on, where there are some
@product_kernel.example(m=64, k=32, n=64, dtype="float16", warps=8, flip=True)
@product_kernel.example(m=16, k=16, n=32, dtype="float32", flip=True)
@product_kernel.example(m=32, k=32, n=16, dtype="float32", precision="tf32x3")
@product_kernel.example(m=32, k=16, n=32, dtype="float32", flip=True, precision="tf32x3")
@product_kernel.example(m=32, k=64, n=64, dtype="int8", warps=1)
@product_kernel.example(m=16, k=32, n=64, dtype="int8", warps=2, flip=True)
@product_kernel.example(m=16, k=32, n=16, dtype="float64", flip=True)
@product_kernel.example(m=32, k=256, n=128, dtype="float16")  # four rounds
def product(m, k, n, dtype, warps=4, flip=False, precision="tf32"):
    rng = np.random.default_rng(m + k)
    integers = dtype == "int8"
    numbers = rng.integers(-128, 128, 2 * (m * k + k * n)) if integers else rng.standard_normal(2 * (m * k + k * n))
    numbers = numbers.astype(getattr(ml_dtypes, dtype, dtype))
    a, b = numbers[: m * k].reshape(m, k), numbers[m * k : m * k + k * n].reshape(k, n)
    wide = np.int32 if integers else np.float64
    total = {"int8": np.int32, "float64": np.float64}.get(dtype, np.float32)
    expected = a.astype(wide) @ b.astype(wide)
    if flip:
        a, b = (np.ascontiguousarray(x.T) for x in (a, b))
    rounded = dtype == "float32" and precision == "tf32"
    return triton.Example(
        args={
            "a": a,
            "b": b,
            "out": np.zeros((m, n), total),
            "M": m,
            "K": k,
            "N": n,
            "FLIP": flip,
            "PRECISION": precision,
        },
        grid=1,
        expected={"out": expected},
        options={"num_warps": warps},
        atol=1e-2 if rounded else 5e-5,
        rtol=1e-3 if rounded else 1e-5,
    )


@triton.jit
def scaled_kernel(a, sa, b, sb, out, FA: tl.constexpr, FB: tl.constexpr, PA: tl.constexpr, PB: tl.constexpr):
    """32 x 64 times 64 x 16, in formats FA and FB, of which "e2m1" has PA and PB numbers a byte."""
    m, n, g = tl.arange(0, 32)[:, None], tl.arange(0, 16), tl.arange(0, 2)
    ka, kb = tl.arange(0, 64 // PA), tl.arange(0, 64 // PB)
    x = tl.load(a + m * (64 // PA) + ka[None, :])
    y = tl.load(b + kb[:, None] * 16 + n[None, :])
    scale = tl.load(sa + m * 2 + g[None, :])
    if sb is None:
        total = tl.dot_scaled(x, scale, FA, y, None, FB)
    else:
        ones = tl.full((32, 16), 1.0, tl.float32)
        total = tl.dot_scaled(x, scale, FA, y, tl.load(sb + n[:, None] * 2 + g[None, :]), FB, ones)
    tl.store(out + m * 16 + n[None, :], total)


@scaled_kernel.example(of="e4m3", by="e2m1")
@scaled_kernel.example(of="e2m1", by="e5m2")
@scaled_kernel.example(of="e5m2", by="bf16")
def scaled(of, by):
    rng = np.random.default_rng(4)
    sixteenths = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
    dtypes = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2, "bf16": ml_dtypes.bfloat16}

    def block(name, shape, axis):
        """What is passed, and the numbers it stands for."""
        if name != "e2m1":
            made = rng.standard_normal(shape).astype(dtypes[name])
            return made, made.astype(np.float32)
        digits = np.moveaxis(rng.integers(0, 16, shape, np.uint8), axis, -1)
        packed = digits[..., ::2] | digits[..., 1::2] << 4
        return np.ascontiguousarray(np.moveaxis(packed, -1, axis)), np.moveaxis(sixteenths[digits], -1, axis)

    (a, x), (b, y) = block(of, (32, 64), 1), block(by, (64, 16), 0)
    sa, sb = rng.integers(120, 130, (32, 2), np.uint8), rng.integers(120, 130, (16, 2), np.uint8)
    x = x * np.repeat(2.0 ** (sa - 127.0), 32, 1)
    y = y if by == "bf16" else y * np.repeat(2.0 ** (sb - 127.0), 32, 1).T
    expected = x.astype(np.float64) @ y + (by != "bf16")
    return triton.Example(
        args={
            "a": a, "sa": sa, "b": b, "sb": None if by == "bf16" else sb, "out": np.zeros((32, 16), np.float32),
            "FA": of, "FB": by, "PA": 1 + (of == "e2m1"), "PB": 1 + (by == "e2m1"),
        },
        grid=1,
        expected={"out": expected},
        atol=1e-4,
        rtol=1e-5,
    )  # fmt: skip


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
        atol=3e-2,  # (tf32)
        rtol=1e-2,
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
