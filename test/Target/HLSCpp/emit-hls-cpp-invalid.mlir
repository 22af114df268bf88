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
  // expected-error @below {{expected elements of type f32, f16, bf16 or an integer of up to 64 bits but got 'f64'}}
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

// -----

func.func private @beside() attributes {hls.task} {
  return
}
// expected-error @below {{expected functions and constants only}}
module @inner {
}

// -----

// expected-error @below {{expected a body of one block and no results}}
func.func private @declared(%x: memref<4xf32> {hls.name = "x"}) attributes {hls.task}

// -----

// expected-error @below {{expected a stream, an index or memory of static shape but got 'memref<?xf32>'}}
func.func private @dynamic(%x: memref<?xf32> {hls.name = "x"}) attributes {hls.task} {
  return
}

// -----

// expected-error @below {{expected a stream of f32, f16, bf16 or integers but got '!stream.stream<4xf64, 2>'}}
func.func private @f64_argument(%s: !stream.stream<4xf64, 2> {hls.name = "s"}) attributes {hls.task} {
  return
}

// -----

// Two FIFOs of one name would be one in C++.
func.func private @same_name() attributes {hls.dataflow} {
  %a = stream.stream "s" tokens 4 : !stream.stream<f32, 2>
  // expected-error @below {{expected a name of its own but got 's' a second time}}
  %b = stream.stream "s" tokens 4 : !stream.stream<f32, 2>
  return
}

// -----

func.func private @carried_memory(%x: memref<4xf32> {hls.name = "x"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-error @below {{expected carried values to be scalars but got 'memref<4xf32>'}}
  %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%y = %x) -> (memref<4xf32>) {
    scf.yield %y : memref<4xf32>
  }
  return
}

// -----

func.func private @chosen_memory(%x: memref<4xf32> {hls.name = "x"}, %y: memref<4xf32> {hls.name = "y"}, %n: index {hls.name = "n"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  %c = arith.cmpi eq, %n, %c0 : index
  // expected-error @below {{expected results to be scalars but got 'memref<4xf32>'}}
  %r = scf.if %c -> (memref<4xf32>) {
    scf.yield %x : memref<4xf32>
  } else {
    scf.yield %y : memref<4xf32>
  }
  return
}

// -----

func.func private @f64_array() attributes {hls.task} {
  // expected-error @below {{expected a static array of f32, f16, bf16 or integers but got 'memref<4xf64>'}}
  %b = stream.buffer "b" : memref<4xf64>
  return
}

// -----

func.func private @partition() attributes {hls.task} {
  // expected-error @below {{expected a partition of one of 1 dimensions but got #hls.partition<}}
  %b = stream.buffer "b" {hls.partition = [#hls.partition<kind = "complete", factor = 0, dim = 2>]} : memref<4xf32>
  return
}

// -----

func.func private @missing_table(%x: memref<4xf32> {hls.name = "x"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{does not reference a valid global memref}}
  %t = memref.get_global @table : memref<4xf32>
  %a = memref.load %t[%c0] : memref<4xf32>
  memref.store %a, %x[%c0] : memref<4xf32>
  return
}

// -----

// Larger constants are arguments of the design.
memref.global "private" constant @table : memref<65537xf32> = dense<1.0>
func.func private @large_table(%x: memref<4xf32> {hls.name = "x"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected a constant of at most 65536 values of f32, f16, bf16 or an integer type but got 'tensor<65537xf32>'; pass larger ones as an argument}}
  %t = memref.get_global @table : memref<65537xf32>
  %a = memref.load %t[%c0] : memref<65537xf32>
  memref.store %a, %x[%c0] : memref<4xf32>
  return
}

// -----

memref.global "private" constant @table : memref<4xf32>
func.func private @undefined_table(%x: memref<4xf32> {hls.name = "x"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected a constant named 'table'}}
  %t = memref.get_global @table : memref<4xf32>
  %a = memref.load %t[%c0] : memref<4xf32>
  memref.store %a, %x[%c0] : memref<4xf32>
  return
}

// -----

func.func private @view_of_array(%i: index {hls.name = "i"}) attributes {hls.task} {
  %b = stream.buffer "b" : memref<4x4xf32>
  // expected-error @below {{expected a view of device memory}}
  %v = memref.collapse_shape %b [[0, 1]] : memref<4x4xf32> into memref<16xf32>
  %a = memref.load %v[%i] : memref<16xf32>
  memref.store %a, %v[%i] : memref<16xf32>
  return
}

// -----

func.func private @packed_element(%x: memref<16xf32> {hls.name = "x", hls.packed = 4 : i64}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected packed memory to be accessed one token at a time}}
  %a = memref.load %x[%c0] : memref<16xf32>
  memref.store %a, %x[%c0] : memref<16xf32>
  return
}

// -----

// A token of 4 cannot begin in the middle of another.
func.func private @packed_middle(%x: memref<16xf32> {hls.name = "x", hls.packed = 4 : i64}, %s: !stream.stream<4xf32, 2> {hls.name = "s"}) attributes {hls.task} {
  %v = memref.subview %x[2] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1], offset: 2>>
  // expected-error @below {{expected whole tokens of packed memory}}
  stream.write %v, %s : memref<4xf32, strided<[1], offset: 2>>, !stream.stream<4xf32, 2>
  return
}

// -----

func.func private @constant_type(%x: memref<4xf32> {hls.name = "x"}) attributes {hls.task} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{expected a constant of type f32, f16, bf16, index or an integer but got 'f64'}}
  %c = arith.constant 1.0 : f64
  %a = arith.truncf %c : f64 to f32
  memref.store %a, %x[%c0] : memref<4xf32>
  return
}
