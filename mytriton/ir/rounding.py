"""Rounding to odd: an inexact value becomes the neighbour with an odd last bit.

Rounding that to a format with at least two digits less gives what one rounding of the exact value would give (Boldo and
Melquiond 2008, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd").
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def odd_float32(x: Array) -> Array:
    """float64 to float32, rounded to odd."""
    nearest = x.astype(np.float32)
    inexact = (nearest.astype(np.float64) != x) & ~np.isnan(x)
    away = inexact & (np.abs(nearest.astype(np.float64)) > np.abs(x))
    bits = nearest.view(np.int32) - away
    return np.asarray(bits | inexact, np.int32).view(np.float32)


def odd_sum(x: Array, y: Array) -> Array:
    """x + y of float64 arrays, rounded to odd; a sum that overflows is infinite."""
    total = x + y
    # What the rounding left out, exactly (Knuth's TwoSum); NaN where something is infinite.
    virtual = total - x
    error = (x - (total - virtual)) + (y - virtual)
    bits = total.view(np.int64)
    even = (error != 0) & np.isfinite(error) & (bits & 1 == 0)
    return np.asarray(bits + np.where(even, np.where((error > 0) == (total > 0), 1, -1), 0)).view(np.float64)
