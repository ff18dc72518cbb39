"""T2 jax-ml/jax-triton `fused_attention_kernel`: flash attention forward with a running maximum and sum, a loop over
the blocks of keys up to the diagonal, two products of matrices a trip."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def fused_attention_kernel(
    Q, K, V, stride_h, stride_m, stride_d, N_CTX, L, M, Out,
    BLOCK_M: tl.constexpr, DIM: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    start = tl.program_id(0)
    head = tl.program_id(1)
    m = start * BLOCK_M + tl.arange(0, BLOCK_M)
    n = tl.arange(0, BLOCK_N)
    d = tl.arange(0, DIM)
    q = tl.load(Q + head * stride_h + m[:, None] * stride_m + d[None, :] * stride_d)
    m_prev = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_prev = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, DIM], dtype=tl.float32)
    for start_n in range(0, (start + 1) * BLOCK_M, BLOCK_N):
        k = tl.load(K + head * stride_h + (start_n + n[None, :]) * stride_m + d[:, None] * stride_d)
        qk = tl.dot(q, k)
        qk = tl.where(m[:, None] >= (start_n + n[None, :]), qk, float("-inf"))
        m_curr = tl.maximum(tl.max(qk, 1), m_prev)
        l_prev *= tl.exp(m_prev - m_curr)
        p = tl.exp(qk - m_curr[:, None])
        l_curr = tl.sum(p, 1) + l_prev
        acc *= (l_prev / l_curr)[:, None]
        p = (p / l_curr[:, None]).to(tl.float16)
        v = tl.load(V + head * stride_h + (start_n + n[:, None]) * stride_m + d[None, :] * stride_d)
        acc += tl.dot(p, v)
        l_prev = l_curr
        m_prev = m_curr
    tl.store(L + head * N_CTX + m, l_prev)
    tl.store(M + head * N_CTX + m, m_prev)
    tl.store(Out + head * stride_h + m[:, None] * stride_m + d[None, :] * stride_d, acc.to(tl.float16))


@fused_attention_kernel.example(heads=2, context=64)
def fused_attention(heads, context):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((3, heads, context, 16)) / 2).astype(np.float16)
    scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1)
    scores = np.where(np.tril(np.ones((context, context), bool)), scores, -np.inf)
    largest = scores.max(axis=2)
    p = np.exp(scores - largest[..., None])
    total = p.sum(axis=2)
    out = p / total[..., None] @ v.astype(np.float64)
    args = {"Q": q, "K": k, "V": v, "stride_h": context * 16, "stride_m": 16, "stride_d": 1, "N_CTX": context}
    args |= {"L": np.zeros((heads, context), np.float32), "M": np.zeros((heads, context), np.float32)}
    return triton.Example(
        args={**args, "Out": np.zeros_like(q), "BLOCK_M": 16, "DIM": 16, "BLOCK_N": 16},
        grid=(context // 16, heads),
        expected={"L": total, "M": largest, "Out": out},
        rtol=5e-3,
        atol=5e-3,
    )
