// Phase `allocated`: result0[seq, 4] = arg0[seq, 4] + arg1[seq, 4] with seq from 1 to
// 8, three arguments of one run-time size.
!X = !itensor.itensor<1x4xf32, [seq max 8] * [1], (d0) -> (d0, 0)>
#id = affine_map<(i, j) -> (i, j)>
func.func @add_rows(%arg0: memref<8x4xf32> {dataflow.name = "arg0", dataflow.role = "input", dataflow.dims = ["seq max 8", ""]},
                    %arg1: memref<8x4xf32> {dataflow.name = "arg1", dataflow.role = "input", dataflow.dims = ["seq max 8", ""]},
                    %result0: memref<8x4xf32> {dataflow.name = "result0", dataflow.role = "output", dataflow.dims = ["seq max 8", ""]})
    attributes {dataflow.parameters = {seq = array<i64: 1, 8>}} {
  dataflow.kernel "group0" (%m0: memref<8x4xf32> = %arg0 : memref<8x4xf32>,
                            %m1: memref<8x4xf32> = %arg1 : memref<8x4xf32>,
                            %m2: memref<8x4xf32> = %result0 : memref<8x4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %e0 = itensor.instance "load_arg0_out" depth 2 : !X
    %s0 = dataflow.task "load_arg0" inits(%o = %e0) : (!X) attributes {kind = "dma_in", argument = "arg0"} {
      %n = dataflow.trip_count "seq max 8"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (!X) {
        %sv = memref.subview %m0[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<1x4xf32, strided<[4, 1], offset: ?>> to tensor<1x4xf32>
        %q = itensor.write %t into %p : tensor<1x4xf32>, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    %e1 = itensor.instance "load_arg1_out" depth 2 : !X
    %s1 = dataflow.task "load_arg1" inits(%o = %e1) : (!X) attributes {kind = "dma_in", argument = "arg1"} {
      %n = dataflow.trip_count "seq max 8"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (!X) {
        %sv = memref.subview %m1[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<1x4xf32, strided<[4, 1], offset: ?>> to tensor<1x4xf32>
        %q = itensor.write %t into %p : tensor<1x4xf32>, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    %e2 = itensor.instance "add_0_out" depth 2 : !X
    %s2 = dataflow.task "add_0" inits(%o = %e2) : (!X) attributes {kind = "compute"} {
      %n = dataflow.trip_count "seq max 8"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (!X) {
        %ti = tensor.empty() : tensor<1x4xf32>
        %t = itensor.read %s0 init(%ti : tensor<1x4xf32>) : !X -> tensor<1x4xf32>
        %ui = tensor.empty() : tensor<1x4xf32>
        %u = itensor.read %s1 init(%ui : tensor<1x4xf32>) : !X -> tensor<1x4xf32>
        %vi = tensor.empty() : tensor<1x4xf32>
        %v = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%t, %u : tensor<1x4xf32>, tensor<1x4xf32>) outs(%vi : tensor<1x4xf32>) attrs = {dataflow.unroll = array<i64: 1, 4>} {
        ^bb0(%x: f32, %y: f32, %z: f32):
          %s = arith.addf %x, %y : f32
          linalg.yield %s : f32
        } -> tensor<1x4xf32>
        %q = itensor.write %v into %p : tensor<1x4xf32>, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    dataflow.task "store_result0" attributes {kind = "dma_out", argument = "result0"} {
      %n = dataflow.trip_count "seq max 8"
      scf.for %i = %c0 to %n step %c1 {
        %ti = tensor.empty() : tensor<1x4xf32>
        %t = itensor.read %s2 init(%ti : tensor<1x4xf32>) : !X -> tensor<1x4xf32>
        %sv = memref.subview %m2[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
        bufferization.materialize_in_destination %t in writable %sv : (tensor<1x4xf32>, memref<1x4xf32, strided<[4, 1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
