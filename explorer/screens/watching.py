"""The file is watched: an editor in another window drives the explorer. Edits made here are never given up for it."""

from __future__ import annotations

import os
from contextlib import suppress

from explorer.model.files import Stamp
from explorer.screens.file_commands import FileCommands
from explorer.screens.host import host

#: Seconds between two looks. A change counts once two looks agree: editors do not write files all at once.
WATCH_EVERY = 0.2


class Watching(FileCommands):
    """Mixed into the main screen."""

    _seen: Stamp | None = None
    _told: Stamp | None = None
    _schedule: tuple[str, int] | None = None

    def watch_file(self) -> None:
        """Begin."""
        self._seen = self.file.stamp()
        self.set_interval(WATCH_EVERY, self._look_at_file)

    def _look_at_schedule(self) -> None:
        """Compile again, which reads it, when the file of the schedule has changed."""
        path, written = self.session.settings.schedule, 0
        with suppress(OSError):  # it may be being replaced
            written = os.stat(path).st_mtime_ns if path else 0
        before, self._schedule = self._schedule, (path, written)
        if before is not None and before[0] == path and before[1] and written not in (0, before[1]):
            self.compile()

    def _look_at_file(self) -> None:
        if host(self).main is not self:
            return  # it is looked at when it is shown again
        self._look_at_schedule()
        stamp = self.file.stamp()
        settled, self._seen = stamp == self._seen, stamp
        if stamp is None or not settled or stamp in (self.file.read_stamp, self._told):
            return
        if self.file.changed_on_disk() is None:  # written, but with what was in it
            self.file.read_stamp = stamp
            return
        self._told = stamp
        if not self.dirty:
            self._reload()
        else:
            self.app.notify(
                "Saving will ask; the reload command takes it over.",
                title="The file was changed by another program. Your edits are kept.",
                severity="warning",
                timeout=10,
            )
