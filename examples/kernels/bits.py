"""Bits: shifts and xors of unsigned integers, which wrap at their width and never overflow."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def hash_kernel(x, out, n, seed, BLOCK: tl.constexpr):
    """Mixes 32-bit keys so that every bit of a key reaches every bit of its hash (the finalizer of MurmurHash3). A key
    is unsigned, so `>>` fills with zeros; a literal takes the type of the block it meets."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    key = tl.load(x + offs, mask=mask, other=0) ^ seed.to(tl.uint32)
    key ^= key >> 16
    key *= 0x85EBCA6B
    key ^= key >> 13
    key *= 0xC2B2AE35
    key ^= key >> 16
    tl.store(out + offs, key, mask=mask)


@triton.jit
def unpack_kernel(packed, out, n, scale, BLOCK: tl.constexpr):
    """Two signed 4-bit numbers of each byte, as quantized weights are stored: shifted up as int8 and down again, which
    repeats the sign bit."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    byte = tl.load(packed + (offs >> 1), mask=mask, other=0)
    nibble = tl.where(offs & 1 == 0, byte & 15, byte >> 4)
    number = (nibble.to(tl.int8) << 4) >> 4
    tl.store(out + offs, number * scale, mask=mask)


def _blocks(n):
    return lambda meta: (triton.cdiv(n, meta["BLOCK"]),)


@hash_kernel.example(n=1000)
@hash_kernel.example(n=1)
def hash_keys(n):
    x = np.arange(n, dtype=np.uint32) * np.uint32(40503)
    key = x ^ np.uint32(0x9E3779B9)
    key ^= key >> np.uint32(16)
    key *= np.uint32(0x85EBCA6B)
    key ^= key >> np.uint32(13)
    key *= np.uint32(0xC2B2AE35)
    key ^= key >> np.uint32(16)
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "n": n, "seed": 0x9E3779B9, "BLOCK": 256},
        grid=_blocks(n),
        expected={"out": key},
    )


@unpack_kernel.example(n=1000)
@unpack_kernel.example(n=130)
def unpack(n):
    numbers = np.random.default_rng(0).integers(-8, 8, n, dtype=np.int8)
    nibbles = (numbers & 15).astype(np.uint8)
    packed = nibbles[0::2] | nibbles[1::2] << 4
    return triton.Example(
        args={"packed": packed, "out": np.zeros(n, np.float32), "n": n, "scale": 0.25, "BLOCK": 128},
        grid=_blocks(n),
        expected={"out": numbers * np.float32(0.25)},
    )
