"""The runs and benches of this session, in the order they were made, and how each compares with those before."""

from __future__ import annotations

import textwrap
from hashlib import sha1
from itertools import accumulate

from explorer.model.measured import BenchView
from explorer.model.result import RunReport
from explorer.model.units import change, number, percent, seconds_text
from mytriton.records import dataclass


@dataclass(frozen=True, slots=True)
class Entry:
    """One run. `backend` is the one that was asked for, `version` a short hash of the text that ran, `edited` whether
    that text was not saved."""

    number: int
    time: str
    backend: str
    version: str
    edited: bool
    report: RunReport

    @property
    def bench(self) -> BenchView | None:
        """What was measured, if it was."""
        return self.report.bench

    def comparable(self, other: Entry) -> bool:
        """Whether the other is a bench of the same kernel and example on the same device."""
        ours, theirs = self.report, other.report
        same = (ours.kernel, ours.example, ours.device) == (theirs.kernel, theirs.example, theirs.device)
        return same and other.bench is not None


class PastRuns:
    """All runs of a session."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []

    def add(self, report: RunReport, *, time: str, backend: str, text: str, edited: bool) -> Entry:
        """A run is over."""
        version = sha1(text.encode(), usedforsecurity=False).hexdigest()[:7]
        entry = Entry(len(self.entries) + 1, time, backend, version, edited, report)
        self.entries.append(entry)
        return entry

    def of(self, report: RunReport) -> Entry | None:
        """The entry of a report."""
        return next((e for e in reversed(self.entries) if e.report is report), None)

    def before(self, entry: Entry) -> list[Entry]:
        """The benches before an entry that it can be compared with, in order."""
        return [e for e in self.entries[: entry.number - 1] if entry.comparable(e)]

    def deltas(self, entry: Entry) -> tuple[str, str]:
        """How a bench's median differs from that of the one before, and from the best one before."""
        before = [e.bench.median for e in self.before(entry) if e.bench is not None]
        if entry.bench is None or not before:
            return "", ""
        return change(entry.bench.median, before[-1]), change(entry.bench.median, min(before))

    def compared(self, entry: Entry) -> str:
        """The same in a sentence; nothing for the first."""
        previous, best = self.deltas(entry)
        if not previous:
            return ""
        before = self.before(entry)
        fastest = min(before, key=lambda e: e.bench.median if e.bench is not None else 0.0)
        assert before[-1].bench is not None
        assert fastest.bench is not None
        text = f"{previous} against run {before[-1].number} ({seconds_text(before[-1].bench.median)})"
        if fastest is not before[-1]:
            text += f", {best} against the best, run {fastest.number} ({seconds_text(fastest.bench.median)})"
        return text

    def sizes(self, entry: Entry) -> list[Entry]:
        """The newest bench of each example of an entry's kernel, of the same text on the same device and backend; by
        what they move."""
        newest = {
            e.report.example: e
            for e in self.entries
            if e.bench is not None
            and (e.version, e.report.kernel, e.report.device, e.report.backend)
            == (entry.version, entry.report.kernel, entry.report.device, entry.report.backend)
        }
        return sorted(newest.values(), key=lambda e: e.bench.bytes if e.bench is not None else 0)


_HEADS = ("run", "time", "result", "median", "before", "best", "ran on", "example", "text", "compiled for")


def table(past: PastRuns, width: int = 1000) -> list[tuple[str, int]]:
    """A line a run below a line of headings, each with the number of its run; what matters most is on the left. Columns
    that do not fit stand below the others."""
    rows: list[tuple[str, ...]] = [_HEADS]
    for entry in past.entries:
        report = entry.report
        times = seconds_text(report.took)
        ran_on = report.backend if report.backend == entry.backend else f"{report.backend}, not {entry.backend}"
        took = times if entry.bench is not None else f"({times})" if report.seconds else ""
        name = f"{report.kernel} {report.example}".strip()
        version = f"{entry.version}{' edited' if entry.edited else ''}"
        rows.append(
            (str(entry.number), entry.time, outcome(report), took, *past.deltas(entry), ran_on, name, version,
             compiled_for(report) or " ".join(report.message.split()))
        )  # fmt: skip
    widths = [max(len(row[i]) for row in rows) for i in range(len(_HEADS))]
    ends = list(accumulate(widths, lambda end, more: end + 2 + more))
    fitting = sum(end <= width for end in ends)
    lines: list[tuple[str, int]] = []
    for run, row in enumerate(rows):
        cells = zip(row[:fitting], widths, strict=False)
        rest = "  ".join(filter(None, row[fitting:]))
        lines.append(("  ".join(f"{cell:<{w}}" for cell, w in cells).rstrip(), run))
        lines += [(f"     {part}", run) for part in textwrap.wrap(rest, width - 5)]
    return lines


def outcome(report: RunReport) -> str:
    """PASS, FAIL, that it did not run, or that it was tuned instead of checked."""
    if report.tuning is not None:
        return "TUNED" if report.ok else "FAIL"
    if report.unavailable or not (report.ok or report.outputs or report.steps or report.began):
        return "NOT RUN"
    return "PASS" if report.ok else "FAIL"


def compiled_for(report: RunReport) -> str:
    """Chip, number of warps and constexprs."""
    parts = [report.chip, f"{report.num_warps} warps" if report.chip else ""]
    return " ".join(part for part in [*parts, *(f"{k}={v}" for k, v in report.constexprs.items())] if part)


def size_lines(entries: list[Entry]) -> list[str]:
    """A table over sizes."""
    rows: list[tuple[str, ...]] = [("example", "median", "p10", "p90", "GB/s", "GFLOP/s", "of the limit")]
    for entry in entries:
        bench = entry.bench
        if bench is not None:
            rates = (number(bench.bandwidth / 1e9), number(bench.flop_rate / 1e9)) if not bench.reason else ("?", "?")
            times = (seconds_text(seconds) for seconds in (bench.median, bench.p10, bench.p90))
            rows.append(
                (
                    entry.report.example,
                    *times,
                    *rates,
                    percent(bench.share) if bench.limit else bench.cache.partition(" of ")[0] or "?",
                )
            )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(f"{c:<{w}}" if i == 0 else f"{c:>{w}}" for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        for row in rows
    ]
