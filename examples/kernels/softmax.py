"""Softmax of each row: in one block, in a loop for rows of any length, and with programs that take several rows."""

import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def softmax_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    """The row fits in a block. Subtracting its maximum changes nothing in exact arithmetic and keeps exp from
    overflowing; lanes beyond the row read minus infinity, whose exponential is 0."""
    row = tl.program_id(0)
    offs = tl.arange(0, BLOCK)
    mask = offs < columns
    values = tl.load(x + row * x_stride + offs, mask=mask, other=-float("inf"))
    numerator = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * out_stride + offs, numerator / tl.sum(numerator, axis=0), mask=mask)


@triton.jit
def online_softmax_kernel(out, x, out_stride, x_stride, columns, BLOCK: tl.constexpr):
    """A row of any length in two passes: the first carries the maximum so far and the sum relative to it, which is
    scaled whenever the maximum grows; the second writes."""
    row = tl.program_id(0)
    maximum = -float("inf")
    total = 0.0
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        values = tl.load(x + row * x_stride + offs, mask=offs < columns, other=-float("inf"))
        larger = tl.maximum(maximum, tl.max(values, axis=0))
        total = total * tl.exp(maximum - larger) + tl.sum(tl.exp(values - larger), axis=0)
        maximum = larger
    for start in range(0, columns, BLOCK):
        offs = start + tl.arange(0, BLOCK)
        mask = offs < columns
        values = tl.load(x + row * x_stride + offs, mask=mask)
        tl.store(out + row * out_stride + offs, tl.exp(values - maximum) / total, mask=mask)


@triton.jit
def persistent_softmax_kernel(out, x, out_stride, x_stride, rows, columns, BLOCK: tl.constexpr):
    """As many programs as the device runs at once, each taking every n-th row: the step of the loop is known at run
    time only."""
    offs = tl.arange(0, BLOCK)
    mask = offs < columns
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=2):
        values = tl.load(x + row * x_stride + offs, mask=mask, other=-float("inf"))
        numerator = tl.exp(values - tl.max(values, axis=0))
        tl.store(out + row * out_stride + offs, numerator / tl.sum(numerator, axis=0), mask=mask)


def _softmax(x):
    wide = x.astype(np.float64)
    numerator = np.exp(wide - wide.max(axis=1, keepdims=True, initial=-np.inf))
    return numerator / numerator.sum(axis=1, keepdims=True)


def _example(shape, grid, block, **more):
    x = np.random.default_rng(0).standard_normal(shape, dtype=np.float32) * 10
    columns = shape[1]
    strides = {"out_stride": columns, "x_stride": columns}
    return triton.Example(
        args={"out": np.zeros_like(x), "x": x, **strides, "columns": columns, **more, "BLOCK": block},
        grid=grid,
        expected={"out": _softmax(x)},
        rtol=1e-5,
    )


@softmax_kernel.example(rows=5, columns=781)
@softmax_kernel.example(rows=3, columns=1)
@softmax_kernel.example(rows=3, columns=0)
@softmax_kernel.example(rows=0, columns=10)
def softmax(rows, columns):
    return _example((rows, columns), rows, triton.next_power_of_2(columns))


@online_softmax_kernel.example(rows=3, columns=3000)
@online_softmax_kernel.example(rows=2, columns=512)
@online_softmax_kernel.example(rows=2, columns=1)
@online_softmax_kernel.example(rows=2, columns=0)
def online_softmax(rows, columns):
    return _example((rows, columns), rows, 512)


@persistent_softmax_kernel.example(rows=11, columns=100, programs=4)
@persistent_softmax_kernel.example(rows=1, columns=1, programs=3)
@persistent_softmax_kernel.example(rows=0, columns=1, programs=2)
def persistent_softmax(rows, columns, programs):
    return _example((rows, columns), programs, triton.next_power_of_2(columns), rows=rows)
