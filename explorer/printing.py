"""Stages and runs as the command line prints them."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from explorer.gathering import finding_text
from explorer.model.failure import sentence
from explorer.model.report import place
from explorer.model.result import RunReport, StageView
from explorer.model.runs import mismatch_rows


def print_stages(stages: Sequence[StageView]) -> None:
    """A line a stage, and then all that was found, once each: all steps of a schedule find the same in it."""
    width = max((len(s.name) for s in stages), default=0)
    for stage in stages:
        errors = [f"{place(d)}{sentence(d)}" for d in stage.diagnostics if d.severity == "error"]
        cause = "; ".join(errors) or stage.reason
        print(f"{stage.name:{width}}  {stage.status:9}  {stage.ms:8.2f} ms  {cause}".rstrip())
    for text in dict.fromkeys(finding_text(d) for stage in stages for d in stage.diagnostics):
        print(text, file=sys.stderr)


def print_report(kernel: str, label: str, report: RunReport) -> None:
    """A line a run, and below it what is wrong and where."""
    head = f"{'PASS' if report.ok else 'FAIL'}  {kernel}  {label}  {report.backend}"
    if report.device:
        head += f" ({report.device})"
    parts = [
        f"{o.name}: max abs {o.max_abs:.3g}, rel {o.max_rel:.3g}, {o.max_ulp:g} ulp, {o.mismatches}/{o.size} wrong"
        + (f", first at {list(o.first_index)}: {o.actual}, expected {o.expected}" if o.first_index is not None else "")
        for o in report.outputs
    ]
    if report.seconds:
        parts.append(f"{report.seconds * 1e3:.2f} ms")
    if report.reference and report.reference != "NumPy":
        parts.append(f"reference: {report.reference}")
    parts += [text for text in (report.note, report.message.strip()) if text]
    print("  ".join([head, "; ".join(parts)]))
    for step in report.steps:
        where = f"  line {step.line}" if step.line is not None else ""
        print(f"      {'ok' if step.ok else 'FAIL':<6}{step.stage}{where}  {step.text}".rstrip())
    for row in mismatch_rows(report):
        print(f"      {row}")
    for finding in report.diagnostics:
        print(finding_text(finding), file=sys.stderr)
