"""Helper functions: `@triton.jit` functions called from kernels, with defaults, keywords, and tuples as results."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def complex_multiply(ar, ai, br, bi):
    """A tuple is how a helper gives several results."""
    return ar * br - ai * bi, ar * bi + ai * br


@triton.jit
def complex_power_kernel(re, im, out_re, out_im, n, exponent, BLOCK: tl.constexpr):
    """z**exponent by repeated squaring: a pair of blocks carried through a run-time loop."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    zr, zi = tl.load(re + offs, mask=mask, other=0.0), tl.load(im + offs, mask=mask, other=0.0)
    pr, pi = tl.full((BLOCK,), 1.0, tl.float32), tl.zeros((BLOCK,), tl.float32)
    while exponent > 0:
        if exponent & 1:
            pr, pi = complex_multiply(pr, pi, zr, zi)
        zr, zi = complex_multiply(zr, zi, zr, zi)
        exponent >>= 1
    tl.store(out_re + offs, pr, mask=mask)
    tl.store(out_im + offs, pi, mask=mask)


@triton.jit
def activate(x, KIND: tl.constexpr, slope=0.01):
    """A constexpr string chooses the formula while compiling; the other branches leave nothing behind."""
    if KIND == "relu":
        return tl.maximum(x, 0.0)
    if KIND == "leaky_relu":
        return tl.where(x >= 0, x, x * slope)
    tl.static_assert(KIND == "none", "KIND must be relu, leaky_relu or none")
    return x


@triton.jit
def bias_activation_kernel(x, bias, out, n, columns, ACTIVATION: tl.constexpr, BLOCK: tl.constexpr):
    """`bias` may be None, which is known while compiling: then no load is made for it."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    if bias is not None:
        value += tl.load(bias + offs % columns, mask=mask, other=0.0)
    tl.store(out + offs, activate(value, KIND=ACTIVATION), mask=mask)


@complex_power_kernel.example(n=300, exponent=5)
@complex_power_kernel.example(n=1, exponent=1)
@complex_power_kernel.example(n=100, exponent=0)
def complex_power(n, exponent):
    re, im = np.random.default_rng(0).uniform(-1, 1, (2, n)).astype(np.float32)
    expected = (re.astype(np.float64) + 1j * im) ** exponent
    args = {"re": re, "im": im, "out_re": np.zeros_like(re), "out_im": np.zeros_like(im)}
    return triton.Example(
        args={**args, "n": n, "exponent": exponent, "BLOCK": 128},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"out_re": expected.real, "out_im": expected.imag},
    )


@bias_activation_kernel.example(rows=7, columns=33, activation="relu", bias=True)
@bias_activation_kernel.example(rows=7, columns=33, activation="leaky_relu", bias=False)
@bias_activation_kernel.example(rows=1, columns=1, activation="none", bias=True)
@bias_activation_kernel.example(rows=0, columns=1, activation="none", bias=False)
def bias_activation(rows, columns, activation, bias):
    rng = np.random.default_rng(0)
    x, b = rng.standard_normal((rows, columns), dtype=np.float32), rng.standard_normal(columns, dtype=np.float32)
    value = x + b if bias else x
    expected = {
        "relu": np.maximum(value, 0),
        "leaky_relu": np.where(value >= 0, value, value * np.float32(0.01)),
        "none": value,
    }
    args = {"x": x, "bias": b if bias else None, "out": np.zeros_like(x), "n": x.size, "columns": columns}
    return triton.Example(
        args={**args, "ACTIVATION": activation, "BLOCK": 128},
        grid=lambda meta: (triton.cdiv(x.size, meta["BLOCK"]),),
        expected={"out": expected[activation]},
    )
