"""A stage that fails: it is shown at the row it failed at, with a short cause, and a key writes a reproducer."""

from __future__ import annotations

import shlex
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.engine import messages as m
from explorer.engine.client import CompileRequest
from explorer.model.backend_result import Result
from explorer.model.failure import brief, shortened
from explorer.model.report import shell_rows
from explorer.model.result import ChildFailure, DiagnosticView, LineView, StageView
from explorer.model.stages import delta, operations, waiting_word
from tests.explorer.engine_harness import MakeEngine, Recorder
from tests.explorer.explorer_support import STAGES, Explorer, explorer, settled

PASS = "mlir/convert-gpu-to-nvvm"
WHY = "failed to legalize operation 'math.exp'"
FINDING = DiagnosticView(
    "MT601", "error", f"MLIR stage '{PASS}' failed:\n{WHY}", line=9, column=9, stage=PASS, rendered="the whole text"
)
GIVEN = (*(LineView(f"%{i} = arith.addi %a, %b : i32", 6) for i in range(60)), LineView("  %60 = math.exp", 9))


async def failing(e: Explorer, *, row: int | None) -> None:
    """Play a compilation that fails at `PASS`."""
    good = STAGES["mlir"][:5]
    planned = (*(stage.name for stage in good), "mlir/emit", PASS, "ptx")
    e.engine.emit(m.CompileStarted(e.engine.generation, "mlir", "add_kernel", planned, "*fp32, i32"))
    stages = [*good, StageView("mlir/emit", "text", "mlir", lines=GIVEN)]
    stages.append(StageView(PASS, "text", "mlir", "failed", diagnostics=(FINDING,), culprit=row))
    for stage in stages:
        e.engine.emit(m.StageFinished(e.engine.generation, "mlir", stage))
    e.engine.emit(m.CompileFinished(e.engine.generation, "mlir", False, 3.0))
    await e.pilot.pause()
    await e.pilot.pause()


@pytest.mark.parametrize("row", [60, None])
async def test_the_failing_stage_comes_to_the_reader(tmp_path: Path, row: int | None) -> None:
    async with explorer(tmp_path / "add.py", (120, 40), backend="mlir") as e:
        await e.press("escape", "3")
        assert "mlir/emit" in e.heading("mlir")
        await failing(e, row=row)
        await settled(e.pilot)
        assert f"MLIR > {PASS}" in e.heading("mlir")
        assert "FAILED" in e.heading("mlir")
        pane = e.main.panes["mlir"]
        assert e.lines("mlir") == [line.text for line in GIVEN], "what the pass was given"
        marked = [i for i, mark in enumerate(pane.listing.marks) if mark is not None]
        assert marked == [60], "by its row, or by the place of the error"
        assert pane.listing.marks[60].ranges == ((2, 16),)
        assert pane.body.scroll_y > 0, "scrolled to"
        assert e.main.line == 9, "the line of the kernel is lit"
        assert e.main.focused_pane.name == "ssa", "the focus stays"
        assert f"FAILED {PASS}: 9:9 {WHY}" in e.line("#strip")
        e.main.compile()
        await e.answer()
        assert "mlir/emit" in e.heading("mlir"), "mended: what was shown before"


async def test_a_key_writes_a_reproducer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with explorer(tmp_path / "add.py", (120, 40), backend="mlir") as e:
        await failing(e, row=60)
        await e.press("ctrl+r")
        (request,) = e.engine.reproduced
        folder = tmp_path / "repro-add_kernel-mlir-convert-gpu-to-nvvm"
        assert (request.stage, request.folder, request.error) == (PASS, str(folder), "the whole text")
        assert request.compile.backends == ("mlir",)
        assert request.compile.text == e.main.editor.text
        done = m.Reproduced(e.engine.generation, PASS, str(folder), "python rerun.py", ("rerun.py", "input.mlir"))
        e.engine.emit(done)
        await e.pilot.pause()
        assert e.app.screen._lines[0] == "python rerun.py"
        await e.press("escape")

        folder.mkdir()
        await e.press("escape", "7", *"jjjjjj", "R")
        assert (e.engine.reproduced[-1].stage, e.engine.reproduced[-1].error) == ("mlir/emit", ""), "the row's stage"
        await e.press("3", "R")
        assert e.engine.reproduced[-1].folder == f"{folder}-2", "never a folder that is there"
        e.engine.emit(replace(done, command="", error="it cannot be"))
        await e.pilot.pause()
        assert [n.message for n in e.app._notifications] == ["it cannot be"]


async def test_idle_stages_and_long_findings_fold(tmp_path: Path) -> None:
    long = replace(FINDING, rendered="\n".join([f"9:9: error[MT601]: {WHY}", *(f"row {i}" for i in range(20))]))
    async with explorer(tmp_path / "add.py", (200, 60)) as e:
        await e.press("escape", "7")
        assert any("opt/fold" in row for row in e.lines("stages"))
        await e.press("o")
        rows = [row.split() for row in e.lines("stages")]
        assert ["no", "change", "fold"] in rows
        e.main.compile()
        await e.answer("opt/dce", long)
        await e.press("8")
        assert e.lines("problems") == [f"9:9: error[MT601]: {WHY}", "... 20 more lines: o shows them"]
        await e.press("o")
        assert len(e.lines("problems")) == 21


def test_words_of_stages_that_are_not_there() -> None:
    planned = ("source", "tree", "ssa", "opt/fold", "cuda", "cubin")
    stages = {"source": StageView("source", "source", "python"), "tree": StageView("tree", "tree", "tree")}
    going = Result(planned, stages)
    assert [waiting_word(going, n) for n in planned[2:]] == ["running", "waiting", "waiting", "waiting"]
    done = Result(planned, {**stages, "ssa": StageView("ssa", "ir", "ssa", "failed")}, finished=True)
    assert [waiting_word(done, n) for n in planned[3:]] == ["not reached", "not reached", "not reached"]
    assert waiting_word(Result(planned, stages, finished=True), "cubin") == "-"


