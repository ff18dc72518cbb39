"""Pointer arithmetic: offsets may be added in any order and grouping, scalars and blocks alike."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def associate_kernel(x, out, n, shift, BLOCK: tl.constexpr):
    """out[i] = x[i + shift] + x[i + 1] - x[i], with each address written in another way."""
    start = tl.program_id(0) * BLOCK
    i = tl.arange(0, BLOCK)
    mask = start + i < n
    a = tl.load(x + start + i + shift, mask=mask, other=0.0)
    b = tl.load((1 + (x + i)) + start, mask=mask, other=0.0)
    c = tl.load(i + (x + (start + 4)) - 4, mask=mask, other=0.0)
    tl.store(out + (start + i), a + b - c, mask=mask)


@triton.jit
def reverse_kernel(x, out, n, BLOCK: tl.constexpr):
    """out[i] = x[n - 1 - i], reading backwards from a pointer past the end."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    end = x + n
    tl.store(out + i, tl.load(end - 1 - i, mask=mask, other=0), mask=mask)


@triton.jit
def choose_kernel(x, y, out, BLOCK: tl.constexpr):
    """Even elements from x, odd ones from y: the pointers themselves are chosen."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(tl.where(i % 2 == 0, x + i, y + i)))


@associate_kernel.example(n=1000, shift=3)
@associate_kernel.example(n=1000, shift=0)
def associate(n, shift):
    x = np.random.default_rng(0).standard_normal(n + 8, dtype=np.float32)
    expected = x[shift : n + shift] + x[1 : n + 1] - x[:n]
    return triton.Example(
        args={"x": x, "out": np.zeros(n, np.float32), "n": n, "shift": shift, "BLOCK": 256},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"out": expected},
    )


@reverse_kernel.example(n=777)
def reverse(n):
    x = np.arange(n, dtype=np.int64)
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "n": n, "BLOCK": 128},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"out": x[::-1].copy()},
    )


@choose_kernel.example(blocks=4)
def choose(blocks):
    n = blocks * 64
    x, y = np.arange(n, dtype=np.float32), -np.arange(n, dtype=np.float32)
    return triton.Example(
        args={"x": x, "y": y, "out": np.zeros_like(x), "BLOCK": 64},
        grid=blocks,
        expected={"out": np.where(np.arange(n) % 2 == 0, x, y)},
    )
