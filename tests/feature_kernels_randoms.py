"""Small kernels of random numbers: every function, offsets and seeds of 32 and 64 bits."""

from __future__ import annotations

import numpy as np

import mytriton as triton
import mytriton.language as tl


def philox(counters: list[int], key: list[int], bits: int = 32, rounds: int = 10) -> list[int]:
    """The generator in Python's integers."""
    factors = {32: (0xD2511F53, 0xCD9E8D57), 64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}[bits]
    grows = {32: (0x9E3779B9, 0xBB67AE85), 64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}[bits]
    a, b, c, d = counters
    for _ in range(rounds):
        first, second = a * factors[0], c * factors[1]
        a, b = second >> bits ^ b ^ key[0], second % 2**bits
        c, d = first >> bits ^ d ^ key[1], first % 2**bits
        key = [(k + by) % 2**bits for k, by in zip(key, grows, strict=True)]
    return [a, b, c, d]


def uniform(bits: np.ndarray) -> np.ndarray:
    signed = bits.view(np.int32)
    return np.where(signed < 0, ~signed, signed).astype(np.float32) * np.float32(4.6566127342e-10)


@triton.jit
def randoms_kernel(integers, floats, seed, start, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    at = start + offs
    four = tl.randint4x(seed, at)
    for i in tl.static_range(4):
        tl.store(integers + i * BLOCK + offs, four[i])
    tl.store(integers + 4 * BLOCK + offs, tl.randint(seed, at, n_rounds=7))
    tl.store(floats + offs, tl.rand(seed, at))
    tl.store(floats + BLOCK + offs, tl.rand4x(seed, at)[2])
    tl.store(floats + 2 * BLOCK + offs, tl.randn(seed, at))
    tl.store(floats + 3 * BLOCK + offs, tl.randn4x(seed, at)[3])
    tl.store(floats + 4 * BLOCK + offs, tl.rand(seed, start))


@randoms_kernel.example(seed=0, start=0)
@randoms_kernel.example(seed=-1, start=-5)
@randoms_kernel.example(seed=2**40 + 17, start=2**33 + 1)
def randoms(seed, start, block=64):
    wide = not -(2**31) <= start < 2**31
    offsets = [(start + i) % 2 ** (64 if wide else 32) for i in range(block)]
    key = [seed % 2**64 % 2**32, seed % 2**64 >> 32]
    counters = [[o % 2**32, o >> 32, 0, 0] for o in offsets]
    four = np.array([philox(c, key) for c in counters], np.uint32).T
    seven = np.array([philox(c, key, rounds=7)[0] for c in counters], np.uint32)
    u = [uniform(one) for one in four]
    one, three = (np.sqrt(-2 * np.log(np.maximum(u[n].astype(np.float64), 1e-7))) for n in (0, 2))
    normals = one * np.cos(2 * np.pi * u[1]), three * np.sin(2 * np.pi * u[3])
    return triton.Example(
        args={
            "integers": np.zeros((5, block), np.uint32),
            "floats": np.zeros((5, block), np.float32),
            "seed": seed, "start": start, "BLOCK": block,
        },
        grid=1,
        expected={
            "integers": np.stack([*four, seven]),
            "floats": np.stack([u[0], u[2], *normals, np.full(block, u[0][0])]),
        },
        rtol=1e-5,
        atol=1e-5,
    )  # fmt: skip
