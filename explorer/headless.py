"""The explorer without a screen: listings, checks, JSON, reports, pictures and bundles.

All go through the same engine and child processes as the UI, or through the bundle that is looked at, so they say the
same, and a compiler that crashes is a line of output and an exit code instead of the end of the command.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from explorer.cli import Options
from explorer.engine.client import SLOW_STAGES
from explorer.engine.messages import ReproduceRequest
from explorer.gathering import CannotRun, Gathering, finding_text
from explorer.model.bench_page import bench_page
from explorer.model.compare import table
from explorer.model.failure import brief, full_text
from explorer.model.files import write_new
from explorer.model.paths import is_mlir
from explorer.model.result import LineView, StageView
from explorer.model.session import BACKENDS, Session
from explorer.passes_given import check_values
from explorer.printing import print_report, print_stages
from explorer.query import query
from explorer.reading import BadInput, unknown
from explorer.share import document
from explorer.tune import tune
from mytriton.stage import FAMILIES


def run(options: Options) -> int:
    """Do what the command line asks for; returns the exit code."""
    return asyncio.run(_run(options))


async def _run(options: Options) -> int:
    if options.mode == "svg":
        from explorer.share.picture import picture

        _write(options, (await picture(options)).encode(errors="replace"))
        return 0
    headless = _Headless(options)
    try:
        if options.mode == "tune":
            return await tune(options, headless.gathering)
        if options.mode == "query":
            return await query(options, headless.gathering)
        return await (headless.check() if options.mode in ("check", "bench") else headless.compile())
    except CannotRun as reason:
        print(reason, file=sys.stderr)
        if options.json:
            _print_json({"ok": False, "error": str(reason)})
        return 3
    finally:
        await headless.gathering.close()


class _Headless:
    def __init__(self, options: Options) -> None:
        self._options = options
        self.gathering = Gathering(options)
        self._session = self.gathering.session

    # Compiling

    async def compile(self) -> int:
        """What is not about running only."""
        options, gathering = self._options, self.gathering
        await gathering.engine.start(("compiler",))
        module = await gathering.open()
        kernel = gathering.kernel(module)
        examples = gathering.examples(kernel)
        gathering.select(kernel, gathering.example(kernel))
        backends = BACKENDS if options.mode == "bundle" and not is_mlir(options.path) else ()
        await gathering.compile(backends, self._wanted(), options.stage)
        if options.mode in ("print", "json", "compare", "report", "bundle"):
            await gathering.pin(self._wanted(), options.stage)
        can_run = bool(examples) and module.executed and options.bundle is None
        if can_run and (options.mode in ("report", "bundle") or "run" in options.show):
            await gathering.run(self._session, fallback=True)
        return await self._show()

    async def _show(self) -> int:
        options, session = self._options, self._session
        stages = list(session.result.stages.values())
        if options.mode == "json" or (options.json and options.mode in ("stages", "print")):
            return self._json()
        if options.mode == "stages":
            print_stages(stages)
        elif options.mode == "compare":
            assert session.pinned is not None
            print("\n".join(table(session.pinned, session, "--check runs both")))
        elif options.mode == "reproduce":
            return await self._reproduce(stages)
        elif options.mode == "print":
            return self._print_listing(stages)
        else:
            self._write_shared()
        return _code(session, bool(options.compare), options.mode in ("report", "bundle"))

    def _wanted(self) -> tuple[str, ...]:
        """The slow stages that are to be made."""
        options = self._options
        if options.mode in ("print", "reproduce") and options.stage:
            return SLOW_STAGES if options.stage in SLOW_STAGES else ()
        looked_at = {*SLOW_STAGES, "stages", "resources", "comparison"}
        return SLOW_STAGES if not options.show or looked_at & set(options.show) else ()

    def _print_listing(self, stages: Sequence[StageView]) -> int:
        options, session = self._options, self._session
        name = self.gathering.planned_stage(session.result.planned, options.stage)
        found = next((s for s in stages if s.name == name), None)
        for finding in (d for stage in stages for d in stage.diagnostics):
            print(finding_text(finding), file=sys.stderr)
        if found is not None and found.ok:
            mode: Any = "pin" if options.compare else options.story
            _print_story(session, found, mode)
            return 0
        culprit = found or next((s for s in stages if not _good(s)), None)
        if culprit is not None and culprit.reason:
            print(f"stage {culprit.name!r} {culprit.status}: {culprit.reason}", file=sys.stderr)
        return 1

    async def _reproduce(self, stages: Sequence[StageView]) -> int:
        """Write a reproducer of `--stage`, or of the failing one."""
        options = self._options
        failed = next((s for s in stages if not _good(s)), None)
        if failed is None and not options.stage:
            raise BadInput("no stage failed; to reproduce one all the same, name it with --stage")
        name = self.gathering.planned_stage(self._session.result.planned, options.stage) if options.stage else ""
        about = failed if failed is not None and name in ("", failed.name) else None
        error = full_text(about) if about is not None else ""
        name = name or (failed.name if failed is not None else "")
        request = self.gathering.request(self._session, (), self._wanted(), options.stage)
        done = await self.gathering.reproduce(ReproduceRequest(request, name, options.folder, error))
        if done.error:
            raise BadInput(f"no reproducer of stage {name!r}: {done.error}")
        if about is not None:
            print(f"stage {about.name!r} {about.status}: {brief(about)}", file=sys.stderr)
        print(done.command)
        return 0

    def _json(self) -> int:
        options, session = self._options, self._session
        show: Sequence[str] = options.show
        if options.mode != "json":
            show = ["stages"] if options.mode == "stages" else [options.stage]
        self._check_show(show)
        made = options.bundle.made if options.bundle is not None else None
        saved = options.bundle is None or options.bundle.b.saved
        found = document.document(session, show, options.story, saved, made)
        _print_json(found)
        return _code(session, bool(options.compare), found.get("run") is not None)

    def _check_show(self, show: Sequence[str]) -> None:
        planned = self._session.result.planned
        known = [*document.SECTIONS, *document.ON_DEMAND, *FAMILIES, *planned]
        if set(planned) <= {"source"}:
            return  # a file that cannot be read, which is said: no others are known then
        families = {name.split("/")[0] for name in planned}
        for name in show:
            if name not in known:
                raise unknown("pane or stage", name, list(dict.fromkeys(known)))
            if name in FAMILIES and name not in families and name not in document.SECTIONS:
                self.gathering.planned_stage(planned, name)

    def _write_shared(self) -> None:
        """Write a report or a bundle."""
        from explorer.share.export import exported

        options, bundle = self._options, self._options.bundle
        suffix = ".mtx" if options.mode == "bundle" else Path(options.out).suffix
        saved, made = (bundle.b.saved, bundle.made) if bundle is not None else (True, None)
        _write(options, exported(self._session, suffix, saved, made))

    # Checking

    async def check(self) -> int:
        """Run the examples; with `--bench` time them, too."""
        options, gathering, session = self._options, self.gathering, self._session
        module = await gathering.open()
        if not module.executed and options.bundle is None:
            raise BadInput(f"{options.path} could not be executed")
        one = options.kernel is not None or options.bundle is not None
        kernels = [gathering.kernel(module)] if one else module.kernels
        if is_mlir(options.path):
            check_values(options, kernels)
        cases = [(k, number) for k in kernels for number in gathering.examples(k)]
        if not cases and is_mlir(options.path):
            raise BadInput(f"{options.path} has no function to {options.mode}: a func.func with a body, not private")
        if not cases:
            what = f"an example to {options.mode}; declare one with @{kernels[0].name}.example"
            raise BadInput(f"{kernels[0].name} has no {what[3:]}" if one else f"no kernel of {options.path} has {what}")
        worst, runs, bench = 0, [], options.mode == "bench"
        for kernel, number in cases:
            gathering.select(kernel, number)
            report = await gathering.run(session, fallback=False, every_stage=options.every_stage, bench=bench)
            worst = max(worst, 0 if report.ok else 1)
            label = kernel.examples[number].label if number < len(kernel.examples) else report.example
            if is_mlir(options.path):  # whose examples are nothing but values
                label = kernel.called(number, options.defines)
            if options.json:
                runs.append({"kernel": kernel.name, "example": label, **document.run(session)})
            else:
                print_report(kernel.name, label, report)
        if options.json:
            _print_json({"schema": document.SCHEMA, "file": options.path, "ok": worst == 0, "runs": runs})
            return worst
        if bench and (page := bench_page(session.past_runs)):
            print("", *page, sep="\n")
        if options.compare:
            await self._compare_runs(bench)
        return worst

    async def _compare_runs(self, bench: bool) -> None:
        """The table of A and B, with the times of both."""
        gathering, session = self.gathering, self._session
        await gathering.compile()
        await gathering.pin()
        assert session.pinned is not None
        if session.pinned.report is None:
            await gathering.run(session.pinned, fallback=False, bench=bench)
        print("", *table(session.pinned, session), sep="\n")


def _good(stage: StageView) -> bool:
    return stage.ok or stage.status == "skipped"


def _code(session: Session, compared: bool = False, ran: bool = False) -> int:
    """The exit code: 1 if a stage failed, also one of what it is compared with, or (`ran`) the run."""
    sessions = [session, *([session.pinned] if compared and session.pinned is not None else [])]
    failed = any(not _good(stage) for s in sessions for stage in s.result.stages.values())
    run = session.report if ran else None
    return 1 if failed or (run is not None and not run.ok and not run.unavailable) else 0


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=1))


def _write(options: Options, data: bytes) -> None:
    try:
        write_new(Path(options.out), data, options.overwrite)
    except FileExistsError:
        raise BadInput(f"{options.out} is there already; --overwrite replaces it") from None
    except OSError as error:
        raise BadInput(f"{options.out} cannot be written: {error.strerror}") from None
    print(f"{len(data):,} bytes to {options.out}", file=sys.stderr)


def _print_story(session: Session, stage: StageView, mode: Any) -> None:
    """A listing as text, or as the diff or the log that its pane shows."""
    what = document.story(session, stage, mode)
    if what is None:
        print(stage.text)
        return
    if mode != "log":
        print(f"# {what.note}", file=sys.stderr)
    marks = what.marks or (None,) * len(what.lines)
    line: LineView
    for line, mark in zip(what.lines, marks, strict=True):
        sign = "" if mode == "log" else f"{mark.sign if mark is not None else ' '} "
        print(f"{sign}{line.text}".rstrip())
