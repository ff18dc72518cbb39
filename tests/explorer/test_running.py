"""Runs and benches in the runner: what it tells meanwhile, what it answers, and how it is ended."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.engine import client, supervisor
from explorer.engine import messages as m
from explorer.engine.client import RunRequest
from explorer.model.past_runs import PastRuns, outcome
from explorer.model.runs import report_lines
from mytriton import backends
from tests.explorer.engine_harness import MakeEngine, Recorder

TEXT = """\
import numpy as np
import mytriton
import mytriton.language as tl

@mytriton.jit
def scale(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2.0, mask=i < n)

@scale.example(n=100)
@scale.example(n=1_000_000)
def case(n):
    x = np.ones(n, np.float32)
    args = {"x": x, "out": np.zeros(n, np.float32), "n": n, "BLOCK": 64}
    return mytriton.Example(args, lambda meta: mytriton.cdiv(n, meta["BLOCK"]), {"out": x * 2})
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "k.py"
    file.write_text(TEXT)
    return str(file)


def needs_cpu() -> None:
    if (reason := backends.get("cpu").available()) is not None:
        pytest.skip(reason)


async def test_a_bench_is_checked_timed_and_counted(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    needs_cpu()
    engine = await make_engine(once=True)
    request = RunRequest(path, TEXT, backend="cpu", bench=True, seconds=0.05, defines={"BLOCK": 32})
    report = (await recorder.wait(m.RunFinished, generation=engine.run(request))).report
    assert (report.ok, report.backend, report.constexprs, report.chip) == (True, "cpu", {"BLOCK": 32}, "")
    bench = report.bench
    assert bench is not None
    assert (bench.read, bench.written, bench.flops) == (400, 400, {"f32": 128})
    assert (bench.programs, bench.counted, bench.reason) == (4, 4, "")
    assert 0 < bench.p10 <= bench.q1 <= bench.median <= bench.q3 <= bench.p90
    assert bench.runs >= 3
    assert bench.peak_bandwidth > 0
    assert bench.peak_flops > 0
    assert report.took == bench.median


async def test_without_a_gpu_the_cpu_is_benched_and_it_says_so(
    make_engine: MakeEngine, recorder: Recorder, path: str
) -> None:
    needs_cpu()
    if (reason := backends.get("cuda").available()) is None:
        pytest.skip("there is a GPU here")
    engine = await make_engine(once=True)
    request = RunRequest(path, TEXT, backend="cuda", bench=True, seconds=0.01)
    report = (await recorder.wait(m.RunFinished, generation=engine.run(request))).report
    assert (report.ok, report.backend, report.note) == (
        True,
        "cpu",
        f"ran on the cpu backend, not on cuda: {reason}",
    )
    assert report.bench is not None


async def test_what_is_wrong_is_benched_too_and_shown(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine(once=True)
    text = TEXT.replace("* 2.0", "* tl.where(i < 64, 2.0, 3.0)")
    request = RunRequest(path, text, backend="interp", bench=True, seconds=0.01)
    report = (await recorder.wait(m.RunFinished, generation=engine.run(request))).report
    (output,) = report.outputs
    assert (report.ok, output.mismatches, output.pattern) == (
        False,
        36,
        "the last, partial block: the last 36 elements",
    )
    assert output.picture[-2:] == (" 0 " + 64 * ".", "64 " + 36 * "#")
    assert (report.origin, report.origin_line) == ("program (1, 0, 0), lane 0 of its block", 8)
    assert report.bench is not None


async def test_a_long_run_tells_how_far_it_is_and_ends_without_a_new_child(
    make_engine: MakeEngine, recorder: Recorder, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_CANCEL_GRACE", 60.0)  # the machine may be busy
    monkeypatch.setattr(supervisor, "_LONGEST_GRACE", 60.0)
    engine = await make_engine()
    long = engine.run(RunRequest(path, TEXT, backend="interp", example=1))
    while not any(e.progress.endswith(" of 15625 programs") for e in recorder.of(m.StillRunning, generation=long)):
        await recorder.changed()
    pid = engine.pids["runner"]
    engine.cancel()
    report = (await recorder.wait(m.RunFinished, generation=long)).report
    assert not report.ok
    assert report.message.startswith("cancelled while running scale, case(n=1000000), on backend interp")
    again = engine.run(RunRequest(path, TEXT, backend="interp"))
    assert (await recorder.wait(m.RunFinished, generation=again)).report.ok
    assert engine.pids["runner"] == pid, "what it has loaded is kept"


async def test_a_run_that_does_not_listen_is_killed(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine()
    text = TEXT.replace("    x = np", "    import time\n    time.sleep(1000)\n    x = np", 1)
    stuck = engine.run(RunRequest(path, text, backend="interp"))
    await recorder.wait(m.StillRunning, generation=stuck, stage="run")
    pid = engine.pids["runner"]
    engine.cancel()
    report = (await recorder.wait(m.RunFinished, generation=stuck)).report
    assert report.message == "cancelled while running scale, case(n=100), on backend interp"
    again = engine.run(RunRequest(path, TEXT, backend="interp"))
    assert (await recorder.wait(m.RunFinished, generation=again)).report.ok
    assert engine.pids["runner"] != pid
    assert len(recorder.of(m.ChildFailed)) == 1


async def test_an_access_out_of_bounds_fails_and_leads_to_its_line(
    make_engine: MakeEngine, recorder: Recorder, path: str
) -> None:
    engine = await make_engine(once=True)
    text = TEXT.replace("tl.store(out + i,", "tl.store(out + i + 1000,")
    line = next(number for number, row in enumerate(text.splitlines(), 1) if "tl.store(" in row)
    request = RunRequest(path, text, backend="interp")
    report = (await recorder.wait(m.RunFinished, generation=engine.run(request))).report
    assert (outcome(report), report.backend, report.line) == ("FAIL", "interp", line)
    assert f":{line}:" in report.message and "store outside of `out`" in report.message
    assert {row.line for row in report_lines(report, PastRuns())} == {None, line}


async def test_a_bench_that_fails_keeps_the_check(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine(once=True)
    text = TEXT.replace("tl.store(out + i,", "tl.store(out + i + tl.load(out + n - 1).to(tl.int32) * 1000,")
    request = RunRequest(path, text, backend="interp", bench=True, seconds=0.01)
    report = (await recorder.wait(m.RunFinished, generation=engine.run(request))).report
    assert (report.ok, report.bench, len(report.outputs)) == (True, None, 1)
    assert "store outside of `out`" in report.message
