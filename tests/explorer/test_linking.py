"""One cursor lights all panes: the keys that follow, lock and jump."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from explorer.widgets.code_view import CodeView
from tests.explorer.compiled import KERNELS, compiled, play
from tests.explorer.explorer_support import Explorer, explorer, settled
from tests.explorer.test_following import STORY
from tests.explorer.test_place import HELPER, KERNEL


@asynccontextmanager
async def opened(path: Path, kernel: str, size: tuple[int, int] = (120, 40)) -> AsyncIterator[Explorer]:
    """An explorer of a kernel with its real listings; the stage `ssa` is in focus."""
    result = compiled(path, kernel)
    async with explorer(path, size, answered=False) as e:
        e.engine.read()
        await e.pilot.pause()
        await play(e, result)
        e.main.select_stage("ssa", "ssa")
        await e.press("escape")
        await settled(e.pilot)
        yield e


def copied(tmp_path: Path, name: str) -> Path:
    path = tmp_path / name
    path.write_text((KERNELS / name).read_text())
    return path


def view(e: Explorer, pane: str = "ssa") -> CodeView:
    body = e.main.panes[pane].body
    assert isinstance(body, CodeView)
    return body


def under_cursor(e: Explorer, pane: str = "ssa") -> str:
    return view(e, pane).lines[view(e, pane).cursor].strip()


def lit(e: Explorer, pane: str) -> list[str]:
    return [view(e, pane).lines[row].strip() for row in sorted(view(e, pane).linked)]


def followed(e: Explorer, pane: str) -> list[str]:
    """The rows that name the value that is followed, as they are signed."""
    found = view(e, pane).followed
    return [f"{'=' if o.defines else ' '}{view(e, pane).lines[o.row].strip()}" for o in found]


async def on(e: Explorer, text: str, pane: str = "ssa") -> None:
    """Put the cursor on the first row with `text`."""
    row = next(row for row, line in enumerate(view(e, pane).lines) if text in line)
    view(e, pane).move_to(row)
    await e.pilot.pause()


async def test_the_cursor_lights_every_pane_and_says_how_much(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel") as e:
        await on(e, "= cmp_lt")
        assert lit(e, "cuda") == ["bool mask[2];", "mask[r] = offs[r] < n;", "}"]
        assert e.main.editor._linked == {13}
        assert "1 of 12 linked" in e.heading("ssa")
        assert "3 of " in e.heading("cuda")
        assert e.line("#place").startswith(" line 14")
        assert "1 SSA, 3 CUDA" in e.line("#place")


async def test_an_instruction_of_no_line_says_what_made_it(tmp_path: Path) -> None:
    path = copied(tmp_path, "add.py")
    result = compiled(path, "add_kernel")
    ptx = result.stages["ptx"]
    made = tuple(replace(line, line=None, made_by="NVRTC") if "\tret;" in line.text else line for line in ptx.lines)
    result.stages["ptx"] = replace(ptx, lines=made)
    async with explorer(path, (120, 40), answered=False) as e:
        e.engine.read()
        await e.pilot.pause()
        await play(e, result)
        e.main.select_stage("asm", "ptx")
        await e.press("escape", "6")
        await on(e, "ret;", "asm")
        assert e.line("#place").strip() == "no line of the kernel: made by NVRTC"
        await on(e, "ld.global", "asm")
        assert e.line("#place").startswith(" line ")


async def test_what_compilers_put_near_its_use_does_not_come_into_view_first(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel", (120, 20)) as e:
        await e.press("1", *["down"] * 15)
        assert e.main.line == 16
        cuda = view(e, "cuda")
        shown = range(round(cuda.scroll_y), round(cuda.scroll_y) + cuda.size.height)
        lines = e.main.panes["cuda"].listing.lines
        texts = "__forceinline__ void mt_load_each", "    mt_load_each<2>(mask, a,"
        declared, loads = ([row for row, line in enumerate(lines) if text in line.text] for text in texts)
        assert lines[declared[0]].line == lines[loads[0]].line == 16 and lines[declared[0]].made_by == "the emitter"
        assert {*declared, *loads} <= cuda._linked
        assert loads[0] in shown


async def test_a_narrow_heading_says_it_briefly(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel", (100, 32)) as e:
        await on(e, "= cmp_lt")
        e.main.select_stage("ssa", "opt/strength")
        await e.pilot.pause()
        assert "  1 linked  " in e.heading("ssa")
        assert "1 of 12 linked" not in e.heading("ssa")


async def test_leaving_the_editor_the_cursor_stands_on_what_the_line_became(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel") as e:
        await e.press("1", *["down"] * 18)
        assert e.main.line == 19
        await e.press("escape")
        assert e.main.focused_pane.name == "ssa"
        assert under_cursor(e) == "%9 = add %6, %8 : vector<256 x f32>"
        await e.press("4")
        assert under_cursor(e, "cuda") in lit(e, "cuda")
        assert e.main.line == 19, "the place stays from pane to pane"


async def test_star_goes_through_the_linked_lines(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel") as e:
        await on(e, "%1 = mul")
        await e.press("asterisk")
        assert under_cursor(e).startswith("%2 = arange")
        await e.press("asterisk")
        assert under_cursor(e).startswith("%3 = add")
        await e.press("asterisk")
        assert under_cursor(e).startswith("%1 = mul"), "around the end"
        await e.main.run_action("linked(-1)")
        await e.pilot.pause()
        assert under_cursor(e).startswith("%3 = add")


async def test_lock_keeps_what_is_lit(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel") as e:
        await on(e, "= cmp_lt")
        await e.press("L", "j", "j")
        assert e.line("#place").startswith(" LOCKED line 14")
        assert lit(e, "cuda") == ["bool mask[2];", "mask[r] = offs[r] < n;", "}"]
        assert lit(e, "ssa") == ["%5 = cmp_lt %3, n : vector<256 x bool>"]
        await e.press("asterisk")
        assert under_cursor(e).startswith("%5 = cmp_lt"), "there and back"
        await e.press("j", "L")
        assert e.line("#place").startswith(" line 16"), "it follows again"


async def test_there_and_back(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel") as e:
        await on(e, "%8 = load")
        await e.press("enter")
        assert e.main.focused_pane.name == "source"
        assert e.main.editor.cursor_location[0] == 16
        await e.press("escape")
        await on(e, "%1 = mul")
        await e.press("u")
        assert under_cursor(e).startswith("%8 = load"), "where enter was pressed"
        await e.press("u")
        assert (e.main.focused_pane.name, e.main.editor.cursor_location[0]) == ("source", 0), "and the editor before"
        await e.press("escape", "U", "U")
        assert under_cursor(e).startswith("%1 = mul")


async def test_back_leads_to_the_pane_and_the_stage(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel") as e:
        await on(e, "%8 = load")
        await e.press("right_square_bracket", "4", "G")
        assert "opt/fold" in e.heading("ssa")
        await e.press("u")
        assert e.main.focused_pane.name == "cuda"
        await e.press("u", "u")
        assert e.main.focused_pane.name == "ssa"
        assert e.heading("ssa").startswith(">3 SSA > ssa")
        assert under_cursor(e).startswith("%8 = load")
        await e.press("u", "u", "u", "u")  # nothing more to go back to: it says so and stays
        await e.press("U")
        assert "opt/fold" in e.heading("ssa")


async def test_following_a_value(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel") as e:
        await on(e, "= cmp_lt")
        await e.press("f")
        assert followed(e, "ssa") == [
            "=%5 = cmp_lt %3, n : vector<256 x bool>",
            " %6 = load %4, %5, 0.0 : vector<256 x f32>",
            " %8 = load %7, %5, 0.0 : vector<256 x f32>",
            " store %10, %9, %5",
        ]
        assert followed(e, "cuda")[1] == "=mask[r] = offs[r] < n;"
        assert "%5 line 14 `mask = offs < n`" in e.line("#place")
        assert "defined 1x, used 3x here" in e.line("#place")
        row = "".join(s.text for s in view(e).row_maker()(view(e).cursor - round(view(e).scroll_y)))
        assert row.startswith(">=%5 = cmp_lt"), "signs, not colours alone"
        await e.press("f")
        assert under_cursor(e).startswith("%6 = load")
        await e.press("f", "f", "f")
        assert under_cursor(e).startswith("%5 = cmp_lt"), "around the end"
        await e.press("j", "j", "j", "j")
        assert followed(e, "ssa"), "it stays while the cursor moves"
        await e.press("escape")
        assert followed(e, "ssa") == followed(e, "cuda") == []
        assert e.main.focused_pane.name == "ssa"


async def test_following_ends_on_a_line_without_a_value(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel") as e:
        await on(e, "= cmp_lt")
        await e.press("f")
        e.main.select_stage("ssa", "layout")
        await e.pilot.pause()
        assert any(row.startswith("=%5 = cmp_lt") for row in followed(e, "ssa")), "by its id"
        await on(e, "scalars, in every thread")
        await e.press("f")
        assert followed(e, "ssa") == []


async def test_a_value_is_followed_through_the_passes(tmp_path: Path) -> None:
    path = tmp_path / "story.py"
    path.write_text(STORY)
    async with opened(path, "story") as e:
        await on(e, "= load %8")
        await e.press("f")
        assert followed(e, "ssa")[0].startswith("=%10 = load")
        assert "opt/cse: same as %7" in e.line("#place")
        await e.press("right_square_bracket", "right_square_bracket", "right_square_bracket")
        assert "opt/cse" in e.heading("ssa")
        assert followed(e, "ssa")[0].startswith("=%7 = load")
        assert under_cursor(e).startswith("%7 = load"), "the cursor stays with it"
        await e.main.run_action("value_story")
        await e.pilot.pause()
        lines = list(e.app.screen.query_one(CodeView).lines)
        assert lines[0] == "%10  line 9: b = tl.load(x + i, mask=i < 8, other=0.0)"
        assert "opt/cse       %7        same as %7, and nothing between them writes" in lines


async def test_choosing_a_value_of_the_line(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel") as e:
        await on(e, "%6 = load")
        await e.main.run_action("choose_value")
        await e.pilot.pause()
        await e.press("2")
        assert followed(e, "ssa")[0].startswith("=%4 = addptr")
        await e.press("escape")
        view(e).clicked = view(e).lines[view(e).cursor].index("%5")  # as a click there leaves it
        await e.press("f")
        assert followed(e, "ssa")[0].startswith("=%5 = cmp_lt")


async def test_a_value_of_another_listing(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel") as e:
        await e.press("4")
        await on(e, "a[r] + b[r]", "cuda")
        await e.press("f")
        assert followed(e, "cuda")[:2] == ["=float v9[2];", "=v9[r] = a[r] + b[r];"]
        assert followed(e, "ssa")[0] == "=%9 = add %6, %8 : vector<256 x f32>"
        assert "v9 is %9" in e.line("#place")
        await e.press("2")
        await on(e, "offs =", "tree")
        await e.press("f")
        assert followed(e, "tree")[0].startswith("=├─ offs =")


async def test_through_the_calls_of_a_helper(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "helpers.py"), "complex_power_kernel") as e:
        await e.press("1", *["down"] * 11)
        assert "complex_multiply line 12 <- complex_power_kernel lines 24, 25" in e.line("#place")
        assert e.main.editor._linked == {23, 24}
        assert "12 of 38 linked" in e.heading("ssa")
        await e.press(*["down"] * 12)
        assert "line 24, which inlines complex_multiply" in e.line("#place")
        assert e.main.editor._linked == {11}
        assert sum(" mul " in row for row in lit(e, "ssa")) == 4
        await e.press("escape")
        await on(e, "%38 = mul")
        assert "complex_multiply line 12 <- complex_power_kernel line 25" in e.line("#place")
        assert len(lit(e, "ssa")) == 6, "of this call alone"


async def test_the_text_of_a_helper_of_another_file(tmp_path: Path) -> None:
    folder = tmp_path / "pkg"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "norm.py").write_text(HELPER)
    path = folder / "kernel.py"
    path.write_text(KERNEL)
    async with opened(path, "k") as e:
        await on(e, "= exp ")
        assert "sigmoid norm.py:7 <- k line 17   y = tl.exp(-x)" in e.line("#place")
        await e.press("enter")
        await e.pilot.pause()
        page = e.app.screen.query_one(CodeView)
        assert page.lines[page.cursor] == ">    7     y = tl.exp(-x)"
        await e.press("escape")
        assert e.app.screen is e.main


async def test_what_a_line_became_in_the_next_pane(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel") as e:
        await e.press("1", *["down"] * 13)
        await e.main.run_action("became")
        await e.pilot.pause()
        assert e.main.focused_pane.name == "ssa", "the next in view"
        assert under_cursor(e).startswith("%5 = cmp_lt")
        await e.main.run_action("became")
        await e.pilot.pause()
        assert under_cursor(e, "cuda") == "bool mask[2];"
        assert e.main.line == 14


async def test_linking_works_at_80x24_and_is_cheap(tmp_path: Path) -> None:
    for size in ((80, 24), (200, 60)):
        async with opened(copied(tmp_path, "helpers.py"), "complex_power_kernel", size) as e:
            await on(e, "= sub")
            for key in ("k", "k", "asterisk", "L", "L", "f", "f", "escape"):
                before = await settled(e.pilot)
                await e.pilot.press(key)
                assert await settled(e.pilot) - before <= 4096, (size, key)
            (tmp_path / "helpers.py").unlink()


async def test_another_stage_keeps_the_place_and_the_value(tmp_path: Path) -> None:
    async with opened(copied(tmp_path, "add.py"), "add_kernel") as e:
        await e.press("4")
        await on(e, "a[r] + b[r]", "cuda")
        await e.press("3", "f")
        assert under_cursor(e).startswith("%9 = add")
        e.main.select_stage("ssa", "layout")
        await e.pilot.pause()
        assert under_cursor(e).startswith("%9 = add"), "with the value"
        await e.press("escape", "6")
        assert e.main.line == 19
        e.main.select_stage("asm", "cubin")
        await e.pilot.pause()
        e.main.select_stage("asm", "ptx")
        await e.pilot.pause()
        assert view(e, "asm").cursor in view(e, "asm").linked, "with the place"


async def test_following_ends_with_its_kernel(tmp_path: Path) -> None:
    path = copied(tmp_path, "helpers.py")
    async with opened(path, "complex_power_kernel") as e:
        await on(e, "= sub")
        await e.press("f")
        assert followed(e, "ssa")
        e.main.compile()
        await play(e, compiled(path, "bias_activation_kernel"))
        assert e.main.followed is None
        assert followed(e, "ssa") == []
