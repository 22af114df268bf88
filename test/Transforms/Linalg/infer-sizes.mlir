// How sizes depend on parameters, in the normalized form.
// RUN: split-file %s %t
// RUN: streamtensor-compile %t/attend.mlir --compile-to=normalized | FileCheck %t/attend.mlir
// RUN: streamtensor-compile %t/sums.mlir --compile-to=normalized | FileCheck %t/sums.mlir
// RUN: not streamtensor-compile %t/mean.mlir --dims=%t/rows.dims.json --compile-to=normalized 2>&1 | FileCheck %t/mean.mlir
// RUN: not streamtensor-compile %t/last.mlir --dims=%t/rows.dims.json --compile-to=normalized 2>&1 | FileCheck %t/last.mlir
// RUN: not streamtensor-compile %t/slice.mlir --dims=%t/rows.dims.json --compile-to=normalized 2>&1 | FileCheck %t/slice.mlir
// RUN: not streamtensor-compile %t/square.mlir --dims=%t/rows.dims.json --compile-to=normalized 2>&1 | FileCheck %t/square.mlir
// RUN: not streamtensor-compile %t/mean.mlir --dims=%t/wrong.json --compile-to=normalized 2>&1 | FileCheck %t/mean.mlir --check-prefix=WRONG
// RUN: not streamtensor-compile %t/mean.mlir --compile-to=normalized 2>&1 | FileCheck %t/mean.mlir --check-prefix=NONE
// RUN: not streamtensor-compile %t/shapes.mlir --dims=%t/rows.dims.json --compile-to=normalized 2>&1 | FileCheck %t/shapes.mlir
// RUN: not streamtensor-compile %t/rest.mlir --dims=%t/rows.dims.json --compile-to=normalized 2>&1 | FileCheck %t/rest.mlir

//--- attend.dims.json
{"dims": {"arg0.0": "seq", "arg1.0": "past"}, "min": {"past": 0}, "max": {"seq": 1, "past": 256}}

