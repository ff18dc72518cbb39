"""The explorer in tmux, with all that is real: the shell it is started from, its children, keys as tmux sends them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.explorer.tmux import ROOT, TMUX, Tmux

pytestmark = pytest.mark.skipif(TMUX is None, reason="tmux is not installed")

ADD = (ROOT / "examples" / "kernels" / "add.py").read_text()
#: As if the pass for NVIDIA's mathematics were broken: `tanh` is left to LLVM, which has no code for it and aborts.
BROKEN_PASS = """\
from mytriton.backends.mlir import backend
at = [name for name, _ in backend.PIPELINE].index("convert-gpu-to-nvvm")
wrong = ("convert-math-to-llvm", "convert-math-to-llvm")
backend.PIPELINE = (*backend.PIPELINE[:at], wrong, *backend.PIPELINE[at:])
"""
STORE = ADD[: ADD.index("    tl.store")].count("\n") + 1
NO_MLIR = "PASS needs MLIR's bindings, which are not installed"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a copy of the example, and a broken pass for who wants it."""
    (tmp_path / "add.py").write_text(ADD)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "sitecustomize.py").write_text(BROKEN_PASS)
    return tmp_path


def go_to_b(t: Tmux) -> None:
    """Put the cursor behind the `b` of `a + b`."""
    t.send(*["Down"] * (STORE - 1), "End", *["Left"] * len(", mask=mask)"))


def leave(t: Tmux, resized: bool = False) -> None:
    """The shell is back, and the terminal is as it was before. What tmux makes of the screen behind the explorer's when
    the window is `resized` meanwhile is its own affair: it does so for every program."""
    t.wait_for(r"^exit code 0$")
    assert resized or "add_kernel" not in t.text()
    flags = ("alternate_on", "mouse_any_flag", "keypad_cursor_flag", "cursor_flag")
    assert [t.ask(flag) for flag in flags] == ["0", "0", "0", "1"]


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_from_the_first_key_to_the_last(folder: Path, size: tuple[int, int]) -> None:
    """Open, edit, break, fix, switch the backend, run, find the failing pass, rerun it alone, mend, save, quit."""
    pytest.importorskip("mlir.ir", reason=NO_MLIR)
    with Tmux(folder, *size, PYTHONPATH=str(folder / "broken")) as t:
        t.explore("add.py")
        t.wait_for("= cmp_lt ")
        go_to_b(t)
        t.send("BSpace")
        t.wait_for(rf"FAILED source: {STORE}:\d+ invalid syntax")
        t.wait_for(rf"^{STORE}[ 0-9]{{4}}E     tl.store")  # the margin names the line
        t.wait_for("3 SSA .* stale")  # the listing of what was there before
        t.type("b")
        t.wait_for("FAILED", absent=True)

        t.send("F2")
        t.wait_for("backend mlir")
        t.send("F2")
        t.wait_for("backend cpu")
        t.send("F8")
        t.wait_for(r"PASS.* on cpu")
        t.wait_for(r"0 of 1000 differ")

        for backend in ("interp", "cuda", "mlir"):
            t.send("F2")
            t.wait_for(f"backend {backend}")
        t.send("BSpace")
        t.type("tl.tanh(b)")
        t.wait_for(r"5 MLIR > mlir/gpu-module-to-binary .*CRASHED")
        t.wait_for(r"CRASHED mlir/gpu-module-to-binary: (\d+:\d+ )?killed by SIG")
        t.send("Escape")
        t.wait_for(">5 MLIR")
        t.type("/tanh")
        t.send("Enter")
        t.wait_for(r"llvm\.intr\.tanh")  # in what the pass was given
        t.send("1")
        t.send("C-r")
        t.wait_for(r"^\W*Reproducer")
        t.wait_for(r"rerun\.py$")
        rerun = folder / "repro-add_kernel-mlir-gpu-module-to-binary" / "rerun.py"
        done = subprocess.run([sys.executable, str(rerun)], capture_output=True, text=True, check=False)
        assert done.returncode == -signal.SIGABRT
        assert "LLVM ERROR: Cannot select" in done.stderr

        t.send("Escape")
        t.wait_for(r"error: killed by SIGABRT.*ctrl\+q quit$")  # what is wrong with the line, in place of the keys
        t.send(*["BSpace"] * len("tl.tanh(b)"))
        t.type("b * 1.0")
        t.wait_for("CRASHED", absent=True)
        t.wait_for(r"\[edited\]")
        t.send("C-s")
        t.wait_for(r"\[edited\]", absent=True)
        assert (folder / "add.py").read_text() == ADD.replace("a + b,", "a + b * 1.0,")
        t.send("C-q")
        leave(t)


