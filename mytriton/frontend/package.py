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
    for base in _bases(Path(os.path.abspath(path)).parent, parts, level):
        target = base.joinpath(*parts)
        for candidate in (target.with_name(target.name + ".py"), target / "__init__.py"):
            if candidate.is_file():
                return candidate
    return None


def _bases(folder: Path, parts: list[str], level: int) -> Iterator[Path]:
    """The folders in which the first part of a module's name may stand."""
    above = [folder, *folder.parents][: _MAX_DEPTH + 1]
    if level:
        yield from above[level - 1 : level]
    elif parts:
        yield folder
        # `from fla.ops import x` in .../fla/ops/kernel.py: the package is a folder that the file is in.
        yield from (f.parent for f in above if f.name == parts[0])


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
