"""Copying: the smallest kernel that reads and writes, and an exchange in place, where order matters."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def copy_kernel(x, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)

    mask = offs < n

    a = tl.load(x + offs, mask=mask, other=0.0)
    tl.store(out + offs, a, mask=mask)


@copy_kernel.example(n=1000)
@copy_kernel.example(n=65536)
def copy(n):
    x = np.random.default_rng(0).standard_normal(n, dtype=np.float32)
    return triton.Example(
        args={"x": x, "out": np.zeros_like(x), "n": n, "BLOCK": 256},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"out": x},
    )


@triton.jit
def swap_kernel(x, y, BLOCK: tl.constexpr):
    """Exchanges two arrays in place: both loads come before both stores, because that is how they are written."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + offs)
    b = tl.load(y + offs)
    tl.store(x + offs, b)
    tl.store(y + offs, a)


@swap_kernel.example(blocks=8)
def swap(blocks):
    n = blocks * 128
    x, y = np.arange(n, dtype=np.int32), -np.arange(n, dtype=np.int32)
    return triton.Example(args={"x": x, "y": y, "BLOCK": 128}, grid=blocks, expected={"x": y.copy(), "y": x.copy()})


if __name__ == "__main__":
    x = np.arange(10, dtype=np.float32)
    out = np.zeros_like(x)
    copy_kernel[1](x, out, 10, BLOCK=16, backend="interp")
    print(out)
