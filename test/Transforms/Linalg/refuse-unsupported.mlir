// RUN: streamtensor-opt %s --st-refuse-unsupported --split-input-file --verify-diagnostics

// What the models of data contain: nothing is refused. The index half of the
// maximum is unused; f64 inside the function is demoted later.
func.func @softmax_max(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : i64
  %low = arith.constant 0xFF800000 : f32
  %eps = arith.constant 1.000000e-05 : f64
  %ei = tensor.empty() : tensor<4xi64>
  %ef = tensor.empty() : tensor<4xf32>
  %fi = linalg.fill ins(%c0 : i64) outs(%ei : tensor<4xi64>) -> tensor<4xi64>
  %ff = linalg.fill ins(%low : f32) outs(%ef : tensor<4xf32>) -> tensor<4xf32>
  %m:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%ff, %fi : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %out: f32, %index: i64):
    %i = linalg.index 1 : index
    %ii = arith.index_cast %i : index to i64
    %max = arith.maximumf %in, %out : f32
    %greater = arith.cmpf ogt, %in, %out : f32
    %argmax = arith.select %greater, %ii, %index : i64
    linalg.yield %max, %argmax : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  %ed = tensor.empty() : tensor<4xf64>
  %d = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%m#0 : tensor<4xf32>) outs(%ed : tensor<4xf64>) {
  ^bb0(%in: f32, %out: f64):
    %0 = arith.extf %in : f32 to f64
    %1 = arith.addf %0, %eps : f64
    linalg.yield %1 : f64
  } -> tensor<4xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%d : tensor<4xf64>) outs(%ef : tensor<4xf32>) {
  ^bb0(%in: f64, %out: f32):
    %0 = arith.truncf %in : f64 to f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// The index is used: the choice of an index is no sum or maximum.
// expected-error @below {{function 'argmax' cannot be compiled: 1 unsupported item}}
func.func @argmax(%x: tensor<4x8xf32>) -> tensor<4xi64> {
  %c0 = arith.constant 0 : i64
  %low = arith.constant 0xFF800000 : f32
  %ei = tensor.empty() : tensor<4xi64>
  %ef = tensor.empty() : tensor<4xf32>
  %fi = linalg.fill ins(%c0 : i64) outs(%ei : tensor<4xi64>) -> tensor<4xi64>
  %ff = linalg.fill ins(%low : f32) outs(%ef : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{its reduction is no sum, product, maximum, minimum or combination of bits}}
  %m:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%ff, %fi : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %out: f32, %index: i64):
    %i = linalg.index 1 : index
    %ii = arith.index_cast %i : index to i64
    %max = arith.maximumf %in, %out : f32
    %greater = arith.cmpf ogt, %in, %out : f32
    %argmax = arith.select %greater, %ii, %index : i64
    linalg.yield %max, %argmax : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %m#1 : tensor<4xi64>
}

// -----

// expected-error @below {{unsupported argument #0}}
// expected-error @below {{its elements are f64; export the model in f32}}
// expected-error @below {{elements of type ui8 are not supported; use f32, f16, bf16, bool or signless integers of 8 to 64 bits}}
// expected-error @below {{unsupported argument #3}}
// expected-error @below {{its type 'tensor<?x4xf32>' has a dynamic dimension; export with fixed shapes, or give the sizes of the dynamic dimensions (--dims)}}
// expected-error @below {{cannot be compiled: 6 unsupported items}}
func.func @signature(%a: tensor<?x4xf32>, %b: tensor<4xf64>, %c: tensor<4xui8>, %d: i64) -> tensor<?x4xf32> {
  %s = tensor.extract_slice %a[0, 0] [2, 4] [1, 1] : tensor<?x4xf32> to tensor<2x4xf32>
  // expected-error @below {{unsupported operation 'tensor.cast'}}
  %y = tensor.cast %s : tensor<2x4xf32> to tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

// Integers and 16-bit floats: nothing is refused but a conversion to one bit.
// expected-error @below {{cannot be compiled: 1 unsupported item}}
func.func @quantized(%x: tensor<4x8xf32>, %w: tensor<8x6xi8>) -> (tensor<4x6xbf16>, tensor<4x6xi1>) {
  %c0 = arith.constant 0 : i32
  %e8 = tensor.empty() : tensor<4x8xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e8 : tensor<4x8xi8>) {
  ^bb0(%in: f32, %out: i8):
    %0 = arith.fptosi %in : f32 to i8
    linalg.yield %0 : i8
  } -> tensor<4x8xi8>
  %e32 = tensor.empty() : tensor<4x6xi32>
  %f = linalg.fill ins(%c0 : i32) outs(%e32 : tensor<4x6xi32>) -> tensor<4x6xi32>
  %p = linalg.matmul ins(%q, %w : tensor<4x8xi8>, tensor<8x6xi8>) outs(%f : tensor<4x6xi32>) -> tensor<4x6xi32>
  %ef = tensor.empty() : tensor<4x6xbf16>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<4x6xi32>) outs(%ef : tensor<4x6xbf16>) {
  ^bb0(%in: i32, %out: bf16):
    %0 = arith.sitofp %in : i32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<4x6xbf16>
  %eb = tensor.empty() : tensor<4x6xi1>
  // expected-error @below {{it converts a float to one bit; compare with 0 instead}}
  %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<4x6xbf16>) outs(%eb : tensor<4x6xi1>) {
  ^bb0(%in: bf16, %out: i1):
    %0 = arith.fptoui %in : bf16 to i1
    linalg.yield %0 : i1
  } -> tensor<4x6xi1>
  return %y, %z : tensor<4x6xbf16>, tensor<4x6xi1>
}

