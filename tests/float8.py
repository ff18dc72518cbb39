"""The formats of 8-bit floats, written out: what conversions are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from mytriton.arrays import DTYPES
from mytriton.types import f8e4nv, f8e5

Array = npt.NDArray[Any]

E4, E5 = DTYPES[f8e4nv], DTYPES[f8e5]
#: Bits of the mantissa, bias of the exponent, and the code of the largest number.
FORMATS = {E4: (3, 7, 0x7E), E5: (2, 15, 0x7B)}
CODES = np.arange(256, dtype=np.uint8)


def numbers(dtype: np.dtype[Any]) -> Array:
    """What each of the 256 codes means (OCP 8-bit Floating Point Specification, revision 1.0)."""
    mantissa, bias, largest = FORMATS[dtype]
    exponent, digits = ((CODES & 0x7F) >> mantissa).astype(int), (CODES & (1 << mantissa) - 1).astype(np.float64)
    normal = (digits + (1 << mantissa)) * 2.0 ** (exponent - bias - mantissa)
    size = np.where(exponent == 0, digits * 2.0 ** (1 - bias - mantissa), normal)
    size[largest + 1 : 128] = size[largest + 129 :] = np.nan
    if dtype == E5:
        size[[0x7C, 0xFC]] = np.inf
    return np.where(CODES & 0x80, -size, size)


def rounded(x: Array, dtype: np.dtype[Any]) -> Array:
    """The codes of the nearest numbers, of two the one with an even code; what is beyond the largest number is the
    largest, infinity too; NaN is 0x7f (PTX ISA, `cvt.rn.satfinite`)."""
    largest = FORMATS[dtype][2]
    table = numbers(dtype)[: largest + 1]
    with np.errstate(invalid="ignore"):  # NumPy says so of signalling NaNs
        wide = x.astype(np.float64)
    size = np.minimum(np.abs(np.nan_to_num(wide)), table[-1])
    above = np.searchsorted(table, size)
    below = np.maximum(above, 1) - 1
    to_above, to_below = table[above] - size, size - table[below]
    code = np.where((to_above < to_below) | ((to_above == to_below) & (above % 2 == 0)), above, below)
    code = np.where(size == table[above], above, code) | np.where(np.signbit(wide), 0x80, 0)
    return np.where(np.isnan(wide), 0x7F, code).astype(np.uint8)


def hard(dtype: np.dtype[Any]) -> Array:
    """float64 numbers about all that rounding to a float8 decides: each number, all that are half way and next to
    either, as float32 and float64 have them; what overflows; zeros, the smallest subnormals, NaN and infinity."""
    table = numbers(dtype)[: FORMATS[dtype][2] + 1]
    middle = (table[1:] + table[:-1]) / 2
    edges = np.concatenate([table, middle, [2 * table[-1] - table[-2], 1.5 * table[-1] - table[-2] / 2]])
    with np.errstate(under="ignore"):
        near = [
            np.nextafter(edges.astype(t), t(d)).astype(np.float64) for t in (np.float32, np.float64) for d in (0, 1e9)
        ]
    others = [0.0, 1e-45, 2.0**-126, 2.0**-149, 5e-324, 1e9, 65504, 3e38, 1e300, np.inf, np.nan]
    sizes = np.concatenate([edges, *near, others, np.random.default_rng(1).lognormal(0, 4, 500)])
    return np.concatenate([sizes, -sizes])
