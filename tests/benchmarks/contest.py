"""A row of a benchmark: contenders for the same work, checked, timed in turn, and printed with ratios."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mytriton.testing import Samples, Timer, in_turn

Call = Callable[[], object]


@dataclass
class Row:
    """Work of `amount` (bytes, or operations), in `unit`s of 10**9 or 10**12 a second. `calls` are those of each
    contender, one for each way that it may be launched; the fastest counts. `check` says what is wrong with the
    result, or "" ; `clear` spoils it before. `bases` are the contenders that the others are compared with."""

    title: str
    amount: float
    unit: str
    clear: Call
    check: Callable[[], str]
    bases: Sequence[str]
    calls: dict[str, dict[str, Call]] = field(default_factory=dict)
    target: str = ""

    def add(self, contender: str, call: Call, way: str = "") -> None:
        """One more way of a contender."""
        self.calls.setdefault(contender, {})[way] = call

    def run(self, timer: Timer, rounds: int, failures: list[str]) -> None:
        """Check every contender, time them, and print the table."""
        print(f"\n{self.title}{f'   target: {self.target}' if self.target else ''}", flush=True)
        right: dict[tuple[str, str], Call] = {}
        for contender, ways in self.calls.items():
            for way, call in ways.items():
                trouble = self._trouble(call)
                if trouble:
                    failures.append(f"{self.title}: {contender} {way}: {trouble}")
                    print(f"  {contender} {way}: {trouble}")
                else:
                    right[contender, way] = call
        best: dict[str, tuple[str, Samples]] = {}
        for (contender, way), samples in in_turn(right, timer, rounds).items():
            if contender not in best or samples.median < best[contender][1].median:
                best[contender] = way, samples
        self._print(best)

    def _trouble(self, call: Call) -> str:
        self.clear()
        try:
            call()
            return self.check()
        except Exception as error:  # noqa: BLE001 (of any of four packages; the others go on, the program fails in the end)
            return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"

    def _print(self, best: Mapping[str, tuple[str, Samples]]) -> None:
        scale = 1e12 if self.unit == "TFLOP/s" else 1e9
        bases = [base for base in self.bases if base in best]
        print(f"  {'':34} {self.unit:>8} {'p20 to p80, us':>18}" + "".join(f"{'/ ' + b:>16}" for b in bases))
        for contender, (way, samples) in best.items():
            name = f"{contender} {f'({way})' if way else ''}"
            spread = f"{samples.quantile(0.2) * 1e6:.1f} to {samples.quantile(0.8) * 1e6:.1f}"
            ratios = "".join(f"{best[base][1].median / samples.median:16.3f}" for base in bases)
            print(f"  {name:34} {self.amount / samples.median / scale:8.1f} {spread:>18}{ratios}", flush=True)
