"""The public MLIR library: pipelines, runs, isolation, reproducers, walks, objects, functions on arrays, schedules."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mytriton import CompileError, LaunchError, mlir
from mytriton.diagnostics import MytritonError
from mytriton.mlir.passes import parse as parse_passes
from mytriton.mlir.rows import without_locations
from mytriton.source import SourceUnit
from tests.lab.modules import CRASHING, GENERIC, SAXPY, SCHEDULE

pytest.importorskip("mlir.ir", reason="the MLIR bindings are not installed")


def test_a_pipeline_is_taken_apart_and_joined_again():
    text = "builtin.module(canonicalize{max-iterations=3 top-down=true}, gpu.module(gpu.func(cse,x{a={b,c}}),y),z)"
    steps = mlir.steps(text)
    assert [s.pipeline for s in steps] == [
        "canonicalize{max-iterations=3 top-down=true}",
        "gpu.module(gpu.func(cse))",
        "gpu.module(gpu.func(x{a={b,c}}))",
        "gpu.module(y)",
        "z",
    ]
    assert mlir.joined(steps) == text.replace(", ", ",")
    assert mlir.steps("") == mlir.steps("builtin.module()") == ()


@pytest.mark.parametrize(
    ("text", "message", "column"),
    [
        ("a(b", "`(` is never closed", 2),
        ("a)b", "`)` closes nothing", 2),
        ("a{x)}", "`)` stands where `}` is expected", 4),
        ("a{b}(c)", "a comma is missing after `a{b}`", 5),
        ("a,,b", "a pass has no name", 3),
    ],
)
def test_a_pipeline_that_is_none(text, message, column):
    with pytest.raises(mlir.PipelineError) as error:
        mlir.steps(text)
    assert str(error.value) == f"{message}\n{text}\n{' ' * (column - 1)}^"
    assert error.value.column == column


def test_every_pass_is_a_stage():
    run = mlir.parse(SAXPY).run("canonicalize,func.func(convert-scf-to-cf,cse),canonicalize").run()
    assert [(s.name, s.status) for s in run.stages] == [
        ("source", "ok"),
        ("mlir/parse", "ok"),
        ("mlir/canonicalize", "no change"),
        ("mlir/func.func(convert-scf-to-cf)", "ok"),
        ("mlir/func.func(cse)", "no change"),
        ("mlir/canonicalize (2)", "no change"),
    ]
    before, after = run.stages[2], run.stages[3]
    assert (after.stats["ops before"], after.stats["ops"]) == (before.stats["ops"], before.stats["ops"] + 3)
    assert "cf.cond_br" in after.text
    assert "scf.for" not in after.text
    # What the multiplication became leads to the row it was read from.
    row = next(i for i, t in enumerate(SAXPY.split("\n"), 1) if "arith.mulf" in t)
    assert next(line.span.line for line in after.lines if "arith.mulf" in line.text) == row
    assert "cf.br" in run.result.run("strip-debuginfo").run().stages[1].text  # goes on from there


def test_a_text_that_is_no_module():
    with pytest.raises(CompileError) as error:
        mlir.parse(SAXPY.replace("arith.mulf", "arith.mulq"), "x.mlir")
    assert str(error.value).splitlines()[:2] == [
        "x.mlir:8:10: error[MT601]: MLIR stage 'mlir/parse' failed:",
        "custom op 'arith.mulq' is unknown",
    ]
    assert str(error.value).splitlines()[3] == "  |          ^^^^^^^^^^"


def test_a_module_read_from_a_file_as_text_and_bytecode(tmp_path):
    text, code = tmp_path / "a.mlir", tmp_path / "a.mlirbc"
    text.write_text(SAXPY)
    code.write_bytes(mlir.read(text).bytecode)
    assert mlir.read(code).text == mlir.read(text).text


def test_a_pass_that_kills_its_process(tmp_path):
    module = mlir.parse(CRASHING)
    pipeline = "nvvm-attach-target{chip=sm_90},gpu.module(convert-math-to-llvm),gpu-module-to-binary{format=isa}"
    run = mlir.isolated.run(module, pipeline)
    assert [s.status for s in run.stages] == ["ok", "ok", "ok", "ok", "crashed"]
    cause = run.stages[-1].diagnostics[0].message
    assert cause.startswith("MLIR stage 'mlir/gpu-module-to-binary' crashed: its process was ended by SIGABRT")
    assert "Cannot select" in cause
    assert "llvm.intr.tanh" in run.stages[-1].text  # what it was given
    made = mlir.reproducer(run)
    made.write(str(tmp_path / "again"))
    assert (tmp_path / "again" / "pipeline.txt").read_text() == "gpu-module-to-binary{format=isa}\n"
    done = subprocess.run(
        [sys.executable, tmp_path / "again" / "rerun.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == -6
    assert "Cannot select" in done.stderr
    late = mlir.isolated.run(module, "cse", seconds=0.01)
    assert late.stages[-1].status == "crashed"
    assert "its time was over" in late.stages[-1].diagnostics[0].message


def test_isolated_passes_are_the_same_stages():
    module, pipeline = mlir.parse(SAXPY), "canonicalize,nope"
    here, there = module.run(pipeline).run(), mlir.isolated.run(module, pipeline)
    assert [(s.name, s.status, s.text, s.stats) for s in there.stages] == [
        (s.name, s.status, s.text, s.stats) for s in here.stages
    ]
    assert there.failed is not None
    assert "'nope' does not refer to a registered pass" in there.failed.diagnostics[0].message


def test_objects_of_two_targets():
    module = mlir.parse(CRASHING.replace("math.tanh %x", "arith.negf %x"))
    attach = "nvvm-attach-target{chip=sm_80},nvvm-attach-target{chip=sm_90}"
    made = module.run(f"{attach},gpu.module(convert-gpu-to-nvvm),gpu-module-to-binary{{format=isa}}").result
    found = mlir.objects(made)
    assert [(o.binary, o.format) for o in found] == [("m", "assembly")] * 2
    assert [b".target sm_80" in o.code for o in found] == [True, False]
    assert mlir.objects(module) == []


def test_functions_on_arrays():
    library = mlir.jit(mlir.parse(SAXPY))
    assert list(library) == ["saxpy", "square", "column"]
    x, y = np.arange(5, dtype=np.float32), np.ones(5, np.float32)
    bound = library["saxpy"].bind(2.0, x, y)
    assert bound() is None
    assert y.tolist() == [1, 3, 5, 7, 9]
    bound()
    assert y.tolist() == [1, 5, 9, 13, 17]
    assert library["square"](-7) == 49
    table = np.arange(6.0).reshape(2, 3)
    assert library["column"](table.T, 1).tolist() == [3.0, 4.0, 5.0]  # strides are passed
    for args, message in [
        (
            (2.0, x.astype(np.float64), y),
            "argument 1 of `saxpy` is memref<?xf32>; the array holds float64; use .astype(float32)",
        ),
        ((2.0, x[::2], y), "argument 1 of `saxpy` is memref<?xf32>; the array is not contiguous"),
        ((2.0, x), "`saxpy` takes 3 arguments, got 2"),
        ((x, x, y), "argument 0 of `saxpy` is f32; got an array of shape (5,)"),
    ]:
        with pytest.raises(LaunchError, match=re.escape(message)):
            library["saxpy"](*args)
    fixed = table.T[:3]
    fixed.setflags(write=False)
    assert library["column"](fixed, 0).tolist() == [0.0, 1.0, 2.0]  # is only read
    y.setflags(write=False)
    with pytest.raises(LaunchError, match=r"argument 2 .* the array is read-only, and the function may write to it"):
        library["saxpy"](2.0, x, y)
    with pytest.raises(KeyError, match="no function 'cube'; there are saxpy, square, column"):
        library["cube"]
    with pytest.raises(LaunchError, match="4294967296 does not fit"):
        library["square"](1 << 32)
    with pytest.raises(MytritonError, match=r"not lowered to LLVM: .*arith\.addf"):
        mlir.jit(mlir.parse(SAXPY), "func.func(llvm-request-c-wrappers)")


@pytest.mark.parametrize(
    ("layout", "taken", "refused"),
    [
        ("strided<[2], offset: ?>", slice(None, None, 2), "strides of (8,) bytes; write `?`"),
        ("strided<[-1], offset: 0>", slice(None, None, -1), "strides of (8,) bytes; write `?`"),
        ("strided<[1], offset: 5>", None, "an array begins with its first element; write `offset: 0`"),
    ],
)
def test_distances_that_a_type_fixes(layout, taken, refused):
    text = "func.func @last(%x: memref<?xi64, L>) -> i64 {\n%i = arith.constant 3 : index\n"
    text += "%0 = memref.load %x[%i] : memref<?xi64, L>\nreturn %0 : i64\n}"
    last, x = mlir.jit(mlir.parse(text.replace("L>", f"{layout}>")))["last"], np.arange(8)
    if taken is not None:
        assert last(x[taken]) == x[taken][3]
    with pytest.raises(LaunchError, match=re.escape(refused)):
        last(x)


def test_a_schedule_is_a_module_of_its_own():
    module = mlir.parse(GENERIC)
    tiled = mlir.apply(module, mlir.parse(SCHEDULE))
    assert [op.results for op in mlir.query(tiled, "linalg.matmul")] == [("tensor<2x2xf32>",)]
    assert len(mlir.query(tiled, "scf.for")) == 2
    assert mlir.query(tiled, "linalg.matmul")[0].row == 19
    with pytest.raises(MytritonError, match="no sequence @other; it has __transform_main"):
        mlir.apply(module, mlir.parse(SCHEDULE), "other")
    with pytest.raises(MytritonError, match="no sequence @__transform_main; it has none"):
        mlir.apply(module, module)
    with pytest.raises(CompileError, match="the schedule failed") as error:
        mlir.apply(module, mlir.parse(SCHEDULE.replace("linalg.matmul", "func.func")))
    assert "only ops implementing TilingInterface are supported" in str(error.value)


def test_a_schedule_is_stepped():
    module, schedule = mlir.parse(GENERIC), mlir.parse(SCHEDULE)
    run = module.run("cse,transform-interpreter,canonicalize", schedule).run()
    assert [(s.name, s.status) for s in run.stages[2:]] == [
        ("mlir/cse", "no change"),
        ("mlir/transform.structured.match", "no change"),
        ("mlir/transform.structured.tile_using_for", "ok"),
        ("mlir/canonicalize", "ok"),
    ]
    assert [s.name for s in module.run("cse", schedule).run().stages[2:]] == [
        "mlir/transform.structured.match",
        "mlir/transform.structured.tile_using_for",
        "mlir/cse",
    ]
    assert mlir.command(Path("x.mlir"), "cse") == "mlir-opt x.mlir '--pass-pipeline=builtin.module(cse)'"
    assert mlir.command("x y.mlir", mlir.steps("func.func(cse)"), "s.mlir") == (
        "mlir-opt 'x y.mlir' '--pass-pipeline=builtin.module(transform-preload-library{transform-library-paths=s.mlir},"
        "transform-interpreter,func.func(cse))'"
    )


def test_the_rows_of_a_text_count_whatever_locations_stand_in_it():
    text = """\
