// RUN: streamtensor-opt %s --st-simplify-concats --split-input-file | FileCheck %s

// torch.roll: both sizes are known behind the casts.
// CHECK-LABEL: func.func @both_known
// CHECK-SAME: (%[[A:.*]]: tensor<1xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK: tensor.concat dim(0) %[[A]], %[[B]] : (tensor<1xf32>, tensor<4xf32>) -> tensor<5xf32>
func.func @both_known(%a: tensor<1xf32>, %b: tensor<4xf32>) -> tensor<5xf32> {
  %c = tensor.cast %a : tensor<1xf32> to tensor<?xf32>
  %d = tensor.cast %b : tensor<4xf32> to tensor<?xf32>
  %y = tensor.concat dim(0) %c, %d : (tensor<?xf32>, tensor<?xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// A cast that tells a size, instead of hiding one, stays.
// CHECK-LABEL: func.func @cast_that_tells
// CHECK: %[[C:.*]] = tensor.cast
// CHECK: tensor.concat dim(0) %[[C]], %{{.*}} : (tensor<1xf32>, tensor<4xf32>)
func.func @cast_that_tells(%a: tensor<?xf32>, %b: tensor<4xf32>) -> tensor<5xf32> {
  %c = tensor.cast %a : tensor<?xf32> to tensor<1xf32>
  %y = tensor.concat dim(0) %c, %b : (tensor<1xf32>, tensor<4xf32>) -> tensor<5xf32>
  return %y : tensor<5xf32>
}

// -----

// An operand without elements adds nothing; one that is left alone is the result.
// CHECK-LABEL: func.func @empty_operands
// CHECK-SAME: (%[[A:.*]]: tensor<4x1xf32>, %[[E:.*]]: tensor<4x0xf32>)
// CHECK: %[[Y:.*]] = tensor.concat dim(1) %[[A]], %[[A]] : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
// CHECK: return %[[A]], %[[Y]]
func.func @empty_operands(%a: tensor<4x1xf32>, %e: tensor<4x0xf32>) -> (tensor<4x1xf32>, tensor<4x2xf32>) {
  %x = tensor.concat dim(1) %e, %a : (tensor<4x0xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %y = tensor.concat dim(1) %a, %e, %a : (tensor<4x1xf32>, tensor<4x0xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  return %x, %y : tensor<4x1xf32>, tensor<4x2xf32>
}
