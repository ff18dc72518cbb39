// How the functions for products of blocks (dots.py) are computed. Each says by its attribute `tile` which sums, rows by
// columns, are held in registers while so many steps are unrolled; tiles are smaller where a block is.
!op = !transform.any_op
!number = !transform.param<i64>

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !op {transform.readonly}) {
    %4 = transform.param.constant 4 : i64 -> !number
    %8 = transform.param.constant 8 : i64 -> !number
    %16 = transform.param.constant 16 : i64 -> !number
    %32 = transform.param.constant 32 : i64 -> !number
    // AVX-512, with sums of 32 and of 64 bits; shorter vectors, the same.
    %wide32 = transform.structured.match ops{["func.func"]} attributes{tile = "8x32x8"} in %module : (!op) -> !op
    transform.include @multiply failures(propagate) (%wide32, %8, %32) : (!op, !number, !number) -> ()
    %wide64 = transform.structured.match ops{["func.func"]} attributes{tile = "8x16x8"} in %module : (!op) -> !op
    transform.include @multiply failures(propagate) (%wide64, %8, %16) : (!op, !number, !number) -> ()
    %short32 = transform.structured.match ops{["func.func"]} attributes{tile = "4x16x8"} in %module : (!op) -> !op
    transform.include @multiply failures(propagate) (%short32, %4, %16) : (!op, !number, !number) -> ()
    %short64 = transform.structured.match ops{["func.func"]} attributes{tile = "4x8x8"} in %module : (!op) -> !op
    transform.include @multiply failures(propagate) (%short64, %4, %8) : (!op, !number, !number) -> ()
    transform.yield
  }

  transform.named_sequence @multiply(%functions: !op {transform.consumed}, %rows: !number {transform.readonly},
                                     %columns: !number {transform.readonly}) {
    transform.foreach %functions : !op {
    ^bb0(%function: !op):
      transform.include @tile failures(propagate) (%function, %rows, %columns) : (!op, !number, !number) -> ()
      %vectorized = transform.include @vectorize failures(propagate) (%function) : (!op) -> !op
      transform.include @hold failures(propagate) (%vectorized) : (!op) -> ()
      transform.include @lower failures(propagate) (%vectorized) : (!op) -> ()
    }
    transform.yield
  }

  // Loops over tiles of the sums, and in them over some steps.
  transform.named_sequence @tile(%function: !op {transform.readonly}, %rows: !number {transform.readonly},
                                 %columns: !number {transform.readonly}) {
    %product = transform.structured.match ops{["linalg.matmul"]} in %function : (!op) -> !op
    %tile, %loops:3 = transform.structured.tile_using_for %product tile_sizes [%rows, %columns, 8]
      : (!op, !number, !number) -> (!op, !op, !op, !op)
    transform.apply_patterns to %function { transform.apply_patterns.canonicalization } : !op
    transform.yield
  }

  // What is done with a tile becomes one contraction of vectors.
  transform.named_sequence @vectorize(%function: !op {transform.consumed}) -> !op {
    %vectorized = transform.structured.vectorize_children_and_apply_patterns %function : (!op) -> !op
    transform.apply_patterns to %vectorized {
      transform.apply_patterns.canonicalization
      transform.apply_patterns.tensor.fold_tensor_subset_ops_into_vector_transfers
    } : !op
    transform.apply_cse to %vectorized : !op
    transform.yield %vectorized : !op
  }

  // The sums are read before the loop over the steps, and written after it.
  transform.named_sequence @hold(%function: !op {transform.readonly}) {
    %loops = transform.structured.match ops{["scf.for"]} in %function : (!op) -> !op
    transform.foreach %loops : !op {
    ^bb0(%loop: !op):
      transform.loop.hoist_loop_invariant_subsets %loop : !op
    }
    transform.apply_patterns to %function { transform.apply_patterns.canonicalization } : !op
    transform.yield
  }

  // Tensors become memory, and contractions outer products: elements of the one factor times vectors of the other.
  transform.named_sequence @lower(%function: !op {transform.consumed}) {
    %in_memory = transform.bufferization.one_shot_bufferize %function : (!op) -> !op
    transform.apply_patterns to %in_memory { transform.apply_patterns.canonicalization } : !op
    transform.apply_cse to %in_memory : !op
    transform.apply_patterns to %in_memory {
      transform.apply_patterns.vector.transfer_permutation_patterns
      transform.apply_patterns.vector.lower_contraction lowering_strategy = outerproduct
      transform.apply_patterns.vector.lower_transpose lowering_strategy = shuffle_1d
      transform.apply_patterns.canonicalization
    } : !op
    transform.apply_patterns to %in_memory {
      transform.apply_patterns.vector.lower_outerproduct
      transform.apply_patterns.vector.lower_broadcast
      transform.apply_patterns.vector.transfer_to_scf full_unroll = true
      transform.apply_patterns.vector.lower_transfer max_transfer_rank = 1
      transform.apply_patterns.vector.lower_shape_cast
      transform.apply_patterns.canonicalization
    } : !op
    transform.apply_cse to %in_memory : !op
    transform.yield
  }
}
