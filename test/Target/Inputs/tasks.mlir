// Phase `allocated`, one kernel with every kind of task:
//
//   arg0: tensor<8x32xf32> --load--> tokens 1x16, row by row --fork--> a, b
//   a --relu_scale--> c = max(a, 0) * 0.5
//   b --row_sum--> s[8] = sum over columns           (scalar accumulators)
//   c --convert--> tokens 8x1, column by column      (ping-pong buffer)
//   transposed --slice--> columns 4..11              (scf.if)
//   s --store--> result0[8]; slice --store--> result1[8x8]
!A = !itensor.itensor<1x16xf32, [8, 2] * [1, 16], (d0, d1) -> (d0, d1)>
!S = !itensor.itensor<1xf32, [8] * [1], (d0) -> (d0)>
!T = !itensor.itensor<8x1xf32, [32] * [1], (d0) -> (0, d0)>
!U = !itensor.itensor<8x1xf32, [8] * [1], (d0) -> (0, d0)>
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
#by16 = affine_map<(d0) -> (d0 * 16)>
func.func @tasks(%arg0: memref<8x32xf32> {dataflow.name = "arg0", dataflow.role = "input"},
                 %result0: memref<8xf32> {dataflow.name = "result0", dataflow.role = "output"},
                 %result1: memref<8x8xf32> {dataflow.name = "result1", dataflow.role = "output"}) {
  dataflow.kernel "group0" (%m0: memref<8x32xf32> = %arg0 : memref<8x32xf32>,
                            %m1: memref<8xf32> = %result0 : memref<8xf32>,
                            %m2: memref<8x8xf32> = %result1 : memref<8x8xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c12 = arith.constant 12 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %e0 = itensor.instance "load_arg0_out" depth 2 : !A
    %in = dataflow.task "load_arg0" inits(%o = %e0) : (!A) attributes {kind = "dma_in", argument = "arg0"} {
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%p = %o) -> (!A) {
        %r1 = scf.for %j = %c0 to %c2 step %c1 iter_args(%p1 = %p) -> (!A) {
          %x = affine.apply #by16(%j)
          %sv = memref.subview %m0[%i, %x] [1, 16] [1, 1] : memref<8x32xf32> to memref<1x16xf32, strided<[32, 1], offset: ?>>
          %t = bufferization.to_tensor %sv restrict : memref<1x16xf32, strided<[32, 1], offset: ?>> to tensor<1x16xf32>
          %q = itensor.write %t into %p1 : tensor<1x16xf32>, !A
          scf.yield %q : !A
        }
        scf.yield %r1 : !A
      }
      dataflow.yield %r : !A
    }
    %e1 = itensor.instance "fork_0_out0" depth 2 : !A
    %e2 = itensor.instance "fork_0_out1" depth 2 : !A
    %f:2 = dataflow.task "fork_0" inits(%oa = %e1, %ob = %e2) : (!A, !A) attributes {kind = "fork"} {
      %r:2 = scf.for %i = %c0 to %c8 step %c1 iter_args(%pa = %oa, %pb = %ob) -> (!A, !A) {
        %r1:2 = scf.for %j = %c0 to %c2 step %c1 iter_args(%pa1 = %pa, %pb1 = %pb) -> (!A, !A) {
          %ti = tensor.empty() : tensor<1x16xf32>
          %t = itensor.read %in init(%ti : tensor<1x16xf32>) : !A -> tensor<1x16xf32>
          %qa = itensor.write %t into %pa1 : tensor<1x16xf32>, !A
          %qb = itensor.write %t into %pb1 : tensor<1x16xf32>, !A
          scf.yield %qa, %qb : !A, !A
        }
        scf.yield %r1#0, %r1#1 : !A, !A
      }
      dataflow.yield %r#0, %r#1 : !A, !A
    }
    %e3 = itensor.instance "relu_scale_0_out" depth 2 : !A
    %c = dataflow.task "relu_scale_0" inits(%o = %e3) : (!A) attributes {kind = "compute", source = "relu at model.py:5"} {
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%p = %o) -> (!A) {
        %r1 = scf.for %j = %c0 to %c2 step %c1 iter_args(%p1 = %p) -> (!A) {
          %ti = tensor.empty() : tensor<1x16xf32>
          %t = itensor.read %f#0 init(%ti : tensor<1x16xf32>) : !A -> tensor<1x16xf32>
          %ui = tensor.empty() : tensor<1x16xf32>
          %u = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
              ins(%t : tensor<1x16xf32>) outs(%ui : tensor<1x16xf32>) attrs = {dataflow.unroll = array<i64: 1, 16>} {
          ^bb0(%x: f32, %y: f32):
            %m = arith.maximumf %x, %zero : f32
            %s = arith.mulf %m, %half : f32
            linalg.yield %s : f32
          } -> tensor<1x16xf32>
          %q = itensor.write %u into %p1 : tensor<1x16xf32>, !A
          scf.yield %q : !A
        }
        scf.yield %r1 : !A
      }
      dataflow.yield %r : !A
    }
    %e4 = itensor.instance "row_sum_0_out" depth 8 : !S
    %s = dataflow.task "row_sum_0" inits(%o = %e4) : (!S) attributes {kind = "compute", macs = 256 : i64, source = "sum at model.py:6"} {
      %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%p = %o) -> (!S) {
        %acc0 = tensor.empty() : tensor<1xf32>
        %acc1 = linalg.fill ins(%zero : f32) outs(%acc0 : tensor<1xf32>) -> tensor<1xf32>
        %acc = scf.for %j = %c0 to %c2 step %c1 iter_args(%a = %acc1) -> (tensor<1xf32>) {
          %ti = tensor.empty() : tensor<1x16xf32>
          %t = itensor.read %f#1 init(%ti : tensor<1x16xf32>) : !A -> tensor<1x16xf32>
          %u = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
              ins(%t : tensor<1x16xf32>) outs(%a : tensor<1xf32>) attrs = {dataflow.unroll = array<i64: 1, 16>} {
          ^bb0(%x: f32, %y: f32):
            %m = arith.addf %y, %x : f32
            linalg.yield %m : f32
          } -> tensor<1xf32>
          scf.yield %u : tensor<1xf32>
        }
        %q = itensor.write %acc into %p : tensor<1xf32>, !S
        scf.yield %q : !S
      }
      dataflow.yield %r : !S
    }
    %e5 = itensor.instance "convert_0_out" depth 2 : !T
    %t = dataflow.task "convert_0" inits(%o = %e5) : (!T) attributes {kind = "converter", shared_loops = 0 : i64, reason = "columns instead of rows"} {
      %b0 = tensor.empty() {hls.name = "buffer", dataflow.ping_pong} : tensor<8x32xf32>
      %b = scf.for %i = %c0 to %c8 step %c1 iter_args(%p = %b0) -> (tensor<8x32xf32>) {
        %b1 = scf.for %j = %c0 to %c2 step %c1 iter_args(%p1 = %p) -> (tensor<8x32xf32>) {
          %ti = tensor.empty() : tensor<1x16xf32>
          %t = itensor.read %c init(%ti : tensor<1x16xf32>) : !A -> tensor<1x16xf32>
          %x = affine.apply #by16(%j)
          %n = tensor.insert_slice %t into %p1[%i, %x] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<8x32xf32>
          scf.yield %n : tensor<8x32xf32>
        }
        scf.yield %b1 : tensor<8x32xf32>
      } {hls.label = "fill"}
      %r = scf.for %j = %c0 to %c32 step %c1 iter_args(%p = %o) -> (!T) {
        %t = tensor.extract_slice %b[0, %j] [8, 1] [1, 1] : tensor<8x32xf32> to tensor<8x1xf32>
        %q = itensor.write %t into %p : tensor<8x1xf32>, !T
        scf.yield %q : !T
      } {hls.label = "drain"}
      dataflow.yield %r : !T
    }
    %e6 = itensor.instance "slice_0_out" depth 2 : !U
    %u = dataflow.task "slice_0" inits(%o = %e6) : (!U) attributes {kind = "compute", source = "slice at model.py:7"} {
      %r = scf.for %j = %c0 to %c32 step %c1 iter_args(%p = %o) -> (!U) {
        %ti = tensor.empty() : tensor<8x1xf32>
        %v = itensor.read %t init(%ti : tensor<8x1xf32>) : !T -> tensor<8x1xf32>
        %ge = arith.cmpi sge, %j, %c4 : index
        %lt = arith.cmpi slt, %j, %c12 : index
        %inside = arith.andi %ge, %lt : i1
        %q = scf.if %inside -> (!U) {
          %w = itensor.write %v into %p : tensor<8x1xf32>, !U
          scf.yield %w : !U
        } else {
          scf.yield %p : !U
        }
        scf.yield %q : !U
      }
      dataflow.yield %r : !U
    }
    dataflow.task "store_result0" attributes {kind = "dma_out", argument = "result0"} {
      scf.for %i = %c0 to %c8 step %c1 {
        %ti = tensor.empty() : tensor<1xf32>
        %v = itensor.read %s init(%ti : tensor<1xf32>) : !S -> tensor<1xf32>
        %sv = memref.subview %m1[%i] [1] [1] : memref<8xf32> to memref<1xf32, strided<[1], offset: ?>>
        bufferization.materialize_in_destination %v in writable %sv : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.task "store_result1" attributes {kind = "dma_out", argument = "result1"} {
      scf.for %j = %c0 to %c8 step %c1 {
        %ti = tensor.empty() : tensor<8x1xf32>
        %v = itensor.read %u init(%ti : tensor<8x1xf32>) : !U -> tensor<8x1xf32>
        %sv = memref.subview %m2[0, %j] [8, 1] [1, 1] : memref<8x8xf32> to memref<8x1xf32, strided<[8, 1], offset: ?>>
        bufferization.materialize_in_destination %v in writable %sv : (tensor<8x1xf32>, memref<8x1xf32, strided<[8, 1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
