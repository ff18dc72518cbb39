"""Functions of floats: `tl.exp(x)`, also `tl.math.exp(x)` and, as in Triton, `libdevice.exp(x)`.

Each takes and gives floats of one type, elementwise; `abs` and `clamp` take integers too. Results are off by at most 2
units in the last place (ULP) for float32 and 4 for float64, on every backend and over the whole range, denormals
included; float16 and bfloat16 are computed in float32 and rounded once. The worst that millions of random arguments
showed on `cpu` (glibc 2.36), `cuda` and `mlir` (H200), float32 and float64 (`python -m tests.accuracy`):

    exp   1.9 0.9    log2  0.9 1.3    cos   1.5 1.5    pow   0.5 1.3
    exp2  0.9 0.9    rsqrt 1.5 1.5    tanh  1.8 2.1
    log   0.9 0.5    sin   1.5 1.5    erf   1.0 1.0

On `cpu` blocks of float32 are rounded once but for `exp`, `log` and `rsqrt` (0.9, 0.8, 1.4).
The one exception that is known: glibc's float64 sine and cosine beyond 2**27, where the argument is within 1e-18 of a
multiple of pi/2, are off by up to 8 ULP.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from mytriton.language.kernel_only import kernel_only

__all__ = [
    "PropagateNan",
    "abs",
    "ceil",
    "clamp",
    "cos",
    "div_rn",
    "erf",
    "exp",
    "exp2",
    "fdiv",
    "floor",
    "fma",
    "log",
    "log2",
    "pow",
    "rsqrt",
    "sigmoid",
    "sin",
    "sqrt",
    "sqrt_rn",
    "tanh",
    "umulhi",
]


class PropagateNan(Enum):
    """Whether `maximum`, `minimum`, `clamp`, `max` and `min` give NaN for a NaN operand (ALL) or ignore it (NONE)."""

    NONE = 0
    ALL = 0xFFFF


def exp(x: Any) -> Any:
    """e**x of floats: at most 2 ULP for float32, 4 ULP for float64; float16 and bfloat16 compute in float32."""
    kernel_only("exp")


def exp2(x: Any) -> Any:
    """2**x of floats: at most 2 ULP for float32, 4 for float64; float16 and bfloat16 compute in float32."""
    kernel_only("exp2")


def log(x: Any) -> Any:
    """Natural logarithm of floats: at most 2 ULP for float32, 4 for float64; NaN below 0, -inf at 0; float16 and
    bfloat16 compute in float32."""
    kernel_only("log")


def log2(x: Any) -> Any:
    """Logarithm to base 2 of floats: at most 2 ULP for float32, 4 for float64; NaN below 0, -inf at 0; float16 and
    bfloat16 compute in float32."""
    kernel_only("log2")


def sqrt(x: Any) -> Any:
    """Square root of floats, correctly rounded; NaN below 0."""
    kernel_only("sqrt")


def sqrt_rn(x: Any) -> Any:
    """`sqrt`, which is correctly rounded anyway; Triton's name for saying so."""
    kernel_only("sqrt_rn")


def div_rn(x: Any, y: Any) -> Any:
    """`x / y`, which is correctly rounded anyway; Triton's name for saying so."""
    kernel_only("div_rn")


def fdiv(x: Any, y: Any, ieee_rounding: bool = False, approx: bool = False) -> Any:
    """`x / y` of two floats, or a float and an integer: correctly rounded, with or without `ieee_rounding`; `approx`
    allows less and gets the same."""
    kernel_only("fdiv")


def umulhi(x: Any, y: Any) -> Any:
    """The upper half of the product of two integers of 32 or 64 bits, promoted as by `+` and taken as unsigned."""
    kernel_only("umulhi")


def rsqrt(x: Any) -> Any:
    """1 / sqrt(x) of floats: at most 2 ULP for float32, 4 for float64; NaN below 0, the infinity of its sign at either
    zero, 0 at infinity; float16 and bfloat16 compute in float32."""
    kernel_only("rsqrt")


def sin(x: Any) -> Any:
    """Sine of radians: at most 2 ULP for float32, 4 for float64, at the largest arguments too; NaN at infinities;
    float16 and bfloat16 compute in float32."""
    kernel_only("sin")


def cos(x: Any) -> Any:
    """Cosine of radians: at most 2 ULP for float32, 4 for float64, at the largest arguments too; NaN at infinities;
    float16 and bfloat16 compute in float32."""
    kernel_only("cos")


def tanh(x: Any) -> Any:
    """Hyperbolic tangent: at most 2 ULP for float32, 4 for float64; keeps the sign of zero; float16 and bfloat16
    compute in float32."""
    kernel_only("tanh")


def erf(x: Any) -> Any:
    """Error function: at most 2 ULP for float32, 4 for float64; keeps the sign of zero; float16 and bfloat16 compute
    in float32."""
    kernel_only("erf")


def floor(x: Any) -> Any:
    """The largest integer that is not above `x`, as a float of its type, exact; keeps the sign of zero."""
    kernel_only("floor")


def ceil(x: Any) -> Any:
    """The smallest integer that is not below `x`, as a float of its type, exact; -0.0 between -1 and 0."""
    kernel_only("ceil")


def pow(x: Any, y: Any) -> Any:
    """x**y of floats, promoted as by `+`: at most 2 ULP for float32, 4 for float64; float16 and bfloat16 compute in
    float32, and `y` may be an int32, which keeps its value. As C's `pow`: 1 for y = 0 and for x = 1, even if the other
    is NaN; NaN for x below 0 and a y that is not an integer."""
    kernel_only("pow")


def fma(x: Any, y: Any, z: Any) -> Any:
    """x * y + z of floats, promoted as by `+`, with one rounding: correct for every type, whether or not
    `enable_fp_fusion` is set."""
    kernel_only("fma")


def abs(x: Any) -> Any:
    """|x|. The smallest signed integer wraps to itself; floats clear the sign bit. Type and shape are those of `x`."""
    kernel_only("abs")


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)) of floats, each step rounded, in float32 for float16 and bfloat16, whose type the result has.
    It is 0 where exp(-x) overflows: below -88.7 for float32, -709.7 for float64."""
    kernel_only("sigmoid")


def clamp(x: Any, min: Any, max: Any, propagate_nan: PropagateNan = PropagateNan.NONE) -> Any:
    """minimum(maximum(x, min), max) of numbers, promoted together as by `+`. A NaN `x` gives `min`, or NaN with
    `tl.PropagateNan.ALL`."""
    kernel_only("clamp")
