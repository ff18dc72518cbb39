"""The command line, checked: what is wrong with it is said in a sentence, with what to do about it.

Neither Textual nor the compiler is imported for it, so that `--help` and mistakes are answered at once.
"""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from explorer.actions import ACTIONS
from explorer.command import Misunderstood, parser
from explorer.engine.limits import Limits
from explorer.given import defines, num_warps, seconds, size
from explorer.model.config import Config, config_path, load
from explorer.model.settings import Settings
from explorer.model.theme_names import THEMES
from explorer.passes_given import with_passes
from explorer.reading import BadInput as BadInput
from explorer.reading import Misused as Misused
from explorer.reading import config_number, files_of, is_bundle, read_source
from explorer.reading import unknown as unknown
from mytriton.records import dataclass
from mytriton.target import BACKENDS, CHIPS

if TYPE_CHECKING:
    from explorer.share.record import Shared

Mode = Literal[
    "ui", "config", "stages", "print", "query", "check", "bench", "tune", "json", "reproduce", "compare",
    "report", "svg", "bundle",
]  # fmt: skip
Story = Literal["text", "diff", "log"]


@dataclass(frozen=True)
class Options:
    """The command line. `text` is the file's content; `example` is a number or a label as given, None if it was not.
    `choice` numbers a config of `autotune`, `out` is the file to write, `bundle` what the file holds if it is one:
    `path` is then that of its source."""

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
    json: bool = False
    show: tuple[str, ...] = ()
    story: Story = "text"
    compare: str = ""
    out: str = ""
    size: tuple[int, int] = (160, 50)
    bundle: Shared | None = None
    bundle_path: str = ""
    overwrite: bool = False
    seconds: float = 1.0
    others: tuple[str, ...] = ()
    choice: int | None = None
    question: str = ""
    pipeline: tuple[str, ...] | None = None
    schedule: str = ""
    schedule_text: str = ""

    def settings(self) -> Settings:
        """What the UI starts with."""
        if self.example is not None and not self.example.isdigit():
            raise BadInput(f"--example {self.example}: in the UI give an example by its number, from 0")
        return Settings(
            self.path,
            self.kernel,
            int(self.example) if self.example is not None else None,
            self.backend,
            self.chip,
            self.num_warps,
            self.defines,
            self.signature,
            self.execute,
            config=self.choice,
            pipelines={} if self.pipeline is None else {self.backend: self.pipeline},
            schedule=self.schedule,
            schedule_text=self.schedule_text,
        )


def parse(argv: Sequence[str]) -> Options:
    """The options of a command line; raises `BadInput`. Reads the file."""
    try:
        found = parser().parse_args(list(argv))
    except Misunderstood as error:
        raise Misused(str(error)) from None
    try:
        Limits.from_environment()
    except ValueError as error:
        raise BadInput(str(error)) from None
    mode = _mode(found)
    # What a script prints depends on its flags and its environment, not on how somebody likes the explorer.
    config = _config() if mode in ("ui", "config") else Config()
    if mode == "config":
        return Options("", "", mode, config=config)
    if not found.files:
        raise Misused("the following arguments are required: FILE; see mytriton-explore --help")
    found.file, *others = files_of(found.files) if mode == "ui" else found.files
    if others and (mode != "ui" or any(map(is_bundle, found.files))):
        raise Misused(f"{'a bundle' if mode == 'ui' else f'--{mode}'} is about one file, not {len(others) + 1}")
    if found.theme is not None and found.theme not in THEMES:
        raise unknown("theme", found.theme, THEMES)
    backend = found.backend or os.environ.get("MYTRITON_BACKEND") or config.backend
    if backend not in BACKENDS:
        raise unknown("backend", backend, BACKENDS)
    chip = found.chip or config.chip
    if chip not in CHIPS:
        raise unknown("chip", chip, tuple(CHIPS))
    if mode in ("check", "bench", "tune") and found.no_exec:
        raise BadInput(f"--{mode} runs the file's examples, so it cannot go with --no-exec; leave one of them away")
    out = found.report or found.svg or found.bundle or ""
    if out and os.path.exists(out) and not found.overwrite:
        raise BadInput(f"{out} is there already; --overwrite replaces it")
    options = Options(
        found.file,
        "",
        mode,
        found.kernel,
        found.example,
        backend,
        chip,
        config.num_warps if found.num_warps is None else num_warps(found.num_warps),
        defines(found.defines),
        found.signature,
        config.execute and not found.no_exec,
        found.print or found.stage or "",
        found.every_stage,
        found.reproduce or "",
        replace(config, theme=found.theme or config.theme),
        found.json,
        tuple(name.strip() for name in found.show.split(",") if name.strip()),
        "diff" if found.diff else "log" if found.log else "text",
        found.compare,
        out,
        size(found.size),
        overwrite=found.overwrite,
        seconds=seconds(found.seconds),
        others=tuple(others),
        choice=config_number(found.config),
        question=found.query or "",
    )
    if is_bundle(found.file):
        return _of_bundle(options, found)
    return with_passes(replace(options, text=read_source(found.file)), found)


