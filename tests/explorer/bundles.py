"""Bundles to share, made of results that no compiler was asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from explorer.app import ExplorerApp, of_bundle
from explorer.cli import parse
from explorer.model.measured import BenchView
from explorer.model.past_runs import Entry
from explorer.model.result import LineView, ModuleInfo, OutputReport, RunReport
from explorer.share.bundle import write
from explorer.share.record import Build, Made, Record, Shared
from tests.explorer.explorer_support import SOURCE, STAGES

REPORT = RunReport(
    False,
    "cpu",
    "CPU",
    "add_kernel",
    "n=1000",
    (OutputReport("out", False, float("nan"), 0.5, 3.0, 2, 1000, (7,), "1.0", "3.0"),),
    1e-3,
    "NumPy",
)


def build(backend: str, note: str = "") -> Build:
    stages = STAGES[backend]
    if note:
        last = stages[-1] if stages[-1].lines else stages[-2]
        noted = replace(last, lines=(*last.lines, LineView(note, 11)))
        stages = tuple(noted if stage is last else stage for stage in stages)
    return Build(backend, "add_kernel", "*fp32:16, i32", 4, tuple(s.name for s in stages), stages, 12.0)


def record(note: str = "") -> Record:
    module = ModuleInfo("add.py", (), (), True)
    builds = (build("cuda", note), build("mlir", note))
    runs = (Entry(1, "10:00:00", "cuda", "abcdef0", False, REPORT),)
    return Record(
        "add.py",
        SOURCE,
        kernel="add_kernel",
        module=module,
        builds=builds,
        run=REPORT,
        runs=runs,
        log=("runner: hello",),
    )


def shared(note: str = "", a: Record | None = None) -> Shared:
    return Shared(record(note), a, Made("2026-01-02 03:04 UTC", "3.12.1", "Linux", {"mytriton": "0.1.0"}))


BENCH = BenchView(3e-3, 1e-3, 2e-3, 4e-3, 5e-3, 100, "CUDA events", 4096, 2048, {"fp32": 1000}, 4, 4, "", 1e12, 1e13)
BENCHED = replace(REPORT, bench=BENCH, ok=True)
GOOD = write(
    Shared(replace(record(), run=BENCHED, runs=(*record().runs, Entry(2, "", "cuda", "", True, BENCHED))), record())
)


def opened(path: Path) -> ExplorerApp:
    """The explorer on a bundle."""
    options = parse([str(path)])
    assert options.bundle is not None
    return of_bundle(options.settings(), options.bundle, options.bundle_path)
