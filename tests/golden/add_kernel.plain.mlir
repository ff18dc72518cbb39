module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @add_kernel(%x: memref<?xf32>, %y: memref<?xf32>, %out: memref<?xf32>, %n: i32) kernel {
      %bid_x = gpu.block_id x
      %tid_x = gpu.thread_id x
      %block_id_x = arith.index_cast %bid_x : index to i32
      %thread_id_x = arith.index_cast %tid_x : index to i32
      %c_i32_256 = arith.constant 256 : i32
      %v1 = arith.muli %block_id_x, %c_i32_256 : i32
      %v3 = arith.addi %v1, %thread_id_x : i32
      %idx4 = arith.index_cast %v3 : i32 to index
      %v5 = arith.cmpi slt, %v3, %n : i32
      %c_f32_0_0 = arith.constant 0.000000e+00 : f32
      %v6 = scf.if %v5 -> (f32) {
        %loaded6 = memref.load %x[%idx4] : memref<?xf32>
        scf.yield %loaded6 : f32
      } else {
        scf.yield %c_f32_0_0 : f32
      }
      %idx7 = arith.index_cast %v3 : i32 to index
      %v8 = scf.if %v5 -> (f32) {
        %loaded8 = memref.load %y[%idx7] : memref<?xf32>
        scf.yield %loaded8 : f32
      } else {
        scf.yield %c_f32_0_0 : f32
      }
      %v9 = arith.addf %v6, %v8 : f32
      %idx10 = arith.index_cast %v3 : i32 to index
      scf.if %v5 {
        memref.store %v9, %out[%idx10] : memref<?xf32>
      }
      gpu.return
    }
  }
}
