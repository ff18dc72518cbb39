"""Dialogs as methods of a screen. Their code is imported when one is first shown: starting does not wait for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from textual.await_complete import AwaitComplete
from textual.screen import ModalScreen, Screen

Answer = TypeVar("Answer")


class Once(Screen[Answer]):
    """A screen that goes away once: of two keys that come together only the first is for it."""

    _dismissed = False

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        """Go back, with an answer."""
        if self._dismissed or self.app.screen is not self:
            return AwaitComplete()
        self._dismissed = True
        return super().dismiss(result)


class Modal(ModalScreen[Answer], Once[Answer]):
    """A screen above the main one."""


class Asking(Screen[None]):
    """A screen that asks. `then` is called with the answer; where there is none it is not called at all."""

    def confirm(self, question: str, answers: dict[str, str], then: Callable[[str], object]) -> None:
        """Ask for one of `answers` (label by letter; the first has the focus)."""
        from explorer.screens.dialogs import Confirm

        self._push(Confirm(question, answers), then)

    def choose(
        self,
        question: str,
        options: Sequence[str],
        current: int,
        then: Callable[[int], object],
        preview: Callable[[int], object] | None = None,
    ) -> None:
        """Ask for one of a list, by index; `preview` shows what each would be like."""
        from explorer.screens.dialogs import Choose

        self._push(Choose(question, options, current, preview), then)

    def ask(self, question: str, value: str, then: Callable[[str], object]) -> None:
        """Ask for a line of text."""
        from explorer.screens.dialogs import Ask

        self._push(Ask(question, value), then)

    def _push(self, dialog: Screen[Answer], then: Callable[[Answer], object]) -> None:
        def answered(answer: Answer | None) -> None:
            if answer is not None and answer != "":
                then(answer)

        self.app.push_screen(dialog, answered)

    def show_text(self, title: str, lines: list[str] | Callable[[int], list[str]], row: int = 0) -> None:
        """Show lines to read, with the cursor on one of them; a function of the width gives lines folded to it."""
        from explorer.screens.text import TextScreen

        self.app.push_screen(TextScreen(title, lines, row))
