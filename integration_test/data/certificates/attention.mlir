// New rows against all rows, as in attention: a maximum per row, exponentials,
// a sum of rows weighted by them; and all rows as a result.
#row = affine_map<(d0, d1) -> (d0, d1)>
#one = affine_map<(d0, d1) -> (d0)>
#q = affine_map<(d0, d1, d2) -> (d0, d2)>
#k = affine_map<(d0, d1, d2) -> (d1, d2)>
#s = affine_map<(d0, d1, d2) -> (d0, d1)>
#p = affine_map<(d0, d1, d2) -> (d0, d2)>
#v = affine_map<(d0, d1, d2) -> (d2, d1)>
module {
  func.func @main(%past: tensor<?x4xf32>, %new: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %keys = tensor.concat dim(0) %past, %new : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %rows = tensor.dim %new, %c0 : tensor<?x4xf32>
    %all = tensor.dim %keys, %c0 : tensor<?x4xf32>
    %e0 = tensor.empty(%rows, %all) : tensor<?x?xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x?xf32>) -> tensor<?x?xf32>
    %scores = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = ["parallel", "parallel", "reduction"]} ins(%new, %keys : tensor<?x4xf32>, tensor<?x4xf32>) outs(%f0 : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %r = arith.addf %o, %m : f32
      linalg.yield %r : f32
    } -> tensor<?x?xf32>
    %e1 = tensor.empty(%rows) : tensor<?xf32>
    %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<?xf32>) -> tensor<?xf32>
    %max = linalg.generic {indexing_maps = [#row, #one], iterator_types = ["parallel", "reduction"]} ins(%scores : tensor<?x?xf32>) outs(%f1 : tensor<?xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.maximumf %a, %o : f32
      linalg.yield %r : f32
    } -> tensor<?xf32>
    %exp = linalg.generic {indexing_maps = [#row, #one, #row], iterator_types = ["parallel", "parallel"]} ins(%scores, %max : tensor<?x?xf32>, tensor<?xf32>) outs(%e0 : tensor<?x?xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %d = arith.subf %a, %b : f32
      %r = math.exp %d : f32
      linalg.yield %r : f32
    } -> tensor<?x?xf32>
    %e2 = tensor.empty(%rows) : tensor<?x4xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x4xf32>) -> tensor<?x4xf32>
    %out = linalg.generic {indexing_maps = [#p, #v, #s], iterator_types = ["parallel", "parallel", "reduction"]} ins(%exp, %keys : tensor<?x?xf32>, tensor<?x4xf32>) outs(%f2 : tensor<?x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %r = arith.addf %o, %m : f32
      linalg.yield %r : f32
    } -> tensor<?x4xf32>
    return %out, %keys : tensor<?x4xf32>, tensor<?x4xf32>
  }
}
