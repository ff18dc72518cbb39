"""Questions about operations: of modules, of runs of passes, and of kernels."""

# ruff: noqa: E501

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
        "transposes": [("linalg.generic", 6)],
        "broadcasts": [("linalg.generic", 6)],
        "casts": [],
    }
    assert [op.function for op in mlir.query(module, "linalg.*")] == ["added"] * 2 + ["summed"] * 4
    assert [op.row for op in mlir.query(module, "arith.mulf")] == [19], "in the body of the product, which is unwritten"
    first = mlir.query(module, "linalg.generic")[0]
    assert first.maps == ("identity", "transpose", "broadcast", "identity")
    with pytest.raises(MytritonError, match="no question 'what'; ask for reductions, transposes"):
        mlir.query(module, "what")


#: Products as they are and with the second factor transposed, sums, and loops that add up in memory.
PRODUCTS = """\
#a = affine_map<(m, n, k) -> (m, k)>
#bt = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @mm(%a: memref<4x8xf32>, %b: memref<8x4xf32>, %bt: memref<4x8xf32>, %c: memref<4x4xf32>, %v: memref<8xf32>, %w: memref<4xf32>) {
  linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x4xf32>) outs(%c : memref<4x4xf32>)
  linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %bt : memref<4x8xf32>, memref<4x8xf32>) outs(%c : memref<4x4xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %p, %o : f32
      linalg.yield %s : f32
    }
  linalg.matvec ins(%a, %v : memref<4x8xf32>, memref<8xf32>) outs(%w : memref<4xf32>)
  linalg.vecmat ins(%v, %b : memref<8xf32>, memref<8x4xf32>) outs(%w : memref<4xf32>)
  linalg.transpose ins(%a : memref<4x8xf32>) outs(%b : memref<8x4xf32>) permutation = [1, 0]
  linalg.broadcast ins(%v : memref<8xf32>) outs(%a : memref<4x8xf32>) dimensions = [0]
  linalg.reduce { arith.addf } ins(%a : memref<4x8xf32>) outs(%v : memref<8xf32>) dimensions = [0]
  return
}
func.func @b(%a: memref<2x4x8xf32>, %b: memref<2x8x4xf32>, %c: memref<2x4x4xf32>, %i: memref<1x6x6x3xf32>, %f: memref<2x2x3x5xf32>, %g: memref<1x5x5x5xf32>) {
  linalg.batch_matmul ins(%a, %b : memref<2x4x8xf32>, memref<2x8x4xf32>) outs(%c : memref<2x4x4xf32>)
  linalg.conv_2d_nhwc_hwcf ins(%i, %f : memref<1x6x6x3xf32>, memref<2x2x3x5xf32>) outs(%g : memref<1x5x5x5xf32>)
  return
}
func.func @sum(%x: memref<8xf32>, %z: memref<1xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<8xf32>
    %1 = memref.load %z[%c0] : memref<1xf32>
    %2 = arith.addf %1, %0 : f32
    memref.store %2, %z[%c0] : memref<1xf32>
  }
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    %1 = affine.load %z[0] : memref<1xf32>
    %2 = arith.addf %1, %0 : f32
    affine.store %2, %z[0] : memref<1xf32>
  }
  affine.for %i = 0 to 8 {
    %0 = affine.load %x[%i] : memref<8xf32>
    %2 = arith.addf %0, %0 : f32
    affine.store %2, %x[%i] : memref<8xf32>
  }
  return
}
"""


def test_factors_of_products_and_sums_in_memory():
    module = mlir.parse(PRODUCTS)
    assert {op.row: op.maps for op in mlir.walk(module) if op.maps} == {
        5: ("projection", "projection", "projection"),
        6: ("projection", "transpose", "projection"),
        12: ("identity", "projection", "projection"),
        13: ("projection", "projection", "projection"),
        14: ("transpose", "identity"),
        15: ("broadcast", "identity"),
        16: ("identity", "projection"),
        20: ("projection", "projection", "projection"),
        21: ("other", "projection", "projection"),
    }
    assert [(op.name, op.row) for op in mlir.query(module, "transposes")] == [
        ("linalg.generic", 6),
        ("linalg.transpose", 14),
    ]
    assert [(op.name, op.row) for op in mlir.query(module, "broadcasts")] == [("linalg.broadcast", 15)]
    loops = [(op.name, op.row) for op in mlir.query(module, "reductions") if "for" in op.name]
    assert loops == [("scf.for", 27), ("affine.for", 33)]
    lowered = module.run("func.func(convert-linalg-to-loops)").result
    sums = [op.row for op in mlir.query(lowered, "reductions")]  # a convolution has three: of two axes, and of channels
    assert sums == [5, 6, 12, 13, 16, 20, 21, 21, 21, 27, 33]


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
"""


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
