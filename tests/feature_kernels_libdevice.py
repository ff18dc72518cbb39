"""Small kernels, continued: functions of libdevice."""

from __future__ import annotations

import math

import numpy as np

import mytriton as triton
import mytriton.language as tl
from mytriton.language.extra import libdevice
from tests.feature_kernels import F, X, example


@triton.jit
def rare_functions_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    unit = v / 8
    tl.store(out + i, libdevice.expm1(unit) + libdevice.log1p(unit * unit))
    tl.store(out + N + i, libdevice.atan2(v, unit - 0.25) + libdevice.hypot(v, unit))
    tl.store(out + 2 * N + i, libdevice.acos(unit) + libdevice.asin(unit) * libdevice.atan(v) + libdevice.tan(unit))
    tl.store(out + 3 * N + i, libdevice.sinh(unit) + libdevice.cosh(unit) * libdevice.cbrt(v) + libdevice.erfc(unit))
    tl.store(out + 4 * N + i, libdevice.log10(v * v + 1) + libdevice.asinh(v) + libdevice.acosh(v * v + 1))
    tl.store(out + 5 * N + i, libdevice.atanh(unit) + libdevice.exp10(unit))


@rare_functions_kernel.example()
def rare_functions():
    v = F.astype(np.float64)
    u = v / 8
    rows = [
        np.expm1(u) + np.log1p(u * u),
        np.arctan2(v, u - 0.25) + np.hypot(v, u),
        np.arccos(u) + np.arcsin(u) * np.arctan(v) + np.tan(u),
        np.sinh(u) + np.cosh(u) * np.cbrt(v) + np.vectorize(math.erfc)(u),
        np.log10(v * v + 1) + np.arcsinh(v) + np.arccosh(v * v + 1),
        np.arctanh(u) + np.power(10.0, u),
    ]
    return example(np.concatenate(rows).astype(np.float32), x=F, N=len(F))


@triton.jit
def bits_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, libdevice.popc(v) * 64 + libdevice.clz(v))
    tl.store(out + N + i, libdevice.ffs(v))
    tl.store(out + 2 * N + i, libdevice.brev(v))
    tl.store(out + 3 * N + i, libdevice.mulhi(v * 0x12345, v) + libdevice.popc(v.to(tl.int64) * 5))
    tl.store(out + 4 * N + i, libdevice.float2int_ru(v / 8.0) + libdevice.float2int_rn(v / 8.0))


@bits_kernel.example()
def bits():
    texts = [f"{int(v) & 0xFFFFFFFF:032b}" for v in X]
    high = [int(np.int32(v * 0x12345)) * int(v) >> 32 for v in X]
    rows = [
        [t.count("1") * 64 + len(t) - len(t.lstrip("0")) for t in texts],
        [0 if "1" not in t else 32 - t.rindex("1") for t in texts],
        np.array([int(t[::-1], 2) for t in texts], np.uint32).view(np.int32),
        [h + (int(v) * 5 & (1 << 64) - 1).bit_count() for h, v in zip(high, X, strict=True)],
        np.ceil(X / 8) + np.rint(X / 8),
    ]
    return example(np.concatenate([np.asarray(row, np.int32) for row in rows]), x=X, N=len(X))


@triton.jit
def unfused_kernel(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(out + i, libdevice.mul_rn(v, v) - 1.0)
    tl.store(out + N + i, libdevice.sub_rn(v * v, 1.0) + libdevice.add_rn(v * v, -1.0))


@unfused_kernel.example()
def unfused():
    x = (1 + np.arange(1, 65) * 2.0**-20).astype(np.float32)  # whose squares do not fit a float32
    less = x * x - np.float32(1)
    return example(np.concatenate([less, less + less]), x=x, N=len(x))
