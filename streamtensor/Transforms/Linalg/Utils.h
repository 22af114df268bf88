//===- Utils.h - Shared questions about Linalg generics ---------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small predicates and builders that the normalization passes share.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_LINALG_UTILS_H
#define STREAMTENSOR_TRANSFORMS_LINALG_UTILS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <optional>
#include <string>

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace streamtensor {

/// True for the elements that a stream can carry: f32, f16, bf16, and signless
/// integers of 1, 8, 16, 32 and 64 bits.
bool isStreamable(mlir::Type element);

/// True if all loops of `op` are parallel, it has one result, and all operands
/// are tensors or scalars.
bool isParallelGeneric(mlir::linalg::GenericOp op);

/// True if `op` only moves data: a parallel generic with one input whose body
/// yields that input unchanged (a transpose, a broadcast or an identity).
bool isCopy(mlir::linalg::GenericOp op);

/// True if `map` reads a tensor through windows: every result is a sum of loops
/// times positive constants, no loop occurs twice, and some result is more than
/// one loop.
bool isWindowMap(mlir::AffineMap map);

/// True if `op` is the windows of a tensor: a copy from a window map to the
/// identity.
bool isWindow(mlir::linalg::GenericOp op);

/// The operation that combines the running value of the reduction's result
/// number `index` with one more element (`%new = arith.addf %out, %x`), if the
/// body of `op` has that form with a supported operation and `%x` does not
/// depend on `%out`; else null.
mlir::Operation *matchCombiner(mlir::linalg::GenericOp op, unsigned index = 0);

/// The element that leaves the other operand of `combiner` unchanged: 0 for a
/// sum, 1 for a product, the least number for a maximum, the greatest for a
/// minimum, all bits or none for combinations of bits.
mlir::TypedAttr getNeutralElement(mlir::Operation *combiner);

/// The scalar constant that `value` is filled with everywhere (linalg.fill of a
/// constant, or a splat constant), or nothing.
std::optional<mlir::TypedAttr> getSplatValue(mlir::Value value);

/// `file:line` of the model source that `loc` came from, or an empty string
/// when the location says nothing. Of several frames the innermost counts that
/// is not PyTorch's own; of a fused location the last part, which is the
/// operation that the others were fused into.
std::string getModelLine(mlir::Location loc);

/// True for source files of PyTorch itself, which say little about a model.
bool isLibraryFrame(llvm::StringRef file);

/// The greedy driver's configuration of all normalization passes: bounded, so
/// that patterns that undo each other end in an error instead of a hang.
mlir::GreedyRewriteConfig getBoundedRewriteConfig();

/// Applies `patterns` to `op` greedily with the bounded configuration; emits an
/// error that names `pass` when they do not converge.
mlir::LogicalResult applyBounded(mlir::Operation *op,
                                 mlir::RewritePatternSet &&patterns,
                                 llvm::StringRef pass);

/// Adds the canonicalization patterns of the dialects that occur in normalized
/// functions, and one that turns a reshaped `tensor.empty` into a
/// `tensor.empty` (upstream's needs interface models that a tool may not have
/// registered).
void addCanonicalizationPatterns(mlir::RewritePatternSet &patterns);

/// Creates `tensor.empty` of the given shape and element type.
mlir::Value createEmpty(mlir::OpBuilder &builder, mlir::Location loc,
                        llvm::ArrayRef<int64_t> shape, mlir::Type element);

/// True if `op` skips elements and can be written with slices that do not: its
/// bounds are static, and it runs upwards.
bool canUnstride(mlir::tensor::ExtractSliceOp op);

/// True if `op` surrounds a tensor with a constant, by constant amounts that
/// are not negative.
bool isConstantPad(mlir::tensor::PadOp op);

/// True if `op` can be written as a concatenation of slices: its bounds are
/// constant, and it skips no element.
bool canConcatenate(mlir::tensor::InsertSliceOp op);

/// The value that `value` is another shape of.
mlir::Value stripReshapes(mlir::Value value);

/// The value that `value` is another shape or a part of.
mlir::Value stripViews(mlir::Value value);

/// The grouping that collapses a tensor of rank `rank` to its dimensions `kept`
/// (ascending) when all others have size one. Empty if none is kept (rank 0).
llvm::SmallVector<mlir::ReassociationIndices>
groupAround(int64_t rank, llvm::ArrayRef<int64_t> kept);

/// A view of `value` with only its dimensions `kept`; the others must have size
/// one. Returns `value` itself if all are kept.
mlir::Value squeeze(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value value, llvm::ArrayRef<int64_t> kept);

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_LINALG_UTILS_H
