// RUN: streamtensor-opt %s --st-verify-normalized --split-input-file --verify-diagnostics

// A legal function: nothing is reported.
func.func @legal(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<6x8xf32>) outs(%f : tensor<4x6xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

func.func @named(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  // expected-error @below {{'linalg.transpose' op is not part of the normalized form}}
  %y = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
  // expected-error @below {{expected an operation to produce result #0 but got an argument or a constant}}
  return %y : tensor<8x4xf32>
}

// -----

// expected-error @below {{argument #0: expected elements of type f32, f16, bf16 or signless integers but got 'tensor<4xf64>'}}
// expected-error @below {{result #0: expected elements of type f32, f16, bf16 or signless integers but got 'tensor<4xf64>'}}
func.func @element_type(%x: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error @below {{expected an operation to produce result #0 but got an argument or a constant}}
  return %x : tensor<4xf64>
}

// -----

// expected-error @below {{argument #0: expected a static shape but got 'tensor<?xf32>'}}
// expected-error @below {{argument #1: expected a ranked tensor but got 'i64'}}
// expected-error @below {{argument #2: expected a tensor with elements but got 'tensor<0x4xf32>'}}
func.func @shape(%x: tensor<?xf32>, %n: i64, %z: tensor<0x4xf32>) {
  return
}

// -----

func.func @constant_map(%x: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  // expected-error @below {{expected projected permutations as indexing maps but got affine_map<(d0, d1) -> (d0, 0)>}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x1xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @loop_order(%x: tensor<4x8xf32>) -> tensor<8x4xf32> {
  %e = tensor.empty() : tensor<8x4xf32>
  // expected-error @below {{expected the result's dimensions as outermost loops, in order, but got affine_map<(d0, d1) -> (d1, d0)>}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x4xf32>
  return %y : tensor<8x4xf32>
}

// -----

func.func @reduction_into_tensor(%x: tensor<4x8xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected a fill of a constant as start value of the reduction}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @start_value_read(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{expected no start value without reduction loops}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The running value is scaled before it is combined: order would matter.
func.func @no_combination(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{expected a body that combines the running value with one operation}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %out, %in : f32
    %1 = arith.addf %0, %in : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @two_results(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{expected one result but got 2}}
  %y:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e, %e : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32, %out2: f32):
    linalg.yield %in, %in : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  return %y#0, %y#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @double_body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    // expected-error @below {{expected a scalar of type 'f32', an integer or an index but got 'f64'}}
    %0 = arith.extf %in : f32 to f64
    %1 = arith.truncf %0 : f64 to f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @strided_slice(%x: tensor<4x16xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{expected unit strides but got stride 2 in dimension 1}}
  %s = tensor.extract_slice %x[0, 0] [4, 8] [1, 2] : tensor<4x16xf32> to tensor<4x8xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

func.func @rank_reducing_slice(%x: tensor<4x16xf32>) -> tensor<16xf32> {
  // expected-error @below {{expected a slice of the same rank but got 'tensor<16xf32>'}}
  %s = tensor.extract_slice %x[1, 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%s : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<16xf32>
  return %y : tensor<16xf32>
}

// -----

func.func @fill_as_data(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @below {{expected a scalar instead of a splat tensor}}
  %c = arith.constant dense<1.000000e+00> : tensor<2xf32>
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<2xf32>
  // expected-error @below {{expected only start values of operations as uses but got 'tensor.concat'}}
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2xf32>) -> tensor<2xf32>
  %y = tensor.concat dim(0) %x, %f, %c : (tensor<4xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

func.func @result_twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  // expected-error @below {{expected distinct results but result #1 is another result too}}
  return %y, %y : tensor<4xf32>, tensor<4xf32>
}

// -----

#id = affine_map<(i) -> (i)>
func.func @no_scalar_operation(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    // expected-error @below {{expected only scalar operations in the body}}
    %s = tensor.from_elements %in : tensor<1xf32>
    linalg.yield %in : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

#id = affine_map<(i) -> (i)>
func.func @dynamic_slice(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected a ranked tensor but got 'index'}}
  %i = tensor.rank %x : tensor<8xf32>
  // expected-error @below {{expected static offsets and sizes}}
  %s = tensor.extract_slice %x[%i] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%s : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

func.func @computed_pad(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @below {{expected constant amounts and a constant value}}
  %y = tensor.pad %x low[2] high[2] {
  ^bb0(%i: index):
    %c = arith.constant 1.0 : f32
    %n = arith.negf %c : f32
    tensor.yield %n : f32
  } : tensor<4xf32> to tensor<8xf32>
  return %y : tensor<8xf32>
}

// -----

#id = affine_map<(i) -> (i)>
func.func @resource(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expected dense elements}}
  %c = arith.constant dense_resource<table> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %c : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %table: f32, %out: f32):
    %s = arith.addf %in, %table : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      table: "0x040000000000803F0000803F0000803F0000803F"
    }
  }
#-}