def test_nothing_typed_is_lost(folder: Path) -> None:
    """Quitting asks, and a process that is killed has kept what was typed."""
    with Tmux(folder, 80, 24) as t:
        t.explore("add.py")
        t.type("# mine")
        t.send("C-q")
        t.wait_for("add.py has unsaved edits")
        t.send("Escape")
        t.wait_for("unsaved edits", absent=True)
        swaps = folder / "state" / "mytriton-explore" / "swap"
        t.wait_until(lambda: any("# mine" in path.read_text() for path in swaps.glob("*.json")))
        os.kill(t.explorer(), signal.SIGKILL)
        t.wait_for("exit code 137")
        t.type("reset\n")  # what a killed program cannot do
        t.explore("add.py", ready="Unsaved edits of add.py are left")
        t.send("r")
        t.wait_for('# mine"""Vector addition')
        t.send("C-q")
        t.wait_for("add.py has unsaved edits")
        t.send("d")
        leave(t)
        assert (folder / "add.py").read_text() == ADD


@pytest.mark.parametrize(("term", "colours"), [("xterm", 16), ("screen", 16), ("screen-256color", 256)])
def test_terminals_with_fewer_colours(folder: Path, term: str, colours: int) -> None:
    with Tmux(folder, 80, 24) as t:
        t.explore("add.py", TERM=term, COLORTERM="")
        t.send("Escape")
        t.wait_for("^>3 SSA")
        codes = {
            code for found in re.findall(r"\x1b\[([\d;]*)m", t.text("-e")) for code in re.findall("[34]8;.", found)
        }
        assert codes == (set() if colours == 16 else {"38;5", "48;5"})
        t.send("q")
        leave(t)


def test_what_no_terminal_is(folder: Path) -> None:
    with Tmux(folder, 80, 24) as t:
        t.type(f"clear; TERM=dumb {sys.executable} -m explorer add.py; echo exit code $?\n")
        t.wait_for("^exit code 2$")
        assert "TERM=dumb says that this terminal can only print line after line" in t.text("-J")
        t.type(
            f"clear; {sys.executable} -m explorer add.py | cat; echo; {sys.executable} -m explorer add.py </dev/null\n"
        )
        t.wait_for(r"(?s)for a\s+terminal.*for a\s+terminal")


def test_a_window_that_changes(folder: Path) -> None:
    with Tmux(folder, 80, 24) as t:
        t.explore("add.py")
        t.resize(200, 60)
        t.wait_for(r"6 PTX / SASS > ptx")
        t.wait_for(r"9 run")
        t.resize(30, 8)
        t.wait_for(r"add\.py")
        t.resize(120, 40)
        t.wait_for(r"5 MLIR > mlir/emit")
        t.type("x")
        t.wait_for('x"""Vector addition')
        t.send("C-z")
        t.wait_for('^ 1.{5} """Vector addition')
        t.send("C-q")
        leave(t, resized=True)


def test_two_thousand_lines_are_pasted_at_once(folder: Path) -> None:
    lines = [f"x{i} = {i}" for i in range(2000)]
    with Tmux(folder, 120, 40) as t:
        t.explore("add.py")
        t.paste("\n".join(lines) + "\n")
        t.wait_for(r"^2000 +x1999 = 1999")
        t.wait_for(r"\[edited\]")
        t.send("C-s")
        t.wait_for(r"\[edited\]", absent=True)
        assert (folder / "add.py").read_text() == "\n".join(lines) + "\n" + ADD, "no line is indented anew"
        t.send("C-z")
        t.wait_for('^ 1.{5} """Vector addition')
        t.send("C-q")
        t.wait_for("unsaved edits")
        t.send("s")
        leave(t)
        assert (folder / "add.py").read_text() == ADD, "one paste is one step back"


def test_stopped_and_brought_back(folder: Path) -> None:
    """By who manages the jobs of the shell: ctrl+z itself is undo. SIGSTOP gives no time to leave the screen."""
    with Tmux(folder, 80, 24) as t:
        t.explore("add.py")
        t.type("x")
        t.wait_for('x"""Vector')
        for number in (signal.SIGTSTP, signal.SIGSTOP):
            os.kill(t.explorer(), number)
            t.wait_for("Stopped|stopped")
            assert t.ask("alternate_on") == ("0" if number == signal.SIGTSTP else "1")
            t.type("fg\n")
            t.wait_for(r'\A add.py(.*\n)+.*x"""Vector(.*\n)+.* run: (.*\n)+.*ctrl\+q quit')
        t.type("y")
        t.wait_for('xy"""Vector')


def test_without_the_mouse(folder: Path) -> None:
    with Tmux(folder, 80, 24) as t:
        t.explore("add.py", MYTRITON_EXPLORE_MOUSE="false")
        assert t.ask("mouse_any_flag") == "0"
        t.send("C-q")
        leave(t)
