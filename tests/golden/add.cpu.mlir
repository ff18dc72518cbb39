#as_written = #llvm.loop_annotation<vectorize = <disable = true>, unroll = <disable = true>>
func.func @binary_kernel.programs(%x_ptr: !llvm.ptr, %y_ptr: !llvm.ptr, %out_ptr: !llvm.ptr, %n: i32, %scratch.base: !llvm.ptr {llvm.noalias}, %programs.first: i64, %programs.last: i64, %grid.x: i64, %grid.y: i64, %grid.z: i64) attributes {passthrough = ["no-inline-line-tables", "no-builtin-memcpy"]} {
  %size.0 = arith.constant 0 : i32
  %size.16 = arith.constant 16 : i32
  %size.1024 = arith.constant 1024 : i32
  %lanes.16 = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi32>
  %programs.step = arith.constant 1 : i64
  scf.for %program.i = %programs.first to %programs.last step %programs.step : i64 {
    %v0.index = arith.remui %program.i, %grid.x : i64
    %v0 = arith.trunci %v0.index : i64 to i32
    %c0 = arith.constant 1024 : i32
    %v1 = arith.muli %v0, %c0 : i32
    %v5.first = llvm.getelementptr %x_ptr[%v1] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %v7.first = llvm.getelementptr %y_ptr[%v1] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %v10.first = llvm.getelementptr %out_ptr[%v1] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    %run_0.pair_0.low = arith.constant 0 : i64
    %run_0.pair_0.high = arith.constant 4096 : i64
    %run_0.pair_0 = func.call @memory.apart(%v5.first, %v10.first, %run_0.pair_0.low, %run_0.pair_0.high) : (!llvm.ptr, !llvm.ptr, i64, i64) -> i1
    %run_0.pair_1.low = arith.constant 0 : i64
    %run_0.pair_1.high = arith.constant 4096 : i64
    %run_0.pair_1 = func.call @memory.apart(%v7.first, %v10.first, %run_0.pair_1.low, %run_0.pair_1.high) : (!llvm.ptr, !llvm.ptr, i64, i64) -> i1
    %run_0.pair_0.and_0 = arith.andi %run_0.pair_0, %run_0.pair_1 : i1
    %run_0.whole_0.more = arith.constant 1023 : i32
    %run_0.whole_0.last = arith.addi %v1, %run_0.whole_0.more : i32
    %run_0.whole_0.in_order = arith.cmpi sle, %v1, %run_0.whole_0.last : i32
    %run_0.whole_0.holds = arith.cmpi slt, %run_0.whole_0.last, %n : i32
    %programs.plane = arith.muli %grid.x, %grid.y : i64
    %programs.all = arith.muli %programs.plane, %grid.z : i64
    %run_0.whole.store_0.least = arith.constant 2048 : i64
    %run_0.whole.store_0.many = arith.cmpi uge, %programs.all, %run_0.whole.store_0.least : i64
    %run_0.whole_0.in_order.and_0 = arith.andi %run_0.whole_0.in_order, %run_0.whole_0.holds : i1
    %run_0.whole_0.in_order.and_1 = arith.andi %run_0.whole_0.in_order.and_0, %run_0.whole.store_0.many : i1
    %run_0.whole_0.in_order.and_2 = arith.andi %run_0.whole_0.in_order.and_1, %run_0.pair_0.and_0 : i1
    scf.if %run_0.whole_0.in_order.and_2 {
      // No element is masked off, and what is stored goes past the caches.
      scf.for %chunk.i = %size.0 to %size.1024 step %size.16 : i32 {
        %v5.chunk = llvm.getelementptr %v5.first[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %v6 = llvm.load %v5.chunk {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
        %v7.chunk = llvm.getelementptr %v7.first[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %v8 = llvm.load %v7.chunk {alignment = 4 : i64} : !llvm.ptr -> vector<16xf32>
        %v9 = arith.addf %v6, %v8 : vector<16xf32>
        %row.store_17.offset = arith.constant 4096 : i64
        %row.store_17 = llvm.getelementptr %scratch.base[%row.store_17.offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
        %row.store_17.chunk = llvm.getelementptr %row.store_17[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        llvm.store %v9, %row.store_17.chunk {alignment = 4 : i64} : vector<16xf32>, !llvm.ptr
      } {loop_annotation = #as_written}
      %row.store_17.offset = arith.constant 4096 : i64
      %row.store_17 = llvm.getelementptr %scratch.base[%row.store_17.offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
      %row.store_17.count = arith.constant 1024 : i64
      func.call @store.past.i32(%row.store_17, %v10.first, %row.store_17.count) : (!llvm.ptr, !llvm.ptr, i64) -> ()
    } else {
      scf.if %run_0.pair_0.and_0 {
        // No access overlaps what an earlier one has yet to touch: one loop.
        scf.for %chunk.i = %size.0 to %size.1024 step %size.16 : i32 {
          %v2.base = vector.broadcast %chunk.i : i32 to vector<16xi32>
          %v2 = arith.addi %v2.base, %lanes.16 : vector<16xi32>
          %c1 = vector.broadcast %v1 : i32 to vector<16xi32>
          %v3 = arith.addi %c1, %v2 : vector<16xi32>
          %c2 = vector.broadcast %n : i32 to vector<16xi32>
          %v4 = arith.cmpi slt, %v3, %c2 : vector<16xi32>
          %v5.chunk = llvm.getelementptr %v5.first[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v6.other = arith.constant dense<0.000000e+00> : vector<16xf32>
          %v6.masked = llvm.intr.masked.load %v5.chunk, %v4, %v6.other {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
          %v6 = llvm.freeze %v6.masked : vector<16xf32>
          %v7.chunk = llvm.getelementptr %v7.first[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v8.other = arith.constant dense<0.000000e+00> : vector<16xf32>
          %v8.masked = llvm.intr.masked.load %v7.chunk, %v4, %v8.other {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
          %v8 = llvm.freeze %v8.masked : vector<16xf32>
          %v9 = arith.addf %v6, %v8 : vector<16xf32>
          %v10.chunk = llvm.getelementptr %v10.first[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.intr.masked.store %v9, %v10.chunk, %v4 {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
        } {loop_annotation = #as_written}
      } else {
        // Each store in a loop of its own; values are kept in between.
        scf.for %chunk.i = %size.0 to %size.1024 step %size.16 : i32 {
          %v2.base = vector.broadcast %chunk.i : i32 to vector<16xi32>
          %v2 = arith.addi %v2.base, %lanes.16 : vector<16xi32>
          %c1 = vector.broadcast %v1 : i32 to vector<16xi32>
          %v3 = arith.addi %c1, %v2 : vector<16xi32>
          %c2 = vector.broadcast %n : i32 to vector<16xi32>
          %v4 = arith.cmpi slt, %v3, %c2 : vector<16xi32>
          %v5.chunk = llvm.getelementptr %v5.first[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v6.other = arith.constant dense<0.000000e+00> : vector<16xf32>
          %v6.masked = llvm.intr.masked.load %v5.chunk, %v4, %v6.other {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
          %v6 = llvm.freeze %v6.masked : vector<16xf32>
          %v7.chunk = llvm.getelementptr %v7.first[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v8.other = arith.constant dense<0.000000e+00> : vector<16xf32>
          %v8.masked = llvm.intr.masked.load %v7.chunk, %v4, %v8.other {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
          %v8 = llvm.freeze %v8.masked : vector<16xf32>
          %v9 = arith.addf %v6, %v8 : vector<16xf32>
          %v9.offset = arith.constant 0 : i64
          %v9.kept = llvm.getelementptr %scratch.base[%v9.offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          %v9.slot = llvm.getelementptr %v9.kept[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.store %v9, %v9.slot {alignment = 1 : i64} : vector<16xf32>, !llvm.ptr
        } {loop_annotation = #as_written}
        scf.for %chunk.i = %size.0 to %size.1024 step %size.16 : i32 {
          %v2.base = vector.broadcast %chunk.i : i32 to vector<16xi32>
          %v2 = arith.addi %v2.base, %lanes.16 : vector<16xi32>
          %c1 = vector.broadcast %v1 : i32 to vector<16xi32>
          %v3 = arith.addi %c1, %v2 : vector<16xi32>
          %c2 = vector.broadcast %n : i32 to vector<16xi32>
          %v4 = arith.cmpi slt, %v3, %c2 : vector<16xi32>
          %v9.offset = arith.constant 0 : i64
          %v9.kept = llvm.getelementptr %scratch.base[%v9.offset] : (!llvm.ptr, i64) -> !llvm.ptr, i8
          %v9.slot = llvm.getelementptr %v9.kept[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          %v9 = llvm.load %v9.slot {alignment = 1 : i64} : !llvm.ptr -> vector<16xf32>
          %v10.chunk = llvm.getelementptr %v10.first[%chunk.i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
          llvm.intr.masked.store %v9, %v10.chunk, %v4 {alignment = 4 : i32} : vector<16xf32>, vector<16xi1> into !llvm.ptr
        } {loop_annotation = #as_written}
      }
    }
  } {loop_annotation = #as_written}
  llvm.fence seq_cst
  func.return
}
func.func private @memory.apart(%from: !llvm.ptr, %to: !llvm.ptr, %low: i64, %high: i64) -> i1 attributes {llvm.linkage = #llvm.linkage<internal>} {
  %one = arith.constant 1 : i64
  %from.address = llvm.ptrtoint %from : !llvm.ptr to i64
  %to.address = llvm.ptrtoint %to : !llvm.ptr to i64
  %distance = arith.subi %to.address, %from.address : i64
  %lowest = arith.addi %low, %one : i64
  %above = arith.subi %distance, %lowest : i64
  %range = arith.subi %high, %lowest : i64
  %apart = arith.cmpi uge, %above, %range : i64
  func.return %apart : i1
}
func.func private @store.past.i32(%source: !llvm.ptr, %target: !llvm.ptr, %count: i64) attributes {llvm.linkage = #llvm.linkage<internal>} {
  %zero = arith.constant 0 : i64
  %address = llvm.ptrtoint %target : !llvm.ptr to i64
  %back = arith.subi %zero, %address : i64
  %line = arith.constant 63 : i64
  %gap = arith.andi %back, %line : i64
  %size = arith.constant 4 : i64
  %before = arith.divui %gap, %size : i64
  %step = arith.constant 16 : i64
  %left = arith.subi %count, %before : i64
  %over = arith.remui %left, %step : i64
  %end = arith.subi %count, %over : i64
  %numbers = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]> : vector<16xi64>
  %all.before = vector.broadcast %before : i64 to vector<16xi64>
  %is.before = arith.cmpi ult, %numbers, %all.before : vector<16xi64>
  %first = llvm.load %source {alignment = 64 : i64} : !llvm.ptr -> vector<16xi32>
  llvm.intr.masked.store %first, %target, %is.before {alignment = 4 : i32} : vector<16xi32>, vector<16xi1> into !llvm.ptr
  scf.for %i = %before to %end step %step : i64 {
    %from = llvm.getelementptr %source[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %to = llvm.getelementptr %target[%i] : (!llvm.ptr, i64) -> !llvm.ptr, i32
    %some = llvm.load %from {alignment = 4 : i64} : !llvm.ptr -> vector<16xi32>
    llvm.store %some, %to {alignment = 64 : i64, nontemporal} : vector<16xi32>, !llvm.ptr
  } {loop_annotation = #as_written}
  %last.from = llvm.getelementptr %source[%end] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %last.to = llvm.getelementptr %target[%end] : (!llvm.ptr, i64) -> !llvm.ptr, i32
  %all.over = vector.broadcast %over : i64 to vector<16xi64>
  %is.over = arith.cmpi ult, %numbers, %all.over : vector<16xi64>
  %last = llvm.load %last.from {alignment = 4 : i64} : !llvm.ptr -> vector<16xi32>
  llvm.intr.masked.store %last, %last.to, %is.over {alignment = 4 : i32} : vector<16xi32>, vector<16xi1> into !llvm.ptr
  func.return
}
