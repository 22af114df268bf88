//===- Passes.h - Conversion passes -----------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes from one level of the compiler to the next.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_CONVERSION_PASSES_H
#define STREAMTENSOR_CONVERSION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>

namespace streamtensor {

#define GEN_PASS_DECL
#include "streamtensor/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "streamtensor/Conversion/Passes.h.inc"

} // namespace streamtensor

#endif // STREAMTENSOR_CONVERSION_PASSES_H
