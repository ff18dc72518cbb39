"""Paths that may be anything a person typed: asking about them never raises, which pathlib does for names that are too
long, links in a circle, users that there are not, and a folder that is gone."""

from __future__ import annotations

import os
from pathlib import Path


def typed(text: str) -> Path:
    """The path that was typed; `~` is home."""
    return Path(os.path.expanduser(text.strip().replace("\0", "")))


def absolute(path: str | Path) -> Path:
    """The path from the root, if the working folder is still there."""
    try:
        return Path(os.path.abspath(path))
    except OSError:
        return Path(path)


def real(path: str | Path) -> Path:
    """Where a path leads, as far as that can be told."""
    try:
        return Path(os.path.realpath(path))
    except OSError:
        return Path(path)


def is_mlir(path: str | Path) -> bool:
    """Whether a file is meant to be an MLIR module, not Python with kernels."""
    return os.path.splitext(path)[1] == ".mlir"  # asked dozens of times for each frame
