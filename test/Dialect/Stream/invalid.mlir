// What the verifiers of the stream dialect refuse, and what they say.
// RUN: streamtensor-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected a depth of at least 1 but got 0}}
func.func private @depth(!stream.stream<f32, 0>)

// -----

// expected-error @below {{expected an integer or float element type but got 'index'}}
func.func private @element(!stream.stream<index, 2>)

// -----

func.func @read_type(%s: !stream.stream<f32, 2>) {
  // expected-error @below {{'stream.read' op expected a token of '!stream.stream<f32, 2>' but got 'i32'}}
  %0 = stream.read %s : !stream.stream<f32, 2> -> i32
  return
}

// -----

func.func @read_shape(%s: !stream.stream<16xf32, 2>, %b: memref<8xf32>) {
  // expected-error @below {{'stream.read' op expected a token of '!stream.stream<16xf32, 2>' but got 'memref<8xf32>'}}
  stream.read %s into %b : !stream.stream<16xf32, 2>, memref<8xf32>
  return
}

// -----

func.func @read_nowhere(%s: !stream.stream<f32, 2>) {
  // expected-error @below {{'stream.read' op expected a destination or a result}}
  stream.read %s : !stream.stream<f32, 2>
  return
}

// -----

func.func @read_twice(%s: !stream.stream<16xf32, 2>, %b: memref<16xf32>) {
  // expected-error @below {{'stream.read' op expected either a destination or a result}}
  %0 = stream.read %s into %b : !stream.stream<16xf32, 2>, memref<16xf32> -> f32
  return
}

// -----

func.func @write_type(%s: !stream.stream<16xf32, 2>, %x: f32) {
  // expected-error @below {{'stream.write' op expected a token of '!stream.stream<16xf32, 2>' but got 'f32'}}
  stream.write %x, %s : f32, !stream.stream<16xf32, 2>
  return
}

// -----

func.func @cast_width(%s: !stream.stream<16xf32, 2>) {
  // expected-error @below {{'stream.cast' op expected a stream of the same depth and of 16 elements of 'f32' a token but got '!stream.stream<8xf32, 2>'}}
  %0 = stream.cast %s : !stream.stream<16xf32, 2> to !stream.stream<8xf32, 2>
  return
}

// -----

func.func @cast_depth(%s: !stream.stream<16xf32, 2>) {
  // expected-error @below {{'stream.cast' op expected a stream of the same depth and of 16 elements of 'f32' a token but got '!stream.stream<16xf32, 4>'}}
  %0 = stream.cast %s : !stream.stream<16xf32, 2> to !stream.stream<16xf32, 4>
  return
}

// -----

func.func @two_writers(%x: f32) {
  // expected-error @below {{'stream.stream' op expected one writer but got tasks}}
  %s = stream.stream "s" : !stream.stream<f32, 2>
  // expected-note-re @below {{{{one|another}} is here}}
  dataflow.task "a" {
    stream.write %x, %s : f32, !stream.stream<f32, 2>
  }
  // expected-note-re @below {{{{one|another}} is here}}
  dataflow.task "b" {
    stream.write %x, %s : f32, !stream.stream<f32, 2>
  }
  return
}

// -----

// A cast names the same FIFO.
func.func @two_readers() {
  // expected-error @below {{'stream.stream' op expected one reader but got tasks}}
  %s = stream.stream "s" : !stream.stream<1xf32, 2>
  %t = stream.cast %s : !stream.stream<1xf32, 2> to !stream.stream<f32, 2>
  // expected-note-re @below {{{{one|another}} is here}}
  dataflow.task "a" {
    %x = stream.read %t : !stream.stream<f32, 2> -> f32
  }
  // expected-note-re @below {{{{one|another}} is here}}
  dataflow.task "b" {
    %b = memref.alloc() : memref<1xf32>
    stream.read %s into %b : !stream.stream<1xf32, 2>, memref<1xf32>
  }
  return
}

// -----

func.func @bridge(%a: !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>) {
  // expected-error @below {{'stream.from_itensor' op expected a stream of 4 elements of 'f32' a token, as '!itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>' has, but got '!stream.stream<f32, 2>'}}
  %s = stream.from_itensor %a : !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)> -> !stream.stream<f32, 2>
  return
}

// -----

func.func @tokens() {
  // expected-error @below {{attribute 'tokens' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %s = stream.stream "s" tokens -4 : !stream.stream<f32, 2>
  return
}
