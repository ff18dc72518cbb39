"""Small kernels of block pointers and tensor descriptors: carried, chosen, handed to functions, at every edge."""

from __future__ import annotations

import numpy as np

import mytriton as triton
import mytriton.language as tl
from mytriton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def moved(window, by, AXIS: tl.constexpr):
    if AXIS == 0:
        return tl.advance(window, (by, 0))
    return window.advance((0, by))


@triton.jit
def windows_kernel(x, out, m, n, stride, down, BLOCK: tl.constexpr):
    """Tiles of x by way of its rows, or of its columns, whatever lies outside of it read as 0; even tiles twice."""
    source = tl.make_block_ptr(x, (m, n), (stride, 1), (-1, 0), (BLOCK, BLOCK), order=(1, 0))
    target = tl.make_block_ptr(
        out, shape=(m, n), strides=(n, 1), offsets=(-1, 0), block_shape=(BLOCK, BLOCK), order=(1, 0)
    )
    for i in range(tl.cdiv(m + 1, BLOCK)):
        column, to = source, target
        j = 0
        while j < n:
            tile = tl.load(column, boundary_check=(0, 1))
            if (i + j // BLOCK) % 2 == 0:
                tile *= 2
            tl.store(to, tile, boundary_check=(0, 1))
            column, to = moved(column, BLOCK, 1), moved(to, BLOCK, 1)
            j += BLOCK
        if down > 0:
            source, target = moved(source, BLOCK, 0), moved(target, BLOCK, 0)


@windows_kernel.example(m=9, n=13)
@windows_kernel.example(m=1, n=1)
@windows_kernel.example(m=3, n=0)
def windows(m, n, block=4):
    x = np.arange(m * (n + 3), dtype=np.int32).reshape(m, n + 3)
    tiles = (np.arange(m)[:, None] + 1) // block + np.arange(n) // block
    return triton.Example(
        args={"x": x, "out": np.full((m, n), -1, np.int32), "m": m, "n": n, "stride": n + 3, "down": 1, "BLOCK": block},
        grid=1,
        expected={"out": x[:, :n] * np.where(tiles % 2 == 0, 2, 1)},
    )


@triton.jit
def descriptor_kernel(x, out, m, n, k, R: tl.constexpr, C: tl.constexpr):
    """Blocks of three axes through descriptors: the sum of each with what lies R further along the second axis."""
    source = tl.make_tensor_descriptor(x, [m, n, k], [n * k, k, 1], [2, R, C], padding_option="nan")
    target = tl.make_tensor_descriptor(out, [m, n, k], [n * k, k, 1], [2, R, C])
    at = [tl.program_id(2) * 2, tl.program_id(1) * R, tl.program_id(0) * C]
    here = source.load(at)
    below = tl.load_tensor_descriptor(source, [at[0], at[1] + R, at[2]])
    target.store(at, here + tl.where(below == below, below, 0.5).to(target.dtype))


@descriptor_kernel.example(shape=(3, 5, 9))
@descriptor_kernel.example(shape=(3, 5, 16))
@descriptor_kernel.example(shape=(1, 1, 1))
def descriptor(shape):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float16)
    below = np.full(shape, 0.5, np.float16)
    below[:, :-2] = x[:, 2:]
    m, n, k = shape
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "m": m, "n": n, "k": k, "R": 2, "C": 8},
        grid=(-(-k // 8), -(-n // 2), -(-m // 2)),
        expected={"out": x + below},
    )


@triton.jit
def described_kernel(x, out, rows, R: tl.constexpr, C: tl.constexpr):
    """Tiles of a tensor whose descriptor the host made, below each other."""
    tl.static_assert(x.dtype == tl.int32)
    first = tl.program_id(0) * C
    places = tl.arange(0, R)[:, None] * (2 * C) + first + tl.arange(0, C)[None, :]
    for row in range(0, rows, R):
        tl.store(out + row * 2 * C + places, x.load([row, first]))


@described_kernel.example()
def described():
    x = np.arange(5 * 24, dtype=np.int32).reshape(5, 24)
    expected = np.zeros((6, 16), np.int32)
    expected[:5, :12] = x[:, :12]
    return triton.Example(
        args={
            "x": TensorDescriptor(x, [5, 12], [24, 1], [2, 8]),
            "out": np.ones((6, 16), np.int32), "rows": 5, "R": 2, "C": 8,
        },
        grid=2,
        expected={"out": expected},
    )  # fmt: skip
