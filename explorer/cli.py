"""The command line, checked: what is wrong with it is said in a sentence, with what to do about it.

Neither Textual nor the compiler is imported for it, so that `--help` and mistakes are answered at once.
"""

from __future__ import annotations

import argparse
import ast
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NoReturn

from explorer.actions import ACTIONS
from explorer.engine.limits import Limits
from explorer.engine.messages import CompileRequest, RunRequest
from explorer.model.config import Config, config_path, load
from explorer.model.settings import Settings
from explorer.model.source_text import decode
from explorer.model.theme_names import THEMES
from mytriton.stage import FAMILIES
from mytriton.target import BACKENDS, CHIPS

Mode = Literal["ui", "config", "stages", "print", "check", "json", "reproduce"]

_EPILOG = """\
examples:
  mytriton-explore examples/kernels/add.py                     look at it, edit it, run it
  mytriton-explore add.py --stages --backend mlir              what each stage did
  mytriton-explore add.py --print ptx --signature "*fp32:16, *fp32:16, *fp32:16, i32, 1024"
  mytriton-explore add.py --check --backend cpu                run the file's examples

exit codes: 0 all well, 1 a kernel or a check failed, 2 bad input, 3 the backend cannot run here
"""


class BadInput(Exception):
    """The command line or the file it names cannot be worked with; a sentence that says what to do."""


class Misused(BadInput):
    """The command line itself is wrong."""


@dataclass(frozen=True)
class Options:
    """The command line. `text` is the file's content; `example` is a number or a label as given, None if it was not."""

    path: str
    text: str
    mode: Mode = "ui"
    kernel: str | None = None
    example: str | None = None
    backend: str = "cuda"
    chip: str = "sm_90"
    num_warps: int | None = None
    defines: dict[str, Any] = field(default_factory=dict)
    signature: str = ""
    execute: bool = True
    stage: str = ""
    every_stage: bool = False
    folder: str = ""
    config: Config = field(default_factory=Config)

    def settings(self) -> Settings:
        """What the UI starts with."""
        if self.example is not None and not self.example.isdigit():
            raise BadInput(f"--example {self.example}: in the UI give an example by its number, from 0")
        return Settings(
            self.path,
            self.kernel,
            int(self.example or 0),
            self.backend,
            self.chip,
            self.num_warps,
            self.defines,
            self.signature,
            self.execute,
        )

    def compile_request(
        self, text: str, kernel: str | None, example: int, wanted: Sequence[str] = ()
    ) -> CompileRequest:
        """What to ask the engine for."""
        return CompileRequest(
            self.path,
            text,
            kernel,
            (self.backend,),
            self.chip,
            self.num_warps,
            self.defines,
            self.signature,
            example,
            tuple(wanted),
            self.stage,
        )

    def run_request(self, text: str, kernel: str | None, example: int, fallback: bool) -> RunRequest:
        """What to ask the engine to run."""
        return RunRequest(
            self.path,
            text,
            kernel,
            self.backend,
            self.chip,
            self.num_warps,
            self.defines,
            example,
            fallback,
            self.every_stage,
        )


def unknown(what: str, name: str, known: Sequence[str], where: str = "") -> BadInput:
    """A name that is none of the known ones: suggests the nearest. `where` follows the name."""
    near = get_close_matches(name, known, 1, 0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    there = "there is" if len(known) == 1 else "there are"
    return BadInput(f"there is no {what} {name!r}{where}; {hint}{there} {', '.join(known)}")


def read_source(path: str) -> str:
    """The text of a Python file, by its own encoding; `BadInput` says why it cannot be had."""
    file = Path(path)
    if file.is_dir():
        inside = sorted(p.name for p in file.glob("*.py"))[:5]
        listed = f", such as {file / inside[0]}" if inside else ""
        raise BadInput(f"{path} is a directory; name a kernel file{listed}")
    if file.exists() and not file.is_file():
        raise BadInput(f"{path} is not a regular file; name a Python file with a kernel in it")
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        if file.is_symlink():
            raise BadInput(f"{path} is a link to {os.readlink(file)}, which does not exist") from None
        near = get_close_matches(file.name, [p.name for p in file.parent.glob("*.py")], 1, 0.75)
        hint = f"did you mean {file.parent / near[0]}?" if near else "check the path"
        raise BadInput(f"{path} does not exist; {hint}") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); check its permissions") from None
    if b"\0" in data:
        raise BadInput(f"{path} is a binary file; name a Python file with a kernel in it")
    try:
        return decode(data)[0]
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        hint = "save it as UTF-8, or declare its encoding in the first line (# -*- coding: latin-1 -*-)"
        raise BadInput(f"{path} is not {error.encoding} text, at line {line}; {hint}") from None
    except UnicodeError as error:
        raise BadInput(f"{path}: {error}") from None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Misused(f"{message}; see mytriton-explore --help")


