// RUN: streamtensor-opt %s --st-bound-reductions --split-input-file | FileCheck %s

// The widths are worked out by hand beside each case.

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// 32 products of a code of 0 to 15 and an activation of -128 to 127: from
// 32 * 15 * -128 = -61440 to 60960. 2^15 is less, 2^16 is more: 17 bits.
// CHECK-LABEL: func.func @nibbles
// CHECK: linalg.generic {{.*}} attrs = {dataflow.bits = 17 : i64}
func.func @nibbles(%w: tensor<4x32xi8>, %x: tensor<4x32xi8>) -> tensor<4xi32> {
  %zero = arith.constant 0 : i32
  %mask = arith.constant 15 : i8
  %e = tensor.empty() : tensor<4xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
  %s = linalg.generic {indexing_maps = [#id, #id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%w, %x : tensor<4x32xi8>, tensor<4x32xi8>) outs(%f : tensor<4xi32>) {
  ^bb0(%a: i8, %b: i8, %out: i32):
    %code = arith.andi %a, %mask : i8
    %wide = arith.extsi %code : i8 to i32
    %other = arith.extsi %b : i8 to i32
    %p = arith.muli %wide, %other : i32
    %sum = arith.addi %out, %p : i32
    linalg.yield %sum : i32
  } -> tensor<4xi32>
  return %s : tensor<4xi32>
}

// -----

// One term more or less: 8 * 127 * 32 = 32512 fits 16 bits, and so do 32 terms;
// 33 terms of 8 * 127 = 1016 are 33528, which do not.
// CHECK-LABEL: func.func @one_more
// CHECK: linalg.generic {{.*}} attrs = {dataflow.bits = 16 : i64}
// CHECK: linalg.generic {{.*}} attrs = {dataflow.bits = 17 : i64}
#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
func.func @one_more(%x: tensor<32xi8>, %y: tensor<33xi8>) -> (tensor<i32>, tensor<i32>) {
  %zero = arith.constant 0 : i32
  %low = arith.constant -127 : i8
  %eight = arith.constant 8 : i32
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %s = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]}
      ins(%x : tensor<32xi8>) outs(%f : tensor<i32>) {
  ^bb0(%a: i8, %out: i32):
    %c = arith.maxsi %a, %low : i8
    %wide = arith.extsi %c : i8 to i32
    %p = arith.muli %wide, %eight : i32
    %sum = arith.addi %p, %out : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %t = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]}
      ins(%y : tensor<33xi8>) outs(%f : tensor<i32>) {
  ^bb0(%a: i8, %out: i32):
    %c = arith.maxsi %a, %low : i8
    %wide = arith.extsi %c : i8 to i32
    %p = arith.muli %wide, %eight : i32
    %sum = arith.addi %p, %out : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  return %s, %t : tensor<i32>, tensor<i32>
}

// -----

// A float that is clamped to -100 to 100.5 before it becomes an integer, in a
// slice: 60 numbers of -100 to 101, added to 10240. They end at 4240 and 16300,
// below 2^14: 15 bits. Without the clamp, 10240 + 60 * 127 needs 16.
// CHECK-LABEL: func.func @clamped
// CHECK: linalg.generic
// CHECK-NOT: dataflow.bits
// CHECK: linalg.generic {{.*}} attrs = {dataflow.bits = 15 : i64}
#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
func.func @clamped(%x: tensor<64xf32>) -> tensor<i32> {
  %zero = arith.constant 0 : i32
  %low = arith.constant -100.0 : f32
  %high = arith.constant 100.5 : f32
  %e8 = tensor.empty() : tensor<64xi8>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<64xf32>) outs(%e8 : tensor<64xi8>) {
  ^bb0(%a: f32, %out: i8):
    %less = arith.cmpf ult, %a, %low : f32
    %b = arith.select %less, %low, %a : f32
    %c = arith.minimumf %b, %high : f32
    %d = math.roundeven %c : f32
    %i = arith.fptosi %d : f32 to i8
    linalg.yield %i : i8
  } -> tensor<64xi8>
  %part = tensor.extract_slice %q[0] [60] [1] : tensor<64xi8> to tensor<60xi8>
  %e = tensor.empty() : tensor<i32>
  %start = arith.constant 10240 : i32
  %f = linalg.fill ins(%start : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %s = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]}
      ins(%part : tensor<60xi8>) outs(%f : tensor<i32>) {
  ^bb0(%a: i8, %out: i32):
    %wide = arith.extsi %a : i8 to i32
    %sum = arith.addi %wide, %out : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  return %s : tensor<i32>
}

