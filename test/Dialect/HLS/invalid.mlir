// What the verifiers of the hls dialect refuse, and what they say.
// RUN: streamtensor-opt %s --split-input-file --verify-diagnostics

func.func @unknown() {
  // expected-error @below {{'hls.task' op expected a function named 'load_arg0' but found none}}
  hls.task @load_arg0()
  return
}

// -----

func.func private @load_arg0(memref<8xf32>)

func.func @operands(%m: memref<4xf32>) {
  // expected-error @below {{'hls.task' op expected operands of types 'memref<8xf32>' but got 'memref<4xf32>'}}
  hls.task @load_arg0(%m) : memref<4xf32>
  return
}
