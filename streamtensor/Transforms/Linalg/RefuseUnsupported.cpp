//===- RefuseUnsupported.cpp - Refuse what cannot be compiled -------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lists every operation of an imported function that cannot be compiled, each
// with its model line, the reason and what to do.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"
#include "streamtensor/Transforms/Linalg/Utils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

namespace streamtensor {
#define GEN_PASS_DEF_REFUSEUNSUPPORTED
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using linalg::LinalgOp;

namespace {

/// Why something is refused, and what its author can do about it. Both end up
/// in one message: "<reason>; <advice>".
struct Refusal {
  std::string reason;
  std::string advice;
};
using MaybeRefusal = std::optional<Refusal>;

const char *const kAdviceType =
    "use f32, f16, bf16, bool or signless integers of 8 to 64 bits";
const char *const kAdviceRewrite =
    "rewrite this line of the model with supported operations, or leave it to "
    "the host";

template <typename T>
std::string print(T value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

/// The values and the body operations that the results of a function depend on.
class LiveSet {
public:
  explicit LiveSet(func::FuncOp func) {
    func.walk([&](func::ReturnOp op) { addAll(op.getOperands()); });
    while (!worklist.empty())
      visit(worklist.pop_back_val());
  }
  bool isLive(Value value) const { return values.contains(value); }
  bool isLive(Operation *op) const { return operations.contains(op); }

private:
  void add(Value value) {
    if (values.insert(value).second)
      worklist.push_back(value);
  }
  void addAll(ValueRange range) {
    for (Value value : range)
      add(value);
  }
  void visit(Value value) {
    if (auto arg = dyn_cast<BlockArgument>(value)) {
      auto op = dyn_cast_or_null<LinalgOp>(arg.getOwner()->getParentOp());
      if (op)
        add(op.getMatchingOpOperand(arg)->get());
      return;
    }
    Operation *def = value.getDefiningOp();
    operations.insert(def);
    auto op = dyn_cast<LinalgOp>(def);
    if (!op) {
      addAll(def->getOperands());
      for (Region &region : def->getRegions())
        for (Operation &inner : region.getOps())
          addAll(inner.getOperands());
      return;
    }
    // Only what this one result is computed from.
    OpOperand *init = op.getTiedOpOperand(cast<OpResult>(value));
    Operation *yield = op.getBlock()->getTerminator();
    add(yield->getOperand(cast<OpResult>(value).getResultNumber()));
    add(init->get());
  }

  llvm::DenseSet<Value> values;
  llvm::DenseSet<Operation *> operations;
  SmallVector<Value> worklist;
};

/// Refuses tensors that cannot be streamed.
MaybeRefusal checkType(Type type, bool allowF64) {
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor)
    return Refusal{"its type is '" + print(type) + "', not a tensor",
                   "pass tensors, and leave scalars to the host"};
  if (!tensor.hasRank() || !tensor.hasStaticShape())
    return Refusal{"its type '" + print(type) + "' has a dynamic dimension",
                   "export with fixed shapes, or give the sizes of the dynamic "
                   "dimensions (--dims)"};
  if (llvm::is_contained(tensor.getShape(), 0))
    return Refusal{"its type '" + print(type) + "' has no elements",
                   "export without empty tensors"};
  Type element = tensor.getElementType();
  if (streamtensor::isStreamable(element) || (allowF64 && element.isF64()))
    return std::nullopt;
  if (element.isF64())
    return Refusal{"its elements are f64", "export the model in f32"};
  return Refusal{"elements of type " + print(element) + " are not supported",
                 kAdviceType};
}

/// Refuses scalar operations that no task can compute.
MaybeRefusal checkBodyOperation(Operation *op) {
  if (isa<tensor::ExtractOp>(op))
    return Refusal{"it gathers elements by computed indices",
                   "run the lookup (an embedding, for example) on the host"};
  if (auto power = dyn_cast<math::FPowIOp>(op);
      power && !matchPattern(power.getRhs(), m_Constant()))
    return Refusal{"the exponent of its 'math.fpowi' is no constant",
                   "use a constant exponent"};
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op) &&
      op->getResult(0).getType().isInteger(1))
    return Refusal{"it converts a float to one bit", "compare with 0 instead"};
  if (isa<linalg::IndexOp, arith::ConstantOp, arith::AddFOp, arith::SubFOp,
          arith::MulFOp, arith::DivFOp, arith::NegFOp, arith::MaximumFOp,
          arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp,
          arith::CmpIOp, arith::SelectOp, arith::ExtFOp, arith::TruncFOp,
          math::ExpOp, math::TanhOp, math::SqrtOp, math::RsqrtOp, math::ErfOp,
          math::LogOp, math::Log1pOp, math::Log2Op, math::Log10Op,
          math::ExpM1Op, math::Exp2Op, math::PowFOp, math::FPowIOp, math::SinOp,
          math::CosOp, math::AbsFOp, math::FloorOp, math::CeilOp, math::RoundOp,
          math::RoundEvenOp, math::TruncOp>(op))
    return std::nullopt;
  // Integers, and positions: arithmetic on indices.
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
          arith::ExtUIOp, arith::TruncIOp, arith::SIToFPOp, arith::UIToFPOp,
          arith::FPToSIOp, arith::FPToUIOp, arith::AddIOp, arith::SubIOp,
          arith::MulIOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
          arith::RemUIOp, arith::FloorDivSIOp, arith::CeilDivSIOp,
          arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp, arith::MaxSIOp,
          arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AndIOp,
          arith::OrIOp, arith::XOrIOp, math::AbsIOp>(op))
    return std::nullopt;
  return Refusal{"its body contains '" + op->getName().getStringRef().str() +
                     "', which no task can compute",
                 kAdviceRewrite};
}

