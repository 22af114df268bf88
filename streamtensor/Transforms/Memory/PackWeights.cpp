//===- PackWeights.cpp - packing of weights -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the packed layout of every weight that one DMA loads.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Memory/Passes.h"

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Transforms/Dataflow/StreamEdge.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"

namespace streamtensor {
#define GEN_PASS_DEF_PACKWEIGHTS
#include "streamtensor/Transforms/Memory/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;
using streamtensor::dataflow::KernelOp;
using streamtensor::itensor::ITensorType;

/// The order without its replays, loops renumbered.
static SymbolicOrder withoutRevisits(const SymbolicOrder &order) {
  std::vector<int> dims = order.largest().loopDims();
  SymbolicOrder result;
  result.element = order.element;
  result.map.resize(order.map.size());
  for (unsigned loop = 0; loop < order.numLoops(); ++loop) {
    if (dims[loop] < 0)
      continue;
    result.map[dims[loop]].push_back(result.numLoops());
    result.trips.push_back(order.trips[loop]);
    result.steps.push_back(order.steps[loop]);
  }
  result.setMaxima(order.maxima);
  return result;
}

/// The single use of `argument` as the operand of a kernel, through reshapes;
/// null when there are several or others.
static OpOperand *singleKernelUse(Value argument) {
  while (argument.hasOneUse()) {
    OpOperand &use = *argument.use_begin();
    if (isa<KernelOp>(use.getOwner()))
      return &use;
    if (!isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(use.getOwner()))
      return nullptr;
    argument = use.getOwner()->getResult(0);
  }
  return nullptr;
}

namespace {

class PackWeights : public streamtensor::impl::PackWeightsBase<PackWeights> {
public:
  using streamtensor::impl::PackWeightsBase<PackWeights>::PackWeightsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    Builder builder(&getContext());
    for (BlockArgument argument : function.getArguments()) {
      unsigned index = argument.getArgNumber();
      auto role =
          function.getArgAttrOfType<StringAttr>(index, kArgumentRoleAttr);
      if (!role || role.getValue() != "weight")
        continue;
      OpOperand *use = singleKernelUse(argument);
      if (!use)
        continue;
      auto kernel = cast<KernelOp>(use->getOwner());
      auto stream = dyn_cast<ITensorType>(
          kernel.getBlock().getArgument(use->getOperandNumber()).getType());
      if (!stream)
        continue;
      // Over the argument's own shape where that can be said, in normal form:
      // designs that reshape a weight differently then share its packing.
      SymbolicOrder order = withoutRevisits(stream.getSymbolicOrder());
      // A weight has one size: what depends on parameters is how often it
      // passes.
      if (!order.isStatic())
        continue;
      std::vector<Reshape> reshapes;
      traceReshapes(use->get(), reshapes);
      if (std::optional<SymbolicOrder> pulled = pullThrough(order, reshapes))
        order = pulled->normalForm();
      auto packing = ITensorType::get(stream.getElementType(), order);
      function.setArgAttr(index, kPackingAttr, TypeAttr::get(packing));
      function.setArgAttr(
          index, kPackedShapeAttr,
          builder.getDenseI64ArrayAttr(packing.getTensorShape()));
      function.setArgAttr(
          index, kTokenShapeAttr,
          builder.getDenseI64ArrayAttr(stream.getElementShape()));
      function.setArgAttr(
          index, kTensorShapeAttr,
          builder.getDenseI64ArrayAttr(
              cast<RankedTensorType>(argument.getType()).getShape()));
    }
  }
};

} // namespace
