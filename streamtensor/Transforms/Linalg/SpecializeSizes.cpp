//===- SpecializeSizes.cpp - dynamic dimensions get sizes -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes a function with dynamic dimensions a static one.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <numeric>

namespace streamtensor {
#define GEN_PASS_DEF_SPECIALIZESIZES
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;

/// The elements of a list of constants.
static std::optional<SmallVector<int64_t>> constantElements(Value list) {
  SmallVector<int64_t> elements;
  DenseIntElementsAttr constant;
  if (matchPattern(list, m_Constant(&constant))) {
    for (const APInt &element : constant.getValues<APInt>())
      elements.push_back(element.getSExtValue());
    return elements;
  }
  auto op = list.getDefiningOp<tensor::FromElementsOp>();
  if (!op)
    return std::nullopt;
  for (Value element : op.getElements()) {
    std::optional<int64_t> value = getConstantIntValue(element);
    if (!value)
      return std::nullopt;
    elements.push_back(*value);
  }
  return elements;
}

/// The tensor behind a cast that only forgets sizes, or `value`.
static Value withKnownSizes(Value value) {
  auto cast = value.getDefiningOp<tensor::CastOp>();
  return cast && tensor::canFoldIntoConsumerOp(cast) ? cast.getSource() : value;
}

/// Replaces `op` by `value`, of the same tensor with more known sizes.
static void replaceByKnown(PatternRewriter &rewriter, Operation *op,
                           Value value) {
  Type type = op->getResult(0).getType();
  if (value.getType() != type)
    value = tensor::CastOp::create(rewriter, op->getLoc(), type, value);
  rewriter.replaceOp(op, value);
}

namespace {

/// A reshape to a list of constants becomes one that its types describe.
struct ReshapeToConstantShape : OpRewritePattern<tensor::ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    Value value = withKnownSizes(op.getSource());
    auto source = dyn_cast<RankedTensorType>(value.getType());
    std::optional<SmallVector<int64_t>> shape = constantElements(op.getShape());
    if (!source || !source.hasStaticShape() || !shape ||
        llvm::any_of(*shape, [](int64_t size) { return size < 0; }))
      return rewriter.notifyMatchFailure(op, "its shapes are not known");
    auto result = RankedTensorType::get(*shape, source.getElementType());
    if (result.getNumElements() != source.getNumElements())
      return rewriter.notifyMatchFailure(op, "its shapes do not agree");
    replaceByKnown(rewriter, op, reshape(rewriter, op.getLoc(), value, result));
    return success();
  }

  /// In one step where the dimensions of one shape are groups of the other's,
  /// else over one dimension of all elements.
  static Value reshape(OpBuilder &builder, Location loc, Value value,
                       RankedTensorType result) {
    auto source = cast<RankedTensorType>(value.getType());
    if (source == result)
      return value;
    std::optional<SmallVector<ReassociationIndices>> groups =
        getReassociationIndicesForReshape(source, result);
    if (!groups) {
      auto flat = RankedTensorType::get({source.getNumElements()},
                                        source.getElementType());
      return reshape(builder, loc, reshape(builder, loc, value, flat), result);
    }
    if (source.getRank() < result.getRank())
      return tensor::ExpandShapeOp::create(builder, loc, result, value,
                                           *groups);
    return tensor::CollapseShapeOp::create(builder, loc, result, value,
                                           *groups);
  }
};

/// A concatenation whose operands have known sizes has a known size.
struct ConcatOfKnown : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Value> operands =
        llvm::map_to_vector(op.getInputs(), withKnownSizes);
    RankedTensorType type = tensor::ConcatOp::inferResultType(
        op.getDim(), TypeRange(ValueRange(operands)));
    if (llvm::equal(operands, op.getInputs()) &&
        (type == op.getType() || !type.hasStaticShape()))
      return rewriter.notifyMatchFailure(op, "no more is known");
    replaceByKnown(
        rewriter, op,
        tensor::ConcatOp::create(rewriter, op.getLoc(), op.getDim(), operands));
    return success();
  }
};

/// A reshape of a tensor of known sizes, where they give those of the result.
template <typename OpTy>
struct ReshapeOfKnown : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;
  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    Value value = withKnownSizes(op.getSrc());
    auto source = cast<RankedTensorType>(value.getType());
    if (!source.hasStaticShape() || op.getResultType().hasStaticShape())
      return rewriter.notifyMatchFailure(op, "no more is known");
    SmallVector<int64_t> shape;
    if constexpr (std::is_same_v<OpTy, tensor::ExpandShapeOp>) {
      for (OpFoldResult size : op.getMixedOutputShape()) {
        std::optional<int64_t> known = getConstantIntValue(size);
        if (!known)
          return rewriter.notifyMatchFailure(op, "a size is computed");
        shape.push_back(*known);
      }
    } else {
      for (const ReassociationIndices &group : op.getReassociationIndices()) {
        int64_t &size = shape.emplace_back(1);
        for (int64_t dim : group)
          size *= source.getDimSize(dim);
      }
    }
    auto result = RankedTensorType::get(shape, source.getElementType());
    replaceByKnown(rewriter, op,
                   OpTy::create(rewriter, op.getLoc(), result, value,
                                op.getReassociationIndices()));
    return success();
  }
};

