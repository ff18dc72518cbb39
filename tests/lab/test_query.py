"""Questions about operations: of modules, of runs of passes, and of kernels."""

from __future__ import annotations

from pathlib import Path

import pytest

from mytriton import Target, compile_kernel, mlir, parse_signature, read_module
from mytriton.diagnostics import MytritonError
from tests.lab.modules import GENERIC, SAXPY

pytest.importorskip("mlir.ir", reason="the MLIR bindings are not installed")


def test_questions():
    module = mlir.parse(GENERIC)
    found = {q: [(op.name, op.row) for op in mlir.query(module, q)] for q in mlir.QUERIES}
    assert found == {
        "reductions": [("linalg.generic", 14), ("linalg.matmul", 19)],
        "transposes": [("linalg.generic", 6), ("linalg.matmul", 19)],
        "broadcasts": [("linalg.generic", 6), ("linalg.matmul", 19)],
        "casts": [],
    }
    assert [op.function for op in mlir.query(module, "linalg.*") if op.row] == ["added"] * 2 + ["summed"] * 3
    first = mlir.query(module, "linalg.generic")[0]
    assert first.maps == ("identity", "transpose", "broadcast", "identity")
    with pytest.raises(MytritonError, match="no question 'what'; ask for reductions, transposes"):
        mlir.query(module, "what")


#: In each function the first operation that the question is about is a reduction, and the rest are not: a value that
#: goes to the neighbour and is combined there with its own, against one that is only moved; sums that a loop carries,
#: against an address that it moves on; elements of a vector, against the lanes of a mask.
PATTERNS = """\
func.func @lanes(%x: f32, %o: i32, %w: i32) -> (f32, f32) {
  %y, %p = gpu.shuffle xor %x, %o, %w : f32
  %0 = arith.maxnumf %y, %x : f32
  %z, %q = gpu.shuffle xor %x, %o, %w : f32
  %1 = arith.negf %z : f32
  return %0, %1 : f32, f32
}
func.func @turns(%x: memref<?xf32>, %a: index, %s: f32) -> (f32, index) {
  %c1 = arith.constant 1 : index
  %0:2 = scf.for %i = %c1 to %a step %c1 iter_args(%t = %s, %u = %c1) -> (f32, index) {
    %v = memref.load %x[%u] : memref<?xf32>
    %w = arith.mulf %v, %v : f32
    %r = arith.addf %t, %s : f32
    %f = math.fma %w, %v, %r : f32
    %n = arith.addi %u, %c1 : index
    scf.yield %f, %n : f32, index
  }
  %1 = scf.for %i = %c1 to %a step %c1 iter_args(%u = %c1) -> (index) {
    %n = arith.addi %u, %c1 : index
    scf.yield %n : index
  }
  return %0#0, %1 : f32, index
}
func.func @vectors(%x: vector<8xf32>, %m: vector<8xi1>) -> (f32, i1) {
  %0 = vector.reduction <add>, %x : vector<8xf32> into f32
  %1 = vector.reduction <and>, %m : vector<8xi1> into i1
  return %0, %1 : f32, i1
}
func.func @axes(%x: memref<4x8xf32>, %p: f32) -> (vector<8x4xf32>, vector<4x8xf32>, vector<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %0 = vector.transfer_read %x[%c0, %c0], %p {permutation_map = affine_map<(i, j) -> (j, i)>} : memref<4x8xf32>, vector<8x4xf32>
  %1 = vector.transfer_read %x[%c0, %c0], %p {permutation_map = affine_map<(i, j) -> (0, j)>} : memref<4x8xf32>, vector<4x8xf32>
  %2 = vector.transfer_read %x[%c0, %c0], %p : memref<4x8xf32>, vector<4x8xf32>
  %3 = vector.transpose %0, [1, 0] : vector<8x4xf32> to vector<4x8xf32>
  %4 = vector.broadcast %p : f32 to vector<4x8xf32>
  return %0, %1, %3 : vector<8x4xf32>, vector<4x8xf32>, vector<4x8xf32>
}
"""  # noqa: E501