/// True if `map` reads each dimension by one loop, or by a constant 0 where the
/// dimension has size one.
bool isSupportedMap(AffineMap map, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  llvm::SmallDenseSet<unsigned> used;
  for (auto [dim, result] : llvm::enumerate(map.getResults())) {
    if (auto loop = dyn_cast<AffineDimExpr>(result)) {
      if (!used.insert(loop.getPosition()).second)
        return false;
      continue;
    }
    auto constant = dyn_cast<AffineConstantExpr>(result);
    if (!constant || constant.getValue() != 0 || !tensor ||
        tensor.getDimSize(dim) != 1)
      return false;
  }
  return true;
}

/// Refuses one Linalg operation, of which the results in `live` are used.
MaybeRefusal checkLinalg(LinalgOp op, const LiveSet &live) {
  unsigned used = llvm::count_if(
      op->getResults(), [&](Value result) { return live.isLive(result); });
  if (used > 1)
    return Refusal{"more than one of its results is used",
                   "use one result only (for a maximum: its value, not its "
                   "index)"};
  for (OpOperand &operand : op->getOpOperands()) {
    bool isDead =
        op.isDpsInit(&operand) && !live.isLive(op.getTiedOpResult(&operand));
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!isDead && !isSupportedMap(map, operand.get().getType()) &&
        !(op.isDpsInput(&operand) && streamtensor::isWindowMap(map)))
      return Refusal{"its indexing map '" + print(map) +
                         "' is neither a permutation of loops nor a window",
                     kAdviceRewrite};
  }
  for (Operation &inner : *op.getBlock())
    if (live.isLive(&inner))
      if (MaybeRefusal refusal = checkBodyOperation(&inner))
        return refusal;
  bool reduces = op.getNumReductionLoops() != 0;
  for (Value result : op->getResults()) {
    if (!live.isLive(result))
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
    unsigned index = cast<OpResult>(result).getResultNumber();
    if (reduces && generic && !streamtensor::matchCombiner(generic, index))
      return Refusal{"its reduction is no sum, product, maximum, minimum or "
                     "combination of bits",
                     kAdviceRewrite};
  }
  return std::nullopt;
}

