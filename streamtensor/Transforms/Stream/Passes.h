//===- Passes.h - Stream passes ---------------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes that give the streams between tasks their hardware form.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_STREAM_PASSES_H
#define STREAMTENSOR_TRANSFORMS_STREAM_PASSES_H

#include "streamtensor/Dialect/ITensor/IR/ITensor.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace streamtensor {

#define GEN_PASS_DECL
#include "streamtensor/Transforms/Stream/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "streamtensor/Transforms/Stream/Passes.h.inc"

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_STREAM_PASSES_H
