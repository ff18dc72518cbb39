"""Bundles on the command line and on the screen, also where nothing of ours is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.actions import ACTIONS
from explorer.app import ExplorerApp
from explorer.model.result import DiagnosticView, StageView
from explorer.share import bundle
from explorer.share.bundle import read, write
from explorer.share.record import Shared, recorded
from explorer.share.replay import ONLY_SHOWN, Replay, restored
from explorer.widgets.code_view import CodeView
from tests.benchmarks.terminal import Terminal
from tests.explorer.bundles import build, opened, record, shared
from tests.explorer.command_line import refused
from tests.explorer.explorer_support import COMMON, SOURCE, STAGES

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


# The command line


def test_the_command_line_on_a_bundle(bundle_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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
def test_what_a_bundle_lacks(
    bundle_path: Path, capsys: pytest.CaptureFixture[str], argv: list[str], message: str
) -> None:
    assert refused(capsys, "add.mtx", *argv) == f"mytriton-explore: {message}\n"


def test_a_file_that_is_none_on_the_command_line(bundle_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("x.mtx").write_text("print(1)")
    message = "mytriton-explore: x.mtx is no bundle of mytriton-explore, which begin with a gzip header\n"
    assert refused(capsys, "x.mtx", "--stages") == message
    Path("gz.py").write_bytes(bundle_path.read_bytes())
    assert main(["gz.py", "--print", "ssa"]) == 0, "whatever it is called"


def test_a_real_one_made_and_opened_where_nothing_is_installed(
    bundle_path: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
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


def lines(app: ExplorerApp, pane: str) -> list[str]:
    return [line.text for line in app.main.panes[pane].listing.lines]


async def test_the_whole_screen(bundle_path: Path) -> None:
    app = opened(bundle_path)
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


async def test_nothing_is_edited_and_it_says_why(bundle_path: Path) -> None:
    said: list[tuple[str, str]] = []
    app = opened(bundle_path)
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


async def test_listings_of_an_earlier_build_stay_stale(bundle_path: Path) -> None:
    bad = replace(
        STAGES["cuda"][1], status="failed", lines=(), diagnostics=(DiagnosticView("MT1", "error", "no", line=5),)
    )
    broken = replace(build("cuda"), stages=(STAGES["cuda"][0], bad), good=STAGES["cuda"][1:-1])
    bundle_path.write_bytes(write(Shared(replace(record(), text="def f(:", builds=(broken,)))))
    session = restored(read(bundle_path).b)
    assert repr(recorded(session).builds) == repr((broken,))
    assert session.result.failed == bad
    app = opened(bundle_path)
    async with app.run_test(size=(200, 60)) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert lines(app, "ssa") == [line.text for line in COMMON[2].lines]
        assert app.main.panes["ssa"].listing.stale


async def test_no_command_changes_it(bundle_path: Path) -> None:
    app = opened(bundle_path)
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
            assert (app.main.session.settings, app.main.file.path) == (settings, bundle_path), action.name
            assert isinstance(app.main.engine, Replay)
        app.main.select_target(chip="sm_80")  # from the palette
        app.main.select_example("another_kernel", 1)
        assert (app.main.session.settings, app.main.session.kernel) == (settings, "add_kernel")


async def test_saving_writes_the_source_only(bundle_path: Path, tmp_path: Path) -> None:
    app = opened(bundle_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.press("s")
        await pilot.pause()
        assert app.screen.query_one("Input").value == "add.py"  # type: ignore[attr-defined]
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        assert (tmp_path / "add.py").read_text() == SOURCE
        assert app.main.file.path == bundle_path


async def test_comparing_with_another_bundle(bundle_path: Path, tmp_path: Path) -> None:
    (tmp_path / "old.mtx").write_bytes(write(shared("in the old one")))
    app = opened(bundle_path)
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


async def test_a_bundle_of_what_failed(bundle_path: Path) -> None:
    finding = DiagnosticView(
        "MT1", "error", "no such thing", "add.py", 11, 5, rendered="add.py:11:5: error: no such thing"
    )
    bad = replace(STAGES["cuda"][6], status="failed", lines=(), diagnostics=(finding,))
    stages = (*STAGES["cuda"][:6], bad)
    broken = replace(build("cuda"), stages=stages)
    bundle_path.write_bytes(write(Shared(replace(record(), builds=(broken,), run=None, runs=()))))
    app = opened(bundle_path)
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