// -----

// An embedding gathers rows by index.
// expected-error @below {{cannot be compiled: 1 unsupported item}}
func.func @embedding(%ids: tensor<3xi64>, %table: tensor<10x4xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  // expected-error @below {{it gathers elements by computed indices; run the lookup (an embedding, for example) on the host}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<3xi64>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%in: i64, %out: f32):
    %row = arith.index_cast %in : i64 to index
    %column = linalg.index 1 : index
    %0 = tensor.extract %table[%row, %column] : tensor<10x4xf32>
    linalg.yield %0 : f32
  } -> tensor<3x4xf32>
  return %y : tensor<3x4xf32>
}

// -----

// One loop twice (a diagonal) and a function of the library that no task has.
// expected-error @below {{cannot be compiled: 2 unsupported items}}
func.func @bodies(%x: tensor<6x6xf32>, %w: tensor<3xf32>) -> tensor<6xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6xf32>) -> tensor<6xf32>
  // expected-error @below {{its indexing map '(d0, d1) -> (d0, d0)' is neither a permutation of loops nor a window}}
  %a = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<6x6xf32>, tensor<3xf32>) outs(%f : tensor<6xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<6xf32>
  // expected-error @below {{its body contains 'math.cbrt', which no task can compute}}
  %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%a : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.cbrt %in : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  return %b : tensor<6xf32>
}

// -----

// A part that is inserted whole becomes a concatenation.
// expected-error @below {{cannot be compiled: 2 unsupported items}}
func.func @updates(%x: tensor<8xf32>, %y: tensor<2xf32>) -> (tensor<8xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.000000e+00 : f32
  %c = tensor.insert_slice %y into %x[2] [2] [1] : tensor<2xf32> into tensor<8xf32>
  // expected-error @below {{it overwrites elements at computed positions, or skips some; build the tensor by concatenation}}
  %a = tensor.insert_slice %y into %c[2] [2] [2] : tensor<2xf32> into tensor<8xf32>
  // expected-error @below {{it is not among the supported operations}}
  %d = tensor.splat %zero : tensor<4xf32>
  return %a, %d : tensor<8xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{cannot be compiled: 1 unsupported item}}
func.func @downwards(%x: tensor<8xf32>) -> tensor<3xf32> {
  // expected-error @below {{it takes elements in reverse order; slice with a positive stride}}
  %b = tensor.extract_slice %x[7] [3] [-1] : tensor<8xf32> to tensor<3xf32>
  return %b : tensor<3xf32>
}

// -----

// A running mean is no sum: its order matters.
// expected-error @below {{cannot be compiled: 1 unsupported item}}
func.func @recurrence(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %half = arith.constant 5.000000e-01 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{its reduction is no sum, product, maximum, minimum or combination of bits}}
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %out, %half : f32
    %1 = arith.addf %0, %in : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{unsupported function 'declaration': it has no body}}
func.func private @declaration(tensor<4xf32>) -> tensor<4xf32>

// -----

// An exported argument has its name for a location: the error stands at the
// function, which has a line, and says the name.
// expected-error-re @below {{unsupported argument #1 ('mask') at {{.*}}: its elements are f64; export the model in f32}}
// expected-error @below {{cannot be compiled: 1 unsupported item}}
func.func @mask(%x: tensor<4xf32>, %m: tensor<4xf64> loc("mask")) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{the function has more than one block; export the model with fixed control flow}}
// expected-error @below {{function 'blocks' cannot be compiled: 2 unsupported items}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{unsupported operation 'cf.br'}}
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{cannot be compiled}}
// expected-error @below {{it has no results; return the tensors to compute}}
func.func @no_results(%x: tensor<4xf32>) {
  return
}
