"""Runs and benches as lines of text: the same words in the run pane, in one line, and in the list of runs."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.model.past_runs import PastRuns, compiled_for, outcome, size_lines
from explorer.model.report import Lines, folded, place, problem_lines
from explorer.model.result import LineView, OutputReport, RunReport
from explorer.model.roofline import bench_lines, drawing, fine_print
from explorer.model.session import Session
from explorer.model.tuning_page import fastest, tuning_lines
from explorer.model.units import amount, percent, seconds_text


def where(report: RunReport) -> str:
    """What it ran on."""
    return report.backend if report.device.lower() in ("", report.backend) else f"{report.backend} ({report.device})"


def output_text(output: OutputReport) -> str:
    """The errors of one output, and its first wrong element."""
    share = f" ({percent(output.mismatches / output.size)})" if output.mismatches else ""
    text = (
        f"{output.mismatches} of {output.size} differ{share}  "
        f"max abs {output.max_abs:.3g}  rel {output.max_rel:.3g}  ulp {output.max_ulp:.3g}"
    )
    if output.first_index is not None:
        index = ", ".join(map(str, output.first_index))
        text += f"  first at [{index}]: {output.actual}, expected {output.expected}"
    return text


def run_summary(session: Session) -> str:
    """The run in one line."""
    report = session.report
    if session.running:
        return progress(session)
    if report is None:
        info = session.kernel_info
        if info is not None and not info.examples:
            return f"not run: there is no example; declare one with @{info.name}.example (see the README)"
        return "not run yet: F8 runs the example and checks it"
    stale = "stale: " if session.report_is_stale else ""
    instead = report.note and report.backend != session.backend
    ran_on = f"{report.backend}, not {session.backend}" if instead else where(report)
    return f"{stale}{outcome(report)} on {ran_on}{_took(report)}  {_details(report)}"


def progress(session: Session) -> str:
    """How far the run under way has got."""
    busy = session.busy
    if busy is None or busy.child != "runner":
        return "running ..."
    parts = [busy.progress, f"{busy.seconds:.0f} s"]
    return f"running ... {'  '.join(part for part in parts if part)}"


def _took(report: RunReport) -> str:
    bench = report.bench
    if bench is None:
        return f"  {seconds_text(report.seconds)}" if report.seconds else ""
    rate = amount(bench.bandwidth, "B/s") if bench.limit != "computing" else amount(bench.flop_rate, "FLOP/s")
    of_cache = f", out of the {bench.cache}" if bench.cache else ""
    share = f", {percent(bench.share)} of the limit" if bench.limit else of_cache
    return f"  {seconds_text(bench.median)} of {bench.runs} runs  {rate}{share}"


def _details(report: RunReport) -> str:
    """The worst output, or why there is none; of a tuning the fastest config."""
    if report.tuning is not None and report.tuning.best is not None:
        return fastest(report.tuning)
    worst = max(report.outputs, key=lambda o: (not o.ok, o.max_ulp), default=None)
    if worst is not None:
        return output_text(worst)
    error = next((d for d in report.diagnostics if d.severity == "error"), None)
    return f"{place(error)}{error.message}" if error is not None else " ".join(report.message.split())


def run_lines(session: Session, width: int = 1000) -> Lines:
    """The newest run in full."""
    report = session.report
    if report is None or session.running:
        return _plain([run_summary(session)], width)
    stale = (
        ["stale: the text or what it is compiled for changed since; F8 runs it again"]
        if session.report_is_stale
        else []
    )
    return report_lines(report, session.past_runs, width, stale)


def report_lines(report: RunReport, past: PastRuns, width: int = 1000, stale: Iterable[str] = ()) -> Lines:
    """A run in full: verdict, times and what they are worth, errors and where they are."""
    time = seconds_text(report.seconds) if report.seconds and report.bench is None else ""
    parts = (outcome(report), report.kernel, report.example, f"on {where(report)}", time)
    details = [f"compiled for {compiled_for(report)}"] if compiled_for(report) else []
    details += fine_print(report.bench) if report.bench is not None else []
    head, *rest = folded("  ".join(part for part in parts if part), width)
    return (
        LineView(head),
        *_step_lines(report, width),
        *_plain([*rest, *stale, *([report.note] if report.note else [])], width),
        *_bench_lines(report, past, width),
        *map(LineView, tuning_lines(report.tuning, width) if report.tuning is not None else ()),
        *(line for output in report.outputs for line in _output_lines(report, output, width)),
        *_plain([f"reference: {report.reference}"] if report.reference else [], width),
        *_plain(details, width),
        *_linked(report.message.splitlines(), width, report.line),
        *(problem_lines(report.diagnostics, width) if report.diagnostics else ()),
    )


def _linked(rows: Iterable[str], width: int, line: int | None) -> Lines:
    return tuple(LineView(part, line, 1 if line else None) for row in rows for part in folded(row, width))


def _plain(rows: Iterable[str], width: int) -> Lines:
    return _linked(rows, width, None)


def _bench_lines(report: RunReport, past: PastRuns, width: int) -> Lines:
    if report.bench is None:
        return ()
    entry = past.of(report)
    earlier = past.before(entry) if entry is not None else []
    compared = past.compared(entry) if entry is not None else ""
    sizes = past.sizes(entry) if entry is not None else []
    first, *words = bench_lines(report.bench)
    drawn = drawing(report.bench, [e.bench for e in earlier if e.bench is not None])
    rows = [*drawn, *(["", *size_lines(sizes)] if len(sizes) > 1 else [])]
    return (*_plain([first, *([compared] if compared else []), *words], width), *map(LineView, rows))


def mismatch_rows(report: RunReport) -> list[str]:
    """What wrote the first wrong element, and for each wrong output which elements differ, in words and as a map."""
    rows: list[str] = []
    for output in (o for o in report.outputs if not o.ok):
        rows += [] if rows or not report.origin else [_origin(report)]
        rows += [*_which(output), *output.picture]
    return rows


def _origin(report: RunReport) -> str:
    at = f", line {report.origin_line}" if report.origin_line is not None else ""
    return f"written by {report.origin}{at}"


def _which(output: OutputReport) -> list[str]:
    special = [f"{n} by {what}" for n, what in ((output.nans, "NaN"), (output.infinities, "infinities")) if n]
    words = [f"which: {output.pattern}"] if output.pattern else []
    return words + ([f"{' and '.join(special)}, which the largest errors leave out"] if special else [])


def _output_lines(report: RunReport, output: OutputReport, width: int) -> Lines:
    """Errors in words, what wrote the first wrong element, and a map of all of them."""
    lines = _plain([f"{output.name}: {output_text(output)}"], width)
    if output.ok:
        return lines
    wrong = next(o for o in report.outputs if not o.ok)
    if report.origin and output is wrong:
        column = 1 if report.origin_line is not None else None
        rows = folded(f"  {_origin(report)}", width)
        lines += tuple(LineView(row, report.origin_line, column) for row in rows)
    words = [f"  {row}" for row in _which(output)]
    return (*lines, *_plain(words, width), *(LineView(f"  {row}") for row in output.picture))


def _step_lines(report: RunReport, width: int) -> Lines:
    """The result after every stage; a wrong one leads to its line."""
    lines = []
    for step in report.steps:
        word = "ok" if step.ok and not step.text else "skipped" if step.ok else "FAIL"
        at = f"  line {step.line}" if step.line is not None else ""
        row = f"{word:<8}{step.stage}{at}  {step.text}".rstrip()
        lines += [LineView(part, step.line, 1 if step.line else None) for part in folded(row, width)]
    return tuple(lines)
