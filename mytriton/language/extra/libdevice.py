"""The functions of `tl.math` that NVIDIA's libdevice has too, under the names Triton gives them there.

They mean the same here as in `tl.math`, on every backend.
"""

from __future__ import annotations

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

__all__ = [
    "abs",
    "ceil",
    "cos",
    "div_rn",
    "erf",
    "exp",
    "exp2",
    "floor",
    "fma",
    "log",
    "log2",
    "pow",
    "rsqrt",
    "sin",
    "sqrt",
    "sqrt_rn",
    "tanh",
]
