// RUN: streamtensor-opt %s --st-infer-converters | FileCheck %s
// RUN: streamtensor-opt %s --st-infer-converters=algorithm=paper | FileCheck %s --check-prefix=PAPER

// The paper's example (b) to (c): both sides walk the column tiles outermost, so
// four segments of 8x2 share that loop; 8 * 2 floats of 4 bytes, twice: 128.
// CHECK-LABEL: func.func @paper
// CHECK: itensor.converter
// CHECK-SAME: buffer_shape = array<i64: 8, 2>, bytes = 128 : i64
// CHECK-SAME: reason = "{{.*}}8x2 of 8x8 is held twice (ping-pong)", shared_loops = 1 : i64
// PAPER-LABEL: func.func @paper
// PAPER: buffer_shape = array<i64: 8, 2>
func.func @paper(%a: !itensor.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>) {
  %r = itensor.converter %a : !itensor.itensor<4x2xf32, [4, 2] * [2, 4], (d0, d1) -> (d1, d0)>
                           to !itensor.itensor<4x2xf32, [4, 2, 2] * [2, 1, 4], (d0, d1, d2) -> (d2, d0)>
  return
}

// The same order in another spelling needs no memory.
// CHECK-LABEL: func.func @equal
// CHECK-NOT: itensor.converter
// CHECK: itensor.cast
func.func @equal(%a: !itensor.itensor<f32, [2, 4] * [4, 1], (d0, d1) -> (d0 + d1)>) -> !itensor.itensor<f32, [8] * [1], (d0) -> (d0)> {
  %r = itensor.converter %a : !itensor.itensor<f32, [2, 4] * [4, 1], (d0, d1) -> (d0 + d1)>
                           to !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
  return %r : !itensor.itensor<f32, [8] * [1], (d0) -> (d0)>
}

// A transposition shares no loop: the first column needs the last row. The whole
// 2x4 is one segment, held once: 8 floats, 32 bytes.
// CHECK-LABEL: func.func @transpose
// CHECK: buffer_shape = array<i64: 2, 4>, bytes = 32 : i64
// CHECK-SAME: shared_loops = 0 : i64
func.func @transpose(%a: !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>) {
  %r = itensor.converter %a : !itensor.itensor<f32, [2, 4] * [1, 1], (d0, d1) -> (d0, d1)>
                           to !itensor.itensor<f32, [4, 2] * [1, 1], (d0, d1) -> (d1, d0)>
  return
}

// Each row of 4 is replayed 3 times: one row, twice: 4 * 4 * 2 bytes.
// CHECK-LABEL: func.func @replay
// CHECK: buffer_shape = array<i64: 1, 4>, bytes = 32 : i64
// CHECK-SAME: shared_loops = 1 : i64
func.func @replay(%a: !itensor.itensor<f32, [6, 4] * [1, 1], (d0, d1) -> (d0, d1)>) {
  %r = itensor.converter %a : !itensor.itensor<f32, [6, 4] * [1, 1], (d0, d1) -> (d0, d1)>
                           to !itensor.itensor<f32, [6, 3, 4] * [1, 1, 1], (d0, d1, d2) -> (d0, d2)>
  return
}

// The same order for every number of rows needs no memory either.
// CHECK-LABEL: func.func @runtime_equal
// CHECK-NOT: itensor.converter
// CHECK: itensor.cast
func.func @runtime_equal(%a: !itensor.itensor<f32, [seq max 8, 4] * [4, 1], (d0, d1) -> (d0 + d1)>) -> !itensor.itensor<f32, [4 * seq max 8] * [1], (d0) -> (d0)> {
  %r = itensor.converter %a : !itensor.itensor<f32, [seq max 8, 4] * [4, 1], (d0, d1) -> (d0 + d1)>
                           to !itensor.itensor<f32, [4 * seq max 8] * [1], (d0) -> (d0)>
  return %r : !itensor.itensor<f32, [4 * seq max 8] * [1], (d0) -> (d0)>
}

// A transposition of run-time size holds the largest one.
// CHECK-LABEL: func.func @runtime_transposition
// CHECK: buffer_shape = array<i64: 8, 4>, bytes = 128 : i64
// CHECK-SAME: the whole (seq)x4 is held once
func.func @runtime_transposition(%a: !itensor.itensor<f32, [seq max 8, 4] * [1, 1], (d0, d1) -> (d0, d1)>) {
  %r = itensor.converter %a : !itensor.itensor<f32, [seq max 8, 4] * [1, 1], (d0, d1) -> (d0, d1)>
                           to !itensor.itensor<f32, [4, seq max 8] * [1, 1], (d0, d1) -> (d1, d0)>
  return
}

// A row is replayed as often as there are columns: one row, twice.
// CHECK-LABEL: func.func @runtime_replay
// CHECK: buffer_shape = array<i64: 1, 16>, bytes = 128 : i64
// CHECK-SAME: shared_loops = 1 : i64
func.func @runtime_replay(%a: !itensor.itensor<f32, [seq max 8, 16] * [1, 1], (d0, d1) -> (d0, d1)>) {
  %r = itensor.converter %a : !itensor.itensor<f32, [seq max 8, 16] * [1, 1], (d0, d1) -> (d0, d1)>
                           to !itensor.itensor<f32, [seq max 8, past max 9 + seq, 16] * [1, 1, 1], (d0, d1, d2) -> (d0, d2)>
  return
}

// The 3x3 windows of an image that comes row by row: a line buffer of three rows,
// 3 * 10 floats; the paper's algorithm holds all eight.
// CHECK-LABEL: func.func @windows
// CHECK: buffer_shape = array<i64: 3, 10>, bytes = 120 : i64
// CHECK-SAME: (line buffer)
// PAPER-LABEL: func.func @windows
// PAPER: buffer_shape = array<i64: 8, 10>, bytes = 320 : i64
func.func @windows(%a: !itensor.itensor<f32, [8, 10] * [1, 1], (d0, d1) -> (d0, d1)>) {
  %r = itensor.converter %a : !itensor.itensor<f32, [8, 10] * [1, 1], (d0, d1) -> (d0, d1)>
                           to !itensor.itensor<f32, [6, 8, 3, 3] * [1, 1, 1, 1], (d0, d1, d2, d3) -> (d0 + d2, d1 + d3), overlapping>
  return
}
