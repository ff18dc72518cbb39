"""The corpus of failing pipelines: what `--stages`, `--json` and the screen say of each, and that each can be rerun."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from explorer.engine import messages as m
from explorer.engine.client import Engine
from explorer.model.session import Session, Settings
from explorer.printing import print_stages
from explorer.share.document import document
from mytriton.pipelines import steps
from tests.explorer.engine_harness import MakeEngine, Recorder
from tests.explorer.explorer_support import explorer
from tests.lab import rerunning
from tests.lab.crashing import CRASHING
from tests.lab.failing import FAILING, Failing

pytest.importorskip("mlir.ir", reason="the MLIR bindings are not installed")

CORPUS = {**FAILING, **CRASHING}
CODE = ("llvm", "ptx", "llvm/O3", "asm")


@dataclass
class Compiled:
    """What became of a pipeline: its session, the events it is made of, and the folder of its reproducer."""

    failing: Failing
    session: Session
    events: list[m.Event]
    folder: Path


async def test_pipelines_that_fail(
    make_engine: MakeEngine, recorder: Recorder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each is told of with its pass, its operation, the row and the cause; nothing else ends, and it fails again."""
    engine = await make_engine(once=True)
    found: dict[str, Compiled] = {}
    for number, (name, failing) in enumerate(CORPUS.items()):
        made = found[name] = await compiled(engine, recorder, failing, tmp_path / str(number))
        stage = made.session.result.failed
        assert stage is not None, name
        error = next(d for d in stage.diagnostics if d.severity == "error")
        assert (stage.name, stage.status == "crashed") == (failing.stage, bool(failing.died)), name
        assert failing.cause in error.message, name
        assert failing.died in error.message, name
        assert failing.hint in error.hint, name
        assert error.line == failing.line, name
        assert bool(failing.op) == bool(failing.line), name
        if failing.line is not None:
            assert failing.op in failing.text.split("\n")[failing.line - 1], name
        in_text(made, capsys)
        in_json(made)
        request = m.ReproduceRequest(
            made.session.compile_request((), CODE), stage.name, str(made.folder), error.message
        )
        done = await recorder.wait(m.Reproduced, generation=engine.reproduce(request))
        assert done.error == "", name
    await on_the_screen(tmp_path, list(found.values()))
    scripts = [str(made.folder / "rerun.py") for made in found.values()]
    again = subprocess.run([sys.executable, rerunning.__file__, *scripts], capture_output=True, text=True, check=True)
    for name, code in zip(found, map(int, again.stdout.split()), strict=True):
        failing, died = CORPUS[name], CORPUS[name].died
        assert code == (-signal.Signals[died] if died.startswith("SIG") else 1), name
        if not failing.cause.startswith("killed"):
            assert failing.cause in (found[name].folder / "stderr.txt").read_text(), name


async def compiled(engine: Engine, recorder: Recorder, failing: Failing, folder: Path) -> Compiled:
    """Its session after all that came, also the listings that came after a child died."""
    pipeline = tuple(step.pipeline for step in steps(failing.pipeline))
    session = Session(Settings("x.mlir", pipelines={"mlir": pipeline}), failing.text)
    generation = engine.compile(session.compile_request((), CODE))
    session.compiling(generation)
    await recorder.wait(m.CompileFinished, generation=generation)
    if failing.stage in CODE:
        await recorder.wait(m.CompileFinished, generation=generation, slow=True)
    while True:
        events = [event for event in recorder.events if getattr(event, "generation", None) == generation]
        for event in events:
            session.handle(event)
        if not any(stage.pending for stage in session.result.stages.values()):
            return Compiled(failing, session, events, folder)
        await asyncio.sleep(0.05)


def in_text(made: Compiled, capsys: pytest.CaptureFixture[str]) -> None:
    """What `--stages` prints: a row with the stage, the place and the cause, and below all of it."""
    failing = made.failing
    print_stages(list(made.session.result.stages.values()))
    said = capsys.readouterr()
    (row,) = [row for row in said.out.splitlines() if row.startswith(f"{failing.stage} ")]
    assert ("crashed" if failing.died else "failed") in row
    assert failing.cause in row
    if failing.line is not None:
        assert f" ms  {failing.line}:" in row
    assert failing.hint in said.err
    assert "Traceback" not in said.err
    assert "Fatal Python error" not in said.err


def in_json(made: Compiled) -> None:
    """What `--stages --json` prints."""
    (stage,) = [s for s in document(made.session, ["stages"])["stages"] if s["name"] == made.failing.stage]
    assert stage["status"] == ("crashed" if made.failing.died else "failed")
    assert made.failing.cause in stage["cause"]


async def on_the_screen(folder: Path, corpus: list[Compiled]) -> None:
    """What the explorer shows: stage, place and cause in a line, and a mark at what the stage was given of that row."""
    path = folder / "x.mlir"
    path.write_text("")
    async with explorer(path, (300, 40), answered=False) as e:
        for made in corpus:
            failing = made.failing
            e.main.compile()
            for event in made.events:
                e.engine.emit(replace(event, generation=e.engine.generation))  # type: ignore[type-var]
            await e.pilot.pause()
            await e.pilot.pause()
            said = e.line("#strip")
            place = f"{failing.line}:" if failing.line is not None else ""
            assert said.startswith(f" {'CRASHED' if failing.died else 'FAILED'} {failing.stage}: {place}")
            assert failing.cause in said
            if failing.op and failing.stage not in ("mlir/parse", *CODE):  # of those the editor is what they were given
                listing = e.main.panes["mlir"].listing
                marked = [
                    line.line for line, mark in zip(listing.lines, listing.marks, strict=True) if mark is not None
                ]
                assert failing.line in marked, failing
