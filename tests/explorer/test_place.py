"""The place of the cursor: through calls of helpers, in words, and in numbers."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.model.backend_result import Result
from explorer.model.links import Links, Place, linked, source_lines
from explorer.model.place import counts, told, unit_of, ways_of
from explorer.model.result import Frame
from explorer.model.session import Session, Settings
from tests.explorer.compiled import KERNELS, compiled

HELPER = """\
import triton
import triton.language as tl


@triton.jit
def sigmoid(x):
    y = tl.exp(-x)
    return 1.0 / (1.0 + y)
"""
KERNEL = """\
import triton
import triton.language as tl

from .norm import sigmoid


@triton.jit
def twice(v):
    return v + v


@triton.jit
def k(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.store(x + i, twice(v), mask=i < n)
    tl.store(y + i, twice(sigmoid(v)), mask=i < n)
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Session:
    """A kernel with a helper beside it and one in another file."""
    folder = tmp_path_factory.mktemp("package") / "pkg"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "norm.py").write_text(HELPER)
    path = folder / "kernel.py"
    path.write_text(KERNEL)
    return with_result(path, compiled(path, "k"))


def with_result(path: Path, result: Result) -> Session:
    session = Session(Settings(str(path)), path.read_text())
    session.results["cuda"] = result
    return session


def texts(session: Session, place: Place, stage: str = "ssa") -> list[str]:
    """The lines of a stage that belong to a place."""
    lines = session.result.stages[stage].lines
    return [lines[row].text for row in linked(Links(lines), place, ways_of(session, place))]


def place_of(session: Session, text: str) -> Place:
    lines = session.result.stages["ssa"].lines
    found = Links(lines).place(next(row for row, line in enumerate(lines) if text in line.text))
    assert found is not None
    return found


def test_a_line_of_a_helper_has_the_code_of_every_call(session: Session) -> None:
    assert texts(session, Place(9)) == [
        "%7 = add %6, %6 : vector<256 x f32>",
        "%14 = add %13, %13 : vector<256 x f32>",
    ]
    ways = ways_of(session, Place(9))
    assert source_lines(ways, Place(9)) == [9, 16, 17]
    assert told(session, Place(9), ways) == "twice line 9 <- k lines 16, 17"


def test_a_row_of_inlined_code_is_of_one_call(session: Session) -> None:
    place = place_of(session, "add %6, %6")
    assert place == Place(9, (Frame("twice", 9), Frame("k", 16)))
    assert texts(session, place) == ["%7 = add %6, %6 : vector<256 x f32>"]
    ways = ways_of(session, place)
    assert source_lines(ways, place) == [9, 16]
    assert told(session, place, ways) == "twice line 9 <- k line 16"


def test_on_the_line_of_a_call_the_inlined_code_belongs_to_it(session: Session) -> None:
    assert "%7 = add %6, %6 : vector<256 x f32>" in texts(session, Place(16))
    assert "%14 = add %13, %13 : vector<256 x f32>" not in texts(session, Place(16))
    assert source_lines(ways_of(session, Place(16)), Place(16)) == [9, 16]
    assert told(session, Place(16), ways_of(session, Place(16))) == "line 16, which inlines twice"


def test_a_helper_of_another_file_is_named_and_its_line_told(session: Session) -> None:
    place = place_of(session, "= exp ")
    assert place.line == 17, "the line of this file that the code came through"
    assert (place.frames[0].name, Path(place.frames[0].path).name, place.frames[0].line) == ("sigmoid", "norm.py", 7)
    assert told(session, place, ways_of(session, place)) == "sigmoid norm.py:7 <- k line 17   y = tl.exp(-x)"
    unit = unit_of(session, place.frames[0])
    assert unit is not None and unit.text.split("\n")[place.frames[0].line - unit.first_line] == "    y = tl.exp(-x)"
    assert told(session, Place(17), ways_of(session, Place(17))) == "line 17, which inlines sigmoid of norm.py, twice"


def test_a_listing_without_helpers_shows_the_call(session: Session) -> None:
    for place in (Place(9), place_of(session, "add %6, %6")):
        rows = texts(session, place, "tree")
        assert any("twice()" in row for row in rows)
    assert sum("twice()" in row for row in texts(session, Place(9), "tree")) == 2
    assert sum("twice()" in row for row in texts(session, place_of(session, "add %6, %6"), "tree")) == 1


def test_code_that_a_pass_merged_belongs_to_both_calls() -> None:
    path = KERNELS / "helpers.py"
    session = with_result(path, compiled(path, "complex_power_kernel", size=16))
    place = place_of(session, "%38 = mul")
    assert place.frames == (Frame("complex_multiply", 12), Frame("complex_power_kernel", 25))
    assert texts(session, place, "opt/dce")[0] == "  %34 = mul %22, %22 : vector<16 x f32>"
    assert told(session, Place(12), ways_of(session, Place(12))) == (
        "complex_multiply line 12 <- complex_power_kernel lines 24, 25"
    )


def test_counts_of_each_listing() -> None:
    path = KERNELS / "add.py"
    session = with_result(path, compiled(path, "add_kernel"))
    ptx = sum(line.line == 14 for line in session.result.stages["ptx"].lines)
    assert counts(session, Place(14), ()) == [("tree", 4), ("SSA", 1), ("CUDA", 3), ("PTX", ptx)]
    assert ptx > 3
    assert counts(session, Place(13), ()) == [("tree", 0), ("SSA", 0), ("CUDA", 0), ("PTX", 0)]
    assert counts(session, None, ()) == []
    assert told(session, Place(14), ()) == "line 14"


def test_the_rows_of_a_line_of_matmul() -> None:
    path = KERNELS / "matmul.py"
    session = with_result(path, compiled(path, "naive_matmul_kernel", size=16))
    line = next(n for n, text in enumerate(path.read_text().split("\n"), 1) if "tl.store" in text)
    rows = texts(session, Place(line), "opt/dce")
    assert rows[-1].startswith("store ") and all(" = " in row for row in rows[:-1])
