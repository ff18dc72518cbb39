"""Choosing at launch: the block size by measuring, and whether a mask is needed by computing it."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 1024}, num_warps=4),
        triton.Config({"BLOCK": 256}, num_warps=2),
        triton.Config({"BLOCK": 4096}, num_warps=8),
    ],
    key=["n"],
    restore_value=["y"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def axpy_kernel(y, x, a, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    """The first launch for an n tries all blocks; as it adds to y each time, y is restored in between. Where n is a
    multiple of the block, no lane is beyond the end and the masks are not even compiled."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if EVEN:
        tl.store(y + offs, tl.load(y + offs) + a * tl.load(x + offs))
    else:
        mask = offs < n
        total = tl.load(y + offs, mask=mask, other=0.0) + a * tl.load(x + offs, mask=mask, other=0.0)
        tl.store(y + offs, total, mask=mask)


@triton.autotune(
    configs=[
        triton.Config({"ROWS": 4, "COLUMNS": 64}, num_warps=4),
        triton.Config({"ROWS": 1, "COLUMNS": 256}, num_warps=2),
        triton.Config({"ROWS": 16, "COLUMNS": 16}, num_warps=4, num_stages=2),
    ],
    key=["rows", "columns"],
    prune_configs_by={
        "perf_model": lambda rows, columns, ROWS, COLUMNS, **rest: -(-rows // ROWS) * -(-columns // COLUMNS),
        "top_k": 2,
    },
)
@triton.jit
def row_sums_kernel(out, x, row_stride, column_stride, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Sums of rows, a block of some rows and columns at a time. A model counts the blocks of each config, so that only
    the two with the fewest are measured. The strides say where the elements are: x may be a transpose or a slice."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, columns, COLUMNS):
        column = start + tl.arange(0, COLUMNS)
        mask = (row < rows)[:, None] & (column < columns)[None, :]
        at = row[:, None] * row_stride + column[None, :] * column_stride
        total += tl.load(x + at, mask=mask, other=0.0)
    tl.store(out + row, tl.sum(total, axis=1), mask=row < rows)


@axpy_kernel.example(n=10000)
@axpy_kernel.example(n=8192)
@axpy_kernel.example(n=1)
def axpy(n):
    y, x = np.random.default_rng(0).standard_normal((2, n), dtype=np.float32)
    return triton.Example(
        args={"y": y, "x": x, "a": 0.5, "n": n},
        grid=lambda meta: (triton.cdiv(meta["n"], meta["BLOCK"]),),
        expected={"y": y + 0.5 * x},
    )


@row_sums_kernel.example(rows=37, columns=100)
@row_sums_kernel.example(rows=5, columns=1)
def row_sums(rows, columns):
    x = np.random.default_rng(0).integers(-8, 8, (rows, columns)).astype(np.float32)
    return triton.Example(
        args={
            "out": np.zeros(rows, np.float32), "x": x, "row_stride": columns, "column_stride": 1,
            "rows": rows, "columns": columns,
        },
        grid=lambda meta: (triton.cdiv(meta["rows"], meta["ROWS"]),),
        expected={"out": x.sum(axis=1)},
    )  # fmt: skip
