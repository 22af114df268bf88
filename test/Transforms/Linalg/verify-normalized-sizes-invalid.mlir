// Sizes known at run time that do not agree: types say the largest sizes only, so
// nothing but this check sees it. Building kernels checks the same, for text that
// is read at a later phase.
// RUN: streamtensor-opt %s --st-verify-normalized --split-input-file --verify-diagnostics
// RUN: streamtensor-opt %s --st-build-dataflow --split-input-file --verify-diagnostics

// Eight rows of each at most, but not the same number.
#id = affine_map<(i, j) -> (i, j)>
func.func @two_parameters(%a: tensor<8x4xf32> {dataflow.dims = ["seq max 8", ""]}, %b: tensor<8x4xf32> {dataflow.dims = ["past max 8", ""]})
    -> (tensor<8x4xf32> {dataflow.dims = ["seq max 8", ""]}) attributes {dataflow.parameters = {past = array<i64: 1, 8>, seq = array<i64: 1, 8>}} {
  %e = tensor.empty() : tensor<8x4xf32>
  // expected-error @below {{expected size 'seq' of loop 0, as in the operands before, but operand 1 has 'past' in dimension 0}}
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) attrs = {dataflow.dims = ["seq max 8", ""]} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Always eight rows against seq of them.
#id = affine_map<(i, j) -> (i, j)>
func.func @static_and_not(%a: tensor<8x4xf32>, %b: tensor<8x4xf32> {dataflow.dims = ["seq max 8", ""]})
    -> (tensor<8x4xf32> {dataflow.dims = ["seq max 8", ""]}) attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  %e = tensor.empty() : tensor<8x4xf32>
  // expected-error @below {{expected size '8' of loop 0, as in the operands before, but operand 1 has 'seq' in dimension 0}}
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<8x4xf32>, tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) attrs = {dataflow.dims = ["seq max 8", ""]} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// The result forgets that there are fewer rows.
#id = affine_map<(i, j) -> (i, j)>
func.func @forgotten(%a: tensor<8x4xf32> {dataflow.dims = ["seq max 8", ""]}) -> tensor<8x4xf32> attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  %e = tensor.empty() : tensor<8x4xf32>
  // expected-error @below {{expected size 'seq' of loop 0, as in the operands before, but the result has '8' in dimension 0}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// seq + past is no multiple of seq.
func.func @concat(%a: tensor<8x4xf32> {dataflow.dims = ["seq max 8", ""]}, %b: tensor<8x4xf32> {dataflow.dims = ["past max 8", ""]})
    -> (tensor<16x4xf32> {dataflow.dims = ["2 * seq max 8", ""]}) attributes {dataflow.parameters = {past = array<i64: 1, 8>, seq = array<i64: 1, 8>}} {
  // expected-error @below {{expected size 'past + seq' of dimension 0 of the result but got '2 * seq'}}
  %0 = tensor.concat dim(0) %a, %b {dataflow.dims = ["2 * seq max 8", ""]} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  return %0 : tensor<16x4xf32>
}

// -----

// Side by side, both need as many rows.
func.func @concat_rows(%a: tensor<8x4xf32> {dataflow.dims = ["seq max 8", ""]}, %b: tensor<8x4xf32>)
    -> (tensor<8x8xf32> {dataflow.dims = ["seq max 8", ""]}) attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  // expected-error @below {{expected size 'seq' of dimension 0 of operand 1 but got '8'}}
  %0 = tensor.concat dim(1) %a, %b {dataflow.dims = ["seq max 8", ""]} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @pad(%a: tensor<8xf32> {dataflow.dims = ["seq max 8"]}) -> (tensor<10xf32> {dataflow.dims = ["seq max 10"]}) attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{expected one maximum of parameter 'seq' in a function but got 8 and 10}}
  %0 = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } {dataflow.dims = ["seq max 10"]} : tensor<8xf32> to tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

func.func @pad_size(%a: tensor<8xf32> {dataflow.dims = ["seq max 8"]}) -> tensor<10xf32> attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{expected size 'seq + 2' of dimension 0 of the result but got '10'}}
  %0 = tensor.pad %a low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<8xf32> to tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

// With fewer than four rows there are no first four.
#id = affine_map<(i, j) -> (i, j)>
func.func @slice(%a: tensor<8x4xf32> {dataflow.dims = ["seq max 8", ""]}) -> tensor<4x4xf32> attributes {dataflow.parameters = {seq = array<i64: 3, 8>}} {
  // expected-error @below {{expected the slice to end within size 'seq' of dimension 0 for all values of the run-time sizes but it ends at '4'}}
  // expected-note @below {{'seq' goes down to 3; slice less, or raise the smallest values of the run-time sizes ("min" in the file for --dims)}}
  %0 = tensor.extract_slice %a[0, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

func.func @collapse(%a: tensor<8x4xf32> {dataflow.dims = ["seq max 8", ""]}) attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  // expected-error @below {{expected size '4 * seq' of dimension 0 of the result but got '2 * seq + 16'}}
  %0 = tensor.collapse_shape %a [[0, 1]] {dataflow.dims = ["2 * seq max 8 + 16"]} : tensor<8x4xf32> into tensor<32xf32>
  return
}

// -----

// Rows of run-time size times columns of run-time size are no sum of parameters.
func.func @square(%a: tensor<8x8xf32> {dataflow.dims = ["seq max 8", "seq max 8"]}) attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  // expected-error @below {{expected one run-time size among the dimensions that dimension 0 of the result stands for but got 'seq' and 'seq'}}
  %0 = tensor.collapse_shape %a [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  return
}

// -----

func.func @expand(%a: tensor<32xf32> {dataflow.dims = ["4 * seq max 8"]}) attributes {dataflow.parameters = {seq = array<i64: 1, 4>}} {
  // expected-error @below {{expected one maximum of parameter 'seq' in a function but got 8 and 4}}
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [8, 4] {dataflow.dims = ["", "seq max 4"]} : tensor<32xf32> into tensor<8x4xf32>
  return
}

// -----

func.func @expand_size(%a: tensor<32xf32> {dataflow.dims = ["4 * seq max 8"]}) attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  // expected-error @below {{expected size '32' of dimension 0 of the source but got '4 * seq'}}
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  return
}

// -----

#id = affine_map<(i) -> (i)>
func.func @returned(%a: tensor<8xf32> {dataflow.dims = ["seq max 8"]}) -> tensor<8xf32> attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) attrs = {dataflow.dims = ["seq max 8"]} {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  // expected-error @below {{expected size 'seq' of dimension 0 of result 0 of the function but got '8'}}
  return %0 : tensor<8xf32>
}

// -----

// expected-error @below {{expected 'dataflow.parameters' of the function to say the values of 'seq'}}
func.func @no_range(%a: tensor<8xf32> {dataflow.dims = ["seq max 8"]}) {
  return
}

// -----

// expected-error @below {{expected parameter 'seq' to be at most 8, for which there is memory, but the function takes up to 9}}
func.func @beyond_memory(%a: tensor<8xf32> {dataflow.dims = ["seq max 8"]}) attributes {dataflow.parameters = {seq = array<i64: 1, 9>}} {
  return
}

// -----

// expected-error @below {{expected one maximum of parameter 'seq' in a function but got 8 and 7}}
func.func @two_maxima(%a: tensor<8xf32> {dataflow.dims = ["seq max 8"]}, %b: tensor<8xf32> {dataflow.dims = ["seq max 7 + 1"]}) attributes {dataflow.parameters = {seq = array<i64: 1, 7>}} {
  return
}
