"""A file as of its last commit."""

from __future__ import annotations

import asyncio
from pathlib import Path

from explorer.model.paths import absolute

#: Seconds that git may take.
_PATIENCE = 5.0


class NotThere(Exception):
    """There is no such text; the message says why."""


async def last_commit(path: str | Path) -> str:
    """The text of a file as it was committed last; raises `NotThere`."""
    file = absolute(path)
    command = ["git", "-C", str(file.parent), "show", f"HEAD:./{file.name}"]
    pipe = asyncio.subprocess.PIPE
    try:
        git = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe)
    except OSError as error:
        raise NotThere(f"git cannot be started: {error.strerror}") from None
    try:
        out, errors = await asyncio.wait_for(git.communicate(), _PATIENCE)
    except asyncio.TimeoutError:
        git.kill()
        raise NotThere(f"git took longer than {_PATIENCE:g} s") from None
    if git.returncode:
        lines = errors.decode(errors="replace").strip().splitlines()
        raise NotThere(lines[0] if lines else f"git failed with exit code {git.returncode}")
    try:
        return out.decode()
    except UnicodeDecodeError:
        raise NotThere(f"{file.name} is not text in UTF-8 there") from None
