"""Matrix products with `tl.dot`: grouped tiles with bias and activation, one tile of integers or floats, batches."""

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def gemm_kernel(
    a, b, bias, c, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    GROUP_M: tl.constexpr, ACTIVATION: tl.constexpr,
):  # fmt: skip
    """c = activation(a @ b + bias). Programs go through the tiles of c in groups of GROUP_M rows of tiles, so that
    those which run at the same time share more of a and b in the cache."""
    pid = tl.program_id(0)
    tiles_m, tiles_n = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    in_group = GROUP_M * tiles_n
    first_m = (pid // in_group) * GROUP_M
    group_m = min(tiles_m - first_m, GROUP_M)
    pid_m = first_m + (pid % in_group) % group_m
    pid_n = (pid % in_group) // group_m

    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_tile = a + m[:, None] * stride_am + k[None, :] * stride_ak
    b_tile = b + k[:, None] * stride_bk + n[None, :] * stride_bn
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        x = tl.load(a_tile, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        y = tl.load(b_tile, mask=(k[:, None] < left) & (n[None, :] < N), other=0.0)
        acc = tl.dot(x, y, acc)
        a_tile += BLOCK_K * stride_ak
        b_tile += BLOCK_K * stride_bk
    acc += tl.load(bias + n, mask=n < N, other=0.0)[None, :]
    if ACTIVATION == "relu":
        acc = tl.maximum(acc, 0.0)
    elif ACTIVATION == "silu":
        acc = acc * tl.sigmoid(acc)
    c_tile = c + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c_tile, acc.to(c.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def static_gemm_kernel(
    a, b, c, M, N, K: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, PRECISION: tl.constexpr
):
    """K is a constexpr and fits one tile: a single product, of integers or of floats in full precision."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :], mask=m[:, None] < M, other=0)
    y = tl.load(b + k[:, None] * N + n[None, :], mask=n[None, :] < N, other=0)
    mask = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * N + n[None, :], tl.dot(x, y, input_precision=PRECISION), mask=mask)


@triton.jit
def batched_gemm_kernel(
    a, b, c, M, N, K, BATCH: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    """BATCH products in each program: blocks of three axes."""
    batch = tl.program_id(2) * BATCH + tl.arange(0, BATCH)[:, None, None]
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BATCH, BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        rows, columns = m[None, :, None], n[None, None, :]
        x = tl.load(a + (batch * M + rows) * K + k[None, None, :], mask=(rows < M) & (k[None, None, :] < K), other=0.0)
        y = tl.load(
            b + (batch * K + k[None, :, None]) * N + columns, mask=(k[None, :, None] < K) & (columns < N), other=0.0
        )
        acc = tl.dot(x, y, acc=acc)
    tl.store(c + (batch * M + m[None, :, None]) * N + n[None, None, :], acc,
             mask=(m[None, :, None] < M) & (n[None, None, :] < N))  # fmt: skip


def _activated(x, activation):
    return {"": x, "relu": np.maximum(x, 0), "silu": x / (1 + np.exp(-x))}[activation]


@gemm_kernel.example(m=33, n=70, k=40, dtype="float16", activation="silu")
@gemm_kernel.example(m=64, n=64, k=32, dtype="float32", activation="relu", transposed=True)
@gemm_kernel.example(m=20, n=17, k=0, dtype="bfloat16")
def gemm(m, n, k, dtype, activation="", transposed=False):
    rng = np.random.default_rng(0)
    dtype = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    a = rng.standard_normal((m, k), dtype=np.float32).astype(dtype)
    b = rng.standard_normal((n, k) if transposed else (k, n), dtype=np.float32).astype(dtype)
    bias = rng.standard_normal(n, dtype=np.float32)
    strides_b = {"stride_bk": 1, "stride_bn": k} if transposed else {"stride_bk": n, "stride_bn": 1}
    exact = a.astype(np.float64) @ (b.T if transposed else b).astype(np.float64) + bias
    return triton.Example(
        args={
            "a": a, "b": b, "bias": bias, "c": np.zeros((m, n), dtype), "M": m, "N": n, "K": k,
            "stride_am": k, "stride_ak": 1, **strides_b, "stride_cm": n, "stride_cn": 1,
            "BLOCK_M": 32, "BLOCK_N": 32, "BLOCK_K": 16, "GROUP_M": 2, "ACTIVATION": activation,
        },
        grid=lambda meta: (triton.cdiv(m, meta["BLOCK_M"]) * triton.cdiv(n, meta["BLOCK_N"]),),
        expected={"c": _activated(exact, activation).astype(dtype)},
        # Factors of float32 may have 10 bits of mantissa, those of tf32.
        rtol=float(2 * ml_dtypes.finfo(dtype).eps) if dtype.itemsize == 2 else 1e-3,
        atol=1e-5 if dtype.itemsize == 2 else 1e-2,
    )  # fmt: skip


@static_gemm_kernel.example(m=20, n=30, dtype="int8")
@static_gemm_kernel.example(m=16, n=16, dtype="float64")
@static_gemm_kernel.example(m=1, n=1, dtype="float32")
def static_gemm(m, n, dtype, k=32):
    rng = np.random.default_rng(0)
    integers = dtype == "int8"
    numbers = (
        (lambda *shape: rng.integers(-128, 128, shape)) if integers else (lambda *shape: rng.standard_normal(shape))
    )
    a, b = numbers(m, k).astype(dtype), numbers(k, n).astype(dtype)
    return triton.Example(
        args={"a": a, "b": b, "c": np.zeros((m, n), np.int32 if integers else dtype), "M": m, "N": n, "K": k,
              "BLOCK_M": 16, "BLOCK_N": 16, "PRECISION": "ieee"},
        grid=(triton.cdiv(m, 16), triton.cdiv(n, 16)),
        expected={"c": a.astype(np.int32 if integers else np.float64) @ b.astype(np.int32 if integers else np.float64)},
        rtol=1e-5,
        atol=1e-5,
    )  # fmt: skip


@batched_gemm_kernel.example(batches=4, m=20, n=18, k=24)
@batched_gemm_kernel.example(batches=2, m=1, n=1, k=1)
def batched_gemm(batches, m, n, k):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((batches, m, k), dtype=np.float32)
    b = rng.standard_normal((batches, k, n), dtype=np.float32)
    return triton.Example(
        args={"a": a, "b": b, "c": np.zeros((batches, m, n), np.float32), "M": m, "N": n, "K": k,
              "BATCH": 2, "BLOCK_M": 16, "BLOCK_N": 16, "BLOCK_K": 8},
        grid=(triton.cdiv(m, 16), triton.cdiv(n, 16), batches // 2),
        expected={"c": a.astype(np.float64) @ b.astype(np.float64)},
        rtol=1e-3,  # (factors may be rounded to tf32)
        atol=1e-2,
    )  # fmt: skip
