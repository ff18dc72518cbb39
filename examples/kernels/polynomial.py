"""Compile-time control flow: a constexpr loop is unrolled, a constexpr `if` leaves one branch."""

import numpy as np

import mytriton as triton
import mytriton.language as tl

#: A global that kernels may read; its value is part of the cache key.
SCALE = tl.constexpr(0.5)


@triton.jit
def polynomial_kernel(x, out, n, DEGREE: tl.constexpr, HORNER: tl.constexpr, BLOCK: tl.constexpr):
    """SCALE * (1 + x + x**2 + ... + x**DEGREE)"""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    result = tl.full((BLOCK,), 1.0, tl.float32)
    if HORNER:
        for _ in tl.static_range(DEGREE):
            result = result * value + 1.0
    else:
        power = value
        for k in tl.static_range(1, DEGREE + 1):
            result += power
            power = power * value if k < DEGREE else power
    tl.store(out + offs, SCALE * result, mask=mask)


@polynomial_kernel.example(n=1000, degree=4, horner=True)
@polynomial_kernel.example(n=1000, degree=4, horner=False)
@polynomial_kernel.example(n=100, degree=0, horner=False)
def polynomial(n, degree, horner):
    x = np.random.default_rng(0).uniform(-1, 1, n).astype(np.float32)
    expected = 0.5 * sum(x.astype(np.float64) ** k for k in range(degree + 1))
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "n": n, "DEGREE": degree, "HORNER": horner, "BLOCK": 256},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"out": expected},
    )
