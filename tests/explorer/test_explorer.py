"""The explorer as a user meets it, with an engine that says what it is told."""

from __future__ import annotations

from pathlib import Path

from explorer.engine.messages import ChildFailed, CompileStarted, Log, RunFinished, StageFinished, StillRunning
from explorer.model.result import ChildFailure, DiagnosticView, KernelInfo, OutputReport, RunReport, StageView
from tests.explorer.explorer_support import SOURCE, Explorer, explorer, settled

WRONG = DiagnosticView(
    "MT101",
    "error",
    "expected an expression",
    "add.py",
    11,
    30,
    11,
    31,
    "give + an operand",
    "tree",
    "add.py:11:30: ...",
)


def row(running: Explorer, pane: str, y: int) -> str:
    return "".join(segment.text for segment in running.main.panes[pane].body.make_row(y)).rstrip()


async def test_opening_compiles_and_fills_every_pane(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (200, 60)) as e:
        assert e.engine.opened == [SOURCE]
        assert e.engine.compiled[-1].backends == ("cuda", "mlir")
        assert e.lines("tree") == ["Assign pid", "Store out + offs"]
        assert e.lines("ssa")[0] == "%0 = program_id {axis=0} : i32"
        assert e.heading("ssa").startswith(" 3 SSA > opt/dce")
        assert e.lines("cuda")[1] == "out[i] = a + b;"
        assert e.lines("mlir") == ["%0 = gpu.block_id x"]
        assert e.heading("asm").startswith(" 6 PTX / SASS > ptx")
        assert e.line("#header").startswith(" add.py > add_kernel  n=1000")
        stages = e.lines("stages")
        assert stages[0] == "  cuda: add_kernel(*fp32:16, *fp32:16, i32)  12.0 ms".strip()
        assert any(line.startswith("  skipped   cubin") and "nvJitLink is not installed" in line for line in stages)


