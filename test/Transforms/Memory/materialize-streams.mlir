// RUN: streamtensor-opt %s --st-materialize-streams | FileCheck %s

!row = !itensor.itensor<4xf32, [4] * [4], (d0) -> (d0)>

// Arguments and results become memory; a task loads tokens of 4 from it, one
// stores them.
// CHECK-LABEL: func.func @copy
// CHECK-SAME: (%[[A:.*]]: memref<16xf32> {{{.*}}dataflow.role = "input"{{.*}}}, %[[R:.*]]: memref<16xf32> {{{.*}}dataflow.role = "output"{{.*}}})
// CHECK: dataflow.kernel "group0" (%[[SRC:.*]]: memref<16xf32> = %[[A]] : memref<16xf32>, %[[DST:.*]]: memref<16xf32> = %[[R]] : memref<16xf32>) {
// CHECK: %[[X:.*]] = dataflow.task "load_arg0" {{.*}} kind = "dma_in"
// CHECK: memref.subview %[[SRC]][%{{.*}}] [4] [1]
// CHECK: itensor.write
// CHECK: dataflow.task "store_result0" {{.*}} kind = "dma_out"
// CHECK: itensor.read %[[X]]
// CHECK: memref.subview %[[DST]][%{{.*}}] [4] [1]
func.func @copy(%arg0: tensor<16xf32>) -> tensor<16xf32> {
  %0 = dataflow.kernel "group0" (%x : !row = %arg0 : tensor<16xf32>) -> (tensor<16xf32>) {
    dataflow.yield %x : !row
  }
  return %0 : tensor<16xf32>
}

// Columns of 2 come in, rows of 2 go out. Of the 4x2, each half of 2x2 is filled
// by 2 reads and drained by 2 writes, in 2 segments, and is held twice: 2 * 2 *
// 4 * 2 bytes.
// CHECK-LABEL: func.func @converter
// CHECK: %[[X:.*]] = dataflow.task "load_arg0"
// CHECK: dataflow.task "converter_0" {{.*}}buffer_shape = array<i64: 2, 2>, bytes = 32 : i64, kind = "converter"
// CHECK: scf.for
// CHECK: tensor.empty() {{.*}} : tensor<2x2xf32>
// CHECK: scf.for
// CHECK: itensor.read %[[X]]
// CHECK: tensor.insert_slice
// CHECK: hls.label = "fill
// CHECK: scf.for
// CHECK: tensor.extract_slice
// CHECK: itensor.write
// CHECK: hls.label = "drain
// CHECK: hls.label = "segment
// CHECK: dataflow.task "store_result0"
func.func @converter(%arg0: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = dataflow.kernel "group0" (%x : !itensor.itensor<2x1xf32, [2, 2] * [2, 1], (d0, d1) -> (d0, d1)> = %arg0 : tensor<4x2xf32>) -> (tensor<4x2xf32>) {
    %r = itensor.converter %x : !itensor.itensor<2x1xf32, [2, 2] * [2, 1], (d0, d1) -> (d0, d1)>
                             to !itensor.itensor<1x2xf32, [4] * [1], (d0) -> (d0, 0)>
    dataflow.yield %r : !itensor.itensor<1x2xf32, [4] * [1], (d0) -> (d0, 0)>
  }
  return %0 : tensor<4x2xf32>
}

// Between two kernels lies a workspace in memory.
// CHECK-LABEL: func.func @two_kernels
// CHECK: %[[W:.*]] = memref.alloc() {hls.name = "workspace0"} : memref<16xf32>
// CHECK: dataflow.kernel "group0" ({{.*}} = %[[W]] : memref<16xf32>)
// CHECK: dataflow.task "store_workspace0"
// CHECK: dataflow.kernel "group1" ({{.*}} = %[[W]] : memref<16xf32>
// CHECK: dataflow.task "load_workspace0"
func.func @two_kernels(%arg0: tensor<16xf32>) -> tensor<16xf32> {
  %0 = dataflow.kernel "group0" (%x : !row = %arg0 : tensor<16xf32>) -> (tensor<16xf32>) {
    dataflow.yield %x : !row
  }
  %1 = dataflow.kernel "group1" (%x : !row = %0 : tensor<16xf32>) -> (tensor<16xf32>) {
    dataflow.yield %x : !row
  }
  return %1 : tensor<16xf32>
}
