"""A value through the passes, and from there into every listing."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from explorer.model import following
from explorer.model.backend_result import Result
from tests.explorer.compiled import KERNELS, compiled

STORY = """\
import mytriton as triton
import mytriton.language as tl

@triton.jit
def story(x, y, n, m, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    z = i * 1
    a = tl.load(x + z, mask=i < 8, other=0.0)
    b = tl.load(x + i, mask=i < 8, other=0.0)
    unused = a * b
    s = 0.0
    for j in range(0, n):
        t = m * 2
        s += t
        if j < 0:
            s = s + 1.0
    tl.store(y + i, a + b + s)
"""


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Result:
    path = tmp_path_factory.mktemp("story") / "story.py"
    path.write_text(STORY)
    return compiled(path, "story")


def told(result: Result, defined_by: str) -> str:
    """What became of the value that the first listing defines by `defined_by`."""
    return life(result, defined_by).told()


def life(result: Result, defined_by: str) -> following.Life:
    (text,) = (line.text for line in result.stages["ssa"].lines if defined_by in line.text)
    return following.life(result, text.split(" = ")[0].strip())


@pytest.mark.parametrize(
    ("defined_by", "expected"),
    [
        ("mul %3, 1", "opt/fold: x * 1 = x, here %3"),
        ("load %8, %9,", "opt/cse: same as %7, and nothing between them writes"),
        ("cmp_lt %12, 0", "opt/strength: [0, 2147483646] < [0, 0] is false"),
        ("mul m, 2", "opt/licm: the same in every trip of the loop"),
        ("mul %7, %10", "opt/dce: unused"),
        ("add %16, 1.0", "opt/strength: dropped with what was around it"),
        ("= program_id", ""),
    ],
)
def test_what_the_passes_did_to_a_value(story: Result, defined_by: str, expected: str) -> None:
    assert told(story, defined_by) == expected


def test_a_value_is_called_by_what_took_its_place(story: Result) -> None:
    found = life(story, "load %8, %9,")
    assert found.names is not None
    assert (found.names["ssa"], found.names["opt/licm"], found.names["opt/cse"]) == ("%10", "%10", "%7")
    assert found.last == "%7"
    dropped = life(story, "mul %7, %10")
    assert dropped.names is not None
    assert list(dropped.names)[-1] == "opt/strength"
    assert dropped.last == ""
    assert following.life(story, "n").names == dict.fromkeys(found.names, "n"), "a parameter stays"


def test_its_source_is_the_expression_and_the_name_it_was_given(story: Result) -> None:
    source = STORY.split("\n")
    expressions = {
        "= program_id": "tl.program_id(0)",
        "load %8, %9,": "b = tl.load(x + i, mask=i < 8, other=0.0)",
        "mul %3, 1": "z = i * 1",
        "mul m, 2": "t = m * 2",
    }
    for defined_by, expected in expressions.items():
        assert following.expression(life(story, defined_by).origin, source) == expected


@cache
def add(backend: str) -> Result:
    return compiled(KERNELS / "add.py", "add_kernel", backend, "sass")


def rows(result: Result, followed: following.Followed, stage: str) -> list[str]:
    """The rows of a stage that the value is marked in, `=` before those that define it."""
    view = result.stages[stage]
    found = following.occurrences(result, followed, "some pane", stage, view.lines, view.language)
    return [f"{'=' if o.defines else ' '}{view.lines[o.row].text.strip()}" for o in found]


def start(result: Result, stage: str, text: str, name: str) -> following.Followed:
    view = result.stages[stage]
    row = next(i for i, line in enumerate(view.lines) if text in line.text)
    return following.start(result, "some pane", stage, view.lines, view.language, row, name)


def test_a_value_of_the_ssa_is_marked_in_the_other_listings() -> None:
    followed = start(add("cuda"), "opt/dce", "cmp_lt", "%5")
    assert followed.id == "%5"
    assert rows(add("cuda"), followed, "cuda")[:3] == ["=bool mask[2];", "=mask[r] = offs[r] < n;", "=}"]
    assert "=setp.lt.s32 \t%p1, %r8, %r3;" in rows(add("cuda"), followed, "ptx")
    assert any("ISETP" in row and row[0] == "=" for row in rows(add("cuda"), followed, "sass"))
    found = rows(add("mlir"), followed, "mlir/emit")
    assert [row for row in found if row[0] == "="] == [
        "=%splat3 = vector.broadcast %n : i32 to vector<2xi32>",
        "=%v5 = arith.cmpi slt, %v3, %splat3 : vector<2xi32>",
    ]
    assert " llvm.intr.masked.store %v9, %ptr_store0, %v5 {alignment = 4 : i32} : vector<2xf32>, vector<2xi1> into " \
        "!llvm.ptr<1>" in found  # fmt: skip


def test_a_variable_of_the_cuda_text_leads_to_its_value() -> None:
    followed = start(add("cuda"), "cuda", "float a[2]", "a")
    assert followed.id == "%6"
    assert rows(add("cuda"), followed, "opt/dce")[0] == "=%6 = load %4, %5, 0.0 : vector<256 x f32>"
    assert rows(add("cuda"), followed, "cuda") == [
        "=float a[2];",
        " mt_load_each<2>(mask, a, x + offs[0], 0.0f);",
        " v9[r] = a[r] + b[r];",
    ]
    assert start(add("cuda"), "cuda", "float* x", "n").id == "n"


def test_a_value_of_mlir_is_one_of_the_ssa_in_every_stage() -> None:
    late = [name for name in add("mlir").planned if name.startswith("mlir/")][-2]
    for stage, text in (("mlir/emit", "arith.addf"), (late, "llvm.fadd")):
        view = add("mlir").stages[stage]
        row = next(i for i, line in enumerate(view.lines) if text in line.text)
        name = view.lines[row].text.split(" = ")[0].strip()
        assert start(add("mlir"), stage, text, name).id == "%9"


def test_an_operation_without_a_result_is_no_value() -> None:
    view = add("mlir").stages["mlir/emit"]
    row = next(i for i, line in enumerate(view.lines) if "%all_store0 = " in line.text)
    followed = following.start(add("mlir"), "mlir", "mlir/emit", view.lines, "mlir", row, "%all_store0")
    assert followed.id == "", "it is made for the store, which defines nothing"


def test_a_value_of_a_helper_that_is_called_twice() -> None:
    result = compiled(Path(KERNELS / "helpers.py"), "complex_power_kernel", size=16)
    assert following.life(result, "%38").told() == "opt/cse: same as %37"
    source = (KERNELS / "helpers.py").read_text().split("\n")
    assert following.expression(following.life(result, "%38").origin, source) == "ai * br"