async def test_typing_compiles_the_text_and_updates_panes(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        before = len(e.engine.compiled)
        await e.press("x")
        assert len(e.engine.compiled) == before + 1, "the first edit does not wait"
        assert e.engine.compiled[-1].text == "x" + SOURCE
        await e.answer(note="%99 = new")
        assert e.lines("ssa")[-1] == "%99 = new"
        assert "[edited]" in e.line("#header")


async def test_edits_during_a_compilation_are_gathered(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        before = len(e.engine.compiled)
        await e.press("x")
        e.main.editor.insert("y")
        e.main.editor.insert("z")
        await e.pilot.pause()
        await e.answer()  # the one under way is done: what was gathered follows at once
        assert e.engine.compiled[-1].text == "xyz" + SOURCE
        assert len(e.engine.compiled) <= before + 3


async def test_results_of_a_superseded_compilation_are_dropped(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        old = e.engine.generation
        await e.press("x")
        late = StageView("cuda", "text", "cuda", lines=())
        e.engine.emit(StageFinished(old - 1, "cuda", late))
        e.engine.emit(CompileStarted(old - 1, "cuda", "add_kernel", ("cuda",)))
        await e.pilot.pause()
        assert e.lines("cuda") == ["float4 a = x[i];", "out[i] = a + b;"]


async def test_a_failure_stands_at_its_place_and_keeps_the_last_good_panes(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (200, 60)) as e:
        await e.press("x")
        await e.answer(fail="tree", diagnostic=WRONG)
        assert e.lines("cuda") == ["float4 a = x[i];", "out[i] = a + b;"]
        for pane in ("tree", "ssa", "cuda", "mlir", "asm"):
            assert "stale" in e.heading(pane), pane
            assert e.main.panes[pane].body.stale  # type: ignore[union-attr]
        assert list(e.main.session.problems) == [WRONG]
        assert row(e, "source", 10).startswith("11 E"), "the gutter names the line"
        underlined = [s.text for s in e.main.editor.make_row(10) if s.style is not None and s.style.underline]
        assert underlined == ["b"], "column 30 of the line"
        assert "  FAILED    tree" in "\n".join(e.lines("stages"))
        assert "11:30 expected an expression" in "\n".join(e.lines("stages"))
        assert "1 error" in e.heading("source")
        await e.press("backspace")
        await e.answer()
        assert all("stale" not in e.heading(pane) for pane in ("tree", "ssa", "cuda", "mlir", "asm"))
        assert row(e, "source", 10).startswith("11  ")
        assert not e.main.session.problems


async def test_the_strip_of_a_small_screen_names_the_failure(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        assert e.line("#strip").startswith(" ok tree ssa  = fold  ok dce layout cuda ptx  skipped cubin")
        await e.press("x")
        await e.answer(fail="tree", diagnostic=WRONG)
        assert e.line("#strip").startswith(" FAILED tree: 11:30 expected an expression")
        assert e.main.workspace.visible_panes == ("source", "ssa")


async def test_following_a_line_through_the_panes(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (200, 60)) as e:
        await e.press(*["down"] * 6)
        assert [row(e, "ssa", y)[0] for y in range(9)] == [" ", ">", ">", ">", " ", " ", " ", " ", " "]
        await e.press(*["down"] * 2)
        assert row(e, "cuda", 0).startswith(">")
        await e.press("escape")
        assert e.main.focused_pane.name == "ssa"
        await e.press("G")
        assert row(e, "source", 10).startswith("11 >")
        assert row(e, "cuda", 1).startswith(">")
        assert row(e, "tree", 1).startswith(">")
        await e.press("enter")
        assert e.main.editor.has_focus
        assert e.main.editor.cursor_location[0] == 10


async def test_letters_type_in_the_editor_and_act_in_panes(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("b", "r", "q", "1")
        assert e.main.editor.text.startswith("brq1import")
        assert e.engine.runs == []
        await e.press("escape", "b")
        assert e.engine.compiled[-1].backends[0] == "mlir"
        assert "backend mlir" in e.line("#header")
        await e.press("f2")
        assert e.engine.compiled[-1].backends[0] == "cpu"
        await e.press("1", "f2")
        assert e.engine.compiled[-1].backends[0] == "interp"
        assert e.main.editor.text.startswith("brq1import")


async def test_panes_by_number_tab_and_zoom(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape", "5")
        assert e.main.workspace.visible_panes == ("source", "mlir")
        assert "mlir" in e.engine.compiled[-1].backends
        await e.press("tab")
        assert e.main.focused_pane.name == "source"
        await e.press("tab", "z")
        assert list(e.main.workspace.visible_panes) == ["mlir"]
        await e.press("escape")
        assert e.main.workspace.visible_panes == ("source", "mlir")
        await e.press("7")
        assert e.main.focused_pane.name == "stages"
        await e.press("f3")
        await e.press("4")
        assert e.main.focused_pane.name == "cuda"


async def test_choosing_stages_and_opening_one_from_the_list(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (200, 60)) as e:
        await e.press("escape", "5", "]")
        assert "mlir/convert-gpu-to-nvvm" in e.heading("mlir")
        await e.press("]")
        assert "mlir/convert-gpu-to-nvvm" in e.heading("mlir"), "not past the end"
        await e.press("[")
        assert "mlir/emit" in e.heading("mlir")
        await e.press("7", "g", "j", "j", "j", "enter")
        assert e.main.focused_pane.name == "ssa"
        assert "SSA > ssa" in e.heading("ssa")
        await e.press("1", "f7")
        assert "SSA > opt/fold" in e.heading("ssa"), "the function keys mean the listing that was last"


async def test_slow_stages_are_asked_for_when_looked_at(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (200, 60)) as e:
        assert not e.engine.compiled[-1].wanted
        await e.press("escape", "6", "]")
        assert e.engine.compiled[-1].wanted == ("cubin",)
        await e.answer()
        assert e.lines("asm") == ["skipped", "nvJitLink is not installed"]


async def test_running_says_where_and_how_it_went(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape", "r")
        assert e.engine.runs[-1].backend == "cuda"
        assert e.line("#run") == " run: running ..."
        good = OutputReport("out", True, 0.0, 0.0, 0.0, 0, 1000)
        report = RunReport(
            True, "cpu", "x86-64", "add_kernel", "n=1000", (good,), 1.25e-3, "numpy", "no GPU here: ran on cpu"
        )
        e.engine.emit(RunFinished(e.engine.generation, report))
        await e.pilot.pause()
        assert e.line("#run") == " run: PASS on cpu, not cuda  1.25 ms  0 of 1000 differ  max abs 0  rel 0  ulp 0"
        bad = OutputReport("out", False, 2.0, 0.5, 1e6, 3, 1000, (7,), "1.0", "3.0")
        e.engine.emit(RunFinished(e.engine.generation, RunReport(False, "cpu", outputs=(bad,), seconds=2.0)))
        await e.pilot.pause()
        assert e.line("#run").startswith(" run: FAIL on cpu  2.00 s  3 of 1000 differ  max abs 2  rel 0.5")
        await e.press("9")
        assert "out: 3 of 1000 differ  max abs 2  rel 0.5  ulp 1e+06  first at [7]: 1.0, expected 3.0" in e.lines("run")
        await e.press("1", "x")
        assert e.line("#run").startswith(" run: stale: FAIL")


async def test_a_kernel_without_an_example_says_what_to_do(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        e.engine.read(KernelInfo("add_kernel", 5))
        await e.press("f8")
        assert e.engine.runs == []
        assert "no example" in e.main.panes["run"].listing.lines[0].text


async def test_choosing_kernel_and_example(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("f4", "2")
        assert (e.engine.compiled[-1].kernel, e.engine.compiled[-1].example) == ("add_kernel", 1)
        assert "n=4096" in e.line("#header")


async def test_a_dead_child_costs_one_red_stage(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (200, 60)) as e:
        await e.press("x")
        generation = e.engine.generation
        e.engine.emit(CompileStarted(generation, "cuda", "add_kernel", ("source", "tree", "cuda")))
        dead = StageView("cuda", "text", "cuda", "crashed", reason="killed by SIGSEGV")
        e.engine.emit(StageFinished(generation, "cuda", dead))
        failure = ChildFailure(
            "compiler", "killed by SIGSEGV while running stage 'cuda'", "cuda", generation, ("boom",)
        )
        e.engine.emit(ChildFailed(generation, failure))
        await e.pilot.pause()
        assert any("CRASHED   cuda" in line and "killed by SIGSEGV" in line for line in e.lines("stages"))
        assert "stale" in e.heading("cuda")
        assert list(e.main.session.log)[-1] == "compiler: boom"
        await e.press("y")
        await e.answer()
        assert "stale" not in e.heading("cuda")


async def test_slow_work_is_named_and_can_be_cancelled(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("x")
        e.engine.emit(StillRunning(e.engine.generation, "compiler", "ptx", 1.5))
        await e.pilot.pause()
        assert "compiler: ptx 2 s" in e.line("#header")
        await e.main.run_action("cancel")
        assert e.engine.cancelled == 1


async def test_finding_text(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape", "slash", "l", "o", "a", "d")
        assert e.line(".count") == "2 lines "
        await e.press("enter")
        view = e.main.panes["ssa"].body
        assert view.has_focus
        rows = [view.cursor]  # type: ignore[union-attr]
        for key in ("n", "n", "N"):
            await e.press(key)
            rows.append(view.cursor)  # type: ignore[union-attr]
        assert rows == [5, 6, 5, 6]


async def test_copying_goes_through_the_terminal_and_says_how_much(tmp_path: Path) -> None:
    messages: list[str] = []
    async with explorer(tmp_path / "add.py") as e:
        e.app.notify = lambda message, **_: messages.append(message)  # type: ignore[method-assign]
        await e.press("escape", "y")
        assert e.app.clipboard == "%0 = program_id {axis=0} : i32"
        await e.press("Y")
        assert e.app.clipboard.count("\n") == 8
        assert messages[0].startswith("30 bytes sent")


async def test_writing_a_listing_asks_before_it_overwrites(tmp_path: Path) -> None:
    target = tmp_path / "out.ssa"
    target.write_text("precious")
    async with explorer(tmp_path / "add.py") as e:
        await e.press("escape", "w")
        e.app.screen.query_one("Input").value = str(target)  # type: ignore[attr-defined]
        await e.press("enter")
        await e.press("n")
        assert target.read_text() == "precious"
        await e.press("w")
        e.app.screen.query_one("Input").value = str(target)  # type: ignore[attr-defined]
        await e.press("enter")
        await e.press("o")
        assert target.read_text().startswith("%0 = program_id")


async def test_help_and_information(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        e.engine.emit(Log("runner", "hello\n"))
        await e.press("f1")
        lines = e.app.screen.query_one("CodeView").lines  # type: ignore[attr-defined]
        assert lines[0] == "This pane: source"
        assert any("F8" in line and "Run the example" in line for line in lines)
        await e.press("escape")
        assert e.main.editor.has_focus
        await e.press("f12")
        lines = e.app.screen.query_one("CodeView").lines  # type: ignore[attr-defined]
        assert "  cuda cubin: skipped: nvJitLink is not installed" in lines
        assert "  runner: hello" in lines
        assert any(line.split()[:1] == ["textual"] for line in lines)


async def test_enter_indents_and_backspace_takes_a_step_back(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("def f():")
    async with explorer(path) as e:
        await e.press("end", "enter", "x", "enter", "backspace", "y")
        assert e.main.editor.text == "def f():\n    x\ny"


async def test_key_presses_and_cursor_moves_write_few_bytes(tmp_path: Path) -> None:
    for size in ((80, 24), (160, 50)):
        async with explorer(tmp_path / "add.py", size) as e:
            await e.press(*["down"] * 5)
            before = await settled(e.pilot)
            await e.pilot.press("down")
            assert await settled(e.pilot) - before <= 4096
            before = await settled(e.pilot)
            await e.pilot.press("x")
            e.engine.answer(note="")
            assert await settled(e.pilot) - before <= 8192
