"""Compares arrays with references, element by element."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mytriton import mismatches

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class OutputReport:
    """One array compared with its reference.

    `max_abs`, `max_rel` (of the expected value) and `max_ulp` (steps between neighbouring numbers of the array's
    dtype) are over the elements where both are finite; `first` is the index of the first mismatch, `actual` and
    `expected` its values. Of the mismatches, one value is NaN in `nans` and infinite in `infinities` (the other not).
    `picture` is a map of the mismatches, `pattern` says where they are if that is simple (`mytriton.mismatches`).
    `is_output` is False for an array that should not have changed.
    """

    name: str
    size: int
    mismatches: int
    max_abs: float = 0.0
    max_rel: float = 0.0
    max_ulp: float = 0.0
    first: tuple[int, ...] | None = None
    actual: Any = None
    expected: Any = None
    is_output: bool = True
    nans: int = 0
    infinities: int = 0
    picture: tuple[str, ...] = field(default=(), repr=False)
    pattern: str = ""

    @property
    def ok(self) -> bool:
        """Whether every element matches."""
        return self.mismatches == 0

    def __str__(self) -> str:
        text = f"{self.name}: {self.mismatches} of {self.size} differ"
        if self.first is None:
            return f"{text}, max abs {self.max_abs:.3g}"
        where = f", the first at {list(self.first)}: {self.actual}, expected {self.expected}"
        return text + where + (f"; {self.pattern}" if self.pattern else "")


#: Significand bits of each float dtype, the hidden one included.
_PRECISION = {"float8_e4m3fn": 4, "float8_e5m2": 3, "float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def tolerance(dtype: np.dtype[Any]) -> tuple[float, float]:
    """The default (rtol, atol) for arrays of `dtype`: 8 ULP of a number near 1 (1 of floats of 8 bits, whose 8 ULP are
    more than the number), and 0 for integers and bools.

    A chain of a few elementwise operations is off by a few ULP: exp and log may be by 2, a multiplication fused with
    an addition rounds once instead of twice, and the reference has roundings of its own. The absolute part serves
    results that cancel, whose error is that of operands of order one.
    """
    bits = _PRECISION.get(dtype.name)
    if bits is None:
        return 0.0, 0.0
    ulp = 2.0 ** (1 - bits)
    return (ulp, ulp) if dtype.itemsize == 1 else (8 * ulp, 8 * ulp)


def ulp_distance(a: Array, b: Array) -> Array:
    """How many representable numbers apart two float arrays of one dtype are, elementwise (float64)."""
    integers = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}[a.dtype.itemsize]

    def ordered(x: Array) -> Array:
        # Sign and magnitude to two's complement: neighbours get neighbouring integers, and both zeros get 0.
        bits = x.view(integers).astype(np.int64)
        lowest = np.int64(np.iinfo(integers).min)
        return np.where(bits < 0, lowest - bits, bits)

    return _distance(ordered(a), ordered(b))


def _distance(a: Array, b: Array) -> Array:
    """|a - b| of arrays of one 64-bit integer type, without overflow."""
    return np.where(a > b, a.view(np.uint64) - b.view(np.uint64), b.view(np.uint64) - a.view(np.uint64)).astype(
        np.float64
    )


def compare(
    name: str,
    actual: Array,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    is_output: bool = True,
    block: int | None = None,
) -> OutputReport:
    """Compare an array with its reference; NaN matches NaN, and an infinity itself. `block` is how many elements a
    program stores at once, for the picture. Raises ValueError if their shapes differ."""
    expected = np.asarray(expected)
    if actual.shape != expected.shape:
        raise ValueError(f"the reference for `{name}` has shape {expected.shape}, the array has {actual.shape}")
    default = tolerance(actual.dtype)
    rtol, atol = default[0] if rtol is None else rtol, default[1] if atol is None else atol
    if actual.size == 0:
        return OutputReport(name, 0, 0, is_output=is_output)
    with np.errstate(all="ignore"):
        if actual.dtype.name in _PRECISION:
            wide, reference = actual.astype(np.float64), expected.astype(np.float64)
            finite = np.isfinite(wide) & np.isfinite(reference)
            error = np.where(finite, np.abs(wide - reference), 0.0)
            magnitude = np.where(finite, np.abs(reference), 0.0)
            same = (wide == reference) | (np.isnan(wide) & np.isnan(reference))
            matches = same | (finite & (error <= atol + rtol * magnitude))
            rounded = expected.astype(actual.dtype)
            steps = np.where(finite & np.isfinite(rounded), ulp_distance(np.ascontiguousarray(actual), rounded), 0.0)
        else:
            widest = np.uint64 if actual.dtype == np.uint64 else np.int64
            whole, wanted = actual.astype(widest), expected.astype(widest)
            error = steps = _distance(whole, wanted)
            magnitude = np.abs(wanted.astype(np.float64))
            matches = error <= atol + rtol * magnitude
        relative = np.where(error > 0, error / magnitude, 0.0)
    report = OutputReport(
        name,
        actual.size,
        0,
        float(error.max()),
        float(relative.max()),
        float(steps.max()),
        is_output=is_output,
    )
    return report if matches.all() else _with_mismatches(report, actual, expected, ~matches, block)


def _with_mismatches(
    report: OutputReport, actual: Array, expected: Array, wrong: Array, block: int | None
) -> OutputReport:
    """The report with what is to be said of the elements that are wrong."""
    first = tuple(int(i) for i in np.unravel_index(int(wrong.argmax()), wrong.shape))
    nan = infinite = np.zeros(wrong.shape, bool)
    if actual.dtype.name in _PRECISION:
        values = actual.astype(np.float64), expected.astype(np.float64)
        nan = np.isnan(values[0]) | np.isnan(values[1])
        infinite = ~nan & (np.isinf(values[0]) | np.isinf(values[1]))
    return replace(
        report,
        mismatches=int(wrong.sum()),
        first=first,
        actual=actual[first].item(),
        expected=expected[first].item(),
        nans=int((wrong & nan).sum()),
        infinities=int((wrong & infinite).sum()),
        picture=mismatches.picture(wrong, nan | infinite, block),
        pattern=mismatches.pattern(wrong, block),
    )
