"""T2 huggingface/kernels-community `_topk_over_softmax_bwd_kernel`: a row's softmax again, K entries gathered by
numbers that may be a sentinel, scattered by comparing an E x K grid, summed over axis 1."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def topk_softmax_backward_kernel(
    logits, dlogits, dscore, index, score,
    stride_lm, stride_le, stride_dm, stride_dn, stride_sm, stride_sn, stride_im, stride_ik, stride_cm, stride_cn,
    E: tl.constexpr, K: tl.constexpr, BLOCK_E: tl.constexpr, BLOCK_K: tl.constexpr, NORMALIZE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    e = tl.arange(0, BLOCK_E)
    k = tl.arange(0, BLOCK_K)
    x = tl.load(logits + row * stride_lm + e * stride_le, mask=e < E, other=float("-inf")).to(tl.float32)
    x = tl.exp(x - tl.max(x, axis=0))
    p = x / tl.sum(x, axis=0)
    chosen = tl.load(index + row * stride_im + k * stride_ik, mask=k < K, other=-1).to(tl.int32)
    valid = (k < K) & (chosen >= 0)
    safe = tl.where(valid, chosen, 0)
    ds = tl.load(dscore + row * stride_dm + k * stride_dn, mask=valid, other=0.0).to(tl.float32)
    s = tl.load(score + row * stride_cm + k * stride_cn, mask=valid, other=0.0).to(tl.float32)
    xk = tl.load(logits + row * stride_lm + safe * stride_le, mask=valid, other=float("-inf"))
    if NORMALIZE:
        # score = p_k / sum of the chosen p: the gradient that reaches the chosen logits.
        dchosen = s * (ds - tl.sum(ds * s, axis=0))
    else:
        dchosen = tl.where(xk == xk, s * ds, 0.0)
    hit = (e[:, None] == safe[None, :]) & valid[None, :]
    gradient = tl.sum(tl.where(hit, dchosen[None, :], 0.0), axis=1)
    if not NORMALIZE:
        gradient -= p * tl.sum(ds * s, axis=0)
    tl.store(dlogits + row * stride_sm + e * stride_sn, gradient, mask=e < E)


@topk_softmax_backward_kernel.example(rows=4, experts=40, k=6, normalize=True)
@topk_softmax_backward_kernel.example(rows=2, experts=40, k=6, normalize=False)
def topk_softmax_backward(rows, experts, k, normalize):
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((rows, experts), dtype=np.float32)
    index = np.argsort(-logits, axis=1)[:, :k].astype(np.int32)
    index[0, -1] = -1  # a sentinel: nothing chosen there
    p = np.exp(logits.astype(np.float64))
    p /= p.sum(axis=1, keepdims=True)
    valid = index >= 0
    score = np.where(valid, np.take_along_axis(p, np.maximum(index, 0), axis=1), 0)
    if normalize:
        score /= score.sum(axis=1, keepdims=True)
    dscore = rng.standard_normal((rows, k), dtype=np.float32)
    inner = (np.where(valid, dscore, 0) * score).sum(axis=1, keepdims=True)
    dchosen = score * (dscore - inner) if normalize else score * dscore
    gradient = np.zeros((rows, experts)) if normalize else -p * inner
    for r in range(rows):
        gradient[r, index[r][valid[r]]] += dchosen[r][valid[r]]
    args = {"logits": logits, "dlogits": np.zeros_like(logits), "dscore": dscore, "index": index}
    args |= {"score": score.astype(np.float32), "stride_lm": experts, "stride_le": 1, "stride_dm": k, "stride_dn": 1}
    args |= {"stride_sm": experts, "stride_sn": 1, "stride_im": k, "stride_ik": 1, "stride_cm": k, "stride_cn": 1}
    return triton.Example(
        args={**args, "E": experts, "K": k, "BLOCK_E": 64, "BLOCK_K": 8, "NORMALIZE": normalize},
        grid=rows,
        expected={"dlogits": gradient},
        atol=1e-5,
    )
