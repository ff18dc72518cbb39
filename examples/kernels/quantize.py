"""Floats of 8 bits: rows scaled to their range, and the product of two such matrices."""

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def quantize_rows_kernel(x, out, scales, K, BLOCK: tl.constexpr):
    """Each row divided by its scale, which makes 448 of its largest magnitude: the largest number of float8e4nv. What
    rounding takes beyond that becomes 448, too."""
    row = tl.program_id(0)
    k = tl.arange(0, BLOCK)
    v = tl.load(x + row * K + k, mask=k < K, other=0.0)
    scale = tl.maximum(tl.max(tl.abs(v)) / 448, 1e-30)
    tl.store(out + row * K + k, (v / scale).to(tl.float8e4nv), mask=k < K)
    tl.store(scales + row, scale)


@triton.jit
def quantized_gemm_kernel(
    a, scale_a, b, scale_b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    """c = a @ b with a scale for each row of a and each column of b: sums of float32, scaled at the end."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        x = tl.load(a + m[:, None] * K + k[None, :], mask=(m[:, None] < M) & (k[None, :] < K), other=0.0)
        y = tl.load(b + k[:, None] * N + n[None, :], mask=(k[:, None] < K) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
    acc *= tl.load(scale_a + m, mask=m < M, other=0.0)[:, None] * tl.load(scale_b + n, mask=n < N, other=0.0)[None, :]
    tl.store(c + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@quantize_rows_kernel.example(m=3, k=100)
def quantize_rows(m, k):
    x = np.random.default_rng(0).standard_normal((m, k), dtype=np.float32)
    x[1] = 0
    scales = np.maximum(np.abs(x).max(1) / np.float32(448), np.float32(1e-30))
    return triton.Example(
        args={"x": x, "out": np.zeros((m, k), ml_dtypes.float8_e4m3fn), "scales": np.zeros(m, np.float32), "K": k,
              "BLOCK": triton.next_power_of_2(k)},
        grid=(m,),
        expected={"out": (x / scales[:, None]).astype(ml_dtypes.float8_e4m3fn), "scales": scales},
        atol=0,
        rtol=0,
    )  # fmt: skip


@quantized_gemm_kernel.example(m=20, n=24, k=40)
def quantized_gemm(m, n, k):
    rng = np.random.default_rng(1)
    a = (100 * rng.standard_normal((m, k))).clip(-448, 448).astype(ml_dtypes.float8_e4m3fn)
    b = (100 * rng.standard_normal((k, n))).astype(ml_dtypes.float8_e5m2)
    scale_a, scale_b = rng.random(m, np.float32), rng.random(n, np.float32)
    product = a.astype(np.float64) @ b.astype(np.float64) * scale_a[:, None] * scale_b
    return triton.Example(
        args={"a": a, "scale_a": scale_a, "b": b, "scale_b": scale_b, "c": np.zeros((m, n), np.float32),
              "M": m, "N": n, "K": k, "BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 32},
        grid=lambda meta: (triton.cdiv(m, meta["BLOCK_M"]), triton.cdiv(n, meta["BLOCK_N"])),
        expected={"c": product},
        rtol=1e-5,
        atol=1e-1,
    )  # fmt: skip
