"""The cpu backend's stages: names, texts, links, and refusals that say why."""

from __future__ import annotations

import os

import numpy as np
import pytest

from mytriton.backends.cpu import backend as cpu_backend
from mytriton.backends.cpu import listing
from mytriton.backends.cpu.access import Groups, element_groups
from mytriton.backends.cpu.backend import BACKEND, PASSES
from mytriton.backends.cpu.emit import emit
from mytriton.backends.mlir.run import mlir_available
from mytriton.diagnostics import BackendUnavailable, LaunchError
from mytriton.ir import ops
from mytriton.ir.builder import Builder, parameter
from mytriton.ir.core import Op, ParamInfo, Value
from mytriton.records import dataclass
from mytriton.source import Span
from mytriton.stage import Compilation
from mytriton.types import PointerType, Type, bf16, f32, i1, i32
from tests.backends.cpu_support import TARGET, at, compilation, elementwise, run
from tests.ir.kernels import binary_kernel
from tests.ir.structured import branch
from tests.ir.structured_programs import Writer

needs_mlir = pytest.mark.skipif(mlir_available() is not None, reason=str(mlir_available()))


@needs_mlir
def test_every_planned_stage_is_made_and_no_cast_is_left() -> None:
    done = compilation(binary_kernel(1024)).run()
    assert [s.name for s in done.stages] == list(BACKEND.planned(TARGET))
    assert all(s.ok for s in done.stages)
    assert done.stage("cpu/arith-emulate-unsupported-floats").status == "no change"
    assert "unrealized_conversion_cast" not in done.stage("cpu").text


@needs_mlir
def test_the_texts_of_a_vector_add(golden) -> None:
    done = compilation(binary_kernel(1024))
    golden("add.cpu.mlir", done.stage("cpu/emit").text)
    golden("add.cpu.cleanup.mlir", done.stage("cpu/cleanup").text)
    golden("add.cpu.ll", done.stage("llvm").text)


def test_blocks_are_strip_mined() -> None:
    lines = emit(binary_kernel(131072), TARGET).lines
    text = "\n".join(line.text for line in lines)
    assert "vector<16xf32>" in text
    assert "vector<131072" not in text


@needs_mlir
def test_lines_lead_to_the_source() -> None:
    done = compilation(binary_kernel(1024))
    for name in ("cpu/emit", "cpu/convert-vector-to-llvm"):
        masked = [line for line in done.stage(name).lines if "masked.load" in line.text]
        assert {line.span.line for line in masked if line.span} == {5, 6}
    stores = [line for line in done.stage("llvm").lines if "call void @llvm.masked.store" in line.text]
    assert {line.span.line for line in stores if line.span} == {7}
    linked = {line.span.line for line in done.stage("asm").lines if line.span}
    assert {3, 5, 6, 7} <= linked


@needs_mlir
def test_a_pipeline_without_a_lowering_fails_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_backend, "PASSES", [p for p in PASSES if p[0] != "convert-arith-to-llvm"])
    done = compilation(binary_kernel(64)).run()
    failed = done.failed
    assert failed is not None
    assert failed.name == "llvm"
    assert done.stages[-2].ok
    (found,) = failed.diagnostics
    assert "' was not lowered by any stage, nor " in found.message
    assert "arith.addf" in found.message
    assert found.hint == "add the pass convert-arith-to-llvm, behind what makes such operations"


@needs_mlir
def test_without_a_disassembler_the_code_still_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_backend, "objdump", lambda: None)
    done = compilation(binary_kernel(64))
    stage = done.find("asm")
    assert stage is not None
    assert stage.status == "skipped"
    assert "llvm-objdump" in stage.reason
    x, out = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    BACKEND.load(done)((1, 1, 1), [x, x, out, 64])
    np.testing.assert_array_equal(out, x + x)


@needs_mlir
def test_code_that_does_not_link_is_a_failed_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        os.write(2, b"Symbols not found: [ nowhere ]\n")
        raise RuntimeError("its machine code cannot be linked")

    monkeypatch.setattr(cpu_backend, "Code", refuse)
    failed = compilation(binary_kernel(64)).run().failed
    assert failed is not None
    assert failed.name == "asm"
    (diagnostic,) = failed.diagnostics
    assert diagnostic.code == "MT604"
    first, second = diagnostic.message.split("\n")
    assert first == "LLVM cannot compile the kernel for this machine: its machine code cannot be linked"
    assert second == "Symbols not found: [ nowhere ]"


@needs_mlir
def test_the_disassembler_comes_with_the_bindings() -> None:
    assert listing.objdump() is not None


def test_without_the_bindings_the_emitted_text_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_backend, "mlir_available", lambda: "not installed; pip install them")
    done = compilation(binary_kernel(64)).run()
    assert [s.name for s in done.stages] == list(BACKEND.planned(TARGET))
    assert done.stages[0].ok
    assert "func.func" in done.stages[0].text
    assert {(s.status, s.reason) for s in done.stages[1:]} == {("skipped", "not installed; pip install them")}
    with pytest.raises(BackendUnavailable, match="pip install"):
        BACKEND.load(done)


def test_the_whole_language_is_taken() -> None:
    for seed in range(20):
        assert list(BACKEND.check(Writer(seed).func, TARGET)) == []


