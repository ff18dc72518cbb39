"""All benches of a command: a table over sizes for each kernel, or one bench in full; as text and as plain data."""

from __future__ import annotations

from typing import Any

from explorer.model.measured import BenchView
from explorer.model.past_runs import Entry, PastRuns, size_lines
from explorer.model.roofline import bench_lines, drawing, fine_print


def bench_page(past: PastRuns) -> list[str]:
    """What was measured, to read."""
    kernels: dict[str, list[Entry]] = {}
    for entry in past.entries:
        if entry.bench is not None:
            kernels.setdefault(entry.report.kernel, []).append(entry)
    rows: list[str] = []
    for kernel, entries in kernels.items():
        first = entries[0]
        assert first.bench is not None
        rows += ["", f"{kernel} on {first.report.backend} ({first.report.device})"]
        if len(entries) == 1:
            rows += [*bench_lines(first.bench), *drawing(first.bench), *fine_print(first.bench)]
        else:
            rows += [*size_lines(entries), f"by {first.bench.clock}"]
            rows += [f"limits {first.bench.peak}"] if first.bench.peak else []
    return rows[1:]


def bench_figures(bench: BenchView) -> dict[str, Any]:
    """What follows from a bench, in seconds, bytes and operations a second."""
    return {
        "bytes": bench.bytes,
        "total_flops": bench.total_flops,
        "bandwidth": bench.bandwidth,
        "flop_rate": bench.flop_rate,
        "intensity": bench.intensity,
        "ridge": bench.ridge,
        "limit": bench.limit,
        "share": bench.share,
    }
