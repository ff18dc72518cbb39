"""Modules for the tests of the MLIR library."""

# ruff: noqa: E501

SAXPY = """\
func.func @saxpy(%a: f32, %x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %i = %c0 to %n step %c1 {
    %0 = memref.load %x[%i] : memref<?xf32>
    %1 = memref.load %y[%i] : memref<?xf32>
    %2 = arith.mulf %a, %0 : f32
    %3 = arith.addf %2, %1 : f32
    memref.store %3, %y[%i] : memref<?xf32>
  }
  return
}
func.func @square(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32
  return %0 : i32
}
func.func @column(%t: memref<?x?xf64, strided<[?, ?], offset: ?>>, %j: index) -> memref<3xf64> {
  %m = memref.alloc() : memref<3xf64>
  affine.for %i = 0 to 3 {
    %0 = memref.load %t[%i, %j] : memref<?x?xf64, strided<[?, ?], offset: ?>>
    memref.store %0, %m[%i] : memref<3xf64>
  }
  return %m : memref<3xf64>
}
func.func private @helper(%a: i32) -> i32 {
  return %a : i32
}
"""

#: LLVM has no instruction for the tangent that the wrong pass leaves to it.
CRASHING = """\
gpu.module @m {
  llvm.func @k(%x: f32, %p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
    %y = math.tanh %x : f32
    llvm.store %y, %p : f32, !llvm.ptr<1>
    llvm.return
  }
}
"""

GENERIC = """\
#id = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (j, i)>
#rows = affine_map<(i, j) -> (i)>
module {
  func.func @added(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4xf32>) -> tensor<4x8xf32> {
    %0 = linalg.generic {indexing_maps = [#id, #swapped, #rows, #id], iterator_types = ["parallel", "parallel"]} ins(%a, %b, %c : tensor<4x8xf32>, tensor<8x4xf32>, tensor<4xf32>) outs(%a : tensor<4x8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32, %o: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
  func.func @summed(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %c: tensor<4xf32>, %d: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
    %0 = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x8xf32>) outs(%c : tensor<4xf32>) {
    ^bb0(%x: f32, %o: f32):
      %s = arith.addf %x, %o : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %1 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%d : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4x4xf32>
  }
}
"""

SCHEDULE = """\
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %products = transform.structured.match ops{["linalg.matmul"]} in %root : (!transform.any_op) -> !transform.any_op
    %0:3 = transform.structured.tile_using_for %products tile_sizes [2, 2, 0] : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}
"""
