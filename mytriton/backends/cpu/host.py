"""What the processor is that code is made for: the one this process runs on."""

from __future__ import annotations

import functools
from pathlib import Path

#: Bytes that come from memory, and go there, together.
CACHE_LINE = 64


@functools.cache
def has_avx512() -> bool:
    """Whether it has vectors of 64 bytes."""
    try:
        return " avx512f " in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
