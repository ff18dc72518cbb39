"""Reductions: the sum and the extremes of each row, short rows in one block, long ones in a loop."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def row_sum_kernel(x, out, columns, row_stride, BLOCK: tl.constexpr):
    """One program a row, and the whole row in one block: what the mask leaves out reads as 0 and adds nothing."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    values = tl.load(x + row * row_stride + offs, mask=offs < columns, other=0.0)
    tl.store(out + row, tl.sum(values, axis=0))


@triton.jit
def row_extremes_kernel(x, largest, smallest, columns, row_stride, BLOCK: tl.constexpr):
    """`other` must be what the reduction ignores: minus infinity for the maximum, plus infinity for the minimum."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < columns
    pointers = x + row * row_stride + offs
    tl.store(largest + row, tl.max(tl.load(pointers, mask=mask, other=-float("inf")), axis=0))
    tl.store(smallest + row, tl.min(tl.load(pointers, mask=mask, other=float("inf")), axis=0))


@triton.jit
def tile_sum_kernel(x, out, rows, columns, row_stride, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Several short rows a program: a tile of two dimensions, reduced along axis 1."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    mask = (row < rows)[:, None] & (column < columns)[None, :]
    tile = tl.load(x + row[:, None] * row_stride + column[None, :], mask=mask, other=0.0)
    tl.store(out + row, tl.sum(tile, axis=1), mask=row < rows)


@triton.jit
def long_row_sum_kernel(x, out, columns, row_stride, BLOCK: tl.constexpr):
    """A row of any length, a block at a time. Each lane of the accumulator has its own sum; they meet once, at the
    end, which is faster than a reduction in every trip, and loses less to rounding than one running sum."""
    row = tl.program_id(0)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * row_stride + offs, mask=offs < columns, other=0.0)
    tl.store(out + row, tl.sum(total, axis=0))


def _matrix(rows, columns):
    return np.random.default_rng(0).standard_normal((rows, columns), dtype=np.float32)


def _args(x, block, **outputs):
    rows, columns = x.shape
    zeros = {name: np.zeros(rows, x.dtype) for name in outputs}
    return {"x": x, **zeros, "columns": columns, "row_stride": columns, "BLOCK": block}


@row_sum_kernel.example(rows=7, columns=300)
@row_sum_kernel.example(rows=3, columns=1)
@row_sum_kernel.example(rows=2, columns=0)
@row_sum_kernel.example(rows=0, columns=10)
def row_sum(rows, columns):
    x = _matrix(rows, columns)
    return triton.Example(
        args=_args(x, triton.next_power_of_2(columns), out=None),
        grid=rows,
        expected={"out": x.sum(axis=1, dtype=np.float64)},
        atol=1e-5,
    )


@row_extremes_kernel.example(rows=7, columns=300)
@row_extremes_kernel.example(rows=3, columns=1)
@row_extremes_kernel.example(rows=2, columns=0)
def row_extremes(rows, columns):
    x = _matrix(rows, columns)
    x[:1, 1::5] = np.nan  # which both reductions ignore
    return triton.Example(
        args=_args(x, triton.next_power_of_2(columns), largest=None, smallest=None),
        grid=rows,
        expected={
            "largest": np.fmax.reduce(x, axis=1, initial=-np.inf),
            "smallest": np.fmin.reduce(x, axis=1, initial=np.inf),
        },
    )


@tile_sum_kernel.example(rows=37, columns=20)
@tile_sum_kernel.example(rows=1, columns=1)
@tile_sum_kernel.example(rows=5, columns=0)
def tile_sum(rows, columns):
    x = _matrix(rows, columns)
    return triton.Example(
        args={**_args(x, triton.next_power_of_2(columns), out=None), "rows": rows, "ROWS": 16},
        grid=lambda meta: (triton.cdiv(rows, meta["ROWS"]),),
        expected={"out": x.sum(axis=1, dtype=np.float64)},
        atol=1e-5,
    )


@long_row_sum_kernel.example(rows=3, columns=5000)
@long_row_sum_kernel.example(rows=2, columns=256)
@long_row_sum_kernel.example(rows=2, columns=1)
@long_row_sum_kernel.example(rows=2, columns=0)
def long_row_sum(rows, columns):
    x = _matrix(rows, columns)
    return triton.Example(
        args=_args(x, 256, out=None), grid=rows, expected={"out": x.sum(axis=1, dtype=np.float64)}, atol=1e-4
    )
