"""T1 unslothai/unsloth `_gemma_rms_layernorm_forward`: RMS norm with weight + 1 in bfloat16, every size a constexpr,
pointers of rows advanced in place."""

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def rms_norm_constexpr_kernel(
    Y, Y_stride: tl.constexpr, X, X_stride: tl.constexpr, W, W_stride: tl.constexpr, r, r_stride: tl.constexpr,
    n_cols: tl.constexpr, eps: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    Y += row * Y_stride
    X += row * X_stride
    r += row * r_stride
    x = tl.load(X + cols, mask=mask, other=0).to(tl.float32)
    w = tl.load(W + cols * W_stride, mask=mask, other=0).to(tl.float32)
    inverse = tl.math.rsqrt(tl.sum(x * x, axis=0) / n_cols + eps)
    tl.store(r, inverse)
    tl.store(Y + cols, x * inverse * (w + 1.0), mask=mask)


@rms_norm_constexpr_kernel.example(rows=3, columns=300)
@rms_norm_constexpr_kernel.example(rows=1, columns=1)
def rms_norm_constexpr(rows, columns):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, columns)).astype(ml_dtypes.bfloat16)
    w = rng.standard_normal(columns).astype(ml_dtypes.bfloat16)
    wide = x.astype(np.float64)
    inverse = 1 / np.sqrt((wide * wide).mean(axis=1) + 1e-6)
    args = {"Y": np.zeros_like(x), "Y_stride": columns, "X": x, "X_stride": columns, "W": w, "W_stride": 1}
    args |= {"r": np.zeros(rows, np.float32), "r_stride": 1, "n_cols": columns, "eps": 1e-6}
    return triton.Example(
        args={**args, "BLOCK_SIZE": triton.next_power_of_2(columns)},
        grid=rows,
        expected={"Y": wide * inverse[:, None] * (w.astype(np.float64) + 1), "r": inverse},
        rtol=1e-2,
    )
