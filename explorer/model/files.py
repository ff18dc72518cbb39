"""The file being edited, and the swap file that keeps unsaved edits when the terminal goes away."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import math
import os
import tempfile
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from platformdirs import user_state_path

from explorer.model.paths import real
from explorer.model.source_text import Form, decode, encode
from mytriton.records import dataclass


def write_atomically(path: Path, data: bytes, mode: int) -> None:
    """Put `data` at `path` all at once: whoever reads it sees the old contents or the new, never a part."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def write_new(path: Path, data: bytes, overwrite: bool = False) -> None:
    """Put `data` at `path` all at once; FileExistsError if something is there and is not to be replaced."""
    if not overwrite and os.path.lexists(path):
        raise FileExistsError(errno.EEXIST, "It is there already", str(path))
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "It is a directory", str(path))
    # Not a file of its own to take the place of another thing, such as a pipe or /dev/stdout.
    if os.path.exists(path) and not os.path.isfile(path):
        path.write_bytes(data)
    else:
        write_atomically(real(path), data, 0o666 & ~_umask())


#: What tells one version of a file from another: inode, time of change in ns, size.
Stamp = tuple[int, int, int]


class SourceFile:
    """A text file on disk and what is known to be in it. Encoding, line ends and mode are kept; a link stays a link."""

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        self.read_stamp = self.stamp()
        self.saved, self._form = self._read()

    def stamp(self) -> Stamp | None:
        """The version on disk; None if there is none. Costs no reading."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read(self) -> tuple[str, Form]:
        if os.path.exists(self.path) and not (os.path.isfile(self.path) or os.path.isdir(self.path)):
            raise OSError(errno.EINVAL, "It is not a regular file", str(self.path))  # a pipe may keep a reader for ever
        return decode(self.path.read_bytes())

    def reload(self) -> str:
        """Read the file anew and take that as what was saved; raises OSError, or UnicodeError."""
        self.read_stamp = self.stamp()  # before reading: what is written meanwhile is another version
        self.saved, self._form = self._read()
        return self.saved

    def changed_on_disk(self) -> str | None:
        """A sentence if the file is not what was last read or saved, else None."""
        try:
            return None if self._read()[0] == self.saved else "The file was changed by another program."
        except FileNotFoundError:
            return "The file is gone from the disk."
        except (OSError, UnicodeError) as error:
            return f"The file cannot be read any more: {error}."

    def save(self, text: str) -> None:
        """Write `text`; raises OSError, or UnicodeError if the file's encoding lacks one of its characters."""
        self._write(text, 0o666 & ~_umask())

    def save_as(self, path: Path, text: str) -> None:
        """Write `text` to another file, which is this one from now on; raises as `save` does, and then nothing changed.
        A new file gets the mode of the old one, one that is there keeps its own."""
        mode = 0o666 & ~_umask()
        with suppress(OSError):  # the old file may be gone
            mode = self.path.stat().st_mode & 0o7777
        before, self.path = self.path, path
        try:
            self._write(text, mode)
        except BaseException:
            self.path = before
            raise

    def _write(self, text: str, new_mode: int) -> None:
        target = real(self.path)
        mode = new_mode
        with suppress(FileNotFoundError):
            mode = target.stat().st_mode & 0o7777
            if not os.access(target, os.W_OK):  # its folder may let us replace it all the same
                raise PermissionError(errno.EACCES, "The file is read-only", str(target))
        write_atomically(target, encode(text, self._form), mode)
        self.read_stamp = self.stamp()
        self.saved = text


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


@dataclass(frozen=True, slots=True)
class Recovered:
    """Unsaved edits of a session that ended without saving them."""

    text: str
    when: float
    file: Path

    @property
    def age(self) -> str:
        """How long ago, for a person."""
        minutes = int((time.time() - self.when) / 60)
        return "just now" if minutes < 1 else f"{minutes} min ago" if minutes < 120 else f"{minutes // 60} h ago"

    def discard(self) -> None:
        """Forget them."""
        _remove(self.file, self.file.with_suffix(".lock"))


class Swap:
    """The unsaved edits of this process, in the user's state directory. One file a process: two explorers of one file
    do not take each other's. A lock says whether the writer lives; process numbers come back."""

    def __init__(self, path: str, directory: Path | None = None) -> None:
        self._path = str(real(path))
        self._directory = directory or user_state_path("mytriton-explore") / "swap"
        self._stem = hashlib.sha256(os.fsencode(self._path)).hexdigest()[:16]
        self._lock: TextIO | None = None
        self.file = self._directory / f"{self._stem}-{os.getpid()}-{uuid.uuid4().hex[:8]}.json"

    def write(self, text: str) -> None:
        """Keep `text`; raises OSError."""
        if self._lock is None:
            self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = open(self.file.with_suffix(".lock"), "w")  # noqa: SIM115 - held for the life of the process
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        data = json.dumps({"path": self._path, "when": time.time(), "text": text})
        temporary = self.file.with_suffix(".new")
        temporary.write_text(data, encoding="utf-8")  # no fsync: it is for a lost process, not for a lost machine
        os.replace(temporary, self.file)

    def clear(self) -> None:
        """There is nothing unsaved."""
        _remove(self.file)

    def close(self) -> None:
        """This process is done with the file; what was written and not cleared stays for the next."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None
            _remove(self.file.with_suffix(".lock"))

    def recover(self, saved: str) -> Recovered | None:
        """The newest edits that a process that is gone left, if they differ from `saved`."""
        found, files = [], []
        with suppress(OSError):  # no such folder is possible, so nothing was left there
            files = list(self._directory.glob(f"{self._stem}-*.json"))
        for file in files:
            with suppress(OSError, ValueError, KeyError, TypeError):  # a damaged swap file recovers nothing
                data = json.loads(file.read_text(encoding="utf-8"))
                if data["path"] != self._path or _locked(file.with_suffix(".lock")):
                    continue
                text, when = str(data["text"]), float(data["when"])
                if not math.isfinite(when):
                    continue
                text.encode()  # ValueError where it is no text
                recovered = Recovered(text, when, file)
                if recovered.text == saved:
                    recovered.discard()
                else:
                    found.append(recovered)
        return max(found, key=lambda r: r.when, default=None)


def _remove(*files: Path) -> None:
    for file in files:
        with suppress(OSError):  # a folder that cannot be written to: the edits are offered once more
            file.unlink()


def _locked(path: Path) -> bool:
    try:
        with open(path) as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
