// y = a * x + y, of arrays of any length and strides.
func.func @saxpy(%a: f32, %x: memref<?xf32, strided<[?], offset: ?>>, %y: memref<?xf32, strided<[?], offset: ?>>) {
  linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]
  } ins(%x : memref<?xf32, strided<[?], offset: ?>>) outs(%y : memref<?xf32, strided<[?], offset: ?>>) {
  ^bb0(%xi: f32, %yi: f32):
    %scaled = arith.mulf %a, %xi : f32
    %sum = arith.addf %scaled, %yi : f32
    linalg.yield %sum : f32
  }
  return
}
