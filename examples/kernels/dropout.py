"""Dropout: a mask from a seed and an element's number instead of from memory, so that it can be made again."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def mix(key):
    """A helper: 32 bits in, 32 well mixed bits out (the finalizer of MurmurHash3)."""
    key ^= key >> 16
    key *= 0x85EBCA6B
    key ^= key >> 13
    key *= 0xC2B2AE35
    key ^= key >> 16
    return key


@triton.jit
def uniform(seed, offs):
    """Numbers in [0, 1), one an element: the upper 24 bits of a hash, which a float32 holds exactly."""
    bits = mix(mix(offs.to(tl.uint32)) ^ seed.to(tl.uint32))
    return (bits >> 8).to(tl.float32) * (1.0 / 16777216.0)


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    """Each element is dropped with probability p; the others grow by 1 / (1 - p), so that the mean stays."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    keep = uniform(seed, offs) >= p
    tl.store(out + offs, tl.where(keep, value / (1 - p), 0.0), mask=mask)


@triton.jit
def masked_dropout_kernel(x, keep, out, n, p, BLOCK: tl.constexpr):
    """The same with a mask of bytes that somebody else made: any byte but 0 keeps the element."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    kept = tl.load(keep + offs, mask=mask, other=0)
    tl.store(out + offs, tl.where(kept != 0, value / (1 - p), 0.0), mask=mask)


def _mix(key):
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        key = (key ^ key >> np.uint32(shift)) * np.uint32(factor)
    return key ^ key >> np.uint32(16)


@dropout_kernel.example(n=1000, p=0.5)
@dropout_kernel.example(n=300, p=0.0)
@dropout_kernel.example(n=1, p=0.25)
@dropout_kernel.example(n=0, p=0.25)
def dropout(n, p):
    x = np.random.default_rng(0).standard_normal(n, dtype=np.float32)
    bits = _mix(_mix(np.arange(n, dtype=np.uint32)) ^ np.uint32(1234))
    keep = (bits >> np.uint32(8)).astype(np.float32) * np.float32(2**-24) >= np.float32(p)
    return triton.Example(
        args={"x": x, "out": np.ones_like(x), "n": n, "p": p, "seed": 1234, "BLOCK": 256},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"out": np.where(keep, x / np.float32(1 - p), np.float32(0))},
    )


@masked_dropout_kernel.example(n=1000, p=0.5)
@masked_dropout_kernel.example(n=1, p=0.5)
def masked_dropout(n, p):
    rng = np.random.default_rng(0)
    x, keep = rng.standard_normal(n, dtype=np.float32), rng.integers(0, 3, n, dtype=np.uint8)
    return triton.Example(
        args={"x": x, "keep": keep, "out": np.ones_like(x), "n": n, "p": p, "BLOCK": 256},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"out": np.where(keep != 0, x / np.float32(1 - p), np.float32(0))},
    )
