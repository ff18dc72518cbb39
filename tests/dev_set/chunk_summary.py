"""T3 fla-org/flash-linear-attention `_atk_backward_chunk_summary`: a chunk's part of a backward pass: the sequence by a
table under a flag, two early returns, a running sum along the chunk, decay by exp, a loop over blocks of features,
atomic additions."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def chunk_summary_kernel(
    k, log_g, beta, gk_out, gg_out, gbeta_out, cu_seqlens, chunk_indices, B, T, H, D,
    CHUNK: tl.constexpr, BK: tl.constexpr, IS_VARLEN: tl.constexpr,
):  # fmt: skip
    chunk, head = tl.program_id(0), tl.program_id(1)
    if IS_VARLEN:
        sequence = tl.load(chunk_indices + chunk * 2).to(tl.int32)
        chunk = tl.load(chunk_indices + chunk * 2 + 1).to(tl.int32)
        begin = tl.load(cu_seqlens + sequence)
        length = tl.load(cu_seqlens + sequence + 1) - begin
    else:
        begin = 0
        length = T
    if chunk * CHUNK >= length:
        return
    if head >= H:
        return
    t = tl.arange(0, CHUNK)
    valid = chunk * CHUNK + t < length
    row = begin + chunk * CHUNK + t
    g = tl.load(log_g + row * H + head, mask=valid, other=0.0)
    b = tl.load(beta + row * H + head, mask=valid, other=0.0)
    total = tl.sum(g, axis=0)
    decay = tl.exp(total - tl.cumsum(g, axis=0))
    gbeta = tl.zeros([CHUNK], dtype=tl.float32)
    for start in range(tl.cdiv(D, BK)):
        d = start * BK + tl.arange(0, BK)
        mask = valid[:, None] & (d[None, :] < D)
        offs = (row[:, None] * H + head) * D + d[None, :]
        tile = tl.load(k + offs, mask=mask, other=0.0)
        gbeta += tl.sum(tile * decay[:, None], axis=1)
        tl.store(gk_out + offs, tile * (decay * b)[:, None], mask=mask)
    tl.store(gbeta_out + row * H + head, gbeta, mask=valid)
    tl.atomic_add(gg_out + head, tl.sum(gbeta * b, axis=0))


@chunk_summary_kernel.example(lengths=(20, 7))
def chunk_summary(lengths):
    rng = np.random.default_rng(0)
    heads, dim, chunk, total = 2, 20, 16, sum(lengths)
    chunks = [(s, c) for s, n in enumerate(lengths) for c in range(triton.cdiv(n, chunk))]
    args = {"k": rng.standard_normal((total, heads, dim), dtype=np.float32)}
    args |= {"log_g": -rng.random((total, heads), np.float32), "beta": rng.random((total, heads), np.float32)}
    args |= {"gk_out": np.zeros_like(args["k"]), "gg_out": np.zeros(heads, np.float32)}
    args |= {"gbeta_out": np.zeros_like(args["beta"]), "cu_seqlens": np.cumsum([0, *lengths], dtype=np.int32)}
    args |= {"chunk_indices": np.array(chunks, np.int32), "B": 1, "T": total, "H": heads, "D": dim}
    return triton.Example(args={**args, "CHUNK": chunk, "BK": 16, "IS_VARLEN": True}, grid=(len(chunks), heads))
