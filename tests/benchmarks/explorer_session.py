"""The explorer in a pseudo-terminal, with edits that no compilation has seen before."""

from __future__ import annotations

import struct
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path

from tests.benchmarks.terminal import Terminal

KERNELS = Path(__file__).parents[2] / "examples" / "kernels"
#: Seconds without output after which everything is shown; the cubin of an edit is made after 0.3.
QUIET = 0.6
Patterns = Mapping[str, str]


def environment(folder: str) -> dict[str, str]:
    """State in a folder of its own, and bytecode as an installation has it."""
    names = ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")
    return {**dict.fromkeys(names, folder), "PYTHONDONTWRITEBYTECODE": ""}


def command(path: Path, backend: str, *options: str) -> list[str]:
    """What starts the explorer."""
    return [sys.executable, "-m", "explorer", str(path), "--backend", backend, *options]


class Session:
    """One run of the explorer on a text of its own."""

    def __init__(
        self, folder: str, text: str, backend: str, *options: str, size: tuple[int, int] = (200, 60), **env: str
    ) -> None:
        self.text, self.backend = text, backend
        path = Path(folder) / "explored.py"
        path.write_text(text)
        self.terminal = Terminal(command(path, backend, *options), *size, {**environment(folder), **env})

    def start(self, panes: Patterns) -> dict[str, float]:
        """Seconds from the start of the process to the first paint and to each pane."""
        terminal = self.terminal
        times = {"first paint": terminal.wait_for(r"import mytriton") - terminal.started}
        for pane, pattern in panes.items():
            times[pane] = terminal.wait_for(pattern) - terminal.started
        times["all panes"] = max(times.values())
        return times

    def go_to_end_of(self, place: str) -> None:
        """Put the cursor behind `place` of the text, and wait for the panes to follow."""
        before = self.text[: self.text.index(place) + len(place)]
        self.terminal.send(*["down"] * before.count("\n"))
        self.terminal.send(*["right"] * (len(before) - before.rfind("\n") - 1))
        self.terminal.settle(QUIET)


class Figures:
    """Seconds to each pane, and bytes, of edits of one kind."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)
        self.bytes: list[int] = []


def edits(
    terminal: Terminal,
    count: int,
    keys: Callable[[int], tuple[list[str], str, list[str]]],
    patterns: Callable[[int], Patterns],
) -> Figures:
    """`count` edits. Of edit `i` `keys` gives what is pressed before it, its key, and what is pressed afterwards;
    `patterns` what each pane shows of it then, and not before. The first two warm what a session warms once."""
    figures = Figures()
    for i in range(count + 2):
        before, key, after = keys(i)
        for each in before:
            terminal.send(each)
        terminal.settle(QUIET)
        written, sent = terminal.bytes, terminal.send(key)
        shown = {pane: terminal.wait_for(pattern) - sent for pane, pattern in patterns(i).items()}
        terminal.settle(QUIET)
        if i >= 2:
            for pane, seconds in shown.items():
                figures.seconds[pane].append(seconds)
            figures.bytes.append(terminal.bytes - written)
        for each in after:
            terminal.send(each)
    terminal.settle(QUIET)
    return figures


def moves(terminal: Terminal, count: int = 10) -> list[int]:
    """Bytes that cursor moves write."""
    written = []
    for i in range(count):
        before = terminal.bytes
        terminal.send("up" if i % 2 else "down")
        terminal.settle()
        written.append(terminal.bytes - before)
    return written


ADD = (KERNELS / "add.py").read_text().replace("a + b", "a + 17 + b")
ADD_PANES = {
    "SSA": r"= cmp_lt %3, ",
    "CUDA": r"__global__|__device__",
    "MLIR": r"gpu\.func @add_kernel",
    "PTX": r"\.entry add_kernel",
}


def digit_keys(i: int) -> tuple[list[str], str, list[str]]:
    """Behind a number of two digits: another number of two digits, and then a third digit."""
    return ["backspace", "backspace", str(20 + i)], str(i % 10), ["backspace"]


def typed_number(i: int) -> int:
    """The number of three digits."""
    return 10 * (20 + i) + i % 10


def digit_patterns(i: int, backend: str) -> Patterns:
    """What the panes show of it."""
    value = float(typed_number(i))
    (bits,) = struct.unpack(">I", struct.pack(">f", value))
    return {
        "echo": rf"a \+ {value:.0f} \+ b",
        "SSA": rf" {value}\b",
        "CUDA": rf"\+ {value}0*f",
        "MLIR": rf"c_f32_{value:.0f}_0",
        f"PTX ({backend})": f"0f{bits >> 12:05X}",  # the rest is 0, or behind the edge of the pane
    }


def sign_keys(i: int) -> tuple[list[str], str, list[str]]:
    """Before the `b` behind such a number: another number, and then a minus."""
    back, forth = ["left"] * 3, ["right"] * 3
    return [*back, "backspace", "backspace", str(60 + i), *forth], "-", ["backspace"]


def sign_patterns(i: int, backend: str) -> Patterns:
    """What the panes show of the minus; lines are added, others move."""
    return {
        "echo": r"\+ -b",
        "SSA": r"= neg ",
        "CUDA": r"-b\[r\]",
        "MLIR": r"arith\.negf",
        f"PTX ({backend})": r"(sub|neg)\.(rn\.)?f32",
    }
