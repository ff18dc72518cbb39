"""Where this mytriton is, for processes that are to find the same one."""

from __future__ import annotations

import os
from pathlib import Path

_ROOT = str(Path(__file__).parents[1])


def environment() -> dict[str, str]:
    """The variables for a Python process that imports mytriton: run from a checkout it is told where that is."""
    made = dict(os.environ)
    if "site-packages" not in _ROOT:
        made["PYTHONPATH"] = os.pathsep.join(filter(None, (_ROOT, made.get("PYTHONPATH"))))
    return made
