"""Activation functions: ReLU, leaky ReLU and sigmoid."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def relu_kernel(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0)
    tl.store(out + offs, tl.maximum(value, 0), mask=mask)


@triton.jit
def leaky_relu_kernel(x, out, n, slope, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    tl.store(out + offs, tl.where(value > 0, value, slope * value), mask=mask)


@triton.jit
def sigmoid_kernel(x, out, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    tl.store(out + offs, 1.0 / (1.0 + tl.exp(-value)), mask=mask)


@triton.jit
def norm_kernel(x, y, out, n, BLOCK: tl.constexpr):
    """log(sqrt(x*x + y*y) + |x|), all of the unary functions in one."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(x + offs, mask=mask, other=1.0)
    b = tl.load(y + offs, mask=mask, other=1.0)
    tl.store(out + offs, tl.log(tl.sqrt(a * a + b * b) + tl.abs(a)), mask=mask)


def _normal(n, count=1):
    values = np.random.default_rng(0).standard_normal((count, n), dtype=np.float32)
    # NaN, infinities and signed zeros belong to every elementwise kernel's input.
    values[0, : min(n, 5)] = [np.nan, np.inf, -np.inf, 0.0, -0.0][:n]
    return values


def _blocks(n):
    return lambda meta: (triton.cdiv(n, meta["BLOCK"]),)


@relu_kernel.example(n=1000)
@relu_kernel.example(n=5)
def relu(n):
    (x,) = _normal(n)
    # np.fmax, as tl.maximum, ignores a NaN operand: ReLU of NaN is 0.
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "n": n, "BLOCK": 256},
        grid=_blocks(n),
        expected={"out": np.fmax(x, np.float32(0))},
    )


@leaky_relu_kernel.example(n=1000)
def leaky_relu(n):
    (x,) = _normal(n)
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "n": n, "slope": 0.01, "BLOCK": 256},
        grid=_blocks(n),
        expected={"out": np.where(x > 0, x, np.float32(0.01) * x)},
    )


@sigmoid_kernel.example(n=1000)
def sigmoid(n):
    (x,) = _normal(n)
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "n": n, "BLOCK": 256},
        grid=_blocks(n),
        expected={"out": 1 / (1 + np.exp(-x.astype(np.float64)))},
    )


@norm_kernel.example(n=1000)
def norm(n):
    x, y = _normal(n, 2)
    wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
    return triton.Example(
        args={"x": x, "y": y, "out": np.zeros_like(x), "n": n, "BLOCK": 128},
        grid=_blocks(n),
        expected={"out": np.log(np.sqrt(wide_x * wide_x + wide_y * wide_y) + np.abs(wide_x))},
    )
