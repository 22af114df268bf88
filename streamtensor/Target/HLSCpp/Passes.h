//===- Passes.h - Emission of HLS C++ ---------------------------*- C++ -*-===//
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

#ifndef STREAMTENSOR_TARGET_HLSCPP_PASSES_H
#define STREAMTENSOR_TARGET_HLSCPP_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

namespace streamtensor {

#define GEN_PASS_DECL
#include "streamtensor/Target/HLSCpp/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "streamtensor/Target/HLSCpp/Passes.h.inc"

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_HLSCPP_PASSES_H
