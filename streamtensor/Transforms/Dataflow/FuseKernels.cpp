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
  Fuser(func::FuncOp function, const KernelGraph &graph)
      : graph(graph), builder(function.getBody().front().getTerminator()) {}

  void fuse(ArrayRef<unsigned> members, StringRef name) {
    std::vector<SharedOperand> loads = planLoads(graph, members);
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
  OpBuilder builder;
  DenseMap<Value, Value> inMemory;
};

class FuseKernels : public streamtensor::impl::FuseKernelsBase<FuseKernels> {
public:
  using streamtensor::impl::FuseKernelsBase<FuseKernels>::FuseKernelsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    KernelGraph graph(function);
    Fuser fuser(function, graph);
    for (auto [i, members] :
         llvm::enumerate(groupKernels(graph, onchipBudgetBytes)))
      fuser.fuse(members, "group" + std::to_string(i));
    Operation *terminator = function.getBody().front().getTerminator();
    for (OpOperand &operand : terminator->getOpOperands())
      operand.set(fuser.valueInMemory(operand.get()));
    eraseDead(function);
  }

private:
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
