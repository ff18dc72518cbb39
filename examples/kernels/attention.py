"""Attention that never holds a whole row of scores: the forward pass of FlashAttention (Dao et al., 2022)."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def attention_kernel(
    q, k, v, out, lse, scale, L, CAUSAL: tl.constexpr, D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr
):
    """BLOCK_M queries of one head a program, against blocks of BLOCK_N keys and values; tensors are [head, L, D]. The
    sum of powers is kept relative to the largest score so far, and rescaled whenever that grows."""
    head, m = tl.program_id(1), tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    d = tl.arange(0, D)
    q += head * L * D
    k += head * L * D
    v += head * L * D
    rows = tl.load(q + m[:, None] * D + d[None, :], mask=m[:, None] < L, other=0.0)
    largest = tl.full((BLOCK_M,), float("-inf"), tl.float32)
    total = tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, D), tl.float32)
    end = L
    if CAUSAL:
        end = tl.minimum(L, (tl.program_id(0) + 1) * BLOCK_M)
    for start in range(0, end, BLOCK_N):
        n = start + tl.arange(0, BLOCK_N)
        keys = tl.load(k + n[:, None] * D + d[None, :], mask=n[:, None] < L, other=0.0)
        scores = tl.dot(rows, tl.trans(keys)) * (scale * 1.4426950408889634)  # powers of 2 instead of e
        seen = n[None, :] < L
        if CAUSAL:
            seen = seen & (n[None, :] <= m[:, None])
        scores = tl.where(seen, scores, float("-inf"))
        new = tl.maximum(largest, tl.max(scores, 1))
        shrink = tl.exp2(largest - new)
        weights = tl.exp2(scores - new[:, None])
        total = total * shrink + tl.sum(weights, 1)
        values = tl.load(v + n[:, None] * D + d[None, :], mask=n[:, None] < L, other=0.0)
        acc = tl.dot(weights.to(values.dtype), values, acc * shrink[:, None])
        largest = new
    acc = acc / total[:, None]
    tl.store(out + head * L * D + m[:, None] * D + d[None, :], acc.to(out.dtype.element_ty), mask=m[:, None] < L)
    tl.store(lse + head * L + m, largest + tl.log2(total), mask=m < L)


@attention_kernel.example(heads=2, length=70, dtype="float32", causal=True)
@attention_kernel.example(heads=1, length=50, dtype="float16", causal=False)
@attention_kernel.example(heads=1, length=1, dtype="float32", causal=True)
@attention_kernel.example(heads=1, length=100, dtype="float16", causal=True, block_m=64, block_n=32)
def attention(heads, length, dtype, causal, d=32, block_m=32, block_n=16):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((heads, length, d)).astype(dtype) for _ in range(3))
    exact = [x.astype(np.float64) for x in (q, k, v)]
    scores = exact[0] @ exact[1].transpose(0, 2, 1) / np.sqrt(d)
    if causal:
        scores = np.where(np.tri(length, dtype=bool), scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    total = powers.sum(-1, keepdims=True)
    lse = (scores.max(-1) + np.log(total[..., 0])) / np.log(2)
    return triton.Example(
        args={"q": q, "k": k, "v": v, "out": np.zeros_like(q), "lse": np.zeros((heads, length), np.float32),
              "scale": float(1 / np.sqrt(d)), "L": length, "CAUSAL": causal, "D": d,
              "BLOCK_M": block_m, "BLOCK_N": block_n},
        grid=lambda meta: (triton.cdiv(length, meta["BLOCK_M"]), heads),
        expected={"out": powers / total @ exact[2], "lse": lse},
        rtol=2e-3,  # (factors of float32 may be rounded to tf32)
        atol=2e-3,
    )  # fmt: skip
