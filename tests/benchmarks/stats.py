"""Percentiles and the table that every benchmark here prints."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

# What is measured is compilers, in this process and its children, not what an earlier run left on the disk.
os.environ["MYTRITON_CACHE_DIR"] = ""


def percentile(values: Sequence[float], q: float) -> float:
    """The value below which a fraction q of the values lies (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(q * len(ordered)) - 1)]


def row(what: str, seconds: Sequence[float], target: str = "") -> str:
    """One line: name, p50 and p95 in milliseconds, the number of runs, and what we aim at."""
    p50, p95 = percentile(seconds, 0.5) * 1e3, percentile(seconds, 0.95) * 1e3
    return f"{what:44} p50 {p50:9.2f} ms   p95 {p95:9.2f} ms   n {len(seconds):4}   {target}"


def cpu_row(what: str, seconds: Sequence[float]) -> str:
    """One line of CPU times: name, least and p50 in milliseconds, and the number of runs."""
    least, p50 = min(seconds) * 1e3, percentile(seconds, 0.5) * 1e3
    return f"{what:44} p50 {p50:9.2f} ms   min {least:9.2f} ms   n {len(seconds):4}"