def test_operations_are_counted() -> None:
    emitted = ("module {", "^bb1:", "  %0 = a.b", "  x.y", "}", "#map = 1")
    assert operations(tuple(map(LineView, emitted))) == 3
    before = StageView("mlir/emit", "text", "mlir", lines=tuple(map(LineView, emitted)))
    after = StageView("mlir/cleanup", "text", "mlir", lines=(LineView("module {"), LineView("}")))
    planned = ("source", "tree", "ssa", before.name, after.name)
    assert delta(Result(planned, {before.name: before, after.name: after}), after) == "3 -> 1 ops (-2)"
    folded = StageView("opt/fold", "ir", "ssa", stats={"ops before": 9, "ops": 7})
    assert delta(Result(planned), folded) == "9 -> 7 ops (-2)"


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (f"MLIR stage 'x' failed:\n{WHY}\nsee current operation", WHY),
        ("NVRTC: NVRTC_ERROR_COMPILATION\n/k.cu(3): warning: w\n/k.cu(4): error: e", "/k.cu(4): error: e"),
        ("nvJitLink failed with code 4 for sm_90\nptxas x, line 3; error   : bad", "ptxas x, line 3; error   : bad"),
        ("a block is no scalar", "a block is no scalar"),
    ],
)
def test_the_cause_is_one_sentence(message: str, cause: str) -> None:
    finding = DiagnosticView("MT1", "error", message)
    assert brief(StageView("x", "text", "", "failed", diagnostics=(finding,))) == cause
    assert shortened(finding, ["a", "b"]) == ["a", "b"]


def test_a_crash_is_told_in_the_words_of_llvm() -> None:
    log = ("LLVM ERROR: Cannot select: t1", "  t2", "Fatal Python error: Aborted", "  File run.py")
    stage = StageView.crashed(ChildFailure("compiler", "killed by SIGABRT while running stage 'x'", "x", log=log))
    cause = "killed by SIGABRT while running stage 'x': LLVM ERROR: Cannot select: t1"
    assert (stage.status, stage.reason) == ("crashed", cause)
    assert stage.diagnostics[0].rendered == f"error[MT980]: {cause}\nLLVM ERROR: Cannot select: t1\n  t2"


TEXT = """\
import mytriton
import mytriton.language as tl

@mytriton.jit
def act(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(x + at, tl.tanh(tl.load(x + at, mask=at < n, other=0.0)), mask=at < n)
"""
#: What LLVM cannot make code of, and aborts for, as `tanh` for NVIDIA's processors.
ABORTING = """\
from mytriton.backends.mlir import backend
at = [name for name, _ in backend.PIPELINE].index("convert-gpu-to-nvvm")
bad = ("convert-math-to-llvm", "convert-math-to-llvm")
backend.PIPELINE = (*backend.PIPELINE[:at], bad, *backend.PIPELINE[at:])
from explorer.engine.child import main
import sys
main(sys.argv)
"""


async def test_an_abort_keeps_its_input(make_engine: MakeEngine, recorder: Recorder, tmp_path: Path) -> None:
    pytest.importorskip("mlir.ir")
    child = tmp_path / "child.py"
    child.write_text(ABORTING)
    engine = await make_engine(once=True, command=(sys.executable, str(child)))
    path = str(tmp_path / "act.py")
    await recorder.wait(m.ModuleRead, generation=engine.open(path, TEXT, execute=False))
    request = CompileRequest(path, TEXT, backends=("mlir",), signature="*fp32, i32, 64", shown=())
    generation = engine.compile(request)
    failed = await recorder.wait(m.ChildFailed, generation=generation)
    assert "killed by SIGABRT while running stage 'mlir/gpu-module-to-binary'" in failed.failure.cause
    assert failed.failure.said.startswith("LLVM ERROR: Cannot select: ")
    # Its listing was put off, since nobody looked; now it is what the pass was given.
    while not any(e.stage.name == "mlir/debug-info" and e.stage.lines for e in recorder.of(m.StageFinished)):
        await recorder.changed()
    listed = {e.stage.name: e.stage for e in recorder.of(m.StageFinished, generation=generation)}
    assert not any(stage.pending for stage in listed.values())
    assert "llvm.intr.tanh" in listed["mlir/debug-info"].text

    folder = tmp_path / "repro"
    asked = m.ReproduceRequest(request, "mlir/gpu-module-to-binary", str(folder), "why")
    done = await recorder.wait(m.Reproduced, generation=engine.reproduce(asked))
    assert (done.stage, done.error) == ("mlir/gpu-module-to-binary", "")
    assert done.command.endswith(f"{folder}/rerun.py")
    assert "llvm.intr.tanh" in (folder / "input.mlir").read_text()
    again = await recorder.wait(m.Reproduced, generation=engine.reproduce(asked))
    assert again.error == f"{folder} is there already; nothing is overwritten: name another folder"


def test_a_long_command_is_shown_in_rows_that_a_shell_takes_as_one() -> None:
    command = shlex.join(["env", "PYTHONPATH=/a", "python", f"/{'long/' * 30}rerun.py", "with blanks"])
    rows = shell_rows(command, 40)
    assert max(map(len, rows)) <= 40 < len(command)
    assert shlex.split("\n".join(rows).replace("\\\n", "")) == shlex.split(command)
    assert shell_rows("python rerun.py", 40) == ["python rerun.py"]
