"""What the functions of floats compute, as NumPy: within half a unit in the last place and a little, f64 within one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from mytriton.ir import ops
from mytriton.ir.core import Op
from mytriton.ir.rounding import Array, odd_float32, odd_sum

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)


def _in_wider(function: Callable[..., Any]) -> Callable[..., Array]:
    """Short floats in float64, rounded to float32 first: an error of float64 shows in neither rounding. float64 goes
    through long double where the host has a wider one."""

    def evaluate(*operands: Array) -> Array:
        dtype = operands[0].dtype
        if dtype == np.float64:
            return np.asarray(function(*(x.astype(np.longdouble) for x in operands)).astype(np.float64))
        return np.asarray(function(*(x.astype(np.float64) for x in operands)).astype(np.float32).astype(dtype))

    return evaluate


def _rsqrt(x: Array) -> Array:
    return np.asarray(1 / np.sqrt(x))


_python_erf = np.vectorize(math.erf, otypes=[np.float64])


def _erf(x: Array) -> Array:
    return np.asarray(_python_erf(x.astype(np.float64)))


_python_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def _erfc(x: Array) -> Array:
    return np.asarray(_python_erfc(x.astype(np.float64)))


def _exact(function: Callable[[Array], Any]) -> Callable[[Array], Array]:
    return lambda x: np.asarray(function(x.astype(np.float64)).astype(x.dtype))


def _fma_float64(x: float, y: float, z: float) -> float:
    if math.isfinite(x) and math.isfinite(y) and not math.isfinite(z):
        return z  # though x * y may overflow
    if not (math.isfinite(x) and math.isfinite(y)) or x == 0 or y == 0:
        return x * y + z  # the product is exact
    from fractions import Fraction  # few kernels are interpreted, fewer have such a product

    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:  # of equal magnitudes, hence +0.0; a product of its own that is 0 was taken above
        return 0.0
    try:
        return float(exact)  # correctly rounded, denormals too; the sign of a result that underflows is kept
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


_python_fma = np.vectorize(_fma_float64, otypes=[np.float64])


def _fma(x: Array, y: Array, z: Array) -> Array:
    if x.dtype == np.float64:
        return np.asarray(_python_fma(x, y, z))
    # The product of two shorter floats is exact, the sum is rounded to odd, and so only the last rounding counts.
    total = odd_sum(x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64))
    short = odd_float32(total) if x.dtype == BFLOAT16 else total  # ml_dtypes would round to float32 first
    return np.asarray(short.astype(x.dtype))


FUNCTIONS: dict[type[Op], Callable[..., Array]] = {
    ops.Exp: _in_wider(np.exp),
    ops.Exp2: _in_wider(np.exp2),
    ops.Log: _in_wider(np.log),
    ops.Log2: _in_wider(np.log2),
    ops.Sqrt: np.sqrt,
    ops.Rsqrt: _in_wider(_rsqrt),
    ops.Sin: _in_wider(np.sin),
    ops.Cos: _in_wider(np.cos),
    ops.Tanh: _in_wider(np.tanh),
    ops.Erf: _in_wider(_erf),
    ops.Floor: _exact(np.floor),
    ops.Ceil: _exact(np.ceil),
    ops.Pow: _in_wider(np.power),
    ops.Acos: _in_wider(np.arccos),
    ops.Acosh: _in_wider(np.arccosh),
    ops.Asin: _in_wider(np.arcsin),
    ops.Asinh: _in_wider(np.arcsinh),
    ops.Atan: _in_wider(np.arctan),
    ops.Atanh: _in_wider(np.arctanh),
    ops.Cbrt: _in_wider(np.cbrt),
    ops.Cosh: _in_wider(np.cosh),
    ops.Log10: _in_wider(np.log10),
    ops.Sinh: _in_wider(np.sinh),
    ops.Tan: _in_wider(np.tan),
    ops.Erfc: _in_wider(_erfc),
    ops.Atan2: _in_wider(np.arctan2),
    ops.Fma: _fma,
}
