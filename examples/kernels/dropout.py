"""Dropout: a mask from a seed and an element's number instead of from memory, so that it can be made again."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def dropout_kernel(x, out, n, p, seed, BLOCK: tl.constexpr):
    """Each element is dropped with probability p; the others grow by 1 / (1 - p), so that the mean stays."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    keep = tl.rand(seed, offs) >= p
    tl.store(out + offs, tl.where(keep, value / (1 - p), 0.0), mask=mask)


@triton.jit
def masked_dropout_kernel(x, keep, out, n, p, BLOCK: tl.constexpr):
    """The same with a mask of bytes that somebody else made: any byte but 0 keeps the element."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    value = tl.load(x + offs, mask=mask, other=0.0)
    kept = tl.load(keep + offs, mask=mask, other=0)
    tl.store(out + offs, tl.where(kept != 0, value / (1 - p), 0.0), mask=mask)


def _random_bits(seed, offsets):
    """What `tl.randint` gives: ten rounds of Philox 4x32 on the counters (offset, 0, 0, 0)."""
    counters = [offsets.astype(np.uint64), *np.zeros((3, len(offsets)), np.uint64)]
    keys = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        first, second = counters[0] * np.uint64(0xD2511F53), counters[2] * np.uint64(0xCD9E8D57)
        low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
        counters = [
            second >> high ^ counters[1] ^ np.uint64(keys[0]), second & low,
            first >> high ^ counters[3] ^ np.uint64(keys[1]), first & low,
        ]  # fmt: skip
        keys = [(keys[0] + 0x9E3779B9) % 2**32, (keys[1] + 0xBB67AE85) % 2**32]
    return counters[0].astype(np.uint32)


@dropout_kernel.example(n=1000, p=0.5)
@dropout_kernel.example(n=300, p=0.0)
@dropout_kernel.example(n=1, p=0.25)
@dropout_kernel.example(n=0, p=0.25)
def dropout(n, p):
    x = np.random.default_rng(0).standard_normal(n, dtype=np.float32)
    signed = _random_bits(1234, np.arange(n)).view(np.int32)
    uniform = np.where(signed < 0, ~signed, signed).astype(np.float32) * np.float32(4.6566127342e-10)
    keep = uniform >= np.float32(p)
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
