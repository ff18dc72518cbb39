"""Functions of NVIDIA's libdevice, under the names Triton gives them there. They mean the same on every backend.

Those that `tl.math` has too are its own. Each takes float32 and float64, and float16 and bfloat16 as well.
"""

from __future__ import annotations

from typing import Any

from mytriton.language.extra.floats import (
    acos,
    acosh,
    add_rn,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    cbrt,
    cosh,
    erfc,
    exp10,
    expm1,
    hypot,
    log1p,
    log10,
    mul_rn,
    sinh,
    sub_rn,
    tan,
)
from mytriton.language.extra.integers import CONVERSIONS, brev, clz, ffs, hadd, mulhi, popc, rhadd
from mytriton.language.kernel_only import kernel_only
from mytriton.language.math import (
    abs,
    ceil,
    cos,
    div_rn,
    erf,
    exp,
    exp2,
    floor,
    fma,
    log,
    log2,
    pow,
    rsqrt,
    sin,
    sqrt,
    sqrt_rn,
    tanh,
)

#: What is fast and rough there is as exact as its namesake here.
fast_expf, fast_logf, fast_log2f, fast_sinf, fast_cosf, fast_powf = exp, log, log2, sin, cos, pow
fast_dividef, fast_tanhf, fma_rn, rsqrt_rn = div_rn, tanh, fma, rsqrt
fast_tanf, fast_log10f, fast_exp10f = tan, log10, exp10
globals().update(CONVERSIONS)

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add_rn",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "brev",
    "cbrt",
    "ceil",
    "clz",
    "copysign",
    "cos",
    "cosh",
    "div_rn",
    "double_as_longlong",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "exp10",
    "expm1",
    "fast_cosf",
    "fast_dividef",
    "fast_exp10f",
    "fast_expf",
    "fast_log2f",
    "fast_log10f",
    "fast_logf",
    "fast_powf",
    "fast_sinf",
    "fast_tanf",
    "fast_tanhf",
    "fdim",
    "ffs",
    "finitef",
    "float_as_int",
    "float_as_uint",
    "floor",
    "fma",
    "fma_rn",
    "fmod",
    "hadd",
    "hypot",
    "int_as_float",
    "isfinited",
    "isinf",
    "isnan",
    "llrint",
    "llround",
    "log",
    "log1p",
    "log2",
    "log10",
    "longlong_as_double",
    "mul_rn",
    "mulhi",
    "nearbyint",
    "popc",
    "pow",
    "rcp_rn",
    "rhadd",
    "rint",
    "round",
    "rsqrt",
    "rsqrt_rn",
    "saturatef",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "sqrt_rn",
    "sub_rn",
    "tan",
    "tanh",
    "trunc",
    "uint_as_float",
]
__all__ += CONVERSIONS


def isnan(arg0: Any) -> Any:
    """Whether each element is NaN, a bool."""
    kernel_only("isnan")


def isinf(arg0: Any) -> Any:
    """Whether each element is an infinity, a bool."""
    kernel_only("isinf")


def finitef(arg0: Any) -> Any:
    """Whether each element is neither NaN nor an infinity, a bool."""
    kernel_only("finitef")


def isfinited(arg0: Any) -> Any:
    """`finitef`, by its name for float64."""
    kernel_only("isfinited")


def signbit(arg0: Any) -> Any:
    """The sign bit of each element, an int32: 1 for negative numbers, -0.0 and such NaNs, else 0."""
    kernel_only("signbit")


def copysign(arg0: Any, arg1: Any) -> Any:
    """`arg0` with the sign of `arg1`, both floats, promoted as by `+`."""
    kernel_only("copysign")


def trunc(arg0: Any) -> Any:
    """Rounded toward zero to an integer, as a float of its type, exact; keeps the sign of zero."""
    kernel_only("trunc")


def rint(arg0: Any) -> Any:
    """Rounded to the nearest integer, ties to even, as a float of its type, exact; keeps the sign of zero."""
    kernel_only("rint")


def nearbyint(arg0: Any) -> Any:
    """`rint`, by its other name."""
    kernel_only("nearbyint")


def round(arg0: Any) -> Any:
    """Rounded to the nearest integer, ties away from zero, as a float of its type, exact; keeps the sign of zero."""
    kernel_only("round")


def llrint(arg0: Any) -> Any:
    """`rint` as an int64, which saturates."""
    kernel_only("llrint")


def llround(arg0: Any) -> Any:
    """`round` as an int64, which saturates."""
    kernel_only("llround")


def fmod(arg0: Any, arg1: Any) -> Any:
    """The remainder of floats with the sign of `arg0`: `arg0 % arg1`."""
    kernel_only("fmod")


def fdim(arg0: Any, arg1: Any) -> Any:
    """`arg0 - arg1` of floats where that is positive, else 0; NaN if either is."""
    kernel_only("fdim")


def rcp_rn(arg0: Any) -> Any:
    """1 / arg0 of floats, correctly rounded."""
    kernel_only("rcp_rn")


def saturatef(arg0: Any) -> Any:
    """Floats clamped to 0 and 1; NaN gives 0."""
    kernel_only("saturatef")


def int_as_float(arg0: Any) -> Any:
    """The bits of an int32 as a float32."""
    kernel_only("int_as_float")


def uint_as_float(arg0: Any) -> Any:
    """The bits of a uint32 as a float32."""
    kernel_only("uint_as_float")


def float_as_int(arg0: Any) -> Any:
    """The bits of a float32 as an int32."""
    kernel_only("float_as_int")


def float_as_uint(arg0: Any) -> Any:
    """The bits of a float32 as a uint32."""
    kernel_only("float_as_uint")


def longlong_as_double(arg0: Any) -> Any:
    """The bits of an int64 as a float64."""
    kernel_only("longlong_as_double")


def double_as_longlong(arg0: Any) -> Any:
    """The bits of a float64 as an int64."""
    kernel_only("double_as_longlong")
