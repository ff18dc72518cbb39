// Three ways to compute a linalg.matmul on memrefs, each a sequence of its own (matmul.py applies and times them).
!op = !transform.any_op

module attributes {transform.with_named_sequence} {
  // Loops over tiles of 8 x 32 of c and 8 steps, each done element by element.
  transform.named_sequence @tiled(%module: !op {transform.readonly}) {
    %product = transform.structured.match ops{["linalg.matmul"]} in %module : (!op) -> !op
    %tile, %loops:3 = transform.structured.tile_using_for %product tile_sizes [8, 32, 8] : (!op) -> (!op, !op, !op, !op)
    transform.yield
  }

  // The same tiles as vectors: each step is 8 outer products, and the tile of c stays in registers over all of them.
  transform.named_sequence @vectorized(%module: !op {transform.readonly}) {
    %function = transform.structured.match ops{["func.func"]} in %module : (!op) -> !op
    %product = transform.structured.match ops{["linalg.matmul"]} in %function : (!op) -> !op
    %tile, %loops:3 = transform.structured.tile_using_for %product tile_sizes [8, 32, 8] : (!op) -> (!op, !op, !op, !op)
    transform.include @lower failures(propagate) (%function) : (!op) -> ()
    transform.yield
  }

  // For each 512 rows and 32 columns of b: copied to where its rows follow each other, so that it stays in the cache
  // nearest to the processor while all rows of a are multiplied by it.
  transform.named_sequence @packed(%module: !op {transform.readonly}) {
    %function = transform.structured.match ops{["func.func"]} in %module : (!op) -> !op
    %product = transform.structured.match ops{["linalg.matmul"]} in %function : (!op) -> !op
    %part, %outer:2 = transform.structured.tile_using_for %product tile_sizes [0, 32, 512] interchange = [2, 1, 0]
      : (!op) -> (!op, !op, !op)
    transform.apply_patterns to %function { transform.apply_patterns.canonicalization } : !op
    %packed = transform.structured.promote %part {operands_to_promote = [1], use_full_tile_buffers = [false], alignment = 64}
      : (!op) -> !op
    %copy = transform.structured.match ops{["linalg.copy"]} in %function : (!op) -> !op
    %row, %rows = transform.structured.tile_using_for %copy tile_sizes [1] : (!op) -> (!op, !op)
    %tile, %loops:3 = transform.structured.tile_using_for %packed tile_sizes [8, 32, 4] : (!op) -> (!op, !op, !op, !op)
    transform.include @lower failures(propagate) (%function) : (!op) -> ()
    transform.yield
  }

  transform.named_sequence @lower(%function: !op {transform.consumed}) {
    transform.apply_patterns to %function { transform.apply_patterns.canonicalization } : !op
    %vectors = transform.structured.vectorize_children_and_apply_patterns %function : (!op) -> !op
    transform.apply_patterns to %vectors {
      transform.apply_patterns.memref.fold_memref_alias_ops
      transform.apply_patterns.canonicalization
    } : !op
    transform.apply_cse to %vectors : !op
    // What is read and written at one place by every step is read before the loop and written after it.
    %hoisted = transform.structured.hoist_redundant_vector_transfers %vectors : (!op) -> !op
    transform.apply_patterns to %hoisted {
      transform.apply_patterns.vector.transfer_permutation_patterns
      transform.apply_patterns.vector.lower_contraction lowering_strategy = outerproduct
      transform.apply_patterns.vector.lower_transpose lowering_strategy = shuffle_1d
      transform.apply_patterns.canonicalization
    } : !op
    transform.apply_patterns to %hoisted {
      transform.apply_patterns.vector.lower_outerproduct
      transform.apply_patterns.vector.lower_broadcast
      transform.apply_patterns.vector.transfer_to_scf full_unroll = true
      transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1
      transform.apply_patterns.vector.lower_shape_cast
      transform.apply_patterns.canonicalization
    } : !op
    transform.apply_cse to %hoisted : !op
    transform.yield
  }
}
