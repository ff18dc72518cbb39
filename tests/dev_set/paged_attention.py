"""T4 pytorch-labs/applied-ai `paged_attention_v1`: attention of one query over a paged cache: loops over a context of
run-time length through a table of pages, a scratch row in memory, softmax over the context, values added up."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def load_page(cache, table, page, head, stride_page, offs, HEAD_SIZE: tl.constexpr, BLOCK_SIZE: tl.constexpr):
    number = tl.load(table + page).to(tl.int64)
    slot, dim = tl.arange(0, BLOCK_SIZE), tl.arange(0, HEAD_SIZE)
    offs_tile = number * stride_page + head * BLOCK_SIZE * HEAD_SIZE + slot[:, None] * HEAD_SIZE + dim[None, :]
    return tl.load(cache + offs_tile, mask=(offs >= 0)[:, None], other=0.0).to(tl.float32)


@triton.jit
def paged_attention_kernel(
    scratch, output, query, key_cache, value_cache, block_tables, context_lens, scale,
    num_seqs, num_heads, cache_block_stride,
    MAX_SEQ_LEN: tl.constexpr, BLOCK_SIZE: tl.constexpr, HEAD_SIZE: tl.constexpr, MAX_BLOCKS: tl.constexpr,
):  # fmt: skip
    tl.static_assert(MAX_SEQ_LEN == MAX_BLOCKS * BLOCK_SIZE, "the table must hold the longest context")
    seq, head = tl.program_id(0), tl.program_id(1)
    tl.device_assert(seq < num_seqs, "the grid is larger than the batch")
    dim = tl.arange(0, HEAD_SIZE)
    q = tl.load(query + (seq * num_heads + head) * HEAD_SIZE + dim).to(tl.float32) * scale
    context = tl.load(context_lens + seq)
    pages = tl.cdiv(context, BLOCK_SIZE)
    table = block_tables + seq * MAX_BLOCKS
    row = scratch + (seq * num_heads + head) * MAX_SEQ_LEN
    if context <= 0 or pages > MAX_BLOCKS:
        tl.store(output + (seq * num_heads + head) * HEAD_SIZE + dim, tl.zeros([HEAD_SIZE], tl.float16))
    else:
        for page in range(pages):
            slot = page * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
            key = load_page(key_cache, table, page, head, cache_block_stride, slot, HEAD_SIZE, BLOCK_SIZE)
            score = tl.sum(key * q[None, :], axis=1)
            tl.store(row + slot, tl.where(slot < context, score, float("-inf")))
        tl.debug_barrier()
        everything = tl.arange(0, MAX_SEQ_LEN)
        scores = tl.load(row + everything, mask=everything < context, other=float("-inf"))
        scores = tl.exp(scores - tl.max(scores, axis=0))
        tl.store(row + everything, scores / tl.sum(scores, axis=0), mask=everything < pages * BLOCK_SIZE)
        tl.debug_barrier()
        acc = tl.zeros([HEAD_SIZE], dtype=tl.float32)
        for page in range(pages):
            slot = page * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
            value = load_page(value_cache, table, page, head, cache_block_stride, slot, HEAD_SIZE, BLOCK_SIZE)
            weight = tl.load(row + slot, mask=slot < context, other=0.0)
            acc += tl.sum(value * weight[:, None], axis=0)
        tl.store(output + (seq * num_heads + head) * HEAD_SIZE + dim, acc.to(output.dtype.element_ty))


@paged_attention_kernel.example(lengths=(40, 1, 0, 64))
def paged_attention(lengths):
    rng = np.random.default_rng(0)
    heads, size, dim, blocks = 2, 16, 32, 4
    pages = len(lengths) * blocks
    q = rng.standard_normal((len(lengths), heads, dim)).astype(np.float16)
    k, v = rng.standard_normal((2, pages, heads, size, dim)).astype(np.float16)
    tables = rng.permutation(pages).reshape(len(lengths), blocks).astype(np.int32)
    out = np.zeros(q.shape)
    scratch = np.zeros((len(lengths), heads, size * blocks))
    for s, length in enumerate(lengths):
        if length:
            keys = k[tables[s]].astype(np.float64).transpose(1, 0, 2, 3).reshape(heads, -1, dim)[:, :length]
            values = v[tables[s]].astype(np.float64).transpose(1, 0, 2, 3).reshape(heads, -1, dim)[:, :length]
            p = np.exp((keys * q[s, :, None] * 0.25).sum(axis=2))
            p /= p.sum(axis=1, keepdims=True)
            scratch[s, :, :length] = p
            out[s] = (p[..., None] * values).sum(axis=1)
    args = {"scratch": np.zeros(scratch.shape, np.float32), "output": np.ones_like(q), "query": q, "key_cache": k}
    args |= {"value_cache": v, "block_tables": tables, "context_lens": np.array(lengths, np.int32), "scale": 0.25}
    args |= {"num_seqs": len(lengths), "num_heads": heads, "cache_block_stride": heads * size * dim}
    return triton.Example(
        args={**args, "MAX_SEQ_LEN": size * blocks, "BLOCK_SIZE": size, "HEAD_SIZE": dim, "MAX_BLOCKS": blocks},
        grid=(len(lengths), heads),
        expected={"scratch": scratch, "output": out},
        rtol=2e-3,
        atol=2e-3,
    )
