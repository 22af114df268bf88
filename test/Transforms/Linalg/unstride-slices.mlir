// RUN: streamtensor-opt %s --st-unstride-slices --split-input-file | FileCheck %s

// Every second element from the second on: 8 groups of two, of each the second.
// CHECK-LABEL: func.func @odd
// CHECK-SAME: (%[[X:.*]]: tensor<4x16xf32>)
// CHECK: %[[E:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [4, 8, 2] : tensor<4x16xf32> into tensor<4x8x2xf32>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[E]][0, 0, 1] [4, 8, 1] [1, 1, 1] : tensor<4x8x2xf32> to tensor<4x8x1xf32>
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[S]] {{\[\[}}0], [1, 2]] : tensor<4x8x1xf32> into tensor<4x8xf32>
// CHECK: return %[[C]]
func.func @odd(%x: tensor<4x16xf32>) -> tensor<4x8xf32> {
  %s = tensor.extract_slice %x[0, 1] [4, 8] [1, 2] : tensor<4x16xf32> to tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// -----

// Elements 7 and 10 of 13: groups of three from 6 on, the second of each.
// CHECK-LABEL: func.func @inner
// CHECK-SAME: (%[[X:.*]]: tensor<13xf32>)
// CHECK: %[[P:.*]] = tensor.extract_slice %[[X]][6] [6] [1] : tensor<13xf32> to tensor<6xf32>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[P]] {{\[\[}}0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
// CHECK: tensor.extract_slice %[[E]][0, 1] [2, 1] [1, 1] : tensor<2x3xf32> to tensor<2x1xf32>
func.func @inner(%x: tensor<13xf32>) -> tensor<2xf32> {
  %s = tensor.extract_slice %x[7] [2] [3] : tensor<13xf32> to tensor<2xf32>
  return %s : tensor<2xf32>
}

// -----

// Elements 7, 10 and 13: groups from 6 on would end at 15, beyond the 14, but
// groups from 5 on end at 14; the third of each.
// CHECK-LABEL: func.func @beyond_the_end
// CHECK-SAME: (%[[X:.*]]: tensor<14xf32>)
// CHECK: %[[P:.*]] = tensor.extract_slice %[[X]][5] [9] [1] : tensor<14xf32> to tensor<9xf32>
// CHECK: %[[E:.*]] = tensor.expand_shape %[[P]] {{\[\[}}0, 1]] output_shape [3, 3] : tensor<9xf32> into tensor<3x3xf32>
// CHECK: tensor.extract_slice %[[E]][0, 2] [3, 1] [1, 1] : tensor<3x3xf32> to tensor<3x1xf32>
func.func @beyond_the_end(%x: tensor<14xf32>) -> tensor<3xf32> {
  %s = tensor.extract_slice %x[7] [3] [3] : tensor<14xf32> to tensor<3xf32>
  return %s : tensor<3xf32>
}

// -----

// Elements 0, 2 and 4 of 5: no three groups of two fit. The last is taken alone.
// CHECK-LABEL: func.func @last_alone
// CHECK-SAME: (%[[X:.*]]: tensor<5xf32>)
// CHECK-DAG: %[[P:.*]] = tensor.extract_slice %[[X]][0] [4] [1] : tensor<5xf32> to tensor<4xf32>
// CHECK-DAG: %[[E:.*]] = tensor.expand_shape %[[P]] {{\[\[}}0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>
// CHECK-DAG: %[[S:.*]] = tensor.extract_slice %[[E]][0, 0] [2, 1] [1, 1] : tensor<2x2xf32> to tensor<2x1xf32>
// CHECK-DAG: %[[C:.*]] = tensor.collapse_shape %[[S]] {{\[\[}}0, 1]] : tensor<2x1xf32> into tensor<2xf32>
// CHECK-DAG: %[[L:.*]] = tensor.extract_slice %[[X]][4] [1] [1] : tensor<5xf32> to tensor<1xf32>
// CHECK: %[[Y:.*]] = tensor.concat dim(0) %[[C]], %[[L]] : (tensor<2xf32>, tensor<1xf32>) -> tensor<3xf32>
// CHECK: return %[[Y]]
func.func @last_alone(%x: tensor<5xf32>) -> tensor<3xf32> {
  %s = tensor.extract_slice %x[0] [3] [2] : tensor<5xf32> to tensor<3xf32>
  return %s : tensor<3xf32>
}

// -----

// A dropped dimension is dropped at the end.
// CHECK-LABEL: func.func @rank_reducing
// CHECK: tensor.expand_shape
// CHECK: tensor.collapse_shape
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [1, 8] [1, 1] : tensor<1x8xf32> to tensor<8xf32>
func.func @rank_reducing(%x: tensor<4x16xf32>) -> tensor<8xf32> {
  %s = tensor.extract_slice %x[2, 0] [1, 8] [1, 2] : tensor<4x16xf32> to tensor<8xf32>
  return %s : tensor<8xf32>
}
