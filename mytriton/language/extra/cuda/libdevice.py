"""`mytriton.language.extra.libdevice`, where older kernels import from."""

from __future__ import annotations

from mytriton.language.extra.libdevice import *  # noqa: F403
from mytriton.language.extra.libdevice import __all__ as __all__