/// Refuses an operation of the tensor or arith dialect, or of any other.
MaybeRefusal checkOther(Operation *op) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    auto isDynamic = [](int64_t value) { return ShapedType::isDynamic(value); };
    if (llvm::any_of(slice.getStaticOffsets(), isDynamic) ||
        llvm::any_of(slice.getStaticSizes(), isDynamic) ||
        llvm::any_of(slice.getStaticStrides(), isDynamic))
      return Refusal{"its bounds are computed at run time",
                     "slice with constant bounds"};
    if (llvm::any_of(slice.getStaticStrides(),
                     [](int64_t stride) { return stride != 1; }) &&
        !streamtensor::canUnstride(slice))
      return Refusal{"it takes elements in reverse order",
                     "slice with a positive stride"};
    return std::nullopt;
  }
  if (isa<arith::ConstantOp, tensor::EmptyOp, tensor::ExpandShapeOp,
          tensor::CollapseShapeOp, tensor::ConcatOp, tensor::CastOp>(op))
    return std::nullopt;
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    if (streamtensor::isConstantPad(pad))
      return std::nullopt;
    return Refusal{"its amounts or its value are not constants, or it cuts",
                   "pad with a constant value and constant amounts"};
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op);
      insert && streamtensor::canConcatenate(insert))
    return std::nullopt;
  if (isa<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp,
          tensor::ScatterOp>(op))
    return Refusal{
        "it overwrites elements at computed positions, or skips some",
        "build the tensor by concatenation; return new cache rows "
        "instead of writing them into a cache"};
  if (isa<tensor::GatherOp, tensor::ExtractOp, tensor::FromElementsOp>(op))
    return Refusal{"it picks single elements",
                   "run the lookup (an embedding, for example) on the host"};
  if (isa<func::CallOp, func::CallIndirectOp>(op))
    return Refusal{"calls are not supported", "inline the called function"};
  if (op->getNumRegions() && !isa<linalg::LinalgDialect>(op->getDialect()))
    return Refusal{"control flow is not supported",
                   "export the model with fixed control flow"};
  return Refusal{"it is not among the supported operations", kAdviceRewrite};
}

MaybeRefusal check(Operation *op, const LiveSet &live, bool allowF64) {
  auto linalgOp = dyn_cast<LinalgOp>(op);
  // The specific reason first: "convolution" says more than "i8".
  if (MaybeRefusal refusal =
          linalgOp ? checkLinalg(linalgOp, live) : checkOther(op))
    return refusal;
  for (Value result : op->getResults()) {
    if (!live.isLive(result) ||
        (isa<arith::ConstantOp>(op) && !isa<ShapedType>(result.getType())))
      continue;
    if (MaybeRefusal refusal = checkType(result.getType(), allowF64))
      return refusal;
  }
  return std::nullopt;
}

struct RefuseUnsupported
    : streamtensor::impl::RefuseUnsupportedBase<RefuseUnsupported> {
  using RefuseUnsupportedBase::RefuseUnsupportedBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal()) {
      func.emitError() << "unsupported function '" << func.getName()
                       << "': it has no body; give the module with the "
                          "function's definition";
      return signalPassFailure();
    }
    unsigned count = 0;
    auto refuse = [&](Location loc, const Twine &what, const Refusal &refusal) {
      InFlightDiagnostic error = emitError(loc) << "unsupported " << what;
      if (std::string line = streamtensor::getModelLine(loc); !line.empty())
        error << " at " << line;
      error << ": " << refusal.reason << "; " << refusal.advice;
      ++count;
    };

    if (!func.getBody().hasOneBlock())
      refuse(func.getLoc(), "control flow",
             {"the function has more than one block",
              "export the model with fixed control flow"});
    if (func.getNumResults() == 0)
      refuse(func.getLoc(), "function '" + func.getName() + "'",
             {"it has no results", "return the tensors to compute"});
    for (BlockArgument arg : func.getArguments())
      if (MaybeRefusal refusal = checkType(arg.getType(), false)) {
        std::string what = "argument #" + std::to_string(arg.getArgNumber());
        // Exported arguments have a name for a location, and no line.
        auto name = dyn_cast<NameLoc>(arg.getLoc());
        if (name)
          what += " ('" + name.getName().str() + "')";
        refuse(name ? func.getLoc() : arg.getLoc(), what, *refusal);
      }
    for (auto [index, type] : llvm::enumerate(func.getResultTypes()))
      if (MaybeRefusal refusal = checkType(type, false))
        refuse(func.getLoc(), "result #" + Twine(index), *refusal);

    LiveSet live(func);
    for (Block &block : func.getBody())
      for (Operation &op : block) {
        // What is dead will be erased, unless it acts by itself.
        bool acts = op.getNumResults() == 0 && !isa<func::ReturnOp>(op);
        // The user of an undefined tensor is the one to name.
        if ((!acts && !live.isLive(&op)) || isa<tensor::EmptyOp>(op))
          continue;
        if (MaybeRefusal refusal = check(&op, live, allowF64))
          refuse(op.getLoc(), "operation '" + op.getName().getStringRef() + "'",
                 *refusal);
      }
    if (count == 0)
      return;
    func.emitError() << "function '" << func.getName()
                     << "' cannot be compiled: " << count << " unsupported "
                     << (count == 1 ? "item" : "items");
    signalPassFailure();
  }
};

} // namespace
