"""Activation functions of neural networks, written with the functions of `tl.math`."""

import math

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def gelu_kernel(x, out, n, BLOCK: tl.constexpr):
    """GELU as it is defined, x times the normal distribution's probability of less than x."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    tl.store(out + offs, 0.5 * value * (1 + tl.erf(value * 0.7071067811865476)), mask=mask)


@triton.jit
def gelu_tanh_kernel(x, out, n, BLOCK: tl.constexpr):
    """GELU as it is often approximated; `tl.fma` rounds x + 0.044715 x**3 once less."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    inner = 0.7978845608028654 * tl.fma(0.044715 * value * value, value, value)
    tl.store(out + offs, 0.5 * value * (1 + tl.tanh(inner)), mask=mask)


@triton.jit
def silu_kernel(x, out, n, BLOCK: tl.constexpr):
    """SiLU, x * sigmoid(x), also called swish."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    tl.store(out + offs, value * tl.sigmoid(value), mask=mask)


@triton.jit
def softplus_kernel(x, out, n, BLOCK: tl.constexpr):
    """log(1 + exp(x)), written so that the exponential cannot overflow."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    tl.store(out + offs, max(value, 0.0) + tl.log(1 + tl.exp(-abs(value))), mask=mask)


def _example(n, function):
    x = np.random.default_rng(0).standard_normal(n, dtype=np.float32) * 4
    x[: min(n, 4)] = [np.nan, np.inf, 0.0, -0.0][:n]
    with np.errstate(all="ignore"):
        expected = function(x.astype(np.float64))
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "n": n, "BLOCK": 256},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"out": expected},
    )


@gelu_kernel.example(n=1000)
@gelu_kernel.example(n=1)
def gelu(n):
    erf = np.vectorize(math.erf)
    return _example(n, lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2))))


@gelu_tanh_kernel.example(n=1000)
def gelu_tanh(n):
    return _example(n, lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))))


@silu_kernel.example(n=1000)
def silu(n):
    return _example(n, lambda x: x / (1 + np.exp(-x)))


@softplus_kernel.example(n=1000)
def softplus(n):
    return _example(n, lambda x: np.logaddexp(0, x))
