"""Functions of libdevice that few kernels need: of floats, each as exact in every type as those of `tl.math`.

float32 is computed in float64 and rounded once; float16 and bfloat16 in float32 or float64.
"""

from __future__ import annotations

from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = [
    "acos",
    "acosh",
    "add_rn",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "cosh",
    "erfc",
    "exp10",
    "expm1",
    "hypot",
    "log1p",
    "log10",
    "mul_rn",
    "sinh",
    "sub_rn",
    "tan",
]


def acos(arg0: Any) -> Any:
    """Arc cosine, from 0 to pi: at most 2 ULP for float32, 4 for float64; NaN beyond -1 and 1."""
    kernel_only("acos")


def acosh(arg0: Any) -> Any:
    """Inverse hyperbolic cosine, not negative: at most 2 ULP for float32, 4 for float64; NaN below 1."""
    kernel_only("acosh")


def asin(arg0: Any) -> Any:
    """Arc sine, from -pi/2 to pi/2: at most 2 ULP for float32, 4 for float64; NaN beyond -1 and 1; keeps the sign of
    zero."""
    kernel_only("asin")


def asinh(arg0: Any) -> Any:
    """Inverse hyperbolic sine: at most 2 ULP for float32, 4 for float64; keeps the sign of zero."""
    kernel_only("asinh")


def atan(arg0: Any) -> Any:
    """Arc tangent, from -pi/2 to pi/2: at most 2 ULP for float32, 4 for float64; keeps the sign of zero."""
    kernel_only("atan")


def atanh(arg0: Any) -> Any:
    """Inverse hyperbolic tangent: at most 2 ULP for float32, 4 for float64; infinities at -1 and 1, NaN beyond."""
    kernel_only("atanh")


def cbrt(arg0: Any) -> Any:
    """Cube root, also of negative numbers: at most 2 ULP for float32, 4 for float64; keeps the sign of zero."""
    kernel_only("cbrt")


def cosh(arg0: Any) -> Any:
    """Hyperbolic cosine: at most 2 ULP for float32, 4 for float64."""
    kernel_only("cosh")


def erfc(arg0: Any) -> Any:
    """1 - erf(x), without what that difference loses: at most 2 ULP for float32, 4 for float64."""
    kernel_only("erfc")


def exp10(arg0: Any) -> Any:
    """10**x: at most 2 ULP for float32, 4 for float64."""
    kernel_only("exp10")


def expm1(arg0: Any) -> Any:
    """exp(x) - 1, without what that difference loses near 0: at most 2 ULP for float32, 4 for float64; keeps the sign
    of zero."""
    kernel_only("expm1")


def log10(arg0: Any) -> Any:
    """Logarithm to base 10: at most 2 ULP for float32, 4 for float64; NaN below 0, -inf at 0."""
    kernel_only("log10")


def log1p(arg0: Any) -> Any:
    """log(1 + x), without what that sum loses near 0: at most 2 ULP for float32, 4 for float64; NaN below -1, -inf
    there; keeps the sign of zero."""
    kernel_only("log1p")


def sinh(arg0: Any) -> Any:
    """Hyperbolic sine: at most 2 ULP for float32, 4 for float64; keeps the sign of zero."""
    kernel_only("sinh")


def tan(arg0: Any) -> Any:
    """Tangent of radians: at most 2 ULP for float32, 4 for float64, at the largest arguments too; NaN at infinities."""
    kernel_only("tan")


def atan2(arg0: Any, arg1: Any) -> Any:
    """The angle of the point (`arg1`, `arg0`) to the first axis, from -pi to pi: at most 2 ULP for float32, 4 for
    float64."""
    kernel_only("atan2")


def hypot(arg0: Any, arg1: Any) -> Any:
    """sqrt(arg0**2 + arg1**2) without overflow on the way: at most 2 ULP for float32, 4 for float64; an infinity if one
    operand is, whatever the other."""
    kernel_only("hypot")


def add_rn(arg0: Any, arg1: Any) -> Any:
    """`arg0 + arg1` of floats, which no multiplication is fused into."""
    kernel_only("add_rn")


def sub_rn(arg0: Any, arg1: Any) -> Any:
    """`arg0 - arg1` of floats, which no multiplication is fused into."""
    kernel_only("sub_rn")


def mul_rn(arg0: Any, arg1: Any) -> Any:
    """`arg0 * arg1` of floats, which is fused into no addition or subtraction."""
    kernel_only("mul_rn")