def _parser() -> _Parser:
    parser = _Parser(
        prog="mytriton-explore",
        description="Shows every stage of a Triton-style kernel's compilation, live while it is edited, and runs it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", nargs="?", help="a Python file with at least one @jit kernel")
    what = parser.add_argument_group("what to look at")
    what.add_argument(
        "--kernel",
        metavar="NAME",
        help="its name (default: the file's only one that no other calls; in the UI the first of those)",
    )
    what.add_argument("--example", metavar="N", help="an example by number, from 0, or by label (default: the first)")
    what.add_argument("--backend", metavar="|".join(BACKENDS), help="default: $MYTRITON_BACKEND, else cuda")
    what.add_argument("--chip", metavar="CHIP", help="NVIDIA architecture (default: sm_90)")
    what.add_argument("-D", dest="defines", metavar="NAME=VALUE", action="append", default=[], help="a constexpr")
    what.add_argument("--num-warps", metavar="N", help="warps that share a program (default: the example's, else 4)")
    what.add_argument(
        "--signature", metavar="SIG", default="", help='argument types, such as "*fp32:16, *fp32, i32, 64"'
    )
    what.add_argument("--every-stage", action="store_true", help="with --check: after every stage, to find a wrong one")
    what.add_argument("--theme", metavar="NAME", help=f"colours: {', '.join(THEMES)}")
    what.add_argument("--no-exec", action="store_true", help="never execute the file, only read it")
    instead = parser.add_argument_group("instead of the UI").add_mutually_exclusive_group()
    instead.add_argument("--stages", action="store_true", help="one line a stage: name, status, ms, cause")
    instead.add_argument("--print", metavar="STAGE", help=f"a listing: a stage, or one of {' '.join(FAMILIES)}")
    instead.add_argument("--check", action="store_true", help="run the examples and compare; one line each")
    instead.add_argument("--json", action="store_true", help="everything, as JSON")
    instead.add_argument("--print-config", action="store_true", help="the config file with all settings, and its place")
    instead.add_argument("--reproduce", metavar="FOLDER", help="write the failing stage, ready to run again alone")
    what.add_argument("--stage", metavar="STAGE", help="with --reproduce: another stage than the failing one")
    return parser


def _num_warps(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number not in (1, 2, 4, 8, 16, 32):
        raise BadInput(f"--num-warps {text}: the number of warps must be 1, 2, 4, 8, 16 or 32")
    return number


def defines(items: Sequence[str]) -> dict[str, Any]:
    """The values of `-D`; raises `BadInput`."""
    values: dict[str, Any] = {}
    for item in items:
        name, equals, text = item.partition("=")
        if not equals or not name.isidentifier():
            raise BadInput(f"-D {item}: write it as NAME=VALUE, such as -D BLOCK=1024")
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            quoted = f"""; for a string: -D '{name}="{text}"'""" if text.isidentifier() else ""
            raise BadInput(f"-D {item}: {text!r} is not a Python number, string, True, False or None{quoted}") from None
        if value is not None and not isinstance(value, (bool, int, float, str)):
            raise BadInput(f"-D {item}: a constexpr must be a number, a string, True, False or None")
        values[name] = value
    return values


def parse(argv: Sequence[str]) -> Options:
    """The options of a command line; raises `BadInput`. Reads the file."""
    found = _parser().parse_args(list(argv))
    try:
        Limits.from_environment()
    except ValueError as error:
        raise BadInput(str(error)) from None
    modes: dict[Mode, bool] = {
        "stages": found.stages,
        "print": found.print is not None,
        "check": found.check,
        "json": found.json,
        "reproduce": found.reproduce is not None,
        "config": found.print_config,
    }
    mode: Mode = next((mode for mode, given in modes.items() if given), "ui")
    # What a script prints depends on its flags and its environment, not on how somebody likes the explorer.
    config = _config() if mode in ("ui", "config") else Config()
    if mode == "config":
        return Options("", "", mode, config=config)
    if found.file is None:
        raise Misused("the following arguments are required: FILE; see mytriton-explore --help")
    if found.theme is not None and found.theme not in THEMES:
        raise unknown("theme", found.theme, THEMES)
    backend = found.backend or os.environ.get("MYTRITON_BACKEND") or config.backend
    if backend not in BACKENDS:
        raise unknown("backend", backend, BACKENDS)
    chip = found.chip or config.chip
    if chip not in CHIPS:
        raise unknown("chip", chip, tuple(CHIPS))
    if found.every_stage and not found.check:
        raise Misused("--every-stage says how --check goes about it; give both")
    if found.stage is not None and found.reproduce is None:
        raise Misused("--stage says what --reproduce is about; give both")
    if found.check and found.no_exec:
        raise BadInput("--check runs the file's examples, so it cannot go with --no-exec; leave one of them away")
    return Options(
        found.file,
        read_source(found.file),
        mode,
        found.kernel,
        found.example,
        backend,
        chip,
        config.num_warps if found.num_warps is None else _num_warps(found.num_warps),
        defines(found.defines),
        found.signature,
        config.execute and not found.no_exec,
        found.print or found.stage or "",
        found.every_stage,
        found.reproduce or "",
        replace(config, theme=found.theme or config.theme),
    )


def _config() -> Config:
    actions = {action.id: (*action.letters, *action.keys) for action in ACTIONS}
    return load(config_path(), os.environ, actions)
