//===- SizeConsistency.cpp - Whether run-time sizes agree -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares symbolic sizes operation by operation.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/SizeConsistency.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor;
using streamtensor::dataflow::RuntimeShape;
using streamtensor::dataflow::shapeOf;

namespace {

class SizeChecker {
public:
  explicit SizeChecker(func::FuncOp function) : function(function) {
    for (const dataflow::ParameterRange &range :
         dataflow::parametersOf(function)) {
      smallest[range.name] = range.smallest;
      largest[range.name] = range.largest;
    }
  }

  LogicalResult run() {
    for (BlockArgument argument : function.getArguments())
      if (failed(checkParameters(function, argument)))
        return failure();
    bool failed = false;
    for (Operation &op : function.getBody().getOps()) {
      // An operation is compared only with sizes that are known to be good.
      if (llvm::any_of(op.getResults(), [&](Value result) {
            return ::failed(checkParameters(&op, result));
          }))
        return failure();
      failed |= ::failed(check(&op));
    }
    return failure(failed);
  }

private:
  /// The parameters in the size of `value` are those of the function.
  LogicalResult checkParameters(Operation *op, Value value) {
    if (!isa<RankedTensorType>(value.getType()))
      return success();
    for (const auto &[name, maximum] : shapeOf(value).maxima) {
      auto range = largest.find(name);
      if (range == largest.end())
        return op->emitOpError()
               << "expected '" << dataflow::kParametersAttr
               << "' of the function to say the values of '" << name << "'";
      if (range->second > maximum)
        return op->emitOpError()
               << "expected parameter '" << name << "' to be at most "
               << maximum
               << ", for which there is memory, but the function takes up to "
               << range->second;
      auto [known, isNew] = maxima.emplace(name, maximum);
      if (known->second != maximum)
        return op->emitOpError() << "expected one maximum of parameter '"
                                 << name << "' in a function but got "
                                 << known->second << " and " << maximum;
    }
    return success();
  }

