"""Measures the functions of `tl.math`: `python -m tests.accuracy --backend cpu` prints the worst error of each.

Errors are in units in the last place (ULP) of the exact result, against long double for float64 and float64 for shorter
types. Arguments are random bits, so that every exponent is as likely, and values where each function varies most.
"""

from __future__ import annotations

import argparse
import ctypes
import ctypes.util
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

import mytriton as triton
import mytriton.language as tl
from mytriton.language.extra import libdevice
from tests.running import GPU, Runner

f16, f32, f64, bf16 = np.float16, np.float32, np.float64, ml_dtypes.bfloat16
#: Units in the last place that a result may be off, and half of one more for 16-bit types: they round once.
BOUNDS = {f16: 0.51, bf16: 0.51, f32: 2, f64: 4}
#: Digits and the exponent of the smallest normal number, by which a unit in the last place is known.
_FORMATS = {f16: (11, -14), bf16: (8, -126), f32: (24, -126), f64: (53, -1022)}
BLOCK = 1024


@triton.jit
def unary(x, out, n, NAME: tl.constexpr, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, mask=i < n, other=1.0)
    if NAME == "exp":
        r = tl.exp(v)
    elif NAME == "exp2":
        r = tl.exp2(v)
    elif NAME == "log":
        r = tl.log(v)
    elif NAME == "log2":
        r = tl.log2(v)
    elif NAME == "rsqrt":
        r = tl.rsqrt(v)
    elif NAME == "sin":
        r = tl.sin(v)
    elif NAME == "cos":
        r = tl.cos(v)
    elif NAME == "tanh":
        r = tl.tanh(v)
    else:
        r = tl.erf(v)
    tl.store(out + i, r, mask=i < n)


