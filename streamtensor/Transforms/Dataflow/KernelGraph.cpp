//===- KernelGraph.cpp - kernels and their edges -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Costs of edges and groups, and the grouping of Algorithm 2 (paper section 5).
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Dataflow/KernelGraph.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::dataflow;
using streamtensor::itensor::ITensorType;

static int64_t bytesOf(int64_t elements, Type elementType) {
  return elements * llvm::divideCeil(elementType.getIntOrFloatBitWidth(), 8);
}

KernelGraph::KernelGraph(func::FuncOp function) {
  DenseMap<Operation *, int> index;
  for (auto kernel : function.getOps<KernelOp>()) {
    index[kernel] = kernels.size();
    kernels.push_back(kernel);
  }
  for (KernelOp kernel : kernels) {
    auto &list = operands.emplace_back();
    for (Value value : kernel.getInputs()) {
      KernelOperand &operand = list.emplace_back();
      operand.value = value;
      operand.root = traceReshapes(value, operand.reshapes);
      if (auto producer = operand.root.getDefiningOp<KernelOp>()) {
        operand.producer = index.lookup(producer);
        operand.result = cast<OpResult>(operand.root).getResultNumber();
      }
    }
  }
}

TokenOrder KernelGraph::operandOrder(unsigned index, unsigned operand) const {
  Block &block = KernelOp(kernels[index]).getBlock();
  return cast<ITensorType>(block.getArgument(operand).getType()).getOrder();
}

TokenOrder KernelGraph::resultOrder(unsigned index, unsigned result) const {
  Value yielded = KernelOp(kernels[index]).getYield()->getOperand(result);
  return cast<ITensorType>(yielded.getType()).getOrder();
}

int64_t KernelGraph::accumulatorBytes(unsigned index) const {
  int64_t bytes = 0;
  KernelOp(kernels[index]).walk([&](tensor::EmptyOp empty) {
    if (empty->hasAttr("hls.name"))
      bytes += bytesOf(empty.getType().getNumElements(),
                       empty.getType().getElementType());
  });
  return bytes;
}

int64_t KernelGraph::converterBytes(ArrayRef<unsigned> members) const {
  int64_t bytes = 0;
  for (unsigned member : members)
    for (auto [i, operand] : llvm::enumerate(operands[member])) {
      if (operand.producer < 0 ||
          !llvm::is_contained(members, unsigned(operand.producer)))
        continue;
      EdgePlan plan = planEdge(resultOrder(operand.producer, operand.result),
                               operand.reshapes, operandOrder(member, i));
      bytes += bytesOf(
          plan.elements,
          cast<RankedTensorType>(operand.value.getType()).getElementType());
    }
  for (const SharedOperand &load : planLoads(*this, members))
    for (const EdgePlan &edge : load.edges)
      bytes +=
          bytesOf(edge.elements,
                  cast<RankedTensorType>(load.root.getType()).getElementType());
  return bytes;
}

/// The order in which an operand with several users is loaded: what one of the
/// users wants, without replays, or else memory order.
static TokenOrder chooseLoadOrder(const KernelGraph &graph,
                                  const SharedOperand &load) {
  for (SharedOperand::Use use : load.uses) {
    const KernelOperand &operand = graph.operands[use.kernel][use.operand];
    std::optional<TokenOrder> order = pullThrough(
        graph.operandOrder(use.kernel, use.operand), operand.reshapes);
    if (order && !hasRevisits(*order))
      return *order;
  }
  auto type = cast<RankedTensorType>(load.root.getType());
  std::vector<int64_t> shape(type.getShape().begin(), type.getShape().end());
  return TokenOrder::rowMajor(shape, std::vector<int64_t>(shape.size(), 1));
}

