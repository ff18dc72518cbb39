"""Results of the expensive native compilers, kept on disk between processes.

One file a result, named by the digest of everything it depends on. A file is written under another name and renamed,
begins with the digest of its content, and is ignored if that is wrong: whatever a crash, another process or a full disk
leaves behind costs a compilation, never an error or a wrong result. Nothing is unpickled; the folder is its owner's
alone, as code that is kept there runs.

`MYTRITON_CACHE_DIR` names the folder (by default the user's cache folder; an empty string turns the cache off), and
`MYTRITON_CACHE_MB` its size. What was used longest ago is deleted first; between two clean-ups the folder may grow over
its size by a sixteenth.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

#: The size of the folder in MB, if `MYTRITON_CACHE_MB` does not say.
DEFAULT_MB = 512

_MAGIC = b"mytriton-1\n"
_SUFFIX = ".kept"
#: After so many seconds an unfinished file is one that a crash left behind.
_ABANDONED = 3600.0


def folder() -> Path | None:
    """Where results are kept; None if the cache is off."""
    named = os.environ.get("MYTRITON_CACHE_DIR")
    if named is not None:
        return Path(named) if named else None
    return _default_folder()


@lru_cache(maxsize=1)
def _default_folder() -> Path:
    from platformdirs import user_cache_path

    return user_cache_path("mytriton") / "compiled"


def limit() -> int:
    """The size of the folder in bytes."""
    try:
        return max(0, int(float(os.environ.get("MYTRITON_CACHE_MB", DEFAULT_MB)) * 2**20))
    except (ValueError, OverflowError):
        return DEFAULT_MB * 2**20


@lru_cache(maxsize=32)
def source_identity(path: str) -> str:
    """A source file of this project, by its content."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


@lru_cache(maxsize=32)
def tool_identity(path: str) -> str:
    """An installed library or program, by its place, size and time: it is too large to be read each time."""
    found = os.stat(path)
    return f"{os.path.realpath(path)} {found.st_size} {found.st_mtime_ns}"


class Entry:
    """A place for one result, made of named parts.

    `what` says what kind of result it is, `inputs` are the texts it is made of with all options, `tools` and `sources`
    the paths of what makes it: compilers, and our own files between the inputs and the result.
    """

    def __init__(
        self, what: str, inputs: Sequence[str | bytes], tools: Sequence[str | Path], sources: Sequence[str]
    ) -> None:
        self._path: Path | None = None
        self._key = b""
        where = folder()
        if where is None:
            return
        try:
            identities = [*map(tool_identity, map(str, tools)), *map(source_identity, (__file__, *sources))]
        except OSError:  # they are not files, as in an archive: nothing says when they change
            return
        digest = hashlib.sha256()
        for part in (what, *identities, *inputs):
            data = part.encode() if isinstance(part, str) else part
            digest.update(b"%d\n" % len(data))
            digest.update(data)
        self._key = digest.digest()
        self._path = where / f"{digest.hexdigest()}{_SUFFIX}"

    def read(self) -> dict[str, bytes] | None:
        """The parts; None if they are not there, or not whole."""
        if self._path is None:
            return None
        try:
            parts = _unpacked(self._path.read_bytes(), self._key)
        except OSError:
            return None
        if parts is not None:
            with contextlib.suppress(OSError):  # the folder may be somebody else's
                os.utime(self._path)  # it was used now
        return parts

    def write(self, parts: Mapping[str, bytes]) -> None:
        """Keep the parts, if there is room and the folder can be written."""
        if self._path is None:
            return
        data = _packed(parts, self._key)
        if len(data) > limit():
            return
        unfinished = self._path.with_suffix(f".{os.urandom(8).hex()}.tmp")
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                unfinished.write_bytes(data)
                os.replace(unfinished, self._path)
            except OSError:
                unfinished.unlink(missing_ok=True)
                raise
            _clean(self._path.parent, len(data))
        except OSError:
            return  # a full disk, or a folder that is not ours: then there is no cache


def _packed(parts: Mapping[str, bytes], key: bytes) -> bytes:
    head = json.dumps([[name, len(part)] for name, part in parts.items()]).encode()
    body = b"".join((head, b"\n", *parts.values()))
    return _MAGIC + hashlib.sha256(key + body).digest() + body


def _unpacked(data: bytes, key: bytes) -> dict[str, bytes] | None:
    start = len(_MAGIC) + 32
    body = data[start:]
    if data[:start] != _MAGIC + hashlib.sha256(key + body).digest():
        return None
    head, _, rest = body.partition(b"\n")
    parts: dict[str, bytes] = {}
    at = 0
    for name, size in json.loads(head):
        parts[name] = rest[at : at + size]
        at += size
    return parts


# --- size -------------------------------------------------------------------------------------------------------------


class _Written:
    """How much this process wrote since it last cleaned up. It begins anywhere in the span, so that many short
    processes clean up as often as a long one."""

    bytes = int.from_bytes(os.urandom(4), "big") / 2**32 * DEFAULT_MB * 2**20 / 16


def _clean(where: Path, added: int) -> None:
    """Delete what was used longest ago, if enough was written since the last time."""
    most = limit()
    _Written.bytes += added
    if _Written.bytes < most / 16:
        return
    _Written.bytes = 0
    now, total = time.time(), 0
    found: list[tuple[float, int, str]] = []
    with os.scandir(where) as entries:
        for entry in entries:
            if not entry.name.endswith((_SUFFIX, ".tmp")):
                continue  # not ours
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # another process cleans up too
                continue
            if entry.name.endswith(_SUFFIX):
                total += status.st_size
                found.append((status.st_mtime, status.st_size, entry.path))
            elif now - status.st_mtime > _ABANDONED:
                Path(entry.path).unlink(missing_ok=True)
    if total <= most:
        return
    for _, size, path in sorted(found):
        Path(path).unlink(missing_ok=True)
        total -= size
        if total <= most * 3 // 4:  # some room, not to begin again with the next file
            return
