"""T2 triton-lang/triton `softmax_kernel`: programs that take every n-th row, a loop with the number of programs as its
step and a hint for pipelining."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def persistent_softmax_kernel(
    output_ptr, input_ptr, input_stride, output_stride, n_rows, n_cols, BLOCK_SIZE: tl.constexpr, STAGES: tl.constexpr
):
    start = tl.program_id(0)
    step = tl.num_programs(0)
    for row in tl.range(start, n_rows, step, num_stages=STAGES):
        cols = tl.arange(0, BLOCK_SIZE)
        mask = cols < n_cols
        x = tl.load(input_ptr + row * input_stride + cols, mask=mask, other=-float("inf"))
        numerator = tl.exp(x - tl.max(x, axis=0))
        tl.store(output_ptr + row * output_stride + cols, numerator / tl.sum(numerator, axis=0), mask=mask)


@persistent_softmax_kernel.example(rows=10, columns=700, programs=3)
@persistent_softmax_kernel.example(rows=1, columns=1, programs=2)
def persistent_softmax(rows, columns, programs):
    x = np.random.default_rng(0).standard_normal((rows, columns), dtype=np.float32)
    numerator = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    args = {"output_ptr": np.zeros_like(x), "input_ptr": x, "input_stride": columns, "output_stride": columns}
    return triton.Example(
        args={**args, "n_rows": rows, "n_cols": columns, "BLOCK_SIZE": triton.next_power_of_2(columns), "STAGES": 4},
        grid=programs,
        expected={"output_ptr": numerator / numerator.sum(axis=1, keepdims=True)},
    )
