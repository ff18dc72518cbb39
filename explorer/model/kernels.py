"""The kernels of a file as lists name them: how long each is, and what came of it."""

from __future__ import annotations

from explorer.model.result import KernelInfo
from explorer.model.session import Session


def about(session: Session, kernel: KernelInfo) -> str:
    """What there is to say about a kernel: its length, whether others call it, what its last compilation gave."""
    words = [f"{kernel.lines} line{'s' if kernel.lines > 1 else ''}"] if kernel.lines else []
    if kernel.helper:
        words.append("helper")
    return ", ".join([*words, session.outcomes.get(kernel.name, "not compiled yet")])


def position(session: Session) -> str:
    """Which of several kernels is shown: "2/3"; "" if there is one."""
    kernels = session.module.kernels if session.module is not None else ()
    names = [kernel.name for kernel in kernels]
    name = session.result.kernel
    return f"{names.index(name) + 1}/{len(names)}" if len(names) > 1 and name in names else ""
