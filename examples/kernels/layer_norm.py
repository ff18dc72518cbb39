"""Layer normalization forward and backward: mean and variance over a row, gradients of weights in two steps."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def layer_norm_kernel(x, out, weight, bias, mean_out, rstd_out, row_stride, columns, eps, BLOCK: tl.constexpr):
    """Three passes over a row of any length: the mean, the variance about it, the result. The means and reciprocal
    deviations are kept for the backward pass."""
    row = tl.program_id(0)
    x += row * row_stride
    out += row * row_stride
    total = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        total += tl.load(x + offs, mask=offs < columns, other=0.0).to(tl.float32)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        value = tl.load(x + offs, mask=offs < columns, other=0.0).to(tl.float32)
        # Lanes beyond the row must not count: 0 - mean is not 0.
        centred = tl.where(offs < columns, value - mean, 0.0)
        squares += centred * centred
    rstd = 1 / tl.sqrt(tl.sum(squares, axis=0) / columns + eps)
    tl.store(mean_out + row, mean)
    tl.store(rstd_out + row, rstd)
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < columns
        value = tl.load(x + offs, mask=mask, other=0.0).to(tl.float32)
        scaled = (value - mean) * rstd * tl.load(weight + offs, mask=mask) + tl.load(bias + offs, mask=mask)
        tl.store(out + offs, scaled, mask=mask)


@triton.jit
def layer_norm_backward_kernel(
    dx, dy, dw_partial, db_partial, x, weight, mean, rstd, row_stride, rows, columns, BLOCK: tl.constexpr
):
    """The gradient of each row, and this program's share of the gradients of weight and bias, summed over the rows
    that it takes. A program takes every n-th row, so that there are as many shares as programs, not as rows."""
    pid = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < columns
    w = tl.load(weight + offs, mask=mask, other=0.0).to(tl.float32)
    dw = tl.zeros([BLOCK], dtype=tl.float32)
    db = tl.zeros([BLOCK], dtype=tl.float32)
    for row in range(pid, rows, tl.num_programs(0)):
        value = tl.load(x + row * row_stride + offs, mask=mask, other=0.0).to(tl.float32)
        gradient = tl.load(dy + row * row_stride + offs, mask=mask, other=0.0).to(tl.float32)
        r = tl.load(rstd + row)
        xhat = tl.where(mask, (value - tl.load(mean + row)) * r, 0.0)
        wdy = w * gradient
        c1 = tl.sum(xhat * wdy, axis=0) / columns
        c2 = tl.sum(wdy, axis=0) / columns
        tl.store(dx + row * row_stride + offs, (wdy - (xhat * c1 + c2)) * r, mask=mask)
        dw += gradient * xhat
        db += gradient
    tl.store(dw_partial + pid * columns + offs, dw, mask=mask)
    tl.store(db_partial + pid * columns + offs, db, mask=mask)


@triton.jit
def sum_partials_kernel(dw_partial, db_partial, dw, db, shares, columns, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Adds up the shares, a tile at a time: a second kernel instead of atomics, so that the result does not depend on
    the order in which programs finish."""
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    dw_sum = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    db_sum = tl.zeros((ROWS, BLOCK), dtype=tl.float32)
    for start in range(0, shares, ROWS):
        row = start + tl.arange(0, ROWS)
        mask = (row[:, None] < shares) & (column[None, :] < columns)
        offs = row[:, None] * columns + column[None, :]
        dw_sum += tl.load(dw_partial + offs, mask=mask, other=0.0)
        db_sum += tl.load(db_partial + offs, mask=mask, other=0.0)
    tl.store(dw + column, tl.sum(dw_sum, axis=0), mask=column < columns)
    tl.store(db + column, tl.sum(db_sum, axis=0), mask=column < columns)


EPS = 1e-5


def _inputs(rows, columns, dtype=np.float32):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, columns)).astype(dtype)
    weight, bias = rng.standard_normal((2, columns)).astype(dtype)
    mean = x.mean(axis=1, dtype=np.float64)
    rstd = 1 / np.sqrt(x.var(axis=1, dtype=np.float64) + EPS)
    return x, weight, bias, mean, rstd


@layer_norm_kernel.example(rows=3, columns=1000, dtype="float32")
@layer_norm_kernel.example(rows=2, columns=515, dtype="float16")
@layer_norm_kernel.example(rows=2, columns=1, dtype="float32")
@layer_norm_kernel.example(rows=0, columns=8, dtype="float32")
def layer_norm(rows, columns, dtype):
    x, weight, bias, mean, rstd = _inputs(rows, columns, dtype)
    out = (x - mean[:, None]) * rstd[:, None] * weight.astype(np.float64) + bias
    args = {"x": x, "out": np.zeros_like(x), "weight": weight, "bias": bias}
    args |= {"mean_out": np.zeros(rows, np.float32), "rstd_out": np.zeros(rows, np.float32)}
    return triton.Example(
        args={**args, "row_stride": columns, "columns": columns, "eps": EPS, "BLOCK": 256},
        grid=rows,
        expected={"out": out, "mean_out": mean, "rstd_out": rstd},
        rtol=1e-5 if dtype == "float32" else 1e-3,
        atol=1e-5 if dtype == "float32" else 2e-3,
    )


@layer_norm_backward_kernel.example(rows=9, columns=100, programs=4)
@layer_norm_backward_kernel.example(rows=2, columns=1, programs=3)
@layer_norm_backward_kernel.example(rows=0, columns=5, programs=2)
def layer_norm_backward(rows, columns, programs):
    x, weight, _, mean, rstd = _inputs(rows, columns)
    dy = np.random.default_rng(1).standard_normal((rows, columns), dtype=np.float32)
    xhat = (x - mean[:, None]) * rstd[:, None]
    wdy = dy * weight.astype(np.float64)
    c1 = (xhat * wdy).mean(axis=1, keepdims=True)
    dx = (wdy - (xhat * c1 + wdy.mean(axis=1, keepdims=True))) * rstd[:, None]
    shares = np.arange(rows) % programs == np.arange(programs)[:, None]
    args = {"dx": np.zeros_like(x), "dy": dy}
    args |= {name: np.zeros((programs, columns), np.float32) for name in ("dw_partial", "db_partial")}
    args |= {"x": x, "weight": weight, "mean": mean.astype(np.float32), "rstd": rstd.astype(np.float32)}
    return triton.Example(
        args={
            **args,
            "row_stride": columns,
            "rows": rows,
            "columns": columns,
            "BLOCK": triton.next_power_of_2(columns),
        },
        grid=programs,
        # With one column the variance is 0 and 1 / sqrt(eps) magnifies every rounding.
        expected={"dx": dx, "dw_partial": shares @ (dy * xhat), "db_partial": shares @ dy.astype(np.float64)},
        rtol=1e-4,
        atol=1e-4,
    )


@sum_partials_kernel.example(shares=50, columns=100)
@sum_partials_kernel.example(shares=1, columns=1)
@sum_partials_kernel.example(shares=0, columns=3)
def sum_partials(shares, columns):
    dw, db = np.random.default_rng(0).standard_normal((2, shares, columns), dtype=np.float32)
    args = {"dw_partial": dw, "db_partial": db}
    args |= {name: np.zeros(columns, np.float32) for name in ("dw", "db")}
    return triton.Example(
        args={**args, "shares": shares, "columns": columns, "ROWS": 16, "BLOCK": 32},
        grid=lambda meta: (triton.cdiv(columns, meta["BLOCK"]),),
        expected={"dw": dw.sum(axis=0, dtype=np.float64), "db": db.sum(axis=0, dtype=np.float64)},
        atol=1e-5,
    )
