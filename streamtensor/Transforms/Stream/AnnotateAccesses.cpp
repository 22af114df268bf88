//===- AnnotateAccesses.cpp - Access programs as attributes ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shows what the analysis of FIFO accesses found.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Stream/Passes.h"

#include "streamtensor/Analysis/KernelAccesses.h"

#include "mlir/IR/Builders.h"

namespace streamtensor {
#define GEN_PASS_DEF_ANNOTATEACCESSES
#include "streamtensor/Transforms/Stream/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;

namespace {

struct AnnotateAccesses
    : streamtensor::impl::AnnotateAccessesBase<AnnotateAccesses> {
  void runOnOperation() override {
    Builder builder(&getContext());
    WalkResult walk = getOperation()->walk([&](dataflow::KernelOp kernel) {
      FailureOr<KernelAccesses> accesses = analyzeAccesses(kernel);
      if (failed(accesses))
        return WalkResult::interrupt();
      const ProcessNetwork &network = accesses->network;
      for (auto [task, process] :
           llvm::zip_equal(accesses->tasks, network.processes))
        task->setAttr("dataflow.accesses",
                      builder.getStringAttr(
                          toString(simplify(process.program), network)));
      return WalkResult::skip();
    });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
