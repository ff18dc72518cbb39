"""The real children: what is compiled, executed and run, as the file is opened, edited, saved and broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.engine import messages as m
from explorer.engine.client import CompileRequest, Engine, RunRequest
from explorer.engine.limits import Limits
from explorer.model.past_runs import outcome
from explorer.model.result import ChildFailure
from tests.explorer.engine_harness import MakeEngine, Recorder

TEXT = """\
import numpy as np
import mytriton
import mytriton.language as tl

SCALE = tl.constexpr(2.0)

@mytriton.jit
def scale(x, n, B: tl.constexpr):
    at = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(x + at, v * SCALE, mask=at < n)

@scale.example(n=100)
def case(n):
    x = np.arange(n, dtype=np.float32)
    return mytriton.Example(args={"x": x, "n": n, "B": 64}, grid=2, expected={"x": x * 2}, options={"num_warps": 2})
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "k.py")


async def opened(engine: Engine, recorder: Recorder, path: str, text: str = TEXT) -> m.ModuleRead:
    """The answer to opening a text."""
    return await recorder.wait(m.ModuleRead, generation=engine.open(path, text))


async def compiled(
    engine: Engine, recorder: Recorder, path: str, text: str = TEXT, backend: str = "interp", **options: object
) -> dict[str, m.StageFinished]:
    """The stages of a compilation by name, once it is finished."""
    request = CompileRequest(path, text, backends=(backend,), **options)  # type: ignore[arg-type]
    generation = engine.compile(request)
    await recorder.wait(m.CompileFinished, generation=generation)
    return {e.stage.name: e for e in recorder.of(m.StageFinished, generation=generation)}


