"""T1 fla-org/flash-linear-attention `softmax_bwd_kernel`: p * (dp - sum(p * dp)) of a row, with an int64 offset."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def softmax_backward_kernel(p, dp, ds, D: tl.constexpr, B: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    p += row * D
    dp += row * D
    ds += row * D
    column = tl.arange(0, B)
    mask = column < D
    probability = tl.load(p + column, mask=mask, other=0.0)
    gradient = tl.load(dp + column, mask=mask, other=0.0)
    inner = tl.sum(probability * gradient, axis=0)
    tl.store(ds + column, (probability * gradient - probability * inner).to(ds.dtype.element_ty), mask=mask)


@softmax_backward_kernel.example(rows=3, columns=1000)
@softmax_backward_kernel.example(rows=2, columns=1)
def softmax_backward(rows, columns):
    rng = np.random.default_rng(0)
    p = rng.random((rows, columns), np.float32)
    p /= p.sum(axis=1, keepdims=True)
    dp = rng.standard_normal((rows, columns), dtype=np.float32)
    wide = p.astype(np.float64)
    expected = wide * (dp - (wide * dp).sum(axis=1, keepdims=True))
    return triton.Example(
        args={"p": p, "dp": dp, "ds": np.zeros_like(p), "D": columns, "B": triton.next_power_of_2(columns)},
        grid=rows,
        expected={"ds": expected},
    )
