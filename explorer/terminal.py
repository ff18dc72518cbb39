"""The terminal, also when it sends what is not text, is slow, or goes away."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections import deque
from collections.abc import Iterable
from functools import cache
from typing import Any, TextIO, cast

from textual import events, messages
from textual._ansi_sequences import SYNC_END, SYNC_START
from textual._xterm_parser import XTermParser
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from explorer.canvas import Canvas, Painted

#: Stands for whatever the picture is once the terminal can take it.
FRAME = "\x1b[frame"
#: What Textual takes with `alt` for signs that a keyboard in another country has there.
_FOREIGN = "0123456789-="
#: Asks for an answer: a terminal that answers once can tell each time how far it has come.
_QUESTION = "\x1b[?2026$p"
#: So many bytes may be on their way to the terminal, without its answer, when a frame is written; and the seconds that
#: an answer may take before it is taken to be lost.
_WINDOW, _PATIENCE = 4096, 1.0


class UnreadableInput(Message):
    """The terminal sent bytes that are not UTF-8; they were dropped."""


class TerminalGone(Message):
    """The terminal cannot be read any more."""


class Output:
    """The file that Textual's writing thread writes to. A frame is made when its turn comes: what has been drawn until
    then is in it, so a slow line gets fewer frames, not late ones.

    What a line far away has taken in says nothing of what the terminal has got. Where it answers questions, a frame
    waits until not much more than the one before it is on the way.
    """

    def __init__(self, file: TextIO) -> None:
        self.canvas = Canvas()
        self.synchronised = False
        self._file = file
        self._frame_waits = threading.Event()
        self._answers = False
        self._unanswered: deque[int] = deque()
        self._answered = threading.Condition()

    def offer(self, data: str) -> str:
        """What to queue for the thread instead of `data`, if anything."""
        if data in (SYNC_START, SYNC_END):
            self.synchronised = True
            return ""
        return self._frame() if self.canvas.draw(data) else data

    def paint(self, pieces: Iterable[Painted], cursor: tuple[int, int]) -> str:
        """What to queue for the thread for a frame, if anything."""
        self.canvas.paint(pieces, cursor)
        return self._frame()

    def _frame(self) -> str:
        if self._frame_waits.is_set():
            return ""
        self._frame_waits.set()
        return FRAME

    def answered(self) -> None:
        """The terminal answered a question."""
        with self._answered:
            self._answers = True
            if self._unanswered:
                self._unanswered.popleft()
            self._answered.notify()

    def write(self, text: str) -> None:
        """Write; the thread waits as long as that takes."""
        if text is FRAME:
            self._wait()
            self._frame_waits.clear()
            text = self.canvas.update()
            if not text:
                return
            if self.synchronised:
                text = SYNC_START + text + SYNC_END
            with self._answered:
                if self._answers:
                    self._unanswered.append(len(text))
                    text += _QUESTION
        self._file.write(text)

    def _wait(self) -> None:
        with self._answered:
            if not self._answered.wait_for(lambda: sum(self._unanswered) < _WINDOW, _PATIENCE):
                self._unanswered.clear()
                self._answers = False  # until it does again: it may be another terminal by now

    def flush(self) -> None:
        """Nothing is kept here."""
        self._file.flush()


class Parser(XTermParser):
    """Textual's, which takes escape and a key for `alt` and that key where they come together: over a slow line, or
    pressed within a tenth of a second. Here they are that only for keys that mean something with `alt`."""

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[events.Key]:
        if len(sequence) == 2 and sequence[0] == "\x1b" and sequence[1] in _FOREIGN:
            sequence, alt = sequence[1], True
        found = list(super()._sequence_to_key_events(sequence, alt))
        # What begins with one of these and is not known is some other key of the terminal's.
        if alt and sequence not in "[O" and not any(key.key in with_alt() for key in found):
            yield events.Key("escape", "\x1b")
            found = list(super()._sequence_to_key_events(sequence))
        yield from found


@cache
def with_alt() -> frozenset[str]:
    """The keys with `alt` that mean something, somewhere."""
    from explorer.actions import ACTIONS
    from explorer.widgets.replace_bar import KEYS

    return frozenset(key for key in (*KEYS, *(key for action in ACTIONS for key in action.keys)) if "alt+" in key)


linux_driver.XTermParser = Parser  # type: ignore[attr-defined]  # the name by which Textual's driver makes one


class TerminalDriver(LinuxDriver):
    """Textual's driver, which takes what is no text for a fault of the program and ends it with a traceback, and lets
    frames wait in a queue where the line is slow."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self._output = Output(cast(TextIO, self._file))
        self._file: Any = self._output

    def take_signals(self, loop: asyncio.AbstractEventLoop) -> None:
        """Stop and go on between two steps of the loop: in the middle of a drawing, where Textual's own handlers may
        find it, this thread holds what the thread that writes waits for."""
        loop.add_signal_handler(signal.SIGTSTP, self._sigtstp_application)
        loop.add_signal_handler(signal.SIGCONT, self._sigcont_application)

    def _sigcont_application(self, *_: object) -> None:
        if self._auto_restart and self._writes():  # it was stopped in another way: there must not be two who read
            self.suspend_application_mode()
        super()._sigcont_application()

    def _writes(self) -> bool:
        return self._writer_thread is not None and self._writer_thread.is_alive()

    def start_application_mode(self) -> None:
        """Take the screen, which may show anything."""
        self.forget()
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def forget(self) -> None:
        """The terminal may show something else than was written: its size changed, or others wrote to it."""
        self._output.canvas.forget()

    def process_message(self, message: Message) -> None:
        """Pass on what the terminal says."""
        if isinstance(message, messages.TerminalSupportsSynchronizedOutput):
            self._output.answered()
            if self._output.synchronised:
                return  # the app knows
        super().process_message(message)

    def _run_input_thread(self) -> None:
        while not self.exit_event.is_set():
            try:
                self.run_input_thread()
            except UnicodeDecodeError:
                self.send_message(UnreadableInput())
            except OSError:
                if not self.exit_event.is_set():
                    self.send_message(TerminalGone())
                return

    def write(self, data: str) -> None:
        """Write, unless the thread that does it has ended because nothing can be written any more."""
        if self._writes() and (data := self._output.offer(data)):
            super().write(data)

    def paint(self, pieces: Iterable[Painted], cursor: tuple[int, int]) -> None:
        """The same with a frame that is not text yet."""
        if self._writes() and (data := self._output.paint(pieces, cursor)):
            super().write(data)

    def close(self) -> None:
        """Wait for the thread that writes, if it is there."""
        if self._writes():
            super().close()
