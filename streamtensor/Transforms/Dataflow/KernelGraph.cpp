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

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::dataflow;
using streamtensor::itensor::ITensorType;

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

SymbolicOrder KernelGraph::operandOrder(unsigned index,
                                        unsigned operand) const {
  Block &block = KernelOp(kernels[index]).getBlock();
  return cast<ITensorType>(block.getArgument(operand).getType())
      .getSymbolicOrder();
}

SymbolicOrder KernelGraph::resultOrder(unsigned index, unsigned result) const {
  Value yielded = KernelOp(kernels[index]).getYield()->getOperand(result);
  return cast<ITensorType>(yielded.getType()).getSymbolicOrder();
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

int64_t KernelGraph::onchipBytes(ArrayRef<unsigned> members) const {
  int64_t bytes = converterBytes(members);
  for (unsigned member : members)
    bytes += accumulatorBytes(member);
  return bytes;
}

int64_t KernelGraph::onchipBytesAlone(unsigned index,
                                      int64_t budgetBytes) const {
  int64_t bytes = onchipBytes(index);
  return bytes <= budgetBytes ? bytes : accumulatorBytes(index);
}

/// The order in which an operand with several users is loaded: what one of the
/// users wants, without replays, or else memory order.
static SymbolicOrder chooseLoadOrder(const KernelGraph &graph,
                                     const SharedOperand &load) {
  for (SharedOperand::Use use : load.uses) {
    const KernelOperand &operand = graph.operands[use.kernel][use.operand];
    std::optional<SymbolicOrder> order = pullThrough(
        graph.operandOrder(use.kernel, use.operand), operand.reshapes);
    if (order && !hasRevisits(*order))
      return *order;
  }
  auto type = cast<RankedTensorType>(load.root.getType());
  std::vector<int64_t> extents(type.getShape().begin(), type.getShape().end());
  SymbolicOrder order(
      TokenOrder::rowMajor(extents, std::vector<int64_t>(extents.size(), 1)));
  RuntimeShape shape = shapeOf(load.root);
  order.trips.assign(shape.sizes.begin(), shape.sizes.end());
  order.maxima = shape.maxima;
  return order;
}

std::vector<SharedOperand> streamtensor::planLoads(const KernelGraph &graph,
                                                   ArrayRef<unsigned> members,
                                                   bool share) {
  std::vector<SharedOperand> loads;
  llvm::MapVector<Value, unsigned> position;
  for (unsigned member : members)
    for (auto [i, operand] : llvm::enumerate(graph.operands[member])) {
      if (operand.producer >= 0 &&
          llvm::is_contained(members, unsigned(operand.producer)))
        continue;
      auto [it, inserted] =
          position.insert({operand.root, unsigned(loads.size())});
      if (!inserted && !share)
        it->second = loads.size();
      if (inserted || !share)
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
  /// the group and comes back) within the budget. Returns why not, or nothing.
  std::string tryMerge(unsigned group, unsigned other, int64_t budgetBytes) {
    SmallVector<unsigned> saved = groupOf;
    for (unsigned &g : groupOf)
      if (g == other)
        g = group;
    std::string reason;
    int64_t bytes = graph.onchipBytes(members(group));
    if (bytes > budgetBytes)
      reason = "one group would need " + std::to_string(bytes) +
               " bytes on chip, more than the budget of " +
               std::to_string(budgetBytes);
    else if (topologicalOrder().empty())
      reason = "the way over '" + findDetour(group) +
               "' leaves the group and comes back, so neither could run first";
    if (!reason.empty())
      groupOf = saved;
    return reason;
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
  /// A kernel outside `group` on a way from it back to it.
  std::string findDetour(unsigned group) const {
    for (unsigned kernel = 0; kernel < graph.size(); ++kernel)
      if (groupOf[kernel] != group && readsFrom(groupOf[kernel], group) &&
          readsFrom(group, groupOf[kernel]))
        return KernelOp(graph.kernels[kernel]).getSym().str();
    return "";
  }

  /// Whether a way leads from group `source` to group `sink`.
  bool readsFrom(unsigned sink, unsigned source) const {
    SmallVector<unsigned> pending = {sink}, seen;
    while (!pending.empty()) {
      unsigned group = pending.pop_back_val();
      for (unsigned member : members(group))
        for (const KernelOperand &operand : graph.operands[member]) {
          if (operand.producer < 0 || groupOf[operand.producer] == group)
            continue;
          unsigned next = groupOf[operand.producer];
          if (next == source)
            return true;
          if (llvm::is_contained(seen, next))
            continue;
          seen.push_back(next);
          pending.push_back(next);
        }
    }
    return false;
  }

  const KernelGraph &graph;
  SmallVector<unsigned> groupOf;
};

} // namespace

/// The kernels that `kernel` reads from, each once, the nearest first.
static SmallVector<int> producersOf(const KernelGraph &graph, unsigned kernel) {
  SmallVector<int> producers;
  for (const KernelOperand &operand : graph.operands[kernel])
    if (operand.producer >= 0 &&
        !llvm::is_contained(producers, operand.producer))
      producers.push_back(operand.producer);
  llvm::sort(producers, std::greater<int>());
  return producers;
}

KernelGroups streamtensor::groupKernels(const KernelGraph &graph,
                                        int64_t budgetBytes) {
  Grouping grouping(graph);
  KernelGroups result;
  for (unsigned kernel = 0; kernel < graph.size(); ++kernel) {
    SmallVector<int> producers = producersOf(graph, kernel);
    if (producers.empty())
      result.decisions.push_back(
          {kernel, -1, false, "it reads arguments and constants only"});
    for (int producer : producers) {
      std::string reason;
      if (budgetBytes <= 0)
        reason = "fusion is off (a budget of 0 bytes)";
      else if (grouping[producer] != grouping[kernel])
        reason = grouping.tryMerge(grouping[producer], grouping[kernel],
                                   budgetBytes);
      result.decisions.push_back({kernel, producer, false, std::move(reason)});
    }
  }
  // A group that refused two kernels may have been joined by both later.
  for (FusionDecision &decision : result.decisions)
    if (decision.producer >= 0 &&
        grouping[decision.producer] == grouping[decision.kernel]) {
      decision.fused = true;
      decision.reason =
          "their group needs " +
          std::to_string(
              graph.onchipBytes(grouping.members(grouping[decision.kernel]))) +
          " bytes on chip of the budget of " + std::to_string(budgetBytes);
    }
  for (unsigned group : grouping.topologicalOrder())
    result.groups.push_back(grouping.members(group));
  return result;
}
