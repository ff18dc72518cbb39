"""T1 triton-lang/triton `_layer_norm_fwd_fused`: three passes over a row of halves in loops with a step, mathematics in
float32, scalars stored."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def layer_norm_half_kernel(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    X += row * stride
    Y += row * stride
    partial = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        partial += tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
    mean = tl.sum(partial, axis=0) / N
    partial = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(X + cols, mask=cols < N, other=0.0).to(tl.float32)
        x = tl.where(cols < N, x - mean, 0.0)
        partial += x * x
    rstd = 1 / tl.sqrt(tl.sum(partial, axis=0) / N + eps)
    tl.store(Mean + row, mean)
    tl.store(Rstd + row, rstd)
    for off in range(0, N, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < N
        w = tl.load(W + cols, mask=mask)
        b = tl.load(B + cols, mask=mask)
        x = tl.load(X + cols, mask=mask, other=0.0).to(tl.float32)
        tl.store(Y + cols, (x - mean) * rstd * w + b, mask=mask)


@layer_norm_half_kernel.example(rows=2, columns=1100)
@layer_norm_half_kernel.example(rows=1, columns=7)
def layer_norm_half(rows, columns):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, columns)).astype(np.float16)
    w, b = rng.standard_normal((2, columns)).astype(np.float16)
    wide = x.astype(np.float64)
    mean, rstd = wide.mean(axis=1), 1 / np.sqrt(wide.var(axis=1) + 1e-5)
    y = (wide - mean[:, None]) * rstd[:, None] * w.astype(np.float64) + b
    stats = {"Mean": np.zeros(rows, np.float32), "Rstd": np.zeros(rows, np.float32)}
    args = {"X": x, "Y": np.zeros_like(x), "W": w, "B": b, **stats, "stride": columns, "N": columns, "eps": 1e-5}
    return triton.Example(
        args={**args, "BLOCK": 512},
        grid=rows,
        expected={"Y": y, "Mean": mean, "Rstd": rstd},
        rtol=2e-3,
        atol=2e-3,
    )
