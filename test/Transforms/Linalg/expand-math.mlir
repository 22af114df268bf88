// RUN: streamtensor-opt %s --st-expand-math | FileCheck %s

// x^3 = (x x) x
// CHECK-LABEL: func.func @cube
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-NEXT: %[[S:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: %[[C:.*]] = arith.mulf %[[S]], %[[X]] : f32
// CHECK-NEXT: return %[[C]]
func.func @cube(%x: f32) -> f32 {
  %c3 = arith.constant 3 : i64
  %y = math.fpowi %x, %c3 : f32, i64
  return %y : f32
}

// x^6 = x^4 x^2, 6 = 110b: two squarings, one product.
// CHECK-LABEL: func.func @sixth
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-NEXT: %[[X2:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK-NEXT: %[[X4:.*]] = arith.mulf %[[X2]], %[[X2]] : f32
// CHECK-NEXT: %[[X6:.*]] = arith.mulf %[[X4]], %[[X2]] : f32
// CHECK-NEXT: return %[[X6]]
func.func @sixth(%x: f32) -> f32 {
  %c = arith.constant 6.000000e+00 : f32
  %y = math.powf %x, %c : f32
  return %y : f32
}

// CHECK-LABEL: func.func @inverse_square
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[S:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK: %[[Y:.*]] = arith.divf %[[ONE]], %[[S]] : f32
// CHECK-NEXT: return %[[Y]]
func.func @inverse_square(%x: f32) -> f32 {
  %c = arith.constant -2 : i32
  %y = math.fpowi %x, %c : f32, i32
  return %y : f32
}

// CHECK-LABEL: func.func @roots
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-DAG: %[[S:.*]] = math.sqrt %[[X]] : f32
// CHECK-DAG: %[[R:.*]] = math.rsqrt %[[X]] : f32
// CHECK: return %[[S]], %[[R]]
func.func @roots(%x: f32) -> (f32, f32) {
  %half = arith.constant 5.000000e-01 : f32
  %minus = arith.constant -5.000000e-01 : f32
  %s = math.powf %x, %half : f32
  %r = math.powf %x, %minus : f32
  return %s, %r : f32, f32
}

// x^0 is 1 for every x, NaN included; x^1 is x.
// CHECK-LABEL: func.func @trivial
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-NEXT: return %[[ONE]], %[[X]]
func.func @trivial(%x: f32) -> (f32, f32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %a = math.fpowi %x, %c0 : f32, i64
  %b = math.fpowi %x, %c1 : f32, i64
  return %a, %b : f32, f32
}

// Beyond the eighth power, and for fractions, the function stays.
// CHECK-LABEL: func.func @real_power
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-DAG: %[[NINE:.*]] = arith.constant 9.000000e+00 : f32
// CHECK-DAG: %[[THIRD:.*]] = arith.constant 3.000000e-01 : f32
// CHECK-DAG: math.powf %[[X]], %[[NINE]] : f32
// CHECK-DAG: math.powf %[[X]], %[[THIRD]] : f32
func.func @real_power(%x: f32) -> (f32, f32) {
  %c9 = arith.constant 9 : i64
  %c = arith.constant 3.000000e-01 : f32
  %a = math.fpowi %x, %c9 : f32, i64
  %b = math.powf %x, %c : f32
  return %a, %b : f32, f32
}

// log(1 + x): the correction x / (u - 1) of the rounding of u = 1 + x.
// CHECK-LABEL: func.func @log1p
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK-DAG: %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK: %[[U:.*]] = arith.addf %[[X]], %[[ONE]] : f32
// CHECK: %[[LOG:.*]] = math.log %[[U]] : f32
// CHECK: %[[D:.*]] = arith.subf %[[U]], %[[ONE]] : f32
// CHECK: %[[RATIO:.*]] = arith.divf %[[X]], %[[D]] : f32
// CHECK: %[[Y:.*]] = arith.mulf %[[LOG]], %[[RATIO]] : f32
// CHECK: %[[IS_ONE:.*]] = arith.cmpf oeq, %[[U]], %[[ONE]] : f32
// CHECK: %[[SMALL:.*]] = arith.select %[[IS_ONE]], %[[X]], %[[Y]] : f32
// CHECK: %[[ABS:.*]] = math.absf %[[X]] : f32
// CHECK: %[[LARGE:.*]] = arith.cmpf ogt, %[[ABS]], %[[HALF]] : f32
// CHECK: %[[R:.*]] = arith.select %[[LARGE]], %[[LOG]], %[[SMALL]] : f32
// CHECK: return %[[R]]
func.func @log1p(%x: f32) -> f32 {
  %y = math.log1p %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @expm1
// CHECK-NOT: math.expm1
// CHECK: math.exp
// CHECK-NOT: math.expm1
// CHECK: return
func.func @expm1(%x: f32) -> f32 {
  %y = math.expm1 %x : f32
  return %y : f32
}

// 1 / ln 2 = 1.44269504, 1 / ln 10 = 0.434294482; the nearest f32 print so.
// CHECK-LABEL: func.func @other_bases
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-DAG: %[[C2:.*]] = arith.constant 1.44269502 : f32
// CHECK-DAG: %[[C10:.*]] = arith.constant 0.434294492 : f32
// CHECK-DAG: %[[E:.*]] = math.powf %[[TWO]], %[[X]] : f32
// CHECK-DAG: %[[L2:.*]] = arith.mulf %{{.*}}, %[[C2]] : f32
// CHECK-DAG: %[[L10:.*]] = arith.mulf %{{.*}}, %[[C10]] : f32
// CHECK: return %[[E]], %[[L2]], %[[L10]]
func.func @other_bases(%x: f32) -> (f32, f32, f32) {
  %e = math.exp2 %x : f32
  %l2 = math.log2 %x : f32
  %l10 = math.log10 %x : f32
  return %e, %l2, %l10 : f32, f32, f32
}