def _config() -> Config:
    actions = {action.id: (*action.letters, *action.keys) for action in ACTIONS}
    return load(config_path(), os.environ, actions)


def _mode(found: Namespace) -> Mode:
    """What to do; `Misused` if the options do not go together."""
    modes: dict[Mode, bool] = {
        "stages": found.stages,
        "print": found.print is not None,
        "query": found.query is not None,
        "check": found.check,
        "bench": found.bench,
        "tune": found.tune,
        "reproduce": found.reproduce is not None,
        "report": found.report is not None,
        "svg": found.svg is not None,
        "bundle": found.bundle is not None,
        "config": found.print_config,
    }
    mode = next((mode for mode, given in modes.items() if given), None)
    if mode is None:
        mode = "json" if found.json else "compare" if found.compare else "ui"
    if found.every_stage and not found.check:
        raise Misused("--every-stage says how --check goes about it; give both")
    if found.seconds is not None and not found.bench:
        raise Misused("--seconds says how long --bench times an example; give both")
    if found.stage is not None and found.reproduce is None and found.query is None:
        raise Misused("--stage says what --reproduce or --query is about; give both")
    if found.json and mode in ("reproduce", "report", "svg", "bundle"):
        raise Misused(f"--{mode} writes files, and --json prints; leave one of them away")
    if found.show and mode != "json":
        raise Misused("--show says what --json prints; give both, and none of --stages, --print, --check and --bench")
    if found.diff and mode not in ("print", "json"):
        raise Misused("--diff says how --print shows a stage, or --json; give one of them")
    if found.log and mode != "print":
        raise Misused("--log says how --print shows a stage; give both (with --json each stage has its `changes`)")
    if found.compare and (
        mode in ("stages", "query", "tune", "reproduce", "svg") or (mode == "print" and (found.diff or found.log))
    ):
        raise Misused(f"--compare A cannot go with {'--diff or --log' if mode == 'print' else f'--{mode}'}")
    if found.config is not None and mode == "tune":
        raise Misused("--config says what --tune chooses; leave one of them away")
    if found.size is not None and mode != "svg":
        raise Misused("--size says how large the picture of --svg is; give both")
    if found.overwrite and mode not in ("report", "svg", "bundle"):
        raise Misused("--overwrite is for the file of --report, --svg or --bundle")
    if found.report is not None and Path(found.report).suffix not in (".html", ".md"):
        raise Misused(f"--report {found.report}: the name must end in .html or .md")
    return mode


def _of_bundle(options: Options, found: Namespace) -> Options:
    """The options for a bundle: what it was compiled for stands in it."""
    from explorer.share.bundle import NoBundle, read

    given = {
        "--kernel": found.kernel,
        "--example": found.example,
        "--chip": found.chip,
        "-D": found.defines,
        "--config": found.config,
        "--num-warps": found.num_warps,
        "--signature": found.signature,
        "--reproduce": found.reproduce,
        "--pipeline": found.pipeline,
        "--schedule": found.schedule,
        "--query": found.query,
        "--bench": found.bench,
        "--tune": found.tune,
    }
    if changed := [name for name, value in given.items() if value]:
        raise BadInput(
            f"{found.file} is a bundle, which shows what was compiled; {', '.join(changed)} takes the source"
        )
    try:
        bundle = read(found.file)
    except NoBundle as error:
        raise BadInput(str(error)) from None
    b = bundle.b
    backend = found.backend or b.backend
    if b.build(backend) is None and (found.backend or b.builds):
        raise unknown("build of backend", backend, [build.backend for build in b.builds], f" in {found.file}")
    return replace(
        options,
        path=b.path,
        text=b.text,
        kernel=b.kernel or None,
        example=str(b.example),
        backend=backend,
        chip=b.chip,
        num_warps=b.num_warps,
        defines=b.defines,
        signature=b.signature,
        choice=b.config,
        bundle=bundle,
        bundle_path=found.file,
    )
