"""The config file: what may stand in it, what does, and how it is printed with all that could.

A mistake in it costs the value it is about and is said with its line; the explorer starts all the same.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from platformdirs import user_config_path

from explorer.model.presets import PRESETS
from explorer.model.theme_names import THEMES
from mytriton.records import dataclass
from mytriton.target import BACKENDS, CHIPS


@dataclass(frozen=True, slots=True)
class Config:
    """The settings. `keys` are those of the actions that were given others; `problems` is what was wrong, a sentence
    each; `origins` says where a setting that is not its default comes from."""

    theme: str = ""
    layout: str = ""
    backend: str = "cuda"
    chip: str = "sm_90"
    num_warps: int | None = None
    tab_width: int = 4
    counts: bool = True
    mouse: bool = True
    execute: bool = True
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    problems: tuple[str, ...] = ()
    origins: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting: what it is for, what it may be, an example where it has no default, and the environment variable that
    beats the file."""

    name: str
    doc: str
    choices: tuple[Any, ...]
    example: Any = None
    variable: str = ""

    @property
    def environment(self) -> str:
        """The name of its environment variable."""
        return self.variable or f"MYTRITON_EXPLORE_{self.name.upper()}"


SETTINGS = (
    Setting("theme", "Colours. Not set: those chosen last (T).", THEMES, THEMES[0]),
    Setting("layout", "Where the panes stand. Not set: as they were left (W).", tuple(PRESETS), "default"),
    Setting(
        "backend", "What a kernel is compiled for at first (b goes on to the next).", BACKENDS, "", "MYTRITON_BACKEND"
    ),
    Setting("chip", "NVIDIA architecture.", tuple(CHIPS)),
    Setting("num_warps", "Warps that share a program. Not set: the example's, else 4.", (1, 2, 4, 8, 16, 32), 4),
    Setting("tab_width", "Blanks that a step of indentation has in the editor.", (2, 3, 4, 8)),
    Setting("counts", "Whether lines of the source are told how many lines they became.", (True, False)),
    Setting("mouse", "Whether the mouse is listened to. If not, the terminal selects text with it.", (True, False)),
    Setting("execute", "Whether opening and saving execute the file; false is --no-exec.", (True, False)),
)


def config_path() -> Path:
    """Where the config file is looked for."""
    return user_config_path("mytriton-explore") / "config.toml"


def load(path: Path, environment: Mapping[str, str], actions: Mapping[str, Sequence[str]]) -> Config:
    """The settings of the file, if it is there, under those of the environment. `actions` are the keys of each action,
    by its name."""
    config = Config()
    try:
        text = path.read_bytes().decode()
    except FileNotFoundError:
        text = ""
    except (OSError, UnicodeError) as error:
        config = replace(config, problems=(f"{path} cannot be read: {error}",))
        text = ""
    if text:
        config = _of_file(config, path, text, actions)
    for setting in SETTINGS:
        value = environment.get(setting.environment, "")
        if value:
            config = _with(config, setting, _read_as(setting, value), setting.environment, f"${setting.environment}")
    return config


def _of_file(config: Config, path: Path, text: str, actions: Mapping[str, Sequence[str]]) -> Config:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return replace(config, problems=(f"{path}: {error}; none of it is used",))

    def where(name: str, section: str = "") -> str:
        return f"{path}:{_line(text, name, section)}: {name}"

    known = {setting.name: setting for setting in SETTINGS}
    for name, value in data.items():
        if name == "keys" and isinstance(value, dict):
            config = _with_keys(config, value, lambda name: where(name, "keys"), actions)
        elif name in known:
            config = _with(config, known[name], value, str(path), where(name))
        else:
            problem = f"{where(name)}: there is no such setting{_meant(name, [*known, 'keys'])}"
            config = replace(config, problems=(*config.problems, problem))
    return config


def _read_as(setting: Setting, value: str) -> Any:
    """What an environment variable means: one of the choices, if it is written like one."""
    return next((choice for choice in setting.choices if str(choice).lower() == value.lower()), value)


def _with(config: Config, setting: Setting, value: Any, origin: str, where: str) -> Config:
    # True is 1, and 1.0 too, for Python but not for who reads the file.
    if any(value == choice and type(value) is type(choice) for choice in setting.choices):
        return replace(config, **{setting.name: value}, origins={**config.origins, setting.name: origin})
    written = ", ".join(_toml(choice) for choice in setting.choices)
    problem = f"{where}: {_toml(value)} is none of {written}{_meant(value, setting.choices)}"
    return replace(config, problems=(*config.problems, problem))


def _with_keys(
    config: Config, data: Mapping[str, Any], where: Callable[[str], str], actions: Mapping[str, Sequence[str]]
) -> Config:
    keys: dict[str, tuple[str, ...]] = dict(config.keys)
    problems = list(config.problems)
    for name, value in data.items():
        values = [value] if isinstance(value, str) else value
        if name not in actions:
            problems.append(f"{where(name)}: there is no such action{_meant(name, list(actions))}")
        elif not isinstance(values, list) or not all(isinstance(key, str) for key in values):
            problems.append(f'{where(name)}: write a key or a list of keys, such as ["r", "f8"]')
        else:
            keys[name] = tuple(values)
    return replace(config, keys=keys, problems=tuple(problems))


def _meant(name: Any, known: Sequence[Any]) -> str:
    near = get_close_matches(str(name).lower(), [str(k) for k in known], 1, 0.5)
    return f"; did you mean {near[0]}?" if near else ""


def _line(text: str, name: str, section: str) -> int:
    """The line that gives `name` in a section of the text ("": before all of them)."""
    here = ""
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(r"\s*\[+\s*([^]]*?)\s*\]", line):
            here = header[1]
            if here == name:
                return number
        if here == section and re.match(rf"""\s*(["']?){re.escape(name)}\1\s*[=.]""", line):
            return number
    return 1


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value)


def printed(config: Config, path: Path, actions: Mapping[str, tuple[Sequence[str], str]]) -> str:
    """The settings as a config file, each with what it is for and may be; those that are as by default are comments.
    `actions` are keys and help of each action, by its name."""
    lines = [f"# {path}", "# Flags beat environment variables, and these beat this file.", ""]
    for setting in SETTINGS:
        value = getattr(config, setting.name)
        shown = setting.example if value in ("", None) else value
        lines += [f"# {setting.doc}", f"# {' | '.join(map(_toml, setting.choices))}  (${setting.environment})"]
        given = setting.name in config.origins
        lines += [f"{'' if given else '# '}{setting.name} = {_toml(shown)}", ""]
    lines += ["# Keys of actions: the letters act where nothing is being typed, the others everywhere.", "[keys]"]
    for name, (keys, help) in actions.items():
        given = name in config.keys
        shown_keys = _toml(list(config.keys[name] if given else keys))
        lines.append(f"{'' if given else '# '}{name} = {shown_keys}".ljust(44) + f"  # {help}")
    return "\n".join(lines) + "\n"
