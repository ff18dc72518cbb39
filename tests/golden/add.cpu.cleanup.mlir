#loop_unroll = #llvm.loop_unroll<disable = true>
#loop_vectorize = #llvm.loop_vectorize<disable = true>
#loop_annotation = #llvm.loop_annotation<vectorize = #loop_vectorize, unroll = #loop_unroll>
module {
  func.func @binary_kernel.programs(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: i32, %arg4: !llvm.ptr {llvm.noalias}, %arg5: i64, %arg6: i64, %arg7: i64, %arg8: i64, %arg9: i64) attributes {passthrough = ["no-inline-line-tables", "no-builtin-memcpy"]} {
    %cst = arith.constant dense<0.000000e+00> : vector<16xf32>
    %c1024_i64 = arith.constant 1024 : i64
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
      %15 = arith.andi %13, %14 : i1
      %16 = arith.andi %15, %2 : i1
      %17 = arith.andi %16, %11 : i1
      scf.if %17 {
        %18 = llvm.getelementptr %arg4[4096] : (!llvm.ptr) -> !llvm.ptr, i8
        scf.for %arg11 = %c0_i32 to %c1024_i32 step %c16_i32  : i32 {
          %20 = llvm.getelementptr %6[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %21 = llvm.load %20 {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
          %22 = llvm.getelementptr %7[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %23 = llvm.load %22 {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
          %24 = arith.addf %21, %23 : vector<16xf32>
          %25 = llvm.getelementptr %18[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %24, %25 {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
        } {loop_annotation = #loop_annotation}
        %19 = llvm.getelementptr %arg4[4096] : (!llvm.ptr) -> !llvm.ptr, i8
        func.call @store.past.i32(%19, %8, %c1024_i64) : (!llvm.ptr, !llvm.ptr, i64) -> ()
      } else {
        scf.if %11 {
          %18 = vector.broadcast %5 : i32 to vector<16xi32>
          %19 = vector.broadcast %arg3 : i32 to vector<16xi32>
          scf.for %arg11 = %c0_i32 to %c1024_i32 step %c16_i32  : i32 {
            %20 = vector.broadcast %arg11 : i32 to vector<16xi32>
            %21 = arith.addi %20, %cst_0 : vector<16xi32>
            %22 = arith.addi %18, %21 : vector<16xi32>
            %23 = arith.cmpi slt, %22, %19 : vector<16xi32>
            %24 = llvm.getelementptr %6[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %25 = llvm.intr.masked.load %24, %23, %cst {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
            %26 = llvm.freeze %25 : vector<16xf32>
            %27 = llvm.getelementptr %7[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %28 = llvm.intr.masked.load %27, %23, %cst {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
            %29 = llvm.freeze %28 : vector<16xf32>
            %30 = arith.addf %26, %29 : vector<16xf32>
            %31 = llvm.getelementptr %8[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            llvm.intr.masked.store %30, %31, %23 {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
          } {loop_annotation = #loop_annotation}
        } else {
          %18 = vector.broadcast %5 : i32 to vector<16xi32>
          %19 = vector.broadcast %arg3 : i32 to vector<16xi32>
          scf.for %arg11 = %c0_i32 to %c1024_i32 step %c16_i32  : i32 {
            %22 = vector.broadcast %arg11 : i32 to vector<16xi32>
            %23 = arith.addi %22, %cst_0 : vector<16xi32>
            %24 = arith.addi %18, %23 : vector<16xi32>
            %25 = arith.cmpi slt, %24, %19 : vector<16xi32>
            %26 = llvm.getelementptr %6[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %27 = llvm.intr.masked.load %26, %25, %cst {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
            %28 = llvm.freeze %27 : vector<16xf32>
            %29 = llvm.getelementptr %7[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %30 = llvm.intr.masked.load %29, %25, %cst {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
            %31 = llvm.freeze %30 : vector<16xf32>
            %32 = arith.addf %28, %31 : vector<16xf32>
            %33 = llvm.getelementptr %arg4[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            llvm.store %32, %33 {alignment = 1 : i64} : vector<16xf32>, !llvm.ptr
          } {loop_annotation = #loop_annotation}
          %20 = vector.broadcast %5 : i32 to vector<16xi32>
          %21 = vector.broadcast %arg3 : i32 to vector<16xi32>
          scf.for %arg11 = %c0_i32 to %c1024_i32 step %c16_i32  : i32 {
            %22 = vector.broadcast %arg11 : i32 to vector<16xi32>
            %23 = arith.addi %22, %cst_0 : vector<16xi32>
            %24 = arith.addi %20, %23 : vector<16xi32>
            %25 = arith.cmpi slt, %24, %21 : vector<16xi32>
            %26 = llvm.getelementptr %arg4[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            %27 = llvm.load %26 {alignment = 1 : i64} : !llvm.ptr -> vector<16xf32>
            %28 = llvm.getelementptr %8[%arg11] : (!llvm.ptr, i32) -> !llvm.ptr, f32
            llvm.intr.masked.store %27, %28, %25 {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
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
  func.func private @store.past.i32(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i64) attributes {llvm.linkage = #llvm.linkage<internal>} {
    %cst = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi64>
    %c16_i64 = arith.constant 16 : i64
    %c4_i64 = arith.constant 4 : i64
    %c63_i64 = arith.constant 63 : i64
    %c0_i64 = arith.constant 0 : i64
    %0 = llvm.ptrtoint %arg1 : !llvm.ptr to i64
    %1 = arith.subi %c0_i64, %0 : i64
    %2 = arith.andi %1, %c63_i64 : i64
    %3 = arith.divui %2, %c4_i64 : i64
    %4 = arith.subi %arg2, %3 : i64
    %5 = arith.remui %4, %c16_i64 : i64
    %6 = arith.subi %arg2, %5 : i64
    %7 = vector.broadcast %3 : i64 to vector<16xi64>
    %8 = arith.cmpi ugt, %7, %cst : vector<16xi64>
    %9 = llvm.load %arg0 {alignment = 64 : i64} : !llvm.ptr -> vector<16xi32>
    llvm.intr.masked.store %9, %arg1, %8 {alignment = 4 : i32} : vector<16xi32>, vector<16xi1> into !llvm.ptr
    scf.for %arg3 = %3 to %6 step %c16_i64  : i64 {
      %15 = llvm.getelementptr %arg0[%arg3] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %16 = llvm.getelementptr %arg1[%arg3] : (!llvm.ptr, i64) -> !llvm.ptr, i32
      %17 = llvm.load %15 {alignment = 4 : i64} : !llvm.ptr -> vector<16xi32>
      llvm.store %17, %16 {alignment = 64 : i64, nontemporal} : vector<16xi32>, !llvm.ptr
    } {loop_annotation = #loop_annotation}
    %10 = llvm.getelementptr %arg0[%6] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %11 = llvm.getelementptr %arg1[%6] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %12 = vector.broadcast %5 : i64 to vector<16xi64>
    %13 = arith.cmpi ugt, %12, %cst : vector<16xi64>
    %14 = llvm.load %10 {alignment = 4 : i64} : !llvm.ptr -> vector<16xi32>
    llvm.intr.masked.store %14, %11, %13 {alignment = 4 : i32} : vector<16xi32>, vector<16xi1> into !llvm.ptr
    return
  }
}
