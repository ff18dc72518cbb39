"""Elements that say where others are: counted, looked up in a table, and searched for in a sorted array."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def byte_counts_kernel(x, counts, n, BLOCK: tl.constexpr):
    """How often each byte occurs: a program counts all of its blocks before it adds to memory once."""
    found = tl.zeros((256,), dtype=tl.int32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < n
        values = tl.load(x + offs, mask=mask, other=0).to(tl.int32)
        found += tl.histogram(values, 256, mask=mask)
    tl.atomic_add(counts + tl.arange(0, 256), found, sem="relaxed")


@triton.jit
def dequantize_kernel(packed, levels, scales, out, n, BLOCK: tl.constexpr):
    """Numbers of 4 bits, two in a byte, as the levels of a table that they stand for; each block has a scale."""
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)
    codes = tl.load(packed + offs, mask=offs < n, other=0).to(tl.int32)
    table = tl.load(levels + tl.arange(0, 16)) * tl.load(scales + pid)
    both = tl.interleave(tl.gather(table, codes & 15, 0), tl.gather(table, codes >> 4, 0))
    places = pid * 2 * BLOCK + tl.arange(0, 2 * BLOCK)
    tl.store(out + places, both, mask=places < 2 * n)


@triton.jit
def place_of(value, edges, n):
    """How many edges are not above a value: half of those left are passed by in each step."""
    low = 0
    high = n
    while low < high:
        middle = (low + high) // 2
        if tl.load(edges + middle) <= value:
            low = middle + 1
        else:
            high = middle
    return low


@triton.jit
def bucketize_kernel(x, edges, out, n, edge_count, BLOCK: tl.constexpr):
    """A function of single elements, each of which goes its own way through branches and loops."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + offs, mask=offs < n, other=0.0)
    tl.store(out + offs, tl.map_elementwise(place_of, values, edges, edge_count), mask=offs < n)


@byte_counts_kernel.example(n=1000)
@byte_counts_kernel.example(n=0)
def byte_counts(n):
    x = np.random.default_rng(0).integers(0, 256, n, dtype=np.uint8)
    return triton.Example(
        args={"x": x, "counts": np.zeros(256, np.int32), "n": n, "BLOCK": 256},
        grid=(2,),
        expected={"counts": np.bincount(x, minlength=256)},
    )


@dequantize_kernel.example(n=100)
@dequantize_kernel.example(n=1)
def dequantize(n, block=64):
    rng = np.random.default_rng(0)
    packed, levels = rng.integers(0, 256, n, dtype=np.uint8), np.linspace(-1, 1, 16, dtype=np.float32)
    scales = rng.random(triton.cdiv(n, block), dtype=np.float32)
    codes = np.stack([packed & 15, packed >> 4], axis=1).reshape(-1)
    return triton.Example(
        args={
            "packed": packed, "levels": levels, "scales": scales, "out": np.zeros(2 * n, np.float32), "n": n,
            "BLOCK": block,
        },
        grid=(len(scales),),
        expected={"out": levels[codes] * np.repeat(scales, 2 * block)[: 2 * n]},
    )  # fmt: skip


@bucketize_kernel.example(n=300, edge_count=37)
@bucketize_kernel.example(n=1, edge_count=0)
def bucketize(n, edge_count):
    rng = np.random.default_rng(0)
    x, edges = rng.standard_normal(n, dtype=np.float32), np.sort(rng.standard_normal(edge_count, dtype=np.float32))
    return triton.Example(
        args={"x": x, "edges": edges, "out": np.zeros(n, np.int32), "n": n, "edge_count": edge_count, "BLOCK": 128},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"out": np.searchsorted(edges, x, side="right")},
    )
