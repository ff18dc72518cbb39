"""Files with kernels: which there are in a folder, and what a path that is being typed may become."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from explorer.model.paths import is_mlir, typed
from mytriton.records import dataclass


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file that is open."""

    path: Path
    edited: bool = False
    shown: bool = False

    @property
    def words(self) -> str:
        """What there is to say about it in a list."""
        return "  ".join([*(["shown"] if self.shown else ["open"]), *(["[edited]"] if self.edited else [])])


#: What files end in that can be opened.
SUFFIXES = (".py", ".mlir")
#: Files of a folder that are looked at, and bytes of one.
MOST, LARGEST = 500, 1_000_000

_KERNEL = re.compile(rb"^\s*@(?:\w+\.)*jit\b", re.MULTILINE)
_FUNCTION = re.compile(rb"^\s*(?:func|llvm|gpu)\.func\b", re.MULTILINE)


def kernel_count(path: Path) -> int:
    """How many functions of a file are decorated as kernels, or there are in an MLIR file; 0 of one that cannot be
    read."""
    with suppress(OSError), open(path, "rb") as file:
        return len((_FUNCTION if is_mlir(path) else _KERNEL).findall(file.read(LARGEST)))
    return 0


def _files(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        yield from sorted(p for p in folder.iterdir() if p.suffix in SUFFIXES and os.path.isfile(p))[:MOST]


def kernel_files(folder: Path) -> list[tuple[Path, int]]:
    """The files of a folder that have kernels or MLIR functions, and how many. Reads all: not for the screen's loop."""
    return [(path, count) for path in _files(folder) if (count := kernel_count(path))]


def completions(name: str, folder: Path) -> list[Path]:
    """The folders, Python and MLIR files that a path may become; one that is not absolute begins in `folder`."""
    whole = folder / typed(name)
    parent, start = (whole, "") if name.endswith("/") or not name else (whole.parent, whole.name)
    with suppress(OSError):
        return sorted(
            (
                path
                for path in parent.iterdir()
                if path.name.startswith(start)
                and (start.startswith(".") or not path.name.startswith("."))
                and path.name != "__pycache__"
                and (os.path.isdir(path) or path.suffix in SUFFIXES)
            ),
            key=lambda path: (os.path.isdir(path), path.name),
        )[:MOST]
    return []
