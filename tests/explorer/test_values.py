"""Where one value stands in a listing: definition, uses, and where another of the same name begins."""

from __future__ import annotations

from functools import cache

import pytest

from explorer.model.result import LineView
from explorer.model.values import Values
from tests.explorer.compiled import KERNELS, compiled


@cache
def stage(kernel: str, name: str, backend: str = "cuda") -> Values:
    """The values of a stage of an example kernel."""
    file = {"add_kernel": "add.py", "complex_power_kernel": "helpers.py", "tiled_matmul_kernel": "matmul.py"}[kernel]
    until = "sass" if name == "sass" else "ptx"
    found = compiled(KERNELS / file, kernel, backend, until, 16 if kernel != "add_kernel" else 256).stages[name]
    return Values(found.lines, found.language)


def marked(values: Values, name: str, row: int | None = None) -> list[str]:
    """The rows that name a value, `=` before those that define it."""
    return [f"{'=' if o.defines else ' '}{values.lines[o.row].strip()}" for o in values.occurrences(name, row)]


def lines(text: str, language: str) -> Values:
    return Values([LineView(row) for row in text.strip("\n").split("\n")], language)


def test_a_value_of_the_ssa_of_add() -> None:
    values = stage("add_kernel", "opt/dce")
    assert marked(values, "%5") == [
        "=%5 = cmp_lt %3, n : vector<256 x bool>",
        " %6 = load %4, %5, 0.0 : vector<256 x f32>",
        " %8 = load %7, %5, 0.0 : vector<256 x f32>",
        " store %10, %9, %5",
    ]
    assert marked(values, "n") == [" %5 = cmp_lt %3, n : vector<256 x bool>"]
    (row,) = (r for r, line in enumerate(values.lines) if line.startswith("%6 = load"))
    assert values.names(row) == ("%6", "%4", "%5"), "the result first"


def test_parameters_and_words_of_the_listing_are_told_apart() -> None:
    values = stage("add_kernel", "layout")
    rows = [r for r, line in enumerate(values.lines) if "registers" in line]
    assert all(name.startswith("%") for row in rows for name in values.names(row))


def test_the_columns_are_those_of_the_name() -> None:
    values = stage("add_kernel", "opt/dce")
    for occurrence in values.occurrences("%3"):
        for start, end in occurrence.ranges:
            assert values.lines[occurrence.row][start:end] == "%3"


def test_a_value_of_a_loop_in_matmul() -> None:
    values = stage("tiled_matmul_kernel", "opt/dce")
    (row,) = (r for r, line in enumerate(values.lines) if " = for " in line)
    induction = next(n.text for n in values.scan(row) if n.role == "binds")
    found = values.occurrences(induction)
    assert found[0].row == row and found[0].defines
    assert len(found) > 1 and not any(o.defines for o in found[1:])


def test_a_variable_of_c_ends_with_its_braces() -> None:
    values = stage("add_kernel", "cuda")
    loops = [r for r, line in enumerate(values.lines) if line.startswith("    for (int r = 0")]
    assert len(loops) == 2
    first, second = ([o.row for o in values.occurrences("r", row)] for row in loops)
    assert first[0] == loops[0] and max(first) < loops[1] == second[0]
    assert marked(values, "mask")[:2] == ["=bool mask[2];", "=mask[r] = offs[r] < n;"], "declared, then set"


def test_functions_of_c_have_their_own_variables() -> None:
    values = lines(
        """
k(float* x, int n) {
    int v = n;
    x[v] = n;
}
__device__ void f(int n) {
    int v = n;
}
""",
        "cuda",
    )
    assert [o.row for o in values.occurrences("v", 2)] == [1, 2]
    assert [o.row for o in values.occurrences("v", 5)] == [5]
    assert [o.row for o in values.occurrences("n", 1)] == [0, 1, 2]
    assert [o.row for o in values.occurrences("n", 5)] == [4, 5]


def test_regions_of_mlir_may_use_a_name_again() -> None:
    values = lines(
        """
gpu.func @k(%p: !llvm.ptr<1>) kernel {
  %v6 = scf.if %v5 -> (f32) {
    %loaded = llvm.load %p {alignment = 8 : i64} : f32
    scf.yield %loaded : f32
  } else {
    %loaded = llvm.load %p : f32
    scf.yield %loaded : f32
  }
  use %v6 : f32
}
""",
        "mlir",
    )
    assert [o.row for o in values.occurrences("%loaded", 3)] == [2, 3]
    assert [o.row for o in values.occurrences("%loaded", 6)] == [5, 6]
    assert [o.row for o in values.occurrences("%v6", 8)] == [1, 8]
    assert [o.row for o in values.occurrences("%p", 5)] == [0, 2, 5]