@triton.jit
def power(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    r = tl.pow(tl.load(x + i, mask=i < n, other=1.0), tl.load(y + i, mask=i < n, other=1.0))
    tl.store(out + i, r, mask=i < n)


@triton.jit
def rare(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v, w = tl.load(x + i, mask=i < n, other=1.0), tl.load(y + i, mask=i < n, other=1.0)
    tl.store(out + i, libdevice.acos(v), mask=i < n)
    tl.store(out + n + i, libdevice.acosh(v), mask=i < n)
    tl.store(out + 2 * n + i, libdevice.asin(v), mask=i < n)
    tl.store(out + 3 * n + i, libdevice.asinh(v), mask=i < n)
    tl.store(out + 4 * n + i, libdevice.atan(v), mask=i < n)
    tl.store(out + 5 * n + i, libdevice.atanh(v), mask=i < n)
    tl.store(out + 6 * n + i, libdevice.cbrt(v), mask=i < n)
    tl.store(out + 7 * n + i, libdevice.cosh(v), mask=i < n)
    tl.store(out + 8 * n + i, libdevice.erfc(v), mask=i < n)
    tl.store(out + 9 * n + i, libdevice.log10(v), mask=i < n)
    tl.store(out + 10 * n + i, libdevice.sinh(v), mask=i < n)
    tl.store(out + 11 * n + i, libdevice.tan(v), mask=i < n)
    tl.store(out + 12 * n + i, libdevice.exp10(v), mask=i < n)
    tl.store(out + 13 * n + i, libdevice.expm1(v), mask=i < n)
    tl.store(out + 14 * n + i, libdevice.log1p(v), mask=i < n)
    tl.store(out + 15 * n + i, libdevice.atan2(v, w), mask=i < n)
    tl.store(out + 16 * n + i, libdevice.hypot(v, w), mask=i < n)


def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


def _of_c(name: str) -> Callable[[Any], Any]:
    """The C library's function of long doubles; ctypes rounds its results to float64, which adds half a unit there."""
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    function.argtypes, function.restype = [ctypes.c_longdouble], ctypes.c_longdouble

    def evaluate(x: Any) -> Any:
        return np.array([function(v) for v in x.tolist()], x.dtype)

    return evaluate


#: By name: the reference, and a range in which the function varies.
UNARY: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "exp": (np.exp, -750, 720),
    "exp2": (np.exp2, -1080, 1030),
    "log": (np.log, 0.5, 2),
    "log2": (np.log2, 0.5, 2),
    "rsqrt": (_rsqrt, 1, 4),
    "sin": (np.sin, -100, 100),
    "cos": (np.cos, -100, 100),
    "tanh": (np.tanh, -20, 20),
    "erf": (_of_c("erfl"), -6, 6),
}


#: What `rare` computes, in order.
RARE: dict[str, Callable[..., Any]] = {
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atanh": np.arctanh,
    "cbrt": np.cbrt,
    "cosh": np.cosh,
    "erfc": _of_c("erfcl"),
    "log10": np.log10,
    "sinh": np.sinh,
    "tan": np.tan,
    "exp10": lambda x: np.power(x.dtype.type(10), x),
    "expm1": np.expm1,
    "log1p": np.log1p,
    "atan2": np.arctan2,
    "hypot": np.hypot,
}


def arguments(dtype: Any, low: float, high: float, size: int, seed: int = 0) -> Any:
    """Random bits, values from `low` to `high` and from a tenth of these, and specials."""
    random = np.random.default_rng(seed)
    bits = random.integers(0, 256, size // 2 * np.dtype(dtype).itemsize, np.uint8).view(dtype)
    spread = random.uniform(low, high, size // 4)
    narrow = np.concatenate([spread, random.uniform(low, high, size // 4) * (0.1 if low < 0 else 1)])
    special = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 5e-324, 3e38, -3e38, 1.7e308]
    with np.errstate(all="ignore"):
        return np.concatenate([np.array(special).astype(dtype), bits, narrow.astype(dtype)])


def worst(actual: Any, exact: Any, dtype: Any) -> float:
    """The largest error in ULP of the exact results; infinite if NaN, infinity or the sign of zero is wrong."""
    digits, lowest = _FORMATS[dtype]
    wide = actual.astype(exact.dtype)
    with np.errstate(all="ignore"):
        rounded = exact.astype(f64).astype(dtype)
        if dtype in (f16, bf16):
            rounded = exact.astype(f32).astype(dtype)
        nan = np.isnan(exact)
        infinite = np.isinf(wide) | np.isinf(exact) | np.isinf(rounded.astype(f64))
        exponent = np.maximum(np.frexp(exact)[1] - 1, lowest)
        error = np.abs(wide - exact) / np.ldexp(np.ones_like(exact), exponent - digits + 1)
        # Around the overflow threshold, a result on the wrong side of it is judged as if exponents went on.
        largest = ml_dtypes.finfo(dtype).max.astype(exact.dtype)
        top = np.ldexp(np.ones_like(exact), int(np.frexp(f64(largest))[1]) - digits)
        clipped = np.clip(exact, -largest - 8 * top, largest + 8 * top)
        beyond = np.abs(np.where(np.isinf(wide), np.copysign(largest + top, wide), wide) - clipped) / top
        beyond = np.where(np.isinf(wide) & (np.abs(exact) >= largest + top), 0, beyond)
        error = np.where(infinite, beyond, error)
        wrong = (np.isnan(wide) != nan) | ((exact == 0) & (np.signbit(wide) != np.signbit(exact)))
    return float(np.where(wrong, np.inf, np.where(nan, 0, error)).max())


def measure(run: Runner, name: str, dtype: Any, size: int) -> float:
    """The worst error of a function."""
    wide = np.longdouble if dtype == f64 else f64
    with np.errstate(all="ignore"):
        if name == "pow":
            x, y = arguments(dtype, 0.5, 2, size), arguments(dtype, -100, 100, size, 1)
            x[: len(x) // 8], y[: len(y) // 8] = _combinations(dtype, len(x) // 8)
            out = np.zeros_like(x)
            run(power, -(-len(x) // BLOCK), x, y, out, len(x), B=BLOCK)
            return worst(out, np.power(x.astype(wide), y.astype(wide)), dtype)
        reference, low, high = UNARY[name]
        x = arguments(dtype, low, high, size)
        out = np.zeros_like(x)
        run(unary, -(-len(x) // BLOCK), x, out, len(x), NAME=name, B=BLOCK)
        return worst(out, reference(x.astype(wide)), dtype)


def measure_rare(run: Runner, dtype: Any, size: int) -> dict[str, float]:
    """The worst errors of the functions in `RARE`."""
    x, y = arguments(dtype, -4, 4, size), arguments(dtype, -4, 4, size, 1)
    x[: len(x) // 16], y[: len(y) // 16] = _combinations(dtype, len(x) // 16)
    out = np.zeros((len(RARE), len(x)), dtype)
    run(rare, -(-len(x) // BLOCK), x, y, out, len(x), B=BLOCK)
    wide = np.longdouble if dtype == f64 else f64
    with np.errstate(all="ignore"):
        exact = [f(*(v.astype(wide) for v in (x, y)[: 1 + (n in ("atan2", "hypot"))])) for n, f in RARE.items()]
        return {name: worst(a, e, dtype) for name, a, e in zip(RARE, out, exact, strict=True)}


def _combinations(dtype: Any, size: int) -> tuple[Any, Any]:
    """Pairs of special values, integers and halves among them, repeated to `size`."""
    values = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 1.5, -1.5, np.inf, -np.inf, np.nan, 1e-40, 1e30]
    each = np.array(values).astype(dtype)
    return np.resize(np.repeat(each, len(each)), size), np.resize(np.tile(each, len(each)), size)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", default="cpu", choices=("interp", "cpu", *GPU))
    parser.add_argument("--size", type=int, default=200_000)
    options = parser.parse_args()
    run = Runner(options.backend)
    for name in (*UNARY, "pow"):
        errors = {dtype.__name__: measure(run, name, dtype, options.size) for dtype in BOUNDS}
        print(name, *(f"{dtype} {error:.3f}" for dtype, error in errors.items()), sep="  ", flush=True)
    of_rare = {dtype.__name__: measure_rare(run, dtype, options.size) for dtype in BOUNDS}
    for name in RARE:
        print(name, *(f"{dtype} {errors[name]:.3f}" for dtype, errors in of_rare.items()), sep="  ", flush=True)


if __name__ == "__main__":
    main()
