"""The passes of a module or a kernel, edited in a list; MLIR files on the screen."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import OptionList

from explorer.engine import messages as m
from explorer.model.backend_result import Result
from explorer.model.pass_list import Entry, PassList, closed, place_of, stages_of, suggestions
from explorer.model.result import (
    ExampleInfo,
    KernelInfo,
    LineView,
    ModuleInfo,
    OperationView,
    OptionView,
    ParamView,
    PassView,
    StageView,
)
from explorer.model.stages import delta
from explorer.screens.form import FormScreen
from explorer.screens.pass_search import PassSearch
from explorer.screens.passes import PassesScreen, pass_rows
from tests.explorer.explorer_support import Explorer, explorer
from tests.lab.modules import SAXPY, SCHEDULE

KNOWN = (
    PassView("canonicalize", "Canonicalize operations", (OptionView("max-iterations", "<long>"),)),
    PassView("convert-scf-to-cf", "Convert SCF dialect to ControlFlow dialect"),
    PassView("cse", "Eliminate common sub-expressions"),
    PassView("inline", "Inline function calls"),
    PassView("affine-loop-unroll", "Unroll affine loops", on="function"),
    PassView("convert-gpu-to-nvvm", "Generate NVVM operations for gpu operations", on="gpu.module"),
)


def test_passes_are_edited_with_undo() -> None:
    passes = PassList.of(("a", "b", "c"), ())
    passes.row = 1
    passes.toggle()
    assert passes.active == ("a", "c")
    passes.move(1)
    passes.insert(["d", "e"])
    assert [(e.text, e.on) for e in passes.entries] == [
        ("a", True),
        ("c", True),
        ("b", False),
        ("d", True),
        ("e", True),
    ]
    assert passes.row == 4
    passes.write(["f"])
    passes.remove()
    assert passes.active == ("a", "c", "d")
    for _ in range(5):
        assert passes.undo()
    assert (passes.active, passes.row, passes.undo()) == (("a", "b", "c"), 1, False)
    assert passes.redo()
    assert passes.active == ("a", "c")
    passes.move(5)
    assert passes.active == ("a", "c"), "not past the end"
    passes.schedule_first()
    passes.schedule_first()
    assert passes.active == ("transform-interpreter", "a", "c")


def test_each_entry_knows_its_stages() -> None:
    entries = (Entry("cse"), Entry("transform-interpreter"), Entry("x", False), Entry("cse"))
    planned = ("mlir/cse", "mlir/transform.a", "mlir/transform.b", "mlir/cse (2)")
    assert stages_of(entries, planned) == [planned[:1], planned[1:3], (), planned[3:]]


@pytest.mark.parametrize(
    ("typed", "first", "written"),
    [
        ("", "affine-loop-unroll", "affine-loop-unroll"),
        ("c", "cse", "cse"),
        ("scf", "convert-scf-to-cf", "convert-scf-to-cf"),
        ("common", "cse", "cse"),
        ("cnz", "canonicalize", "canonicalize"),
        ("loopunr", "loop-unroll", "loop-unroll"),
        ("func.func(inl", "inline", "func.func(inline"),
        ("func.func(canonicalize{max", "max-iterations=<long>", "func.func(canonicalize{max-iterations="),
        ("canonicalize{max-iterations=3},cs", "cse", "canonicalize{max-iterations=3},cse"),
    ],
)
def test_passes_are_found_by_a_few_letters(typed: str, first: str, written: str) -> None:
    found = suggestions(typed, (*KNOWN, PassView("loop-unroll", "Unroll loops")))[0]
    assert (found.name, found.written) == (first, written)


@pytest.mark.parametrize(
    ("on", "listing", "place"),
    [
        ("function", "func.func @f() {", ("func.func",)),
        ("func.func", "module {\n  func.func private @g()\n}", ("func.func",)),
        ("function", "module attributes {x} {\n  gpu.module @k {\n    gpu.func @f()", ("gpu.module", "gpu.func")),
        ("gpu.module", "module {\n  llvm.func @f() {\n    %0 = llvm.add\n  }\n  gpu.module @k {", ("gpu.module",)),
        ("llvm.func", 'module {\n  module @a {\n    "llvm.func"() ({', ("builtin.module", "llvm.func")),
        ("func.func", "module {\n  gpu.module @k {", ()),
    ],
)
def test_a_pass_is_nested_where_what_it_runs_on_is(on: str, listing: str, place: tuple[str, ...]) -> None:
    assert place_of(on, listing.split("\n")) == place


def test_brackets_are_closed() -> None:
    assert closed("func.func(canonicalize{max-iterations=3") == "func.func(canonicalize{max-iterations=3})"


async def compiled(e: Explorer, *names: str, died: str = "") -> None:
    """Play the answer to the newest request: these passes, the last of which may have `died`."""
    info = KernelInfo(
        "saxpy",
        1,
        (ParamView("a", annotation="f32"),),
        (ExampleInfo("saxpy(size=64)", {"a": "f32"}, values={"size": 64}),),
    )
    e.engine.emit(m.ModuleRead(e.engine.generation, ModuleInfo("saxpy.mlir", (info,), executed=True)))
    await e.pilot.pause()
    generation = e.engine.generation
    planned = ("source", "mlir/parse", *names, "llvm", "ptx", "llvm/O3", "asm")
    e.engine.emit(m.CompileStarted(generation, "mlir", "saxpy", planned, "f32"))
    rows = tuple(LineView(text, row) for row, text in enumerate(SAXPY.split("\n"), 1))
    for name in planned[: 2 + len(names)]:
        status = "crashed" if name == died else "ok"
        stage = StageView(name, "text", "mlir", status, 1.0, () if name == died else rows)  # type: ignore[arg-type]
        e.engine.emit(m.StageFinished(generation, "mlir", stage))
    if not died:
        e.engine.emit(m.StageFinished(generation, "mlir", StageView("llvm", "text", "llvm", "skipped", reason="no")))
    e.engine.emit(m.CompileFinished(generation, "mlir", not died, 3.0))
    await e.pilot.pause()


async def test_a_file_of_mlir_on_the_screen(tmp_path: Path) -> None:
    path = tmp_path / "saxpy.mlir"
    path.write_text(SAXPY)
    async with explorer(path, (160, 40), answered=False, backend="cuda", pipelines={"mlir": ("cse",)}) as e:
        assert e.engine.compiled[-1].backends == ("mlir",)
        assert e.engine.compiled[-1].pipelines == {"mlir": ("cse",)}
        await compiled(e, "mlir/cse")
        assert {"source", "mlir", "asm"} <= set(e.main.workspace.visible_panes)
        assert "cuda" not in e.main.workspace.visible_panes
        assert "MLIR > mlir/cse" in e.heading("mlir")
        assert "1 pass" in e.line("#header")
        await e.press("escape", "b")
        assert e.main.session.backend == "mlir", "there is no other"
        await e.press("M")
        assert e.app.clipboard == f"mlir-opt {path} '--pass-pipeline=builtin.module(cse)'"
        await e.press("ctrl+t")
        form = e.app.screen
        assert isinstance(form, FormScreen)
        assert [field.name for field in form._form.fields] == ["size"]
        await e.press("backspace", "backspace", *"100", "enter")
        await e.press("r")
        assert (e.engine.runs[-1].values, e.engine.runs[-1].kernel) == ({"size": 100}, None)
        await e.press("1", "home", "ctrl+underscore")
        assert e.main.editor.text.startswith("// func.func @saxpy")
        await e.press("ctrl+@")
        assert e.main.editor.popup is None, "completion is of Python"


async def test_passes_are_added_moved_and_switched_off(tmp_path: Path) -> None:
    path = tmp_path / "saxpy.mlir"
    path.write_text(SAXPY)
    async with explorer(path, (100, 30), answered=False) as e:
        await compiled(e)
        await e.press("escape", "P")
        shown = e.app.screen
        assert isinstance(shown, PassesScreen)
        assert shown._rows == ["no passes: enter adds one"]

        def active() -> tuple[str, ...]:
            return e.engine.compiled[-1].pipelines.get("mlir", ())

        await e.press("enter")
        assert isinstance(e.app.screen, PassSearch)
        e.engine.emit(m.PassesKnown(e.engine.generation, KNOWN))
        await e.pilot.pause()
        await e.press(*"scf", "enter")
        assert active() == ("convert-scf-to-cf",)
        await e.press("enter", *"canon", "tab", *"{max-iterations=3", "enter")
        assert active() == ("convert-scf-to-cf", "canonicalize{max-iterations=3}")
        await e.press("enter", *"cse,func.func(cse", "enter")
        assert active()[2:] == ("cse", "func.func(cse)")
        await compiled(e, "mlir/convert-scf-to-cf", "mlir/canonicalize", "mlir/cse", died="mlir/cse")
        assert [row[:14] for row in shown._rows] == [
            "[x] ok        ",
            "[x] ok        ",
            "[x] CRASHED   ",
            "[x] -         ",
        ]
        await e.press("K", "space")
        assert active() == ("convert-scf-to-cf", "canonicalize{max-iterations=3}", "cse")
        await e.press("d")
        assert shown._rows[2].endswith("cse")
        await e.press("u", "u", "u")
        assert active()[2:] == ("cse", "func.func(cse)")
        await e.press("U")
        assert active()[2:] == ("func.func(cse)", "cse")
        await e.press("enter", *"unroll", "enter")
        assert "func.func(affine-loop-unroll)" in active(), "it is nested in what it runs on"
        await e.press("u", "enter", *"any(affine-loop-unroll", "enter")
        assert "any(affine-loop-unroll)" in active(), "unless that was written"
        await e.press("u", "enter", *"to-nvvm", "enter")
        assert "gpu.module(convert-gpu-to-nvvm)" in active()
        assert any("There is no gpu.module for it" in note.message for note in e.app._notifications)
        await e.press("u")
        schedule = tmp_path / "s.mlir"
        schedule.write_text(SCHEDULE)
        assert e.main.load_schedule(str(schedule)) == ""
        assert active()[0] == "transform-interpreter"
        assert e.engine.compiled[-1].schedule_text == SCHEDULE
        await e.press("escape")
        await e.pilot.pause(0.3)
        schedule.write_text("module {}")
        for _ in range(50):
            if e.engine.compiled[-1].schedule_text != SCHEDULE:
                break
            await e.pilot.pause(0.1)
        assert e.engine.compiled[-1].schedule_text == "module {}", "its file is watched"


async def test_the_passes_of_a_kernel(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (100, 30), backend="mlir") as e:
        passes = ("any(cse,canonicalize)", "gpu.module(convert-gpu-to-nvvm)")
        started = m.CompileStarted(e.engine.generation, "mlir", "add_kernel", ("source", "mlir/emit"), passes=passes)
        e.engine.emit(started)
        await e.pilot.pause()
        await e.press("escape", "P", "j", "space")
        assert e.engine.compiled[-1].pipelines == {"mlir": passes[:1]}
        await e.press("u")
        assert e.engine.compiled[-1].pipelines == {}, "the backend's own again"
        await e.press("space", "escape")
        e.main.select_target(chip="sm_80")
        assert e.engine.compiled[-1].pipelines == {}, "they hold the chip"


async def test_questions_about_a_kernel(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40), backend="mlir") as e:
        await e.press("escape")
        await e.app.screen.run_action("query")
        await e.press("enter")
        (asked,) = e.engine.queries
        assert (asked.question, asked.compile.backends[0]) == ("reductions", "mlir")
        one = OperationView("gpu.shuffle", 9, 9, ("kernels", "add_kernel"), stage="mlir/emit")
        stages = [one, one, replace(one, line=11), replace(one, stage="mlir/cleanup")]
        e.engine.emit(m.Answered(e.engine.generation, asked.question, tuple(stages)))
        await e.pilot.pause()
        options = e.app.screen.query_one(OptionList)
        assert [str(options.get_option_at_index(i).prompt).split("  ")[-1] for i in range(options.option_count)] == [
            "mlir/emit 2, mlir/cleanup 1",
            "mlir/emit 1",
        ]
        await e.press("2")
        assert e.main.line == 11


def test_a_row_names_the_file_of_a_schedule_and_counts_nothing_where_nothing_changed() -> None:
    text = 'transform-preload-library{transform-library-paths="{/a b/c/products.mlir}"},canonicalize'
    assert pass_rows(PassList.of((text,), None), Result())[0].endswith(
        'transform-preload-library{transform-library-paths="{products.mlir}"},canonicalize'
    )
    stage = StageView("cpu/cse", "text", "mlir", "no change", stats={"ops before": 142, "ops": 140})
    assert delta(Result(), stage) == ""
    assert delta(Result(), replace(stage, status="ok")) == "142 -> 140 ops (-2)"