std::vector<SharedOperand> streamtensor::planLoads(const KernelGraph &graph,
                                                   ArrayRef<unsigned> members) {
  std::vector<SharedOperand> loads;
  llvm::MapVector<Value, unsigned> position;
  for (unsigned member : members)
    for (auto [i, operand] : llvm::enumerate(graph.operands[member])) {
      if (operand.producer >= 0 &&
          llvm::is_contained(members, unsigned(operand.producer)))
        continue;
      auto [it, inserted] =
          position.insert({operand.root, unsigned(loads.size())});
      if (inserted)
        loads.emplace_back().root = operand.root;
      loads[it->second].uses.push_back({member, unsigned(i)});
    }
  for (SharedOperand &load : loads) {
    SharedOperand::Use first = load.uses.front();
    const KernelOperand &operand = graph.operands[first.kernel][first.operand];
    bool single = load.uses.size() == 1;
    load.loaded = single ? operand.value : load.root;
    load.order = single ? graph.operandOrder(first.kernel, first.operand)
                        : chooseLoadOrder(graph, load);
    for (SharedOperand::Use use : load.uses)
      load.edges.push_back(
          single ? EdgePlan()
                 : planEdge(load.order,
                            graph.operands[use.kernel][use.operand].reshapes,
                            graph.operandOrder(use.kernel, use.operand)));
  }
  return loads;
}

namespace {

/// Groups under construction: a number per kernel.
class Grouping {
public:
  explicit Grouping(const KernelGraph &graph)
      : graph(graph), groupOf(graph.size()) {
    for (unsigned i = 0; i < graph.size(); ++i)
      groupOf[i] = i;
  }

  SmallVector<unsigned> members(unsigned group) const {
    SmallVector<unsigned> list;
    for (unsigned i = 0; i < groupOf.size(); ++i)
      if (groupOf[i] == group)
        list.push_back(i);
    return list;
  }

  /// Merges `other` into `group` when the result can still run (no path leaves
  /// the group and comes back) within the budget.
  bool tryMerge(unsigned group, unsigned other, int64_t budgetBytes) {
    SmallVector<unsigned> saved = groupOf;
    for (unsigned &g : groupOf)
      if (g == other)
        g = group;
    if (cost(members(group)) <= budgetBytes && !topologicalOrder().empty())
      return true;
    groupOf = saved;
    return false;
  }

  /// The groups in an order in which each comes after those it reads from;
  /// empty when there is a cycle. Ties keep program order.
  SmallVector<unsigned> topologicalOrder() const {
    SmallVector<unsigned> groups, order;
    for (unsigned group : groupOf)
      if (!llvm::is_contained(groups, group))
        groups.push_back(group);
    auto ready = [&](unsigned group) {
      for (unsigned member : members(group))
        for (const KernelOperand &operand : graph.operands[member])
          if (operand.producer >= 0 && groupOf[operand.producer] != group &&
              !llvm::is_contained(order, groupOf[operand.producer]))
            return false;
      return true;
    };
    while (order.size() < groups.size()) {
      const unsigned *next = llvm::find_if(groups, [&](unsigned group) {
        return !llvm::is_contained(order, group) && ready(group);
      });
      if (next == groups.end())
        return {};
      order.push_back(*next);
    }
    return order;
  }

  unsigned operator[](unsigned kernel) const { return groupOf[kernel]; }

private:
  int64_t cost(ArrayRef<unsigned> list) const {
    int64_t bytes = graph.converterBytes(list);
    for (unsigned member : list)
      bytes += graph.accumulatorBytes(member);
    return bytes;
  }

  const KernelGraph &graph;
  SmallVector<unsigned> groupOf;
};

} // namespace

SmallVector<SmallVector<unsigned>>
streamtensor::groupKernels(const KernelGraph &graph, int64_t budgetBytes) {
  Grouping grouping(graph);
  for (unsigned kernel = 0; budgetBytes > 0 && kernel < graph.size();
       ++kernel) {
    // The groups of the producers, the nearest first.
    SmallVector<int> producers;
    for (const KernelOperand &operand : graph.operands[kernel])
      if (operand.producer >= 0)
        producers.push_back(operand.producer);
    llvm::sort(producers, std::greater<int>());
    for (int producer : producers)
      if (grouping[producer] != grouping[kernel])
        grouping.tryMerge(grouping[producer], grouping[kernel], budgetBytes);
  }
  SmallVector<SmallVector<unsigned>> groups;
  for (unsigned group : grouping.topologicalOrder())
    groups.push_back(grouping.members(group));
  return groups;
}
