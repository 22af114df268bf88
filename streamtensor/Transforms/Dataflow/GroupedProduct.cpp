//===- GroupedProduct.cpp - products summed group by group ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the two steps of a product that is quantized in groups.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Dataflow/GroupedProduct.h"

#include "streamtensor/Transforms/Dataflow/IterationSpace.h"

using namespace mlir;
using linalg::GenericOp;

/// The dimensions of `product` that its reader `sum` reduces, if these are
/// groups of both operands.
static SmallVector<int64_t> reducedGroups(GenericOp product, GenericOp sum,
                                          OpOperand &use) {
  SmallVector<AffineMap> maps = product.getIndexingMapsArray();
  AffineMap read = sum.getMatchingIndexingMap(&use);
  SmallVector<utils::IteratorType> kinds = sum.getIteratorTypesArray();
  SmallVector<int64_t> groups;
  for (auto [written, reader] :
       llvm::zip_equal(maps.back().getResults(), read.getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(written);
    auto sumDim = dyn_cast<AffineDimExpr>(reader);
    if (!dim || !sumDim)
      return {};
    if (kinds[sumDim.getPosition()] != utils::IteratorType::reduction)
      continue;
    if (!maps[0].isFunctionOfDim(dim.getPosition()) ||
        !maps[1].isFunctionOfDim(dim.getPosition()))
      return {};
    groups.push_back(dim.getPosition());
  }
  return groups;
}

GenericOp streamtensor::groupSum(GenericOp product) {
  if (!isContraction(product) || !product->hasOneUse())
    return nullptr;
  OpOperand &use = *product->use_begin();
  auto sum = dyn_cast<GenericOp>(use.getOwner());
  if (!sum || !sum.isDpsInput(&use) || sum.getNumReductionLoops() == 0 ||
      isWindow(sum) || reducedGroups(product, sum, use).empty())
    return nullptr;
  return sum;
}

GenericOp streamtensor::summedProduct(GenericOp sum) {
  for (Value input : sum.getDpsInputs())
    if (auto product = input.getDefiningOp<GenericOp>();
        product && groupSum(product) == sum)
      return product;
  return nullptr;
}

SmallVector<int64_t> streamtensor::groupDims(GenericOp product) {
  GenericOp sum = groupSum(product);
  if (!sum)
    return {};
  return reducedGroups(product, sum, *product->use_begin());
}