//--- attend.mlir
// A parameter of at most one still has memory for two; its smallest value is 1
// where nothing else is said.
// CHECK: func.func @append(%arg0: tensor<2x4xf32> {dataflow.dims = ["seq max 2", ""]
// CHECK-SAME: %arg1: tensor<256x4xf32> {dataflow.dims = ["past max 256", ""]
// CHECK-SAME: -> (tensor<258x4xf32> {dataflow.dims = ["past max 256 + seq max 2", ""]})
// CHECK-SAME: attributes {dataflow.parameters = {past = array<i64: 0, 256>, seq = array<i64: 1, 1>}}
// CHECK: tensor.concat dim(0) %arg1, %arg0 {dataflow.dims = ["past max 256 + seq max 2", ""]
func.func @append(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = tensor.concat dim(0) %b, %a : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

//--- sums.dims.json
{"dims": {"arg0.0": "n"}, "max": {"n": 4096}}

//--- sums.mlir
// The longest sum decides: 4096 numbers of i8 are -4096 * 128 = -2^19 at least,
// 20 bits. (Those of 1009, a size that could be tried, fit 18.) 4096 times
// 32767 * 64 is above 2^31: this sum stays in i64, and needs 34 bits, because
// 4096 * -32768 * 64 = -2^33.
// CHECK: func.func @sums(%arg0: tensor<4096xi16> {dataflow.dims = ["n max 4096"]
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<i32>) attrs = {dataflow.bits = 20 : i64
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<i64>) attrs = {dataflow.bits = 34 : i64
#line = affine_map<(d0) -> (d0)>
#all = affine_map<(d0) -> ()>
func.func @sums(%x: tensor<?xi16>) -> (tensor<i32>, tensor<i64>) {
  %zero = arith.constant 0 : i32
  %eight = arith.constant 8 : i16
  %e = tensor.empty() : tensor<i32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %s = linalg.generic {indexing_maps = [#line, #all], iterator_types = ["reduction"]}
      ins(%x : tensor<?xi16>) outs(%f : tensor<i32>) {
  ^bb0(%in: i16, %out: i32):
    %0 = arith.shrsi %in, %eight : i16
    %1 = arith.extsi %0 : i16 to i32
    %2 = arith.addi %1, %out : i32
    linalg.yield %2 : i32
  } -> tensor<i32>
  %none = arith.constant 0 : i64
  %factor = arith.constant 64 : i64
  %el = tensor.empty() : tensor<i64>
  %fl = linalg.fill ins(%none : i64) outs(%el : tensor<i64>) -> tensor<i64>
  %t = linalg.generic {indexing_maps = [#line, #all], iterator_types = ["reduction"]}
      ins(%x : tensor<?xi16>) outs(%fl : tensor<i64>) {
  ^bb0(%in: i16, %out: i64):
    %0 = arith.extsi %in : i16 to i64
    %1 = arith.muli %0, %factor : i64
    %2 = arith.addi %1, %out : i64
    linalg.yield %2 : i64
  } -> tensor<i64>
  return %s, %t : tensor<i32>, tensor<i64>
}

//--- rows.dims.json
{"dims": {"arg0.0": "rows"}, "max": {"rows": 16}}

//--- mean.mlir
// The divisor of a mean is no size of a tensor.
// CHECK: mean.mlir:{{.*}} error: 'arith.constant' has another attribute 'value', depending on the run-time sizes (rows = 1009 and others were tried); sizes may decide about shapes only: pass what else depends on them as an input
// WRONG: error: the dimensions in '{{.*}}wrong.json' do not fit function 'mean':
// WRONG-NEXT: parameter 'columns' has a minimum but no maximum
// WRONG-NEXT: expected a minimum of parameter 'rows' up to its maximum 8 but got 9
// WRONG-NEXT: expected a key like 'arg9.1' but got 'arg0'
// WRONG-NEXT: 'arg0.1' is no dynamic dimension: the argument is tensor<?x4xf32>
// WRONG-NEXT: 'arg7.0': the function has 1 arguments only
// NONE: error: the sizes of dynamic dimensions are not known: arg0.0; say them and their limits in a file for --dims, like {"dims": {"arg0.0": "seq"}, "min": {"seq": 1}, "max": {"seq": 128}}, or export the module with fixed shapes
func.func @mean(%a: tensor<?x4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %i = arith.index_cast %n : index to i64
  %count = arith.sitofp %i : i64 to f32
  %init = tensor.empty() : tensor<4xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]} ins(%a : tensor<?x4xf32>) outs(%fill : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %out : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%sum : tensor<4xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = arith.divf %in, %count : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  return %y : tensor<4xf32>
}

//--- last.mlir
// Where the last row lies depends on the number of rows.
// CHECK: last.mlir:{{.*}} error: 'tensor.extract_slice' has another attribute 'static_offsets', depending on the run-time sizes
func.func @last(%a: tensor<?x4xf32>) -> tensor<1x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %last = arith.subi %n, %c1 : index
  %y = tensor.extract_slice %a[%last, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}

//--- shapes.mlir
// Both are said: the second half of the rows would start elsewhere than in the
// largest tensor. That of eight columns does not, nor that of pairs of rows.
// CHECK-COUNT-1: error: 'tensor.collapse_shape' reshapes from or to 3 x rows elements, where an inner dimension has a run-time size
// CHECK: error: 'tensor.expand_shape' reshapes from or to 2 x rows elements, where an inner dimension has a run-time size
// CHECK-NOT: error: 'tensor
func.func @shapes(%a: tensor<?x4xf32>, %b: tensor<3x4xf32>) -> (tensor<?xf32>, tensor<2x?x4xf32>, tensor<?x2x2xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %zero = arith.constant 0.0 : f32
  %init = tensor.empty(%n) : tensor<3x?xf32>
  %fill = linalg.fill ins(%zero : f32) outs(%init : tensor<3x?xf32>) -> tensor<3x?xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%b, %a : tensor<3x4xf32>, tensor<?x4xf32>) outs(%fill : tensor<3x?xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %m, %out : f32
    linalg.yield %s : f32
  } -> tensor<3x?xf32>
  %joined = tensor.collapse_shape %p [[0, 1]] : tensor<3x?xf32> into tensor<?xf32>
  %both = tensor.concat dim(0) %a, %a : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %halves = tensor.expand_shape %both [[0, 1], [2]] output_shape [2, %n, 4] : tensor<?x4xf32> into tensor<2x?x4xf32>
  %pairs = tensor.expand_shape %a [[0], [1, 2]] output_shape [%n, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  return %joined, %halves, %pairs : tensor<?xf32>, tensor<2x?x4xf32>, tensor<?x2x2xf32>
}

//--- rest.mlir
// The size of the argument is the name; it should be that of the result.
// CHECK: error: dimension 0 of the result of 'tensor.extract_slice' has size 'rows + -1', which is below 0 for sizes of 0; name the size of the result instead and say of the larger tensor that it has more, like 'n + 1'
func.func @rest(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %rest = arith.subi %n, %c1 : index
  %y = tensor.extract_slice %a[1, 0] [%rest, 4] [1, 1] : tensor<?x4xf32> to tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

//--- slice.mlir
// The first four rows are there only if rows are at least four.
// CHECK: slice.mlir:{{.*}} error: 'tensor.extract_slice' op expected the slice to end within size 'rows' of dimension 0 for all values of the run-time sizes but it ends at '4'
// CHECK: note: 'rows' goes down to 1; slice less, or raise the smallest values of the run-time sizes ("min" in the file for --dims)
func.func @slice(%a: tensor<?x4xf32>) -> tensor<4x4xf32> {
  %s = tensor.extract_slice %a[0, 0] [4, 4] [1, 1] : tensor<?x4xf32> to tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.exp ins(%s : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

//--- square.mlir
// rows * rows is no sum of multiples of rows.
// CHECK: square.mlir:{{.*}} error: dimension 0 of the result of 'tensor.collapse_shape' is no sum of multiples of the run-time sizes; keep dimensions apart whose sizes are multiplied or divided, or export with a fixed size: {{[0-9]+}} with rows = {{[0-9]+}}
func.func @square(%a: tensor<?x4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n, %n) : tensor<?x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %a : tensor<?x4xf32>, tensor<?x4xf32>) outs(%f : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %y = tensor.collapse_shape %p [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  return %y : tensor<?xf32>
}

//--- wrong.json
{"dims": {"arg0.1": "rows", "arg7.0": "rows", "arg0": "rows"}, "min": {"rows": 9, "columns": 1}, "max": {"rows": 8}}
