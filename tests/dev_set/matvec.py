"""T2 meta-pytorch/KernelAgent `_matvec_kernel`: a tile times a broadcast vector, summed over axis 1, in a loop with a
step and masks at both ends."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def matvec_kernel(
    a_ptr, b_ptr, c_ptr, M, K, stride_am, stride_ak, stride_bk, stride_bn, stride_cm, stride_cn,
    BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    pid = tl.program_id(0)
    m = pid * BLOCK_M + tl.arange(0, BLOCK_M)
    m_mask = m < M
    acc = tl.zeros([BLOCK_M], dtype=tl.float32)
    for k in tl.range(0, K, BLOCK_K):
        offs_k = k + tl.max_contiguous(tl.multiple_of(tl.arange(0, BLOCK_K), BLOCK_K), BLOCK_K)
        k_mask = offs_k < K
        a = tl.load(
            a_ptr + m[:, None] * stride_am + offs_k[None, :] * stride_ak,
            mask=m_mask[:, None] & k_mask[None, :],
            other=0.0,
            eviction_policy="evict_first",
        )
        b = tl.load(b_ptr + offs_k * stride_bk, mask=k_mask, other=0.0, cache_modifier=".ca")
        acc += tl.sum(a.to(tl.float32) * b.to(tl.float32)[None, :], axis=1)
    tl.store(c_ptr + m * stride_cm, acc.to(c_ptr.dtype.element_ty), mask=m_mask)


@matvec_kernel.example(m=70, k=130, dtype="float32")
@matvec_kernel.example(m=1, k=1, dtype="float16")
@matvec_kernel.example(m=3, k=0, dtype="float32")
def matvec(m, k, dtype):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((m, k)).astype(dtype), rng.standard_normal((k, 1)).astype(dtype)
    args = {"a_ptr": a, "b_ptr": b, "c_ptr": np.zeros((m, 1), dtype), "M": m, "K": k, "stride_am": k, "stride_ak": 1}
    args |= {"stride_bk": 1, "stride_bn": 1, "stride_cm": 1, "stride_cn": 1}
    return triton.Example(
        args={**args, "BLOCK_M": 32, "BLOCK_K": 64},
        grid=lambda meta: (triton.cdiv(m, meta["BLOCK_M"]),),
        expected={"c_ptr": a.astype(np.float64) @ b.astype(np.float64)},
        atol=1e-5,
    )
