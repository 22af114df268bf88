// What --st-specialize-sizes refuses.
// RUN: streamtensor-opt %s --split-input-file --verify-diagnostics --st-specialize-sizes=values=seq=8

// expected-error @below {{expected a value of parameter 'past' in 'seq=8'}}
func.func @missing(%a: tensor<?x4xf32> {dataflow.dims = ["past max 256", ""]}) {
  return
}

// -----

// expected-error @below {{expected 'dataflow.dims' to be a list of 2 texts but got ["seq max 8"]}}
func.func @rank(%a: tensor<?x4xf32> {dataflow.dims = ["seq max 8"]}) {
  return
}

// -----

// expected-error @below {{expected size 'seq max 8' of dimension 0 to be at most 16, as in 'tensor<16x4xf32>', but it goes up to 8}}
func.func @largest(%a: tensor<16x4xf32> {dataflow.dims = ["seq max 8", ""]}) {
  return
}
