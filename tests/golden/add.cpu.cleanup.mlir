#loop_unroll = #llvm.loop_unroll<disable = true>
#loop_vectorize = #llvm.loop_vectorize<disable = true>
#loop_annotation = #llvm.loop_annotation<vectorize = #loop_vectorize, unroll = #loop_unroll>
module {
  func.func @binary_kernel.programs(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: i32, %arg4: !llvm.ptr {llvm.noalias}, %arg5: i64, %arg6: i64, %arg7: i64, %arg8: i64, %arg9: i64) {
    %cst = arith.constant dense<0.000000e+00> : vector<16xf32>
    %c4096_i64 = arith.constant 4096 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0_i32 = arith.constant 0 : i32
    %c16_i32 = arith.constant 16 : i32
    %c1024_i32 = arith.constant 1024 : i32
    %cst_0 = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
    %c1_i64 = arith.constant 1 : i64
    scf.for %arg10 = %arg5 to %arg6 step %c1_i64  : i64 {
      %0 = arith.remui %arg10, %arg7 : i64
      %1 = arith.trunci %0 : i64 to i32
      %2 = arith.muli %1, %c1024_i32 : i32
      %3 = llvm.getelementptr %arg0[%2] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %4 = llvm.getelementptr %arg1[%2] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %5 = llvm.getelementptr %arg2[%2] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %6 = func.call @memory.apart(%3, %5, %c0_i64, %c4096_i64) : (!llvm.ptr, !llvm.ptr, i64, i64) -> i1
      %7 = func.call @memory.apart(%4, %5, %c0_i64, %c4096_i64) : (!llvm.ptr, !llvm.ptr, i64, i64) -> i1
      %8 = arith.andi %6, %7 : i1
      scf.if %8 {
        %9 = vector.broadcast %2 : i32 to vector<16xi32>
        %10 = vector.broadcast %arg3 : i32 to vector<16xi32>
        scf.for %arg11 = %c0_i32 to %c1024_i32 step %c16_i32  : i32 {
          %11 = vector.broadcast %arg11 : i32 to vector<16xi32>
          %12 = arith.addi %11, %cst_0 : vector<16xi32>
          %13 = arith.addi %9, %12 : vector<16xi32>
          %14 = arith.cmpi slt, %13, %10 : vector<16xi32>
          %15 = llvm.getelementptr %3[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %16 = llvm.intr.masked.load %15, %14, %cst {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
          %17 = llvm.freeze %16 : vector<16xf32>
          %18 = llvm.getelementptr %4[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %19 = llvm.intr.masked.load %18, %14, %cst {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
          %20 = llvm.freeze %19 : vector<16xf32>
          %21 = arith.addf %17, %20 : vector<16xf32>
          %22 = llvm.getelementptr %5[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.intr.masked.store %21, %22, %14 {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
        } {loop_annotation = #loop_annotation}
      } else {
        %9 = vector.broadcast %2 : i32 to vector<16xi32>
        %10 = vector.broadcast %arg3 : i32 to vector<16xi32>
        scf.for %arg11 = %c0_i32 to %c1024_i32 step %c16_i32  : i32 {
          %13 = vector.broadcast %arg11 : i32 to vector<16xi32>
          %14 = arith.addi %13, %cst_0 : vector<16xi32>
          %15 = arith.addi %9, %14 : vector<16xi32>
          %16 = arith.cmpi slt, %15, %10 : vector<16xi32>
          %17 = llvm.getelementptr %3[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %18 = llvm.intr.masked.load %17, %16, %cst {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
          %19 = llvm.freeze %18 : vector<16xf32>
          %20 = llvm.getelementptr %4[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %21 = llvm.intr.masked.load %20, %16, %cst {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
          %22 = llvm.freeze %21 : vector<16xf32>
          %23 = arith.addf %19, %22 : vector<16xf32>
          %24 = llvm.getelementptr %arg4[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %23, %24 {alignment = 1 : i64} : vector<16xf32>, !llvm.ptr
        } {loop_annotation = #loop_annotation}
        %11 = vector.broadcast %2 : i32 to vector<16xi32>
        %12 = vector.broadcast %arg3 : i32 to vector<16xi32>
        scf.for %arg11 = %c0_i32 to %c1024_i32 step %c16_i32  : i32 {
          %13 = vector.broadcast %arg11 : i32 to vector<16xi32>
          %14 = arith.addi %13, %cst_0 : vector<16xi32>
          %15 = arith.addi %11, %14 : vector<16xi32>
          %16 = arith.cmpi slt, %15, %12 : vector<16xi32>
          %17 = llvm.getelementptr %arg4[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %18 = llvm.load %17 {alignment = 1 : i64} : !llvm.ptr -> vector<16xf32>
          %19 = llvm.getelementptr %5[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.intr.masked.store %18, %19, %16 {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
        } {loop_annotation = #loop_annotation}
      }
    } {loop_annotation = #loop_annotation}
    return
  }
  func.func private @memory.apart(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64, %arg3: i64) -> i1 attributes {llvm.linkage = #llvm.linkage<internal>} {
    %c1_i64 = arith.constant 1 : i64
    %0 = llvm.ptrtoint %arg0 : !llvm.ptr to i64
    %1 = llvm.ptrtoint %arg1 : !llvm.ptr to i64
    %2 = arith.subi %1, %0 : i64
    %3 = arith.addi %arg2, %c1_i64 : i64
    %4 = arith.subi %2, %3 : i64
    %5 = arith.subi %arg3, %3 : i64
    %6 = arith.cmpi uge, %4, %5 : i64
    return %6 : i1
  }
}
