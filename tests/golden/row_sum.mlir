module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @row_sum(%x: !llvm.ptr<1> {llvm.align = 16 : i64}, %out: !llvm.ptr<1> {llvm.align = 16 : i64}, %stride: i32, %n: i32) workgroup(%shared: memref<8xi8, #gpu.address_space<workgroup>> {llvm.align = 16 : i64}) kernel attributes {nvvm.reqntid = array<i32: 64>} {
      %bid_x = gpu.block_id x
      %tid_x = gpu.thread_id x
      %block_id_x = arith.index_cast %bid_x : index to i32
      %thread_id_x = arith.index_cast %tid_x : index to i32
      %c_i32_2 = arith.constant 2 : i32
      %at256 = arith.shli %thread_id_x, %c_i32_2 : i32
      %array14_part = llvm.alloca %c_i32_2 x f32 {alignment = 16 : i64} : (i32) -> !llvm.ptr
      %v1 = arith.muli %block_id_x, %stride : i32
      %v2 = llvm.getelementptr %x[%v1] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %v13 = llvm.getelementptr %out[%block_id_x] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %lanes4 = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
      %chunk256 = vector.broadcast %at256 : i32 to vector<4xi32>
      %pos256 = arith.addi %chunk256, %lanes4 : vector<4xi32>
      %c_f32_0_0_x4 = arith.constant dense<0.000000e+00> : vector<4xf32>
      %c_i32_0 = arith.constant 0 : i32
      %c_i32_256 = arith.constant 256 : i32
      %v4_upper = arith.maxsi %n, %c_i32_0 : i32
      %v3 = scf.for unsigned %v4 = %c_i32_0 to %v4_upper step %c_i32_256 iter_args(%v5 = %c_f32_0_0_x4) -> (vector<4xf32>) : i32 {
        %splat5 = vector.broadcast %v4 : i32 to vector<4xi32>
        %v7 = arith.addi %splat5, %pos256 : vector<4xi32>
        %v8 = llvm.getelementptr %v2[%v7] : (!llvm.ptr<1>, vector<4xi32>) -> vector<4x!llvm.ptr<1>>, f32
        %splat6 = vector.broadcast %n : i32 to vector<4xi32>
        %v9 = arith.cmpi slt, %v7, %splat6 : vector<4xi32>
        %ptr10 = llvm.extractelement %v8[%c_i32_0 : i32] : vector<4x!llvm.ptr<1>>
        %all10 = vector.extract %v9[0] : i1 from vector<4xi1>
        %v10 = scf.if %all10 -> (vector<4xf32>) {
          %loaded10 = llvm.load %ptr10 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
          scf.yield %loaded10 : vector<4xf32>
        } else {
          scf.yield %c_f32_0_0_x4 : vector<4xf32>
        }
        %v11 = arith.addf %v5, %v10 : vector<4xf32>
        scf.yield %v11 : vector<4xf32>
      }
      %c_i32_1 = arith.constant 1 : i32
      scf.for %r = %c_i32_0 to %c_i32_2 step %c_i32_1 : i32 {
        %r_plus2 = arith.addi %r, %c_i32_2 : i32
        %v3_r = llvm.extractelement %v3[%r : i32] : vector<4xf32>
        %v3_r_plus2 = llvm.extractelement %v3[%r_plus2 : i32] : vector<4xf32>
        %v14_part0 = arith.addf %v3_r, %v3_r_plus2 : f32
        %slot14_part = llvm.getelementptr %array14_part[%r] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        llvm.store %v14_part0, %slot14_part : f32, !llvm.ptr
      } {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
      %slot14_part_c_i32_0 = llvm.getelementptr %array14_part[%c_i32_0] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v14_low = llvm.load %slot14_part_c_i32_0 : !llvm.ptr -> f32
      %slot14_part_c_i32_1 = llvm.getelementptr %array14_part[%c_i32_1] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %v14_high = llvm.load %slot14_part_c_i32_1 : !llvm.ptr -> f32
      %v14 = arith.addf %v14_low, %v14_high : f32
      %c_i32_16 = arith.constant 16 : i32
      %c_i32_32 = arith.constant 32 : i32
      %v15_lane16_0, %v15_lane16_0_valid = gpu.shuffle xor %v14, %c_i32_16, %c_i32_32 : f32
      %v15_part0 = arith.addf %v14, %v15_lane16_0 : f32
      %c_i32_8 = arith.constant 8 : i32
      %v15_lane8_0, %v15_lane8_0_valid = gpu.shuffle xor %v15_part0, %c_i32_8, %c_i32_32 : f32
      %v15_part1 = arith.addf %v15_part0, %v15_lane8_0 : f32
      %c_i32_4 = arith.constant 4 : i32
      %v15_lane4_0, %v15_lane4_0_valid = gpu.shuffle xor %v15_part1, %c_i32_4, %c_i32_32 : f32
      %v15_part2 = arith.addf %v15_part1, %v15_lane4_0 : f32
      %v15_lane2_0, %v15_lane2_0_valid = gpu.shuffle xor %v15_part2, %c_i32_2, %c_i32_32 : f32
      %v15_part3 = arith.addf %v15_part2, %v15_lane2_0 : f32
      %v15_lane1_0, %v15_lane1_0_valid = gpu.shuffle xor %v15_part3, %c_i32_1, %c_i32_32 : f32
      %v15 = arith.addf %v15_part3, %v15_lane1_0 : f32
      %to16_bits = arith.andi %thread_id_x, %c_i32_32 : i32
      %c_i32_5 = arith.constant 5 : i32
      %to16 = arith.shrui %to16_bits, %c_i32_5 : i32
      %c_i32_31 = arith.constant 31 : i32
      %owner2_bits = arith.andi %thread_id_x, %c_i32_31 : i32
      %owner2 = arith.cmpi eq, %owner2_bits, %c_i32_0 : i32
      scf.if %owner2 {
        %c_index_0 = arith.constant 0 : index
        %shared_f32 = memref.view %shared[%c_index_0][] : memref<8xi8, #gpu.address_space<workgroup>> to memref<2xf32, #gpu.address_space<workgroup>>
        %to16_index = arith.index_cast %to16 : i32 to index
        memref.store %v15, %shared_f32[%to16_index] : memref<2xf32, #gpu.address_space<workgroup>>
      }
      gpu.barrier
      %c_i32_0_plus1 = arith.addi %c_i32_0, %c_i32_1 : i32
      %c_index_0 = arith.constant 0 : index
      %shared_f32 = memref.view %shared[%c_index_0][] : memref<8xi8, #gpu.address_space<workgroup>> to memref<2xf32, #gpu.address_space<workgroup>>
      %c_i32_0_index = arith.index_cast %c_i32_0 : i32 to index
      %v16_warp0 = memref.load %shared_f32[%c_i32_0_index] : memref<2xf32, #gpu.address_space<workgroup>>
      %c_i32_0_plus1_index = arith.index_cast %c_i32_0_plus1 : i32 to index
      %v16_warp1 = memref.load %shared_f32[%c_i32_0_plus1_index] : memref<2xf32, #gpu.address_space<workgroup>>
      %v16 = arith.addf %v16_warp0, %v16_warp1 : f32
      %owner1 = arith.cmpi ult, %thread_id_x, %c_i32_1 : i32
      scf.if %owner1 {
        llvm.store %v16, %v13 : f32, !llvm.ptr<1>
      }
      gpu.return
    }
  }
}