def test_what_only_the_use_of_values_says():
    module = mlir.parse(PATTERNS)
    rows = [text.split("@")[1].split("(")[0] for text in PATTERNS.split("\n") if "func.func" in text]
    assert rows == ["lanes", "turns", "vectors", "axes"]
    assert [(op.function, op.name, op.row) for op in mlir.query(module, "reductions")] == [
        ("lanes", "gpu.shuffle", 2),
        ("turns", "scf.for", 10),
        ("vectors", "vector.reduction", 25),
    ]
    assert [(op.name, op.row) for op in mlir.query(module, "transposes")] == [
        ("vector.transfer_read", 31),
        ("vector.transpose", 34),
    ]
    assert [(op.name, op.row) for op in mlir.query(module, "broadcasts")] == [
        ("vector.transfer_read", 32),
        ("vector.broadcast", 35),
    ]


KERNELS = """\
import mytriton
import mytriton.language as tl

@mytriton.jit
def longest(x, out, n, B: tl.constexpr):
    at = tl.arange(0, B)
    a = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out, tl.max(a, axis=0))

@mytriton.jit
def twice(x, out, n, B: tl.constexpr):
    at = tl.arange(0, B)
    a = tl.load(x + at, mask=at < n, other=0.0)
    tl.store(out + at, a * 2.0, mask=at < n)
"""


@pytest.mark.parametrize(
    ("backend", "names", "stages"),
    [
        ("mlir", {"gpu.shuffle", "nvvm.shfl.sync"}, ("mlir/emit", "mlir/debug-info")),
        ("cpu", {"func.call", "llvm.call"}, ("cpu/emit", "cpu/debug-info")),
    ],
)
def test_which_kernels_hold_a_reduction(backend, names, stages):
    module = read_module(KERNELS, "k.py")
    for kernel in module.kernels:
        specialization = parse_signature(kernel, "*fp32:16, *fp32:16, i32, 64")
        compilation = compile_kernel(kernel, specialization, Target(backend, num_warps=2))
        found = mlir.query(compilation, "reductions")
        if kernel.name == "twice":
            assert found == []
            continue
        assert {(op.path, op.row) for op in found} == {("k.py", 8)}
        assert {op.name for op in found} == names
        assert set(stages) <= {op.stage for op in found}
        assert {op.stage for op in mlir.query(compilation, "reductions", stages[0])} == {stages[0]}
        with pytest.raises(MytritonError, match="no stage 'ptx' is MLIR; there are"):
            mlir.query(compilation, "reductions", "ptx")


def test_what_has_no_operations_to_ask_for():
    (kernel, _) = read_module(KERNELS, "k.py").kernels
    compilation = compile_kernel(kernel, parse_signature(kernel, "*fp32, *fp32, i32, 64"), Target("cuda"))
    with pytest.raises(MytritonError, match="backend cuda has no MLIR: compile for mlir or cpu"):
        mlir.query(compilation, "reductions")


def test_the_stages_of_a_run():
    run = mlir.parse(SAXPY).run("lower-affine,convert-scf-to-cf")
    assert [(op.stage, op.row) for op in mlir.query(run, "affine.for")] == [("mlir/parse", 20)]
    assert [(op.stage, op.row) for op in mlir.query(run, "scf.for")] == [
        ("mlir/parse", 5),
        ("mlir/lower-affine", 5),
        ("mlir/lower-affine", 20),
    ]


def test_examples_of_the_project_that_reduce():
    path = Path(__file__).parents[2] / "examples/kernels/reductions.py"
    kernel = read_module(path.read_text(), str(path)).kernel("long_row_sum_kernel")
    compilation = compile_kernel(kernel, parse_signature(kernel, "*fp32, *fp32, i32, i32, 64"), Target("mlir"))
    lines = path.read_text().split("\n")
    found = {op.name: lines[op.row - 1].strip() for op in mlir.query(compilation, "reductions", "mlir/emit")}
    assert found["scf.for"].startswith("for ")
    assert "tl.sum(" in found["gpu.shuffle"]
