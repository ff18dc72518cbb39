"""T2 ROCm/aiter `_cast_varlen_to_fp8_kernel_2d`: two passes over a sequence of run-time length, the largest magnitude,
then scaling and a cast to an 8-bit float; early return."""

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def quantize_varlen_kernel(
    X, X_fp8, descale, cu_seqlens, H, MAX_SEQLEN,
    stride_batch, stride_seq, stride_head, stride_dim, stride_desc_batch, stride_desc_head,
    CLAMP, FP8_MAX,
    BLOCK: tl.constexpr, HEAD_DIM: tl.constexpr, ACTUAL_DIM: tl.constexpr, IS_VARLEN: tl.constexpr,
):  # fmt: skip
    batch, head = tl.program_id(0), tl.program_id(1)
    if IS_VARLEN:
        begin = tl.load(cu_seqlens + batch)
        length = tl.load(cu_seqlens + batch + 1) - begin
    else:
        begin = 0
        length = MAX_SEQLEN
    if length <= 0:
        return
    dim = tl.arange(0, HEAD_DIM)
    largest = 0.0
    base = batch * stride_batch * (1 - IS_VARLEN) + head * stride_head
    for block in range(tl.cdiv(length, BLOCK)):
        seq = block * BLOCK + tl.arange(0, BLOCK)
        mask = (seq[:, None] < length) & (dim[None, :] < ACTUAL_DIM)
        offs = base + (begin + seq[:, None]) * stride_seq + dim[None, :] * stride_dim
        x = tl.load(X + offs, mask=mask, other=0.0).to(tl.float32)
        largest = tl.maximum(largest, tl.max(tl.abs(x)))
    scale = FP8_MAX / tl.maximum(largest, CLAMP)
    tl.store(descale + batch * stride_desc_batch + head * stride_desc_head, 1.0 / scale)
    for block in range(tl.cdiv(length, BLOCK)):
        seq = block * BLOCK + tl.arange(0, BLOCK)
        mask = (seq[:, None] < length) & (dim[None, :] < ACTUAL_DIM)
        offs = base + (begin + seq[:, None]) * stride_seq + dim[None, :] * stride_dim
        x = tl.load(X + offs, mask=mask, other=0.0).to(tl.float32)
        tl.store(X_fp8 + offs, (x * scale).to(X_fp8.dtype.element_ty), mask=mask)


@quantize_varlen_kernel.example(lengths=(20, 0, 33))
def quantize_varlen(lengths):
    heads, dims = 2, 24
    cu_seqlens = np.cumsum([0, *lengths], dtype=np.int32)
    x = np.random.default_rng(0).standard_normal((cu_seqlens[-1], heads, dims)).astype(ml_dtypes.bfloat16)
    args = {"X": x, "X_fp8": np.zeros(x.shape, ml_dtypes.float8_e4m3fn)}
    args |= {"descale": np.zeros((len(lengths), heads), np.float32), "cu_seqlens": cu_seqlens, "H": heads}
    args |= {"MAX_SEQLEN": max(lengths), "stride_batch": 0, "stride_seq": heads * dims, "stride_head": dims}
    args |= {"stride_dim": 1, "stride_desc_batch": heads, "stride_desc_head": 1, "CLAMP": 1e-9, "FP8_MAX": 448.0}
    return triton.Example(
        args={**args, "BLOCK": 16, "HEAD_DIM": 32, "ACTUAL_DIM": dims, "IS_VARLEN": True},
        grid=(len(lengths), heads),
    )