async def test_open_and_compile(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine()
    read = engine.open(path, TEXT)
    generation = engine.compile(CompileRequest(path, TEXT, backends=("interp", "cuda")))  # waits for the types
    await recorder.wait(m.CompileFinished, generation=generation, backend="cuda", ok=True)

    module = recorder.of(m.ModuleRead, generation=read)[0].module
    assert module.executed and module.diagnostics == ()
    (kernel,) = module.kernels
    assert (kernel.name, kernel.line) == ("scale", 8)
    assert [(p.name, p.constexpr) for p in kernel.params] == [("x", False), ("n", False), ("B", True)]
    assert [e.label for e in kernel.examples] == ["case(n=100)"]

    started = recorder.of(m.CompileStarted, backend="cuda")[0]
    assert (started.kernel, started.signature, started.num_warps) == ("scale", "*fp32:16, i32, 64", 2)
    assert started.module_changed is False
    stages = [e.stage for e in recorder.of(m.StageFinished, backend="cuda")]
    assert [s.name for s in stages] == list(started.planned[: len(stages)])
    assert stages[-1].name == "ptx"
    ssa = next(s for s in stages if s.name == "ssa")
    load = next(line for line in ssa.lines if " = load " in line.text)
    assert (load.line, load.column, load.end_line, load.end_column) == (10, 9, 10, 48)
    assert all(line.line is None or 7 <= line.line <= 11 for s in stages for line in s.lines)


async def test_listings_that_nobody_looks_at_come_last(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    pytest.importorskip("mlir.ir")
    engine = await make_engine(once=True)
    await opened(engine, recorder, path)
    request = CompileRequest(path, TEXT, backends=("mlir", "interp"), shown=("mlir/convert-scf-to-cf",))
    generation = engine.compile(request)
    await recorder.wait(m.CompileFinished, generation=generation, backend="interp")
    first_sent = reversed(recorder.of(m.StageFinished, backend="mlir"))  # some may have been sent again by now
    stages = {e.stage.name: e.stage for e in first_sent}
    later = [name for name, stage in stages.items() if stage.pending]
    assert {"ssa", "opt/fold", "mlir/convert-gpu-to-nvvm"} <= set(later)
    assert not {"mlir/emit", "mlir/convert-scf-to-cf"} & set(later)
    assert all(stages[name].lines == () and stages[name].ok for name in later)
    for name in later:
        while not any(e.stage.name == name and e.stage.lines for e in recorder.of(m.StageFinished)):
            await recorder.changed()


async def test_typing(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine(once=True)
    await opened(engine, recorder, path)
    before = await compiled(engine, recorder, path)
    assert before["ssa"].stage.status == "ok"

    broken = await compiled(engine, recorder, path, TEXT.replace("v * SCALE", "v * "))
    assert list(broken) == ["source"]
    (finding,) = broken["source"].stage.diagnostics
    assert (broken["source"].stage.status, finding.line, finding.column) == ("failed", 11, 26)
    assert broken["source"].stage.text == TEXT.replace("v * SCALE", "v * ")

    edited = await compiled(engine, recorder, path, TEXT.replace("v * SCALE", "v + 1.0"))
    assert "add %" in edited["ssa"].stage.text

    moved = await compiled(engine, recorder, path, "\n" + TEXT)
    assert {name for name, event in moved.items() if event.stage.status not in ("cached", "no change")} == set()
    assert [name for name in before if before[name].stage.status == "ok"] == [
        name for name in moved if moved[name].stage.status == "cached"
    ]
    assert [line.line for line in moved["ssa"].stage.lines] == [
        line.line + 1 for line in before["ssa"].stage.lines if line.line is not None
    ]


async def test_literal_globals_follow_the_text(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine(once=True)
    await opened(engine, recorder, path)
    edited = await compiled(engine, recorder, path, TEXT.replace("constexpr(2.0)", "constexpr(3.0)"))
    assert ", 3.0 :" in edited["ssa"].stage.text
    assert edited["ssa"].stage.status == "ok"  # not taken over from the compilation with the other value
    assert [e.module_changed for e in recorder.of(m.CompileStarted)] == [False]


async def test_other_globals_keep_the_value_they_had(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    text = TEXT.replace("tl.constexpr(2.0)", "tl.constexpr(float(np.sqrt(4.0)))")
    engine = await make_engine(once=True)
    await opened(engine, recorder, path, text)
    stages = await compiled(engine, recorder, path, text.replace("sqrt(4.0)", "sqrt(9.0)"))
    assert ", 2.0 :" in stages["ssa"].stage.text
    assert recorder.of(m.CompileStarted)[-1].module_changed is True

    saved = text.replace("sqrt(4.0)", "sqrt(9.0)")
    await opened(engine, recorder, path, saved)
    stages = await compiled(engine, recorder, path, saved)
    assert ", 3.0 :" in stages["ssa"].stage.text
    assert recorder.of(m.CompileStarted)[-1].module_changed is False


async def test_a_new_parameter_before_saving(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine(once=True)
    await opened(engine, recorder, path)
    stages = await compiled(engine, recorder, path, TEXT.replace("(x, n, B:", "(x, y, n, B:"))
    (finding,) = stages["source"].stage.diagnostics
    assert finding.message == (
        "the example case(n=100) has no value for the parameter `y` of `scale`; add it to the example and save the file"
    )
    stages = await compiled(engine, recorder, path, TEXT.replace("(x, n, B:", '(x, y: "*fp16", n, B:'))
    assert stages["ssa"].stage.ok
    assert recorder.of(m.CompileStarted)[-1].signature == "*fp32:16, *fp16, i32, 64"


async def test_no_exec_never_executes(make_engine: MakeEngine, recorder: Recorder, path: str, tmp_path: Path) -> None:
    mark = tmp_path / "executed"
    text = f"import absent_module\nopen({str(mark)!r}, 'w')\n" + TEXT
    engine = await make_engine(once=True)
    generation = engine.open(path, text, execute=False)
    read = await recorder.wait(m.ModuleRead, generation=generation)
    assert not read.module.executed and [k.name for k in read.module.kernels] == ["scale"]
    stages = await compiled(engine, recorder, path, text, signature="*fp32, i32, 32")
    assert stages["ssa"].stage.ok
    assert not mark.exists()


async def test_an_import_error_keeps_the_file_readable(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine(once=True)
    read = await opened(engine, recorder, path, "import absent_module\n" + TEXT)
    (finding,) = read.module.diagnostics
    what = "read without being executed, since an import fails: ModuleNotFoundError: No module named 'absent_module'"
    assert (finding.line, finding.severity, finding.message) == (1, "warning", what)
    assert [k.name for k in read.module.kernels] == ["scale"]


async def test_a_broken_save_keeps_what_was_known(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine(once=True)
    await opened(engine, recorder, path)
    await compiled(engine, recorder, path)
    read = await opened(engine, recorder, path, "import absent_module\n" + TEXT)
    assert read.module.diagnostics[0].line == 1
    stages = await compiled(engine, recorder, path, "import absent_module\n" + TEXT)
    assert stages["ssa"].stage.ok  # with the types of the example as they were


async def test_modules_beside_the_file_are_read_again(
    make_engine: MakeEngine, recorder: Recorder, path: str, tmp_path: Path
) -> None:
    helper = tmp_path / "helper_beside.py"
    text = "import helper_beside\n" + TEXT.replace("constexpr(2.0)", "constexpr(helper_beside.VALUE)")
    engine = await make_engine(once=True)
    for value in ("2.5", "3.75"):
        helper.write_text(f"VALUE = {value}\n")
        await opened(engine, recorder, path, text)
        stages = await compiled(engine, recorder, path, text)
        assert f", {value} :" in stages["ssa"].stage.text


@pytest.mark.parametrize(
    ("statement", "cause"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "killed by SIGSEGV while importing k.py"),
        ("os.abort()", "killed by SIGABRT while importing k.py"),
        ("os._exit(7)", "exited with status 7 while importing k.py"),
        ("while True: pass", "killed after 1.5 s while importing k.py"),
        (
            "b = [time.sleep(0.002) or b'x' * (1 << 24) for _ in range(1 << 20)]",
            "killed for using more than 0.6 GB of memory while importing",
        ),
    ],
)
async def test_a_module_that_misbehaves(
    make_engine: MakeEngine, recorder: Recorder, path: str, statement: str, cause: str
) -> None:
    engine = await make_engine(once=True, limits=Limits(import_s=1.5, memory_gb=0.6))
    bad = engine.open(path, f"import os, signal, time\n{statement}\n" + TEXT)
    failed = await recorder.wait(m.ChildFailed, generation=bad)
    assert failed.failure.child == "runner"
    assert failed.failure.cause.startswith(cause)
    while not any(e.module.diagnostics for e in recorder.of(m.ModuleRead, generation=bad)):
        await recorder.changed()
    read = next(e for e in recorder.of(m.ModuleRead, generation=bad) if e.module.diagnostics)
    assert read.module.diagnostics[0].message.startswith(cause)
    assert [k.name for k in read.module.kernels] == ["scale"]

    await opened(engine, recorder, path)
    stages = await compiled(engine, recorder, path)
    assert stages["ssa"].stage.ok


async def test_compiling_does_not_wait_for_an_import_that_hangs(
    make_engine: MakeEngine, recorder: Recorder, path: str
) -> None:
    engine = await make_engine(once=True)
    text = "while True: pass\n" + TEXT
    engine.open(path, text)
    stages = await compiled(engine, recorder, path, text, signature="*fp32, i32, 32")
    assert stages["ssa"].stage.ok
    engine.cancel()
    causes = [e.failure.cause for e in recorder.of(m.ChildFailed) if e.failure.child == "runner"]
    assert causes == ["cancelled while importing k.py"]


@pytest.mark.parametrize(("fault", "cause"), [("segv", "killed by SIGSEGV"), ("abort", "killed by SIGABRT")])
async def test_a_compiler_that_crashes(
    make_engine: MakeEngine, recorder: Recorder, path: str, fault: str, cause: str
) -> None:
    engine = await make_engine()
    await opened(engine, recorder, path)
    stages = await compiled(engine, recorder, path, f"# fault: {fault} at opt/cse\n" + TEXT)
    assert list(stages)[-1] == "opt/cse"
    crashed = stages["opt/cse"].stage
    assert (crashed.status, crashed.reason) == ("crashed", f"{cause} while running stage 'opt/cse'")
    assert stages["ssa"].stage.ok
    stages = await compiled(engine, recorder, path)
    assert stages["opt/dce"].stage.ok


async def test_run_and_fall_back(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine(once=True)
    await opened(engine, recorder, path)
    report = (
        await recorder.wait(m.RunFinished, generation=engine.run(RunRequest(path, TEXT, backend="interp")))
    ).report
    assert (report.ok, report.backend, report.kernel, report.example) == (True, "interp", "scale", "case(n=100)")
    (output,) = report.outputs
    assert (output.name, output.size, output.mismatches, output.max_abs) == ("x", 100, 0, 0.0)

    edited = TEXT.replace("v * SCALE", "v + SCALE")  # need not be saved
    report = (
        await recorder.wait(m.RunFinished, generation=engine.run(RunRequest(path, edited, backend="interp")))
    ).report
    (output,) = report.outputs
    assert (report.ok, output.mismatches) == (False, 99)  # 2 + 2 is right
    assert (output.first_index, output.actual, output.expected) == ((0,), "2.0", "0.0")


async def test_what_is_opened_and_run_is_not_a_helper(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    helper = "@mytriton.jit\ndef twice(v):\n    return v * SCALE\n\n"
    text = TEXT.replace("@mytriton.jit", helper + "@mytriton.jit").replace("v * SCALE, mask", "twice(v), mask")
    engine = await make_engine(once=True)
    read = await opened(engine, recorder, path, text)
    assert [(k.name, k.helper) for k in read.module.kernels] == [("twice", True), ("scale", False)]
    request = RunRequest(path, text, backend="interp")
    report = (await recorder.wait(m.RunFinished, generation=engine.run(request))).report
    assert (report.ok, report.kernel) == (True, "scale")


async def test_a_backend_that_cannot_run_here(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    from mytriton import backends

    reason = backends.get("cuda").available()
    if reason is None:
        pytest.skip("there is a GPU here")
    engine = await make_engine(once=True)
    strict = engine.run(RunRequest(path, TEXT, fallback=False))
    report = (await recorder.wait(m.RunFinished, generation=strict)).report
    assert (report.ok, report.unavailable, report.message) == (False, True, reason)
    report = (await recorder.wait(m.RunFinished, generation=engine.run(RunRequest(path, TEXT)))).report
    instead = "interp" if backends.get("cpu").available() else "cpu"
    assert (report.ok, report.backend) == (True, instead)
    assert report.note == f"ran on the {instead} backend, not on cuda: {reason}"


@pytest.mark.parametrize(
    ("statement", "cause"),
    [
        ("os.kill(os.getpid(), 11)", "killed by SIGSEGV"),
        ("os._exit(0)", "exited with status 0"),
        ("time.sleep(1000)", "killed after 1.5 s"),
    ],
)
async def test_a_run_that_misbehaves(
    make_engine: MakeEngine, recorder: Recorder, path: str, statement: str, cause: str
) -> None:
    engine = await make_engine(once=True, limits=Limits(run_s=1.5, memory_gb=4.0))
    bad = TEXT.replace("    x = np", f"    import os, time; {statement}\n    x = np")
    await opened(engine, recorder, path, bad)
    report = (await recorder.wait(m.RunFinished, generation=engine.run(RunRequest(path, bad, backend="interp")))).report
    assert (report.ok, report.message) == (False, f"{cause} while running scale, case(n=100), on backend interp")
    assert (outcome(report), report.backend) == ("FAIL", "interp")
    good = engine.run(RunRequest(path, TEXT, backend="interp"))
    assert (await recorder.wait(m.RunFinished, generation=good)).report.ok


@pytest.mark.parametrize(
    ("cause", "advised"),
    [
        ("killed by SIGSEGV while running k, case(n=100), on backend cpu", True),
        ("killed by SIGABRT while running k, case(n=100), on backend cpu", True),
        ("killed by SIGSEGV while running stage 'cpu/emit'", False),
        ("exited with status 0 while running k, case(n=100), on backend cpu", False),
    ],
)
def test_a_crash_of_machine_code_is_explained(cause: str, advised: bool) -> None:
    advice = (
        "; a load or store outside of its array does that: "
        "MYTRITON_CHECK_BOUNDS=1, check_bounds=True of the example, or backend interp says which"
    )
    assert ChildFailure("runner", cause).explained == cause + advice * advised


async def test_a_text_that_is_not_python_is_not_run(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine(once=True)
    bad = TEXT.replace("import numpy", "import (numpy")
    report = (await recorder.wait(m.RunFinished, generation=engine.run(RunRequest(path, bad, backend="interp")))).report
    (finding,) = report.diagnostics
    assert (report.ok, report.message) == (False, "it does not compile")
    assert (finding.code, finding.line, finding.column) == ("MT100", 1, 8)


async def test_a_new_run_ends_the_one_before(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine(once=True)
    hanging = TEXT.replace("    x = np", "    while True: pass\n    x = np")
    engine.run(RunRequest(path, hanging, backend="interp"))
    await recorder.wait(m.StillRunning, child="runner", stage="run")
    good = engine.run(RunRequest(path, TEXT, backend="interp"))
    assert (await recorder.wait(m.RunFinished)).generation == good
    assert not recorder.of(m.ChildFailed)


async def test_what_the_module_prints_is_a_log(make_engine: MakeEngine, recorder: Recorder, path: str) -> None:
    engine = await make_engine(once=True)
    await opened(engine, recorder, path, "import os\nprint('hello')\nos.write(1, b'raw\\n')\n" + TEXT)
    while "raw" not in "".join(e.text for e in recorder.of(m.Log)):
        await recorder.changed()
    assert "".join(e.text for e in recorder.of(m.Log)) == "hello\nraw\n"
