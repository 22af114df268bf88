// RUN: streamtensor-opt %s --st-narrow-integers | FileCheck %s

#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// A product of two i8 needs 16 bits, 32 of them 5 or 6 more: 22 at most.
// CHECK-LABEL: func.func @product_of_bytes
// CHECK: %[[FILL:.*]] = linalg.fill ins(%{{.*}} : i32) outs(%{{.*}} : tensor<4x6xi32>)
// CHECK: %[[N:.*]] = linalg.generic
// CHECK-SAME: outs(%[[FILL]] : tensor<4x6xi32>)
// CHECK: arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.muli %{{.*}} : i32
// CHECK: arith.addi %{{.*}} : i32
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[N]] : tensor<4x6xi32>)
// CHECK: arith.extsi %{{.*}} : i32 to i64
func.func @product_of_bytes(%x: tensor<4x32xi8>, %w: tensor<6x32xi8>) -> tensor<4x6xi64> {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4x6xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<4x6xi64>) -> tensor<4x6xi64>
  %y = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x32xi8>, tensor<6x32xi8>) outs(%f : tensor<4x6xi64>) {
  ^bb0(%l: i8, %r: i8, %out: i64):
    %0 = arith.extsi %l : i8 to i64
    %1 = arith.extsi %r : i8 to i64
    %2 = arith.muli %0, %1 : i64
    %3 = arith.addi %2, %out : i64
    linalg.yield %3 : i64
  } -> tensor<4x6xi64>
  return %y : tensor<4x6xi64>
}

// Products of i32 may need all 64 bits, but the only reader drops the upper
// half.
// CHECK-LABEL: func.func @truncated
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<4xi32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: i32, %[[OUT:.*]]: i32):
// CHECK-NEXT: %[[P:.*]] = arith.muli %[[IN]], %[[IN]] : i32
// CHECK-NEXT: arith.addi %[[P]], %[[OUT]] : i32
func.func @truncated(%x: tensor<4x8xi32>) -> tensor<4xi32> {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<4xi64>) -> tensor<4xi64>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xi32>) outs(%f : tensor<4xi64>) {
  ^bb0(%in: i32, %out: i64):
    %0 = arith.extsi %in : i32 to i64
    %1 = arith.muli %0, %0 : i64
    %2 = arith.addi %1, %out : i64
    linalg.yield %2 : i64
  } -> tensor<4xi64>
  %n = tensor.empty() : tensor<4xi32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%s : tensor<4xi64>) outs(%n : tensor<4xi32>) {
  ^bb0(%in: i64, %out: i32):
    %0 = arith.trunci %in : i64 to i32
    linalg.yield %0 : i32
  } -> tensor<4xi32>
  return %y : tensor<4xi32>
}

// Eight numbers of 32 bits need 35: nothing changes.
// CHECK-LABEL: func.func @needs_all_bits
// CHECK: linalg.fill ins(%{{.*}} : i64)
// CHECK: arith.addi %{{.*}} : i64
// CHECK-NOT: linalg.generic
func.func @needs_all_bits(%x: tensor<4x8xi32>) -> tensor<4xi64> {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<4xi64>) -> tensor<4xi64>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xi32>) outs(%f : tensor<4xi64>) {
  ^bb0(%in: i32, %out: i64):
    %0 = arith.extsi %in : i32 to i64
    %1 = arith.addi %0, %out : i64
    linalg.yield %1 : i64
  } -> tensor<4xi64>
  return %s : tensor<4xi64>
}

// Ends, not bits, decide: 100,000 products of two i8 are 100,000 * 16,384 =
// 1,638,400,000 at most, below 2^31, though 16 bits each and 17 for their number
// would make 33. 140,000 of them are 2,293,760,000, which is above.
// CHECK-LABEL: func.func @long_sums
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<i32>)
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<i64>)
// CHECK: arith.extsi %{{.*}} : i32 to i64
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}} : tensor<140000xi8>) outs(%{{.*}} : tensor<i64>)
#line = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
func.func @long_sums(%x: tensor<100000xi8>, %y: tensor<140000xi8>) -> (tensor<i64>, tensor<i64>) {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<i64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<i64>) -> tensor<i64>
  %s = linalg.generic {indexing_maps = [#line, #all], iterator_types = ["reduction"]}
      ins(%x : tensor<100000xi8>) outs(%f : tensor<i64>) {
  ^bb0(%in: i8, %out: i64):
    %0 = arith.extsi %in : i8 to i64
    %1 = arith.muli %0, %0 : i64
    %2 = arith.addi %1, %out : i64
    linalg.yield %2 : i64
  } -> tensor<i64>
  %t = linalg.generic {indexing_maps = [#line, #all], iterator_types = ["reduction"]}
      ins(%y : tensor<140000xi8>) outs(%f : tensor<i64>) {
  ^bb0(%in: i8, %out: i64):
    %0 = arith.extsi %in : i8 to i64
    %1 = arith.muli %0, %0 : i64
    %2 = arith.addi %1, %out : i64
    linalg.yield %2 : i64
  } -> tensor<i64>
  return %s, %t : tensor<i64>, tensor<i64>
}

// Codes that are wide, but clamped where they come from: 8 * 100 fits.
// CHECK-LABEL: func.func @clamped_elsewhere
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK-SAME: outs(%{{.*}} : tensor<4xi32>)
// CHECK: arith.trunci %{{.*}} : i64 to i32
func.func @clamped_elsewhere(%x: tensor<4x8xi64>) -> (tensor<4x8xi64>, tensor<4xi64>) {
  %zero = arith.constant 0 : i64
  %hundred = arith.constant 100 : i64
  %ex = tensor.empty() : tensor<4x8xi64>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xi64>) outs(%ex : tensor<4x8xi64>) {
  ^bb0(%in: i64, %out: i64):
    %0 = arith.maxsi %in, %zero : i64
    %1 = arith.minsi %0, %hundred : i64
    linalg.yield %1 : i64
  } -> tensor<4x8xi64>
  %e = tensor.empty() : tensor<4xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<4xi64>) -> tensor<4xi64>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<4x8xi64>) outs(%f : tensor<4xi64>) {
  ^bb0(%in: i64, %out: i64):
    %0 = arith.addi %in, %out : i64
    linalg.yield %0 : i64
  } -> tensor<4xi64>
  return %c, %s : tensor<4x8xi64>, tensor<4xi64>
}
