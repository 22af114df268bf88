// Schedules that do not fit their operation, and operations without one.
// RUN: streamtensor-opt %s --st-build-dataflow --split-input-file --verify-diagnostics

#id = affine_map<(i) -> (i)>
func.func @no_schedule(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-error @below {{expected a schedule (run --st-schedule-ops first)}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#id = affine_map<(i) -> (i)>
func.func @rank(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-error @below {{expected a schedule of rank 1 but got 2}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>)
      attrs = {dataflow.schedule = #dataflow.schedule<order = [0, 1], tile = [1, 1], unroll = [1, 1]>} {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#id = affine_map<(i) -> (i)>
func.func @tile(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-error @below {{expected tile 3 to divide the extent 8 of dimension 0}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>)
      attrs = {dataflow.schedule = #dataflow.schedule<order = [0], tile = [3], unroll = [1]>} {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Blocks of 6 rows in 8 would leave two over.
#id = affine_map<(i) -> (i)>
func.func @step(%a: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-error @below {{expected step 6 to divide the extent 8 of dimension 0}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>)
      attrs = {dataflow.schedule = #dataflow.schedule<order = [0, 0], steps = [6, 2], tile = [2], unroll = [1]>} {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Two divides the largest number of rows, 8, but not 7.
#id = affine_map<(i, j) -> (i, j)>
func.func @runtime_tile(%a: tensor<8x4xf32> {dataflow.dims = ["seq max 8", ""]}) -> (tensor<8x4xf32> {dataflow.dims = ["seq max 8", ""]}) attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  %e = tensor.empty() : tensor<8x4xf32>
  // expected-error @below {{expected one loop with tile 1 over dimension 0, whose extent 'seq' is known at run time only}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>)
      attrs = {dataflow.dims = ["seq max 8", ""], dataflow.schedule = #dataflow.schedule<order = [0, 1], tile = [2, 4], unroll = [1, 4]>} {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// The same in two loops: blocks of 4 rows, row by row.
#id = affine_map<(i, j) -> (i, j)>
func.func @runtime_blocks(%a: tensor<8x4xf32> {dataflow.dims = ["seq max 8", ""]}) -> (tensor<8x4xf32> {dataflow.dims = ["seq max 8", ""]}) attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  %e = tensor.empty() : tensor<8x4xf32>
  // expected-error @below {{expected one loop with tile 1 over dimension 0, whose extent 'seq' is known at run time only}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<8x4xf32>) outs(%e : tensor<8x4xf32>)
      attrs = {dataflow.dims = ["seq max 8", ""], dataflow.schedule = #dataflow.schedule<order = [0, 1, 0], steps = [4, 4, 1], tile = [1, 4], unroll = [1, 4]>} {
  ^bb0(%x: f32, %o: f32):
    %s = math.exp %x : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Windows of three of seq + 2 values: the line buffer has no run-time size.
#window = affine_map<(i, j) -> (i + j)>
#id = affine_map<(i, j) -> (i, j)>
func.func @runtime_windows(%a: tensor<10xf32> {dataflow.dims = ["seq max 8 + 2"]}) -> (tensor<8x3xf32> {dataflow.dims = ["seq max 8", ""]}) attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  %e = tensor.empty() : tensor<8x3xf32>
  // expected-error @below {{expected windows of a tensor of known size but dimension 0 is 'seq'; export the module with this size fixed}}
  %0 = linalg.generic {indexing_maps = [#window, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<10xf32>) outs(%e : tensor<8x3xf32>)
      attrs = {dataflow.dims = ["seq max 8", ""], dataflow.schedule = #dataflow.schedule<order = [0, 1], tile = [1, 1], unroll = [1, 1]>} {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<8x3xf32>
  return %0 : tensor<8x3xf32>
}

// -----

// Positions and offsets are two loops over one dimension of the image; a token
// cannot be both.
#window = affine_map<(i, j) -> (i + j)>
#id = affine_map<(i, j) -> (i, j)>
func.func @window_tile(%a: tensor<6xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  // expected-error @below {{expected tokens of neighbours along one dimension of the source but got tile [2, 3]}}
  %0 = linalg.generic {indexing_maps = [#window, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<6xf32>) outs(%e : tensor<4x3xf32>)
      attrs = {dataflow.schedule = #dataflow.schedule<order = [0, 1], tile = [2, 3], unroll = [1, 1]>} {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Every second position: neighbours of the result are none of the source.
#window = affine_map<(i, j) -> (i * 2 + j)>
#id = affine_map<(i, j) -> (i, j)>
func.func @window_stride(%a: tensor<9xf32>) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  // expected-error @below {{expected tokens of neighbours along one dimension of the source but got tile [2, 1]}}
  %0 = linalg.generic {indexing_maps = [#window, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<9xf32>) outs(%e : tensor<4x3xf32>)
      attrs = {dataflow.schedule = #dataflow.schedule<order = [0, 1], tile = [2, 1], unroll = [1, 1]>} {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// -----

// Tokens of 4 would cross the cuts, at 3 and 5, at 6, and at 2.
func.func @slice(%a: tensor<8xf32>) -> tensor<2xf32> {
  // expected-error @below {{expected the outermost step 4 to divide every part of dimension 0 but one is 3}}
  %0 = tensor.extract_slice %a[3] [2] [1] {dataflow.schedule = #dataflow.schedule<order = [0], tile = [4], unroll = [1]>} : tensor<8xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @concat(%a: tensor<6xf32>, %b: tensor<2xf32>) -> tensor<8xf32> {
  // expected-error @below {{expected the outermost step 4 to divide every part of dimension 0 but one is 6}}
  %0 = tensor.concat dim(0) %a, %b {dataflow.schedule = #dataflow.schedule<order = [0], tile = [4], unroll = [1]>} : (tensor<6xf32>, tensor<2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @pad(%a: tensor<4xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{expected the outermost step 4 to divide every part of dimension 0 but one is 2}}
  %0 = tensor.pad %a low[2] high[2] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } {dataflow.schedule = #dataflow.schedule<order = [0], tile = [4], unroll = [1]>} : tensor<4xf32> to tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
func.func @start(%a: tensor<8xf32>, %start: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{expected the init of a reduction to be a linalg.fill}}
  %0 = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%a : tensor<8xf32>) outs(%start : tensor<f32>)
      attrs = {dataflow.schedule = #dataflow.schedule<order = [0], tile = [1], unroll = [1]>} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>
func.func @scalar(%a: tensor<8xf32>, %b: f32) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-error @below {{expected tensor inputs}}
  %0 = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel"]} ins(%a, %b : tensor<8xf32>, f32) outs(%e : tensor<8xf32>)
      attrs = {dataflow.schedule = #dataflow.schedule<order = [0], tile = [1], unroll = [1]>} {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// The body uses a value that is no constant.
#id = affine_map<(i) -> (i)>
func.func @captured(%a: tensor<8xf32>, %b: f32) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  // expected-error @below {{expected a value from outside its body to be a constant but got}}
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>)
      attrs = {dataflow.schedule = #dataflow.schedule<order = [0], tile = [1], unroll = [1]>} {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %b : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
