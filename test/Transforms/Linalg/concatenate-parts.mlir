// RUN: streamtensor-opt %s --st-concatenate-parts | FileCheck %s

// The part covers rows 1 and 2, and of these the columns from 3 to the end.
// CHECK-LABEL: func.func @insert
// CHECK-SAME: (%[[PART:.*]]: tensor<2x5xi8>, %[[X:.*]]: tensor<4x8xi8>)
// CHECK-DAG: %[[ABOVE:.*]] = tensor.extract_slice %[[X]][0, 0] [1, 8] [1, 1]
// CHECK-DAG: %[[ROWS:.*]] = tensor.extract_slice %[[X]][1, 0] [2, 8] [1, 1]
// CHECK-DAG: %[[LEFT:.*]] = tensor.extract_slice %[[ROWS]][0, 0] [2, 3] [1, 1]
// CHECK-DAG: %[[MIDDLE:.*]] = tensor.concat dim(1) %[[LEFT]], %[[PART]]
// CHECK-DAG: %[[BELOW:.*]] = tensor.extract_slice %[[X]][3, 0] [1, 8] [1, 1]
// CHECK: tensor.concat dim(0) %[[ABOVE]], %[[MIDDLE]], %[[BELOW]]
func.func @insert(%part: tensor<2x5xi8>, %x: tensor<4x8xi8>) -> tensor<4x8xi8> {
  %y = tensor.insert_slice %part into %x[1, 3] [2, 5] [1, 1] : tensor<2x5xi8> into tensor<4x8xi8>
  return %y : tensor<4x8xi8>
}

// One row, given without its unit dimension.
// CHECK-LABEL: func.func @row
// CHECK: %[[R:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [1, 8]
// CHECK: tensor.concat dim(0) %[[R]], %{{.*}} : (tensor<1x8xf32>, tensor<3x8xf32>)
func.func @row(%part: tensor<8xf32>, %x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = tensor.insert_slice %part into %x[0, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// Every second element, and a computed position: left alone.
// CHECK-LABEL: func.func @others
// CHECK: tensor.insert_slice
// CHECK: tensor.insert_slice
func.func @others(%part: tensor<2xf32>, %x: tensor<8xf32>, %at: index) -> tensor<8xf32> {
  %y = tensor.insert_slice %part into %x[0] [2] [2] : tensor<2xf32> into tensor<8xf32>
  %z = tensor.insert_slice %part into %y[%at] [2] [1] : tensor<2xf32> into tensor<8xf32>
  return %z : tensor<8xf32>
}
