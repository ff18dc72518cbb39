"""The child processes alone, with a child that only pretends to compile: real signals, hangs, floods and hogs."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from explorer.engine import messages as m
from explorer.engine import supervisor
from explorer.engine.client import CompileRequest, RunRequest
from explorer.engine.limits import Limits
from tests.explorer.engine_harness import MakeEngine, Recorder

FAKE = (sys.executable, str(Path(__file__).parent / "fake_child.py"))

CAUSES = [
    ("segv", "killed by SIGSEGV while running stage 'b'"),
    ("abort", "killed by SIGABRT while running stage 'b'"),
    ("exit", "exited with status 3 while running stage 'b'"),
    ("quit", "exited with status 0 while running stage 'b'"),
    ("kill", "killed by SIGKILL (by another process, or for want of memory) while running stage 'b'"),
    ("raise", "internal error while running stage 'b'"),
]


def request(text: str, **options: object) -> CompileRequest:
    return CompileRequest("k.py", text, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("fault", "cause"), CAUSES)
async def test_a_dead_child_is_one_crashed_stage(
    make_engine: MakeEngine, recorder: Recorder, fault: str, cause: str
) -> None:
    engine = await make_engine(command=FAKE)
    bad = engine.compile(request(f"stage a\nstage b\nstage c\n# fault: {fault} at b"))
    failed = await recorder.wait(m.ChildFailed)
    assert failed.failure.cause == cause
    assert (failed.failure.child, failed.failure.stage, failed.generation) == ("compiler", "b", bad)
    stages = [(e.stage.name, e.stage.status) for e in recorder.of(m.StageFinished)]
    assert stages == [("a", "ok"), ("b", "crashed")]
    assert recorder.of(m.CompileFinished)[0].ok is False

    good = engine.compile(request("stage a\nstage b"))
    await recorder.wait(m.CompileFinished, generation=good, ok=True)


async def test_the_other_backends_are_still_compiled(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = await make_engine(command=FAKE)
    engine.compile(request("stage a\n# fault: segv at a", backends=("cuda", "mlir", "cpu")))
    for backend in ("cuda", "mlir", "cpu"):
        await recorder.wait(m.CompileFinished, backend=backend, ok=False)
    assert [e.stage.status for e in recorder.of(m.StageFinished)] == ["crashed"] * 3


@pytest.mark.parametrize("fault", ["loop", "stuck"])
async def test_a_superseded_hang_is_killed_and_the_spare_goes_on(
    make_engine: MakeEngine, recorder: Recorder, fault: str
) -> None:
    engine = await make_engine(command=FAKE)
    engine.compile(request(f"stage a\nstage b\n# fault: {fault} at b"))
    await recorder.wait(m.StillRunning, stage="b")
    first = engine.pids["compiler"]
    good = engine.compile(request("stage a\nstage b"))
    await recorder.wait(m.CompileFinished, generation=good, ok=True)
    assert engine.pids["compiler"] != first
    assert not recorder.of(m.ChildFailed)  # superseding is no failure


async def test_a_superseded_job_between_stages_costs_no_process(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = await make_engine(command=FAKE)
    await recorder.wait(m.CompileFinished, generation=engine.compile(request("stage a")))
    pid = engine.pids["compiler"]
    for _ in range(20):
        last = engine.compile(request("\n".join(f"stage s{i}" for i in range(200))))
        await asyncio.sleep(0.005)
    await recorder.wait(m.CompileFinished, generation=last, ok=True)
    assert engine.pids["compiler"] == pid
    told = [e.generation for e in recorder.of(m.StageFinished)]
    assert told == sorted(told)  # nothing of a superseded generation comes after the next one began


async def test_cancel_names_the_stage(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = await make_engine(command=FAKE)
    engine.compile(request("stage a\nstage b\n# fault: stuck at b", backends=("cuda", "mlir")))
    await recorder.wait(m.StillRunning, stage="b")
    engine.cancel()
    failed = await recorder.wait(m.ChildFailed)
    assert failed.failure.cause == "cancelled while running stage 'b'"
    await recorder.wait(m.CompileFinished, generation=engine.compile(request("stage a")), ok=True)
    assert not recorder.of(m.CompileFinished, backend="mlir")


async def test_time_limit(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = await make_engine(command=FAKE, limits=Limits(import_s=0.5, memory_gb=4.0))
    engine.open("k.py", "stage import\n# fault: loop at import")
    failed = await recorder.wait(m.ChildFailed)
    assert failed.failure.cause == "killed after 0.5 s while at import"
    read = await recorder.wait(m.ModuleRead)
    assert not read.module.executed


async def test_memory_limit(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = await make_engine(command=FAKE, limits=Limits(memory_gb=0.3))
    engine.run(RunRequest("k.py", "stage run\n# fault: hog at run"))
    failed = await recorder.wait(m.ChildFailed)
    assert failed.failure.cause == "killed for using more than 0.3 GB of memory while at run"
    report = (await recorder.wait(m.RunFinished)).report
    assert (report.ok, report.message) == (False, failed.failure.cause)


async def test_megabytes_of_output_do_not_block(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = await make_engine(command=FAKE)
    generation = engine.compile(request("stage a\n# fault: shout at a"))
    await recorder.wait(m.CompileFinished, generation=generation, ok=True)
    shown = sum(len(e.text) for e in recorder.of(m.Log))
    assert 0 < shown < 2_000_000  # of ten million characters


async def test_the_last_words_are_kept(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = await make_engine(command=FAKE)
    engine.compile(request("stage a\nstage b\n# fault: segv at b"))
    failure = (await recorder.wait(m.ChildFailed)).failure
    assert failure.log[0] == "Fatal Python error: Segmentation fault"


async def test_a_signal_from_outside(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = await make_engine(command=FAKE)
    engine.compile(request("stage a\n# fault: stuck at a"))
    await recorder.wait(m.StillRunning, stage="a")
    os.kill(engine.pids["compiler"], signal.SIGKILL)
    failed = await recorder.wait(m.ChildFailed)
    assert failed.failure.cause.startswith("killed by SIGKILL")
    await recorder.wait(m.CompileFinished, generation=engine.compile(request("stage a")), ok=True)


async def test_an_idle_child_that_dies_is_replaced(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = await make_engine(command=FAKE)
    await recorder.wait(m.CompileFinished, generation=engine.compile(request("stage a")))
    for _ in range(3):
        os.kill(engine.pids["compiler"], signal.SIGKILL)
        await recorder.wait(m.CompileFinished, generation=engine.compile(request("stage a")), ok=True)
    assert not recorder.of(m.ChildFailed)


async def test_an_idle_child_that_was_stopped_is_replaced(
    make_engine: MakeEngine, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "_LONGEST_SILENCE", 0.5)
    engine = await make_engine(command=FAKE)
    await recorder.wait(m.CompileFinished, generation=engine.compile(request("stage a")))
    stopped = engine.pids["compiler"]
    os.kill(stopped, signal.SIGSTOP)
    await recorder.wait(m.CompileFinished, generation=engine.compile(request("stage a")), ok=True)
    assert engine.pids["compiler"] != stopped
    assert not recorder.of(m.ChildFailed)


async def test_a_child_that_is_killed_while_it_starts_costs_no_job(make_engine: MakeEngine, recorder: Recorder) -> None:
    engine = await make_engine(command=FAKE)
    os.kill(engine.pids["compiler"], signal.SIGKILL)
    await recorder.wait(m.CompileFinished, generation=engine.compile(request("stage a")), ok=True)
    assert not recorder.of(m.ChildFailed)


async def test_no_restart_storm(make_engine: MakeEngine, recorder: Recorder, tmp_path: Path) -> None:
    count = tmp_path / "starts"
    script = f"import sys; open({str(count)!r}, 'a').write('x'); sys.exit('cannot load libfoo.so')"
    engine = await make_engine(command=(sys.executable, "-c", script))
    engine.compile(request("stage a"))
    failure = (await recorder.wait(m.ChildFailed)).failure
    assert failure.cause == "exited with status 1 while starting"
    assert failure.log == ("cannot load libfoo.so",)
    await asyncio.sleep(2)
    assert len(count.read_text()) <= 12  # two roles, each tried a few times, further and further apart


async def test_children_end_with_the_explorer(tmp_path: Path) -> None:
    script = f"""
import asyncio, os
from explorer.engine.client import CompileRequest, Engine
from explorer.engine.limits import Limits
async def main():
    engine = Engine(lambda event: None, limits=Limits(memory_gb=4), command={FAKE!r})
    await engine.start()
    engine.compile(CompileRequest("k.py", "stage a\\n# fault: stuck at a"))
    await asyncio.sleep(1)
    print(*engine.pids.values(), flush=True)
    os.kill(os.getpid(), 9)
asyncio.run(main())
"""
    env = {**os.environ, "MYTRITON_EXPLORER_TEST_FAULT": "1", "PYTHONPATH": os.getcwd()}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, stdout=asyncio.subprocess.PIPE, env=env
    )
    output, _ = await process.communicate()
    pids = [int(word) for word in output.split()]
    assert len(pids) == 2
    for _ in range(100):
        if not any(Path(f"/proc/{pid}/exe").exists() for pid in pids):
            break
        await asyncio.sleep(0.05)
    assert not any(Path(f"/proc/{pid}/exe").exists() for pid in pids)
