"""T3 InternLM/lmdeploy `_flatten_kv_cache`: a paged cache to a flat one. The last column of the grid writes zeros and
returns, the others copy one page through a table; masks of two dimensions, int64 offsets."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def flatten_cache_kernel(
    kc, vc, ko, vo, start_loc, seqlens, block_offsets,
    stride_kcb: tl.constexpr, stride_kcs: tl.constexpr, stride_kch: tl.constexpr, stride_kcd: tl.constexpr,
    stride_vcb: tl.constexpr, stride_vcs: tl.constexpr, stride_vch: tl.constexpr, stride_vcd: tl.constexpr,
    stride_koh, stride_kos: tl.constexpr, stride_kod: tl.constexpr,
    stride_voh, stride_vos: tl.constexpr, stride_vod: tl.constexpr, stride_boff, OUT_SIZE,
    HEAD_DIM_K: tl.constexpr, HEAD_DIM_V: tl.constexpr,
    BLOCK_BS: tl.constexpr, BLOCK_DK: tl.constexpr, BLOCK_DV: tl.constexpr,
):  # fmt: skip
    page = tl.program_id(0)
    batch = tl.program_id(1)
    head = tl.program_id(2)
    num_batches = tl.num_programs(1)
    seqlen = tl.load(seqlens + batch)
    start = tl.load(start_loc + batch)
    offs_bs = tl.arange(0, BLOCK_BS)
    offs_dk = tl.arange(0, BLOCK_DK) % HEAD_DIM_K
    offs_dv = tl.arange(0, BLOCK_DV) % HEAD_DIM_V
    if page == tl.num_programs(0) - 1 and batch == num_batches - 1:
        # What follows the last sequence is read by others, so it must hold numbers.
        end = start + seqlen
        for first in range(end, OUT_SIZE, BLOCK_BS):
            offs = first + offs_bs
            mask = (offs < OUT_SIZE)[:, None]
            tl.store(
                ko + head * stride_koh + offs[:, None] * stride_kos + offs_dk[None, :] * stride_kod, 0.0, mask=mask
            )
            tl.store(
                vo + head * stride_voh + offs[:, None] * stride_vos + offs_dv[None, :] * stride_vod, 0.0, mask=mask
            )
        return
    if page * BLOCK_BS >= seqlen:
        return
    block = tl.load(block_offsets + batch * stride_boff + page).to(tl.int64)
    in_page = page * BLOCK_BS + offs_bs
    mask_bs = in_page < seqlen
    k = tl.load(
        kc + block * stride_kcb + offs_bs[:, None] * stride_kcs + head * stride_kch + offs_dk[None, :] * stride_kcd
    )
    v = tl.load(
        vc + block * stride_vcb + offs_bs[:, None] * stride_vcs + head * stride_vch + offs_dv[None, :] * stride_vcd
    )
    row = (start + in_page)[:, None]
    mask_k = mask_bs[:, None] & (tl.arange(0, BLOCK_DK) < HEAD_DIM_K)[None, :]
    mask_v = mask_bs[:, None] & (tl.arange(0, BLOCK_DV) < HEAD_DIM_V)[None, :]
    tl.store(ko + head * stride_koh + row * stride_kos + offs_dk[None, :] * stride_kod, k, mask=mask_k)
    tl.store(vo + head * stride_voh + row * stride_vos + offs_dv[None, :] * stride_vod, v, mask=mask_v)


@flatten_cache_kernel.example(lengths=(20, 16, 5))
@flatten_cache_kernel.example(lengths=(1,))
def flatten_cache(lengths):
    rng = np.random.default_rng(0)
    heads, dk, dv, size, out_size = 2, 16, 8, 16, sum(lengths) + 9
    pages = max(triton.cdiv(n, size) for n in lengths)
    kc = rng.standard_normal((pages * len(lengths), size, heads, dk)).astype(np.float16)
    vc = rng.standard_normal((pages * len(lengths), size, heads, dv)).astype(np.float16)
    table = rng.permutation(pages * len(lengths)).reshape(len(lengths), pages).astype(np.int32)
    start = np.cumsum([0, *lengths[:-1]], dtype=np.int32)
    ko, vo = np.zeros((heads, out_size, dk), np.float16), np.zeros((heads, out_size, dv), np.float16)
    for batch, length in enumerate(lengths):
        for i in range(length):
            page, within = table[batch, i // size], i % size
            ko[:, start[batch] + i], vo[:, start[batch] + i] = kc[page, within], vc[page, within]
    args = {"kc": kc, "vc": vc, "ko": np.ones_like(ko), "vo": np.ones_like(vo), "start_loc": start}
    args |= {"seqlens": np.array(lengths, np.int32), "block_offsets": table}
    for name, dim in (("k", dk), ("v", dv)):
        steps = (size * heads * dim, heads * dim, dim, 1)
        args |= {f"stride_{name}c{axis}": step for axis, step in zip("bshd", steps, strict=True)}
        args |= {f"stride_{name}oh": out_size * dim, f"stride_{name}os": dim, f"stride_{name}od": 1}
    args |= {"stride_boff": pages, "OUT_SIZE": out_size, "HEAD_DIM_K": dk, "HEAD_DIM_V": dv}
    return triton.Example(
        args={**args, "BLOCK_BS": size, "BLOCK_DK": dk, "BLOCK_DV": dv},
        grid=(pages + 1, len(lengths), heads),
        expected={"ko": ko, "vo": vo},
    )
