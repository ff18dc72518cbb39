"""MLIR files without a screen: passes, schedules, questions, runs, reproducers, and pipelines that fail."""

from __future__ import annotations

import json
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from explorer.__main__ import main
from explorer.engine import messages as m
from explorer.engine import mlir_files, mlir_running
from mytriton.pipelines import steps
from tests.explorer.engine_harness import MakeEngine, Recorder
from tests.lab.modules import GENERIC, SAXPY, SCHEDULE

pytest.importorskip("mlir.ir", reason="the MLIR bindings are not installed")

#: From `SAXPY` to the LLVM dialect.
LOWERED = (
    "func.func(llvm-request-c-wrappers),lower-affine,convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,reconcile-unrealized-casts"
)


#: A schedule that says of an index what is not true: it is not below 4.
PROMISED = """\
func.func @f(%x: memref<8xf32>) {
  %zero = arith.constant 0 : index
  affine.for %i = 0 to 8 {
    %j = arith.addi %i, %zero : index
    %k = affine.min affine_map<(d) -> (d, 5)>(%j)
    %0 = memref.load %x[%k] : memref<8xf32>
    memref.store %0, %x[%i] : memref<8xf32>
  }
  return
}
"""
PROMISE = """\
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %least = transform.structured.match ops{["affine.min"]} in %root : (!transform.any_op) -> !transform.any_op
    %index = transform.structured.match ops{["arith.addi"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.affine.simplify_bounded_affine_ops %least with [%index : !transform.any_op] within [0] and [4]
        : !transform.any_op
    transform.yield
  }
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("saxpy", SAXPY), ("generic", GENERIC), ("schedule", SCHEDULE)):
        (tmp_path / f"{name}.mlir").write_text(text)
    return tmp_path


def printed(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 0) -> str:
    assert main(argv) == code
    return capsys.readouterr().out


def test_every_pass_of_a_file_is_a_stage(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    out = printed(capsys, "saxpy.mlir", "--json", "--show", "stages,llvm,asm", "--pipeline", f"canonicalize,{LOWERED}")
    found = json.loads(out)
    stages = {stage["name"]: stage for stage in found["stages"]}
    assert found["planned"] == list(stages)
    assert found["pipeline"] == ["canonicalize", *(step.pipeline for step in steps(LOWERED))]
    assert stages["mlir/canonicalize"]["status"] == "no change"
    assert stages["mlir/convert-scf-to-cf"]["ops"] == {"before": 27, "after": 33}
    assert stages["ptx"]["cause"] == "the module holds no device code"
    row = next(i for i, text in enumerate(SAXPY.split("\n"), 1) if "arith.mulf" in text)
    for name, text in (("llvm", "fmul float"), ("llvm/O3", "fmul <"), ("asm", "mulss")):
        lines = [line["line"] for line in stages[name]["lines"] if text in line["text"]]
        assert set(lines) == {row}, name


def test_what_all_steps_of_a_schedule_find_is_said_once(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    Path("consumed.mlir").write_text(
        SCHEDULE.replace("!transform.any_op)", "!transform.any_op {transform.consumed})", 1)
    )
    assert main(["generic.mlir", "--stages", "--schedule", "consumed.mlir"]) == 0
    assert capsys.readouterr().err.count("warning[MT602]: op argument #0 is not consumed") == 1


def test_a_step_of_a_schedule_that_fails(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    Path("bad.mlir").write_text(SCHEDULE.replace("linalg.matmul", "linalg.generic"))
    argv = ("--pipeline", "cse,transform-interpreter,canonicalize", "--schedule", "bad.mlir", "--reproduce", "again")
    assert main(["generic.mlir", *argv]) == 0
    said = capsys.readouterr()
    cause = "too many tiles provided, expected at most 2 found 3 (bad.mlir:4:12)"
    assert said.err == f"stage 'mlir/transform.structured.tile_using_for' failed: {cause}\n"
    done = subprocess.run(shlex.split(said.out), capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert '"schedule":4:12' in done.stderr
    assert "too many tiles provided" in done.stderr


def test_questions_about_a_file(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    out = printed(capsys, "generic.mlir", "--query", "reductions")
    assert out.splitlines()[0] == (
        "generic.mlir:14:10: linalg.generic in @summed: (tensor<4x8xf32>, tensor<4xf32>) -> (tensor<4xf32>)"
        "  maps: identity, projection"
    )
    passes = ("--pipeline", "linalg-generalize-named-ops")
    found = json.loads(printed(capsys, "generic.mlir", "--query", "linalg.generic", "--json", *passes))["found"]
    assert [(o["name"], o["line"], o["within"]) for o in found] == [
        ("linalg.generic", 6, ["added"]),
        ("linalg.generic", 14, ["summed"]),
        ("linalg.generic", 19, ["summed"]),
    ]
    assert main(["generic.mlir", "--query", "casts", *passes]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == "none of 14 operations in mlir/linalg-generalize-named-ops\n"


def test_questions_about_kernels(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    Path("k.py").write_text(f"{KERNEL}\n{TOTAL}")
    at = "k.py:13:17: gpu.shuffle in @total: "
    found = printed(capsys, "k.py", "--query", "reductions").splitlines()
    assert f"{at}mlir/emit 5, mlir/cleanup 5, mlir/attach-nvvm-target 5, mlir/convert-scf-to-cf 5" in found
    assert all(row.startswith("k.py:13:17: ") for row in found), "twice holds none"
    argv = ("--kernel", "total", "--query", "gpu.shuffle", "--stage", "mlir/emit")
    assert printed(capsys, "k.py", *argv).splitlines() == [f"{at}(f32, i32, i32) -> (f32, i1)"] * 5
    on_cpu = ("--kernel", "total", "--backend", "cpu", "--query", "reductions", "--stage", "cpu/emit", "--json")
    (call,) = json.loads(printed(capsys, "k.py", *on_cpu))["found"]
    assert (call["kernel"], call["name"], call["line"], call["stage"]) == ("total", "func.call", 13, "cpu/emit")


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["k.py", "--query", "casts", "--backend", "cuda"], "--query is about MLIR, which backend cuda has none of"),
        (["k.py", "--pipeline", "cse"], "--pipeline: backend cuda has no MLIR passes; give --backend mlir or cpu"),
        (["saxpy.mlir", "--pipeline", "a(b"], "--pipeline: `(` is never closed\na(b\n ^"),
        (["saxpy.mlir", "--num-warps", "2"], "--num-warps is about kernels, which an MLIR module has none of"),
        (["saxpy.mlir", "--backend", "cpu"], "--backend cpu: an MLIR module goes through --pipeline"),
        (["empty.mlir", "--check"], "empty.mlir has no function to check: a func.func with a body, not private"),
        (["saxpy.mlir", "--check", "-D", "nope=1"], "there is no argument 'nope'; there are size, a, j"),
        (["saxpy.mlir", "--check", "-D", "x=1"], "-D x: `x` is an array, which is made; -D size=N says how long"),
        (
            ["saxpy.mlir", "--check", "-D", "size=0"],
            "-D size=0: the open extents of arrays are a whole number from 1 on",
        ),
        (["saxpy.mlir", "--check", "-D", "size=1.5"], "-D size=1.5: the open extents of arrays are"),
        (["saxpy.mlir", "--schedule", "schedul.mlir"], "schedul.mlir does not exist; did you mean schedule.mlir?"),
    ],
)
def test_what_does_not_go_together(
    capsys: pytest.CaptureFixture[str], folder: Path, argv: list[str], message: str
) -> None:
    Path("k.py").write_text("")
    Path("empty.mlir").write_text("")
    assert main([*argv, "--stages"] if "--query" not in argv and "--check" not in argv else argv) == 2
    assert capsys.readouterr().err.startswith(f"mytriton-explore: {message}")


def test_functions_that_can_be_run() -> None:
    array = "memref<2x?xf32, strided<[?, 1]>>"
    text = f"func.func private @p(%a: f32)\nfunc.func @q(%a: {array} {{llvm.noalias}}, %n: index) {{\n}}\n"
    (info,) = mlir_files.module_info(text, "x.mlir").kernels
    assert (info.name, info.line) == ("q", 2)
    assert info.examples[0].label == "q(size=64, n=2)"
    assert [p.annotation for p in info.params] == [array, "index"]


def ran(text: str, function: str, *passes: str, **fields: object) -> mlir_running.RunReport:
    request = m.RunRequest("x.mlir", text, function, "mlir", pipelines={"mlir": passes}, **fields)  # type: ignore[arg-type]
    return mlir_running.run(request, lambda stage, doing: None)


def test_a_run_compares_with_the_module_without_the_passes() -> None:
    report = ran(SAXPY, "saxpy", "canonicalize", "func.func(convert-scf-to-cf)", defines={"size": 100, "a": 3.0})
    assert (report.ok, report.example) == (True, "saxpy(size=100, a=3.0)")
    assert [(o.name, o.size, o.mismatches) for o in report.outputs] == [("x", 100, 0), ("y", 100, 0)]
    several = ran(GENERIC, "summed", schedule="s.mlir", schedule_text=SCHEDULE)
    assert [o.name for o in several.outputs] == ["a", "b", "c", "d", "result 0", "result 1"]
    assert several.ok
    assert ran(SAXPY, "saxpy", "nope").message == "it does not compile"
    located = ran(PROMISED, "f", "cse", schedule="s.mlir", schedule_text=PROMISE, every_stage=True)
    assert [(step.stage, step.ok) for step in located.steps] == [
        ("mlir/transform.structured.match", True),
        ("mlir/transform.structured.match (2)", True),
        ("mlir/transform.affine.simplify_bounded_affine_ops", False),
    ]
    assert located.steps[-1].text.startswith("x: 2 of 8 differ, the first at [6]: ")


#: Functions that end the process they run in.
DEADLY = """\
func.func @far(%x: memref<?xf32>) {
  %far = arith.constant 100000000000 : index
  %c = arith.constant 1.0 : f32
  memref.store %c, %x[%far] : memref<?xf32>
  return
}
func.func @never(%a: i32) -> i32 {
  %no = arith.constant false
  cf.assert %no, "never"
  return %a : i32
}
func.func @ratio(%a: i32, %b: i32) -> i32 {
  %0 = arith.divsi %a, %b : i32
  return %0 : i32
}
func.func @wild() {
  %null = llvm.mlir.zero : !llvm.ptr
  %0 = llvm.load volatile %null : !llvm.ptr -> i32
  return
}
"""


def test_functions_that_end_their_process(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    Path("deadly.mlir").write_text(DEADLY)
    size = "size=100000000000"
    assert main(["deadly.mlir", "--check", "-D", size]) == 1
    said = capsys.readouterr()
    far, never, ratio, wild = said.out.splitlines()
    assert far.startswith(f"FAIL  far  far({size})  cpu  an array of memref<?xf32> with {size} is too large: ")
    assert never == "FAIL  never  never(a=2)  cpu  killed by SIGABRT while running never without the passes"
    assert ratio.startswith("PASS")
    died = "killed by SIGSEGV while running wild without the passes; no access that MLIR can check is out of bounds"
    assert wild == f"FAIL  wild  wild()  cpu  {died}"
    assert said.err == "never\n", "and nothing of our own code"
    assert main(["deadly.mlir", "--check", "--kernel", "far", "-D", "size=100"]) == 1
    said = capsys.readouterr()
    assert said.out == "FAIL  far  far(size=100)  cpu (CPU)  an access is out of bounds\n"
    operation = "memref.store %cst, %arg0[%c100000000000] : memref<?xf32>\n"
    assert said.err.startswith(f"deadly.mlir:4:3: error[MT609]: out-of-bounds access: {operation}")
    assert main(["deadly.mlir", "--check", "--kernel", "ratio", "-D", "b=0"]) == 1
    died = "killed by SIGFPE while running ratio without the passes; an integer that is divided by 0 does that"
    assert capsys.readouterr().out == f"FAIL  ratio  ratio(a=2, b=0)  cpu  {died}\n"


KERNEL = """\
import mytriton
import mytriton.language as tl