  LogicalResult check(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](linalg::GenericOp op) { return checkLoops(op); })
        .Case([&](tensor::ConcatOp op) { return checkConcat(op); })
        .Case([&](tensor::PadOp op) { return checkPad(op); })
        .Case([&](tensor::ExtractSliceOp op) { return checkSlice(op); })
        .Case([&](tensor::ExpandShapeOp op) {
          return checkReshape(op, op.getSrc(), op.getResult(),
                              op.getReassociationIndices());
        })
        .Case([&](tensor::CollapseShapeOp op) {
          return checkReshape(op, op.getResult(), op.getSrc(),
                              op.getReassociationIndices());
        })
        .Case([&](func::ReturnOp op) { return checkReturn(op); })
        .Default([](Operation *) { return success(); });
  }

  /// Reports that `what` has another size than expected.
  LogicalResult compare(Operation *op, const Twine &what, int64_t dim,
                        const TripCount &want, const TripCount &got) {
    if (want == got)
      return success();
    return op->emitOpError()
           << "expected size '" << want.str() << "' of dimension " << dim
           << " of " << what << " but got '" << got.str() << "'";
  }

  LogicalResult checkLoops(linalg::GenericOp op) {
    SmallVector<std::optional<TripCount>> loops(op.getNumLoops());
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      RuntimeShape shape = operandShape(op, operand);
      for (auto [dim, expr] :
           llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
        // Windows over a size that is known at run time have no schedule.
        auto loop = dyn_cast<AffineDimExpr>(expr);
        if (!loop)
          continue;
        std::optional<TripCount> &size = loops[loop.getPosition()];
        if (!size)
          size = shape.sizes[dim];
        if (*size == shape.sizes[dim])
          continue;
        InFlightDiagnostic diag = op.emitOpError()
                                  << "expected size '" << size->str()
                                  << "' of loop " << loop.getPosition()
                                  << ", as in the operands before, but ";
        if (op.isDpsInit(&operand))
          diag << "the result";
        else
          diag << "operand " << operand.getOperandNumber();
        return diag << " has '" << shape.sizes[dim].str() << "' in dimension "
                    << dim;
      }
    }
    return success();
  }

  LogicalResult checkConcat(tensor::ConcatOp op) {
    RuntimeShape whole = shapeOf(op.getResult());
    int64_t axis = op.getDim();
    TripCount sum;
    for (auto [index, input] : llvm::enumerate(op.getInputs())) {
      RuntimeShape part = shapeOf(input);
      for (auto [dim, size] : llvm::enumerate(part.sizes))
        if (static_cast<int64_t>(dim) == axis)
          sum = sum + size;
        else if (failed(compare(op, "operand " + Twine(index), dim,
                                whole.sizes[dim], size)))
          return failure();
    }
    return compare(op, "the result", axis, sum, whole.sizes[axis]);
  }

  LogicalResult checkPad(tensor::PadOp op) {
    RuntimeShape source = shapeOf(op.getSource()), result = shapeOf(op);
    for (auto [dim, low, high] :
         llvm::enumerate(op.getStaticLow(), op.getStaticHigh()))
      if (failed(compare(op, "the result", dim,
                         source.sizes[dim] + TripCount(low) + TripCount(high),
                         result.sizes[dim])))
        return failure();
    return success();
  }

  LogicalResult checkSlice(tensor::ExtractSliceOp op) {
    RuntimeShape source = shapeOf(op.getSource()), result = shapeOf(op);
    // Others are not normalized.
    if (source.sizes.size() != result.sizes.size() || !op.hasUnitStride() ||
        llvm::is_contained(op.getStaticOffsets(), ShapedType::kDynamic))
      return success();
    for (auto [dim, offset] : llvm::enumerate(op.getStaticOffsets())) {
      TripCount end = result.sizes[dim] + TripCount(offset);
      const TripCount &size = source.sizes[dim];
      if ((size + end * -1).lowest(largest, smallest) >= 0)
        continue;
      InFlightDiagnostic diag =
          op.emitOpError() << "expected the slice to end within size '"
                           << size.str() << "' of dimension " << dim
                           << " for all values of the run-time sizes but it "
                              "ends at '"
                           << end.str() << "'";
      diag.attachNote() << "'" << size.str() << "' goes down to "
                        << size.lowest(largest, smallest)
                        << "; slice less, or raise the smallest values of the "
                           "run-time sizes (\"min\" in the file for --dims)";
      return diag;
    }
    return success();
  }

  /// Each dimension of `collapsed` is the product of a group of `expanded`.
  LogicalResult checkReshape(Operation *op, Value collapsed, Value expanded,
                             ArrayRef<ReassociationIndices> groups) {
    RuntimeShape whole = shapeOf(collapsed), parts = shapeOf(expanded);
    bool expands = expanded.getDefiningOp() == op;
    for (auto [dim, group] : llvm::enumerate(groups)) {
      TripCount product(1);
      for (int64_t part : group) {
        const TripCount &size = parts.sizes[part];
        if (!size.isConstant() && !product.isConstant())
          return op->emitOpError()
                 << "expected one run-time size among the dimensions that "
                    "dimension "
                 << dim << " of the " << (expands ? "source" : "result")
                 << " stands for but got '" << product.str() << "' and '"
                 << size.str() << "'";
        product = size.isConstant() ? product * size.getConstant()
                                    : size * product.getConstant();
      }
      if (failed(compare(op, expands ? "the source" : "the result", dim,
                         product, whole.sizes[dim])))
        return failure();
    }
    return success();
  }

  LogicalResult checkReturn(func::ReturnOp op) {
    for (auto [index, value] : llvm::enumerate(op.getOperands())) {
      auto type = dyn_cast<RankedTensorType>(value.getType());
      if (!type)
        continue;
      FailureOr<RuntimeShape> said = dataflow::readShape(
          type, function.getResultAttr(index, dataflow::kDimsAttr),
          [&] { return function.emitOpError(); });
      if (failed(said))
        return failure();
      RuntimeShape shape = shapeOf(value);
      for (auto [dim, size] : llvm::enumerate(shape.sizes))
        if (failed(compare(op, "result " + Twine(index) + " of the function",
                           dim, size, said->sizes[dim])))
          return failure();
    }
    return success();
  }

  func::FuncOp function;
  ParameterValues smallest, largest;
  /// For which there is memory.
  ParameterValues maxima;
};

} // namespace

RuntimeShape streamtensor::operandShape(linalg::GenericOp op,
                                        OpOperand &operand) {
  return shapeOf(op.isDpsInit(&operand) ? Value(op.getTiedOpResult(&operand))
                                        : operand.get());
}

LogicalResult streamtensor::checkSizes(func::FuncOp function) {
  return SizeChecker(function).run();
}
