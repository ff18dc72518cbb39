"""The config file, the environment and the flags: what beats what, and what is said of mistakes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from explorer import actions
from explorer.__main__ import main
from explorer.actions import ACTIONS, shown_key
from explorer.cli import parse
from explorer.model.config import SETTINGS, Config, config_path, load, printed
from explorer.model.keys import named, rebound
from tests.explorer.explorer_support import SOURCE, explorer

KEYS = {action.id: (*action.letters, *action.keys) for action in ACTIONS}
EVERYTHING = """\
theme = "light"
layout = "learn"
backend = "mlir"
chip = "sm_80"
num_warps = 8
tab_width = 2
counts = false
mouse = false
execute = false

[keys]
run = ["f9", "u"]
find = "ctrl+e"
"""


def written(text: str) -> Path:
    """The config file with this text."""
    path = config_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def read(text: str, **environment: str) -> Config:
    return load(written(text), environment, KEYS)


def test_every_setting_is_read() -> None:
    config = read(EVERYTHING)
    assert config.problems == ()
    assert (config.theme, config.layout, config.backend, config.chip) == ("light", "learn", "mlir", "sm_80")
    assert (config.num_warps, config.tab_width, config.mouse, config.execute) == (8, 2, False, False)
    assert not config.counts
    assert config.keys == {"run": ("f9", "u"), "find": ("ctrl+e",)}
    assert set(config.origins) == {setting.name for setting in SETTINGS}


def test_without_a_file_everything_is_as_by_default() -> None:
    assert load(config_path(), {}, KEYS) == Config()


def test_the_environment_beats_the_file_and_flags_beat_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = tmp_path / "add.py"
    kernel.write_text(SOURCE)
    written(EVERYTHING)
    monkeypatch.setenv("MYTRITON_EXPLORE_THEME", "dark")
    monkeypatch.setenv("MYTRITON_EXPLORE_MOUSE", "true")
    monkeypatch.setenv("MYTRITON_BACKEND", "cpu")
    options = parse([str(kernel)])
    assert (options.backend, options.chip, options.num_warps, options.execute) == ("cpu", "sm_80", 8, False)
    assert (options.config.theme, options.config.mouse) == ("dark", True)
    options = parse([str(kernel), "--backend", "interp", "--theme", "contrast-light", "--chip", "sm_90"])
    assert (options.backend, options.chip, options.config.theme) == ("interp", "sm_90", "contrast-light")
    monkeypatch.delenv("MYTRITON_BACKEND")
    options = parse([str(kernel), "--stages"])
    assert (options.backend, options.chip, options.num_warps) == ("cuda", "sm_90", None), "scripts do not depend on it"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('\n\ntheme = "drak"', ':3: theme: "drak" is none of "dark", "light", '),
        ('theme = "drak"', "did you mean dark?"),
        ("mouse = 1", ":1: mouse: 1 is none of true, false"),
        ("tab_width = 2.0", ":1: tab_width: 2.0 is none of 2, 3, 4, 8"),
        ("mouse = true\ntheem = 1", ":2: theem: there is no such setting; did you mean theme?"),
        ("[kees]\nrun = 1", ":1: kees: there is no such setting; did you mean keys?"),
        ('theme = "dark"\n[keys]\n\nrnu = "r"', ":4: rnu: there is no such action; did you mean run?"),
        ("[keys]\nrun = 1", ':2: run: write a key or a list of keys, such as ["r", "f8"]'),
        ("theme = \n", "(at line 1, column 9); none of it is used"),
        ("theme = {a = 1}", ":1: theme: {'a': 1} is none of"),
    ],
)
def test_a_mistake_costs_its_value_and_is_said_with_its_line(text: str, problem: str) -> None:
    config = read(text)
    assert problem in config.problems[0]
    assert config.problems[0].startswith(str(config_path()))
    assert (config.theme or "dark", config.mouse, config.keys) == ("dark", True, {})


def test_a_mistake_in_the_environment_names_the_variable() -> None:
    config = load(config_path(), {"MYTRITON_EXPLORE_CHIP": "sm_09"}, KEYS)
    assert config.problems[0].startswith('$MYTRITON_EXPLORE_CHIP: "sm_09" is none of')
    assert config.chip == "sm_90"


def test_bytes_that_are_no_text_and_a_folder_do_not_stop_the_start() -> None:
    path = written("")
    path.write_bytes(b"\xff\xfe")
    assert "cannot be read" in load(path, {}, KEYS).problems[0]
    path.unlink()
    path.mkdir()
    assert "cannot be read" in load(path, {}, KEYS).problems[0]


async def test_the_tab_width_is_that_of_the_editor(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", config=read("tab_width = 2")) as e:
        await e.press("tab")
        assert e.main.editor.text.startswith("  import")
        await e.press("end", "x", ":", "enter")
        assert e.main.editor.cursor_location == (1, 4)
        await e.press("backspace")
        assert e.main.editor.cursor_location == (1, 2)


async def test_what_is_wrong_is_said_on_the_screen(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", config=read("mouse = 7")) as e:
        assert any("mouse: 7 is none of" in note.message for note in e.app._notifications)


def test_what_is_printed_can_be_read_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--print-config"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"# {config_path()}\n")
    for name in (*KEYS, *(setting.name for setting in SETTINGS)):
        assert f"\n# {name} = " in out
    assert read(out) == Config()
    everything = read("\n".join(line.removeprefix("# ") if " = " in line else line for line in out.splitlines()))
    assert everything.problems == ()
    assert {name: tuple(map(named, keys)) for name, keys in everything.keys.items()} == KEYS
    config = read(EVERYTHING)
    assert read(printed(config, config_path(), {name: (keys, "") for name, keys in KEYS.items()})) == config
    written("theme = 1")
    assert main(["--print-config"]) == 2
    assert ":1: theme: 1 is none of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("r", "r"), ("R", "R"), ("?", "question_mark"), ("/", "slash"), ("[", "left_square_bracket"),
        ("<", "less_than_sign"), ("F8", "f8"), ("ctrl+N", "ctrl+n"), ("ctrl+/", "ctrl+underscore"),
        ("alt+up", "alt+up"), ("esc", "escape"), ("f99", None), ("ctrl+", None), ("hyper+x", None), ("", None),
        ("nonsense", None),
    ],
)  # fmt: skip
def test_keys_are_written_as_people_do(key: str, name: str | None) -> None:
    assert named(key) == name


def test_names_of_actions_are_keys_of_toml() -> None:
    assert len(KEYS) == len(ACTIONS)
    assert all(name.replace("-", "").replace("_", "").isalnum() for name in KEYS)
    assert all(named(shown_key(key)) == key for keys in KEYS.values() for key in keys)


def test_an_action_takes_a_key_from_the_one_that_had_it() -> None:
    changed, problems = rebound(ACTIONS, {"run": ["b", "f6"], "backend": []}, ["j"])
    by_id = {action.id: action for action in changed}
    assert problems == []
    assert (by_id["run"].letters, by_id["run"].keys) == (("b",), ("f6",))
    assert (by_id["backend"].letters, by_id["backend"].keys) == ((), ())
    assert by_id["previous-stage"].keys == ()
    assert by_id["previous-stage"].letters == ("left_square_bracket",)


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        ({"run": ["f88"]}, "keys.run: there is no key 'f88'; write it as r, ?, f8 or ctrl+n"),
        ({"run": ["ctrl+i"]}, "keys.run: terminals send ctrl+i as tab"),
        ({"run": ["j"]}, "keys.run: j moves in listings"),
        ({"run": ["u"], "backend": ["u"]}, "keys.backend: u is given to run already"),
    ],
)
def test_keys_that_cannot_be_had_are_said_and_change_nothing(wanted: dict[str, list[str]], problem: str) -> None:
    changed, problems = rebound(ACTIONS, wanted, ["j"])
    assert problems == [problem]
    last = list(wanted)[-1]
    assert next(a for a in changed if a.id == last) == next(a for a in ACTIONS if a.id == last)


PRESSING = """
import asyncio, sys
from pathlib import Path
from explorer import actions
print(actions.rebind({"backend": ["u", "f11"], "zoom": ["b"], "find": ["?"]}))
from tests.explorer.explorer_support import explorer

async def press():
    async with explorer(Path(sys.argv[1])) as e:
        await e.press("f11")
        seen = [e.main.session.backend]
        await e.press("escape", "u")
        seen.append(e.main.session.backend)
        await e.press("b")
        seen.append(e.main.workspace.zoomed)
        await e.press("question_mark")
        seen += [e.main.find_bar.is_open, "u backend" in e.line("#keys"), e.app.screen is e.main]
        print(seen, file=sys.__stdout__)

asyncio.run(press())
"""


def test_keys_of_the_config_file_are_the_ones_that_act(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PRESSING, str(tmp_path / "add.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": os.getcwd()})
    assert done.stdout.splitlines() == ["[]", "['mlir', 'cpu', 'ssa', True, True, True]"], done.stderr
    assert actions.ACTIONS is ACTIONS, "here nothing changed"
