"""Matrices: tiles of two dimensions, addressed by a column of row numbers and a row of column numbers."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def matrix_add_kernel(
    x, y, out, rows, columns, x_stride, y_stride, out_stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr
):
    """`row[:, None]` has shape (ROWS, 1) and `column[None, :]` has (1, COLUMNS): together they make a whole tile."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    mask = (row[:, None] < rows) & (column[None, :] < columns)
    a = tl.load(x + row[:, None] * x_stride + column[None, :], mask=mask, other=0.0)
    b = tl.load(y + row[:, None] * y_stride + column[None, :], mask=mask, other=0.0)
    tl.store(out + row[:, None] * out_stride + column[None, :], a + b, mask=mask)


@triton.jit
def transpose_kernel(x, out, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Reads a tile row by row and writes it column by column: `tl.trans` turns the tile, so that both the load and the
    store run along memory."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    inside = (row < rows)[:, None] & (column < columns)[None, :]
    tile = tl.load(x + row[:, None] * columns + column[None, :], mask=inside, other=0)
    turned = column[:, None] * rows + row[None, :]
    tl.store(out + turned, tl.trans(tile), mask=inside.T)


@triton.jit
def strided_copy_kernel(
    x, out, n0, n1, n2, sx0, sx1, sx2, so0, so1, so2, B0: tl.constexpr, B1: tl.constexpr, B2: tl.constexpr
):
    """Three dimensions, any strides: permuting the axes of an array is a copy with the strides in another order."""
    i = tl.program_id(0) * B0 + tl.arange(0, B0)[:, None, None]
    j = tl.program_id(1) * B1 + tl.arange(0, B1)[None, :, None]
    k = tl.program_id(2) * B2 + tl.arange(0, B2)[None, None, :]
    mask = (i < n0) & (j < n1) & (k < n2)
    block = tl.load(x + i * sx0 + j * sx1 + k * sx2, mask=mask)
    tl.store(out + i * so0 + j * so1 + k * so2, block, mask=mask)


@matrix_add_kernel.example(rows=50, columns=70)
@matrix_add_kernel.example(rows=1, columns=1)
@matrix_add_kernel.example(rows=0, columns=5)
def matrix_add(rows, columns):
    x, y = np.random.default_rng(0).standard_normal((2, rows, columns), dtype=np.float32)
    args = {"x": x, "y": y, "out": np.zeros_like(x), "rows": rows, "columns": columns}
    args |= {"x_stride": columns, "y_stride": columns, "out_stride": columns}
    return triton.Example(
        args={**args, "ROWS": 16, "COLUMNS": 32},
        grid=lambda meta: (triton.cdiv(rows, meta["ROWS"]), triton.cdiv(columns, meta["COLUMNS"])),
        expected={"out": x + y},
    )


@transpose_kernel.example(rows=50, columns=70, dtype="float32")
@transpose_kernel.example(rows=33, columns=31, dtype="int16")
@transpose_kernel.example(rows=1, columns=100, dtype="float64")
@transpose_kernel.example(rows=3, columns=0, dtype="float32")
def transpose(rows, columns, dtype):
    x = np.arange(rows * columns).reshape(rows, columns).astype(dtype)
    args = {"x": x, "out": np.zeros((columns, rows), dtype), "rows": rows, "columns": columns}
    return triton.Example(
        args={**args, "ROWS": 16, "COLUMNS": 32},
        grid=lambda meta: (triton.cdiv(rows, meta["ROWS"]), triton.cdiv(columns, meta["COLUMNS"])),
        expected={"out": x.T},
    )


@strided_copy_kernel.example(shape=(5, 9, 20), order=(2, 0, 1))
@strided_copy_kernel.example(shape=(4, 8, 16), order=(1, 2, 0))
@strided_copy_kernel.example(shape=(1, 1, 1), order=(0, 1, 2))
def strided_copy(shape, order):
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    expected = np.ascontiguousarray(x.transpose(order))
    elements = [s // x.itemsize for s in expected.strides]
    strides = {f"sx{axis}": s // x.itemsize for axis, s in enumerate(x.strides)}
    strides |= {f"so{axis}": elements[order.index(axis)] for axis in range(3)}
    blocks = {"B0": 4, "B1": 8, "B2": 16}
    return triton.Example(
        args={"x": x, "out": np.zeros_like(expected), **{f"n{i}": n for i, n in enumerate(shape)}, **strides, **blocks},
        grid=tuple(triton.cdiv(n, b) for n, b in zip(shape, blocks.values(), strict=True)),
        expected={"out": expected},
    )
