// What the dataflow dialect refuses of sizes that are known at run time: those that
// 'dataflow.dims' says of tensors, and the ranges in 'dataflow.parameters'.
// RUN: streamtensor-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected 'dataflow.dims' to be a list of 2 texts but got "seq max 8"}}
func.func @no_list(%x: tensor<8x4xf32> {dataflow.dims = "seq max 8"}) {
  return
}

// -----

// expected-error @below {{expected 'dataflow.dims' to be a list of 2 texts but got ["seq max 8", "", ""]}}
func.func @long(%x: tensor<8x4xf32> {dataflow.dims = ["seq max 8", "", ""]}) {
  return
}

// -----

// expected-error @below {{expected 'dataflow.dims' to be a list of texts but got ["seq max 8", 4]}}
func.func @number(%x: tensor<8x4xf32> {dataflow.dims = ["seq max 8", 4]}) {
  return
}

// -----

// expected-error @below {{in the size 'seq' of dimension 0: parameter 'seq' needs its maximum at its first use: write 'seq max N'}}
func.func @no_maximum(%x: tensor<8x4xf32> {dataflow.dims = ["seq", ""]}) {
  return
}

// -----

// expected-error @below {{in the size 'seq max -1' of dimension 0: expected a maximum of at least 0}}
func.func @maximum(%x: tensor<8x4xf32> {dataflow.dims = ["seq max -1", ""]}) {
  return
}

// -----

// expected-error @below {{in the size 'seq max 4' of dimension 1: parameter 'seq' has two maxima, 8 and 4}}
func.func @two_maxima(%x: tensor<8x4xf32> {dataflow.dims = ["seq max 8", "seq max 4"]}) {
  return
}

// -----

// expected-error @below {{in the size 'seq max 8 rows' of dimension 0: expected}}
func.func @rest(%x: tensor<8x4xf32> {dataflow.dims = ["seq max 8 rows", ""]}) {
  return
}

// -----

// No memory for the eighth row.
// expected-error @below {{expected size 'seq max 8' of dimension 0 to be at most 7, as in 'tensor<7x4xf32>', but it goes up to 8}}
func.func @no_memory(%x: tensor<7x4xf32> {dataflow.dims = ["seq max 8", ""]}) {
  return
}

// -----

// expected-error @below {{expected size 'seq max 8' of dimension 1 to be at most 4, as in 'memref<8x4xf32>', but it goes up to 8}}
func.func @memory(%x: memref<8x4xf32> {dataflow.dims = ["", "seq max 8"]}) {
  return
}

// -----

// expected-error @below {{expected 'dataflow.dims' on a ranked tensor or memory but got 'tensor<*xf32>'}}
func.func @unranked(%x: tensor<*xf32> {dataflow.dims = ["seq max 8"]}) {
  return
}

// -----

// expected-error @below {{expected 'dataflow.dims' on a ranked tensor or memory but got 'index'}}
func.func @scalar(%x: index {dataflow.dims = []}) {
  return
}

// -----

// expected-error @below {{expected size 'seq max 8' of dimension 0 to be at most 4, as in 'tensor<4xf32>', but it goes up to 8}}
func.func @result(%x: tensor<4xf32>) -> (tensor<4xf32> {dataflow.dims = ["seq max 8"]}) {
  return %x : tensor<4xf32>
}

// -----

func.func @operation() {
  // expected-error @below {{expected size 'seq max 8' of dimension 0 to be at most 4, as in 'tensor<4xf32>', but it goes up to 8}}
  %e = tensor.empty() {dataflow.dims = ["seq max 8"]} : tensor<4xf32>
  return
}

// -----

// Sizes of an argument belong to the argument.
// expected-error @below {{expected one result that 'dataflow.dims' says the sizes of but got 0}}
func.func @function(%x: tensor<8xf32>) attributes {dataflow.dims = ["seq max 8"]} {
  return
}

// -----

// A dictionary of ranges, on a function.
// expected-error @below {{expected 'dataflow.parameters' to be a dictionary on a function}}
func.func @list() attributes {dataflow.parameters = ["seq"]} {
  return
}

// -----

// expected-error @below {{expected 'dataflow.parameters' to be a dictionary on a function}}
module attributes {dataflow.parameters = {seq = array<i64: 0, 8>}} {
}

// -----

// expected-error @below {{expected the smallest and the largest value of parameter 'seq' but got 8}}
func.func @largest_only() attributes {dataflow.parameters = {seq = 8 : i64}} {
  return
}

// -----

// expected-error @below {{expected the smallest and the largest value of parameter 'seq' but got array<i64: 8>}}
func.func @one_value() attributes {dataflow.parameters = {seq = array<i64: 8>}} {
  return
}

// -----

// expected-error @below {{expected the smallest and the largest value of parameter 'seq' but got array<i64: 8, 1>}}
func.func @empty_range() attributes {dataflow.parameters = {seq = array<i64: 8, 1>}} {
  return
}

// -----

// expected-error @below {{expected the smallest and the largest value of parameter 'seq' but got array<i64: -1, 8>}}
func.func @below_zero() attributes {dataflow.parameters = {seq = array<i64: -1, 8>}} {
  return
}

// -----

func.func @trips() {
  // expected-error @below {{expected a trip count of at least 0 but 'seq max 8 + -1' goes down to -1}}
  %n = dataflow.trip_count "seq max 8 + -1"
  return
}
