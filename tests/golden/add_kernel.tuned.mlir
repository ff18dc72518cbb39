module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @add_kernel(%x: !llvm.ptr<1> {llvm.align = 16 : i64}, %y: !llvm.ptr<1> {llvm.align = 16 : i64}, %out: !llvm.ptr<1> {llvm.align = 16 : i64}, %n: i32) kernel attributes {nvvm.reqntid = array<i32: 128>} {
      %bid_x = gpu.block_id x
      %tid_x = gpu.thread_id x
      %block_id_x = arith.index_cast %bid_x : index to i32
      %thread_id_x = arith.index_cast %tid_x : index to i32
      %c_i32_2 = arith.constant 2 : i32
      %at1024 = arith.shli %thread_id_x, %c_i32_2 : i32
      %array6 = llvm.alloca %c_i32_2 x vector<4xf32> : (i32) -> !llvm.ptr
      %array8 = llvm.alloca %c_i32_2 x vector<4xf32> : (i32) -> !llvm.ptr
      %c_i32_1024 = arith.constant 1024 : i32
      %v1 = arith.muli %block_id_x, %c_i32_1024 : i32
      %c_i32_0 = arith.constant 0 : i32
      %c_i32_1 = arith.constant 1 : i32
      scf.for %r = %c_i32_0 to %c_i32_2 step %c_i32_1 : i32 {
        %c_i32_9 = arith.constant 9 : i32
        %trip1024 = arith.shli %r, %c_i32_9 : i32
        %first1024 = arith.addi %at1024, %trip1024 : i32
        %lanes4 = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
        %chunk1024 = vector.broadcast %first1024 : i32 to vector<4xi32>
        %pos1024 = arith.addi %chunk1024, %lanes4 : vector<4xi32>
        %splat2 = vector.broadcast %v1 : i32 to vector<4xi32>
        %v3 = arith.addi %splat2, %pos1024 : vector<4xi32>
        %v4 = llvm.getelementptr %x[%v3] : (!llvm.ptr<1>, vector<4xi32>) -> vector<4x!llvm.ptr<1>>, f32
        %splat3 = vector.broadcast %n : i32 to vector<4xi32>
        %v5 = arith.cmpi slt, %v3, %splat3 : vector<4xi32>
        %ptr6 = llvm.extractelement %v4[%c_i32_0 : i32] : vector<4x!llvm.ptr<1>>
        %all6 = vector.reduction <and>, %v5 : vector<4xi1> into i1
        %c_f32_0_0_x4 = arith.constant dense<0.000000e+00> : vector<4xf32>
        %v6 = scf.if %all6 -> (vector<4xf32>) {
          %loaded6 = llvm.load %ptr6 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
          scf.yield %loaded6 : vector<4xf32>
        } else {
          %loaded6 = llvm.intr.masked.load %ptr6, %v5, %c_f32_0_0_x4 {alignment = 4 : i32} : (!llvm.ptr<1>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
          scf.yield %loaded6 : vector<4xf32>
        }
        %v7 = llvm.getelementptr %y[%v3] : (!llvm.ptr<1>, vector<4xi32>) -> vector<4x!llvm.ptr<1>>, f32
        %ptr8 = llvm.extractelement %v7[%c_i32_0 : i32] : vector<4x!llvm.ptr<1>>
        %all8 = vector.reduction <and>, %v5 : vector<4xi1> into i1
        %v8 = scf.if %all8 -> (vector<4xf32>) {
          %loaded8 = llvm.load %ptr8 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
          scf.yield %loaded8 : vector<4xf32>
        } else {
          %loaded8 = llvm.intr.masked.load %ptr8, %v5, %c_f32_0_0_x4 {alignment = 4 : i32} : (!llvm.ptr<1>, vector<4xi1>, vector<4xf32>) -> vector<4xf32>
          scf.yield %loaded8 : vector<4xf32>
        }
        %slot6 = llvm.getelementptr %array6[%r] : (!llvm.ptr, i32) -> !llvm.ptr, vector<4xf32>
        llvm.store %v6, %slot6 : vector<4xf32>, !llvm.ptr
        %slot8 = llvm.getelementptr %array8[%r] : (!llvm.ptr, i32) -> !llvm.ptr, vector<4xf32>
        llvm.store %v8, %slot8 : vector<4xf32>, !llvm.ptr
      } {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
      scf.for %r = %c_i32_0 to %c_i32_2 step %c_i32_1 : i32 {
        %slot6 = llvm.getelementptr %array6[%r] : (!llvm.ptr, i32) -> !llvm.ptr, vector<4xf32>
        %v6 = llvm.load %slot6 : !llvm.ptr -> vector<4xf32>
        %slot8 = llvm.getelementptr %array8[%r] : (!llvm.ptr, i32) -> !llvm.ptr, vector<4xf32>
        %v8 = llvm.load %slot8 : !llvm.ptr -> vector<4xf32>
        %v9 = arith.addf %v6, %v8 : vector<4xf32>
        %c_i32_9 = arith.constant 9 : i32
        %trip1024 = arith.shli %r, %c_i32_9 : i32
        %first1024 = arith.addi %at1024, %trip1024 : i32
        %lanes4 = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
        %chunk1024 = vector.broadcast %first1024 : i32 to vector<4xi32>
        %pos1024 = arith.addi %chunk1024, %lanes4 : vector<4xi32>
        %splat2 = vector.broadcast %v1 : i32 to vector<4xi32>
        %v3 = arith.addi %splat2, %pos1024 : vector<4xi32>
        %v10 = llvm.getelementptr %out[%v3] : (!llvm.ptr<1>, vector<4xi32>) -> vector<4x!llvm.ptr<1>>, f32
        %splat3 = vector.broadcast %n : i32 to vector<4xi32>
        %v5 = arith.cmpi slt, %v3, %splat3 : vector<4xi32>
        %ptr_store0 = llvm.extractelement %v10[%c_i32_0 : i32] : vector<4x!llvm.ptr<1>>
        %all_store0 = vector.reduction <and>, %v5 : vector<4xi1> into i1
        scf.if %all_store0 {
          llvm.store %v9, %ptr_store0 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
        } else {
          llvm.intr.masked.store %v9, %ptr_store0, %v5 {alignment = 4 : i32} : vector<4xf32>, vector<4xi1> into !llvm.ptr<1>
        }
      } {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
      gpu.return
    }
  }
}
