"""The terminal, also when it sends what is not text, or goes away."""

from __future__ import annotations

from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message


class UnreadableInput(Message):
    """The terminal sent bytes that are not UTF-8; they were dropped."""


class TerminalGone(Message):
    """The terminal cannot be read any more."""


class TerminalDriver(LinuxDriver):
    """Textual's driver, which takes either for a fault of the program and ends it with a traceback."""

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
        if self._writer_thread is not None and self._writer_thread.is_alive():
            super().write(data)

    def close(self) -> None:
        """Wait for the thread that writes, if it is there."""
        if self._writer_thread is not None and self._writer_thread.is_alive():
            super().close()
