"""Bundles: what is in one comes back, elsewhere too, and a file that is none does no harm."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from explorer.__main__ import main
from explorer.actions import ACTIONS
from explorer.app import ExplorerApp, of_bundle
from explorer.cli import parse
from explorer.model.measured import BenchView
from explorer.model.past_runs import Entry
from explorer.model.result import DiagnosticView, LineView, ModuleInfo, OutputReport, RunReport, StageView
from explorer.share import bundle
from explorer.share.bundle import NoBundle, read, write
from explorer.share.document import document
from explorer.share.export import exported
from explorer.share.record import Build, Made, Record, Shared, recorded
from explorer.share.replay import ONLY_SHOWN, Replay, restored
from explorer.widgets.code_view import CodeView
from explorer.widgets.status import header
from tests.benchmarks.terminal import Terminal
from tests.explorer.explorer_support import COMMON, SOURCE, STAGES
from tests.explorer.test_cli import refused

#: Values that are none.
ODD = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(allow_nan=False), st.text(max_size=9),
    st.just([]), st.just({}), st.sampled_from(["\x1b[2J", "../..", "nan", 0, -1]),
)  # fmt: skip

ROOT = Path(__file__).parents[2]
#: What is not there on the machine that a bundle is opened on.
ABSENT = (
    "mlir",
    "numpy",
    "ml_dtypes",
    "cupy",
    "torch",
    "cuda",
    "nvidia",
    "xtc",
    "mytriton.backends",
    "mytriton.passes",
)

REPORT = RunReport(
    False,
    "cpu",
    "CPU",
    "add_kernel",
    "n=1000",
    (OutputReport("out", False, float("nan"), 0.5, 3.0, 2, 1000, (7,), "1.0", "3.0"),),
    1e-3,
    "NumPy",
)


def build(backend: str, note: str = "") -> Build:
    stages = STAGES[backend]
    if note:
        last = stages[-1] if stages[-1].lines else stages[-2]
        noted = replace(last, lines=(*last.lines, LineView(note, 11)))
        stages = tuple(noted if stage is last else stage for stage in stages)
    return Build(backend, "add_kernel", "*fp32:16, i32", 4, tuple(s.name for s in stages), stages, 12.0)


def record(note: str = "") -> Record:
    module = ModuleInfo("add.py", (), (), True)
    builds = (build("cuda", note), build("mlir", note))
    runs = (Entry(1, "10:00:00", "cuda", "abcdef0", False, REPORT),)
    return Record(
        "add.py",
        SOURCE,
        kernel="add_kernel",
        module=module,
        builds=builds,
        run=REPORT,
        runs=runs,
        log=("runner: hello",),
    )


def shared(note: str = "", a: Record | None = None) -> Shared:
    return Shared(record(note), a, Made("2026-01-02 03:04 UTC", "3.12.1", "Linux", {"mytriton": "0.1.0"}))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bundle of B, compared with A."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MYTRITON_BACKEND", raising=False)
    file = tmp_path / "add.mtx"
    file.write_bytes(write(shared("in B", replace(record("in A"), label="pinned 10:00"))))
    return file


BENCH = BenchView(3e-3, 1e-3, 2e-3, 4e-3, 5e-3, 100, "CUDA events", 4096, 2048, {"fp32": 1000}, 4, 4, "", 1e12, 1e13)
BENCHED = replace(REPORT, bench=BENCH, ok=True)
GOOD = write(
    Shared(replace(record(), run=BENCHED, runs=(*record().runs, Entry(2, "", "cuda", "", True, BENCHED))), record())
)


def unpacked(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


# The file


def test_what_is_written_is_read(path: Path) -> None:
    found = read(path)
    assert repr(found) == repr(shared("in B", replace(record("in A"), label="pinned 10:00"))), (
        "NaN is not equal to itself"
    )
    data = unpacked(path)
    assert list(data)[:3] == ["format", "version", "listings"]
    assert (data["format"], data["version"]) == ("mytriton-explorer bundle", 1)
    stages = data["b"]["builds"][0]["stages"]
    assert stages[2]["lines"] == stages[3]["lines"], "listings that are equal are there once"
    assert write(found) == path.read_bytes()


def test_all_that_a_run_and_a_bench_measured_comes_back(tmp_path: Path) -> None:
    report = replace(REPORT, bench=BENCH, constexprs={"BLOCK": 256, "DTYPE": {"dtype": "fp32"}})
    (tmp_path / "x.mtx").write_bytes(write(Shared(replace(record(), run=report))))
    assert repr(read(tmp_path / "x.mtx").b.run) == repr(report)


def test_a_session_comes_back(path: Path) -> None:
    again = recorded(restored(read(path).b))
    assert repr(again) == repr(read(path).b)


def damaged(path: Path, change: Any) -> str:
    """What is said of the bundle after a change of its JSON."""
    data = unpacked(path)
    change(data)
    path.write_bytes(gzip.compress(json.dumps(data).encode()))
    with pytest.raises(NoBundle) as error:
        read(path)
    return str(error.value).removeprefix(f"{path} ")


def test_damaged_bundles(path: Path) -> None:
    good = path.read_bytes()

    def said(change: Any) -> str:
        path.write_bytes(good)
        return damaged(path, change)

    stage = ("b", "builds", 0, "stages", 2)

    def put(*where: Any) -> Any:
        *keys, last, value = where

        def change(data: Any) -> None:
            for key in keys:
                data = data[key]
            data[last] = value

        return change

    newer = "has version 2 of the format, and this program reads 1; install a newer mytriton"
    assert said(put("version", 2)) == newer
    assert said(put("version", "1")) == "is damaged: it does not say which version it has"
    assert said(put("format", "x")) == "is no bundle of mytriton-explore, but some other JSON in gzip"
    assert said(put("b", None)) == "is damaged: Shared.b: null where there should be a Record"
    assert said(put("b", "text", 5)) == "is damaged: Shared.b: Record.text: a number where there should be text"
    assert said(lambda data: data["b"].pop("path")) == "is damaged: Shared.b: a Record without path"
    assert said(put("b", "builds", {})) == "is damaged: Shared.b: Record.builds: an object where there should be a list"
    assert said(put(*stage, "lines", 99)) == "is damaged: a stage has the listing 99, and there are 9"
    assert said(put(*stage, "lines", [])).startswith("is damaged: a stage has the listing [], and there are ")
    assert said(put(*stage, "status", "x")).endswith(
        "StageView.status: 'x' where there should be one of ok, no change, failed, crashed, skipped, cached"
    )
    assert said(put(*stage, "ms", True)).endswith("StageView.ms: a truth value where there should be a number")
    assert said(put(*stage, "name", "evil")) == "is damaged: stage 'evil' is not one of those of backend cuda"
    assert said(put("b", "builds", 0, "backend", "rm -rf")) == "is damaged: there is no backend 'rm -rf'"
    assert said(put("listings", 0, 0, "line", 10**9)) == (
        "is damaged: stage tree has a line that came from none of the 12 of the source"
    )
    assert said(put("listings", 0, 0, "end_line", 10**9)).startswith("is damaged: stage tree has a line that came from")
    assert said(put("b", "example", -1)) == "is damaged: its file is 'add.py' and its example number -1"
    assert said(put("b", "path", "/")) == "is damaged: its file is '/' and its example number 0"
    assert said(put("b", "run", "outputs", 0, "size", 0)).startswith("is damaged: its numbers make no sense (")
    assert said(put("listings", 0, 0, "line", 1.5)).endswith(
        "LineView.line: a number where there should be a whole number"
    )


def test_files_that_are_no_bundles(path: Path) -> None:
    def said(data: bytes) -> str:
        path.write_bytes(data)
        with pytest.raises(NoBundle) as error:
            read(path)
        return str(error.value).removeprefix(f"{path} ")

    good = path.read_bytes()
    assert said(b"") == "is no bundle of mytriton-explore, which begin with a gzip header"
    assert said(b"\x1f\x8b\x08nonsense").startswith("is damaged: it does not unpack (")
    assert said(good[:200]).startswith("is damaged: it does not unpack (")
    assert said(good[:400] + b"\0" + good[401:]).startswith("is damaged: it does not unpack (")
    assert said(gzip.compress(b"[1")).startswith("is damaged, or no bundle of mytriton-explore: Expecting")
    assert said(gzip.compress(b"[" * 100_000)).startswith("is damaged, or no bundle of mytriton-explore: ")
    assert said(gzip.compress(b"NaN")).startswith("is damaged, or no bundle of mytriton-explore: NaN is no JSON")
    assert said(gzip.compress(b"\xff")).startswith("is damaged, or no bundle")
    deep = json.dumps({"format": bundle.FORMAT, "version": 1, "listings": []})[:-1] + ',"b":' + '{"defines":{"x":' * 400
    assert said(gzip.compress((deep + "0" + "}}" * 400 + "}").encode())).startswith("is damaged: ")
    path.unlink()
    with pytest.raises(NoBundle, match=r"cannot be read \(No such file or directory\)"):
        read(path)


def test_a_bomb_is_not_unpacked(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundle, "LARGEST_UNPACKED", 1_000_000)
    path.write_bytes(gzip.compress(b" " * 50_000_000))
    assert path.stat().st_size < 60_000
    with pytest.raises(NoBundle, match="unpacks to more than a bundle may hold"):
        read(path)
    monkeypatch.setattr(bundle, "LARGEST", 1000)
    with pytest.raises(NoBundle, match="is larger than a bundle may be"):
        read(path)


def test_text_of_a_bundle_cannot_steer_a_terminal(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = unpacked(path)
    data["listings"][1][0]["text"] = "\x1b]52;c;ZXZpbA==\x07 \x9b2J\ttab"
    path.write_bytes(gzip.compress(json.dumps(data).encode()))
    assert main([str(path), "--print", "ssa"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == "\ufffd]52;c;ZXZpbA==\ufffd \ufffd2J\ttab"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_changed_it_is_refused_or_can_be_shown(path: Path, data: st.DataObject) -> None:
    changed = json.loads(gzip.decompress(GOOD))
    for _ in range(data.draw(st.integers(1, 3))):
        at, key, places = changed, "", [changed]
        while places:
            keys = list(at) if isinstance(at, dict) else list(range(len(at)))
            if not keys:
                break
            key = data.draw(st.sampled_from(keys))
            if not isinstance(at[key], (dict, list)) or data.draw(st.integers(0, 9)) == 0:
                at[key] = data.draw(ODD)
                break
            at = at[key]
    path.write_bytes(gzip.compress(json.dumps(changed).encode()))
    try:
        found = read(path)
    except NoBundle:
        return
    session = restored(found.b)
    session.pinned = restored(found.a) if found.a is not None else None
    for suffix in (".html", ".md", ".mtx"):
        assert exported(session, suffix, True, found.made)
    json.dumps(document(session, made=found.made), allow_nan=False)
    header(session, False, ())


def test_fields_of_newer_explorers_are_left_out(path: Path) -> None:
    data = unpacked(path)
    data["b"]["weather"] = data["b"]["builds"][0]["stages"][0]["mood"] = {"x": [1]}
    path.write_bytes(gzip.compress(json.dumps(data).encode()))
    assert read(path).b.text == SOURCE


# The command line


def test_the_command_line_on_a_bundle(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["add.mtx", "--stages"]) == 0
    rows = [row.split()[:2] for row in capsys.readouterr().out.splitlines()]
    assert rows == [[s.name, s.status if s.status != "no change" else "no"] for s in STAGES["cuda"]]
    assert main(["add.mtx", "--print", "ptx", "--backend", "mlir"]) == 0
    assert capsys.readouterr().out == "\tmov.u32 %r1, %ctaid.x;\nin B\n"
    assert main(["add.mtx", "--print", "ptx", "--compare", "add.mtx"]) == 0
    assert capsys.readouterr().err == "# A and B are the same\n"
    assert main(["add.mtx", "--json", "--show", "problems,run,history,log,comparison"]) == 1, "the run failed"
    found = json.loads(capsys.readouterr().out)
    assert (found["file"], found["versions"], found["python"]) == ("add.py", {"mytriton": "0.1.0"}, "3.12.1")
    assert (found["run"]["verdict"], found["run"]["outputs"][0]["max_abs"]) == ("FAIL", "nan")
    assert found["comparison"]["a"]["label"] == "pinned 10:00"
    assert [entry["time"] for entry in found["history"]] == ["10:00:00"]
    assert found["log"] == ["runner: hello"]
    assert main(["add.mtx", "--check"]) == 1
    assert capsys.readouterr().out.startswith(
        "FAIL  add_kernel  n=1000  cpu (CPU)  out: max abs nan, rel 0.5, 3 ulp, 2/1000"
    )
    assert main(["add.mtx", "--print", "ptx", "--compare", "pinned"]) == 0
    assert capsys.readouterr().out == "  \tld.global.f32 %f1, [%rd1];\n- in A\n+ in B\n"
    assert main(["add.mtx", "--compare", "mlir"]) == 0
    assert capsys.readouterr().out.startswith("A  mlir sm_90 4 warps  add_kernel(*fp32:16, i32)\n   backend mlir\n")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--chip", "sm_80"], "add.mtx is a bundle, which shows what was compiled; --chip takes the source"),
        (["-D", "B=1", "--stages"], "add.mtx is a bundle, which shows what was compiled; -D takes the source"),
        (
            ["--backend", "cpu"],
            "there is no build of backend 'cpu' in add.mtx; did you mean 'cuda'? there are cuda, mlir",
        ),
        (["--compare", "sm_80"], f"--compare sm_80: {ONLY_SHOWN}"),
        (
            ["--compare", "cpu"],
            "there is no build of backend 'cpu' in add.mtx; did you mean 'cuda'? there are cuda, mlir",
        ),
        (["--print", "asm"], "there is no stage 'asm' on backend cuda; give --backend cpu"),
    ],
)
def test_what_a_bundle_lacks(path: Path, capsys: pytest.CaptureFixture[str], argv: list[str], message: str) -> None:
    assert refused(capsys, "add.mtx", *argv) == f"mytriton-explore: {message}\n"


def test_a_file_that_is_none_on_the_command_line(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.mtx").write_text("print(1)")
    message = "mytriton-explore: x.mtx is no bundle of mytriton-explore, which begin with a gzip header\n"
    assert refused(capsys, "x.mtx", "--stages") == message
    Path("gz.py").write_bytes(path.read_bytes())
    assert main(["gz.py", "--print", "ssa"]) == 0, "whatever it is called"


def test_a_real_one_made_and_opened_where_nothing_is_installed(
    path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    kernel = f"{ROOT}/examples/kernels/add.py"
    assert main([kernel, "--bundle", "real.mtx", "--example", "1"]) == 0
    size = Path("real.mtx").stat().st_size
    assert capsys.readouterr().err.endswith(f"{size:,} bytes to real.mtx\n")
    b = read("real.mtx").b
    assert [made.backend for made in b.builds] == ["cuda", "mlir", "cpu", "interp"]
    assert b.run is not None and b.run.ok and b.run.example == "add(n=1000)"
    code = (
        "import sys, importlib.abc\n"
        "class Block(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if any(name == a or name.startswith(a + '.') for a in {ABSENT!r}):\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Block())\n"
        "from explorer.__main__ import main\n"
        "sys.exit(main(sys.argv[1:]))\n"
    )
    env = {"PYTHONPATH": str(ROOT), "PATH": os.environ["PATH"]}
    for argv, expected in (
        (["--print", "ssa"], "%0 = program_id {axis=0} : i32"),
        (["--print", "asm", "--backend", "cpu"], "add_kernel"),
        (["--check"], "PASS  add_kernel  add(n=1000)"),
        (["--json", "--show", "resources"], '"registers"'),
    ):
        command = [sys.executable, "-c", code, "real.mtx", *argv]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        assert expected in done.stdout
    state = {**env, "XDG_STATE_HOME": str(tmp_path / "state")}
    with Terminal([sys.executable, "-c", code, "real.mtx"], 160, 50, state) as terminal:
        terminal.wait_for("real.mtx, read-only > add_kernel  add\\(n=1000\\)")
        terminal.wait_for("PASS  add_kernel")
        terminal.wait_for("gpu.module @kernels")
        terminal.send("b")
        terminal.wait_for("backend mlir")
        terminal.send("b")
        terminal.wait_for("cpu/emit")
        terminal.settle()
        terminal.send("?")
        terminal.wait_for("This pane: source")


# The screen


def opened(path: Path) -> ExplorerApp:
    options = parse([str(path)])
    assert options.bundle is not None
    return of_bundle(options.settings(), options.bundle, options.bundle_path)


def lines(app: ExplorerApp, pane: str) -> list[str]:
    return [line.text for line in app.main.panes[pane].listing.lines]


async def test_the_whole_screen(path: Path) -> None:
    app = opened(path)
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert app.main.editor.text == SOURCE
        assert lines(app, "ssa") == [line.text for line in COMMON[2].lines]
        assert lines(app, "asm") == ["\tld.global.f32 %f1, [%rd1];", "in B"]
        assert lines(app, "run")[0].startswith("FAIL  add_kernel  n=1000")
        await pilot.press("6", "j")
        ssa = app.main.panes["ssa"].body
        assert isinstance(ssa, CodeView)
        assert ssa._linked == {7, 8}, "line 11, which the cursor is at"
        await pilot.press("d", "d", "d")
        await pilot.pause()
        assert "A against B" in app.main.panes["asm"].heading.text
        assert lines(app, "asm")[1:] == ["in A", "in B"]
        await pilot.press("b")
        await pilot.pause()
        assert app.main.session.backend == "mlir"
        assert lines(app, "mlir") == ["%0 = gpu.block_id x"]
        await pilot.press("b")
        await pilot.pause()
        assert "the bundle has no build of backend cpu; it has cuda, mlir" in "\n".join(lines(app, "stages"))


async def test_nothing_is_edited_and_it_says_why(path: Path) -> None:
    said: list[tuple[str, str]] = []
    app = opened(path)
    async with app.run_test(size=(120, 40)) as pilot:
        app.notify = lambda message, title="", **_: said.append((title, message))  # type: ignore[method-assign]
        await pilot.pause()
        why = ("add.mtx is read-only", f"A{ONLY_SHOWN[1:]} (s).")
        for key in ("backspace", "enter", "delete", "X", "e", "a", "ctrl+underscore"):
            said.clear()
            await pilot.press(key)
            await pilot.pause()
            assert said == [why], key
        said.clear()
        await pilot.press("2")
        assert app.main.focused_pane.name == "tree", "letters and digits act, as nothing is typed"
        await pilot.press("R")
        await pilot.pause()
        assert said == [("No reproducer", ONLY_SHOWN)]
        assert app.main.editor.text == SOURCE
        await pilot.press("q")
    assert app.return_code == 0


async def test_listings_of_an_earlier_build_stay_stale(path: Path) -> None:
    bad = replace(
        STAGES["cuda"][1], status="failed", lines=(), diagnostics=(DiagnosticView("MT1", "error", "no", line=5),)
    )
    broken = replace(build("cuda"), stages=(STAGES["cuda"][0], bad), good=STAGES["cuda"][1:-1])
    path.write_bytes(write(Shared(replace(record(), text="def f(:", builds=(broken,)))))
    session = restored(read(path).b)
    assert repr(recorded(session).builds) == repr((broken,))
    assert session.result.failed == bad
    app = opened(path)
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert lines(app, "ssa") == [line.text for line in COMMON[2].lines]
        assert app.main.panes["ssa"].listing.stale


async def test_no_command_changes_it(path: Path) -> None:
    app = opened(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        settings = app.main.session.settings
        for action in ACTIONS:
            if action.name.startswith(("quit", "pane(", "resize(")):
                continue
            app.main.editor.focus()
            await app.main.run_action(action.name)
            await pilot.pause()
            while app.screen is not app.main:
                await pilot.press("escape")
            assert app.main.editor.text == app.main.session.text == SOURCE, action.name
            assert (app.main.session.settings, app.main.file.path) == (settings, path), action.name
            assert isinstance(app.main.engine, Replay)
        app.main.select_target(chip="sm_80")  # from the palette
        app.main.select_example("another_kernel", 1)
        assert (app.main.session.settings, app.main.session.kernel) == (settings, "add_kernel")


async def test_saving_writes_the_source_only(path: Path, tmp_path: Path) -> None:
    app = opened(path)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.press("s")
        await pilot.pause()
        assert app.screen.query_one("Input").value == "add.py"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        assert (tmp_path / "add.py").read_text() == SOURCE
        assert app.main.file.path == path


async def test_comparing_with_another_bundle(path: Path, tmp_path: Path) -> None:
    (tmp_path / "old.mtx").write_bytes(write(shared("in the old one")))
    app = opened(path)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.press("m", "a")
        await pilot.pause()
        options = app.screen.query_one("OptionList")
        labels = [str(options.get_option_at_index(i).prompt) for i in range(options.option_count)]  # type: ignore[attr-defined]
        assert labels == ["1 this build as it is now", "2 backend mlir", "3 a bundle ..."]
        await pilot.press("3")
        await pilot.pause()
        await pilot.press(*["delete"] * 10, *["backspace"] * 10, *"old.mtx", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        pinned = app.main.session.pinned
        assert pinned is not None
        assert pinned.label == "old.mtx"
        await pilot.press("6", "d", "d", "d")
        await pilot.pause()
        assert lines(app, "asm")[1:] == ["in the old one", "in B"]


async def test_a_bundle_of_what_failed(path: Path) -> None:
    finding = DiagnosticView(
        "MT1", "error", "no such thing", "add.py", 11, 5, rendered="add.py:11:5: error: no such thing"
    )
    bad = replace(STAGES["cuda"][6], status="failed", lines=(), diagnostics=(finding,))
    stages = (*STAGES["cuda"][:6], bad)
    broken = replace(build("cuda"), stages=stages)
    path.write_bytes(write(Shared(replace(record(), builds=(broken,), run=None, runs=()))))
    app = opened(path)
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert lines(app, "problems") == ["add.py:11:5: error: no such thing"]
        assert lines(app, "cuda") == [line.text for line in COMMON[2].lines], "what it was given"
        await pilot.press("r")
        await pilot.pause()
        assert app.main.session.report is None


def test_stage_view_has_no_field_that_a_bundle_loses() -> None:
    assert bundle.decoder(StageView)({"name": "a", "kind": "b", "language": "c"}) == StageView("a", "b", "c")
