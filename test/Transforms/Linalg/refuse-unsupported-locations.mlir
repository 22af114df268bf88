// RUN: not streamtensor-opt %s --st-refuse-unsupported 2>&1 | FileCheck %s

// All at once, each with the line of the model: the innermost frame that is not
// PyTorch's own, and the last part of a fused location.
// CHECK: error: unsupported operation 'tensor.pad' at model.py:11: its amounts or its value are not constants, or it cuts; pad with a constant value and constant amounts
// CHECK: error: unsupported operation 'linalg.generic' at model.py:12: its indexing map '(d0, d1) -> (d1 - d0)' is neither a permutation of loops nor a window
// CHECK: error: unsupported operation 'tensor.insert_slice' at model.py:13: it overwrites elements at computed positions, or skips some
// CHECK: error: function 'network' cannot be compiled: 3 unsupported items
func.func @network(%x: tensor<4x8xf32>) -> tensor<5x9xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %one = arith.constant 1.000000e+00 : f32
  %p = tensor.pad %x low[0, 0] high[0, 1] {
  ^bb0(%a: index, %b: index):
    %i = arith.index_cast %a : index to i32
    %v = arith.sitofp %i : i32 to f32
    tensor.yield %v : f32
  } : tensor<4x8xf32> to tensor<4x9xf32> loc("model.py":11:0)
  %row = tensor.extract_slice %p[0, 0] [1, 9] [1, 1] : tensor<4x9xf32> to tensor<9xf32>
  %e = tensor.empty() : tensor<4x5xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1 - d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%row : tensor<9xf32>) outs(%e : tensor<4x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x5xf32>
      loc(callsite("lib/torch/nn/modules/conv.py":540:0 at callsite("model.py":12:0 at "main.py":3:0)))
  %f = tensor.empty() : tensor<5x9xf32>
  %g = linalg.fill ins(%one : f32) outs(%f : tensor<5x9xf32>) -> tensor<5x9xf32>
  %q = tensor.insert_slice %y into %g[0, 0] [4, 5] [1, 2] : tensor<4x5xf32> into tensor<5x9xf32>
      loc(fused["model.py":12:0, "part"("model.py":13:0)])
  return %q : tensor<5x9xf32>
}
