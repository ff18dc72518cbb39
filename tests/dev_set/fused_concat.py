"""T2 zinccat/TritonTrace `triton_poi_fused_cat_6`: what a graph compiler writes for a concatenation of four biased
tensors: // and % of an index, int64 constants by tl.full, nested choices, a mask given by position."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def fused_concat_kernel(
    in_ptr0, in_ptr1, in_ptr2, in_ptr3, in_ptr4, in_ptr5, in_ptr6, in_ptr7, out_ptr0, xnumel, XBLOCK: tl.constexpr
):
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x1 = (xindex // 49) % 16
    x0 = xindex % 49
    x2 = xindex // 784
    x3 = xindex
    tmp0 = x1
    tmp1 = tl.full([1], 0, tl.int64)
    tmp2 = tmp0 >= tmp1
    tmp3 = tl.full([1], 6, tl.int64)
    tmp4 = tmp0 < tmp3
    tmp5 = tl.load(in_ptr0 + (x0 + 49 * x1 + 294 * x2), tmp4 & xmask, other=0.0)
    tmp6 = tl.load(in_ptr1 + x1, tmp4 & xmask, eviction_policy="evict_last", other=0.0)
    tmp7 = tmp5 + tmp6
    tmp8 = tl.full(tmp7.shape, 0.0, tmp7.dtype)
    tmp9 = tl.where(tmp4, tmp7, tmp8)
    tmp10 = tmp0 >= tmp3
    tmp11 = tl.full([1], 10, tl.int64)
    tmp12 = tmp0 < tmp11
    tmp13 = tmp10 & tmp12
    tmp14 = tl.load(in_ptr2 + (x0 + 49 * (-6 + x1) + 196 * x2), tmp13 & xmask, other=0.0)
    tmp15 = tl.load(in_ptr3 + (-6 + x1), tmp13 & xmask, eviction_policy="evict_last", other=0.0)
    tmp16 = tmp14 + tmp15
    tmp17 = tl.where(tmp13, tmp16, tl.full(tmp16.shape, 0.0, tmp16.dtype))
    tmp18 = tmp0 >= tmp11
    tmp19 = tl.full([1], 13, tl.int64)
    tmp20 = tmp0 < tmp19
    tmp21 = tmp18 & tmp20
    tmp22 = tl.load(in_ptr4 + (x0 + 49 * (-10 + x1) + 147 * x2), tmp21 & xmask, other=0.0)
    tmp23 = tl.load(in_ptr5 + (-10 + x1), tmp21 & xmask, eviction_policy="evict_last", other=0.0)
    tmp24 = tl.where(tmp21, tmp22 + tmp23, 0.0)
    tmp25 = tmp0 >= tmp19
    tmp26 = tl.load(in_ptr6 + (x0 + 49 * (-13 + x1) + 147 * x2), tmp25 & xmask, other=0.0)
    tmp27 = tl.load(in_ptr7 + (-13 + x1), tmp25 & xmask, eviction_policy="evict_last", other=0.0)
    tmp28 = tmp26 + tmp27
    tmp29 = tl.where(tmp21, tmp24, tmp28)
    tmp30 = tl.where(tmp13, tmp17, tmp29)
    tmp31 = tl.where(tmp4, tmp9, tmp30)
    tl.store(out_ptr0 + x3, tl.where(tmp2, tmp31, 0.0), xmask)


@fused_concat_kernel.example(batch=3)
@fused_concat_kernel.example(batch=1)
def fused_concat(batch):
    rng = np.random.default_rng(0)
    parts = [rng.standard_normal((batch, n, 49), dtype=np.float32) for n in (6, 4, 3, 3)]
    biases = [rng.standard_normal(n, dtype=np.float32) for n in (6, 4, 3, 3)]
    expected = np.concatenate([p + b[:, None] for p, b in zip(parts, biases, strict=True)], axis=1)
    inputs = [array for pair in zip(parts, biases, strict=True) for array in pair]
    args = {f"in_ptr{i}": array for i, array in enumerate(inputs)}
    return triton.Example(
        args={**args, "out_ptr0": np.zeros_like(expected), "xnumel": expected.size, "XBLOCK": 256},
        grid=lambda meta: (triton.cdiv(expected.size, meta["XBLOCK"]),),
        expected={"out_ptr0": expected},
    )
