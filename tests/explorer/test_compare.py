"""Build A pinned beside the present one: keys, the table, listings of A against B, and where A comes from."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.engine.git import NotThere, last_commit
from explorer.engine.messages import CompileFinished, CompileRequest, CompileStarted, RunFinished, StageFinished
from explorer.model.backend_result import Result
from explorer.model.compare import pinned_stage, table
from explorer.model.pin import Variant, as_it_is
from explorer.model.result import LineView, OutputReport, RunReport, StageView
from explorer.model.session import Session, Settings
from tests.explorer.engine_harness import MakeEngine, Recorder
from tests.explorer.explorer_support import SOURCE, Explorer, explorer, settled
from tests.explorer.test_resources import CUBIN, SASS


def stage(name: str, count: int, ops: int | None = None) -> StageView:
    language = "ssa" if ops is not None else name
    lines = tuple(LineView(f"%{i} = op {i}") for i in range(count))
    return StageView(name, "ir", language, lines=lines, stats={} if ops is None else {"ops": ops})


def session(backend: str, *stages: StageView) -> Session:
    made = Session(Settings("add.py", backend=backend), "text")
    planned = ("source", *(s.name for s in stages))
    kept = {s.name: s for s in stages}
    made.results[backend] = Result(planned, kept, {}, dict(kept), kernel="k", signature="*fp32, i32", finished=True)
    return made


def test_a_long_name_of_a_stage_leaves_the_columns_where_they_are() -> None:
    a = session("cuda", stage("mlir/reconcile-unrealized-casts", 368, 335))
    b = session("cuda", stage("mlir/reconcile-unrealized-casts", 374, 340))
    assert table(a, b)[-2:] == [
        "stage                            A        B              A        B",
        "mlir/reconcile-unrealized-casts 335     340     ↑5     368      374     ↑6",
    ]


def report(seconds: float) -> RunReport:
    return RunReport(True, "cpu", "CPU", "k", "n=1", (OutputReport("out", True, size=1),), seconds, "NumPy")


def test_the_table_has_figures_times_operations_and_lines_with_deltas() -> None:
    fewer = replace(CUBIN, stats={**CUBIN.stats, "registers": 32, "occupancy": 100}, lines=())
    a = session("cuda", stage("ssa", 9, 9), stage("cuda", 40), CUBIN, SASS)
    b = session("cuda", stage("ssa", 12, 11), stage("cuda", 38), fewer, SASS)
    a.label, a.report, b.report = "last commit", report(2e-3), report(1e-3)
    a._run_text = b._run_text = "text"
    assert table(a, b) == [
        "A  cuda sm_90 4 warps  k(*fp32, i32)",
        "   last commit",
        "B  cuda sm_90 4 warps  k(*fp32, i32)",
        "",
        "                                 A        B",
        "registers a thread              40       32     ↓8",
        "shared memory, bytes          4096     4096",
        "spills, bytes                   24       24",
        "stack, bytes                    24       24",
        "constants, bytes               548      548",
        "occupancy, %                    75      100    ↑25",
        "SASS instructions                2        2",
        "occupancy is limited by     A: shared memory and registers   B: -",
        "run time                   2.00 ms  1.00 ms   -50%  on cpu, not cuda",
        "",
        "                                        operations                   lines",
        "stage                            A        B              A        B",
        "ssa                              9       11     ↑2       9       12     ↑3",
        "cuda                             -        -             40       38     ↓2",
        "cubin                            -        -              2        -",
        "sass                             -        -              3        3",
    ]
    assert max(map(len, table(a, b))) <= 76, "fits 80 columns with margin and scroll bar"
    a.text, b.report = "old text", replace(report(1e-3), ok=False)
    assert table(a, b)[13].endswith("on cpu, not cuda  B: FAIL  A: stale")
    assert table(a, b)[-6:] == ["source", "--- A", "+++ B", "@@ -1 +1 @@", "-old text", "+text"]


def test_backends_side_by_side_share_what_both_have() -> None:
    a = session("mlir", stage("ssa", 9, 9), stage("mlir/emit", 50), stage("ptx", 90))
    b = session("cuda", stage("ssa", 9, 9), stage("cuda", 40), stage("ptx", 100))
    names = [row.split()[0] for row in table(a, b)[table(a, b).index("") + 1 :] if row]
    assert names[-4:] == ["ssa", "mlir/emit", "cuda", "ptx"]
    ptx = pinned_stage(a, "cuda", b.result.stages["ptx"])
    assert ptx is not None and len(ptx.lines) == 90
    assert pinned_stage(a, "cuda", b.result.stages["cuda"]) is None


def test_a_failure_is_named_in_the_table() -> None:
    failed = StageView("cuda", "text", "cuda", "failed")
    rows = table(session("cuda", failed), session("cuda", stage("cuda", 3)))
    assert "A  cuda sm_90 4 warps  k(*fp32, i32)  FAILED cuda" in rows
    assert any(row.split() == ["cuda", "-", "-", "-", "3"] for row in rows)


def test_a_variant_follows_the_edits_and_a_pin_does_not() -> None:
    present = session("cuda", stage("ssa", 9, 9))
    variant, pinned = as_it_is(present, "now")
    present.text = "edited"
    present.results["cuda"].stages.clear()
    assert not variant.followed(pinned, present)
    assert pinned.text == "text"
    assert len(pinned.result.stages["ssa"].lines) == 9, "it keeps what it had"
    other = Variant("BLOCK=64", chip="sm_80", defines={"BLOCK": 64})
    follower = other.of(present)
    assert (follower.settings.chip, follower.settings.defines, follower.backend) == ("sm_80", {"BLOCK": 64}, "cuda")
    assert not other.followed(follower, present)
    present.text = "edited again"
    assert other.followed(follower, present)
    assert follower.text == "edited again"


def play(e: Explorer, name: str, text: str, backend: str = "cuda") -> None:
    """Play the compilation of A: one stage."""
    assert e.main.session.pinned is not None
    generation = e.main.session.pinned._compiled
    e.engine.emit(CompileStarted(generation, backend, "add_kernel", ("source", name), "*fp32"))
    line = StageView(name, "ir", "ssa", lines=(LineView(text),), stats={"ops": 1})
    e.engine.emit(StageFinished(generation, backend, line))
    e.engine.emit(CompileFinished(generation, backend, True))


@pytest.mark.parametrize("size", [(80, 24), (200, 60)])
async def test_pinning_the_present_build(tmp_path: Path, size: tuple[int, int]) -> None:
    async with explorer(tmp_path / "add.py", size) as e:
        e.engine.emit(RunFinished(e.engine.generation, report(1e-3)))
        await e.press("escape", "p")
        assert "A: pinned " in e.line("#header")
        assert e.engine.beside[-1].text == SOURCE
        assert e.engine.compiled[-1].background == {"cuda": ("cubin", "sass")}, "what is compared is made of B"
        await e.answer(note="%8 = more")
        await e.press("3", "d", "d", "d")
        assert "A against B" in e.heading("ssa")
        marks = e.main.panes["ssa"].listing.marks
        assert [mark.sign for mark in marks if mark is not None] == ["+"]
        await e.press("m")
        assert type(e.app.screen).__name__ == "Comparison"
        await e.press("p")
        assert (e.line("#header").count("A:"), e.engine.beside_ended) == (0, 1)
        assert "A against B" not in e.heading("ssa")
        await e.press("d", "d", "d")
        assert e.main.modes["ssa"] == "text", "d skips what is not there"


async def test_both_keys_work_while_typing(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("ctrl+l")
        assert e.main.session.pinned is not None
        await e.press("ctrl+o")
        assert type(e.app.screen).__name__ == "Comparison"
        await e.press("escape", "ctrl+l")
        assert e.main.session.pinned is None
        assert e.main.editor.text == SOURCE


async def test_another_backend_as_a_follows_the_edits(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape", "m", "5")
        assert e.engine.beside[-1].backends == ("mlir",)
        play(e, "opt/dce", "%0 = program_id {axis=1} : i32", "mlir")
        await e.answer()
        await e.press("3", "d", "d", "d", "m")
        await settled(e.pilot)
        lines = e.app.screen.query_one("CodeView").lines  # type: ignore[attr-defined]
        assert lines[0] == "A  mlir sm_90 4 warps  add_kernel(*fp32)"
        await e.press("escape", "1", "x")
        await e.answer()
        await e.pilot.pause()
        assert e.engine.beside[-1].text == e.main.editor.text


async def test_running_both(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape", "m", "5", "m", "r")
        assert [run.backend for run in e.engine.runs] == ["cuda"]
        e.engine.emit(RunFinished(e.engine.generation, report(1e-3)))
        await e.pilot.pause()
        await e.pilot.pause()
        assert [run.backend for run in e.engine.runs] == ["cuda", "mlir"]
        e.engine.emit(RunFinished(e.engine.generation, report(2e-3)))
        await settled(e.pilot)
        lines = e.app.screen.query_one("CodeView").lines  # type: ignore[attr-defined]
        (times,) = (line for line in lines if line.startswith("run time"))
        assert " ".join(times.split()) == "run time 2.00 ms 1.00 ms -50% on cpu, not mlir and cuda"
        assert e.main.session.report == report(1e-3)
        await e.press("B")
        e.engine.emit(RunFinished(e.engine.generation, report(1e-3)))
        await settled(e.pilot)
        assert [(run.backend, run.bench) for run in e.engine.runs[2:]] == [("cuda", True), ("mlir", True)]


async def test_a_constexpr_and_a_chip_as_a(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape", "m", "4", *["backspace"] * 8, *"BLOCK=64", "enter")
        assert e.engine.beside[-1].defines == {"BLOCK": 64}
        assert "A: BLOCK=64" in e.line("#header")
        await e.press("m", "a", "3", "2")
        assert e.engine.beside[-1].chip == "sm_80"
        await e.press("p", "m", "4", *["backspace"] * 8, *"BLOCK", "enter")
        assert e.main.session.pinned is None


async def test_the_last_commit_as_a(tmp_path: Path) -> None:
    path = tmp_path / "add.py"
    path.write_text(SOURCE)

    def git(*words: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init")
    git("add", "add.py")
    git("commit", "-m", "first")
    path.write_text(SOURCE.replace("a + b", "a * b"))
    async with explorer(path, (80, 24)) as e:
        await e.press("escape", "m", "2")
        await e.app.workers.wait_for_complete()
        await e.main.workers.wait_for_complete()
        await e.pilot.pause()
        assert e.engine.beside[-1].text == SOURCE
        assert "A: last commit" in e.line("#header")


async def test_without_git_there_is_a_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    with pytest.raises(NotThere, match="not a git repository"):
        await last_commit(tmp_path / "add.py")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(NotThere, match="git cannot be started"):
        await last_commit(tmp_path / "add.py")


async def test_two_compilations_beside_each_other(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = await make_engine(once=True)
    typed = 'x: "*fp32", y: "*fp32", out: "*fp32", n: "i32", BLOCK: tl.constexpr = 64'
    text = SOURCE.replace("x, y, out, n, BLOCK: tl.constexpr", typed)
    request = CompileRequest("add.py", text, until="ssa")
    ours = engine.compile(request)
    theirs = engine.compile_beside(replace(request, text=text.replace("a + b", "a * b")))
    for generation, name in ((ours, "add"), (theirs, "mul")):
        await recorder.wait(CompileFinished, generation=generation)
        (ssa,) = [e.stage for e in recorder.of(StageFinished, generation=generation) if e.stage.name == "ssa"]
        assert f"= {name} %6, %8" in ssa.text
    engine.end_beside()
    assert "other" not in engine.pids
