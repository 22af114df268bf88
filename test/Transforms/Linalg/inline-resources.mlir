// RUN: split-file %s %t
// RUN: streamtensor-opt %t/whole.mlir --st-inline-resources | FileCheck %s
// RUN: not streamtensor-opt %t/missing.mlir --st-inline-resources 2>&1 | FileCheck %s --check-prefix=MISSING

// 0000003F and 0000803E are 0.5 and 0.25 in little-endian f32, after the four
// bytes of the alignment.
//--- whole.mlir
// CHECK-LABEL: func.func @slopes
// CHECK: arith.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
func.func @slopes() -> tensor<2xf32> {
  %0 = arith.constant dense_resource<slopes> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      slopes: "0x040000000000003F0000803E"
    }
  }
#-}

//--- missing.mlir
// MISSING: error: 'arith.constant' op expected 'tensor<2xf32>' in the resource 'slopes' but got 0 bytes; give the whole text, with its resources
func.func @slopes() -> tensor<2xf32> {
  %0 = arith.constant dense_resource<slopes> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
