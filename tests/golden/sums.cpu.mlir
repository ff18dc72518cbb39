#as_written = #llvm.loop_annotation<vectorize = <disable = true>, unroll = <disable = true>>
func.func @sums.programs(%x_ptr: !llvm.ptr, %out_ptr: !llvm.ptr, %n: i32, %scratch.base: !llvm.ptr {llvm.noalias}, %programs.first: i64, %programs.last: i64, %grid.x: i64, %grid.y: i64, %grid.z: i64) attributes {passthrough = ["no-inline-line-tables", "no-builtin-memcpy"]} {
  %size.0 = arith.constant 0 : i32
  %size.16 = arith.constant 16 : i32
  %size.64 = arith.constant 64 : i32
  %lanes.16 = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
  %programs.step = arith.constant 1 : i64
  scf.for %program.i = %programs.first to %programs.last step %programs.step : i64 {
    scf.for %chunk.i = %size.0 to %size.64 step %size.16 : i32 {
      %c1 = arith.constant dense<0.000000e+00> : vector<16xf64>
      %v2.offset = arith.constant 0 : i64
      %v2.kept = llvm.getelementptr %scratch.base[%v2.offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %v2.slot = llvm.getelementptr %v2.kept[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      llvm.store %c1, %v2.slot {alignment = 1 : i64} : vector<16xf64>, !llvm.ptr
    } {loop_annotation = #as_written}
    %c2 = arith.constant 0 : i32
    %c3 = arith.constant 1 : i32
    %v1.trip.lower = arith.extsi %c2 : i32 to i64
    %v1.trip.upper = arith.extsi %n : i32 to i64
    %v1.trip.step = arith.extsi %c3 : i32 to i64
    scf.for %v1.trip = %v1.trip.lower to %v1.trip.upper step %v1.trip.step : i64 {
      %v1 = arith.trunci %v1.trip : i64 to i32
      %c4 = arith.constant 64 : i32
      %v3 = arith.muli %v1, %c4 : i32
      %v5.first = llvm.getelementptr %x_ptr[%v3] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      scf.for %chunk.i = %size.0 to %size.64 step %size.16 : i32 {
        %v5.chunk = llvm.getelementptr %v5.first[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
        %v6 = llvm.load %v5.chunk {alignment = 8 : i64} : !llvm.ptr -> vector<16xf64>
        %v2.offset = arith.constant 0 : i64
        %v2.kept = llvm.getelementptr %scratch.base[%v2.offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        %v2.slot = llvm.getelementptr %v2.kept[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
        %v2 = llvm.load %v2.slot {alignment = 1 : i64} : !llvm.ptr -> vector<16xf64>
        %v7 = arith.addf %v2, %v6 : vector<16xf64>
        %v7.offset = arith.constant 0 : i64
        %v7.kept = llvm.getelementptr %scratch.base[%v7.offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        %v7.slot = llvm.getelementptr %v7.kept[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
        llvm.store %v7, %v7.slot {alignment = 1 : i64} : vector<16xf64>, !llvm.ptr
      } {loop_annotation = #as_written}
    } {loop_annotation = #as_written}
    scf.for %chunk.i = %size.0 to %size.64 step %size.16 : i32 {
      %v8.offset = arith.constant 0 : i64
      %v8.kept = llvm.getelementptr %scratch.base[%v8.offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %v8.slot = llvm.getelementptr %v8.kept[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      %v8 = llvm.load %v8.slot {alignment = 1 : i64} : !llvm.ptr -> vector<16xf64>
      %v9.chunk = llvm.getelementptr %out_ptr[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f64
      llvm.store %v8, %v9.chunk {alignment = 8 : i64} : vector<16xf64>, !llvm.ptr
    } {loop_annotation = #as_written}
  } {loop_annotation = #as_written}
  func.return
}
