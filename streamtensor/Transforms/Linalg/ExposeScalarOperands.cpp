//===- ExposeScalarOperands.cpp - rank-0 operands -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes every tensor that the body of a generic reads an operand of it.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

namespace streamtensor {
#define GEN_PASS_DEF_EXPOSESCALAROPERANDS
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;

/// Rebuilds `op` with each rank-0 tensor that its body extracts from as an input
/// of its own.
static void exposeScalars(linalg::GenericOp op) {
  SmallVector<tensor::ExtractOp> extracts;
  op.getBody()->walk([&](tensor::ExtractOp extract) {
    if (extract.getTensor().getType().getRank() == 0 &&
        !op.getRegion().isAncestor(extract.getTensor().getParentRegion()))
      extracts.push_back(extract);
  });
  if (extracts.empty())
    return;
  OpBuilder builder(op);
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap initMap = maps.pop_back_val();
  Block *body = op.getBody();
  for (tensor::ExtractOp extract : extracts) {
    // The new block argument stands before that of the init.
    BlockArgument argument = body->insertArgument(
        inputs.size(), extract.getType(), extract.getLoc());
    inputs.push_back(extract.getTensor());
    maps.push_back(
        AffineMap::get(op.getNumLoops(), 0, {}, builder.getContext()));
    extract.replaceAllUsesWith(argument);
    extract.erase();
  }
  maps.push_back(initMap);
  auto exposed = linalg::GenericOp::create(
      builder, op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
      op.getIteratorTypesArray());
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    exposed->setDiscardableAttr(attribute.getName(), attribute.getValue());
  exposed.getRegion().takeBody(op.getRegion());
  op.replaceAllUsesWith(exposed);
  op.erase();
}

namespace {

struct ExposeScalarOperands
    : streamtensor::impl::ExposeScalarOperandsBase<ExposeScalarOperands> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> generics;
    getOperation().walk(
        [&](linalg::GenericOp op) { generics.push_back(op); });
    for (linalg::GenericOp op : generics)
      if (op.getNumDpsInits() == 1)
        exposeScalars(op);
  }
};

} // namespace
