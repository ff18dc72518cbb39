"""What the README shows works as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import mytriton.language as tl
from explorer.actions import ACTIONS, MOVES, shown_key
from explorer.command import parser
from mytriton.frontend import outside  # noqa: F401 (which fills the tables of functions)
from mytriton.frontend.registry import FUNCTIONS, METHODS
from tests import operations
from tests.running import runner

README = Path(__file__).parents[1] / "README.md"


def test_the_code_of_the_readme_runs(tmp_path: Path) -> None:
    runner("cpu")  # skips where that cannot run
    path = tmp_path / "readme.py"
    path.write_text("\n".join(re.findall(r"^```python\n(.*?)^```", README.read_text(), re.S | re.M)))
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("True [1. 2. 3.]\n%0 = program_id {axis=0} : i32\n")
    assert ".visible .entry add_kernel(" in done.stdout
    command = [sys.executable, "-m", "explorer", str(path), "--check", "--backend", "interp"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (checked.returncode, checked.stdout[:22]) == (0, "PASS  add_kernel  add(")
    tested = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(path)], capture_output=True, text=True, check=False
    )
    assert (tested.returncode, "1 passed" in tested.stdout) == (0, True), tested.stdout


#: What the table of operations leaves out: Python's `math` of constexprs, and what has no operation of its own.
NO_OPERATION = {"PropagateNan", "constexpr", "constexpr_function", "dtype", "next_power_of_2"}


def test_the_table_of_operations_has_every_function() -> None:
    names = {name for samples in operations.ROWS.values() for name in samples}
    functions = {b.name.split(".")[-1] for b in FUNCTIONS.values() if not b.name.startswith("math.")}
    assert (
        sorted((functions | {name for name in tl.__all__ if callable(getattr(tl, name))}) - names - NO_OPERATION) == []
    )
    assert sorted(set(METHODS) - names) == []


def test_what_the_table_of_explorers_names_is_there() -> None:
    section = README.read_text().partition("## Beside other explorers")[2].partition("\n## ")[0]
    rows = [row.split(" | ") for row in section.splitlines() if row.startswith("| ") and "**" not in row][1:]
    assert len(rows) > 40
    tests = {path.stem for path in README.parent.glob("tests/**/test_*.py")}
    keys = {shown_key(key) for action in (*ACTIONS, *MOVES) for key in (*action.letters, *action.keys)} | {"ctrl+p"}
    options = set(re.findall(r"--[a-z-]+", parser().format_help()))
    for name, ours, *others in rows:
        assert len(others) == 8, name
        assert {cell.rstrip(" |") for cell in others} <= {"Y", "P", "n", "-"}, name
        assert ours[0] in "YPn", name
        assert set(re.findall(r"test_\w+", ours)) <= tests, name
        quoted = set(re.findall(r"`([^`]+)`", ours)) - {"stale", "interp"}
        assert {word for word in quoted if not word.startswith("--")} <= keys, name
        assert {word for word in quoted if word.startswith("--")} <= options, name


def test_the_readme_has_the_table_of_operations() -> None:
    assert operations.table() in README.read_text(), "run python -m tests.operations --update"
