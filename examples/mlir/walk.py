"""Walking modules the way an analysis pass does: `python examples/mlir/walk.py`.

Which functions reduce, and which read an operand transposed or repeated? `mlir.walk` goes through the operations as
values that outlive the module; `with module.native()` gives MLIR's own objects.
"""

from mytriton import mlir

TEXT = """
#id = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (i)>
func.func @add_transposed(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x8xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #swapped, #id], iterator_types = ["parallel", "parallel"]}
    ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%a : tensor<4x8xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func @row_sums(%a: tensor<4x8xf32>, %sums: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
    ins(%a : tensor<4x8xf32>) outs(%sums : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""


def main() -> None:
    module = mlir.parse(TEXT)

    print("operations of each function:")
    counts: dict[str, dict[str, int]] = {}
    for op in mlir.walk(module):
        if op.function:
            of = counts.setdefault(op.function, {})
            of[op.name] = of.get(op.name, 0) + 1
    for function, of in counts.items():
        print(f"  {function}: {', '.join(f'{count} {name}' for name, count in sorted(of.items()))}")

    for question, (meaning, _) in mlir.QUERIES.items():
        print(f"{meaning}:")
        for op in mlir.query(module, question):
            print(f"  {op.name} at {op.row}:{op.column} in {op.function}: {', '.join(op.maps)}")

    print("and with MLIR's own objects:")
    with module.native() as native:
        for function in native.body.operations:
            kinds = [str(arg.type) for arg in function.regions[0].blocks[0].arguments]
            print(f"  {function.attributes['sym_name']} takes {', '.join(kinds)}")


if __name__ == "__main__":
    main()
