// RUN: streamtensor-opt %s --st-fuse-elementwise --split-input-file | FileCheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A chain becomes one generic.
// CHECK-LABEL: func.func @chain
// CHECK: linalg.generic
// CHECK: arith.negf
// CHECK-NEXT: math.exp
// CHECK-NEXT: linalg.yield
// CHECK-NOT: linalg.generic
func.func @chain(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %b : tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The square of a norm is evaluated once per element inside the sum.
// CHECK-LABEL: func.func @square_sum
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %[[OUT:.*]]: f32):
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[IN]], %[[IN]] : f32
// CHECK-NEXT: arith.addf
// CHECK-NOT: linalg.generic
func.func @square_sum(%x: tensor<4x8xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.mulf %in, %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %er = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%er : tensor<4xf32>) -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#vec = affine_map<(d0) -> (d0)>

// The reciprocal root of a row is read for all 8 elements: fused, it would be
// computed 8 times per row.
// CHECK-LABEL: func.func @row_scale
// CHECK: linalg.generic
// CHECK: math.rsqrt
// CHECK: linalg.generic
// CHECK-NOT: math.rsqrt
// CHECK: return
func.func @row_scale(%x: tensor<4x8xf32>, %v: tensor<4xf32>) -> tensor<4x8xf32> {
  %ev = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#vec, #vec], iterator_types = ["parallel"]}
      ins(%v : tensor<4xf32>) outs(%ev : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.rsqrt %in : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %r : tensor<4x8xf32>, tensor<4xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// A gate in front of a product is read once per output column: it stays.
// CHECK-LABEL: func.func @gate_before_product
// CHECK-COUNT-2: linalg.generic
func.func @gate_before_product(%x: tensor<4x8xf32>, %w: tensor<6x8xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.000000e+00 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.tanh %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %ey = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%ey : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%g, %w : tensor<4x8xf32>, tensor<6x8xf32>) outs(%f : tensor<4x6xf32>) {
  ^bb0(%l: f32, %r: f32, %out: f32):
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %out, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>

// Two users: both would compute the exponential.
// CHECK-LABEL: func.func @two_users
// CHECK-COUNT-1: math.exp
// CHECK-NOT: math.exp
func.func @two_users(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %e = tensor.empty() : tensor<4x8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.sqrt %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  return %b, %c : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A splat tensor is a scalar of the body.
// CHECK-LABEL: func.func @splat
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
// CHECK: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[X]] : tensor<4xf32>)
// CHECK: arith.mulf %{{.*}}, %[[HALF]] : f32
func.func @splat(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = arith.constant dense<5.000000e-01> : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x, %half : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>

// A causal mask from positions: the i64 tensor fuses, although it is broadcast
// and has two users.
// CHECK-LABEL: func.func @positions
// CHECK-NOT: xi64
// CHECK: linalg.index 1 : index
// CHECK-NOT: xi64
func.func @positions(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.000000e+00 : f32
  %ei = tensor.empty() : tensor<8xi64>
  %p = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%ei : tensor<8xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %0 = arith.index_cast %i : index to i64
    linalg.yield %0 : i64
  } -> tensor<8xi64>
  %e = tensor.empty() : tensor<4x8xf32>
  %c2 = arith.constant 2 : i64
  %y = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %p : tensor<4x8xf32>, tensor<8xi64>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: i64, %out: f32):
    %0 = arith.cmpi slt, %b, %c2 : i64
    %1 = arith.select %0, %a, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %z = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %p : tensor<4x8xf32>, tensor<8xi64>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: i64, %out: f32):
    %0 = arith.cmpi sgt, %b, %c2 : i64
    %1 = arith.select %0, %a, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  return %y, %z : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

#id = affine_map<(d0, d1) -> (d0, d1)>
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>

// The sign extensions move into the product. The quantization does not: it would
// be computed again for every column of the result.
// CHECK-LABEL: func.func @quantized
// CHECK: %[[Q:.*]] = linalg.generic
// CHECK: math.roundeven
// CHECK-NEXT: arith.fptosi
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[Q]], %{{.*}} : tensor<4x8xi8>, tensor<6x8xi8>)
// CHECK: arith.extsi
// CHECK-NEXT: arith.extsi
// CHECK-NEXT: arith.muli
// CHECK-NOT: linalg.generic
func.func @quantized(%x: tensor<4x8xf32>, %w: tensor<6x8xi8>) -> tensor<4x6xi32> {
  %zero = arith.constant 0 : i32
  %e8 = tensor.empty() : tensor<4x8xi8>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%e8 : tensor<4x8xi8>) {
  ^bb0(%in: f32, %out: i8):
    %0 = math.roundeven %in : f32
    %1 = arith.fptosi %0 : f32 to i8
    linalg.yield %1 : i8
  } -> tensor<4x8xi8>
  %eq = tensor.empty() : tensor<4x8xi32>
  %wideq = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<4x8xi8>) outs(%eq : tensor<4x8xi32>) {
  ^bb0(%in: i8, %out: i32):
    %0 = arith.extsi %in : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<4x8xi32>
  %ew = tensor.empty() : tensor<6x8xi32>
  %widew = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<6x8xi8>) outs(%ew : tensor<6x8xi32>) {
  ^bb0(%in: i8, %out: i32):
    %0 = arith.extsi %in : i8 to i32
    linalg.yield %0 : i32
  } -> tensor<6x8xi32>
  %e = tensor.empty() : tensor<4x6xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4x6xi32>) -> tensor<4x6xi32>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%wideq, %widew : tensor<4x8xi32>, tensor<6x8xi32>) outs(%f : tensor<4x6xi32>) {
  ^bb0(%l: i32, %r: i32, %out: i32):
    %0 = arith.muli %l, %r : i32
    %1 = arith.addi %0, %out : i32
    linalg.yield %1 : i32
  } -> tensor<4x6xi32>
  return %y : tensor<4x6xi32>
}

