"""The explorer as a person meets it: start, typing, moving, a slow stage, a slow line; in pseudo-terminals.

    [MYTRITON_XDSL_PYTHON=.../python] python -m tests.benchmarks.screen [STARTS] [EDITS]

Every edit is of a text that no compilation has seen before. An edit "in place" changes a number, one "that moves lines"
puts a minus before a variable, for which every level gets another operation. Bytes are what the program writes to the
terminal until it is quiet. Where xdsl-gui is installed it is measured in the same run, on modules of as many
operations as our kernels.
"""

from __future__ import annotations

import os
import platform
import re
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks import gui_peer
from tests.benchmarks.explorer_session import (
    ADD,
    ADD_PANES,
    KERNELS,
    Session,
    command,
    digit_keys,
    digit_patterns,
    edits,
    environment,
    moves,
    sign_keys,
    sign_patterns,
    typed_number,
)
from tests.benchmarks.slow_line import SlowTerminal
from tests.benchmarks.stats import percentile
from tests.benchmarks.terminal import Terminal

SIZES = (5, 147, 539, 2009)
#: Seconds between the keys of somebody who types.
TYPING = 0.1


@dataclass
class Table:
    """Rows of figures, each beside its target and the peer's figures of the same run."""

    ours: dict[str, Sequence[float]] = field(default_factory=dict)
    peer: dict[str, Sequence[float]] = field(default_factory=dict)

    def add(self, what: str, ours: Sequence[float], target: str = "") -> None:
        """One row, printed at once: milliseconds from seconds, or bytes where `what` says so."""
        self.ours[what] = ours
        unit, scale = ("B", 1.0) if "bytes" in what else ("ms", 1e3)
        text = f"p50 {percentile(ours, 0.5) * scale:7.0f} {unit:2}  p95 {percentile(ours, 0.95) * scale:7.0f} {unit:2}"
        if peer := self.peer.get(what):
            ratio = percentile(peer, 0.5) / percentile(ours, 0.5)
            text += f"   xdsl-gui {percentile(peer, 0.5) * scale:7.0f} {unit:2} = {ratio:5.1f} x"
        print(f"  {what:50} {text}  n {len(ours):3}  {target}", flush=True)


def starts(table: Table, count: int) -> None:
    """From the start of the process to what it shows."""
    times: dict[str, list[float]] = defaultdict(list)
    for i in range(count + 1):
        with tempfile.TemporaryDirectory() as folder:
            session = Session(folder, ADD, "cuda")
            with session.terminal:
                started = session.start(ADD_PANES)
            for what, seconds in started.items() if i else ():  # the first writes bytecode, as an installation does
                times[what].append(seconds)
    table.add("start to first paint", times["first paint"], "<= 700 ms")
    table.add("start to all panes of add.py", times["all panes"], "<= 1500 ms")


def typing(table: Table, backend: str, count: int) -> None:
    """From a key press to each pane, for add.py."""
    targets = {"MLIR": "<= 30 ms", "PTX (mlir)": "<= 50 ms", "PTX (cuda)": "<= 100 ms"}
    with tempfile.TemporaryDirectory() as folder:
        # For one element: what an edit changes is then in view in every pane.
        session = Session(folder, ADD, backend, "--example", "0")
        with session.terminal as terminal:
            session.start(ADD_PANES)
            terminal.settle(1.0)
            session.go_to_end_of("a + 17")
            in_place = edits(terminal, count, digit_keys, lambda i: digit_patterns(i, backend))
            terminal.send(*["right"] * 3)
            moving = edits(terminal, count, sign_keys, lambda i: sign_patterns(i, backend))
            for kind, figures in (("in place", in_place), ("that moves lines", moving)):
                for pane, seconds in figures.seconds.items():
                    table.add(f"{backend}: edit {kind} to {pane}", seconds, targets.get(pane, ""))
                table.add(f"{backend}: bytes of an edit {kind}", figures.bytes, "<= 8000")
            table.add(f"{backend}: bytes of a cursor move", moves(terminal), "<= 4000")


def matmul(table: Table, backend: str, count: int) -> None:
    """From a key press to the PTX of the tiled matrix product."""
    before, after = (KERNELS / "matmul.py").read_text().split("def tiled_matmul_kernel")
    after = after.replace("tl.zeros((BLOCK_M, BLOCK_N), ", "tl.full((BLOCK_M, BLOCK_N), 17, ", 1)
    with tempfile.TemporaryDirectory() as folder:
        session = Session(folder, f"{before}def tiled_matmul_kernel{after}", backend, "--kernel", "tiled_matmul_kernel")
        with session.terminal as terminal:
            terminal.wait_for(r"\.entry tiled_matmul_kernel")
            terminal.settle(1.0)
            session.go_to_end_of("(BLOCK_M, BLOCK_N), 17")
            for key in ("escape", "6", "/", "0f4188", "enter", "1"):  # bring 17.0 into view, and go back
                terminal.send(key)
                terminal.settle()
            name = f"PTX ({backend})"
            figures = edits(terminal, count, digit_keys, lambda i: {name: digit_patterns(i, backend)[name]})
    table.add(f"{backend}: tiled matmul to PTX", figures.seconds[name], "p95 <= 200 ms")


