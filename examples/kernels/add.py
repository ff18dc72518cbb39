"""Vector addition: every program adds one block of BLOCK elements."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def add_kernel(x, y, out, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)

    mask = offs < n

    a = tl.load(x + offs, mask=mask, other=0.0)
    b = tl.load(y + offs, mask=mask, other=0.0)

    tl.store(out + offs, a + b, mask=mask)


@add_kernel.example(n=1)
@add_kernel.example(n=1000)
@add_kernel.example(n=98432)
def add(n):
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, n), dtype=np.float32)
    return triton.Example(
        args={"x": x, "y": y, "out": np.zeros_like(x), "n": n, "BLOCK": 256},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"out": x + y},
    )


if __name__ == "__main__":
    x, y = np.arange(1000, dtype=np.float32), np.ones(1000, dtype=np.float32)
    out = np.zeros_like(x)
    expressions, ssa, source = add_kernel[4](x, y, out, 1000, BLOCK=256)
    print(source)
