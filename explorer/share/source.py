"""The source in a bundle, where a file on disk is expected: it never changes, and cannot be written."""

from __future__ import annotations

import errno
from pathlib import Path

from explorer.model.files import SourceFile, Stamp
from explorer.share.record import Shared
from explorer.share.replay import ONLY_SHOWN


class BundleSource(SourceFile):
    """The text of a bundle, which is the file `path`."""

    def __init__(self, path: str, shared: Shared) -> None:
        self.path = Path(path)
        self.shared = shared
        self.read_stamp = None
        self.saved = shared.b.text

    def stamp(self) -> Stamp | None:
        """Nothing to watch."""
        return None

    def reload(self) -> str:
        """The text."""
        return self.saved

    def changed_on_disk(self) -> str | None:
        """It was not."""
        return None

    def save(self, text: str) -> None:
        """Not possible."""
        raise PermissionError(errno.EROFS, ONLY_SHOWN, str(self.path))

    def save_as(self, path: Path, text: str) -> None:
        """Nor does a bundle become a file."""
        self.save(text)
