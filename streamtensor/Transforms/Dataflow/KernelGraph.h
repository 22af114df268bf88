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
  TokenOrder operandOrder(unsigned index, unsigned operand) const;
  TokenOrder resultOrder(unsigned index, unsigned result) const;

  /// Bytes that the tasks of kernel `index` hold in accumulators.
  int64_t accumulatorBytes(unsigned index) const;

  /// Bytes of converters that `members` (ascending) need between them and
  /// behind operands that several of them load.
  int64_t converterBytes(mlir::ArrayRef<unsigned> members) const;
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
  TokenOrder order;
  /// Per use, what lies between the load and the use.
  std::vector<EdgePlan> edges;
};

/// Decides, for all operands of `members` that come from memory, what is loaded
/// in which order: each root once.
std::vector<SharedOperand> planLoads(const KernelGraph &graph,
                                     mlir::ArrayRef<unsigned> members);

/// Algorithm 2: the group of each kernel, groups numbered in an order in which
/// they can run one after the other.
mlir::SmallVector<mlir::SmallVector<unsigned>>
groupKernels(const KernelGraph &graph, int64_t budgetBytes);

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_DATAFLOW_KERNELGRAPH_H
