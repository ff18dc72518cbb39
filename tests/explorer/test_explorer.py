"""The explorer as a user meets it, with an engine that says what it is told."""

from __future__ import annotations

from pathlib import Path

from explorer.engine.messages import (
    ChildFailed,
    CompileFinished,
    CompileStarted,
    ModuleRead,
    StageFinished,
    StillRunning,
)
from explorer.engine.requests import ANY
from explorer.model.result import ChildFailure, DiagnosticView, ExampleInfo, KernelInfo, ModuleInfo, StageView
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
    return "".join(segment.text for segment in running.main.panes[pane].body.row_maker()(y)).rstrip()


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
        assert stages[0] == "cuda: 12.0 ms  add_kernel(*fp32:16, *fp32:16, i32)"
        assert any(
            line.split()[0] == "skipped" and "cubin" in line and "nvJitLink is not installed" in line for line in stages
        )


async def test_a_file_opens_on_an_example_that_stands_for_others(tmp_path: Path) -> None:
    """Not on that of one element, whose number of elements is a constant of the code."""
    labels = {"add(n=1)": {"n": 1}, "add(n=1000)": {"n": 1000, "again": True}, "add(n=0)": {"n": 0}}
    examples = tuple(ExampleInfo(label, values=values) for label, values in labels.items())
    async with explorer(tmp_path / "add.py", answered=False) as e:
        assert e.engine.compiled[-1].example == ANY, "the engine knows which, once it has read the file"
        e.engine.read(KernelInfo("add_kernel", 5, examples=examples))
        await e.pilot.pause()
        assert (e.engine.compiled[-1].example, e.main.session.example_label) == (1, "add(n=1000)")
        e.main.select_example("add_kernel", 0)
        assert (e.engine.compiled[-1].example, e.main.session.example_label) == (0, "add(n=1)")
    assert [KernelInfo("k", 1, examples=examples[at:]).opening for at in (0, 1, 2, 3)] == [1, 0, 0, 0]


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
        assert row(e, "source", 10).startswith("11    E "), "the gutter names the line"
        underlined = [s.text for s in e.main.editor.row_maker()(10) if s.style is not None and s.style.underline]
        assert underlined == ["b"], "column 30 of the line"
        assert any(line.split()[0] == "FAILED" and "  tree  " in line for line in e.lines("stages"))
        assert "11:30 expected an expression" in "\n".join(e.lines("stages"))
        assert "1 error" in e.heading("source")
        await e.press("backspace")
        await e.answer()
        assert all("stale" not in e.heading(pane) for pane in ("tree", "ssa", "cuda", "mlir", "asm"))
        assert row(e, "source", 10).startswith("11  ")
        assert not e.main.session.problems


async def test_a_file_that_could_not_be_read_is_no_problem_of_the_text_that_can(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        await e.press("x", "ctrl+s")
        e.engine.emit(ModuleRead(e.engine.generation, ModuleInfo("add.py", diagnostics=(WRONG,))))
        await e.answer(fail="tree", diagnostic=WRONG)
        assert list(e.main.session.problems) == [WRONG]
        await e.press("backspace")
        await e.answer()
        assert not e.main.session.problems
        assert e.main.editor.text == SOURCE


async def test_text_that_cannot_be_read_keeps_every_listing(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (200, 60)) as e:
        await e.press("x")
        generation = e.engine.generation
        for backend in ("cuda", "mlir"):  # as the engine says it: neither the kernel nor its stages are known
            e.engine.emit(CompileStarted(generation, backend, "", ("source",)))
            unread = StageView("source", "source", "python", "failed", diagnostics=(WRONG,))
            e.engine.emit(StageFinished(generation, backend, unread))
            e.engine.emit(CompileFinished(generation, backend, False))
        await e.pilot.pause()
        for pane in ("tree", "ssa", "cuda", "mlir", "asm"):
            assert e.lines(pane)
            assert "stale" in e.heading(pane)
        assert any(line.split()[0] == "FAILED" and "  source  " in line for line in e.lines("stages"))
        assert "add_kernel" in e.line("#header")


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
        assert row(e, "source", 10).startswith("11   2> ")
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
        assert any(
            "CRASHED" in line and "  cuda  " in line and "killed by SIGSEGV" in line for line in e.lines("stages")
        )
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
        await e.press("ctrl+g")
        assert e.engine.cancelled == 2, "also while typing"
        e.engine.under_way = False
        await e.press("ctrl+g")
        assert [n.message for n in e.app._notifications] == ["Nothing is being compiled, run or imported."]
        assert e.main.editor.text == "x" + SOURCE


async def test_key_presses_and_cursor_moves_write_few_bytes(tmp_path: Path) -> None:
    for size in ((80, 24), (160, 50)):
        # A file each: the edits of the first would be offered to the second.
        async with explorer(tmp_path / f"{size[0]}.py", size) as e:
            await e.press(*["down"] * 5)
            before = await settled(e.pilot)
            await e.pilot.press("down")
            assert await settled(e.pilot) - before <= 4096
            before = await settled(e.pilot)
            await e.pilot.press("x")
            e.engine.answer()
            assert await settled(e.pilot) - before <= 8192
            before = await settled(e.pilot)
            await e.pilot.press("escape")
            assert await settled(e.pilot) - before <= 4096
