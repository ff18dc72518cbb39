"""out = alpha * x + y in every dtype: the kernel is compiled anew for each set of argument types."""

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl


@triton.jit
def saxpy_kernel(x, y, out, alpha, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    a = tl.load(x + offs, mask=mask, other=0)
    b = tl.load(y + offs, mask=mask, other=0)
    tl.store(out + offs, alpha * a + b, mask=mask)


_DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "i64": np.int64,
}


@saxpy_kernel.example(dtype="f32", n=1000)
@saxpy_kernel.example(dtype="f16", n=1000)
@saxpy_kernel.example(dtype="bf16", n=1000)
@saxpy_kernel.example(dtype="f64", n=1000)
@saxpy_kernel.example(dtype="i32", n=1000)
@saxpy_kernel.example(dtype="i64", n=1000)
def saxpy(dtype, n):
    type_ = np.dtype(_DTYPES[dtype])
    rng = np.random.default_rng(0)
    if dtype in ("i32", "i64"):
        # Integers wrap around, so any bits will do.
        low, high = np.iinfo(type_).min, np.iinfo(type_).max
        x, y = rng.integers(low, high, (2, n), dtype=type_)
        alpha = 3
        expected = type_.type(alpha) * x + y
    else:
        x, y = rng.standard_normal((2, n)).astype(type_)
        # A scalar of the arrays' own dtype; a Python float would be a float32 and widen float16 blocks.
        alpha = type_.type(1.5)
        expected = np.float64(alpha) * x.astype(np.float64) + y.astype(np.float64)
    return triton.Example(
        args={"x": x, "y": y, "out": np.zeros_like(x), "alpha": alpha, "n": n, "BLOCK": 256},
        grid=lambda meta: (triton.cdiv(n, meta["BLOCK"]),),
        expected={"out": expected},
    )
