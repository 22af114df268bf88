//===- FuseKernels.cpp - fuse kernels -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rebuilds the kernels of a function as the groups that Algorithm 2 chose.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Dataflow/Passes.h"

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Transforms/Dataflow/KernelGraph.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

namespace streamtensor {
#define GEN_PASS_DEF_FUSEKERNELS
#include "streamtensor/Transforms/Dataflow/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::dataflow;
using streamtensor::itensor::ITensorType;

namespace {

/// Builds the fused kernels at the end of the function, in running order.
class Fuser {
public:
  Fuser(func::FuncOp function, const KernelGraph &graph, int64_t budgetBytes)
      : graph(graph), budgetBytes(budgetBytes),
        builder(function.getBody().front().getTerminator()) {}

  void fuse(ArrayRef<unsigned> members, StringRef name) {
    // A kernel that is too large with one load for two uses gets two.
    bool share = members.size() > 1 || budgetBytes <= 0 ||
                 graph.onchipBytes(members) <= budgetBytes;
    std::vector<SharedOperand> loads = planLoads(graph, members, share);
    SmallVector<Value> inputs;
    SmallVector<Type> streams;
    for (const SharedOperand &load : loads) {
      inputs.push_back(valueInMemory(load.loaded));
      streams.push_back(ITensorType::get(
          cast<RankedTensorType>(load.root.getType()).getElementType(),
          load.order));
    }
    SmallVector<Value> escaping = escapingResults(members);
    auto fused =
        KernelOp::create(builder, fusedLocation(members), name,
                         ValueRange(escaping).getTypes(), inputs, streams);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&fused.getBlock());

    DenseMap<std::pair<unsigned, unsigned>, Value> operandStreams;
    for (auto [i, load] : llvm::enumerate(loads))
      for (auto [use, edge] : llvm::zip_equal(load.uses, load.edges))
        operandStreams[{use.kernel, use.operand}] = buildEdge(
            builder, fused.getLoc(), fused.getBlock().getArgument(i), edge);
    IRMapping mapping;
    for (unsigned member : members)
      inlineKernel(member, members, operandStreams, mapping);
    SmallVector<Value> yielded;
    for (Value value : escaping)
      yielded.push_back(mapping.lookup(yieldedStream(value)));
    YieldOp::create(builder, fused.getLoc(), yielded);
    for (auto [old, replacement] :
         llvm::zip_equal(escaping, fused.getResults()))
      inMemory[old] = replacement;
    // Reshapes of the results are views: clone them on demand from here on.
  }

  /// The new function-level value for `old`, an argument, a constant, a kernel
  /// result or a reshape of one.
  Value valueInMemory(Value old) {
    if (Value known = inMemory.lookup(old))
      return known;
    Operation *op = old.getDefiningOp();
    if (!op || isa<KernelOp>(op) || op->getNumOperands() == 0)
      return old;
    IRMapping mapping;
    for (Value operand : op->getOperands())
      mapping.map(operand, valueInMemory(operand));
    Value copy = builder.clone(*op, mapping)->getResult(0);
    inMemory[old] = copy;
    return copy;
  }

private:
  Value yieldedStream(Value result) {
    auto kernel = result.getDefiningOp<KernelOp>();
    return kernel.getYield()->getOperand(
        cast<OpResult>(result).getResultNumber());
  }

  /// Results of members that something outside the group reads.
  SmallVector<Value> escapingResults(ArrayRef<unsigned> members) {
    SmallVector<Value> escaping;
    for (unsigned member : members)
      for (Value result : KernelOp(graph.kernels[member]).getResults())
        if (isReadOutside(result, members))
          escaping.push_back(result);
    return escaping;
  }

  bool isReadOutside(Value value, ArrayRef<unsigned> members) {
    for (Operation *user : value.getUsers()) {
      if (auto kernel = dyn_cast<KernelOp>(user)) {
        const auto *position = llvm::find(graph.kernels, kernel);
        if (position == graph.kernels.end())
          continue;
        if (!llvm::is_contained(members,
                                unsigned(position - graph.kernels.begin())))
          return true;
      } else if (user->hasTrait<OpTrait::IsTerminator>()) {
        return true;
      } else {
        for (Value result : user->getResults())
          if (isReadOutside(result, members))
            return true;
      }
    }
    return false;
  }

  Location fusedLocation(ArrayRef<unsigned> members) {
    if (members.size() == 1)
      return KernelOp(graph.kernels[members.front()]).getLoc();
    return builder.getUnknownLoc();
  }

