//===- BufferizeTasks.cpp - Tensors of tasks become arrays ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One-shot bufferization of task bodies. Every `tensor.empty` gets explicit
// memory first, one for each use. So the analysis only has to prove that
// updates can happen in place; whatever it would have to copy shows up as an
// allocation of its own, and that is refused above the size of a token.
//
// Memory at the start of a task may serve every iteration of a loop that starts
// with an uninitialised tensor, because such a tensor never outlives its
// iteration: one-shot bufferization refuses to yield it from a loop.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/DataflowToStream/Steps.h"

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Bufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace streamtensor;

namespace {

/// The stream behind the handle that the first step left on an access.
FailureOr<Value> streamOf(Operation *op, Value itensor) {
  if (auto handle = itensor.getDefiningOp<stream::ToITensorOp>())
    return handle.getSource();
  return op->emitOpError() << "expected a stream.to_itensor as its stream";
}

struct ReadModel
    : public BufferizableOpInterface::ExternalModel<ReadModel,
                                                    itensor::ReadOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return false;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return true;
  }
  AliasingValueList getAliasingValues(Operation *op, OpOperand &,
                                      const AnalysisState &) const {
    return {{op->getResult(0), BufferRelation::Equivalent}};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto read = cast<itensor::ReadOp>(op);
    FailureOr<Value> source = streamOf(op, read.getSource());
    if (failed(source))
      return failure();
    FailureOr<Value> token =
        getBuffer(rewriter, read.getInit(), options, state);
    if (failed(token))
      return failure();
    stream::ReadOp::create(rewriter, op->getLoc(), Type(), *source, *token);
    replaceOpWithBufferizedValues(rewriter, op, *token);
    return success();
  }
};

struct WriteModel
    : public BufferizableOpInterface::ExternalModel<WriteModel,
                                                    itensor::WriteOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto write = cast<itensor::WriteOp>(op);
    FailureOr<Value> dest = streamOf(op, write.getDest());
    if (failed(dest))
      return failure();
    FailureOr<Value> token =
        getBuffer(rewriter, write.getValue(), options, state);
    if (failed(token))
      return failure();
    stream::WriteOp::create(rewriter, op->getLoc(), *token, *dest);
    rewriter.replaceOp(op, write.getDest());
    return success();
  }
};

} // namespace

void streamtensor::registerTaskBufferization(DialectRegistry &registry) {
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerBufferizableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  registry.addExtension(+[](MLIRContext *context, itensor::ITensorDialect *) {
    itensor::ReadOp::attachInterface<ReadModel>(*context);
    itensor::WriteOp::attachInterface<WriteModel>(*context);
  });
}

/// The memory that a value of `type` needs, in bits.
static int64_t sizeInBits(ShapedType type) {
  return type.getNumElements() * type.getElementTypeBitWidth();
}

/// The value is carried through loops, directly or after a fill: an
/// accumulator.
static bool isAccumulator(Value value) {
  for (Operation *user : value.getUsers()) {
    if (isa<scf::ForOp>(user))
      return true;
    if (auto fill = dyn_cast<linalg::FillOp>(user))
      if (isAccumulator(fill.getResult(0)))
        return true;
  }
  return false;
}

LogicalResult streamtensor::makeBuffersExplicit(ModuleOp module) {
  // One for each use first: common subexpression elimination may have merged
  // what must not share memory.
  SmallVector<tensor::EmptyOp> empties;
  module.walk([&](tensor::EmptyOp op) { empties.push_back(op); });
  OpBuilder builder(module.getContext());
  SmallVector<tensor::EmptyOp> single;
  for (tensor::EmptyOp empty : empties) {
    for (OpOperand &use : llvm::make_early_inc_range(empty->getUses())) {
      builder.setInsertionPoint(use.getOwner());
      auto copy = cast<tensor::EmptyOp>(builder.clone(*empty));
      use.set(copy);
      single.push_back(copy);
    }
    empty.erase();
  }
  for (tensor::EmptyOp empty : single) {
    RankedTensorType type = empty.getType();
    auto task = empty->getParentOfType<dataflow::TaskOp>();
    if (!task)
      return empty.emitOpError() << "expected to stand inside a dataflow.task";
    if (!type.hasStaticShape())
      return empty.emitOpError() << "expected a static shape but got " << type;
    auto memory = MemRefType::get(type.getShape(), type.getElementType());
    auto name = empty->getAttrOfType<StringAttr>(hls::kNameAttr);
    bool pingPong = empty->hasAttr("dataflow.ping_pong");
    Value buffer;
    if (name || pingPong || isAccumulator(empty) ||
        sizeInBits(type) > kMaxTokenBits) {
      builder.setInsertionPointToStart(&task.getBlock());
      if (!name)
        name = builder.getStringAttr(isAccumulator(empty) ? "acc" : "buffer");
      buffer = stream::BufferOp::create(builder, empty.getLoc(), memory, name,
                                        pingPong);
    } else {
      builder.setInsertionPoint(empty);
      buffer = memref::AllocOp::create(builder, empty.getLoc(), memory);
    }
    builder.setInsertionPoint(empty);
    Value tensor = ToTensorOp::create(builder, empty.getLoc(), type, buffer,
                                      /*restrict=*/true, /*writable=*/true);
    empty.replaceAllUsesWith(tensor);
    empty.erase();
  }
  return success();
}

LogicalResult streamtensor::bufferizeTasks(ModuleOp module) {
  OneShotBufferizationOptions options;
  options.bufferAlignment = 0;
  options.allocationFn = [](OpBuilder &builder, Location loc, MemRefType type,
                            ValueRange sizes, unsigned) -> FailureOr<Value> {
    if (!sizes.empty() || sizeInBits(type) > kMaxTokenBits)
      return emitError(loc)
             << "expected an update in place but a copy of " << type
             << " would be needed; a task must not read an array again after "
                "it has written it";
    return memref::AllocOp::create(builder, loc, type).getResult();
  };
  BufferizationState state;
  return runOneShotBufferize(module, options, state);
}
