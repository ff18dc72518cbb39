"""What a run compared and a bench measured, as it crosses the process line, and what follows from it."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from mytriton.records import dataclass


@dataclass(frozen=True, slots=True)
class OutputReport:
    """One output against its reference: largest errors, mismatches of `size` elements, and the first mismatch (index
    and both values as text). Of the mismatches one value is NaN in `nans`, and infinite in `infinities`; `pattern` says
    where they are, if that is simple, and `picture` shows it."""

    name: str
    ok: bool
    max_abs: float = 0.0
    max_rel: float = 0.0
    max_ulp: float = 0.0
    mismatches: int = 0
    size: int = 0
    first_index: tuple[int, ...] | None = None
    actual: str = ""
    expected: str = ""
    nans: int = 0
    infinities: int = 0
    pattern: str = ""
    picture: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepView:
    """The example's result after one stage; `text` says how it differs, or why the stage was not run. `line` is where
    the first wrong element is stored."""

    stage: str
    ok: bool
    text: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class BenchView:
    """Seconds of `runs` launches by `clock`: median, quartiles and tenths. `read`, `written` (bytes) and `flops` (by
    type) are what a launch has to do, counted in `counted` of its `programs`; `reason` says why they are not known.
    `peak_bandwidth` and `peak_flops` are what the device does at most in a second, known from `peak`; 0 if they are not
    known. All that is moved is in the `cache`, if one is named: then memory is no limit, and how fast that is nobody
    knows."""

    median: float
    p10: float
    q1: float
    q3: float
    p90: float
    runs: int
    clock: str
    read: int = 0
    written: int = 0
    flops: dict[str, int] = field(default_factory=dict)
    programs: int = 0
    counted: int = 0
    reason: str = ""
    peak_bandwidth: float = 0.0
    peak_flops: float = 0.0
    peak: str = ""
    cache: str = ""

    @property
    def bytes(self) -> int:
        """What must be moved."""
        return self.read + self.written

    @property
    def total_flops(self) -> int:
        """Operations of all types."""
        return sum(self.flops.values())

    @property
    def bandwidth(self) -> float:
        """Bytes a second."""
        return self.bytes / self.median if self.median else 0.0

    @property
    def flop_rate(self) -> float:
        """Operations a second."""
        return self.total_flops / self.median if self.median else 0.0

    @property
    def intensity(self) -> float:
        """Operations a byte; 0 if either is."""
        return self.total_flops / self.bytes if self.bytes else 0.0

    @property
    def ridge(self) -> float:
        """The intensity from which on computing is the limit, not memory; 0 if a limit is not known."""
        return self.peak_flops / self.peak_bandwidth if self.peak_bandwidth else 0.0

    @property
    def limit(self) -> str:
        """What limits a launch with this work: "memory", "computing", or nothing that is known."""
        if self.cache and (not self.ridge or self.intensity <= self.ridge):
            return ""
        if self.bytes and self.peak_bandwidth and (not self.total_flops or self.intensity <= (self.ridge or 1e300)):
            return "memory"
        return "computing" if self.total_flops and self.peak_flops else ""

    @property
    def share(self) -> float:
        """How much of its limit a launch reaches, from 0 to 1 (or more, with a part in caches); 0 if none is known."""
        if self.limit == "memory":
            return self.bandwidth / self.peak_bandwidth
        return self.flop_rate / self.peak_flops if self.limit else 0.0


@dataclass(frozen=True, slots=True)
class TrialView:
    """A config as it was measured: seconds of a launch (median, 20th and 80th percentile), or the error why it cannot
    be compiled. `values` are what it gives parameters, and its options."""

    values: dict[str, Any]
    median: float = 0.0
    p20: float = 0.0
    p80: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True)
class TuningView:
    """What autotuning an example measured in `seconds`: the configs that were left of `configs` after pruning, and
    which of them is the fastest, None if none compiles. `key` is what the choice is for."""

    key: tuple[Any, ...]
    trials: tuple[TrialView, ...]
    best: int | None
    configs: int
    seconds: float
