"""What `--json` prints: every pane of the explorer as one JSON object.

Always there: `schema` (a number: it is raised when a key goes or changes its meaning, not for new ones), `file`,
`backend`, `chip`, `num_warps`, `kernel` (of an MLIR file the function), `example` (its label, or null), `signature`,
`constexprs` (of `-D`), `config` (the number of `--config`, or null), `pipeline` (the passes of `--pipeline`, or null),
`schedule` (the file of `--schedule`, or null), `planned` (the names of all stages), `ok` (whether no stage failed),
`versions` (of what took part, by package), `python`.

The rest are sections, which `--show` selects; a stage's name or family stands for the listings of these stages:

    source      {"text", "saved": whether it is what the file holds}
    stages      [{"name", "kind", "language", "status": ok | no change | cached | skipped | failed | crashed, "ok",
                "ms", "cause": a sentence or null, "ops": {"before", "after"}, "stats": {name: number}, "culprit": the
                row (from 0) of its input that it failed at, or null}], and where the listing is selected
                "lines": [{"text", "line", "column", "end_line", "end_column", "values": [SSA ids], "frames": [call
                    sites]}] (without a place, none of these; what no line asked for has "made_by", the program that
                    made it, and the place of its first use, if any; SASS has "control": {"wait": [barriers], "read",
                    "write", "yield", "stall"}),
                "changes": [{"pass_name", "rule", "before", "after", "why", "line"}] (the change log),
                "diagnostics": [as in problems], "units": [helpers of other files that were inlined],
                "diff" (with --diff): {"against", "note", "rows": [{"text", "sign", "kind", "ranges", "line"}]},
                "compared" (with --compare): the same, A against B
    problems    [{"code", "severity", "message", "hint", "path", "line", "column", "end_line", "end_column", "stage",
                "rendered"}]
    resources   {"registers", "shared", "spills", "stack", "constant", "occupancy", "limits",
                "instructions", "missing": why}
    run         the example's run, or null: {"verdict": PASS | FAIL | NOT RUN | TUNED, "ok", "backend", "device",
                "note", "outputs": [...], "seconds", "reference", "message", "line": where it stopped,
                "diagnostics", "steps", "bench", ...}
    history     [{"number", "time", "backend", "version": hash of the text, "edited", "report": as run}], in a bundle
    comparison  null, or {"a", "b": {"label", "backend", "chip", "kernel", "signature", "num_warps", "resources",
                "seconds"}, "stages": [{"name", "ops": [a, b], "lines": [a, b], "status": [a, b]}],
                "source": [unified diff]}
    kernels     [{"name", "line", "params", "examples", "helper", "tuned": [what `autotune` chooses],
                "configs": [{"values": {name: value}, "num_warps", "num_stages"}]}]
    log         [what the child processes printed]

`--query --json` prints {"schema", "file", "query", "found": [{"kernel": the kernel, or the function that was chosen,
"name", "line", "column", "within": [symbols], "operands": [types], "results": [types], "maps": [kinds of indexing
maps], "stage": a kernel's, "path": of the line, if it is of another file}]}.
`--check --json`, and `--bench --json`, prints {"schema", "file", "ok", "runs": [{"kernel", "example", and as in run}]}.
A bench is {"median", "p10", "q1", "q3", "p90" (seconds), "runs", "clock", "read", "written" (bytes), "flops" (by type),
"programs", "counted", "reason", "peak_bandwidth", "peak_flops", "peak", "cache" (that holds it all), and what follows:
"bytes", "total_flops", "bandwidth", "flop_rate", "intensity", "ridge", "limit": memory | computing | "", "share" (of
the limit, from 0 to 1)}.
`--tune --json` prints the same, a run being {"kernel", "example", "ok", "backend", "device", "message", "diagnostics",
"tuning": null or {"key", "trials": [{"values": {name: value}, "median", "p20", "p80" (seconds), "error"}], "best": the
fastest's row (from 0) or null, "configs": how many there were before pruning, "seconds"}}.
For what cannot be worked with at all it is {"ok": false, "error": a sentence}, and the exit code 2, or 3 where a
backend cannot run.

Lines and columns of the file count from 1, in characters. Numbers that JSON lacks are the strings "nan" and "inf".
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any

from explorer.model import compare, report
from explorer.model.backend_result import Result
from explorer.model.bench_page import bench_figures
from explorer.model.codec import to_json
from explorer.model.past_runs import outcome
from explorer.model.result import LineView, StageView
from explorer.model.session import Session
from explorer.model.story import Mode, Told, told
from explorer.share.record import Made

SCHEMA = 1

#: Sections that are not about one stage. Those of the second line are there only if they are asked for.
SECTIONS = ("source", "stages", "problems", "resources", "history", "kernels", "log")
ON_DEMAND = ("run", "comparison")

_CONTROL = re.compile(r"\[([-0-5]{6}) r([-0-5]) w([-0-5]) ([-y]) s(\d\d)\]")


def document(
    session: Session, show: Collection[str] = (), mode: Mode = "text", saved: bool = True, made: Made | None = None
) -> dict[str, Any]:
    """The whole document, or (`show`) what was selected of it."""
    result, s, info = session.result, session.settings, session.kernel_info
    made = made or Made.here()
    examples = info.examples if info is not None else ()
    sections = set(show) or {
        *SECTIONS,
        *(("run",) if session.report else ()),
        *(("comparison",) if session.pinned else ()),
    }
    out: dict[str, Any] = {
        "schema": SCHEMA,
        "file": s.path,
        "backend": session.backend,
        "chip": s.chip,
        "num_warps": result.num_warps,
        "kernel": result.kernel,
        "example": examples[session.example].label if session.example < len(examples) else None,
        "signature": result.signature,
        "constexprs": to_json(s.defines),
        "config": s.config,
        "pipeline": list(s.pipelines[session.backend]) if session.backend in s.pipelines else None,
        "schedule": s.schedule or None,
        "planned": list(result.planned),
        "ok": all(stage.ok or stage.status == "skipped" for stage in result.stages.values()),
        "versions": made.versions,
        "python": made.python,
    }
    listed = [stage for stage in result.stages.values() if not show or selected(stage.name, sections)]
    rows = [stage for stage in result.stages.values() if stage in listed or "stages" in sections]
    if rows or "stages" in sections:
        out["stages"] = [_stage(session, stage, stage in listed, mode) for stage in rows]
    makers: dict[str, Callable[[], Any]] = {
        "source": lambda: {"text": session.text, "saved": saved},
        "problems": lambda: plain(session.problems),
        "resources": lambda: _resources(session),
        "run": lambda: run(session),
        "comparison": lambda: comparison(session.pinned, session) if session.pinned is not None else None,
        "history": lambda: plain(session.past_runs.entries),
        "kernels": lambda: plain(session.module.kernels if session.module is not None else ()),
        "log": lambda: list(session.log),
    }
    return out | {name: make() for name, make in makers.items() if name in sections}


def selected(stage: str, show: Collection[str]) -> bool:
    """Whether a stage was asked for, by its name or its family."""
    return stage in show or stage.split("/")[0] in show


def plain(value: Any) -> Any:
    """As `codec.to_json`, but with all fields: also those that have their default value."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def run(session: Session) -> Any:
    """The run, or None."""
    if session.report is None:
        return None
    bench = session.report.bench
    found = {"verdict": outcome(session.report), **plain(session.report)}
    return {**found, "bench": {**plain(bench), **bench_figures(bench)}} if bench is not None else found