def echoes(terminal: Terminal, count: int) -> list[float]:
    """Type into a comment that begins with `#@ ` as a person does; seconds from each key to its echo."""
    sent: list[float] = []
    shown: list[float] = []
    start = time.perf_counter()
    while len(shown) < count:
        if len(sent) < count and time.perf_counter() >= start + len(sent) * TYPING:
            sent.append(terminal.send(chr(ord("A") + len(sent) % 26)))
        if (read := terminal.next(0.001)) is not None:
            typed = re.search(r"#@ ([A-Z]*)", terminal.shown)
            for i in range(len(shown), len(typed[1]) if typed else 0):
                shown.append(read - sent[i])
        elif time.perf_counter() > start + count * TYPING + 30:
            raise TimeoutError(f"{len(shown)} of {count} keys were shown")
    return shown


def slow_stage(table: Table, count: int) -> None:
    """Keys while a native stage hangs: every edit supersedes the one before, and kills it."""
    with tempfile.TemporaryDirectory() as folder:
        session = Session(
            folder, f"{ADD}# fault: stuck at ptx\n#@ ", "mlir", size=(120, 40), MYTRITON_EXPLORER_TEST_FAULT="1"
        )
        with session.terminal as terminal:
            terminal.wait_for("import mytriton")
            terminal.wait_for("compiler: ptx")
            terminal.send("\x1b[1;5F")  # the end of the text
            terminal.wait_for(r"# fault")
            table.add("echo while a slow stage runs", echoes(terminal, count), "p95 <= 30 ms")


def slow_line(table: Table, count: int) -> None:
    """Keys over a line that takes 100 kB a second, with 50 ms each way."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "explored.py"
        path.write_text(ADD + "#@ ")
        slow = SlowTerminal(command(path, "cuda"), 200, 60, environment(folder), rate=100_000, delay=0.05)
        with slow as terminal:
            terminal.wait_for(ADD_PANES["PTX"])
            terminal.settle(1.0)
            terminal.send("\x1b[1;5F")
            terminal.settle(1.0)
            table.add("echo over 100 kB/s and 50 ms each way", echoes(terminal, count), "100 ms are the line's")


def chain(ops: int) -> str:
    """A kernel of about so many operations."""
    body = [f"    v = v {'+^'[i % 2]} a" for i in range(max(0, ops - 9))]
    return "\n".join(
        [
            "import mytriton as triton",
            "import mytriton.language as tl",
            "",
            "",
            "@triton.jit",
            'def chain_kernel(x: "*i32", out: "*i32", n: "i32", BLOCK: tl.constexpr = 256):',
            "    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)",
            "    a = tl.load(x + offs, mask=offs < n, other=0)",
            "    v = a + 17",
            *body,
            "    tl.store(out + offs, v, mask=offs < n)",
            "",
        ]
    )


def sizes(table: Table, count: int) -> None:
    """From a key press to the listings of kernels of several sizes, beside xdsl-gui's output."""
    for ops in SIZES:
        few = max(3, min(count, 2000 // ops))
        if gui_peer.command() is not None:
            with tempfile.TemporaryDirectory() as folder:
                gui = gui_peer.Gui(folder, ops)
                with gui.terminal:
                    table.peer[f"{ops} ops: start to first paint"], table.peer[f"{ops} ops: start to output"] = (
                        [seconds] for seconds in gui.start()
                    )
                    echo, shown, edit_bytes, move_bytes = gui.measure(few)
            table.peer[f"{ops} ops: edit to echo"] = echo
            table.peer[f"{ops} ops: edit to optimized SSA"] = table.peer[f"{ops} ops: edit to MLIR"] = shown
            table.peer[f"{ops} ops: bytes of an edit"] = edit_bytes
            table.peer[f"{ops} ops: bytes of a cursor move"] = move_bytes
        with tempfile.TemporaryDirectory() as folder:
            session = Session(folder, chain(ops), "mlir", size=(160, 50))
            with session.terminal as terminal:
                started = session.start({"MLIR": r"gpu\.func @chain_kernel"})
                table.add(f"{ops} ops: start to first paint", [started["first paint"]])
                table.add(f"{ops} ops: start to output", [started["MLIR"]])
                terminal.settle(2.0, 120)
                session.go_to_end_of("v = a + 17")
                figures = edits(
                    terminal,
                    few,
                    digit_keys,
                    lambda i: {
                        "echo": rf"v = a \+ {typed_number(i)}\b",
                        "optimized SSA": rf"= add %\d+, {typed_number(i)} ",
                        "MLIR": rf"c_i32_{typed_number(i)}_",
                    },
                )
                for pane, seconds in figures.seconds.items():
                    table.add(f"{ops} ops: edit to {pane}", seconds)
                table.add(f"{ops} ops: bytes of an edit", figures.bytes)
                table.add(f"{ops} ops: bytes of a cursor move", moves(terminal))


def main() -> None:
    """Print the table."""
    start_count, edit_count = (int(a) for a in (sys.argv[1:] + ["7", "20"][len(sys.argv) - 1 :]))
    sys.setswitchinterval(0.0001)  # the thread that takes the times gets its turn
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    table = Table()
    starts(table, start_count)
    for backend in ("mlir", "cuda"):
        typing(table, backend, edit_count)
        matmul(table, backend, edit_count)
    slow_stage(table, 2 * edit_count)
    slow_line(table, 2 * edit_count)
    sizes(table, edit_count)


if __name__ == "__main__":
    main()
