"""The explorer as a person meets it: start, typing, moving, in a pseudo-terminal of 200 x 60.

    python tests/benchmarks/screen.py [starts] [edits]

Opens a copy of examples/kernels/add.py, waits for panes by what they show, then changes `a + b` to `a + -b` and
back, waiting each time until every pane shows the consequence. Bytes are what the program wrote to the terminal.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

import stats
from terminal import Terminal

ADD = Path(__file__).parents[2] / "examples" / "kernels" / "add.py"
ALL_PANES = {
    "SSA": r"= cmp_lt %3, n",
    "CUDA C++": r"__global__|__device__",
    "MLIR": r"gpu\.func @add_kernel",
    "PTX": r"\.entry add_kernel",
}
#: What each pane shows of `a + -b`, and of `a + b`.
EDITED = {
    "SSA": (r"= neg ", r"= add %6, %8 :"),
    "CUDA C++": (r"-b\[r\]", r"a\[r\] \+ b\[r\]"),
    "MLIR": (r"arith\.negf", r"arith\.addf %v6, %v8"),
}
PTX = (r"(sub|neg)\.(rn\.)?f32", r"add\.(rn\.)?f32")


class Session:
    """One run of the explorer on a copy of add.py, in a state folder of its own."""

    def __init__(self, folder: str, backend: str) -> None:
        path = shutil.copy(ADD, folder)
        command = [sys.executable, "-m", "explorer", path, "--backend", backend]
        env = {"XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder, "PYTHONDONTWRITEBYTECODE": ""}
        self.terminal = Terminal(command, 200, 60, env)

    def start(self) -> dict[str, float]:
        """Seconds from the start of the process to the first paint and to each pane."""
        terminal = self.terminal
        times = {"first paint": terminal.wait_for(r"def add_kernel") - terminal.started}
        for pane, pattern in ALL_PANES.items():
            times[pane] = terminal.wait_for(pattern) - terminal.started
        times["all panes"] = max(times.values())
        return times

    def go_to_sum(self) -> None:
        """Put the cursor before the `b` of `a + b`, and wait for the panes to follow it."""
        lines = ADD.read_text().splitlines()
        line = next(i for i, text in enumerate(lines) if "a + b" in text)
        for _ in range(line):
            self.terminal.send("down")
        self.terminal.send("end")
        for _ in range(len(lines[line]) - lines[line].index("a + b") - len("a + ")):
            self.terminal.send("left")
        self.terminal.settle()


def typing(backend: str, edits: int) -> tuple[dict[str, list[float]], list[int], list[int]]:
    """Seconds from a key press to each pane, and bytes an edit and a cursor move write."""
    times: dict[str, list[float]] = defaultdict(list)
    edit_bytes, move_bytes = [], []
    patterns = {**EDITED, f"PTX ({backend})": PTX}
    with tempfile.TemporaryDirectory() as folder:
        session = Session(folder, backend)
        with session.terminal as terminal:
            session.start()
            terminal.settle(1.0)
            session.go_to_sum()
            for i in range(edits + 2):
                before = terminal.bytes
                sent = terminal.send("-" if i % 2 == 0 else "backspace")
                if i < 2:  # the first edits warm what a session warms once
                    terminal.settle(1.0)
                    continue
                shown = {pane: terminal.wait_for(pattern[i % 2]) - sent for pane, pattern in patterns.items()}
                for pane, seconds in shown.items():
                    times[pane].append(seconds)
                times["all panes"].append(max(shown.values()))
                terminal.settle()
                edit_bytes.append(terminal.bytes - before)
            for i in range(10):
                before = terminal.bytes
                terminal.send("up" if i % 2 else "down")
                terminal.settle()
                move_bytes.append(terminal.bytes - before)
    return times, edit_bytes, move_bytes


def main() -> None:
    """Print the tables."""
    starts, edits = (int(a) for a in (sys.argv[1:] + ["7", "20"][len(sys.argv) - 1 :]))
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, terminal 200 x 60")
    print(f"\nstart, {starts} processes")
    times: dict[str, list[float]] = defaultdict(list)
    for i in range(starts + 1):
        with tempfile.TemporaryDirectory() as folder:
            session = Session(folder, "cuda")
            with session.terminal:
                started = session.start()
            for what, seconds in started.items() if i else ():  # the first writes bytecode, as an installation does
                times[what].append(seconds)
    targets = {"first paint": "target <= 700 ms", "all panes": "target <= 1500 ms"}
    for what, values in times.items():
        print(" ", stats.row(what, values, targets.get(what, "")))
    for backend in ("mlir", "cuda"):
        print(f"\nkey press to pane, {edits} edits, backend {backend}")
        typed, edit_bytes, move_bytes = typing(backend, edits)
        targets = {
            "MLIR": "target p50 <= 30 ms",
            "PTX (mlir)": "target p50 <= 50 ms",
            "PTX (cuda)": "target p50 <= 100 ms",
        }
        for what, values in typed.items():
            print(" ", stats.row(what, values, targets.get(what, "")))
        print(f"  bytes written: an edit {stats.percentile(edit_bytes, 0.5)} (target <= 8000), ", end="")
        print(f"a cursor move {stats.percentile(move_bytes, 0.5)} (target <= 4000); medians")


if __name__ == "__main__":
    main()
