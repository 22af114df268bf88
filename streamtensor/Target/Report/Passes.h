//===- Passes.h - Output of a design ----------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass `--st-write-design`.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_REPORT_PASSES_H
#define STREAMTENSOR_TARGET_REPORT_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

namespace streamtensor {

#define GEN_PASS_DECL
#include "streamtensor/Target/Report/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "streamtensor/Target/Report/Passes.h.inc"

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_REPORT_PASSES_H
