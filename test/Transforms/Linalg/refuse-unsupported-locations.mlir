// RUN: not streamtensor-opt %s --st-refuse-unsupported 2>&1 | FileCheck %s

// All at once, each with the line of the model: the innermost frame that is not
// PyTorch's own, and the last part of a fused location.
// CHECK: error: unsupported operation 'tensor.pad' at model.py:11: padding is not supported yet; concatenate with a constant tensor, or pad on the host
// CHECK: error: unsupported operation 'linalg.conv_2d_nchw_fchw' at model.py:12: convolutions are not supported yet
// CHECK: error: unsupported operation 'linalg.pooling_nchw_max' at model.py:13: pooling is not supported yet
// CHECK: error: function 'network' cannot be compiled: 3 unsupported items
func.func @network(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x3x3xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %low = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 0, 0, 0] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x3x8x8xf32> to tensor<1x3x9x9xf32> loc("model.py":11:0)
  %e = tensor.empty() : tensor<1x4x7x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<1x3x9x9xf32>, tensor<4x3x3x3xf32>) outs(%f : tensor<1x4x7x7xf32>) -> tensor<1x4x7x7xf32>
      loc(callsite("lib/torch/nn/modules/conv.py":540:0 at callsite("model.py":12:0 at "main.py":3:0)))
  %ep = tensor.empty() : tensor<1x4x3x3xf32>
  %fp = linalg.fill ins(%low : f32) outs(%ep : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
  %k = tensor.empty() : tensor<2x2xf32>
  %q = linalg.pooling_nchw_max {dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}
      ins(%y, %k : tensor<1x4x7x7xf32>, tensor<2x2xf32>) outs(%fp : tensor<1x4x3x3xf32>) -> tensor<1x4x3x3xf32>
      loc(fused["model.py":12:0, "pool"("model.py":13:0)])
  return %q : tensor<1x4x3x3xf32>
}
