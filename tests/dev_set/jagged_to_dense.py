"""T3 pytorch/FBGEMM `triton_jagged_to_dense`: pointers that are arguments advance under constexpr and run-time ifs, an
early return for the number -1, nested loops over tiles, an operation chosen by a string through a helper."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def apply(value, other, OPERATION: tl.constexpr):
    if OPERATION == "add":
        value = value + other
    elif OPERATION in ("mul", "multiply"):
        value = value * other
    return value


@triton.jit
def jagged_to_dense_kernel(
    jagged, offsets, row_stride, dense, indices, col_stride, dense_row_stride, matrix_stride, JAGGED_DIM: tl.constexpr,
    ROWS: tl.constexpr, COLS: tl.constexpr, OPERATION: tl.constexpr, operand,
):  # fmt: skip
    pid = tl.program_id(0)
    index = pid
    if indices is not None:
        index = tl.load(indices + pid)
        if index == -1:
            return
    begin = tl.load(offsets + index)
    end = tl.load(offsets + index + 1)
    rows = (end - begin).to(tl.int32)
    jagged += begin * row_stride
    dense += pid * matrix_stride
    if OPERATION is not None:
        operand += pid * matrix_stride
    if rows > matrix_stride // dense_row_stride:
        rows = matrix_stride // dense_row_stride
    for r in range(0, rows, ROWS):
        row = r + tl.arange(0, ROWS)
        for c in range(0, JAGGED_DIM, COLS):
            col = c + tl.arange(0, COLS)
            mask = (row < rows)[:, None] & (col < JAGGED_DIM)[None, :]
            value = tl.load(jagged + row[:, None] * row_stride + col[None, :], mask=mask, other=0)
            target = row[:, None] * dense_row_stride + col[None, :] * col_stride
            if OPERATION is not None:
                value = apply(value, tl.load(operand + target, mask=mask, other=0), OPERATION)
            tl.store(dense + target, value, mask=mask)


@jagged_to_dense_kernel.example(operation=None)
@jagged_to_dense_kernel.example(operation="add")
@jagged_to_dense_kernel.example(operation="multiply")
def jagged_to_dense(operation):
    rng = np.random.default_rng(0)
    lengths, longest, dim = (5, 0, 12, 30), 20, 40
    offsets = np.cumsum([0, *lengths], dtype=np.int64)
    jagged = rng.standard_normal((offsets[-1], dim), dtype=np.float32)
    indices = np.array([2, -1, 0, 3], np.int32)
    operand = None if operation is None else rng.standard_normal((4, longest, dim), dtype=np.float32)
    expected = np.full((4, longest, dim), 9, np.float32)
    for place, index in enumerate(indices):
        if index < 0:
            continue
        kept = min(lengths[index], longest)
        value = jagged[offsets[index] : offsets[index] + kept]
        if operation is not None:
            other = operand[place, :kept]
            value = value + other if operation == "add" else value * other
        expected[place, :kept] = value
    args = {"jagged": jagged, "offsets": offsets, "row_stride": dim, "dense": np.full_like(expected, 9)}
    args |= {"indices": indices, "col_stride": 1, "dense_row_stride": dim, "matrix_stride": longest * dim}
    args |= {"JAGGED_DIM": dim, "ROWS": 8, "COLS": 16, "OPERATION": operation, "operand": operand}
    return triton.Example(args=args, grid=len(indices), expected={"dense": expected})
