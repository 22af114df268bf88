//===- KernelGraph.h - kernels and their edges -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of a function as a graph, and the grouping of Algorithm 2.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_DATAFLOW_KERNELGRAPH_H
#define STREAMTENSOR_TRANSFORMS_DATAFLOW_KERNELGRAPH_H

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Transforms/Dataflow/StreamEdge.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <string>
#include <vector>

namespace streamtensor {

/// One operand of a kernel, traced to where it comes from.
struct KernelOperand {
  /// The operand itself, and what it is a reshape of: an argument, a constant
  /// or the result of a kernel.
  mlir::Value value, root;
  std::vector<Reshape> reshapes;
  /// The kernel that produces the root, and which of its results; -1 when it
  /// lies in memory anyway.
  int producer = -1;
  unsigned result = 0;
};

/// The kernels of one function in program order.
class KernelGraph {
public:
  explicit KernelGraph(mlir::func::FuncOp function);

  size_t size() const { return kernels.size(); }

  mlir::SmallVector<dataflow::KernelOp> kernels;
  /// Per kernel, its operands.
  std::vector<std::vector<KernelOperand>> operands;

  /// Token order in which kernel `index` wants its operand, or yields a result.
  SymbolicOrder operandOrder(unsigned index, unsigned operand) const;
  SymbolicOrder resultOrder(unsigned index, unsigned result) const;

  /// Bytes that the tasks of kernel `index` hold in accumulators.
  int64_t accumulatorBytes(unsigned index) const;

  /// Bytes of converters that `members` (ascending) need between them and
  /// behind operands that several of them load.
  int64_t converterBytes(mlir::ArrayRef<unsigned> members) const;

  /// All that counts against the budget of a group: both of the above.
  int64_t onchipBytes(mlir::ArrayRef<unsigned> members) const;

  /// The same for kernel `index` alone, which reads an operand that it uses
  /// twice two times from memory rather than exceed `budgetBytes`.
  int64_t onchipBytesAlone(unsigned index, int64_t budgetBytes) const;
};

/// The uses of one value in memory by the members of a group.
struct SharedOperand {
  mlir::Value root;
  struct Use {
    unsigned kernel, operand;
  };
  mlir::SmallVector<Use> uses;
  /// The tensor that is loaded, and in which order.
  mlir::Value loaded;
  SymbolicOrder order;
  /// Per use, what lies between the load and the use.
  std::vector<EdgePlan> edges;
};

/// Decides, for all operands of `members` that come from memory, what is loaded
/// in which order: each root once, or with `share` false once per use.
std::vector<SharedOperand> planLoads(const KernelGraph &graph,
                                     mlir::ArrayRef<unsigned> members,
                                     bool share = true);

/// Why a kernel is in one group with another that it reads from, or not.
struct FusionDecision {
  unsigned kernel;
  /// -1: it reads from no other.
  int producer;
  bool fused;
  std::string reason;
};

struct KernelGroups {
  /// In an order in which they can run one after the other; the members of each
  /// ascending.
  mlir::SmallVector<mlir::SmallVector<unsigned>> groups;
  /// One for each kernel and each other one that it reads from.
  std::vector<FusionDecision> decisions;
};

/// Algorithm 2. With a budget of 0 every kernel is a group.
KernelGroups groupKernels(const KernelGraph &graph, int64_t budgetBytes);

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_DATAFLOW_KERNELGRAPH_H
