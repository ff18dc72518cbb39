"""Numbers as NumPy has them.

Loading NumPy takes longer than compiling most kernels does, of which few compute anything by it: so it is loaded where
there is a number, here and where constants are folded.
"""

from __future__ import annotations

import sys
from typing import Any

from mytriton.types import ScalarType


def is_numpy_scalar(value: Any) -> bool:
    """Whether a value is one of NumPy's numbers; who has one has loaded NumPy."""
    return isinstance(value, getattr(sys.modules.get("numpy"), "generic", ()))


def bits_of(value: bool | int | float, type_: ScalarType) -> int:
    """The bits of a constant of a type."""
    from mytriton.arrays import constant

    return int.from_bytes(constant(value, type_).tobytes(), "little")
