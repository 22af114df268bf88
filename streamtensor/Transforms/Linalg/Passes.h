//===- Passes.h - Normalization of imported Linalg --------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes and the one pipeline that bring an imported function into the form of
// phase `normalized`.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_LINALG_PASSES_H
#define STREAMTENSOR_TRANSFORMS_LINALG_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassOptions.h"
#include "llvm/ADT/StringRef.h"
#include <memory>
#include <optional>
#include <string>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace streamtensor {

#define GEN_PASS_DECL
#include "streamtensor/Transforms/Linalg/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "streamtensor/Transforms/Linalg/Passes.h.inc"

/// Options of the normalization pipeline.
struct NormalizeOptions : public mlir::PassPipelineOptions<NormalizeOptions> {
  Option<bool> demoteF64{
      *this, "demote-f64",
      llvm::cl::desc("compute in f32 what the model computes in f64"),
      llvm::cl::init(true)};
  /// Off: a slice of an argument is loaded whole and cut on the chip, so that
  /// each part of a split product would load all of the weight.
  Option<bool> splitSlicedGenerics{
      *this, "split-sliced-generics",
      llvm::cl::desc("split generics that are only read in disjoint slices"),
      llvm::cl::init(false)};
  /// See --st-specialize-sizes.
  Option<std::string> sizes{
      *this, "sizes",
      llvm::cl::desc("values of the parameters that dynamic dimensions depend "
                     "on, which become static: seq=8,past=3")};
};

/// Adds the passes from imported Linalg to the normalized form to `pm`, a pass
/// manager on `builtin.module`.
void buildNormalizePipeline(mlir::OpPassManager &pm,
                            const NormalizeOptions &options);
void buildNormalizePipeline(mlir::OpPassManager &pm);

/// Registers `--st-normalize`, the pipeline above.
void registerNormalizePipeline();

/// Registers the passes of this folder and their pipeline.
inline void registerLinalgTransformsPasses() {
  registerLinalgPasses();
  registerNormalizePipeline();
}

/// Looks for operations of dialects that the compiler does not have (for
/// example `tm_tensor.scan`) in the text of a module, before it is parsed:
/// their custom syntax would otherwise end in a parse error. Returns a message
/// that lists all of them with their model lines, or nothing.
std::optional<std::string> findUnregisteredOps(llvm::StringRef text);

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_LINALG_PASSES_H
