// RUN: streamtensor-opt %s --st-emit-hls-cpp --split-input-file --verify-diagnostics -o /dev/null

func.func private @operation(%x: memref<4xf32> {hls.name = "x"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<4xf32>
  // expected-error @below {{expected an operation with a form in HLS C++}}
  %b = math.ctlz %c0 : index
  memref.store %a, %x[%b] : memref<4xf32>
  return
}

// -----

func.func private @dialect(%x: memref<4xf32> {hls.name = "x"}) attributes {hls.task} {
  // expected-error @below {{expected an operation with a form in HLS C++}}
  %0 = tensor.empty() : tensor<4xf32>
  return
}

// -----

// expected-error @below {{expected memory of f32, f16, bf16 or integers but got 'memref<4xf64>'}}
func.func private @element(%x: memref<4xf64> {hls.name = "x"}) attributes {hls.task} {
  return
}

// -----

// expected-error @below {{expected a name that C++ accepts but got 'while'}}
func.func private @keyword(%x: memref<4xf32> {hls.name = "while"}) attributes {hls.task} {
  return
}

// -----

// expected-error @below {{expected a name that C++ accepts but got 'my_fifo'}}
func.func private @my_fifo(%x: memref<4xf32> {hls.name = "x"}) attributes {hls.task} {
  return
}

// -----

// expected-error @below {{expected 'hls.name' on argument 0}}
func.func private @unnamed(%x: memref<4xf32>) attributes {hls.task} {
  return
}

// -----

func.func private @large(%x: memref<65536x65536xf32> {hls.name = "x"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected memory of at most 2^31 elements but got 4294967296; split the argument}}
  %a = memref.load %x[%c0, %c0] : memref<65536x65536xf32>
  memref.store %a, %x[%c0, %c0] : memref<65536x65536xf32>
  return
}

// -----

func.func private @bounds(%n: index {hls.name = "n"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{expected constant bounds, or 'hls.trip_count' for an upper bound that is none, and a positive constant step}}
  scf.for %i = %c0 to %n step %c1 {
  }
  return
}

// -----

// The number of copies of the hardware does not depend on a value.
func.func private @unrolled(%n: index {hls.name = "n"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{expected an unrolled loop to have a constant trip count but it is known at run time}}
  scf.for %i = %c0 to %n step %c1 {
  } {hls.trip_count = #hls.trip_count<min = 0, max = 4>, hls.unroll = #hls.unroll<factor = 0>}
  return
}

// -----

func.func private @f64(%s: !stream.stream<4xf64, 2> {hls.name = "s"}) attributes {hls.task} {
  %t = memref.alloc() : memref<4xf64>
  // expected-error @below {{expected elements of type f32, f16, bf16 or an integer of 1, 8, 16, 32 or 64 bits but got 'f64'}}
  stream.read %s into %t : !stream.stream<4xf64, 2>, memref<4xf64>
  stream.write %t, %s : memref<4xf64>, !stream.stream<4xf64, 2>
  return
}

// -----

// Sums of 16-bit floats are computed in f32 since normalization.
func.func private @half(%x: memref<4xbf16> {hls.name = "x"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  %a = memref.load %x[%c0] : memref<4xbf16>
  // expected-error @below {{expected an operation with a form in HLS C++}}
  %b = arith.addf %a, %a : bf16
  memref.store %b, %x[%c0] : memref<4xbf16>
  return
}