def _stage(session: Session, stage: StageView, listed: bool, mode: Mode) -> dict[str, Any]:
    row = {
        "name": stage.name,
        "kind": stage.kind,
        "language": stage.language,
        "status": stage.status,
        "ok": stage.ok,
        "ms": stage.ms,
        "cause": report.cause(stage) or None,
        "ops": {"before": stage.stats.get("ops before"), "after": stage.stats.get("ops")},
        "stats": stage.stats,
        "culprit": stage.culprit,
    }
    if not listed:
        return row
    row["lines"] = [_line(line, stage.language) for line in stage.lines]
    row["changes"] = plain(stage.changes)
    row["diagnostics"] = plain(stage.diagnostics)
    row["units"] = plain(stage.units)
    if mode == "diff":
        row["diff"] = _told(story(session, stage, "diff"))
    if session.pinned is not None:
        row["compared"] = _told(story(session, stage, "pin"))
    return row


def story(session: Session, stage: StageView, mode: Mode) -> Told | None:
    """A stage as the diff, the log or the comparison that its pane shows."""
    result: Result = session.result
    a = compare.pinned_stage(session.pinned, session.backend, stage) if session.pinned is not None else None
    return told(result, result.planned, stage, mode, a)


def _told(what: Told | None) -> Any:
    if what is None:
        return None
    marks = what.marks or (None,) * len(what.lines)
    against = what.note.removeprefix("diff against ") if what.note.startswith("diff against ") else None
    rows = [
        {
            "text": line.text,
            "sign": mark.sign if mark is not None else "",
            "kind": mark.kind if mark is not None else "same",
            "ranges": [list(part) for part in mark.ranges] if mark is not None else [],
            "line": line.line,
        }
        for line, mark in zip(what.lines, marks, strict=True)
    ]
    return {"against": against, "note": what.note, "rows": rows}


def _line(line: LineView, language: str) -> Any:
    row = to_json(line)
    code = _CONTROL.search(line.text) if language == "sass" else None
    if code is not None:
        read, write = (None if barrier == "-" else int(barrier) for barrier in code.group(2, 3))
        row["control"] = {
            "wait": [int(barrier) for barrier in code[1] if barrier != "-"],
            "read": read,
            "write": write,
            "yield": code[4] == "y",
            "stall": int(code[5]),
        }
    return row


def _resources(session: Session) -> Any:
    return {**plain(compare.measured(session.result)), "missing": report.no_figures(session) or None}


def comparison(a: Session, b: Session) -> Any:
    """A and B: what they are, figures, and the operations, lines and status of each stage."""

    def about(s: Session) -> Any:
        seconds = s.report.seconds if s.report is not None and s.report.outputs else None
        return {
            "label": s.label or None,
            "backend": s.backend,
            "chip": s.settings.chip,
            "kernel": s.result.kernel,
            "signature": s.result.signature,
            "num_warps": s.result.num_warps,
            "resources": _resources(s),
            "seconds": seconds,
        }

    stages: Sequence[compare.Pair] = compare.pairs(a, b)
    return {
        "a": about(a),
        "b": about(b),
        "stages": [
            {
                "name": pair.name,
                "ops": list(pair.ops),
                "lines": list(pair.lines),
                "status": [stage.status if stage is not None else None for stage in (pair.old, pair.new)],
            }
            for pair in stages
        ],
        "source": compare.source_diff(a.text, b.text),
    }
