"""A terminal at the end of a slow line, as over ssh: so many bytes a second, and so many seconds each way."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Sequence

from tests.benchmarks.terminal import KEYS, Terminal

#: What a terminal that knows synchronised updates is asked, and answers.
_QUESTION, _ANSWER = b"\x1b[?2026$p", b"\x1b[?2026;2$y"


class SlowTerminal(Terminal):
    """The pseudo-terminal holds back what the line has not taken yet, as the computers on the way do."""

    def __init__(
        self, command: Sequence[str], columns: int, rows: int, env: dict[str, str], *, rate: float, delay: float
    ) -> None:
        self._rate, self._delay = rate, delay
        super().__init__(command, columns, rows, env)

    def _read(self) -> None:
        before = b""
        while not self._hung_up:
            try:
                if not select.select([self._fd], [], [], 0.2)[0]:
                    continue
                data = os.read(self._fd, 512)
            except OSError:  # the program closed its side
                break
            time.sleep(len(data) / self._rate)
            self.bytes += len(data)
            self._arrived.put((time.perf_counter() + self._delay, data))
            seen = before + data
            for _ in range(seen.count(_QUESTION)):
                threading.Timer(2 * self._delay, self._write, [_ANSWER]).start()
            before = seen[seen.rfind(_QUESTION) + len(_QUESTION) if _QUESTION in seen else 0 :][-len(_QUESTION) + 1 :]

    def _write(self, data: bytes) -> None:
        if not self._hung_up:
            os.write(self._fd, data)

    def send(self, *keys: str) -> float:
        """Press keys; they arrive later."""
        data = "".join(KEYS.get(key, key) for key in keys).encode()
        threading.Timer(self._delay, self._write, [data]).start()
        return time.perf_counter()
