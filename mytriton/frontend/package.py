"""Finds the files that a kernel file imports from beside it or from its own package, to be read, never executed."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

#: What tells one version of a file from another: time of change in ns, size in bytes.
Stamp = tuple[int, int]

#: How many folders up a package of the file's own may begin.
_MAX_DEPTH = 16


def imported_file(path: str, module: str, level: int) -> Path | None:
    """The file of `module` as `path` would import it; `level` counts the dots of a relative import. None if it is not
    beside the file or in the package the file is part of."""
    parts = module.split(".") if module else []
    for base in _bases(os.path.dirname(os.path.abspath(path)), parts, level):
        target = os.path.join(base, *parts)
        for candidate in (target + ".py", os.path.join(target, "__init__.py")):
            if os.path.isfile(candidate):
                return Path(candidate)
    return None


def _bases(folder: str, parts: list[str], level: int) -> Iterator[str]:
    """The folders in which the first part of a module's name may stand. Text: making `Path`s takes ten times as long,
    and a file is read at each key press."""
    above = [folder]
    while len(above) <= _MAX_DEPTH and (parent := os.path.dirname(above[-1])) != above[-1]:
        above.append(parent)
    if level:
        yield from above[level - 1 : level]
    elif parts:
        yield folder
        # `from fla.ops import x` in .../fla/ops/kernel.py: the package is a folder that the file is in.
        yield from (os.path.dirname(f) for f in above if os.path.basename(f) == parts[0])


def stamp_of(file: Path) -> Stamp | None:
    """The version of a file; None if there is no such file."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def spelled_import(node: ast.ImportFrom) -> str:
    """The module as it stands in `from ... import`."""
    return "." * node.level + (node.module or "")
