#loop_unroll = #llvm.loop_unroll<disable = true>
#loop_vectorize = #llvm.loop_vectorize<disable = true>
#loop_annotation = #llvm.loop_annotation<vectorize = #loop_vectorize, unroll = #loop_unroll>
module {
  func.func @binary_kernel.programs(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: i32, %arg4: !llvm.ptr {llvm.noalias}, %arg5: i64, %arg6: i64, %arg7: i64, %arg8: i64, %arg9: i64) {
    %cst = arith.constant dense<0.000000e+00> : vector<16xf32>
    %c63_i64 = arith.constant 63 : i64
    %c2048_i64 = arith.constant 2048 : i64
    %c1023_i32 = arith.constant 1023 : i32
    %c4096_i64 = arith.constant 4096 : i64
    %c0_i64 = arith.constant 0 : i64
    %c0_i32 = arith.constant 0 : i32
    %c16_i32 = arith.constant 16 : i32
    %c1024_i32 = arith.constant 1024 : i32
    %cst_0 = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
    %c1_i64 = arith.constant 1 : i64
    %0 = arith.muli %arg7, %arg8 : i64
    %1 = arith.muli %0, %arg9 : i64
    %2 = arith.cmpi uge, %1, %c2048_i64 : i64
    scf.for %arg10 = %arg5 to %arg6 step %c1_i64  : i64 {
      %3 = arith.remui %arg10, %arg7 : i64
      %4 = arith.trunci %3 : i64 to i32
      %5 = arith.muli %4, %c1024_i32 : i32
      %6 = llvm.getelementptr %arg0[%5] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %7 = llvm.getelementptr %arg1[%5] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %8 = llvm.getelementptr %arg2[%5] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %9 = func.call @memory.apart(%6, %8, %c0_i64, %c4096_i64) : (!llvm.ptr, !llvm.ptr, i64, i64) -> i1
      %10 = func.call @memory.apart(%7, %8, %c0_i64, %c4096_i64) : (!llvm.ptr, !llvm.ptr, i64, i64) -> i1
      %11 = arith.andi %9, %10 : i1
      %12 = arith.addi %5, %c1023_i32 : i32
      %13 = arith.cmpi sle, %5, %12 : i32
      %14 = arith.cmpi slt, %12, %arg3 : i32
      %15 = llvm.ptrtoint %8 : !llvm.ptr to i64
      %16 = arith.andi %15, %c63_i64 : i64
      %17 = arith.cmpi eq, %16, %c0_i64 : i64
      %18 = arith.andi %13, %14 : i1
      %19 = arith.andi %18, %2 : i1
      %20 = arith.andi %19, %17 : i1
      %21 = arith.andi %20, %11 : i1
      scf.if %21 {
        scf.for %arg11 = %c0_i32 to %c1024_i32 step %c16_i32  : i32 {
          %22 = llvm.getelementptr %6[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %23 = llvm.load %22 {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
          %24 = llvm.getelementptr %7[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %25 = llvm.load %24 {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
          %26 = arith.addf %23, %25 : vector<16xf32>
          %27 = llvm.getelementptr %8[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %26, %27 {alignment = 64 : i64, nontemporal} : vector<16xf32>, !llvm.ptr
        } {loop_annotation = #loop_annotation}
      } else {
        scf.if %11 {
          %22 = vector.broadcast %5 : i32 to vector<16xi32>
          %23 = vector.broadcast %arg3 : i32 to vector<16xi32>
          scf.for %arg11 = %c0_i32 to %c1024_i32 step %c16_i32  : i32 {
            %24 = vector.broadcast %arg11 : i32 to vector<16xi32>
            %25 = arith.addi %24, %cst_0 : vector<16xi32>
            %26 = arith.addi %22, %25 : vector<16xi32>
            %27 = arith.cmpi slt, %26, %23 : vector<16xi32>
            %28 = llvm.getelementptr %6[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %29 = llvm.intr.masked.load %28, %27, %cst {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
            %30 = llvm.freeze %29 : vector<16xf32>
            %31 = llvm.getelementptr %7[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %32 = llvm.intr.masked.load %31, %27, %cst {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
            %33 = llvm.freeze %32 : vector<16xf32>
            %34 = arith.addf %30, %33 : vector<16xf32>
            %35 = llvm.getelementptr %8[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            llvm.intr.masked.store %34, %35, %27 {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
          } {loop_annotation = #loop_annotation}
        } else {
          %22 = vector.broadcast %5 : i32 to vector<16xi32>
          %23 = vector.broadcast %arg3 : i32 to vector<16xi32>
          scf.for %arg11 = %c0_i32 to %c1024_i32 step %c16_i32  : i32 {
            %26 = vector.broadcast %arg11 : i32 to vector<16xi32>
            %27 = arith.addi %26, %cst_0 : vector<16xi32>
            %28 = arith.addi %22, %27 : vector<16xi32>
            %29 = arith.cmpi slt, %28, %23 : vector<16xi32>
            %30 = llvm.getelementptr %6[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %31 = llvm.intr.masked.load %30, %29, %cst {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
            %32 = llvm.freeze %31 : vector<16xf32>
            %33 = llvm.getelementptr %7[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %34 = llvm.intr.masked.load %33, %29, %cst {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
            %35 = llvm.freeze %34 : vector<16xf32>
            %36 = arith.addf %32, %35 : vector<16xf32>
            %37 = llvm.getelementptr %arg4[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            llvm.store %36, %37 {alignment = 1 : i64} : vector<16xf32>, !llvm.ptr
          } {loop_annotation = #loop_annotation}
          %24 = vector.broadcast %5 : i32 to vector<16xi32>
          %25 = vector.broadcast %arg3 : i32 to vector<16xi32>
          scf.for %arg11 = %c0_i32 to %c1024_i32 step %c16_i32  : i32 {
            %26 = vector.broadcast %arg11 : i32 to vector<16xi32>
            %27 = arith.addi %26, %cst_0 : vector<16xi32>
            %28 = arith.addi %24, %27 : vector<16xi32>
            %29 = arith.cmpi slt, %28, %25 : vector<16xi32>
            %30 = llvm.getelementptr %arg4[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %31 = llvm.load %30 {alignment = 1 : i64} : !llvm.ptr -> vector<16xf32>
            %32 = llvm.getelementptr %8[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            llvm.intr.masked.store %31, %32, %29 {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
          } {loop_annotation = #loop_annotation}
        }
      }
    } {loop_annotation = #loop_annotation}
    llvm.fence seq_cst
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
