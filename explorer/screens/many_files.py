"""Several files: each has a main screen of its own, with its edits, cursor, undo and results; one is shown."""

from __future__ import annotations

from explorer.model.paths import absolute
from explorer.screens.comparing import Comparing
from explorer.screens.file_commands import FileCommands
from explorer.screens.host import host


class ManyFiles(FileCommands, Comparing):
    """Mixed into the main screen."""

    def action_open(self) -> None:
        """Show another file: an open one, one of the folder, or any."""
        from explorer.screens.opening import OpenFile

        folder = absolute(self.file.path).parent
        self._push(OpenFile(host(self).opened_files(), folder), host(self).open_file)

    def put_aside(self) -> None:
        """Another file is shown from now on. What runs here is ended: there is one engine for all files."""
        if self._edit_timer is not None:
            self._edit_timer.stop()
            self._edit_timer = None
        self.write_swap()
        self.session.put_aside()
        if self.session.running:
            self.action_cancel()
        if self.session.pinned is not None:
            self.engine.end_beside()
            self._compared_backends = ()  # A is compiled again then, too

    def take_up(self) -> None:
        """This file is shown again."""
        self.open_module()
        self.compile()

    def _quit(self) -> None:
        edited = [screen for screen in host(self).file_screens() if screen.dirty]
        if len(edited) < 2 and (not edited or edited[0] is self):
            super()._quit()
            return

        def save_next() -> None:
            left = [screen for screen in edited if screen.dirty]
            if left:
                left[0].save(save_next)
            else:
                self._leave()

        def answered(answer: str) -> None:
            if answer == "s":
                save_next()
            elif answer == "d":
                self._leave()

        names = ", ".join(screen.file.path.name for screen in edited)
        answers = {"s": "save all and quit", "d": "discard the edits", "c": "cancel"}
        self.confirm(f"There are unsaved edits: {names}.", answers, answered)
