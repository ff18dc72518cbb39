"""T1 triton-lang/triton `add_kernel`: the sum of two vectors with a mask at the end."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def vector_add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: tl.constexpr):
    pid = tl.program_id(axis=0)
    offsets = pid * BLOCK_SIZE + tl.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    output = tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask)
    tl.store(output_ptr + offsets, output, mask=mask)


@vector_add_kernel.example(n=2500)
@vector_add_kernel.example(n=0)
def vector_add(n):
    x, y = np.random.default_rng(0).standard_normal((2, n), dtype=np.float32)
    return triton.Example(
        args={"x_ptr": x, "y_ptr": y, "output_ptr": np.zeros_like(x), "n_elements": n, "BLOCK_SIZE": 1024},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK_SIZE"]),),
        expected={"output_ptr": x + y},
    )