#loc1 = loc("k.py":3:4)
func.func @f(%a: i32 loc("a"("k.py":2:3))) -> i32 attributes {s = "loc(no)"} { // loc(
  %0 = arith.muli %a, %a : i32 loc(callsite("f"("k.py":5:6) at
    "x)":1:2))
  return %0 : i32 loc(#loc1)
} loc(#loc)
#loc = loc(unknown)
"""
    assert [row.rstrip() for row in without_locations(text).split("\n")] == [
        "",
        'func.func @f(%a: i32 ) -> i32 attributes {s = "loc(no)"} { // loc(',
        "  %0 = arith.muli %a, %a : i32",
        "",
        "  return %0 : i32",
        "}",
        "",
        "",
    ]
    run = mlir.Run(SourceUnit("x.mlir", "x", 1, text), "canonicalize", rows=True).run()
    assert {line.text.strip(): line.span.line for line in run.stages[-1].lines if line.span}["return %0 : i32"] == 5
    assert without_locations("a loc(") == "a loc("


def test_the_code_of_a_module():
    def stages(text: str, pipeline: str = "") -> list[tuple[str, str, str]]:
        run = mlir.Run(SourceUnit("x.mlir", "x", 1, text), pipeline, code=True).run()
        return [(s.name, s.status, s.reason) for s in run.stages[-4:]]

    for text in ("", "module {\n  module {\n  }\n}\n", "llvm.func @f()\n"):
        assert {row[1:] for row in stages(text)} == {("skipped", "the module defines no function")}
    text = CRASHING.replace("math.tanh %x", "arith.negf %x")
    device = stages(
        text, "nvvm-attach-target{chip=sm_90},gpu.module(convert-gpu-to-nvvm),gpu-module-to-binary{format=isa}"
    )
    assert [row[:2] for row in device] == [("llvm", "ok"), ("ptx", "ok"), ("llvm/O3", "ok"), ("asm", "skipped")]


def test_arrays_of_other_strides_are_copied():
    text = """\
func.func @f(%a: memref<4x6xf32, strided<[?, ?]>>, %b: memref<4x6xf32, strided<[?, ?]>>) {
  memref.copy %a, %b : memref<4x6xf32, strided<[?, ?]>> to memref<4x6xf32, strided<[?, ?]>>
  return
}
"""
    a, b = np.arange(24, dtype=np.float32).reshape(4, 6), np.zeros((6, 8), np.float32)
    mlir.jit(mlir.parse(text))["f"](a, b.T[2:6])
    assert np.array_equal(b.T[2:6], a)
    assert b.sum() == a.sum()


def test_all_passes_with_their_options():
    passes = mlir.registered()
    assert passes["canonicalize"].help == "Canonicalize operations"
    assert {o.name for o in passes["nvvm-attach-target"].options} >= {"O", "chip", "features"}
    fusion = {o.name: o for o in passes["affine-loop-fusion"].options}
    assert fusion["mode"].values == ("greedy", "producer", "sibling")
    assert fusion["maximal"].type == ""
    assert "xevm-attach-target" in passes  # the last one
    on = [passes[n].on for n in ("canonicalize", "affine-loop-unroll", "convert-gpu-to-nvvm", "lower-vector-mask")]
    assert on == ["", "function", "gpu.module", "func.func"]
    assert list(parse_passes("Passes:\n  --a                -   does a\n  --b    -   does b\n"))[1].help == "does b"
