"""Times, sizes, rates and shares as people write them."""

from __future__ import annotations

import math


def seconds_text(seconds: float) -> str:
    """A time with a unit that suits it."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} us"
    return f"{seconds * 1e3:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def amount(value: float, unit: str) -> str:
    """`12.0 kB`, `21.3 GFLOP/s`: three digits and a decimal prefix."""
    for prefix in ("", "k", "M", "G", "T"):
        if value < 999.5 or prefix == "T":
            break
        value /= 1000
    return f"{number(value)} {prefix}{unit}"


def number(value: float) -> str:
    """Three digits, or fewer if they say it exactly, without a power of ten: `0.0853`, `2.50`, `1000`."""
    if value == 0 or value >= 99.95:
        return f"{value:.0f}"
    text = f"{value:.{2 - math.floor(math.log10(value))}f}"
    short = text.rstrip("0").rstrip(".")
    return short if math.isclose(float(short), value, rel_tol=1e-9) else text


def percent(share: float) -> str:
    """A share of 1: `16 %`, `0.4 %`."""
    return f"{100 * share:.0f} %" if share >= 0.0995 or not share else f"{100 * share:.2g} %"


def change(new: float, old: float) -> str:
    """How much longer or shorter: `-5%`, `+0.4%`, `x12` from ten times on."""
    if new >= 10 * old:
        return f"x{new / old:.0f}"
    delta = 100 * (new / old - 1)
    return "same" if abs(delta) < 0.05 else f"{delta:+.0f}%" if abs(delta) >= 9.95 else f"{delta:+.1f}%"
