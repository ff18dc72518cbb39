"""Where older kernels look for `libdevice`: `tl.extra.cuda.libdevice`."""

from __future__ import annotations

from mytriton.language.extra.cuda import libdevice as libdevice

__all__ = ["libdevice"]
