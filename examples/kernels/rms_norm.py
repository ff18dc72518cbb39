"""RMS normalization: reading in half precision, computing in float32, storing in the type of the output array."""

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def rms_norm_kernel(
    x, out, weight, rstd_out, x_stride, out_stride, columns, eps, ADD_ONE: tl.constexpr, BLOCK: tl.constexpr
):
    """out = x / sqrt(mean(x**2) + eps) * weight, or * (weight + 1) for models that store it so."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < columns
    x += row.to(tl.int64) * x_stride  # a product of int32 would wrap in an array of more than 2**31 elements
    out += row.to(tl.int64) * out_stride
    value = tl.load(x + offs, mask=mask, other=0.0).to(tl.float32)
    rstd = tl.rsqrt(tl.sum(value * value, axis=0) / columns + eps)
    tl.store(rstd_out + row, rstd)
    scale = tl.load(weight + offs, mask=mask, other=0.0).to(tl.float32)
    if ADD_ONE:
        scale += 1.0
    tl.store(out + offs, (value * rstd * scale).to(out.dtype.element_ty), mask=mask)


@rms_norm_kernel.example(rows=5, columns=300, dtype="float32", add_one=False)
@rms_norm_kernel.example(rows=5, columns=300, dtype="bfloat16", add_one=True)
@rms_norm_kernel.example(rows=2, columns=1, dtype="float16", add_one=False)
@rms_norm_kernel.example(rows=0, columns=4, dtype="float32", add_one=False)
def rms_norm(rows, columns, dtype, add_one):
    type_ = np.dtype(getattr(ml_dtypes, dtype, dtype))
    rng = np.random.default_rng(0)
    x, weight = rng.standard_normal((rows, columns)).astype(type_), rng.standard_normal(columns).astype(type_)
    wide = x.astype(np.float64)
    rstd = 1 / np.sqrt((wide**2).mean(axis=1) + 1e-6)
    args = {"x": x, "out": np.zeros_like(x), "weight": weight, "rstd_out": np.zeros(rows, np.float32)}
    args |= {"x_stride": columns, "out_stride": columns, "columns": columns, "eps": 1e-6}
    return triton.Example(
        args={**args, "ADD_ONE": add_one, "BLOCK": triton.next_power_of_2(columns)},
        grid=rows,
        expected={"out": wide * rstd[:, None] * (weight.astype(np.float64) + add_one), "rstd_out": rstd},
        rtol={"float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2}[dtype],
    )