@mytriton.jit
def twice(x: "*fp32", n: "i32", B: tl.constexpr = 64):
    at = tl.program_id(0) * B + tl.arange(0, B)
    a = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(x + at, a * 2.0, mask=at < n)
"""


TOTAL = """\
@mytriton.jit
def total(x: "*fp32", B: tl.constexpr = 128):
    a = tl.load(x + tl.arange(0, B))
    tl.store(x, tl.sum(a, axis=0))
"""


async def test_a_kernel_goes_through_other_passes(make_engine: MakeEngine, recorder: Recorder, tmp_path: Path) -> None:
    engine = await make_engine(once=True)
    wanted = ("llvm/O3",)
    request = m.CompileRequest(str(tmp_path / "k.py"), KERNEL, backends=("mlir", "cpu"), wanted=wanted)
    generation = engine.compile(request)
    own: dict[str, tuple[str, ...]] = {}
    for backend, text in (("mlir", "fmul"), ("cpu", "fmul <16 x float>")):
        await recorder.wait(m.CompileFinished, generation=generation, backend=backend, slow=True)
        (started,) = recorder.of(m.CompileStarted, generation=generation, backend=backend)
        own[backend] = started.passes
        (o3,) = [e.stage for e in recorder.of(m.StageFinished, backend=backend) if e.stage.name == "llvm/O3"]
        lines = {line.line for line in o3.lines if text in line.text}
        assert lines == {8}, "they lead to the kernel"
    assert own["mlir"][0] == "any(cse,canonicalize)"
    other = {"mlir": ("canonicalize", *own["mlir"][1:]), "cpu": own["cpu"][:3]}
    generation = engine.compile(replace(request, pipelines=other, wanted=()))
    for backend in other:
        await recorder.wait(m.CompileFinished, generation=generation, backend=backend)
    stages = {
        backend: {e.stage.name: e.stage for e in recorder.of(m.StageFinished, generation=generation, backend=backend)}
        for backend in other
    }
    assert [name for name in stages["mlir"] if name.startswith("mlir/")][1:] == [
        "mlir/canonicalize",
        "mlir/attach-nvvm-target",
        "mlir/convert-scf-to-cf",
        "mlir/convert-gpu-to-nvvm",
        "mlir/reconcile-unrealized-casts",
        "mlir/debug-info",
        "mlir/gpu-module-to-binary",
    ]
    assert stages["mlir"]["mlir/gpu-module-to-binary"].ok
    failed = stages["cpu"]["llvm"]
    assert failed.status == "failed"
    assert "was not lowered by any stage" in failed.diagnostics[0].message
