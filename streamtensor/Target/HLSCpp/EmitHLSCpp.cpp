//===- EmitHLSCpp.cpp - The pass that prints HLS C++ ----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass `--st-emit-hls-cpp`.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/HLSCpp/HLSCpp.h"
#include "streamtensor/Target/HLSCpp/Passes.h"

#include "llvm/Support/FileSystem.h"

namespace streamtensor {
#define GEN_PASS_DEF_EMITHLSCPP
#include "streamtensor/Target/HLSCpp/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;

namespace {

struct EmitHLSCpp : public streamtensor::impl::EmitHLSCppBase<EmitHLSCpp> {
  using EmitHLSCppBase::EmitHLSCppBase;

  void runOnOperation() override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (failed(emitHLSCpp(getOperation(), stream)))
      return signalPassFailure();
    std::error_code error;
    llvm::raw_fd_ostream file(output, error);
    if (error) {
      getOperation().emitError()
          << "cannot write '" << output << "': " << error.message();
      return signalPassFailure();
    }
    file << text;
    markAllAnalysesPreserved();
  }
};

} // namespace
