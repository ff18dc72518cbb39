"""Loops whose products take blocks that are loaded ahead: into rings of buffers, if the chip copies asynchronously."""

from __future__ import annotations

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def tiled_kernel(
    a,
    b,
    c,
    M,
    N,
    K,
    first,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    MOVE: tl.constexpr,
    TURN: tl.constexpr,
):
    """Columns and rows from `first` on: by pointers that move, or by the loop's variable; `b` may be the transposed."""
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    if MOVE:
        from_a = a + m[:, None] * K + first + k[None, :]
        from_b = b + (first + k[:, None]) * N + n[None, :]
        for i in range(tl.cdiv(K - first, BK)):
            left = K - first - i * BK
            x = tl.load(from_a, mask=(m[:, None] < M) & (k[None, :] < left), other=0.0)
            y = tl.load(from_b, mask=(k[:, None] < left) & (n[None, :] < N), other=0.0)
            total = tl.dot(x, y, total, input_precision="ieee")
            from_a += BK
            from_b += BK * N
    else:
        for i in range(first, K, BK):
            inside = k < K - i
            x = tl.load(a + m[:, None] * K + (i + k)[None, :], mask=(m[:, None] < M) & inside[None, :], other=0.0)
            if TURN:
                y = tl.trans(tl.load(b + n[:, None] * K + (i + k)[None, :], (n[:, None] < N) & inside[None, :]))
            else:
                y = tl.load(b + (i + k)[:, None] * N + n[None, :], mask=inside[:, None] & (n[None, :] < N), other=0.0)
            total = tl.dot(x, y, total, input_precision="ieee")
    tl.store(c + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@tiled_kernel.example(m=40, n=32, k=160, stages=1)
@tiled_kernel.example(m=40, n=32, k=160, stages=2)
@tiled_kernel.example(m=40, n=32, k=160, stages=3, warps=1)
@tiled_kernel.example(m=40, n=32, k=160, stages=4, move=False)
@tiled_kernel.example(m=40, n=24, k=160, stages=5, move=False, turn=True)
@tiled_kernel.example(m=33, n=31, k=75, dtype="float32")
@tiled_kernel.example(m=33, n=31, k=75, dtype="float32", stages=5, first=16, move=False, turn=True)
@tiled_kernel.example(m=17, n=31, k=100, dtype="float32", stages=8)  # in more than 48 kB
@tiled_kernel.example(m=17, n=32, k=20, stages=4)  # fewer trips than buffers
@tiled_kernel.example(m=17, n=32, k=20, stages=3, first=20)  # none at all
def tiled(m, n, k, dtype="float16", stages=3, warps=2, first=0, move=True, turn=False):
    rng = np.random.default_rng(m + k)
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, n)).astype(dtype)
    expected = a[:, first:].astype(np.float64) @ b[first:].astype(np.float64)
    arrays = {"a": a, "b": np.ascontiguousarray(b.T) if turn else b, "c": np.zeros((m, n), np.float32)}
    sizes = {"M": m, "N": n, "K": k, "first": first, "BM": 32, "BN": 32, "BK": 32, "MOVE": move, "TURN": turn}
    options = {"num_warps": warps, "num_stages": stages}
    return triton.Example(args=arrays | sizes, grid=2, expected={"c": expected}, options=options, atol=1e-4, rtol=1e-4)


@triton.jit
def attended_kernel(q, k, v, out, N, D: tl.constexpr, B: tl.constexpr, STAGES: tl.constexpr):
    """Attention to N keys: one product of a block that stays, one of what the loop computes; both over the heads, in a
    loop around it, whose buffers the first trips of the next overwrite."""
    m, d, n = tl.arange(0, 16), tl.arange(0, D), tl.arange(0, B)
    for head in range(2):
        queries = tl.load(q + head * 16 * D + m[:, None] * D + d[None, :])
        most, norm = tl.full((16,), -1e30, tl.float32), tl.zeros((16,), tl.float32)
        total = tl.zeros((16, D), tl.float32)
        for start in tl.range(0, N, B, num_stages=STAGES):
            inside = start + n < N
            at = head * N * D + (start + n)[:, None] * D + d[None, :]
            keys = tl.load(k + at, mask=inside[:, None], other=0.0)
            scores = tl.where(inside[None, :], tl.dot(queries, tl.trans(keys)), -1e30)
            larger = tl.maximum(most, tl.max(scores, 1))
            weights, scale = tl.exp(scores - larger[:, None]), tl.exp(most - larger)
            values = tl.load(v + at, mask=inside[:, None], other=0.0)
            total = tl.dot(weights.to(tl.float16), values, total * scale[:, None])
            norm, most = norm * scale + tl.sum(weights, 1), larger
        tl.store(out + head * 16 * D + m[:, None] * D + d[None, :], total / norm[:, None])


@attended_kernel.example(n=100, stages=3)
@attended_kernel.example(n=64, stages=2, warps=1)
def attended(n, stages, warps=2):
    rng = np.random.default_rng(n)
    q, k, v = (rng.standard_normal((2, rows, 16)).astype(np.float16) for rows in (16, n, n))
    scores = np.exp(q.astype(np.float64) @ k.astype(np.float64).swapaxes(1, 2))
    expected = scores / scores.sum(-1, keepdims=True) @ v.astype(np.float64)
    return triton.Example(
        args={
            "q": q,
            "k": k,
            "v": v,
            "out": np.zeros((2, 16, 16), np.float32),
            "N": n,
            "D": 16,
            "B": 32,
            "STAGES": stages,
        },
        grid=1,
        expected={"out": expected},
        options={"num_warps": warps},
        atol=3e-3,
        rtol=3e-3,
    )
