"""What the README shows works as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

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