def test_everything_that_is_not_taken_is_reported_with_its_place() -> None:
    @dataclass(frozen=True, eq=False, kw_only=True)
    class Unknown(Op):
        opcode = "unknown"

        def type_rule(self) -> tuple[Type, ...]:
            return ()

    b = Builder()
    flag = parameter("flag", i1)

    def body(b: Builder) -> list[Value]:
        b.append(Unknown(span=Span(4, 9, 4, 20)))
        return []

    branch(b, flag, body)
    b.append(Unknown(span=Span(5, 5, 5, 20)))
    found = BACKEND.check(b.finish("k", (flag,)), TARGET)
    assert [(d.code, d.message, d.span.line) for d in found if d.span] == [
        ("MT500", "the cpu backend does not support `unknown`", line) for line in (4, 5)
    ]


def launcher(func):
    done: Compilation = compilation(func)
    return BACKEND.load(done)


@needs_mlir
def test_arguments_that_do_not_fit_are_named() -> None:
    launch = launcher(binary_kernel(64))
    x = np.zeros(64, np.float32)
    with pytest.raises(LaunchError, match=r"`x_ptr` holds float64; the kernel was compiled for float32"):
        launch((1, 1, 1), [np.zeros(64), x, x, 64])
    with pytest.raises(LaunchError, match="`y_ptr` must be a NumPy array or a torch CPU tensor, got list"):
        launch((1, 1, 1), [x, [1.0], x, 64])
    with pytest.raises(LaunchError, match="`n` must be a number"):
        launch((1, 1, 1), [x, x, x, "64"])
    with pytest.raises(LaunchError, match="takes 4 runtime arguments, got 3"):
        launch((1, 1, 1), [x, x, x])
    with pytest.raises(LaunchError, match="grid extent -1 along axis 1"):
        launch((1, -1, 1), [x, x, x, 64])
    frozen = np.zeros(64, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(LaunchError, match="`out_ptr` is read-only, and the kernel may store to it; pass a copy"):
        launch((1, 1, 1), [x, x, frozen, 64])
    launch((1, 1, 1), [frozen, frozen, x, 64])  # what is only read may be
    odd = np.zeros(257, np.uint8)[1:].view(np.float32)
    with pytest.raises(LaunchError, match="`x_ptr` is not aligned"):
        launch((1, 1, 1), [odd, x, x, 64])


@needs_mlir
def test_a_broken_promise_of_divisibility_is_refused() -> None:
    b = Builder()
    out, n = parameter("out_ptr", PointerType(i32)), parameter("n", i32)
    b.append(ops.Store(pointer=out, value=n))
    launch = launcher(b.finish("promise", (out, n), {"n": ParamInfo(True)}))
    result = np.zeros(1, np.int32)
    launch((1, 1, 1), [result, 32])
    assert result[0] == 32
    with pytest.raises(LaunchError, match="`n` was promised to be divisible by 16, got 33"):
        launch((1, 1, 1), [result, 33])


@needs_mlir
def test_torch_tensors_in_place() -> None:
    torch = pytest.importorskip("torch")
    x, out = torch.arange(100, dtype=torch.bfloat16), torch.zeros(100, dtype=torch.bfloat16)
    run(elementwise((bf16,), bf16, 64, lambda b, v: b.add(ops.Add, lhs=v, rhs=v)), [x, out, 100], (2,))
    assert torch.equal(out, x + x)


def test_which_blocks_are_contiguous() -> None:
    b = Builder()
    x, row = parameter("x_ptr", PointerType(f32)), parameter("row", i32)
    lanes = b.add(ops.Arange, start=0, end=64)
    multiple = b.splat(b.add(ops.Mul, lhs=row, rhs=b.constant(64, i32)), (64,))
    straight = at(b, x, b.add(ops.Add, lhs=multiple, rhs=lanes))
    anywhere = b.add(ops.Add, lhs=lanes, rhs=b.splat(row, (64,)))
    guarded = at(b, x, anywhere)
    row_first = b.add(ops.AddPtr, pointer=b.splat(b.add(ops.AddPtr, pointer=x, offset=row), (64,)), offset=lanes)
    doubled = at(b, x, b.add(ops.Add, lhs=lanes, rhs=lanes))
    rows = b.add(ops.Broadcast, source=b.add(ops.Reshape, source=lanes, shape=(64, 1)), shape=(64, 32))
    columns = b.add(ops.Reshape, source=b.add(ops.Arange, start=0, end=32), shape=(1, 32))
    columns = b.add(ops.Broadcast, source=columns, shape=(64, 32))
    offsets = b.add(ops.Add, lhs=b.add(ops.Mul, lhs=rows, rhs=b.splat(row, (64, 32))), rhs=columns)
    tile = at(b, x, offsets)
    turned = b.add(ops.Transpose, source=tile, order=(1, 0))
    found = element_groups(b.finish("k", (x, row)))
    assert found[straight] == Groups(1, 64)
    assert found[guarded] == Groups(1, 64, (anywhere,))
    assert found[row_first] == Groups(1, 64)
    assert found[doubled] == Groups(1, 1)
    assert found[rows] == Groups(32, 1)
    assert found[tile] == Groups(1, 32, (offsets,))
    assert found[turned].contiguous == 1
