"""The form, by key: every change compiles, and nothing that was typed is lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from textual.widgets import Input

from explorer.engine.messages import Described
from explorer.model.configs import ConfigView
from explorer.model.result import ExampleInfo, KernelInfo, ParamView
from explorer.screens.form import FormScreen
from explorer.widgets.form_row import FormRow
from explorer.widgets.text_line import TextLine
from tests.explorer.explorer_support import Explorer, explorer, screen, settled
from tests.explorer.screens import WRONG

PARAMS = (*(ParamView(name) for name in ("x", "y", "out", "n")), ParamView("BLOCK", True))
KNOWN = ExampleInfo(
    "add(n=1000)", {"x": "*fp32:16", "y": "*fp32:16", "out": "*fp32:16", "n": "i32"}, {"BLOCK": 256}, values={"n": 1000}
)


async def open_form(e: Explorer, example: ExampleInfo = KNOWN) -> FormScreen:
    e.engine.read(KernelInfo("add_kernel", 5, PARAMS, (example, ExampleInfo("add(n=1)", values={"n": 1}))))
    await e.pilot.pause()
    await e.answer()
    await e.press("ctrl+t")
    assert isinstance(e.app.screen, FormScreen)
    return e.app.screen


def row(form: FormScreen, name: str, kind: str = "") -> FormRow:
    return next(r for r in form.query(FormRow) if r.field.name == name and kind in ("", r.field.kind))


def note(form: FormScreen, name: str, kind: str = "") -> str:
    return row(form, name, kind)._note.text.strip()


def status(form: FormScreen) -> str:
    return form.query_one(".status", TextLine).text


async def test_a_type_is_changed_and_compiled_at_once(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        form = await open_form(e)
        assert e.app.focused is row(form, "x").control
        count = len(e.engine.compiled)
        await e.press("end", *["backspace"] * 5, *"16:16")
        assert e.engine.compiled[-1].types == {"x": "*fp16:16"}
        assert len(e.engine.compiled) > count, "while it is typed"
        assert note(form, "x") == "example: *fp32:16"
        await e.press("enter")
        assert e.app.screen is e.main
        assert e.engine.compiled[-1].types == {"x": "*fp16:16"}


async def test_what_cannot_be_used_is_told_in_its_row_and_keeps_the_form_open(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        form = await open_form(e)
        await e.press("end", "backspace", "backspace", "backspace", "x")
        assert note(form, "x") == "! no type; did you mean fp32?"
        assert e.engine.compiled[-1].types == {"x": "*fp32"}, "the last that could be"
        await e.press("down", "enter")
        assert e.app.screen is form
        assert e.app.focused is row(form, "x").control
        assert row(form, "x").field.text == "*fp32x"
        await e.press("backspace", "enter")
        assert e.app.screen is e.main


async def test_up_and_down_go_from_row_to_row(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        form = await open_form(e)
        await e.press("down")
        assert e.app.focused is row(form, "y").control, "not the hint of divisibility, which tab comes to"
        await e.press("tab", "up")
        assert e.app.focused is row(form, "x").control
        await e.press("up")
        assert e.app.focused is row(form, "line_info").control
        await e.press("down")
        assert e.app.focused is row(form, "x").control


async def test_escape_restores_what_was(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", num_warps=8, defines={"BLOCK": 512}) as e:
        form = await open_form(e)
        assert row(form, "BLOCK").field.text == "512"
        assert row(form, "num_warps").field.text == "8"
        row(form, "BLOCK").control.focus()
        await e.press("end", "backspace", "3")
        row(form, "backend").control.focus()
        await e.press("right")
        assert e.engine.compiled[-1].types == {"BLOCK": "513"}
        assert e.engine.compiled[-1].backends[0] == "mlir"
        await e.press("escape")
        last = e.engine.compiled[-1]
        assert (last.types, last.defines, last.num_warps, last.backends[0]) == ({}, {"BLOCK": 512}, 8, "cuda")
        count = len(e.engine.compiled)
        await e.press("ctrl+t", "escape")
        assert len(e.engine.compiled) == count, "nothing was changed"


async def test_sizes_chip_warps_and_options(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (120, 40)) as e:
        form = await open_form(e)
        row(form, "n", "value").control.focus()
        await e.press("end", "0")
        assert e.engine.compiled[-1].values == {"n": 10000}
        row(form, "chip").control.focus()
        await e.press("right", "down", "right", "down", "space", "down", "right", "down", "left")
        last = e.engine.compiled[-1]
        assert (last.chip, last.num_warps) == ("sm_90a", 8)
        assert last.options == {"enable_fp_fusion": False, "form": "plain", "abi": "memref"}
        await e.press("delete")
        last = e.engine.compiled[-1]
        assert last.options == {"enable_fp_fusion": False, "form": "plain"}
        await e.press("enter")
        assert "add(n=10000)" in e.line("#header")
        await e.press("f8")
        run = e.engine.runs[-1]
        assert (run.values, run.num_warps, run.options) == (
            {"n": 10000},
            8,
            {"enable_fp_fusion": False, "form": "plain"},
        )
        await e.press("ctrl+t", "ctrl+r", "enter")
        last = e.engine.compiled[-1]
        assert (last.values, last.num_warps, last.options, last.types) == ({}, None, {}, {})
        await e.press("ctrl+t")
        row(e.app.screen, "n", "value").control.focus()  # type: ignore[arg-type]
        await e.press("end", "0", "enter", "f4", "2")
        assert e.engine.compiled[-1].values == {}, "of the other example"


async def test_the_hint_of_divisibility_is_a_toggle(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        form = await open_form(e)
        await e.press("tab", "space")
        assert e.engine.compiled[-1].types == {"x": "*fp32"}
        assert row(form, "x").query_one(Input).value == "*fp32"
        await e.press("space")
        assert e.engine.compiled[-1].types == {}
        n = row(form, "n", "type")
        n.control.focus()
        await e.press("tab", "space")
        assert e.engine.compiled[-1].types == {"n": "i32:16"}


async def test_the_form_says_what_came_of_it(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        form = await open_form(e)
        assert status(form).startswith(" ok cuda  4 warps  *fp32:16")
        await e.press("end", "backspace")
        await e.press("backspace", "backspace")
        assert status(form) == " compiling ..."
        await e.answer(fail="tree", diagnostic=WRONG)
        assert status(form) == " FAILED tree: expected an expression"


async def test_every_field_can_be_reached_and_read(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        form = await open_form(e)
        for target in form.query(FormRow):
            if target.control is not e.app.focused:
                await e.press("down")
            assert target.control is e.app.focused
            await settled(e.pilot)
            lines = [line for line in screen(e).splitlines() if line.split()[:1] == [target.field.name]]
            assert any(target.field.text in line for line in lines)


async def test_typing_in_a_field_writes_few_bytes(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await open_form(e)
        await e.press("end")
        before = await settled(e.pilot)
        await e.pilot.press("backspace")
        assert await settled(e.pilot) - before <= 4096


async def test_what_the_example_says_with_other_values_is_taken_up(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        form = await open_form(e)
        n = row(form, "n", "value")
        n.control.focus()
        await e.press("home", "1", "end", "backspace")
        assert e.engine.compiled[-1].values == {"n": 1100}
        now = replace(KNOWN, types={**KNOWN.types, "n": "i32:16"})
        e.engine.emit(Described(e.engine.generation, "add_kernel", 0, now, {"n": 1100}))
        await e.answer()
        field = row(form, "n", "type").field
        assert (field.text, field.differs, e.engine.compiled[-1].types) == ("i32:16", False, {})
        await e.press("ctrl+r")
        await e.answer()
        assert (field.text, field.differs) == ("i32", False)


async def test_an_example_that_is_described_later_is_known_to_the_form(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py") as e:
        e.engine.read(KernelInfo("add_kernel", 5, PARAMS, (ExampleInfo("add(n=1000)", values={"n": 1000}),)))
        await e.pilot.pause()
        e.engine.emit(Described(e.engine.generation, "add_kernel", 0, KNOWN))
        await e.pilot.pause()
        await e.press("ctrl+t")
        assert row(e.app.screen, "BLOCK").field.base == "256"  # type: ignore[arg-type]


async def test_a_config_is_chosen(tmp_path: Path) -> None:
    configs = (ConfigView({"BLOCK": 128}, 4, 3), ConfigView({"BLOCK": 512}, 8, 5))
    async with explorer(tmp_path / "add.py") as e:
        e.engine.read(KernelInfo("add_kernel", 5, PARAMS, (KNOWN,), configs=configs))
        await e.pilot.pause()
        await e.answer()
        await e.press("ctrl+t")
        form = e.app.screen
        assert isinstance(form, FormScreen)
        row(form, "config").control.focus()
        await e.press("right", "right")
        assert e.engine.compiled[-1].config == 1
        assert note(form, "config").startswith("BLOCK: 512, num_warps: 8, num_stages: 5")
        assert row(form, "BLOCK").field.text == "512"
        assert row(form, "num_warps").field.text == "8"
        await e.press("ctrl+r")
        assert (e.engine.compiled[-1].config, row(form, "BLOCK").field.text) == (None, "256")
        await e.press("left", "escape")
        assert e.engine.compiled[-1].config is None, "as it was"