  /// Clones the body of kernel `member`; `mapping` collects its streams.
  void inlineKernel(
      unsigned member, ArrayRef<unsigned> members,
      const DenseMap<std::pair<unsigned, unsigned>, Value> &operandStreams,
      IRMapping &mapping) {
    KernelOp kernel = graph.kernels[member];
    for (auto [i, argument] :
         llvm::enumerate(kernel.getBlock().getArguments())) {
      const KernelOperand &operand = graph.operands[member][i];
      if (Value stream = operandStreams.lookup({member, unsigned(i)})) {
        mapping.map(argument, stream);
        continue;
      }
      Value produced = mapping.lookup(yieldedStream(operand.root));
      EdgePlan plan =
          planEdge(graph.resultOrder(operand.producer, operand.result),
                   operand.reshapes, graph.operandOrder(member, i));
      mapping.map(argument,
                  buildEdge(builder, kernel.getLoc(), produced, plan));
    }
    for (Operation &op : kernel.getBlock().without_terminator())
      builder.clone(op, mapping);
  }

  const KernelGraph &graph;
  int64_t budgetBytes;
  OpBuilder builder;
  DenseMap<Value, Value> inMemory;
};

class FuseKernels : public streamtensor::impl::FuseKernelsBase<FuseKernels> {
public:
  using streamtensor::impl::FuseKernelsBase<FuseKernels>::FuseKernelsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    KernelGraph graph(function);
    if (failed(checkBudget(graph)))
      return signalPassFailure();
    KernelGroups grouping = groupKernels(graph, onchipBudgetBytes);
    describe(graph, grouping.decisions);
    Fuser fuser(function, graph, onchipBudgetBytes);
    for (auto [i, members] : llvm::enumerate(grouping.groups))
      fuser.fuse(members, "group" + std::to_string(i));
    Operation *terminator = function.getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands())
      operand.set(fuser.valueInMemory(operand.get()));
    eraseDead(function);
  }

private:
  /// No kernel may need more than the budget alone: there is nothing to split.
  LogicalResult checkBudget(const KernelGraph &graph) {
    bool fits = true;
    for (unsigned i = 0; onchipBudgetBytes > 0 && i < graph.size(); ++i) {
      int64_t bytes = graph.onchipBytesAlone(i, onchipBudgetBytes);
      if (bytes <= onchipBudgetBytes)
        continue;
      fits = false;
      KernelOp kernel = graph.kernels[i];
      int64_t smallest = smallestBytes(kernel);
      InFlightDiagnostic diag = kernel.emitOpError()
                                << "'" << kernel.getSym() << "' needs " << bytes
                                << " bytes on chip alone, more "
                                   "than the budget of "
                                << int64_t(onchipBudgetBytes)
                                << "; the smallest schedule needs " << smallest;
      if (smallest <= onchipBudgetBytes)
        diag << ", so remove the schedule that was given to it";
      else
        diag << ", so raise --onchip-budget-bytes to that";
    }
    return success(fits);
  }

  /// One element of an accumulator; a buffer of the rows that a window spans
  /// can't be smaller.
  static int64_t smallestBytes(KernelOp kernel) {
    int64_t bytes = 0;
    kernel.walk([&](tensor::EmptyOp empty) {
      auto name = empty->getAttrOfType<StringAttr>("hls.name");
      if (!name)
        return;
      RankedTensorType type = empty.getType();
      bytes += bytesOf(name.getValue() == "acc" ? 1 : type.getNumElements(),
                       type.getElementType());
    });
    return bytes;
  }

  /// Keeps the decisions with the function, for the report.
  void describe(const KernelGraph &graph, ArrayRef<FusionDecision> decisions) {
    Builder builder(&getContext());
    SmallVector<Attribute> list;
    auto name = [&](unsigned kernel) {
      return builder.getStringAttr(KernelOp(graph.kernels[kernel]).getSym());
    };
    for (const FusionDecision &decision : decisions) {
      SmallVector<NamedAttribute> entries = {
          builder.getNamedAttr("op", name(decision.kernel)),
          builder.getNamedAttr("fused", builder.getBoolAttr(decision.fused)),
          builder.getNamedAttr("reason",
                               builder.getStringAttr(decision.reason))};
      if (decision.producer >= 0)
        entries.push_back(
            builder.getNamedAttr("producer", name(decision.producer)));
      list.push_back(builder.getDictionaryAttr(entries));
    }
    getOperation()->setAttr(kFusionAttr, builder.getArrayAttr(list));
  }

  /// The old kernels and the reshapes between them have no users any more.
  void eraseDead(func::FuncOp function) {
    SmallVector<Operation *> ops;
    for (Operation &op : function.getBody().front().without_terminator())
      ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty())
        op->erase();
  }
};

} // namespace
