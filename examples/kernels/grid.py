"""Launch grids of two and three axes: every program works on one row of a plane."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def scale_rows_kernel(x, scale, out, columns, row_stride, BLOCK: tl.constexpr):
    """out[row, :] = scale[row] * x[row, :]; axis 0 are blocks of columns, axis 1 rows. One scalar load a program."""
    row = tl.program_id(1)
    column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = column < columns
    offs = row * row_stride + column
    tl.store(out + offs, tl.load(scale + row) * tl.load(x + offs, mask=mask, other=0.0), mask=mask)


@triton.jit
def program_numbers_kernel(out, BLOCK: tl.constexpr):
    """Each program stores its number in the grid, counted along all three axes, and the size of the grid."""
    i, j, k = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    ni, nj, nk = tl.num_programs(0), tl.num_programs(1), tl.num_programs(2)
    number = (k * nj + j) * ni + i
    offs = tl.arange(0, BLOCK)
    tl.store(out + number * BLOCK + offs, tl.where(offs == 0, number, ni * nj * nk))


@scale_rows_kernel.example(rows=5, columns=300)
@scale_rows_kernel.example(rows=64, columns=1)
def scale_rows(rows, columns):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, columns), dtype=np.float32)
    scale = rng.standard_normal(rows, dtype=np.float32)
    return triton.Example(
        args={
            "x": x,
            "scale": scale,
            "out": np.zeros_like(x),
            "columns": columns,
            "row_stride": columns,
            "BLOCK": 128,
        },
        grid=lambda meta: (triton.cdiv(columns, meta["BLOCK"]), rows),
        expected={"out": scale[:, None] * x},
    )


@program_numbers_kernel.example(grid=(3, 4, 5))
@program_numbers_kernel.example(grid=(7,))
def program_numbers(grid):
    programs = int(np.prod(grid))
    expected = np.full((programs, 32), programs, np.int64)
    expected[:, 0] = np.arange(programs)
    return triton.Example(
        args={"out": np.zeros((programs, 32), np.int64), "BLOCK": 32}, grid=grid, expected={"out": expected}
    )
