//===- InferConverters.cpp - size of converters -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Puts buffer shape, shared loops, bytes and the reason on every converter.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Dataflow/Passes.h"

#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Support/ConverterInference.h"

#include "mlir/IR/Builders.h"

namespace streamtensor {
#define GEN_PASS_DEF_INFERCONVERTERS
#include "streamtensor/Transforms/Dataflow/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::itensor;

namespace {

class InferConverters
    : public streamtensor::impl::InferConvertersBase<InferConverters> {
public:
  using streamtensor::impl::InferConvertersBase<
      InferConverters>::InferConvertersBase;

  void runOnOperation() override {
    if (algorithm != "default" && algorithm != "paper") {
      getOperation().emitError()
          << "expected algorithm 'default' or 'paper' but got '" << algorithm
          << "'";
      return signalPassFailure();
    }
    SmallVector<ConverterOp> converters;
    getOperation().walk([&](ConverterOp op) { converters.push_back(op); });
    for (ConverterOp op : converters)
      if (failed(infer(op)))
        return signalPassFailure();
  }

private:
  LogicalResult infer(ConverterOp op) {
    ITensorType source = op.getSource().getType();
    ITensorType result = op.getResult().getType();
    OpBuilder builder(op);
    if (isSameSequence(source, result)) {
      op.replaceAllUsesWith(
          builder.createOrFold<CastOp>(op.getLoc(), result, op.getSource()));
      op.erase();
      return success();
    }
    std::string error;
    std::optional<SymbolicConverterPlan> plan = inferConverter(
        source.getSymbolicOrder(), result.getSymbolicOrder(), error,
        algorithm == "paper" ? ConverterAlgorithm::Paper
                             : ConverterAlgorithm::Default);
    if (!plan)
      return op.emitOpError() << error;
    int64_t elementBytes =
        llvm::divideCeil(source.getElementType().getIntOrFloatBitWidth(), 8);
    op.setBufferShape(ArrayRef<int64_t>(plan->bufferShape));
    op.setSharedLoops(plan->shared.size());
    op.setBytes(plan->bytes(elementBytes));
    op.setReason(StringRef(plan->reason));
    return success();
  }
};

} // namespace
