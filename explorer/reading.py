"""Files that the command line names: what is in them, or why that cannot be had."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from explorer.model.kernel_files import kernel_files
from explorer.model.paths import is_mlir
from explorer.model.source_text import decode


class BadInput(Exception):
    """The command line or the file it names cannot be worked with; a sentence that says what to do."""


class Misused(BadInput):
    """The command line itself is wrong."""


def unknown(what: str, name: str, known: Sequence[str], where: str = "") -> BadInput:
    """A name that is none of the known ones: suggests the nearest. `where` follows the name."""
    near = get_close_matches(name, known, 1, 0.5)
    hint = f"did you mean {near[0]!r}? " if near else ""
    there = "there is" if len(known) == 1 else "there are"
    return BadInput(f"there is no {what} {name!r}{where}; {hint}{there} {', '.join(known)}")


def files_of(paths: Sequence[str]) -> list[str]:
    """The files that are named, and those with kernels of the folders that are."""
    files = []
    for path in paths:
        inside = [str(file) for file, _ in kernel_files(Path(path))] if os.path.isdir(path) else [path]
        if not inside:
            raise BadInput(f"no Python file in {path} has a kernel: a function decorated with @jit")
        files += inside
    return list(dict.fromkeys(files))


def is_bundle(path: str) -> bool:
    """Whether a file is meant to be a bundle: it has the name of one, or begins like one."""
    if Path(path).suffix == ".mtx" or not os.path.isfile(path):
        return Path(path).suffix == ".mtx"
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"\x1f\x8b"
    except OSError:  # reading it as a source says what is wrong
        return False


def read_source(path: str) -> str:
    """The text of a Python or MLIR file, by its own encoding; `BadInput` says why it cannot be had."""
    file = Path(path)
    if os.path.isdir(file):
        inside = sorted(p.name for p in file.glob("*.py"))[:5]
        listed = f", such as {file / inside[0]}" if inside else ""
        raise BadInput(f"{path} is a directory; name a kernel file{listed}")
    what = "an MLIR module as text" if is_mlir(path) else "a Python file with a kernel in it"
    if os.path.exists(file) and not os.path.isfile(file):
        raise BadInput(f"{path} is not a regular file; name {what}")
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        if file.is_symlink():
            raise BadInput(f"{path} is a link to {os.readlink(file)}, which does not exist") from None
        suffix = file.suffix if is_mlir(path) else ".py"
        near = get_close_matches(file.name, [p.name for p in file.parent.glob(f"*{suffix}")], 1, 0.75)
        hint = f"did you mean {file.parent / near[0]}?" if near else "check the path"
        raise BadInput(f"{path} does not exist; {hint}") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); check its permissions") from None
    if b"\0" in data:
        raise BadInput(f"{path} is a binary file; name {what}")
    try:
        return decode(data)[0]
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        hint = "save it as UTF-8, or declare its encoding in the first line (# -*- coding: latin-1 -*-)"
        raise BadInput(f"{path} is not {error.encoding} text, at line {line}; {hint}") from None
    except UnicodeError as error:
        raise BadInput(f"{path}: {error}") from None


def config_number(text: str | None) -> int | None:
    """The number of a config; raises `BadInput`."""
    if text is None or text.isdecimal():
        return None if text is None else int(text)
    raise BadInput(f"--config {text}: configs of @autotune go by number, from 0, in the order they are written in")
