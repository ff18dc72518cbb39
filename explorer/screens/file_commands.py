"""Commands about the file: save, reload, quit. None of them loses an edit without being told to."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from explorer.model.files import Swap
from explorer.model.paths import real, typed
from explorer.screens.base import MainBase
from explorer.screens.host import host


class FileCommands(MainBase):
    """Mixed into the main screen."""

    def action_save(self) -> None:
        """Save; asks if the file is not what was read."""
        self.editor.call_later(self.save)  # after the keys that were typed before this one

    def save(self, then: Callable[[], None] | None = None) -> None:
        """Save, and go on with `then` once it is saved."""
        changed = self.file.changed_on_disk()
        if changed is None:
            self._write(then)
            return

        def answered(answer: str) -> None:
            if answer == "o":
                self._write(then)
            elif answer == "r":
                self._reload()

        answers = {"c": "cancel", "o": "overwrite it", "r": "reload it, dropping my edits"}
        self.confirm(f"{changed} Your edits are not saved yet.", answers, answered)

    def _write(self, then: Callable[[], None] | None) -> None:
        text = self.editor.text
        try:
            self.file.save(text)
        except (OSError, UnicodeError) as error:
            self.app.notify(f"{error}. Your edits are kept.", title="Not saved", severity="error", timeout=10)
            self.write_swap()
            return
        self._saved(then)

    def _saved(self, then: Callable[[], None] | None) -> None:
        self.write_swap()
        self.app.notify(f"{len(self.file.saved.encode())} bytes to {self.file.path}", title="Saved")
        self.open_module()
        self.compile()
        if then is not None:
            then()

    def action_save_as(self) -> None:
        """Ask for a name, and save under it."""
        self.ask("Save as", str(self.file.path), self.save_as)

    def save_as(self, name: str) -> None:
        """Save under `name`; asks before it takes the place of another file. The session goes on with the new one."""
        path = typed(name)
        if all(map(os.path.exists, (path, self.file.path))) and os.path.samefile(path, self.file.path):
            self.save()
        elif any(s is not self and real(s.file.path) == real(path) for s in host(self).file_screens()):
            self.app.notify(f"{path} is open here, too; go to it to save it.", title="Not saved", severity="error")
        elif os.path.exists(path) and not os.path.isfile(path):
            what = "is a folder; name a file in it" if os.path.isdir(path) else "is not a regular file; name another"
            self.app.notify(f"{path} {what}.", title="Not saved", severity="error")
        elif os.path.lexists(path):
            answers = {"c": "cancel", "o": "overwrite it"}
            what = "is there already" if os.path.exists(path) else "is a link that leads nowhere yet"
            self.confirm(f"{path} {what}.", answers, lambda answer: self._write_as(path) if answer == "o" else None)
        else:
            self._write_as(path)

    def _write_as(self, path: Path) -> None:
        old = self.file.path
        try:
            self.file.save_as(path, self.editor.text)
        except FileNotFoundError:
            self.app.notify(f"There is no folder {path.parent}.", title="Not saved", severity="error")
            return
        except (OSError, UnicodeError) as error:
            self.app.notify(f"{error}. Your edits are kept.", title="Not saved", severity="error", timeout=10)
            return
        before, self.swap = self.swap, Swap(str(path))
        before.clear()
        before.close()
        self.session.settings = replace(self.session.settings, path=str(path))
        host(self).renamed(old, path)
        self._saved(None)

    def action_reload(self) -> None:
        """Read the file from disk; asks if that drops edits."""
        if not self.dirty:
            self._reload()
            return
        answers = {"c": "cancel", "r": "reload, dropping my edits"}
        self.confirm("There are unsaved edits.", answers, lambda answer: self._reload() if answer == "r" else None)

    def _reload(self) -> None:
        try:
            text = self.file.reload()
        except (OSError, UnicodeError) as error:
            self.app.notify(f"{error}. Your edits are kept.", title="Not reloaded", severity="error")
            return
        self.replace_text(text)
        self.session.text = self.editor.text  # the editor tells of its change only later
        self.open_module()
        self.compile()

    def replace_text(self, text: str) -> None:
        """Put other text into the editor; undo brings back what was there."""
        cursor = self.editor.cursor_location
        self.editor.replace(text, (0, 0), self.editor.document.end)
        self.editor.move_cursor(cursor)

    def action_quit(self) -> None:
        """Quit; asks what to do with unsaved edits."""
        self.editor.call_later(self._quit)  # as above

    def _quit(self) -> None:
        if not self.dirty:
            self._leave()
            return

        def answered(answer: str) -> None:
            if answer == "s":
                self.save(self._leave)
            elif answer == "d":
                self._leave()

        answers = {"s": "save and quit", "d": "discard the edits", "c": "cancel"}
        self.confirm(f"{self.file.path.name} has unsaved edits.", answers, answered)

    def _leave(self) -> None:
        for screen in host(self).file_screens():
            screen.left = True
            screen.swap.clear()
        self.app.exit()

    def offer_recovery(self) -> None:
        """If an explorer of this file ended with unsaved edits, offer them."""
        recovered = self.swap.recover(self.file.saved)
        if recovered is None:
            return

        def answered(answer: str) -> None:
            if answer == "r":
                self.replace_text(recovered.text)
                self.write_swap()
                recovered.discard()
            elif answer == "d":
                recovered.discard()

        question = f"Unsaved edits of {self.file.path.name} are left from a session that ended {recovered.age}."
        answers = {"r": "recover them", "d": "discard them", "k": "keep them for later"}
        self.confirm(question, answers, answered)
