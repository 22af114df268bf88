// Phase `allocated`, run-time sizes in conditions around accesses of FIFOs:
// result0[1, 4] = arg0[seq - 1, 4], result1[seq, 4] = twice arg0[seq, 4], seq from 1
// to 9. `blocks` passes rows in blocks of four, of which the last may be cut off;
// `last` passes the last one only, behind a fork.
!X = !itensor.itensor<1x4xf32, [seq max 9] * [1], (d0) -> (d0, 0)>
!L = !itensor.itensor<1x4xf32, [1] * [1], (d0) -> (d0, 0)>
#id = affine_map<(i, j) -> (i, j)>
#flat = affine_map<(i, j) -> (i * 4 + j)>
func.func @conditions(%arg0: memref<9x4xf32> {dataflow.name = "arg0", dataflow.role = "input", dataflow.dims = ["seq max 9", ""]},
                      %result0: memref<1x4xf32> {dataflow.name = "result0", dataflow.role = "output"},
                      %result1: memref<9x4xf32> {dataflow.name = "result1", dataflow.role = "output", dataflow.dims = ["seq max 9", ""]})
    attributes {dataflow.parameters = {seq = array<i64: 1, 9>}} {
  dataflow.kernel "group0" (%m0: memref<9x4xf32> = %arg0 : memref<9x4xf32>,
                            %m1: memref<1x4xf32> = %result0 : memref<1x4xf32>,
                            %m2: memref<9x4xf32> = %result1 : memref<9x4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %two = arith.constant 2.0 : f32
    %e0 = itensor.instance "load_arg0_out" depth 2 : !X
    %s0 = dataflow.task "load_arg0" inits(%o = %e0) : (!X) attributes {kind = "dma_in", argument = "arg0"} {
      %n = dataflow.trip_count "seq max 9"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (!X) {
        %sv = memref.subview %m0[%i, 0] [1, 4] [1, 1] : memref<9x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<1x4xf32, strided<[4, 1], offset: ?>> to tensor<1x4xf32>
        %q = itensor.write %t into %p : tensor<1x4xf32>, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    %e1 = itensor.instance "fork_out0" depth 2 : !X
    %e2 = itensor.instance "fork_out1" depth 2 : !X
    %s1, %s2 = dataflow.task "fork" inits(%o0 = %e1, %o1 = %e2) : (!X, !X) attributes {kind = "fork"} {
      %n = dataflow.trip_count "seq max 9"
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o0, %q = %o1) -> (!X, !X) {
        %ti = tensor.empty() : tensor<1x4xf32>
        %t = itensor.read %s0 init(%ti : tensor<1x4xf32>) : !X -> tensor<1x4xf32>
        %p1 = itensor.write %t into %p : tensor<1x4xf32>, !X
        %q1 = itensor.write %t into %q : tensor<1x4xf32>, !X
        scf.yield %p1, %q1 : !X, !X
      }
      dataflow.yield %r#0, %r#1 : !X, !X
    }
    %e3 = itensor.instance "last_out" depth 1 : !L
    %s3 = dataflow.task "last" inits(%o = %e3) : (!L) attributes {kind = "compute"} {
      %n = dataflow.trip_count "seq max 9"
      %end = arith.subi %n, %c1 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (!L) {
        %ti = tensor.empty() : tensor<1x4xf32>
        %t = itensor.read %s1 init(%ti : tensor<1x4xf32>) : !X -> tensor<1x4xf32>
        %is = arith.cmpi eq, %i, %end : index
        %q = scf.if %is -> (!L) {
          %w = itensor.write %t into %p : tensor<1x4xf32>, !L
          scf.yield %w : !L
        } else {
          scf.yield %p : !L
        }
        scf.yield %q : !L
      }
      dataflow.yield %r : !L
    }
    %e4 = itensor.instance "blocks_out" depth 2 : !X
    %s4 = dataflow.task "blocks" inits(%o = %e4) : (!X) attributes {kind = "compute"} {
      %b = dataflow.trip_count "ceildiv(seq max 9, 4)"
      %n = dataflow.trip_count "seq max 9"
      %r = scf.for %i = %c0 to %b step %c1 iter_args(%a = %o) -> (!X) {
        %ra = scf.for %j = %c0 to %c4 step %c1 iter_args(%p = %a) -> (!X) {
          %f = affine.apply #flat(%i, %j)
          %is = arith.cmpi slt, %f, %n : index
          %q = scf.if %is -> (!X) {
            %ti = tensor.empty() : tensor<1x4xf32>
            %t = itensor.read %s2 init(%ti : tensor<1x4xf32>) : !X -> tensor<1x4xf32>
            %vi = tensor.empty() : tensor<1x4xf32>
            %v = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
                ins(%t : tensor<1x4xf32>) outs(%vi : tensor<1x4xf32>) attrs = {dataflow.unroll = array<i64: 1, 4>} {
            ^bb0(%x: f32, %z: f32):
              %s = arith.mulf %x, %two : f32
              linalg.yield %s : f32
            } -> tensor<1x4xf32>
            %w = itensor.write %v into %p : tensor<1x4xf32>, !X
            scf.yield %w : !X
          } else {
            scf.yield %p : !X
          }
          scf.yield %q : !X
        }
        scf.yield %ra : !X
      }
      dataflow.yield %r : !X
    }
    dataflow.task "store_result0" attributes {kind = "dma_out", argument = "result0"} {
      scf.for %i = %c0 to %c1 step %c1 {
        %ti = tensor.empty() : tensor<1x4xf32>
        %t = itensor.read %s3 init(%ti : tensor<1x4xf32>) : !L -> tensor<1x4xf32>
        %sv = memref.subview %m1[%i, 0] [1, 4] [1, 1] : memref<1x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
        bufferization.materialize_in_destination %t in writable %sv : (tensor<1x4xf32>, memref<1x4xf32, strided<[4, 1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.task "store_result1" attributes {kind = "dma_out", argument = "result1"} {
      %n = dataflow.trip_count "seq max 9"
      scf.for %i = %c0 to %n step %c1 {
        %ti = tensor.empty() : tensor<1x4xf32>
        %t = itensor.read %s4 init(%ti : tensor<1x4xf32>) : !X -> tensor<1x4xf32>
        %sv = memref.subview %m2[%i, 0] [1, 4] [1, 1] : memref<9x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
        bufferization.materialize_in_destination %t in writable %sv : (tensor<1x4xf32>, memref<1x4xf32, strided<[4, 1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
