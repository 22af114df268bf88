//===- DataflowToStream.cpp - From itensors to FIFOs and arrays -----------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass `--st-dataflow-to-stream`: its steps in order, and what must hold
// afterwards.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/DataflowToStream/Steps.h"
#include "streamtensor/Conversion/Passes.h"

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace streamtensor {
#define GEN_PASS_DEF_DATAFLOWTOSTREAM
#include "streamtensor/Conversion/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;

/// Checks what phase `stream` promises: no itensors and tensors, and no arrays
/// that travel through loops.
static LogicalResult verifyStreams(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    for (Type type :
         llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                  SmallVector<Type>(op->getResultTypes())))
      if (isa<TensorType, itensor::ITensorType>(type)) {
        op->emitOpError() << "expected streams and arrays only but got "
                          << type;
        return WalkResult::interrupt();
      }
    if (auto loop = dyn_cast<scf::ForOp>(op))
      for (Value init : loop.getInitArgs())
        if (isa<MemRefType>(init.getType())) {
          op->emitOpError() << "expected arrays to be updated in place but "
                               "this loop passes one on that it did not get";
          return WalkResult::interrupt();
        }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {

struct DataflowToStream
    : public streamtensor::impl::DataflowToStreamBase<DataflowToStream> {
  void getDependentDialects(DialectRegistry &registry) const override {
    DataflowToStreamBase::getDependentDialects(registry);
    registerTaskBufferization(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // In place updates leave copies onto themselves and loops that carry an
    // array unchanged: both fold.
    OpPassManager fold(ModuleOp::getOperationName());
    fold.addPass(createCSEPass());
    fold.addPass(createCanonicalizerPass());
    fold.addPass(createCSEPass());
    fold.addPass(createCanonicalizerPass());
    if (failed(replaceITensorsByStreams(module)) ||
        failed(makeBuffersExplicit(module)) || failed(bufferizeTasks(module)) ||
        failed(runPipeline(fold, module)))
      return signalPassFailure();
    widenPorts(module);
    if (failed(lowerTilesToLoops(module)) ||
        failed(runPipeline(fold, module)) || failed(verifyStreams(module)))
      signalPassFailure();
  }
};

} // namespace
