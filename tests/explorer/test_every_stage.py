"""Running an example after every stage: on the command line, and by a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.engine.messages import RunFinished
from explorer.model.result import OutputReport, RunReport, StepView
from tests.explorer.explorer_support import explorer

WRONG = """\
import numpy as np
import mytriton
import mytriton.language as tl

@mytriton.jit
def double(x, n, B: tl.constexpr):
    offs = tl.program_id(0) * B + tl.arange(0, B)
    value = tl.load(x + offs, mask=offs < n, other=0.0)
    tl.store(x + offs, value * FACTOR, mask=offs < n)

@double.example(n=40)
def case(n):
    x = np.arange(n, dtype=np.float32)
    return mytriton.Example(args={"x": x, "n": n, "B": 16}, grid=3, expected={"x": x * 2})
"""


def test_each_stage_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "k.py"
    path.write_text(WRONG.replace("FACTOR", "2.0"))
    argv = [str(path), "--check", "--every-stage", "--backend", "cpu"]
    assert main(argv) == 0
    stages = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert stages[0] == ["ok", "ssa"]
    assert stages[-1] == ["ok", "cpu", "run"]
    assert {line[0] for line in stages} == {"ok"}

    path.write_text(WRONG.replace("FACTOR", "(1.0 + (offs < 33).to(tl.float32))"))
    assert main(argv) == 1
    assert capsys.readouterr().out.splitlines()[1:3] == [
        "      FAIL  ssa  line 9  x[33] is 33.0, expected 66.0; 7 of 40 differ; "
        "written by program (2, 0, 0), lane 1 of its block",
        "      which: the last 7 elements",
    ]
    assert main([str(path), "--every-stage"]) == 2

    path.write_text(WRONG.replace("FACTOR", "2.0").replace('"n": n,', '"n": n, "y": n,').replace("n, B", "n, y, B"))
    path.write_text(path.read_text().replace('"y": n', '"y": x.copy()').replace("store(x", "store(y"))
    assert main(argv) == 1
    assert "y should not have changed, not being in `expected`" in capsys.readouterr().out


async def test_the_key_and_the_rows_that_lead_to_the_line(tmp_path: Path) -> None:
    async with explorer(tmp_path / "add.py", size=(200, 60)) as e:
        await e.press("escape", "v")
        assert e.engine.runs[-1].every_stage
        wrong = StepView("opt/cse", False, "out[3] is 1.0, expected 2.0", 11)
        report = RunReport(
            False,
            "cpu",
            kernel="add_kernel",
            outputs=(OutputReport("out", False, 1.0, 0.5, 9.0, 1, 8, (3,), "1.0", "2.0"),),
            reference="NumPy",
            steps=(StepView("ssa", True), StepView("opt/fold", True), wrong),
        )
        e.engine.emit(RunFinished(e.engine.generation, report))
        await e.pilot.pause()
        assert e.lines("run")[:4] == [
            "FAIL  add_kernel  on cpu",
            "ok      ssa",
            "ok      opt/fold",
            "FAIL    opt/cse  line 11  out[3] is 1.0, expected 2.0",
        ]
        assert e.main.focused_pane.name == "run"
        await e.press("down", "down", "down", "enter")
        assert e.main.focused_pane.name == "source"
        assert e.main.editor.cursor_location[0] == 10