// -----

// All bits, a product, a maximum: nothing is said.
// CHECK-LABEL: func.func @unbounded
// CHECK-NOT: dataflow.bits
#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
func.func @unbounded(%x: tensor<4xi32>, %y: tensor<4xi8>) -> (tensor<i32>, tensor<i8>) {
  %zero = arith.constant 0 : i32
  %least = arith.constant -128 : i8
  %e = tensor.empty() : tensor<i32>
  %e8 = tensor.empty() : tensor<i8>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %g = linalg.fill ins(%least : i8) outs(%e8 : tensor<i8>) -> tensor<i8>
  %s = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]}
      ins(%x : tensor<4xi32>) outs(%f : tensor<i32>) {
  ^bb0(%a: i32, %out: i32):
    %sum = arith.addi %a, %out : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %m = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]}
      ins(%y : tensor<4xi8>) outs(%g : tensor<i8>) {
  ^bb0(%a: i8, %out: i8):
    %max = arith.maxsi %a, %out : i8
    linalg.yield %max : i8
  } -> tensor<i8>
  return %s, %m : tensor<i32>, tensor<i8>
}

// -----

// Codes of -8 to 7 times -128 to 127: 32 times -8 * -128 are 2^15, one more than
// 16 bits hold; 31 times are 31744, and 31 * -8 * 127 = -31496.
// CHECK-LABEL: func.func @signed_codes
// CHECK: linalg.generic {{.*}} attrs = {dataflow.bits = 17 : i64}
// CHECK: linalg.generic {{.*}} attrs = {dataflow.bits = 16 : i64}
#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
func.func @signed_codes(%w: tensor<32xi8>, %x: tensor<32xi8>, %v: tensor<31xi8>, %y: tensor<31xi8>) -> (tensor<i32>, tensor<i32>) {
  %zero = arith.constant 0 : i32
  %four = arith.constant 4 : i8
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %s = linalg.generic {indexing_maps = [#id, #id, #all], iterator_types = ["reduction"]}
      ins(%w, %x : tensor<32xi8>, tensor<32xi8>) outs(%f : tensor<i32>) {
  ^bb0(%a: i8, %b: i8, %out: i32):
    %code = arith.shrsi %a, %four : i8
    %wide = arith.extsi %code : i8 to i32
    %other = arith.extsi %b : i8 to i32
    %p = arith.muli %wide, %other : i32
    %sum = arith.addi %p, %out : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %t = linalg.generic {indexing_maps = [#id, #id, #all], iterator_types = ["reduction"]}
      ins(%v, %y : tensor<31xi8>, tensor<31xi8>) outs(%f : tensor<i32>) {
  ^bb0(%a: i8, %b: i8, %out: i32):
    %code = arith.shrsi %a, %four : i8
    %wide = arith.extsi %code : i8 to i32
    %other = arith.extsi %b : i8 to i32
    %p = arith.muli %wide, %other : i32
    %sum = arith.addi %p, %out : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  return %s, %t : tensor<i32>, tensor<i32>
}

// -----

// Limits in another generic than the conversion, rounded to bf16, which has
// eight digits: 258.0 is one of its numbers, 257.0 lies between 256 and 258 and
// goes to 256, which is even. 100 numbers of -256 to 258: 25800, 16 bits.
// CHECK-LABEL: func.func @clamped_elsewhere
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: linalg.generic {{.*}} attrs = {dataflow.bits = 16 : i64}
#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
func.func @clamped_elsewhere(%x: tensor<100xf32>) -> (tensor<100xbf16>, tensor<i32>) {
  %zero = arith.constant 0 : i32
  %low = arith.constant -257.0 : f32
  %high = arith.constant 258.0 : f32
  %eh = tensor.empty() : tensor<100xbf16>
  %e16 = tensor.empty() : tensor<100xi16>
  %c = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<100xf32>) outs(%eh : tensor<100xbf16>) {
  ^bb0(%a: f32, %out: bf16):
    %b = arith.maximumf %a, %low : f32
    %d = arith.minimumf %b, %high : f32
    %r = arith.truncf %d : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<100xbf16>
  %q = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%c : tensor<100xbf16>) outs(%e16 : tensor<100xi16>) {
  ^bb0(%a: bf16, %out: i16):
    %wide = arith.extf %a : bf16 to f32
    %i = arith.fptosi %wide : f32 to i16
    linalg.yield %i : i16
  } -> tensor<100xi16>
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %s = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]}
      ins(%q : tensor<100xi16>) outs(%f : tensor<i32>) {
  ^bb0(%a: i16, %out: i32):
    %wide = arith.extsi %a : i16 to i32
    %sum = arith.addi %wide, %out : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  return %c, %s : tensor<100xbf16>, tensor<i32>
}

// -----

// Positions of 0 to 63, 64 of them: 4032 at most, 13 bits. Absolute values of
// numbers that are at least -127: 64 * 127 = 8128, 14 bits; of all i8, -128 has
// none, and stays: 64 * -128 = -8192, 14 bits, too. What a pad brings in counts:
// 60 numbers of 0 to 3 and four of 50 are taken for 64 of 50: 3200, 13 bits.
// CHECK-LABEL: func.func @positions
// CHECK: linalg.generic {{.*}} attrs = {dataflow.bits = 13 : i64}
// CHECK: linalg.generic {{.*}} attrs = {dataflow.bits = 14 : i64}
// CHECK: linalg.generic {{.*}} attrs = {dataflow.bits = 14 : i64}
// CHECK: linalg.generic {{.*}} attrs = {dataflow.bits = 13 : i64}
#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
func.func @positions(%x: tensor<64xi8>, %short: tensor<60xi8>) -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) {
  %zero = arith.constant 0 : i32
  %low = arith.constant -127 : i8
  %three = arith.constant 3 : i8
  %none = arith.constant 0 : i8
  %fifty = arith.constant 50 : i8
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %p = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]}
      ins(%x : tensor<64xi8>) outs(%f : tensor<i32>) {
  ^bb0(%a: i8, %out: i32):
    %i = linalg.index 0 : index
    %wide = arith.index_cast %i : index to i32
    %sum = arith.addi %wide, %out : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %q = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]}
      ins(%x : tensor<64xi8>) outs(%f : tensor<i32>) {
  ^bb0(%a: i8, %out: i32):
    %c = arith.maxsi %a, %low : i8
    %abs = math.absi %c : i8
    %wide = arith.extsi %abs : i8 to i32
    %sum = arith.addi %wide, %out : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %r = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]}
      ins(%x : tensor<64xi8>) outs(%f : tensor<i32>) {
  ^bb0(%a: i8, %out: i32):
    %abs = math.absi %a : i8
    %wide = arith.extsi %abs : i8 to i32
    %sum = arith.addi %wide, %out : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  %e8 = tensor.empty() : tensor<60xi8>
  %g = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%short : tensor<60xi8>) outs(%e8 : tensor<60xi8>) {
  ^bb0(%a: i8, %out: i8):
    %c = arith.maxsi %a, %none : i8
    %d = arith.minsi %c, %three : i8
    linalg.yield %d : i8
  } -> tensor<60xi8>
  %padded = tensor.pad %g low[2] high[2] {
  ^bb0(%i: index):
    tensor.yield %fifty : i8
  } : tensor<60xi8> to tensor<64xi8>
  %s = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]}
      ins(%padded : tensor<64xi8>) outs(%f : tensor<i32>) {
  ^bb0(%a: i8, %out: i32):
    %wide = arith.extsi %a : i8 to i32
    %sum = arith.addi %wide, %out : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  return %p, %q, %r, %s : tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>
}

// -----

// A length that is not known bounds nothing.
// CHECK-LABEL: func.func @unknown_length
// CHECK-NOT: dataflow.bits
#id = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
func.func @unknown_length(%x: tensor<?xi8>) -> tensor<i32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %s = linalg.generic {indexing_maps = [#id, #all], iterator_types = ["reduction"]}
      ins(%x : tensor<?xi8>) outs(%f : tensor<i32>) {
  ^bb0(%a: i8, %out: i32):
    %wide = arith.extsi %a : i8 to i32
    %sum = arith.addi %wide, %out : i32
    linalg.yield %sum : i32
  } -> tensor<i32>
  return %s : tensor<i32>
}
