"""What autotuning an example measured, as a table to read."""

from __future__ import annotations

import textwrap
from typing import Any

from explorer.model.measured import TrialView, TuningView
from explorer.model.result import RunReport
from explorer.model.units import seconds_text


def tuning_page(kernel: str, example: str, report: RunReport) -> list[str]:
    """What was tuned, the table, and why some configs failed."""
    head = f"{kernel}  {example}  {report.backend}" + (f" ({report.device})" if report.device else "")
    if report.tuning is None:
        return [f"{head}  {report.message}".rstrip()]
    return [head, *(f"  {row}" for row in tuning_lines(report.tuning))]


def tuning_lines(found: TuningView, width: int = 1000) -> list[str]:
    """How long it took and for what, a line a config (the best has a `*`), and why some of them failed. A table
    that is wider leaves the spread away, or has each config below its time."""
    pruned = f" of {found.configs} after pruning" if found.configs > len(found.trials) else ""
    key = ", ".join(map(str, found.key))
    count = f"{len(found.trials)}{pruned} config{'s' if found.configs != 1 else ''}"
    tables = (_table(found), _table(found, spread=False))
    fitting = next((table for table in tables if max(map(len, table)) <= width), None) or _stacked(found, width)
    rows = [f"{count} in {seconds_text(found.seconds)}, for {key}", *fitting]
    return [*rows, *_errors(found.trials)]


def fastest(found: TuningView) -> str:
    """The fastest config in a line, if there is one."""
    if found.best is None:
        return ""
    best = found.trials[found.best]
    values = ", ".join(f"{name}: {value}" for name, value in _values(best).items())
    return f"{values}: {seconds_text(best.median)}"


def _table(found: TuningView, spread: bool = True) -> list[str]:
    names = [*dict.fromkeys(name for trial in found.trials for name in _values(trial))]
    rows = [["", *names, "median", *(["20% to 80%"] if spread else []), "of the best"]]
    for number, trial in enumerate(found.trials):
        median, slower = _times(found, number)
        between = f"{seconds_text(trial.p20)} to {seconds_text(trial.p80)}" if not trial.error else ""
        times = [median, *([between] if spread else []), slower]
        rows.append(["*" if number == found.best else "", *(str(trial.values.get(n, "")) for n in names), *times])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def _times(found: TuningView, number: int) -> tuple[str, str]:
    """The median of a config, and how many times as long as the fastest it takes."""
    trial = found.trials[number]
    if trial.error:
        return "failed", ""
    fastest = found.trials[found.best].median if found.best is not None else 0.0
    return seconds_text(trial.median), f"x{trial.median / fastest:.2f}" if fastest and number != found.best else ""


def _stacked(found: TuningView, width: int) -> list[str]:
    rows = []
    for number, trial in enumerate(found.trials):
        mark = "*" if number == found.best else " "
        values = ", ".join(f"{name}: {value}" for name, value in _values(trial).items())
        rows += [f"{mark}  {'  '.join(filter(None, _times(found, number)))}"]
        rows += textwrap.wrap(values, width, initial_indent="     ", subsequent_indent="     ")
    return rows


def _values(trial: TrialView) -> dict[str, Any]:
    """What a config says beyond the usual."""
    return {name: value for name, value in trial.values.items() if (name, value) != ("num_ctas", 1)}


def _errors(trials: tuple[TrialView, ...]) -> list[str]:
    rows = []
    for trial in trials:
        if trial.error:
            values = ", ".join(f"{name}: {value}" for name, value in _values(trial).items())
            rows += [f"failed: {values}", *(f"  {line}" for line in trial.error.splitlines())]
    return rows
