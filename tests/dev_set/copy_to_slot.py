"""T1 ModelTC/lightllm `_fwd_kernel_destindex_copy_kv`: a token's heads to the row that an index names; a mask of two
dimensions that depends on one."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def copy_to_slot_kernel(
    K, slots, out,
    stride_k_token, stride_k_head, stride_k_dim, stride_o_token, stride_o_head, stride_o_dim, heads,
    BLOCK_DIM: tl.constexpr, BLOCK_HEAD: tl.constexpr,
):  # fmt: skip
    token = tl.program_id(0)
    head = tl.arange(0, BLOCK_HEAD)
    dim = tl.arange(0, BLOCK_DIM)
    slot = tl.load(slots + token).to(tl.int64)
    source = K + token * stride_k_token + stride_k_head * head[:, None] + stride_k_dim * dim[None, :]
    target = out + slot * stride_o_token + stride_o_head * head[:, None] + stride_o_dim * dim[None, :]
    value = tl.load(source, mask=head[:, None] < heads, other=0.0)
    tl.store(target, value, mask=head[:, None] < heads)


@copy_to_slot_kernel.example(tokens=4, heads=5)
@copy_to_slot_kernel.example(tokens=1, heads=16)
def copy_to_slot(tokens, heads):
    rng = np.random.default_rng(0)
    k = rng.standard_normal((tokens, heads, 32)).astype(np.float16)
    slots = rng.permutation(9)[:tokens].astype(np.int32)
    out = np.zeros((9, heads, 32), np.float16)
    expected = out.copy()
    expected[slots] = k
    strides = {f"stride_{name}_token": heads * 32 for name in "ko"}
    strides |= {f"stride_{name}_head": 32 for name in "ko"} | {f"stride_{name}_dim": 1 for name in "ko"}
    args = {"K": k, "slots": slots, "out": out, **strides, "heads": heads}
    return triton.Example(args={**args, "BLOCK_DIM": 32, "BLOCK_HEAD": 16}, grid=tokens, expected={"out": expected})
