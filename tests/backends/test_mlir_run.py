"""The MLIR stage runner: links, statuses, failures that name the stage and the kernel line."""

from __future__ import annotations

import os

import pytest

from mytriton.backends.mlir.listing import failing_row, link_lines
from mytriton.backends.mlir.run import ModuleRun, mlir_available, native_stderr
from mytriton.source import Span
from mytriton.stage import Line

pytestmark = pytest.mark.skipif(mlir_available() is not None, reason=str(mlir_available()))

LOOP = """\
func.func @k(%n: i32, %p: !llvm.ptr) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.index_cast %n : i32 to index
  scf.for %i = %c0 to %last step %c1 {
    %k = arith.index_cast %i : index to i32
    %z = arith.cmpi eq, %k, %n : i32
    scf.if %z {
      llvm.store %k, %p : i32, !llvm.ptr
    } else {
      llvm.store %n, %p : i32, !llvm.ptr
    }
  }
  return
}"""
PASSES = [
    ("cse", "cse"),
    ("convert-scf-to-cf", "convert-scf-to-cf"),
    ("convert-arith-to-llvm", "convert-arith-to-llvm"),
    ("convert-func-to-llvm", "convert-func-to-llvm"),
    ("convert-cf-to-llvm", "convert-cf-to-llvm"),
    ("reconcile-unrealized-casts", "reconcile-unrealized-casts"),
]


def lines(text: str) -> list[Line]:
    return [Line(t, Span(i, 1, i, 2), (f"%{i}",)) for i, t in enumerate(text.split("\n"), 1)]


def test_stages_keep_every_text_and_link_it_to_the_source() -> None:
    run = ModuleRun(lines(LOOP), prefix="cpu")
    stages = list(run.stages(PASSES))
    assert [s.name for s in stages] == ["cpu/emit"] + [f"cpu/{name}" for name, _ in PASSES]
    assert [s.status for s in stages] == ["ok", "no change", "ok", "ok", "ok", "ok", "ok"]
    assert stages[0].text == LOOP
    assert "scf.for" in stages[1].text  # read late, and yet the text of its own stage
    where = {line.text.strip(): line.span.line if line.span else None for line in stages[1].lines}
    assert where["scf.for %arg2 = %c0 to %0 step %c1 {"] == 5
    assert where["scf.if %2 {"] == 8
    assert where["} else {"] == 8
    assert where["llvm.store %arg0, %arg1 : i32, !llvm.ptr"] == 11
    last = {line.text.strip(): line for line in stages[-1].lines}
    assert last["llvm.store %arg0, %arg1 : i32, !llvm.ptr"].values == ("%11",)
    assert "loc(" not in stages[-1].text
    assert run.leftovers(("llvm", "builtin")) == []


def test_a_missing_lowering_is_named_with_its_line() -> None:
    run = ModuleRun(lines(LOOP), prefix="cpu")
    stages = list(run.stages([p for p in PASSES if "arith" not in p[0]]))
    assert all(s.ok for s in stages)
    (found,) = run.leftovers(("llvm", "builtin"))
    message = "operation 'arith.constant' was not lowered by any stage, nor arith.index_cast, "
    assert (found.message.partition("arith.cmpi")[0], found.span and found.span.line) == (message, 2)
    assert found.hint == "add the pass convert-arith-to-llvm, behind what makes such operations"


def test_a_parse_error_is_a_failed_emit_stage() -> None:
    text = "func.func @k(%a: i32) {\n  %b = arith.addi %a, %c : i32\n  return\n}"
    stages = list(ModuleRun(lines(text), prefix="mlir").stages(PASSES))
    assert [(s.name, s.status) for s in stages] == [("mlir/emit", "failed")]
    (diagnostic,) = stages[0].diagnostics
    assert diagnostic.code == "MT601"
    assert diagnostic.message == "MLIR stage 'mlir/emit' failed:\nuse of undeclared SSA value name"
    assert diagnostic.span == Span(2, 1, 2, 2)


def test_a_failing_pass_ends_the_stream_and_shows_its_input() -> None:
    text = 'func.func @k(%a: f32) -> f32 {\n  %b = llvm.inline_asm "x", "=f,f" %a : (f32) -> f32\n  return %b : f32\n}'
    text += "\ngpu.module @m {\n  func.func @f(%x: memref<?xf32, affine_map<(d0) -> (d0 * 2)>>) {\n    return\n  }\n}"
    stages = list(ModuleRun(lines(text), prefix="mlir").stages([("binary", "gpu-module-to-binary"), ("cse", "cse")]))
    assert [(s.name, s.status) for s in stages] == [("mlir/emit", "ok"), ("mlir/binary", "failed")]
    assert stages[1].diagnostics[0].message.startswith("MLIR stage 'mlir/binary' failed:\n")
    assert stages[1].diagnostics[0].span == Span(5, 1, 5, 2)
    assert "gpu.module @m" in stages[1].text


def test_an_unknown_pass_is_a_failed_stage() -> None:
    stages = list(ModuleRun(lines(LOOP), prefix="cpu").stages([("nope", "nope")]))
    assert stages[-1].status == "failed"
    assert "'nope' does not refer to a registered pass" in stages[-1].diagnostics[0].message


def test_locations_of_fused_and_unknown_operations() -> None:
    text = (
        '#loc3 = loc(fused["x"(#loc1), #loc2])\n#loc1 = loc(unknown)\n#loc2 = loc("-":2:5)\nmodule {\n  a loc(#loc3)\n'
    )
    text += "  b loc(#loc1)\n} loc(#loc)\n#loc = loc(unknown)\n"
    linked = link_lines(text, lines("first\nsecond"))
    assert [(line.text, line.span.line if line.span else None) for line in linked] == [
        ("module {", None),
        ("  a", 2),
        ("  b", 2),  # which belongs to what stands before it
        ("}", None),
    ]


def test_native_output_is_collected() -> None:
    with native_stderr() as text:
        os.write(2, b"from below\n")
    assert text() == "from below"


def test_the_row_of_an_error() -> None:
    text = """#loc1 = loc("-":3:5)
#loc2 = loc(fused<#di>["-":4:5])
module {
  func.func @f() {
    %0 = arith.constant 1 : i32 loc(#loc1)
    %1 = math.exp %0 : f32 loc(#loc1)
    scf.if %c {
      x.y loc(#loc1)
    } else {
      x.z loc(#loc1)
    } loc(#loc2)
  } loc("-":2:1)
} loc(unknown)
"""
    message = "failed to legalize operation 'math.exp' that was explicitly marked illegal"
    assert failing_row(text, 'loc("-":3:5)', message) == 3, "the operation that is named"
    assert failing_row(text, 'loc("-":3:5)', "bad") == 2, "else the first of the place"
    assert failing_row(text, 'loc(fused["-":4:5])', "bad") == 4, "where its regions begin"
    assert failing_row(text, 'loc("-":9:9)', "bad") is None
    assert failing_row(text, "loc(unknown)", "bad") is None
