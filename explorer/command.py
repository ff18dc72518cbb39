"""What the command line can say; `cli` checks what it does say."""

from __future__ import annotations

import argparse
from typing import NoReturn

from explorer.model.theme_names import THEMES
from mytriton.stage import FAMILIES
from mytriton.target import BACKENDS

_EPILOG = """\
examples:
  mytriton-explore examples/kernels/add.py                     look at it, edit it, run it
  mytriton-explore add.py --stages --backend mlir              what each stage did
  mytriton-explore add.py --print ptx --signature "*fp32:16, *fp32:16, *fp32:16, i32, 1024"
  mytriton-explore add.py --check --backend cpu                run the file's examples
  mytriton-explore add.py --bench --example 1                  how fast one of them is
  mytriton-explore add.py --json --show ssa,ptx,problems       the same panes for a program
  mytriton-explore add.py --compare BLOCK=512 --print sass     what the constexpr changes
  mytriton-explore x.mlir --stages --pipeline "canonicalize,cse"   each pass over a module of yours
  mytriton-explore add.py --bundle add.mtx                     everything in one file, which opens anywhere

exit codes: 0 all well, 1 a kernel or a check failed, 2 bad input, 3 the backend cannot run here
"""


class Misunderstood(Exception):
    """The command line is none; a sentence that says why."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Misunderstood(f"{message}; see mytriton-explore --help")


def parser() -> argparse.ArgumentParser:
    """The parser; it raises `Misunderstood`."""
    made = _Parser(
        prog="mytriton-explore",
        description="Shows every stage of a Triton-style kernel's compilation, live while it is edited, and runs it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        help="a Python file with at least one @jit kernel (the UI takes several, and folders), an MLIR module (.mlir), "
        "or a bundle (.mtx)",
    )
    what = made.add_argument_group("what to look at")
    what.add_argument(
        "--kernel",
        metavar="NAME",
        help="its name (default: the file's only one that no other calls; in the UI the first of those)",
    )
    what.add_argument(
        "--example",
        metavar="N",
        help="an example by number, from 0, or by label (default: the first of more than one element)",
    )
    what.add_argument("--backend", metavar="|".join(BACKENDS), help="default: $MYTRITON_BACKEND, else cuda")
    what.add_argument("--chip", metavar="CHIP", help="NVIDIA architecture (default: sm_90)")
    what.add_argument("-D", dest="defines", metavar="NAME=VALUE", action="append", default=[], help="a constexpr")
    what.add_argument(
        "--config", metavar="N", help="a config that @autotune chooses from, by number, from 0 (default: the example's)"
    )
    what.add_argument("--num-warps", metavar="N", help="warps that share a program (default: the example's, else 4)")
    what.add_argument(
        "--signature", metavar="SIG", default="", help='argument types, such as "*fp32:16, *fp32, i32, 64"'
    )
    what.add_argument(
        "--compare",
        metavar="A",
        default="",
        help="with a build A, which is `commit` (the file as of its last one), a backend, a chip, NAME=VALUE of a "
        "constexpr, a bundle, or `pinned` (the one in the bundle); alone: a table of figures",
    )
    what.add_argument(
        "--pipeline",
        metavar="P",
        help="the passes an MLIR module goes through: canonicalize,func.func(cse), with builtin.module(...) or without",
    )
    what.add_argument(
        "--schedule",
        metavar="FILE",
        default="",
        help="an MLIR module: a transform dialect module to apply step by step",
    )
    what.add_argument("--every-stage", action="store_true", help="with --check: after every stage, to find a wrong one")
    what.add_argument("--theme", metavar="NAME", help=f"colours: {', '.join(THEMES)}")
    what.add_argument("--no-exec", action="store_true", help="never execute the file, only read it")
    instead = made.add_argument_group("instead of the UI").add_mutually_exclusive_group()
    instead.add_argument("--stages", action="store_true", help="one line a stage: name, status, ms, cause")
    instead.add_argument("--print", metavar="STAGE", help=f"a listing: a stage, or one of {' '.join(FAMILIES)}")
    instead.add_argument(
        "--query",
        metavar="Q",
        help="operations of an MLIR module, or of kernels' MLIR: reductions, transposes, broadcasts, casts, or a name "
        "such as linalg.*",
    )
    instead.add_argument("--check", action="store_true", help="run the examples and compare; one line each")
    instead.add_argument("--bench", action="store_true", help="check the examples and time them; against the roofline")
    instead.add_argument("--tune", action="store_true", help="time all configs of autotuned kernels on the examples")
    instead.add_argument("--print-config", action="store_true", help="the config file with all settings, and its place")
    instead.add_argument("--reproduce", metavar="FOLDER", help="write the failing stage, ready to run again alone")
    instead.add_argument(
        "--report", metavar="FILE", help="write a report: FILE.html for a browser, FILE.md for an issue"
    )
    instead.add_argument("--svg", metavar="FILE", help="write a picture of the screen")
    instead.add_argument(
        "--bundle", metavar="FILE", help="write everything into one file, which opens without a compiler"
    )
    how = made.add_argument_group("how")
    how.add_argument(
        "--json", action="store_true", help="as JSON: --stages, --print, --query, --check, --bench, --tune; alone: all"
    )
    how.add_argument(
        "--show", metavar="LIST", default="", help="with --json: only these panes and stages: ssa,problems"
    )
    story = how.add_mutually_exclusive_group()
    story.add_argument("--diff", action="store_true", help="with --print, --json: against the stage before")
    story.add_argument("--log", action="store_true", help="with --print: what the stage did and why")
    how.add_argument(
        "--stage", metavar="STAGE", help="with --reproduce, --query: a stage (default: the failing one, every one)"
    )
    how.add_argument("--seconds", metavar="S", help="with --bench: how long an example is timed (default: 1)")
    how.add_argument("--size", metavar="WxH", help="with --svg: columns and rows (default: 160x50)")
    how.add_argument("--overwrite", action="store_true", help="replace the file that is written, if it is there")
    return made
