//===- GroupedProduct.h - products summed group by group -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A product of numbers that are quantized in groups along the reduction has two
// steps: integers are multiplied and summed within a group, then the sums are
// scaled and summed over the groups. In Linalg these are two reductions; the
// groups are a batch dimension of the first one.
//
//   dot[t, n, g] = sum over k of x[t, g, k] * w[n, g, k]        the product
//   y[t, n] = sum over g of dot[t, n, g] * sx[t, g] * sw[n, g]  the sum
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_DATAFLOW_GROUPEDPRODUCT_H
#define STREAMTENSOR_TRANSFORMS_DATAFLOW_GROUPEDPRODUCT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace streamtensor {

/// The operation that sums the result of contraction `product` over groups: its
/// only reader, a reduction over dimensions that both operands of the product
/// have. Null where there is none.
mlir::linalg::GenericOp groupSum(mlir::linalg::GenericOp product);

/// The product whose result `sum` sums over groups, or null.
mlir::linalg::GenericOp summedProduct(mlir::linalg::GenericOp sum);

/// The dimensions of `product` that `groupSum` reduces; none without one.
mlir::SmallVector<int64_t> groupDims(mlir::linalg::GenericOp product);

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_DATAFLOW_GROUPEDPRODUCT_H
