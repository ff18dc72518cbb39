module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @gcd(%x: memref<?xi32>, %out: memref<?xi32>) kernel attributes {nvvm.reqntid = array<i32: 128>} {
      %bid_x = gpu.block_id x
      %tid_x = gpu.thread_id x
      %block_id_x = arith.index_cast %bid_x : index to i32
      %thread_id_x = arith.index_cast %tid_x : index to i32
      %c_i32_2 = arith.constant 2 : i32
      %v1 = arith.muli %c_i32_2, %block_id_x : i32
      %idx2 = arith.index_cast %v1 : i32 to index
      %v3 = memref.load %x[%idx2] : memref<?xi32>
      %c_i32_1 = arith.constant 1 : i32
      %idx6_offset = arith.index_cast %c_i32_1 : i32 to index
      %idx6 = arith.addi %idx2, %idx6_offset : index
      %v7 = memref.load %x[%idx6] : memref<?xi32>
      %idx19 = arith.index_cast %block_id_x : i32 to index
      %v8, %v9 = scf.while (%v10 = %v3, %v11 = %v7) : (i32, i32) -> (i32, i32) {
        %c_i32_0 = arith.constant 0 : i32
        %v12 = arith.cmpi ne, %v11, %c_i32_0 : i32
        scf.condition(%v12) %v10, %v11 : i32, i32
      } do {
        ^bb0(%v13: i32, %v14: i32):
        %v15_0 = arith.constant 0 : i32
        %v15_1 = arith.constant 1 : i32
        %v15_2 = arith.cmpi eq, %v14, %v15_0 : i32
        %v15_3 = arith.constant -1 : i32
        %v15_4 = arith.constant -2147483648 : i32
        %v15_5 = arith.cmpi eq, %v14, %v15_3 : i32
        %v15_6 = arith.cmpi eq, %v13, %v15_4 : i32
        %v15_7 = arith.andi %v15_5, %v15_6 : i1
        %v15_8 = arith.ori %v15_2, %v15_7 : i1
        %v15_9 = arith.select %v15_8, %v15_1, %v14 : i32
        %v15 = arith.remsi %v13, %v15_9 : i32
        scf.yield %v14, %v15 : i32, i32
      }
      %c_i32_0 = arith.constant 0 : i32
      %v16 = arith.cmpi slt, %v8, %c_i32_0 : i32
      %v17 = scf.if %v16 -> (i32) {
        %v18_0 = arith.constant 0 : i32
        %v18 = arith.subi %v18_0, %v8 : i32
        scf.yield %v18 : i32
      } else {
        scf.yield %v8 : i32
      }
      gpu.barrier
      %owner1 = arith.cmpi ult, %thread_id_x, %c_i32_1 : i32
      scf.if %owner1 {
        memref.store %v17, %out[%idx19] : memref<?xi32>
      }
      gpu.return
    }
  }
}
