"""The memory in which a thread keeps values."""

from __future__ import annotations

import mmap
import sys
from contextlib import suppress

import numpy as np

from mytriton.backends.cpu.host import CACHE_LINE

#: What most processors map at once, if asked to, and the size from which on that is worth it: rows of a block of sums
#: are in so many pages else that finding them took 3 to 6 % of a product.
_PAGE, LARGE = 1 << 21, 1 << 18


class Scratch:
    """So many bytes, from `address` on, which is divisible by 64. They are freed with this object."""

    def __init__(self, size: int) -> None:
        start = CACHE_LINE
        if size >= LARGE and sys.platform == "linux":
            start = _PAGE
            memory = mmap.mmap(-1, -(-size // _PAGE) * _PAGE + _PAGE)
            with suppress(OSError):  # a kernel that has no large pages; small ones do as well
                memory.madvise(mmap.MADV_HUGEPAGE)
            self._bytes = np.frombuffer(memory, np.uint8)
        else:
            self._bytes = np.empty(size + start, np.uint8)
        self.address = -(-int(self._bytes.ctypes.data) // start) * start
