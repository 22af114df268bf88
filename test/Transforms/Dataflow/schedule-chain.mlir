// Loop orders along a chain of products, and the overlap that they give.
// RUN: streamtensor-opt %s --st-schedule-ops | FileCheck %s
// RUN: streamtensor-opt %s --st-schedule-ops --st-build-dataflow --st-fuse-kernels=onchip-budget-bytes=1000000 --st-infer-converters --st-materialize-streams --st-insert-forks --st-annotate-accesses | FileCheck %s --check-prefix=OVERLAP

#vec = affine_map<(n, k) -> (k)>
#mat = affine_map<(n, k) -> (n, k)>
#out = affine_map<(n, k) -> (n)>
#id = affine_map<(n) -> (n)>

// 512 columns are two blocks of 16 tokens of 16. The second product takes its
// 512 inputs one by one and has its 64 results at the end.
// CHECK-LABEL: func.func @chain
// CHECK: linalg.generic
// CHECK-SAME: #dataflow.schedule<order = [0, 1, 0], steps = [256, 1, 16], tile = [16, 1], unroll = [16, 1]>
// CHECK: #dataflow.schedule<order = [0], tile = [16], unroll = [16]>
// CHECK: #dataflow.schedule<order = [1, 0], tile = [16, 1], unroll = [16, 1]>

// The first product writes its first 16 tokens before it reads the weights of
// the other block: 64 x 16 reads of weights, 16 writes, twice. The second reads
// its first input after 1 of 32 tokens (its width adapter takes one at a time),
// so its first read precedes the last write of the first by 31 tokens.
// OVERLAP-LABEL: func.func @chain
// OVERLAP: dataflow.task "matvec_0"
// OVERLAP-SAME: dataflow.accesses = "loop 2 { loop 64 { read [[X:.*]]; read load_arg1_out * 16 }; write matvec_0_out * 16 }"
// OVERLAP: dataflow.task "relu_0"
// OVERLAP-SAME: dataflow.accesses = "loop 32 { read matvec_0_out; write relu_0_out }"
// OVERLAP: dataflow.task "converter_0"
// OVERLAP-SAME: dataflow.accesses = "loop 32 { read relu_0_out; write converter_0_out * 16 }"
// OVERLAP: dataflow.task "matvec_1"
// OVERLAP-SAME: dataflow.accesses = "loop 512 { read converter_0_out; read load_arg2_out * 4 }; write matvec_1_out * 4"
func.func @chain(%x: tensor<64xf32>, %w: tensor<512x64xf32>, %v: tensor<64x512xf32>) -> tensor<64xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<512xf32>
  %e1 = tensor.empty() : tensor<64xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<512xf32>) -> tensor<512xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
  %h = linalg.generic {indexing_maps = [#vec, #mat, #out], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<64xf32>, tensor<512x64xf32>) outs(%f0 : tensor<512xf32>) attrs = {st.name = "matvec"} {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<512xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%h : tensor<512xf32>) outs(%e0 : tensor<512xf32>) attrs = {st.name = "relu"} {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %zero : f32
    linalg.yield %m : f32
  } -> tensor<512xf32>
  %y = linalg.generic {indexing_maps = [#vec, #mat, #out], iterator_types = ["parallel", "reduction"]} ins(%r, %v : tensor<512xf32>, tensor<64x512xf32>) outs(%f1 : tensor<64xf32>) attrs = {st.name = "matvec"} {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<64xf32>
  return %y : tensor<64xf32>
}

// A weight of bytes comes in tokens of 64, 512 bits; 32 bits of them in 16.
// CHECK-LABEL: func.func @bytes
// CHECK: #dataflow.schedule<order = [1, 0], tile = [64, 1], unroll = [64, 1]>
// CHECK: #dataflow.schedule<order = [0], tile = [16], unroll = [16]>
func.func @bytes(%x: tensor<64xi8>, %w: tensor<128x64xi8>) -> tensor<128xf32> {
  %zero = arith.constant 0 : i32
  %e0 = tensor.empty() : tensor<128xi32>
  %e1 = tensor.empty() : tensor<128xf32>
  %f0 = linalg.fill ins(%zero : i32) outs(%e0 : tensor<128xi32>) -> tensor<128xi32>
  %h = linalg.generic {indexing_maps = [#vec, #mat, #out], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<64xi8>, tensor<128x64xi8>) outs(%f0 : tensor<128xi32>) {
  ^bb0(%a: i8, %b: i8, %acc: i32):
    %c = arith.extsi %a : i8 to i32
    %d = arith.extsi %b : i8 to i32
    %p = arith.muli %c, %d : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  } -> tensor<128xi32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%h : tensor<128xi32>) outs(%e1 : tensor<128xf32>) {
  ^bb0(%a: i32, %o: f32):
    %f = arith.sitofp %a : i32 to f32
    linalg.yield %f : f32
  } -> tensor<128xf32>
  return %y : tensor<128xf32>
}
