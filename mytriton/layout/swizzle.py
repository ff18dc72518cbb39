"""Where elements stand in shared memory, so that those which threads access together are in different banks.

Banks repeat every 128 bytes: a *line*, of *pieces* of 16 bytes, which stay whole. Threads that access one piece of each
of several lines would all want the same banks; so the number of a piece in its line is combined with bits of that of
the line, those that tell these threads apart.
"""

from __future__ import annotations

from mytriton.layout.layout import Layout
from mytriton.layout.routes import BitMap

#: A piece that is moved as a whole, and the memory that the banks are a part of each, in bytes.
PIECE_BYTES, LINE_BYTES = 16, 128


def conversion(have: Layout, want: Layout, element_bytes: int, count: int) -> BitMap:
    """For each bit of a position in a block that changes its layout through shared memory, `count` elements at a time:
    the bits that it flips in the slot where the element stands meanwhile; none for those that count the times."""
    piece, line = PIECE_BYTES // element_bytes, LINE_BYTES // element_bytes
    flips: dict[int, int] = {}
    for layout in (want, have):
        taken = sum(entry for entry in layout.lane if entry < line)
        far = [entry for entry in layout.lane if line <= entry < count]
        taken |= sum(flips.get(entry, 0) for entry in far)
        free = [bit for bit in (piece, 2 * piece, 4 * piece) if bit < line and not bit & taken]
        flips |= dict(zip((entry for entry in far if entry not in flips), free, strict=False))
    bits = [1 << i for i in range(have.size.bit_length() - 1)]
    return tuple(bit | flips.get(bit, 0) if bit < count else 0 for bit in bits)
