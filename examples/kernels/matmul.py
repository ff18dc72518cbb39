"""Matrix products without `tl.dot`: outer products in a loop, and tiles summed over an axis of three dimensions."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def naive_matmul_kernel(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """One column of a and one row of b a trip: their outer product is added to the tile. K is known at run time."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(K):
        column = tl.load(a + m * K + k, mask=m < M, other=0.0)
        row = tl.load(b + k * N + n, mask=n < N, other=0.0)
        total += column[:, None] * row[None, :]
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def tiled_matmul_kernel(
    a, b, c, M, N, K,
    stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Tiles of a and b a trip, with pointers that move along K; the product is a sum over the middle axis of a block
    of three dimensions."""
    pid_m, pid_n = tl.program_id(0), tl.program_id(1)
    m = pid_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_tile = a + m[:, None] * stride_am + k[None, :] * stride_ak
    b_tile = b + k[:, None] * stride_bk + n[None, :] * stride_bn
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(tl.cdiv(K, BLOCK_K)):
        left = K - step * BLOCK_K
        x = tl.load(a_tile, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
        y = tl.load(b_tile, mask=(k[:, None] < left) & (n[None, :] < N), other=0.0)
        total += tl.sum(x[:, :, None] * y[None, :, :], axis=1)
        a_tile += BLOCK_K * stride_ak
        b_tile += BLOCK_K * stride_bk
    c_tile = c + m[:, None] * stride_cm + n[None, :] * stride_cn
    tl.store(c_tile, total, mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def static_matmul_kernel(a, b, c, M, N, K: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """K is a constexpr: `tl.static_range` unrolls the loop, and all offsets along K are constants."""
    m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in tl.static_range(K):
        column = tl.load(a + m * K + k, mask=m < M, other=0.0)
        row = tl.load(b + k * N + n, mask=n < N, other=0.0)
        total += column[:, None] * row[None, :]
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


def _example(m, n, k, block_m, block_n, transposed=False, **more):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k), dtype=np.float32), rng.standard_normal((k, n), dtype=np.float32)
    if transposed:
        b = rng.standard_normal((n, k), dtype=np.float32)
    args = {"a": a, "b": b, "c": np.zeros((m, n), np.float32), "M": m, "N": n, "K": k}
    return triton.Example(
        args={**args, **more, "BLOCK_M": block_m, "BLOCK_N": block_n},
        grid=lambda meta: (triton.cdiv(m, meta["BLOCK_M"]), triton.cdiv(n, meta["BLOCK_N"])),
        expected={"c": a.astype(np.float64) @ (b.T if transposed else b)},
        rtol=1e-5,
        atol=1e-5,
    )


@naive_matmul_kernel.example(m=20, n=50, k=10)
@naive_matmul_kernel.example(m=1, n=1, k=1)
@naive_matmul_kernel.example(m=3, n=5, k=0)
def naive_matmul(m, n, k):
    return _example(m, n, k, 16, 32)


@tiled_matmul_kernel.example(m=20, n=30, k=21, transposed=False)
@tiled_matmul_kernel.example(m=16, n=16, k=24, transposed=True)
@tiled_matmul_kernel.example(m=1, n=1, k=1, transposed=False)
@tiled_matmul_kernel.example(m=3, n=5, k=0, transposed=False)
def tiled_matmul(m, n, k, transposed):
    strides = {"stride_am": k, "stride_ak": 1, "stride_cm": n, "stride_cn": 1}
    strides |= {"stride_bk": 1, "stride_bn": k} if transposed else {"stride_bk": n, "stride_bn": 1}
    return _example(m, n, k, 16, 16, transposed, **strides, BLOCK_K=8)


@static_matmul_kernel.example(m=40, n=50, k=12)
@static_matmul_kernel.example(m=1, n=1, k=1)
@static_matmul_kernel.example(m=3, n=5, k=0)
def static_matmul(m, n, k):
    return _example(m, n, k, 16, 32)
