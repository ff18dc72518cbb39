"""Small kernels, continued: blocks whose neighbours in memory stand in a column."""

from __future__ import annotations

import numpy as np

import mytriton as triton
import mytriton.language as tl


def numbers(low, high, shape, dtype):
    """The same ones whenever an example is built."""
    return np.random.default_rng(11).integers(low, high, shape).astype(dtype)


@triton.jit
def columns_kernel(x, y, out, turned, m, lead, M: tl.constexpr, N: tl.constexpr):
    """Loaded by columns and by rows, stored by both; a mask along the columns."""
    rows, columns = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    by_columns = rows + columns * lead
    v = tl.load(x + by_columns, mask=rows < m, other=-1)
    w = tl.load(y + rows * N + columns)
    tl.store(turned + by_columns, v + v, mask=rows < m)
    tl.store(out + rows * N + columns, v + w)


@columns_kernel.example(m=32, lead=32, dtype="float32")
@columns_kernel.example(m=20, lead=32, dtype="float32")
@columns_kernel.example(m=17, lead=48, dtype="float16")
@columns_kernel.example(m=31, lead=33, dtype="int8")
def columns(m, lead, dtype):
    x = numbers(-30, 30, (16, lead), dtype)
    y = numbers(-30, 30, (32, 16), dtype)
    v = np.where(np.arange(32)[:, None] < m, x.T[:32], -1)
    turned = np.zeros_like(x)
    turned[:, :m] = 2 * x[:, :m]
    return triton.Example(
        args={
            "x": x,
            "y": y,
            "out": np.zeros_like(y),
            "turned": np.zeros_like(x),
            "m": m,
            "lead": lead,
            "M": 32,
            "N": 16,
        },
        grid=1,
        expected={"out": (v + y).astype(dtype), "turned": turned},
        options={"num_warps": 2},
    )


@triton.jit
def column_sums_kernel(x, out, trips, lead, M: tl.constexpr, N: tl.constexpr):
    """Pointers that a loop carries, into a tile of columns; sums along both axes."""
    rows, columns = tl.arange(0, M), tl.arange(0, N)
    tile = x + rows[:, None] + columns[None, :] * lead
    total = tl.zeros((M, N), tl.float32)
    for _ in range(trips):
        total += tl.load(tile)
        tile += N * lead
    tl.store(out + columns, tl.sum(total, axis=0))
    tl.store(out + N + rows, tl.max(total, axis=1))
    tl.store(out + N + M + rows[:, None] * N + columns[None, :], total)


@column_sums_kernel.example(trips=3, num_warps=1)
@column_sums_kernel.example(trips=1, num_warps=4)
def column_sums(trips, num_warps):
    x = numbers(-8, 8, (8 * trips, 64), np.float32)
    total = x.reshape(trips, 8, 64).sum(axis=0).T
    expected = np.concatenate([total.sum(axis=0), total.max(axis=1), total.reshape(-1)])
    return triton.Example(
        args={"x": x, "out": np.zeros_like(expected), "trips": trips, "lead": 64, "M": 64, "N": 8},
        grid=1,
        expected={"out": expected},
        options={"num_warps": num_warps},
    )


@triton.jit
def column_product_kernel(
    a, b, out, K, lead_a, lead_b, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr, ROWS: tl.constexpr
):
    """Both factors by columns, or the first by rows: what a loop copies ahead, too."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, STEP)
    at_a = a + (m[:, None] * lead_a + k[None, :] if ROWS else m[:, None] + k[None, :] * lead_a)
    at_b = b + k[:, None] + n[None, :] * lead_b
    total = tl.zeros((M, N), tl.float32)
    for _ in range(0, K, STEP):
        total = tl.dot(tl.load(at_a), tl.load(at_b), total)
        at_a += STEP if ROWS else STEP * lead_a
        at_b += STEP
    tl.store(out + m[:, None] * N + n[None, :], total)


@column_product_kernel.example(rows=True, dtype="float16")
@column_product_kernel.example(rows=False, dtype="float16")
@column_product_kernel.example(rows=False, dtype="float32")
def column_product(rows, dtype):
    m, n, k = 32, 16, 64
    a, b = (numbers(-4, 4, shape, dtype) for shape in ((m, k), (n, k)))
    return triton.Example(
        args={
            "a": a if rows else np.ascontiguousarray(a.T), "b": b, "out": np.zeros((m, n), np.float32), "K": k,
            "lead_a": k if rows else m, "lead_b": k, "M": m, "N": n, "STEP": 16, "ROWS": rows,
        },
        grid=1,
        expected={"out": a.astype(np.float64) @ b.T.astype(np.float64)},
        options={"num_warps": 2},
    )  # fmt: skip
