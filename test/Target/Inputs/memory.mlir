// Phase `allocated`, two kernels with memory between them:
//
//   group0: workspace0[2, 3, 4] = arg0 + 1       (arg0: 3 of 5 rows of a cache)
//   group1: result0[6, 4] = 2 * workspace0       (the same memory as 6x4)
!A = !itensor.itensor<1x1x4xf32, [2, 3] * [1, 1], (d0, d1) -> (d0, d1, 0)>
!B = !itensor.itensor<1x4xf32, [6] * [1], (d0) -> (d0, 0)>
#id3 = affine_map<(i, j, k) -> (i, j, k)>
#id2 = affine_map<(i, j) -> (i, j)>
func.func @memory(%arg0: memref<2x3x4xf32, strided<[20, 4, 1]>> {dataflow.name = "arg0", dataflow.role = "cache", dataflow.buffer_shape = array<i64: 2, 5, 4>},
                  %result0: memref<6x4xf32> {dataflow.name = "result0", dataflow.role = "output"}) {
  %ws = memref.alloc() {hls.name = "workspace0"} : memref<2x3x4xf32>
  dataflow.kernel "group0" (%m0: memref<2x3x4xf32, strided<[20, 4, 1]>> = %arg0 : memref<2x3x4xf32, strided<[20, 4, 1]>>,
                            %m1: memref<2x3x4xf32> = %ws : memref<2x3x4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %one = arith.constant 1.0 : f32
    %e0 = itensor.instance "load_arg0_out" depth 2 : !A
    %s0 = dataflow.task "load_arg0" inits(%o = %e0) : (!A) attributes {kind = "dma_in", argument = "arg0"} {
      %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %o) -> (!A) {
        %r1 = scf.for %j = %c0 to %c3 step %c1 iter_args(%p1 = %p) -> (!A) {
          %sv = memref.subview %m0[%i, %j, 0] [1, 1, 4] [1, 1, 1] : memref<2x3x4xf32, strided<[20, 4, 1]>> to memref<1x1x4xf32, strided<[20, 4, 1], offset: ?>>
          %t = bufferization.to_tensor %sv restrict : memref<1x1x4xf32, strided<[20, 4, 1], offset: ?>> to tensor<1x1x4xf32>
          %q = itensor.write %t into %p1 : tensor<1x1x4xf32>, !A
          scf.yield %q : !A
        }
        scf.yield %r1 : !A
      }
      dataflow.yield %r : !A
    }
    %e1 = itensor.instance "add_0_out" depth 2 : !A
    %s1 = dataflow.task "add_0" inits(%o = %e1) : (!A) attributes {kind = "compute"} {
      %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %o) -> (!A) {
        %r1 = scf.for %j = %c0 to %c3 step %c1 iter_args(%p1 = %p) -> (!A) {
          %ti = tensor.empty() : tensor<1x1x4xf32>
          %t = itensor.read %s0 init(%ti : tensor<1x1x4xf32>) : !A -> tensor<1x1x4xf32>
          %ui = tensor.empty() : tensor<1x1x4xf32>
          %u = linalg.generic {indexing_maps = [#id3, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
              ins(%t : tensor<1x1x4xf32>) outs(%ui : tensor<1x1x4xf32>) attrs = {dataflow.unroll = array<i64: 1, 1, 4>} {
          ^bb0(%x: f32, %y: f32):
            %s = arith.addf %x, %one : f32
            linalg.yield %s : f32
          } -> tensor<1x1x4xf32>
          %q = itensor.write %u into %p1 : tensor<1x1x4xf32>, !A
          scf.yield %q : !A
        }
        scf.yield %r1 : !A
      }
      dataflow.yield %r : !A
    }
    dataflow.task "store_workspace0" attributes {kind = "dma_out", argument = "workspace0"} {
      scf.for %i = %c0 to %c2 step %c1 {
        scf.for %j = %c0 to %c3 step %c1 {
          %ti = tensor.empty() : tensor<1x1x4xf32>
          %t = itensor.read %s1 init(%ti : tensor<1x1x4xf32>) : !A -> tensor<1x1x4xf32>
          %sv = memref.subview %m1[%i, %j, 0] [1, 1, 4] [1, 1, 1] : memref<2x3x4xf32> to memref<1x1x4xf32, strided<[12, 4, 1], offset: ?>>
          bufferization.materialize_in_destination %t in writable %sv : (tensor<1x1x4xf32>, memref<1x1x4xf32, strided<[12, 4, 1], offset: ?>>) -> ()
        }
      }
      dataflow.yield
    }
    dataflow.yield
  }
  %view = memref.collapse_shape %ws [[0, 1], [2]] : memref<2x3x4xf32> into memref<6x4xf32>
  dataflow.kernel "group1" (%m0: memref<6x4xf32> = %view : memref<6x4xf32>,
                            %m1: memref<6x4xf32> = %result0 : memref<6x4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %two = arith.constant 2.0 : f32
    %e0 = itensor.instance "load_workspace0_out" depth 2 : !B
    %s0 = dataflow.task "load_workspace0" inits(%o = %e0) : (!B) attributes {kind = "dma_in", argument = "workspace0"} {
      %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %o) -> (!B) {
        %sv = memref.subview %m0[%i, 0] [1, 4] [1, 1] : memref<6x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<1x4xf32, strided<[4, 1], offset: ?>> to tensor<1x4xf32>
        %q = itensor.write %t into %p : tensor<1x4xf32>, !B
        scf.yield %q : !B
      }
      dataflow.yield %r : !B
    }
    %e1 = itensor.instance "mul_0_out" depth 2 : !B
    %s1 = dataflow.task "mul_0" inits(%o = %e1) : (!B) attributes {kind = "compute"} {
      %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %o) -> (!B) {
        %ti = tensor.empty() : tensor<1x4xf32>
        %t = itensor.read %s0 init(%ti : tensor<1x4xf32>) : !B -> tensor<1x4xf32>
        %ui = tensor.empty() : tensor<1x4xf32>
        %u = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
            ins(%t : tensor<1x4xf32>) outs(%ui : tensor<1x4xf32>) attrs = {dataflow.unroll = array<i64: 1, 4>} {
        ^bb0(%x: f32, %y: f32):
          %s = arith.mulf %x, %two : f32
          linalg.yield %s : f32
        } -> tensor<1x4xf32>
        %q = itensor.write %u into %p : tensor<1x4xf32>, !B
        scf.yield %q : !B
      }
      dataflow.yield %r : !B
    }
    dataflow.task "store_result0" attributes {kind = "dma_out", argument = "result0"} {
      scf.for %i = %c0 to %c6 step %c1 {
        %ti = tensor.empty() : tensor<1x4xf32>
        %t = itensor.read %s1 init(%ti : tensor<1x4xf32>) : !B -> tensor<1x4xf32>
        %sv = memref.subview %m1[%i, 0] [1, 4] [1, 1] : memref<6x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
        bufferization.materialize_in_destination %t in writable %sv : (tensor<1x4xf32>, memref<1x4xf32, strided<[4, 1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