// -----

#bytes = affine_map<(d0, d1, d2) -> (d0, d2)>
#halves = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#sum = affine_map<(d0, d1, d2) -> (d0)>

// Bytes are taken apart where they are used: one operation, which reads each
// byte for both of its halves.
// CHECK-LABEL: func.func @halves_of_bytes
// CHECK: linalg.generic
// CHECK-SAME: ins(%arg0 : tensor<4x8xi8>)
// CHECK: linalg.index 1
// CHECK: arith.shrsi
// CHECK: arith.select
// CHECK: arith.addi
// CHECK-NOT: linalg.generic
func.func @halves_of_bytes(%x: tensor<4x8xi8>) -> tensor<4xi8> {
  %c15 = arith.constant 15 : i8
  %c4 = arith.constant 4 : i8
  %zero = arith.constant 0 : i8
  %first = arith.constant 0 : index
  %e = tensor.empty() : tensor<4x2x8xi8>
  %a = linalg.generic {indexing_maps = [#bytes, #halves], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<4x8xi8>) outs(%e : tensor<4x2x8xi8>) {
  ^bb0(%in: i8, %out: i8):
    %half = linalg.index 1 : index
    %is_low = arith.cmpi eq, %half, %first : index
    %shifted = arith.shrsi %in, %c4 : i8
    %0 = arith.select %is_low, %in, %shifted : i8
    %1 = arith.andi %0, %c15 : i8
    linalg.yield %1 : i8
  } -> tensor<4x2x8xi8>
  %f = tensor.empty() : tensor<4xi8>
  %init = linalg.fill ins(%zero : i8) outs(%f : tensor<4xi8>) -> tensor<4xi8>
  %r = linalg.generic {indexing_maps = [#halves, #sum], iterator_types = ["parallel", "reduction", "reduction"]}
      ins(%a : tensor<4x2x8xi8>) outs(%init : tensor<4xi8>) {
  ^bb0(%in: i8, %out: i8):
    %0 = arith.addi %in, %out : i8
    linalg.yield %0 : i8
  } -> tensor<4xi8>
  return %r : tensor<4xi8>
}

// -----

#id = affine_map<(d0) -> (d0)>

// Halves are widened where they are used, so that streams carry 16 bits.
// CHECK-LABEL: func.func @widened_twice
// CHECK-COUNT-2: ins(%{{.*}}arg0{{.*}} : tensor<8xf16>
// CHECK-NOT: linalg.generic
func.func @widened_twice(%x: tensor<8xf16>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf16>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f16, %out: f32):
    %0 = arith.extf %in : f16 to f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.sqrt %in : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %b, %c : tensor<8xf32>, tensor<8xf32>
}
