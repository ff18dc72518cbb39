"""Floats of 8 bits: every conversion bit by bit, against their formats written out, on every backend."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import mytriton as triton
import mytriton.language as tl
from mytriton.arrays import DTYPES
from mytriton.frontend import constants
from mytriton.types import FLOAT8
from tests import feature_kernels_float8
from tests.feature_kernels_float8 import float8_kernel
from tests.float8 import CODES, E4, E5, FORMATS, hard, numbers, rounded
from tests.running import GPU, on_every_backend, runner
from tests.triton_reference import as_triton, triton_interpreter

__all__ = ["triton_interpreter"]


def sources(dtype: np.dtype) -> list[np.ndarray]:
    """Every float16 and bfloat16, and hard float32 and float64."""
    with np.errstate(over="ignore"):
        short = [np.arange(65536, dtype=np.uint16).view(t) for t in (np.float16, ml_dtypes.bfloat16)]
        return [*short, hard(dtype).astype(np.float32), hard(dtype)]


@on_every_backend
@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_every_code_is_widened_exactly(run, dtype):
    for to in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64):
        out = np.zeros(256, to)
        run(float8_kernel, 1, CODES.view(dtype), out, 256, B=256)
        expected = numbers(dtype)
        np.testing.assert_array_equal(out.astype(np.float64), expected)
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(out.astype(np.float64))[known], np.signbit(expected)[known])


@on_every_backend
@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_rounding(run, dtype):
    for x in sources(dtype):
        out = np.zeros(len(x), dtype)
        run(float8_kernel, -(-len(x) // 1024), x, out, len(x), B=1024)
        np.testing.assert_array_equal(out.view(np.uint8), rounded(x, dtype), err_msg=str(x.dtype))


@pytest.mark.parametrize("type_", FLOAT8, ids=str)
def test_constants_are_rounded_like_values(type_):
    x = hard(DTYPES[type_])
    with np.errstate(invalid="ignore"):
        found = np.array([constants.convert(float(v), type_) for v in x]).astype(DTYPES[type_]).view(np.uint8)
    expected = rounded(x, DTYPES[type_])
    np.testing.assert_array_equal(np.where(np.isnan(x), 0x7F, found), expected)


@on_every_backend
@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_other_types(run, dtype):
    """Integers and bools go by way of float32; one float8 to the other rounds once."""
    other = E5 if dtype == E4 else E4
    whole = np.array([0, 1, -1, 17, 18, 19, -464, 449, 2**31 - 1, -(2**31), 61440], np.int32)
    for x, to, expected in (
        (whole, dtype, rounded(whole, dtype)),
        (np.array([True, False]), dtype, rounded(np.array([1, 0]), dtype)),
        (CODES.view(dtype), other, rounded(numbers(dtype), other)),
        (CODES.view(dtype), np.dtype(bool), numbers(dtype) != 0),
        (CODES.view(dtype), np.dtype(np.int8), np.clip(np.nan_to_num(np.trunc(numbers(dtype))), -128, 127)),
    ):
        out = np.zeros(len(x), to)
        run(float8_kernel, 1, x, out, len(x), B=256)
        np.testing.assert_array_equal(out.view(np.uint8) if to in FORMATS else out, expected)


@triton.jit
def toward_zero_kernel(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=0.0).to(out.dtype.element_ty, fp_downcast_rounding="rtz")
    tl.store(out + i, v, mask=i < n)


@on_every_backend
@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_rounding_toward_zero(run, dtype):
    """Infinity stays infinity where there is one."""
    with np.errstate(over="ignore"):
        x = hard(dtype).astype(np.float32)
    table = numbers(dtype)[: FORMATS[dtype][2] + 1]
    code = np.searchsorted(table, np.abs(np.nan_to_num(x)), side="right") - 1
    code = np.where(np.isinf(x) & (dtype == E5), 0x7C, code) | np.where(np.signbit(x), 0x80, 0)
    out = np.zeros(len(x), dtype)
    run(toward_zero_kernel, -(-len(x) // 256), x, out, len(x), B=256)
    np.testing.assert_array_equal(out.view(np.uint8), np.where(np.isnan(x), 0x7F, code))


@triton.jit
def scalar_kernel(s, out):
    tl.store(out, s)
    tl.store(out + 1, s.to(tl.float32) * 2)


@on_every_backend
@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_scalar_arguments(run, dtype):
    out = np.zeros(2, dtype)
    run(scalar_kernel, 1, dtype.type(-1.75), out)
    np.testing.assert_array_equal(out.astype(np.float32), [-1.75, -3.5])


@triton.jit
def nan_kernel(x, out):
    tl.store(out, float("nan"))
    tl.store(out + 1, tl.full((), float("nan"), tl.float32).to(out.dtype.element_ty))
    tl.store(out + 2, tl.load(x).to(out.dtype.element_ty))


@on_every_backend
@pytest.mark.parametrize("dtype", FORMATS, ids=str)
def test_nan_is_the_same_whoever_makes_it(run, dtype):
    out = np.zeros(3, dtype)
    run(nan_kernel, 1, np.full(1, -np.nan, np.float32), out)
    assert out.tobytes() == b"\x7f\x7f\x7f"


@triton.jit
def scaled_batch_kernel(a, sa, b, c, sc, d, out, product):
    """Batches, packed along M, a scale of float8e4nv for each 16, and bits for floats; exponents at the ends."""
    i, m, k, n = tl.arange(0, 2)[:, None, None], tl.arange(0, 16), tl.arange(0, 32), tl.arange(0, 4)
    x = tl.load(a + (i * 8 + tl.arange(0, 8)[None, :, None]) * 32 + k[None, None, :])
    scale = tl.load(sa + (i * 16 + m[None, :, None]) * 2 + tl.arange(0, 2)[None, None, :])
    y = tl.load(b + (i * 32 + k[None, :, None]) * 4 + n[None, None, :])
    total = tl.dot_scaled(x, scale, "e2m1", y, None, "e5m2", lhs_k_pack=False)
    tl.store(out + (i * 16 + m[None, :, None]) * 4 + n[None, None, :], total)
    ones = tl.load(c + n[:, None] * 32 + k[None, :])
    powers = tl.dot_scaled(ones, tl.load(sc + n)[:, None], "fp16", tl.load(d + k)[:, None], None, "bf16")
    tl.store(product + n[:, None], powers)


@on_every_backend
def test_scaled_products(run):
    rng = np.random.default_rng(5)
    digits = rng.integers(0, 16, (2, 16, 32), np.uint8)
    positive = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    x = np.concatenate([positive, -positive])[digits]
    scale = rng.random((2, 16, 2)).astype(E4)
    y = rng.standard_normal((2, 32, 4)).astype(E5)
    one = np.zeros((4, 32), np.float16)
    one[:, 0] = 1.5
    out, product = np.zeros((2, 16, 4), np.float32), np.zeros(4, np.float32)
    args = digits[:, ::2] | digits[:, 1::2] << 4, scale, y.view(np.uint8), one, np.array([0, 1, 254, 255], np.uint8)
    run(scaled_batch_kernel, 1, *args, np.ones(32, ml_dtypes.bfloat16), out, product)
    expected = (x * np.repeat(scale.astype(np.float64), 16, 2)) @ y.astype(np.float64)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(
        product, np.array([1.5 * 2.0**-127, 1.5 * 2.0**-126, 1.5 * 2.0**127, np.nan], np.float32)
    )


@pytest.mark.execution
@pytest.mark.parametrize("backend", GPU)
def test_torch_tensors(backend):
    run = runner(backend)
    torch = pytest.importorskip("torch")
    x = torch.linspace(-440, 440, 1000, device="cuda")
    for dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
        short, wide = torch.zeros(1000, dtype=dtype, device="cuda"), torch.zeros_like(x)
        float8_kernel[4](x, short, 1000, B=256, backend=run.backend)
        assert torch.equal(short.view(torch.uint8), x.to(dtype).view(torch.uint8))
        float8_kernel[4](short, wide, 1000, B=256, backend=run.backend)
        assert torch.equal(wide, short.to(torch.float32))


def test_each_chip_gets_what_it_has():
    for backend, first in (("cuda", "sm_89"), ("mlir", "sm_90")):
        for chip in ("sm_80", "sm_89", "sm_90"):
            compilation = float8_kernel.compile("*fp32:16, *fp8e4nv:16, i32, 512", backend=backend, chip=chip)
            made = compilation.stage("ptx")
            compilation.raise_if_failed()
            if made.status == "skipped":
                pytest.skip(made.reason)
            assert ("cvt.rn.satfinite.e4m3x2.f32" in made.text) == (chip >= first), (backend, chip)


@pytest.mark.parametrize(("dtype", "to"), [(E4, np.float32), (E4, np.float16), (E5, np.float32), (E5, np.float16)])
def test_what_tritons_interpreter_gets_right(triton_interpreter, dtype, to):
    """It widens numbers (but for subnormal float8e5 to float16), and narrows what needs no rounding, to normal numbers;
    it rounds ties away from zero, and what is beyond the largest number to NaN and infinity."""
    mantissa, _, largest = FORMATS[dtype]
    sizes = CODES & 0x7F
    codes = CODES[(sizes >= 1 << mantissa) & (sizes <= largest)]
    table = numbers(dtype)[codes]
    text = as_triton(Path(feature_kernels_float8.__file__).read_text())
    for x, expected in ((codes.view(dtype), table.astype(to)), (table.astype(to), codes.view(dtype))):
        out = np.zeros(256, expected.dtype)
        triton_interpreter.run(text, float8_kernel.name, 1, {"x": x, "out": out, "n": len(x), "B": 256})
        assert out[: len(x)].tobytes() == expected.tobytes()
