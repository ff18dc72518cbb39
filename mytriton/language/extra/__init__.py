"""Where Triton keeps `libdevice`, so that `from mytriton.language.extra import libdevice` works."""

from __future__ import annotations

from mytriton.language.extra import cuda as cuda
from mytriton.language.extra import libdevice as libdevice

__all__ = ["cuda", "libdevice"]
