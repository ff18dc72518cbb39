"""xdsl-gui, the nearest peer, driven as a person would: start, typing and moving in its input, at several sizes.

`MYTRITON_XDSL_PYTHON` names a Python that has `xdsl[gui]`; without it nothing is measured.
"""

from __future__ import annotations

import os
from pathlib import Path

from tests.benchmarks.terminal import Terminal

#: Operations of a function: a constant, additions, a return and the function itself.
_OPS = 49
#: Its cursor blinks twice a second, so it is never quiet for longer than that.
_QUIET = 0.3


def command() -> str | None:
    """What starts xdsl-gui; None where it is not installed."""
    python = os.environ.get("MYTRITON_XDSL_PYTHON")
    path = Path(python).with_name("xdsl-gui") if python else None
    return str(path) if path is not None and path.exists() else None


def module(ops: int) -> str:
    """A module of about so many operations, in functions of 49."""
    rows = ["builtin.module {"]
    for index in range(max(1, ops // _OPS)):
        adds = min(ops, _OPS) - 3
        rows += [f"  func.func @f{index}(%a : i32) -> i32 {{", "    %c = arith.constant 17 : i32"]
        for i in range(adds):
            rows.append(f"    %v{i} = arith.addi {f'%v{i - 1}' if i else '%a'}, {'%c' if i % 2 else '%a'} : i32")
        rows += [f"    func.return %v{adds - 1} : i32", "  }"]
    return "\n".join([*rows, "}", ""])


class Gui:
    """One run of xdsl-gui with the passes `canonicalize,cse`."""

    def __init__(self, folder: str, ops: int) -> None:
        program = command()
        assert program is not None
        path = Path(folder) / f"module{ops}.mlir"
        path.write_text(module(ops))
        self.terminal = Terminal([program, str(path), "-p", "canonicalize,cse"], 160, 50)

    def start(self) -> tuple[float, float]:
        """Seconds to the first thing on the screen, and to input and output."""
        terminal = self.terminal
        first = terminal.wait_for(r"\S", 120) - terminal.started
        return first, terminal.wait_for(r"constant 17 : i32.*constant 17 : i32", 120) - terminal.started

    def measure(self, edits: int, moves: int = 6) -> tuple[list[float], list[float], list[int], list[int]]:
        """Seconds from a digit typed into the first constant to its echo and to the output; bytes an edit and a cursor
        move."""
        terminal = self.terminal
        terminal.settle(_QUIET, 120)
        rows = terminal.text().splitlines()
        y = next(i for i, row in enumerate(rows) if "constant 17 : i32" in row)
        x = rows[y].index("constant 17") + len("constant 17")
        terminal.send_bytes(f"\x1b[<0;{x + 1};{y + 1}M\x1b[<0;{x + 1};{y + 1}m".encode())
        terminal.settle(_QUIET, 120)
        echoes, shown, edit_bytes, move_bytes = [], [], [], []
        for i in range(edits + 1):
            before, sent = terminal.bytes, terminal.send(str(i % 10))
            echo = terminal.wait_for(rf"constant 17{i % 10} : i32", 120) - sent
            output = terminal.wait_for(rf"constant 17{i % 10} : i32.*constant 17{i % 10} : i32", 120) - sent
            terminal.settle(_QUIET, 120)
            if i:  # the first warms up
                echoes.append(echo)
                shown.append(output)
                edit_bytes.append(terminal.bytes - before)
            terminal.send("backspace")
            terminal.wait_for(r"constant 17 : i32.*constant 17 : i32", 120)
            terminal.settle(_QUIET, 120)
        for i in range(moves):
            before = terminal.bytes
            terminal.send("up" if i % 2 else "down")
            terminal.settle(_QUIET, 120)
            move_bytes.append(terminal.bytes - before)
        return echoes, shown, edit_bytes, move_bytes
