"""T2 linkedin/Liger-Kernel `_rms_norm_backward_kernel`: each program loops over its rows and adds up a row of weight
gradients; the casts follow constexpr numbers and a dtype that is an argument."""

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl

CAST_NONE: tl.constexpr = tl.constexpr(-1)
CAST_LLAMA = tl.constexpr(0)
CAST_GEMMA = tl.constexpr(1)


@triton.jit
def rms_norm_backward_kernel(
    dY, dY_stride, dX, dX_stride, X, X_stride, X_dtype: tl.constexpr, W, W_stride, RSTD, RSTD_stride,
    dW, dW_stride, n_rows, n_cols, offset, rows_per_program,
    casting_mode: tl.constexpr, elementwise_affine: tl.constexpr, BLOCK_SIZE: tl.constexpr,
):  # fmt: skip
    block = tl.program_id(0).to(tl.int64)
    row_start = block * rows_per_program
    row_end = min((block + 1) * rows_per_program, n_rows)
    cols = tl.arange(0, BLOCK_SIZE)
    mask = cols < n_cols
    if elementwise_affine:
        dw = tl.zeros((BLOCK_SIZE,), dtype=tl.float32)
        w = tl.load(W + cols, mask=mask, other=0.0) + offset
    for row in range(row_start, row_end):
        dy = tl.load(dY + row * dY_stride + cols, mask=mask, other=0.0)
        x = tl.load(X + row * X_stride + cols, mask=mask, other=0.0)
        rstd = tl.load(RSTD + row * RSTD_stride)
        x = x.to(tl.float32)
        if casting_mode == CAST_LLAMA:
            m = (dy * w if elementwise_affine else dy).to(tl.float32)
        elif casting_mode == CAST_GEMMA:
            dy = dy.to(tl.float32)
            m = dy * w if elementwise_affine else dy
        else:
            m = dy * w if elementwise_affine else dy
        dx = rstd * m
        dx += rstd * (-(1 / n_cols) * rstd * rstd * tl.sum(m * x, axis=0) * x)
        if elementwise_affine:
            if casting_mode == CAST_LLAMA:
                dw += dy * (x * rstd).to(X_dtype)
            else:
                dw += dy * (x * rstd)
        tl.store(dX + row * dX_stride + cols, dx.to(X_dtype), mask=mask)
    if elementwise_affine:
        tl.store(dW + block * dW_stride + cols, dw, mask=mask)


@rms_norm_backward_kernel.example(rows=7, columns=100, programs=3, mode=0, affine=True)
@rms_norm_backward_kernel.example(rows=7, columns=100, programs=3, mode=1, affine=True)
@rms_norm_backward_kernel.example(rows=2, columns=5, programs=4, mode=-1, affine=False)
def rms_norm_backward(rows, columns, programs, mode, affine):
    rng = np.random.default_rng(0)
    bf16 = ml_dtypes.bfloat16
    x, dy = rng.standard_normal((2, rows, columns)).astype(bf16)
    w = rng.standard_normal(columns).astype(bf16) if affine else None
    wide, gradient = x.astype(np.float64), dy.astype(np.float64)
    rstd = (1 / np.sqrt((wide * wide).mean(axis=1) + 1e-6)).astype(np.float32)
    m = gradient * (w.astype(np.float64) if affine else 1)
    r = rstd[:, None]
    dx = r * m - r**3 * wide * (m * wide).mean(axis=1, keepdims=True)
    dw = np.zeros((programs, columns))
    each = triton.cdiv(rows, programs)
    for row in range(rows):
        dw[row // each] += gradient[row] * wide[row] * rstd[row]
    args = {"dY": dy, "dY_stride": columns, "dX": np.zeros_like(x), "dX_stride": columns, "X": x, "X_stride": columns}
    args |= {"X_dtype": tl.bfloat16, "W": w, "W_stride": 1, "RSTD": rstd, "RSTD_stride": 1}
    args |= {"dW": np.zeros((programs, columns), np.float32), "dW_stride": columns, "n_rows": rows, "n_cols": columns}
    args |= {"offset": 0.0, "rows_per_program": each, "casting_mode": mode, "elementwise_affine": affine}
    return triton.Example(
        args={**args, "BLOCK_SIZE": triton.next_power_of_2(columns)},
        grid=programs,
        expected={"dX": dx, "dW": dw if affine else np.zeros_like(dw)},
        rtol=2e-2,
        atol=5e-2,
    )
