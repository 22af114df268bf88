//===- StreamToHLS.cpp - Functions and directives for HLS -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass `--st-stream-to-hls`.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/Passes.h"
#include "streamtensor/Conversion/StreamToHLS/Steps.h"

#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

namespace streamtensor {
#define GEN_PASS_DEF_STREAMTOHLS
#include "streamtensor/Conversion/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;

namespace {

struct StreamToHLS : public streamtensor::impl::StreamToHLSBase<StreamToHLS> {
  using StreamToHLSBase::StreamToHLSBase;

  void runOnOperation() override {
    if (maxBundles == 0 || burst == 0) {
      getOperation().emitError("expected at least one bundle and one beat");
      return signalPassFailure();
    }
    FailureOr<func::FuncOp> top = makeTopFunction(getOperation());
    if (failed(top) || failed(outlineTasks(*top)))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->hasAttr(hls::kTaskAttr))
        attachDirectives(function);
    attachInterfaces(*top, maxBundles, burst);
  }
};

} // namespace
