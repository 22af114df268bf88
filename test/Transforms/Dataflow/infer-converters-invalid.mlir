// What --st-infer-converters refuses, and what it says.
// RUN: streamtensor-opt %s --split-input-file --verify-diagnostics --st-infer-converters

// Windows of three rows of run-time length.
func.func @windows(%a: !itensor.itensor<1x1xf32, [6, columns max 8] * [1, 1], (d0, d1) -> (d0, d1)>) {
  // expected-error @below {{'itensor.converter' op the windows of 3x1, [4, columns max 8] * [1, 1], (d0, d1) -> (d0, d1) need a line buffer, which has no run-time size: give the tensor a fixed one}}
  %r = itensor.converter %a : !itensor.itensor<1x1xf32, [6, columns max 8] * [1, 1], (d0, d1) -> (d0, d1)>
                           to !itensor.itensor<3x1xf32, [4, columns max 8] * [1, 1], (d0, d1) -> (d0, d1), overlapping>
  return
}
