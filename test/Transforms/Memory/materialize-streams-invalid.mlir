// What --st-materialize-streams refuses, and what it says.
// RUN: streamtensor-opt %s --split-input-file --verify-diagnostics --st-materialize-streams

!four = !itensor.itensor<4xf32, [4] * [4], (d0) -> (d0)>
!two = !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>

func.func @chunk(%arg0: tensor<16xf32>) -> tensor<8xf32> {
  %0 = dataflow.kernel "k" (%x : !four = %arg0 : tensor<16xf32>) -> (tensor<8xf32>) {
    // expected-error @below {{'itensor.chunk' op is not materialized: split or join the tensors before the dataflow, or write a task that does it}}
    %p:2 = itensor.chunk %x dim 0 : !four to !two, !two
    dataflow.yield %p#0 : !two
  }
  return %0 : tensor<8xf32>
}

// -----

// The windows of a convolution need a line buffer.
!image = !itensor.itensor<1xf32, [8] * [1], (d0) -> (d0)>
!windows = !itensor.itensor<3xf32, [6] * [1], (d0) -> (d0), overlapping>

func.func @windows(%arg0: tensor<8xf32>) -> tensor<8xf32> {
  %0 = dataflow.kernel "k" (%x : !image = %arg0 : tensor<8xf32>) -> (tensor<8xf32>) {
    // expected-error @below {{'itensor.converter' op expected a segmented converter but got a line buffer, which is not materialized}}
    %w = itensor.converter %x : !image to !windows
    dataflow.yield %w : !windows
  }
  return %0 : tensor<8xf32>
}