/// A generic that reads a tensor at its own position reads an operand.
struct ExtractToOperand : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (op.getNumResults() != 1)
      return rewriter.notifyMatchFailure(op, "it has several results");
    tensor::ExtractOp found;
    SmallVector<int64_t> kept;
    SmallVector<AffineExpr> position;
    op.getBody()->walk([&](tensor::ExtractOp extract) {
      if (!found && readsOwnPosition(op, extract, kept, position))
        found = extract;
    });
    if (!found)
      return rewriter.notifyMatchFailure(op, "no read at its own position");
    Value operand =
        squeeze(rewriter, op.getLoc(), withKnownSizes(found.getTensor()), kept);
    SmallVector<Value> inputs(op.getDpsInputs());
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    unsigned number = inputs.size();
    inputs.push_back(operand);
    maps.insert(
        maps.begin() + number,
        AffineMap::get(op.getNumLoops(), 0, position, rewriter.getContext()));
    auto replacement = linalg::GenericOp::create(
        rewriter, op.getLoc(), op.getResultTypes(), inputs, op.getDpsInits(),
        maps, op.getIteratorTypesArray());
    rewriter.inlineRegionBefore(op.getRegion(), replacement.getRegion(),
                                replacement.getRegion().end());
    Value element = replacement.getBody()->insertArgument(
        number, found.getType(), found.getLoc());
    rewriter.replaceOp(found, element);
    rewriter.replaceOp(op, replacement.getResults());
    return success();
  }

private:
  /// Whether `extract` reads a static tensor from outside at indices of loops,
  /// each over the whole dimension, or at 0 where there is no other element.
  static bool readsOwnPosition(linalg::GenericOp op, tensor::ExtractOp extract,
                               SmallVectorImpl<int64_t> &kept,
                               SmallVectorImpl<AffineExpr> &position) {
    kept.clear();
    position.clear();
    auto type =
        cast<RankedTensorType>(withKnownSizes(extract.getTensor()).getType());
    if (!type.hasStaticShape() ||
        op.getRegion().isAncestor(extract.getTensor().getParentRegion()))
      return false;
    SmallVector<int64_t> extents = op.getStaticLoopRanges();
    for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
      if (matchPattern(index, m_Zero()) && type.getDimSize(dim) == 1)
        continue;
      auto loop = index.getDefiningOp<linalg::IndexOp>();
      if (!loop || extents[loop.getDim()] != type.getDimSize(dim))
        return false;
      kept.push_back(dim);
      position.push_back(getAffineDimExpr(loop.getDim(), op.getContext()));
    }
    return true;
  }
};

struct SpecializeSizes
    : public streamtensor::impl::SpecializeSizesBase<SpecializeSizes> {
  using SpecializeSizesBase::SpecializeSizesBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    ParameterValues parsed;
    if (failed(parseValues(parsed)) ||
        failed(specializeArguments(function, parsed)))
      return signalPassFailure();
    OpPassManager fold(func::FuncOp::getOperationName());
    fold.addPass(createCanonicalizerPass());
    fold.addPass(createCSEPass());
    if (failed(runPipeline(fold, function)))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns.add<ReshapeToConstantShape, ExtractToOperand, ConcatOfKnown,
                 ReshapeOfKnown<tensor::ExpandShapeOp>,
                 ReshapeOfKnown<tensor::CollapseShapeOp>>(&getContext());
    addCanonicalizationPatterns(patterns);
    if (failed(applyBounded(function, std::move(patterns), getArgument())) ||
        failed(runPipeline(fold, function)))
      return signalPassFailure();
    specializeResults(function);
    if (failed(runPipeline(fold, function)))
      signalPassFailure();
  }

private:
  LogicalResult parseValues(ParameterValues &parsed) {
    SmallVector<StringRef> entries;
    StringRef(values).split(entries, ',', -1, /*KeepEmpty=*/false);
    for (StringRef entry : entries) {
      auto [name, number] = entry.split('=');
      int64_t value = 0;
      if (number.getAsInteger(10, value) || value < 0)
        return emitError(getOperation().getLoc())
               << "expected values like 'seq=8,past=3' but got '" << values
               << "'";
      parsed[name.str()] = value;
    }
    return success();
  }

  /// The argument gets its static type; the body goes on with the old one.
  LogicalResult specializeArguments(func::FuncOp function,
                                    const ParameterValues &parsed) {
    Block &entry = function.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&entry);
    for (BlockArgument argument : entry.getArguments()) {
      unsigned index = argument.getArgNumber();
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      Attribute dims = function.getArgAttr(index, dataflow::kDimsAttr);
      function.removeArgAttr(index, dataflow::kDimsAttr);
      if (!type || type.hasStaticShape() || !dims)
        continue;
      FailureOr<dataflow::RuntimeShape> shape =
          dataflow::readShape(type, dims, [&] { return function.emitError(); });
      if (failed(shape))
        return failure();
      SmallVector<int64_t> sizes;
      for (const TripCount &size : shape->sizes) {
        ParameterValues used;
        size.collectParameters(used);
        for (const auto &[name, unused] : used)
          if (!parsed.count(name))
            return function.emitError() << "expected a value of parameter '"
                                        << name << "' in '" << values << "'";
        sizes.push_back(size.evaluate(parsed));
      }
      auto known = RankedTensorType::get(sizes, type.getElementType());
      argument.setType(known);
      auto forget =
          tensor::CastOp::create(builder, argument.getLoc(), type, argument);
      argument.replaceAllUsesExcept(forget, forget);
    }
    function.setType(builder.getFunctionType(entry.getArgumentTypes(),
                                             function.getResultTypes()));
    return success();
  }

  /// What the body knows about its results is their type.
  void specializeResults(func::FuncOp function) {
    Operation *terminator = function.getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands())
      if (auto cast = operand.get().getDefiningOp<tensor::CastOp>();
          cast && tensor::canFoldIntoConsumerOp(cast))
        operand.set(cast.getSource());
    function.setType(
        FunctionType::get(&getContext(), function.getArgumentTypes(),
                          SmallVector<Type>(terminator->getOperandTypes())));
  }
};

} // namespace