def test_a_register_of_ptx_belongs_to_its_function() -> None:
    values = lines(
        """
.visible .entry a(
\tmov.u32 \t%r1, 1;
\tadd.s32 \t%r2, %r1, %r1;
.func b(
\tmov.u32 \t%r1, 2;
""",
        "ptx",
    )
    assert [(o.row, o.defines) for o in values.occurrences("%r1", 2)] == [(1, True), (2, False)]
    assert [o.row for o in values.occurrences("%r1", 4)] == [4]


SASS = """
/*0000*/ S2R R0, SR_CTAID.X ;
/*0010*/ LDC.64 R2, c[0x0][0x210] ;
/*0020*/ IMAD R0, R0, 0x80, R5 ;
/*0030*/ IMAD.WIDE R2, R0, 0x4, R2 ;
/*0040*/ @P0 MOV R0, RZ ;
/*0050*/ STG.E desc[UR4][R2.64], R0 ;
/*0060*/ MOV R0, 0x1 ;
/*0070*/ IADD3 R3, R0, R3, RZ ;
"""


def test_a_register_of_sass_holds_until_it_is_set_again() -> None:
    values = lines(SASS, "sass")
    rows = [(o.row, o.defines) for o in values.occurrences("R0", 2)]
    assert rows == [(2, True), (3, False), (4, True), (5, False)], "what is set under a predicate may be the old value"
    assert [(o.row, o.defines) for o in values.occurrences("R0", 0)] == [(0, True), (2, False)]
    assert [(o.row, o.defines) for o in values.occurrences("R0", 6)] == [(6, True), (7, False)]
    assert [(o.row, o.defines) for o in values.occurrences("R3", 5)] == [(3, True), (5, False), (7, False)], (
        "half a pair"
    )


def test_registers_of_the_sass_of_add() -> None:
    values = stage("add_kernel", "sass")
    for row in range(len(values.lines)):
        for name in values.defined(row):
            found = values.occurrences(name, row)
            assert row in [o.row for o in found if o.defines], (name, values.lines[row])


def test_every_use_in_the_listings_of_the_examples_has_a_definition() -> None:
    for kernel in ("add_kernel", "complex_power_kernel", "tiled_matmul_kernel"):
        for backend, name in (("cuda", "cuda"), ("mlir", "mlir/emit"), ("mlir", "ptx"), ("mlir", "llvm")):
            values = stage(kernel, name, backend)
            for row in range(len(values.lines)):
                for found in values.names(row):
                    if found in ("T", "M", "N", "O", "P", "mt_vector") and values.language == "cuda":
                        continue  # what a template takes
                    occurrences = values.occurrences(found, row)
                    assert any(o.defines for o in occurrences), (kernel, name, found, values.lines[row])


def test_following_scans_the_lines_of_the_name_alone_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked with every cursor move: `v1` is looked for in its own lines, not in those of `v10` to `v199`."""
    lines = tuple(LineView(f"    float v{r} = v{max(0, r - 1)} + 1.0f;") for r in range(200))
    values = Values(lines, "cuda")
    scanned: list[int] = []
    scan = Values.scan
    monkeypatch.setattr(Values, "scan", lambda self, row: (scanned.append(row), scan(self, row))[1])
    for _ in range(2):
        assert [(o.row, o.defines) for o in values.occurrences("v1")] == [(1, True), (2, False)]
    assert scanned == [1, 2]


def test_a_register_of_a_pair_or_of_four_is_found_where_the_first_is_written() -> None:
    sass = ("LDG.E.128 R4, [R2.64] ;", "FADD R8, R7, R3 ;", "IMAD R14, R5, R5, RZ ;")
    found = {
        name: [o.row for o in Values(tuple(map(LineView, sass)), "sass").occurrences(name)]
        for name in ("R3", "R7", "R4")
    }
    assert found == {"R3": [0, 1], "R7": [0, 1], "R4": [0]}
