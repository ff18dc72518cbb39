"""The table of actions: every key is one, does one thing, is described, and is in the README's table."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from textual.keys import Keys

from explorer.actions import ACTIONS, MOVES, Action, bar_width, key_bar, key_table, shown_key
from explorer.model.keys import SIGNS
from explorer.model.panes import TITLES
from explorer.screens.help import help_lines
from explorer.screens.main import MainScreen
from explorer.screens.notation import PANES
from explorer.screens.words import KINDS, of_line
from explorer.widgets.code_view import CodeView
from tests.explorer.explorer_support import explorer

NAMED = {key.value for key in Keys} | {"space", *SIGNS}
#: What a terminal sends as something else, or keeps for itself; the last two are the prefixes of screen and of tmux.
LYING = {"ctrl+i", "ctrl+m", "ctrl+h", "ctrl+j", "ctrl+left_square_bracket", "esc", "f11", "ctrl+a", "ctrl+b"}
EVERY = (*ACTIONS, *MOVES)


@pytest.mark.parametrize("action", EVERY, ids=lambda a: a.name)
def test_each_key_is_a_real_one_and_the_action_is_described(action: Action) -> None:
    for key in (*action.letters, *action.keys):
        name = key.removeprefix("alt+")  # a terminal sends escape before it
        assert name in NAMED or len(name) == 1, key
        assert key not in LYING
    assert action.help
    assert action.group
    assert len(action.label) <= 8


def test_each_key_is_used_once_in_its_scope() -> None:
    letters = [key for action in EVERY for key in action.letters]
    keys = [key for action in EVERY for key in action.keys]
    assert len(letters) == len(set(letters))
    assert len(keys) == len(set(keys))


def test_each_action_is_a_method() -> None:
    for actions, owner in ((ACTIONS, MainScreen), (MOVES, CodeView)):
        for action in actions:
            assert callable(getattr(owner, "action_" + action.name.split("(")[0])), action.name


def test_each_global_action_can_be_done_while_typing() -> None:
    for action in ACTIONS:  # by a key, or by its name in the palette
        assert action.help
        assert all(len(key) > 1 for key in action.keys), action.name


def test_the_key_bar_names_keys_that_work_where_one_is() -> None:
    typing, reading = key_bar(True, 200), key_bar(False, 200)
    assert ("run", "F8", "run") in typing
    assert ("run", "r", "run") in reading
    assert ("backend", "b", "backend") in reading
    assert all(len(key) > 1 for _, key, _ in typing)
    for width in (40, 80, 120):
        for bar in (key_bar(True, width), key_bar(False, width)):
            assert sum(map(bar_width, bar)) <= width
            assert bar[-1][0] == "quit"


def test_the_table_for_the_readme_has_every_key() -> None:
    table = key_table()
    for action in EVERY:
        for key in (*action.letters, *action.keys):
            assert f"`{shown_key(key)}`" in table


def test_the_readme_has_the_table() -> None:
    readme = Path(__file__).parents[2] / "README.md"
    assert key_table() in readme.read_text()


def test_the_help_fits_its_width() -> None:
    lines = help_lines("source", 60)
    assert max(map(len, lines)) <= 60
    at = next(i for i, line in enumerate(lines) if "Run the example" in line)
    assert lines[at + 1].startswith(" " * 20), "continued below the text"
    for pane in PANES:
        assert " ".join(" ".join(help_lines(pane, 77)).split()) == " ".join(" ".join(help_lines(pane)).split())


@pytest.mark.parametrize("pane", PANES)
def test_the_help_begins_with_the_pane_in_focus_and_has_every_key_once(pane: str) -> None:
    lines = help_lines(pane)
    assert lines[0] == f"This pane: {TITLES[pane]}"
    assert lines.index("How to read it") < lines.index("Keys of this pane") < lines.index("The screen")
    for action in EVERY:
        assert sum(line.endswith(f" {action.help}") for line in lines) == 1, action.help
    own = lines[lines.index("Keys of this pane") : lines.index("The screen")]
    assert any("Find text in the listing" in line for line in own) == (pane != "source")


#: Lines of laid-out programs, PTX and SASS, and the words that are explained of them.
EXPLAINED = (
    ("layout", "ring #0 = 3 buffers of 16384 bytes for vector<128x64 x f16>", "ring"),
    ("layout", "  at bytes 0, 8192 of shared memory, swizzled: pieces, slot=[1, 2, 4, 72]", "swizzled, slot"),
    ("layout", "  async_copy %49, 0 {ring=#0 of 3, width=8}", "ring, async_copy"),
    ("layout", "  %9 = dot %1, %2, %8 {staged=both, instruction=m64n128k16, begun=True}", "staged, instruction, begun"),
    ("layout", "%4 = finish %9 : vector<128x128 x f32> #b128x128", "#b256 = layout<...>, finish"),
    ("ptx", "@%p1 bra $L__BB0_2;", "%r1 %rd1 %rs1 %f1 %fd1 %p1, @%p1 @!%p1, bra ret"),
    ("ptx", "\tldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1}, [%r5];", "%r1 %rd1 %rs1 %f1 %fd1 %p1, ldmatrix"),
    ("ptx", "\tcp.async.wait_group 1;", "cp.async, cp.async.wait_group"),
    ("ptx", "\twgmma.commit_group.sync.aligned;", "wgmma.commit_group"),
    ("sass", "/*02d0*/ [------ r- w- - s01] @!PT LDS RZ, [RZ] ;", "[01---- r2 w3 y s05], @P0 @!P0, R0 RZ, LDS STS"),
    ("sass", "LDSM.16.M88.4 R4, [R2+UR4] ;", "R0 RZ, UR4 URZ, LDSM"),
    ("sass", "WARPGROUP.DEPBAR.LE gsb0, 0x0 ;", "gsb0, WARPGROUP"),
    ("sass", "HGMMA.64x128x16.F32 R24, gdesc[UR8].tnspB, R24 ;",
     "R0 RZ, UR4 URZ, desc[UR4][R2.64], HGMMA IGMMA QGMMA"),
)  # fmt: skip


@pytest.mark.parametrize(("stage", "line", "words"), EXPLAINED)
def test_the_words_of_a_line_are_explained(stage: str, line: str, words: str) -> None:
    assert ", ".join(word.words for word in of_line(stage, line)) == words
    lines = help_lines("ssa", stage=stage, line=line)
    assert 0 < lines.index("In the line under the cursor") < lines.index(f"The words of {KINDS[stage]}")
    assert "In the line under the cursor" not in help_lines("ssa", stage="opt", line=line)


async def test_the_help_can_be_searched(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", (80, 24)) as e:
        await e.press("escape", "6", "question_mark")
        view = e.app.screen.query_one(CodeView)
        assert view.lines[0] == "This pane: PTX / SASS"
        assert "In the line under the cursor" in view.lines[:8]
        assert any("ld.global st.global" in line for line in view.lines[:12]), "it is `ld.global.f32 %f1, [%rd1];`"
        await e.press("slash", *"stage", "enter")
        first = view.cursor
        assert "stage" in view.lines[first].lower()
        await e.press("n")
        assert view.cursor > first
        assert "stage" in view.lines[view.cursor].lower()
        await e.press("N", "slash", "escape")
        assert view.cursor == first
        assert e.app.screen is not e.main, "escape left the search only"
        await e.press("escape")
        assert e.app.screen is e.main


def test_parts_of_the_main_screen_replace_nothing_of_each_other_by_accident() -> None:
    parts = [part for part in MainScreen.__mro__ if part.__module__.startswith("explorer.")]
    for number, part in enumerate(parts):
        for name, member in vars(part).items():
            later = [p.__name__ for p in parts[number + 1 :] if name in vars(p)]
            if later and inspect.isfunction(member) and not name.startswith(("__", "on_", "compose")):
                assert "super()." in inspect.getsource(member), f"{part.__name__}.{name} hides that of {later}"
