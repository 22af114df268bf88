// What --st-infer-converters refuses, and what it says.
// RUN: streamtensor-opt %s --split-input-file --verify-diagnostics --st-infer-converters

// A transposition of run-time size.
func.func @runtime(%a: !itensor.itensor<f32, [seq max 8, 4] * [1, 1], (d0, d1) -> (d0, d1)>) {
  // expected-error @below {{'itensor.converter' op expected static types but got '!itensor.itensor<f32, [seq max 8, 4] * [1, 1], (d0, d1) -> (d0, d1)>' and '!itensor.itensor<f32, [4, seq max 8] * [1, 1], (d0, d1) -> (d1, d0)>': the buffer between run-time trip counts is not inferred; give both sides one order}}
  %r = itensor.converter %a : !itensor.itensor<f32, [seq max 8, 4] * [1, 1], (d0, d1) -> (d0, d1)>
                           to !itensor.itensor<f32, [4, seq max 8] * [1, 1], (d0, d1) -> (d1, d0)>
  return
}
