"""Grids that every launch refuses, and what it says."""

from __future__ import annotations

from typing import Any

REFUSED_GRIDS: list[tuple[Any, str]] = [
    (-1, "extent 0 of the grid must be an integer of at least 0, got -1"),
    (True, "got True"),
    ((1, 2**16), "extent 1 of the grid is 65536"),
    (lambda meta: 1.5, "use triton.cdiv"),
    ((1, 1, 1, 1), "one to three extents, got 4"),
    (2**31, "extent 0 of the grid is 2147483648"),
]
