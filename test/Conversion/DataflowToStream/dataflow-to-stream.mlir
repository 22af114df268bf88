// RUN: streamtensor-opt %s --st-dataflow-to-stream --split-input-file | FileCheck %s

// A sum over rows: the accumulator is one buffer, updated in place; the three
// lanes of a token are reduced by a tree (1 + 1 additions) before the one
// addition that is carried from iteration to iteration.

!A = !itensor.itensor<1x3xf32, [4, 2] * [1, 3], (d0, d1) -> (d0, d1)>
!S = !itensor.itensor<1xf32, [4] * [1], (d0) -> (d0)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @row_sum
// CHECK-SAME: (%[[X:.*]]: memref<4x6xf32>, %[[Y:.*]]: memref<4xf32>)
func.func @row_sum(%x: memref<4x6xf32>, %y: memref<4xf32>) {
  // CHECK: dataflow.kernel "group0" (%[[MX:.*]]: memref<4x6xf32> = %[[X]]
  dataflow.kernel "group0" (%mx: memref<4x6xf32> = %x : memref<4x6xf32>, %my: memref<4xf32> = %y : memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %zero = arith.constant 0.0 : f32
    // 4 * 2 tokens pass.
    // CHECK: %[[A:.*]] = stream.stream "load_out" tokens 8 because "minimum" : !stream.stream<1x3xf32, 2>
    %e0 = itensor.instance "load_out" depth 2 because "minimum" : !A
    // CHECK: dataflow.task "load" attributes {kind = "dma_in"} {
    %s0 = dataflow.task "load" inits(%o = %e0) : (!A) attributes {kind = "dma_in"} {
      // CHECK: scf.for %[[I:.*]] = {{.*}} {
      %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %o) -> (!A) {
        // CHECK: scf.for %[[J:.*]] = {{.*}} {
        %r1 = scf.for %j = %c0 to %c2 step %c1 iter_args(%p1 = %p) -> (!A) {
          %x3 = affine.apply affine_map<(d0) -> (d0 * 3)>(%j)
          // CHECK: %[[T:.*]] = memref.alloc() : memref<1x3xf32>
          // CHECK: scf.for %[[L:.*]] = {{.*}} {
          // CHECK: %[[AT:.*]] = affine.apply {{.*}}(%[[L]], %[[J]])
          // CHECK: memref.load %[[MX]][%[[I]], %[[AT]]]
          // CHECK: memref.store {{.*}}, %[[T]][%{{.*}}, %[[L]]]
          // CHECK: } {hls.unroll = #hls.unroll<factor = 0>}
          // CHECK: stream.write %[[T]], %[[A]]
          %sv = memref.subview %mx[%i, %x3] [1, 3] [1, 1] : memref<4x6xf32> to memref<1x3xf32, strided<[6, 1], offset: ?>>
          %t = bufferization.to_tensor %sv restrict : memref<1x3xf32, strided<[6, 1], offset: ?>> to tensor<1x3xf32>
          %q = itensor.write %t into %p1 : tensor<1x3xf32>, !A
          scf.yield %q : !A
        }
        scf.yield %r1 : !A
      // CHECK: } {hls.label = "row"}
      } {hls.label = "row"}
      // CHECK-NEXT: dataflow.yield
      // CHECK-NEXT: }
      dataflow.yield %r : !A
    }
    // CHECK: %[[S:.*]] = stream.stream "sum_out" tokens 4 : !stream.stream<1xf32, 3>
    %e1 = itensor.instance "sum_out" depth 3 : !S
    // CHECK: dataflow.task "sum"
    %s1 = dataflow.task "sum" inits(%o = %e1) : (!S) attributes {kind = "compute"} {
      // CHECK-NEXT: %[[ACC:.*]] = stream.buffer "acc" : memref<1xf32>
      %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %o) -> (!S) {
        // CHECK: memref.store %{{.*}}, %[[ACC]]
        %acc0 = tensor.empty() : tensor<1xf32>
        %acc1 = linalg.fill ins(%zero : f32) outs(%acc0 : tensor<1xf32>) -> tensor<1xf32>
        // CHECK: scf.for
        %acc = scf.for %j = %c0 to %c2 step %c1 iter_args(%a = %acc1) -> (tensor<1xf32>) {
          // CHECK: %[[T:.*]] = memref.alloc() : memref<1x3xf32>
          // CHECK: stream.read %[[A]] into %[[T]]
          %ti = tensor.empty() : tensor<1x3xf32>
          %t = itensor.read %s0 init(%ti : tensor<1x3xf32>) : !A -> tensor<1x3xf32>
          // CHECK: %[[P:.*]] = memref.alloc() {hls.name = "partial"} : memref<3xf32>
          // CHECK: scf.for %[[L:.*]] =
          // CHECK: memref.load %[[T]][%{{.*}}, %[[L]]]
          // CHECK: memref.store {{.*}}, %[[P]][%[[L]]]
          // p[0] + p[2], then with p[1]
          // CHECK: memref.load %[[P]][%c0]
          // CHECK: memref.load %[[P]][%c2]
          // CHECK: arith.addf
          // CHECK: memref.store {{.*}}, %[[P]][%c0]
          // CHECK: memref.load %[[P]][%c0]
          // CHECK: memref.load %[[P]][%c1]
          // CHECK: arith.addf
          // CHECK: memref.store {{.*}}, %[[P]][%c0]
          // CHECK: %[[OLD:.*]] = memref.load %[[ACC]]
          // CHECK: %[[NEW:.*]] = memref.load %[[P]][%c0]
          // CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %[[NEW]]
          // CHECK: memref.store %[[SUM]], %[[ACC]]
          %u = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
              ins(%t : tensor<1x3xf32>) outs(%a : tensor<1xf32>) attrs = {dataflow.unroll = array<i64: 1, 3>} {
          ^bb0(%v: f32, %sum: f32):
            %m = arith.addf %sum, %v : f32
            linalg.yield %m : f32
          } -> tensor<1xf32>
          scf.yield %u : tensor<1xf32>
        }
        // CHECK: %[[R:.*]] = memref.alloc() : memref<1xf32>
        // CHECK: memref.load %[[ACC]]
        // CHECK: memref.store {{.*}}, %[[R]]
        // CHECK: stream.write %[[R]], %[[S]]
        %q = itensor.write %acc into %p : tensor<1xf32>, !S
        scf.yield %q : !S
      }
      dataflow.yield %r : !S
    }
    // CHECK: dataflow.task "store"
    dataflow.task "store" attributes {kind = "dma_out"} {
      scf.for %i = %c0 to %c4 step %c1 {
        // CHECK: stream.read %[[S]] into
        // CHECK: memref.store
        %ti = tensor.empty() : tensor<1xf32>
        %v = itensor.read %s1 init(%ti : tensor<1xf32>) : !S -> tensor<1xf32>
        %sv = memref.subview %my[%i] [1] [1] : memref<4xf32> to memref<1xf32, strided<[1], offset: ?>>
        bufferization.materialize_in_destination %v in writable %sv : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// -----

// A packed argument is read one token at a time; a reassociate of equal token
// width is another spelling of the same stream; what is read twice (CSE merged
// the two destinations) gets two tokens.

!W = !itensor.itensor<4x1xf32, [3] * [1], (d0) -> (0, d0)>
!V = !itensor.itensor<2x2x1xf32, [3] * [1], (d0) -> (0, 0, d0)>
#t = affine_map<(a, b, c) -> (a, b, c)>

// CHECK-LABEL: func.func @packed
func.func @packed(%w: memref<3x4x1xf32> {dataflow.packing = !W, dataflow.shape = array<i64: 4, 3>}, %y: memref<2x2x3xf32>) {
  // CHECK: dataflow.kernel "group0" (%[[M:.*]]: memref<3x4x1xf32> =
  dataflow.kernel "group0" (%mw: memref<3x4x1xf32> = %w : memref<3x4x1xf32>, %my: memref<2x2x3xf32> = %y : memref<2x2x3xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    // CHECK: %[[S:.*]] = stream.stream "load_out"
    %e0 = itensor.instance "load_out" depth 2 : !W
    %s0 = dataflow.task "load" inits(%o = %e0) : (!W) attributes {kind = "dma_in"} {
      %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %o) -> (!W) {
        // CHECK: %[[TOKEN:.*]] = memref.subview %[[M]][%{{.*}}, 0, 0] [1, 4, 1]
        // CHECK-NEXT: stream.write %[[TOKEN]], %[[S]]
        %sv = memref.subview %mw[%i, 0, 0] [1, 4, 1] [1, 1, 1] : memref<3x4x1xf32> to memref<4x1xf32, strided<[1, 1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<4x1xf32, strided<[1, 1], offset: ?>> to tensor<4x1xf32>
        %q = itensor.write %t into %p : tensor<4x1xf32>, !W
        scf.yield %q : !W
      }
      dataflow.yield %r : !W
    }
    %v = itensor.reassociate %s0 : !W to !V
    dataflow.task "store" attributes {kind = "dma_out"} {
      // CHECK: %[[CAST:.*]] = stream.cast %[[S]] : !stream.stream<4x1xf32, 2> to !stream.stream<2x2x1xf32, 2>
      // CHECK: %[[T:.*]] = memref.alloc() : memref<2x2x1xf32>
      // CHECK: stream.read %[[CAST]] into %[[T]]
      %ti = tensor.empty() : tensor<2x2x1xf32>
      %first = itensor.read %v init(%ti : tensor<2x2x1xf32>) : !V -> tensor<2x2x1xf32>
      // CHECK: scf.for
      scf.for %i = %c1 to %c3 step %c1 {
        // CHECK: %[[U:.*]] = memref.alloc() : memref<2x2x1xf32>
        // CHECK: stream.read %{{.*}} into %[[U]]
        %next = itensor.read %v init(%ti : tensor<2x2x1xf32>) : !V -> tensor<2x2x1xf32>
        // CHECK: scf.for %[[A:.*]] =
        // CHECK: scf.for %[[B:.*]] =
        // CHECK: memref.load %[[T]][%[[A]], %[[B]], %c0]
        // CHECK: memref.load %[[U]][%[[A]], %[[B]], %c0]
        %ui = tensor.empty() : tensor<2x2x1xf32>
        %sum = linalg.generic {indexing_maps = [#t, #t, #t], iterator_types = ["parallel", "parallel", "parallel"]}
            ins(%first, %next : tensor<2x2x1xf32>, tensor<2x2x1xf32>) outs(%ui : tensor<2x2x1xf32>) attrs = {dataflow.unroll = array<i64: 2, 2, 1>} {
        ^bb0(%a: f32, %b: f32, %out: f32):
          %m = arith.addf %a, %b : f32
          linalg.yield %m : f32
        } -> tensor<2x2x1xf32>
        %sv = memref.subview %my[0, 0, %i] [2, 2, 1] [1, 1, 1] : memref<2x2x3xf32> to memref<2x2x1xf32, strided<[6, 3, 1], offset: ?>>
        bufferization.materialize_in_destination %sum in writable %sv : (tensor<2x2x1xf32>, memref<2x2x1xf32, strided<[6, 3, 1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// -----

// The buffer of a converter stands at the start of its task although it is made
// anew in every segment; a conditional write keeps only the write.

!A = !itensor.itensor<2xf32, [2, 4] * [8, 2], (d0, d1) -> (d0 + d1)>
!B = !itensor.itensor<4xf32, [2, 2] * [8, 4], (d0, d1) -> (d0 + d1)>

// CHECK-LABEL: func.func @converter
func.func @converter(%x: memref<16xf32>, %y: memref<8xf32>) {
  dataflow.kernel "group0" (%mx: memref<16xf32> = %x : memref<16xf32>, %my: memref<8xf32> = %y : memref<8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    // CHECK: %[[A:.*]] = stream.stream "load_out"
    %e0 = itensor.instance "load_out" depth 2 : !A
    %s0 = dataflow.task "load" inits(%o = %e0) : (!A) attributes {kind = "dma_in"} {
      %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %o) -> (!A) {
        %r1 = scf.for %j = %c0 to %c4 step %c1 iter_args(%p1 = %p) -> (!A) {
          %at = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1 * 2)>(%i, %j)
          %sv = memref.subview %mx[%at] [2] [1] : memref<16xf32> to memref<2xf32, strided<[1], offset: ?>>
          %t = bufferization.to_tensor %sv restrict : memref<2xf32, strided<[1], offset: ?>> to tensor<2xf32>
          %q = itensor.write %t into %p1 : tensor<2xf32>, !A
          scf.yield %q : !A
        }
        scf.yield %r1 : !A
      }
      dataflow.yield %r : !A
    }
    // CHECK: %[[B:.*]] = stream.stream "convert_out"
    %e1 = itensor.instance "convert_out" depth 2 : !B
    // CHECK: dataflow.task "convert"
    %s1 = dataflow.task "convert" inits(%o = %e1) : (!B) attributes {kind = "converter"} {
      // CHECK-NEXT: %[[BUFFER:.*]] = stream.buffer "buffer" ping_pong : memref<8xf32>
      // CHECK-NEXT: scf.for
      %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %o) -> (!B) {
        %b0 = tensor.empty() {hls.name = "buffer", dataflow.ping_pong} : tensor<8xf32>
        // CHECK-NEXT: scf.for %[[J:.*]] =
        %b = scf.for %j = %c0 to %c4 step %c1 iter_args(%acc = %b0) -> (tensor<8xf32>) {
          %ti = tensor.empty() : tensor<2xf32>
          %t = itensor.read %s0 init(%ti : tensor<2xf32>) : !A -> tensor<2xf32>
          %at = affine.apply affine_map<(d0) -> (d0 * 2)>(%j)
          // CHECK: memref.store %{{.*}}, %[[BUFFER]]
          %n = tensor.insert_slice %t into %acc[%at] [2] [1] : tensor<2xf32> into tensor<8xf32>
          scf.yield %n : tensor<8xf32>
        }
        // CHECK: scf.for
        %d = scf.for %j = %c0 to %c2 step %c1 iter_args(%p1 = %p) -> (!B) {
          %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%j)
          // CHECK: memref.load %[[BUFFER]]
          %t = tensor.extract_slice %b[%at] [4] [1] : tensor<8xf32> to tensor<4xf32>
          %q = itensor.write %t into %p1 : tensor<4xf32>, !B
          scf.yield %q : !B
        }
        scf.yield %d : !B
      }
      dataflow.yield %r : !B
    }
    // CHECK: %[[C:.*]] = stream.stream "slice_out" tokens 2
    %e2 = itensor.instance "slice_out" depth 2 : !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>
    // CHECK: dataflow.task "slice"
    %s2 = dataflow.task "slice" inits(%o = %e2) : (!itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>) attributes {kind = "compute"} {
      %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%p = %o) -> (!itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>) {
        // CHECK: stream.read %[[B]] into %[[T:.*]] :
        %ti = tensor.empty() : tensor<4xf32>
        %v = itensor.read %s1 init(%ti : tensor<4xf32>) : !B -> tensor<4xf32>
        // CHECK: %[[IF:.*]] = arith.cmpi
        // CHECK-NEXT: scf.if %[[IF]] {
        // CHECK-NEXT: stream.write %[[T]], %[[C]]
        // CHECK-NEXT: }
        %in = arith.cmpi sge, %i, %c2 : index
        %q = scf.if %in -> (!itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>) {
          %w = itensor.write %v into %p : tensor<4xf32>, !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>
          scf.yield %w : !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>
        } else {
          scf.yield %p : !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>
        }
        scf.yield %q : !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>
      }
      dataflow.yield %r : !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)>
    }
    dataflow.task "store" attributes {kind = "dma_out"} {
      scf.for %i = %c0 to %c2 step %c1 {
        %ti = tensor.empty() : tensor<4xf32>
        %v = itensor.read %s2 init(%ti : tensor<4xf32>) : !itensor.itensor<4xf32, [2] * [4], (d0) -> (d0)> -> tensor<4xf32>
        %at = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
        %sv = memref.subview %my[%at] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: ?>>
        bufferization.materialize_in_destination %v in writable %sv : (tensor<4xf32>, memref<4xf32, strided<[1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// -----

// Reshapes of a token inside a task are resolved to indices of the token.

!A = !itensor.itensor<2x4xf32, [3] * [2], (d0) -> (d0, 0)>
!B = !itensor.itensor<8xf32, [3] * [8], (d0) -> (d0)>

// CHECK: #[[ROW:.*]] = affine_map<(d0) -> (d0 floordiv 4)>
// CHECK: #[[COLUMN:.*]] = affine_map<(d0) -> (d0 mod 4)>
// CHECK-LABEL: func.func @reshape
func.func @reshape(%x: memref<6x4xf32>, %y: memref<24xf32>) {
  dataflow.kernel "group0" (%mx: memref<6x4xf32> = %x : memref<6x4xf32>, %my: memref<24xf32> = %y : memref<24xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %e0 = itensor.instance "load_out" depth 2 : !A
    %s0 = dataflow.task "load" inits(%o = %e0) : (!A) attributes {kind = "dma_in"} {
      %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %o) -> (!A) {
        %at = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
        %sv = memref.subview %mx[%at, 0] [2, 4] [1, 1] : memref<6x4xf32> to memref<2x4xf32, strided<[4, 1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<2x4xf32, strided<[4, 1], offset: ?>> to tensor<2x4xf32>
        %q = itensor.write %t into %p : tensor<2x4xf32>, !A
        scf.yield %q : !A
      }
      dataflow.yield %r : !A
    }
    %e1 = itensor.instance "flat_out" depth 2 : !B
    // CHECK: dataflow.task "flat"
    %s1 = dataflow.task "flat" inits(%o = %e1) : (!B) attributes {kind = "compute"} {
      %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %o) -> (!B) {
        // CHECK: stream.read %{{.*}} into %[[T:.*]] : !stream.stream<2x4xf32, 2>, memref<2x4xf32>
        // CHECK: scf.for %[[L:.*]] = %c0 to %c8
        // CHECK-DAG: %[[I:.*]] = affine.apply #[[ROW]](%[[L]])
        // CHECK-DAG: %[[J:.*]] = affine.apply #[[COLUMN]](%[[L]])
        // CHECK: memref.load %[[T]][%[[I]], %[[J]]]
        %ti = tensor.empty() : tensor<2x4xf32>
        %t = itensor.read %s0 init(%ti : tensor<2x4xf32>) : !A -> tensor<2x4xf32>
        %f = tensor.collapse_shape %t [[0, 1]] : tensor<2x4xf32> into tensor<8xf32>
        %q = itensor.write %f into %p : tensor<8xf32>, !B
        scf.yield %q : !B
      }
      dataflow.yield %r : !B
    }
    dataflow.task "store" attributes {kind = "dma_out"} {
      scf.for %i = %c0 to %c3 step %c1 {
        %ti = tensor.empty() : tensor<8xf32>
        %v = itensor.read %s1 init(%ti : tensor<8xf32>) : !B -> tensor<8xf32>
        %at = affine.apply affine_map<(d0) -> (d0 * 8)>(%i)
        %sv = memref.subview %my[%at] [8] [1] : memref<24xf32> to memref<8xf32, strided<[1], offset: ?>>
        bufferization.materialize_in_destination %v in writable %sv : (tensor<8xf32>, memref<8xf32, strided<[1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}

// -----

// Counts of a run stay as they are, and an accumulator has its largest size; a
// loop of zero or more iterations is kept around it.

!X = !itensor.itensor<1xf32, [seq max 8] * [1], (d0) -> (d0)>
!S = !itensor.itensor<1xf32, [] * [], () -> (0)>

// CHECK-LABEL: func.func @runtime_sizes
// CHECK-SAME: dataflow.parameters = {seq = array<i64: 0, 8>}
func.func @runtime_sizes(%x: memref<8xf32>, %y: memref<1xf32>)
    attributes {dataflow.parameters = {seq = array<i64: 0, 8>}} {
  dataflow.kernel "group0" (%mx: memref<8xf32> = %x : memref<8xf32>, %my: memref<1xf32> = %y : memref<1xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    // The tokens are those of the largest size.
    // CHECK: stream.stream "load_out" tokens 8
    %e0 = itensor.instance "load_out" depth 2 : !X
    // CHECK: dataflow.task "load"
    %s0 = dataflow.task "load" inits(%o = %e0) : (!X) attributes {kind = "dma_in"} {
      // CHECK: %[[N:.*]] = dataflow.trip_count "seq max 8"
      // CHECK: scf.for %{{.*}} = %{{.*}} to %[[N]] step
      %n = dataflow.trip_count "seq max 8"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (!X) {
        %sv = memref.subview %mx[%i] [1] [1] : memref<8xf32> to memref<1xf32, strided<[1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<1xf32, strided<[1], offset: ?>> to tensor<1xf32>
        %q = itensor.write %t into %p : tensor<1xf32>, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    // CHECK: stream.stream "sum_out" tokens 1
    %e1 = itensor.instance "sum_out" depth 2 : !S
    // CHECK: dataflow.task "sum"
    %s1 = dataflow.task "sum" inits(%o = %e1) : (!S) attributes {kind = "compute"} {
      // CHECK-DAG: %[[ACC:.*]] = stream.buffer "acc" : memref<1xf32>
      // CHECK-DAG: %[[M:.*]] = dataflow.trip_count "seq max 8"
      // CHECK: scf.for %{{.*}} = %{{.*}} to %[[M]] step
      // CHECK: memref.store %{{.*}}, %[[ACC]]
      // CHECK: memref.load %[[ACC]]
      // CHECK: stream.write
      %e = tensor.empty() : tensor<1xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
      %n = dataflow.trip_count "seq max 8"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %f) -> (tensor<1xf32>) {
        %ti = tensor.empty() : tensor<1xf32>
        %t = itensor.read %s0 init(%ti : tensor<1xf32>) : !X -> tensor<1xf32>
        %u = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
            ins(%t : tensor<1xf32>) outs(%a : tensor<1xf32>) {
        ^bb0(%in: f32, %out: f32):
          %s = arith.addf %in, %out : f32
          linalg.yield %s : f32
        } -> tensor<1xf32>
        scf.yield %u : tensor<1xf32>
      }
      %q = itensor.write %r into %o : tensor<1xf32>, !S
      dataflow.yield %q : !S
    }
    dataflow.task "store" attributes {kind = "dma_out"} {
      %ti = tensor.empty() : tensor<1xf32>
      %v = itensor.read %s1 init(%ti : tensor<1xf32>) : !S -> tensor<1xf32>
      bufferization.materialize_in_destination %v in writable %my : (tensor<1xf32>, memref<1xf32>) -> ()
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
