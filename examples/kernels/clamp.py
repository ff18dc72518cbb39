"""Choosing elements: tl.where, comparisons and the bitwise operators on masks."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def clamp_kernel(x, out, n, low, high, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    value = tl.where(value < low, low, value)
    value = tl.where(value > high, high, value)
    tl.store(out + offs, value, mask=mask)


@triton.jit
def window_kernel(x, out, inside, n, BLOCK: tl.constexpr):
    """Keeps the elements from n/4 up to 3n/4 and every third one elsewhere; `inside` gets the mask itself, as bool."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    valid = offs < n
    middle = (offs >= n // 4) & (offs < 3 * n // 4)
    keep = (middle | (offs % 3 == 0)) & ~(offs == 7)
    value = tl.load(x + offs, mask=valid & keep, other=-1)
    tl.store(out + offs, value, mask=valid)
    tl.store(inside + offs, middle ^ (value < 0), mask=valid)


def _blocks(n):
    return lambda meta: (triton.cdiv(n, meta["BLOCK"]),)


@clamp_kernel.example(n=1000)
def clamp(n):
    x = np.random.default_rng(0).standard_normal(n, dtype=np.float32)
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "n": n, "low": -0.5, "high": 0.5, "BLOCK": 256},
        grid=_blocks(n),
        expected={"out": np.clip(x, np.float32(-0.5), np.float32(0.5))},
    )


@window_kernel.example(n=1000)
@window_kernel.example(n=130)
def window(n):
    x = np.random.default_rng(0).integers(0, 100, n, dtype=np.int32)
    i = np.arange(n)
    middle = (i >= n // 4) & (i < 3 * n // 4)
    keep = (middle | (i % 3 == 0)) & (i != 7)
    out = np.where(keep, x, -1).astype(np.int32)
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "inside": np.zeros(n, bool), "n": n, "BLOCK": 128},
        grid=_blocks(n),
        expected={"out": out, "inside": middle ^ (out < 0)},
    )
