"""Conversions between element types, explicit with .to() and implicit at a store."""

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def cast_kernel(x, out, n, BLOCK: tl.constexpr):
    """A store converts to the element type of the pointer."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    tl.store(out + offs, tl.load(x + offs, mask=mask, other=0), mask=mask)


@triton.jit
def quantize_kernel(x, out, n, step, BLOCK: tl.constexpr):
    """Rounds down to a multiple of `step`, through int64."""
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    scaled = tl.load(x + offs, mask=mask, other=0.0).to(tl.float32) / step
    whole = scaled.to(tl.int64)
    floor = whole - (whole.to(tl.float32) > scaled).to(tl.int64)
    tl.store(out + offs, floor.to(tl.float32) * step, mask=mask)


_DTYPES = {
    "bool": np.bool_,
    "i32": np.int32,
    "i64": np.int64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
}


def _blocks(n):
    return lambda meta: (triton.cdiv(n, meta["BLOCK"]),)


@cast_kernel.example(source="f32", to="f16")
@cast_kernel.example(source="f32", to="bf16")
@cast_kernel.example(source="f32", to="i32")
@cast_kernel.example(source="f64", to="f32")
@cast_kernel.example(source="i64", to="i32")
@cast_kernel.example(source="bf16", to="f64")
@cast_kernel.example(source="i32", to="bool")
@cast_kernel.example(source="bool", to="f32")
def cast(source, to):
    n = 1000
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(n) * 1000).astype(_DTYPES[source])
    if source == "i64":
        x = rng.integers(-(2**40), 2**40, n)  # beyond int32: narrowing wraps
    target = np.dtype(_DTYPES[to])
    expected = x != 0 if to == "bool" else x.astype(target)
    return triton.Example(
        args={"x": x, "out": np.zeros(n, target), "n": n, "BLOCK": 256},
        grid=_blocks(n),
        expected={"out": expected},
        rtol=0,
        atol=0,
    )


@cast_kernel.example()
def saturate():
    x = np.array([1.9, -1.9, 3e9, -3e9, np.inf, -np.inf, np.nan, -0.5], np.float32)
    expected = np.array([1, -1, 2**31 - 1, -(2**31), 2**31 - 1, -(2**31), 0, 0], np.int32)
    return triton.Example(
        args={"x": x, "out": np.zeros(8, np.int32), "n": 8, "BLOCK": 32}, grid=1, expected={"out": expected}
    )


@quantize_kernel.example(n=1000)
def quantize(n):
    x = np.random.default_rng(0).standard_normal(n).astype(np.float16)
    scaled = x.astype(np.float32) / np.float32(0.25)
    return triton.Example(
        args={"x": x, "out": np.zeros(n, np.float32), "n": n, "step": 0.25, "BLOCK": 128},
        grid=_blocks(n),
        expected={"out": np.floor(scaled) * np.float32(0.25)},
    )
