// A matrix-vector product of phase `allocated`: result0[96] = arg1[96x64] * arg0[64],
// weights packed into tokens of 16x1, the reduction outermost.
!X = !itensor.itensor<1xf32, [64] * [1], (d0) -> (d0)>
!W = !itensor.itensor<16x1xf32, [64, 6] * [1, 16], (d0, d1) -> (d1, d0)>
!Y = !itensor.itensor<16xf32, [6] * [16], (d0) -> (d0)>
#lane = affine_map<(n, k) -> (n)>
#col = affine_map<(n, k) -> (k)>
#all = affine_map<(n, k) -> (n, k)>
#by16 = affine_map<(d0) -> (d0 * 16)>
func.func @layer(%arg0: memref<64xf32> {dataflow.name = "arg0", dataflow.role = "input"},
                 %arg1: memref<64x6x16x1xf32> {dataflow.name = "arg1", dataflow.role = "weight", dataflow.packing = !W, dataflow.shape = array<i64: 96, 64>},
                 %result0: memref<96xf32> {dataflow.name = "result0", dataflow.role = "output"}) {
  dataflow.kernel "group0" (%m0: memref<64xf32> = %arg0 : memref<64xf32>,
                            %m1: memref<64x6x16x1xf32> = %arg1 : memref<64x6x16x1xf32>,
                            %m2: memref<96xf32> = %result0 : memref<96xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %e0 = itensor.instance "load_arg0_out" depth 2 because "minimum" {tokens = 64 : i64} : !X
    %s0 = dataflow.task "load_arg0" inits(%o = %e0) : (!X) attributes {kind = "dma_in", argument = "arg0"} {
      %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%p = %o) -> (!X) {
        %sv = memref.subview %m0[%i] [1] [1] : memref<64xf32> to memref<1xf32, strided<[1], offset: ?>>
        %t = bufferization.to_tensor %sv restrict : memref<1xf32, strided<[1], offset: ?>> to tensor<1xf32>
        %q = itensor.write %t into %p : tensor<1xf32>, !X
        scf.yield %q : !X
      }
      dataflow.yield %r : !X
    }
    %e1 = itensor.instance "load_arg1_out" depth 32 because "start-up of matmul_0" : !W
    %s1 = dataflow.task "load_arg1" inits(%o = %e1) : (!W) attributes {kind = "dma_in", argument = "arg1"} {
      %r = scf.for %i = %c0 to %c64 step %c1 iter_args(%p = %o) -> (!W) {
        %r1 = scf.for %j = %c0 to %c6 step %c1 iter_args(%p1 = %p) -> (!W) {
          %sv = memref.subview %m1[%i, %j, 0, 0] [1, 1, 16, 1] [1, 1, 1, 1] : memref<64x6x16x1xf32> to memref<16x1xf32, strided<[1, 1], offset: ?>>
          %t = bufferization.to_tensor %sv restrict : memref<16x1xf32, strided<[1, 1], offset: ?>> to tensor<16x1xf32>
          %q = itensor.write %t into %p1 : tensor<16x1xf32>, !W
          scf.yield %q : !W
        }
        scf.yield %r1 : !W
      }
      dataflow.yield %r : !W
    }
    %e2 = itensor.instance "matmul_0_out" depth 2 : !Y
    %y = dataflow.task "matmul_0" inits(%o = %e2) : (!Y) attributes {kind = "compute", macs = 6144 : i64, source = "linalg.matmul at model.py:12 (self_attn.q_proj)"} {
      %acc0 = tensor.empty() : tensor<6x16xf32>
      %acc1 = linalg.fill ins(%zero : f32) outs(%acc0 : tensor<6x16xf32>) -> tensor<6x16xf32>
      %acc = scf.for %k = %c0 to %c64 step %c1 iter_args(%a = %acc1) -> (tensor<6x16xf32>) {
        %xi = tensor.empty() : tensor<1xf32>
        %xk = itensor.read %s0 init(%xi : tensor<1xf32>) : !X -> tensor<1xf32>
        %an = scf.for %n = %c0 to %c6 step %c1 iter_args(%b = %a) -> (tensor<6x16xf32>) {
          %wi = tensor.empty() : tensor<16x1xf32>
          %wv = itensor.read %s1 init(%wi : tensor<16x1xf32>) : !W -> tensor<16x1xf32>
          %t = tensor.extract_slice %b[%n, 0] [1, 16] [1, 1] : tensor<6x16xf32> to tensor<16xf32>
          %u = linalg.generic {indexing_maps = [#col, #all, #lane], iterator_types = ["parallel", "reduction"]}
              ins(%xk, %wv : tensor<1xf32>, tensor<16x1xf32>) outs(%t : tensor<16xf32>) attrs = {dataflow.unroll = array<i64: 16, 1>} {
          ^bb0(%x: f32, %w: f32, %s: f32):
            %m = arith.mulf %x, %w : f32
            %r = arith.addf %s, %m : f32
            linalg.yield %r : f32
          } -> tensor<16xf32>
          %v = tensor.insert_slice %u into %b[%n, 0] [1, 16] [1, 1] : tensor<16xf32> into tensor<6x16xf32>
          scf.yield %v : tensor<6x16xf32>
        } {hls.label = "n"}
        scf.yield %an : tensor<6x16xf32>
      } {hls.label = "k"}
      %d = scf.for %n = %c0 to %c6 step %c1 iter_args(%p = %o) -> (!Y) {
        %t = tensor.extract_slice %acc[%n, 0] [1, 16] [1, 1] : tensor<6x16xf32> to tensor<16xf32>
        %q = itensor.write %t into %p : tensor<16xf32>, !Y
        scf.yield %q : !Y
      } {hls.label = "drain"}
      dataflow.yield %d : !Y
    }
    dataflow.task "store_result0" attributes {kind = "dma_out", argument = "result0"} {
      scf.for %i = %c0 to %c6 step %c1 {
        %i0 = tensor.empty() : tensor<16xf32>
        %t = itensor.read %y init(%i0 : tensor<16xf32>) : !Y -> tensor<16xf32>
        %off = affine.apply #by16(%i)
        %sv = memref.subview %m2[%off] [16] [1] : memref<96xf32> to memref<16xf32, strided<[1], offset: ?>>
        bufferization.materialize_in_destination %t in writable %sv : (tensor<16xf32>, memref<16xf32, strided<[1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
