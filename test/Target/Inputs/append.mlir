// Phase `allocated`, sizes that are known at run time: seq from 0 to 8, past from
// 0 to 6. Two kernels with memory between them:
//
//   group0: result0[past + seq, 4] = 2 * (arg1[past, 4], then arg0[seq, 4])
//   group1: result1[seq, past + seq] = arg0 * transposed(result0)
!X = !itensor.itensor<1x4xf32, [seq max 8] * [1], (d0) -> (d0, 0)>
!P = !itensor.itensor<1x4xf32, [past max 6] * [1], (d0) -> (d0, 0)>
!A = !itensor.itensor<1x4xf32, [past max 6 + seq max 8] * [1], (d0) -> (d0, 0)>
// All rows of result0 again for each row of arg0.
!K = !itensor.itensor<1x4xf32, [seq max 8, past max 6 + seq] * [1, 1], (d0, d1) -> (d1, 0)>
!S = !itensor.itensor<1x1xf32, [seq max 8, past max 6 + seq] * [1, 1], (d0, d1) -> (d0, d1)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j, k) -> (i, k)>
#col = affine_map<(i, j, k) -> (j, k)>
#out = affine_map<(i, j, k) -> (i, j)>
func.func @append(%arg0: memref<8x4xf32> {dataflow.name = "arg0", dataflow.role = "input", dataflow.dims = ["seq max 8", ""]},
                  %arg1: memref<6x4xf32> {dataflow.name = "arg1", dataflow.role = "cache", dataflow.dims = ["past max 6", ""]},
                  %result0: memref<14x4xf32> {dataflow.name = "result0", dataflow.role = "output", dataflow.dims = ["past max 6 + seq max 8", ""]},
                  %result1: memref<8x14xf32> {dataflow.name = "result1", dataflow.role = "output", dataflow.dims = ["seq max 8", "past max 6 + seq"]})
    attributes {dataflow.parameters = {past = array<i64: 0, 6>, seq = array<i64: 0, 8>}} {
  dataflow.kernel "group0" (%m0: memref<8x4xf32> = %arg0 : memref<8x4xf32>,
                            %m1: memref<6x4xf32> = %arg1 : memref<6x4xf32>,
                            %m2: memref<14x4xf32> = %result0 : memref<14x4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %two = arith.constant 2.0 : f32
    %e0 = itensor.instance "load_arg0_out" depth 8 : !X
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
    %e1 = itensor.instance "load_arg1_out" depth 2 : !P
    %s1 = dataflow.task "load_arg1" inits(%o = %e1) : (!P) attributes {kind = "dma_in", argument = "arg1"} {
      %n = dataflow.trip_count "past max 6"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (!P) {
        %sv = memref.subview %m1[%i, 0] [1, 4] [1, 1] : memref<6x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<1x4xf32, strided<[4, 1], offset: ?>> to tensor<1x4xf32>
        %q = itensor.write %t into %p : tensor<1x4xf32>, !P
        scf.yield %q : !P
      }
      dataflow.yield %r : !P
    }
    %e2 = itensor.instance "concat_0_out" depth 2 : !A
    %s2 = dataflow.task "concat_0" inits(%o = %e2) : (!A) attributes {kind = "join"} {
      %n = dataflow.trip_count "past max 6"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (!A) {
        %ti = tensor.empty() : tensor<1x4xf32>
        %t = itensor.read %s1 init(%ti : tensor<1x4xf32>) : !P -> tensor<1x4xf32>
        %q = itensor.write %t into %p : tensor<1x4xf32>, !A
        scf.yield %q : !A
      }
      %m = dataflow.trip_count "seq max 8"
      %r1 = scf.for %i = %c0 to %m step %c1 iter_args(%p = %r) -> (!A) {
        %ti = tensor.empty() : tensor<1x4xf32>
        %t = itensor.read %s0 init(%ti : tensor<1x4xf32>) : !X -> tensor<1x4xf32>
        %q = itensor.write %t into %p : tensor<1x4xf32>, !A
        scf.yield %q : !A
      }
      dataflow.yield %r1 : !A
    }
    %e3 = itensor.instance "scale_0_out" depth 2 : !A
    %s3 = dataflow.task "scale_0" inits(%o = %e3) : (!A) attributes {kind = "compute"} {
      %n = dataflow.trip_count "past max 6 + seq max 8"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (!A) {
        %ti = tensor.empty() : tensor<1x4xf32>
        %t = itensor.read %s2 init(%ti : tensor<1x4xf32>) : !A -> tensor<1x4xf32>
        %ui = tensor.empty() : tensor<1x4xf32>
        %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
            ins(%t : tensor<1x4xf32>) outs(%ui : tensor<1x4xf32>) attrs = {dataflow.unroll = array<i64: 1, 4>} {
        ^bb0(%x: f32, %y: f32):
          %z = arith.mulf %x, %two : f32
          linalg.yield %z : f32
        } -> tensor<1x4xf32>
        %q = itensor.write %u into %p : tensor<1x4xf32>, !A
        scf.yield %q : !A
      }
      dataflow.yield %r : !A
    }
    dataflow.task "store_result0" attributes {kind = "dma_out", argument = "result0"} {
      %n = dataflow.trip_count "past max 6 + seq max 8"
      scf.for %i = %c0 to %n step %c1 {
        %ti = tensor.empty() : tensor<1x4xf32>
        %t = itensor.read %s3 init(%ti : tensor<1x4xf32>) : !A -> tensor<1x4xf32>
        %sv = memref.subview %m2[%i, 0] [1, 4] [1, 1] : memref<14x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
        bufferization.materialize_in_destination %t in writable %sv : (tensor<1x4xf32>, memref<1x4xf32, strided<[4, 1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.yield
  }
  dataflow.kernel "group1" (%m0: memref<8x4xf32> = %arg0 : memref<8x4xf32>,
                            %m1: memref<14x4xf32> = %result0 : memref<14x4xf32>,
                            %m2: memref<8x14xf32> = %result1 : memref<8x14xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %e0 = itensor.instance "load_arg0_1_out" depth 2 : !X
    %s0 = dataflow.task "load_arg0_1" inits(%o = %e0) : (!X) attributes {kind = "dma_in", argument = "arg0"} {
      %n = dataflow.trip_count "seq max 8"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (!X) {
        %sv = memref.subview %m0[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<1x4xf32, strided<[4, 1], offset: ?>> to tensor<1x4xf32>
        %q = itensor.write %t into %p : tensor<1x4xf32>, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    %e1 = itensor.instance "load_result0_out" depth 2 : !K
    %s1 = dataflow.task "load_result0" inits(%o = %e1) : (!K) attributes {kind = "dma_in", argument = "result0"} {
      %n = dataflow.trip_count "seq max 8"
      %m = dataflow.trip_count "past max 6 + seq max 8"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (!K) {
        %r1 = scf.for %j = %c0 to %m step %c1 iter_args(%p1 = %p) -> (!K) {
          %sv = memref.subview %m1[%j, 0] [1, 4] [1, 1] : memref<14x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
          %t = bufferization.to_tensor %sv restrict : memref<1x4xf32, strided<[4, 1], offset: ?>> to tensor<1x4xf32>
          %q = itensor.write %t into %p1 : tensor<1x4xf32>, !K
          scf.yield %q : !K
        }
        scf.yield %r1 : !K
      }
      dataflow.yield %r : !K
    }
    %e2 = itensor.instance "matmul_0_out" depth 2 : !S
    // 8 * 14 * 4 products at the largest sizes.
    %s2 = dataflow.task "matmul_0" inits(%o = %e2) : (!S) attributes {kind = "compute", macs = 448 : i64} {
      %n = dataflow.trip_count "seq max 8"
      %m = dataflow.trip_count "past max 6 + seq max 8"
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %o) -> (!S) {
        %xi = tensor.empty() : tensor<1x4xf32>
        %x = itensor.read %s0 init(%xi : tensor<1x4xf32>) : !X -> tensor<1x4xf32>
        %r1 = scf.for %j = %c0 to %m step %c1 iter_args(%p1 = %p) -> (!S) {
          %yi = tensor.empty() : tensor<1x4xf32>
          %y = itensor.read %s1 init(%yi : tensor<1x4xf32>) : !K -> tensor<1x4xf32>
          %ui = tensor.empty() : tensor<1x1xf32>
          %u0 = linalg.fill ins(%zero : f32) outs(%ui : tensor<1x1xf32>) -> tensor<1x1xf32>
          %u = linalg.generic {indexing_maps = [#row, #col, #out], iterator_types = ["parallel", "parallel", "reduction"]}
              ins(%x, %y : tensor<1x4xf32>, tensor<1x4xf32>) outs(%u0 : tensor<1x1xf32>) attrs = {dataflow.unroll = array<i64: 1, 1, 4>} {
          ^bb0(%a: f32, %b: f32, %c: f32):
            %ab = arith.mulf %a, %b : f32
            %sum = arith.addf %c, %ab : f32
            linalg.yield %sum : f32
          } -> tensor<1x1xf32>
          %q = itensor.write %u into %p1 : tensor<1x1xf32>, !S
          scf.yield %q : !S
        }
        scf.yield %r1 : !S
      }
      dataflow.yield %r : !S
    }
    dataflow.task "store_result1" attributes {kind = "dma_out", argument = "result1"} {
      %n = dataflow.trip_count "seq max 8"
      %m = dataflow.trip_count "past max 6 + seq max 8"
      scf.for %i = %c0 to %n step %c1 {
        scf.for %j = %c0 to %m step %c1 {
          %ti = tensor.empty() : tensor<1x1xf32>
          %t = itensor.read %s2 init(%ti : tensor<1x1xf32>) : !S -> tensor<1x1xf32>
          %sv = memref.subview %m2[%i, %j] [1, 1] [1, 1] : memref<8x14xf32> to memref<1x1xf32, strided<[14, 1], offset: ?>>
          bufferization.materialize_in_destination %t in writable %sv : (tensor<1x1xf32>, memref<1x1xf32, strided<[14, 1], offset: ?>>) -> ()
        }
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
