// RUN: streamtensor-opt %s --st-pack-weights | FileCheck %s

!columns = !itensor.itensor<16x1xf32, [2, 16, 2] * [1, 1, 16], (d0, d1, d2) -> (d2, d1)>

// Two passes (d0) over columns of 32, in two tokens each: one pass is stored.
// CHECK-LABEL: func.func @weight
// CHECK-SAME: dataflow.packing = !itensor.itensor<16x1xf32, [16, 2] * [1, 16], (d0, d1) -> (d1, d0)>
// CHECK-SAME: dataflow.shape = array<i64: 32, 16>
func.func @weight(%arg0: tensor<32x16xf32> {dataflow.role = "weight"}) {
  dataflow.kernel "group0" (%x : !columns = %arg0 : tensor<32x16xf32>) {
    dataflow.yield
  }
  return
}

// An input comes as it is, in the order of its elements.
// CHECK-LABEL: func.func @input
// CHECK-NOT: dataflow.packing
// CHECK: return
func.func @input(%arg0: tensor<32x16xf32> {dataflow.role = "input"}) {
  dataflow.kernel "group0" (%x : !columns = %arg0 : tensor<32x16xf32>) {
    dataflow.yield
  }
  return
}

// Two orders cannot both be stored.
// CHECK-LABEL: func.func @two_orders
// CHECK-NOT: dataflow.packing
// CHECK: return
func.func @two_orders(%arg0: tensor<32x16xf32> {dataflow.role = "weight"}) {
  dataflow.kernel "group0" (%x : !columns = %arg0 : tensor<32x16xf32>) {
    dataflow.yield
  }
  dataflow.kernel "group1" (%x : !itensor.itensor<1x16xf32, [32] * [1], (d0) -> (d0, 0)> = %arg0 : tensor<32x16xf32>) {
    dataflow.yield
  }
  return
}
