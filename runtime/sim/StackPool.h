//===- StackPool.h - Stacks of cooperative processes ------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stacks for the processes of the C simulation. A task may keep its on-chip
// arrays as local variables, so a stack is as large as the on-chip memory of
// the largest card (64 MB); pages are committed only when touched.
//
// Stacks are reused lowest index first: the n-th process of every body gets the
// same stack, so the memory touched stays the same from run to run.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_SIM_STACKPOOL_H
#define STREAMTENSOR_RUNTIME_SIM_STACKPOOL_H

#include <cstddef>
#include <functional>
#include <queue>
#include <vector>

namespace streamtensor::sim {

class StackPool {
public:
  /// Usable bytes of one stack.
  static constexpr size_t kStackBytes = size_t(64) << 20;

  struct Stack {
    /// One past the highest usable byte, aligned to 64.
    char *top = nullptr;
    /// The lowest usable byte; the page below it is the guard.
    char *limit = nullptr;
    size_t index = 0;
  };

  StackPool() = default;
  ~StackPool();
  StackPool(const StackPool &) = delete;
  StackPool &operator=(const StackPool &) = delete;

  /// The free stack of the lowest index, or a new one. Throws runtime::Error
  /// when the system refuses the address space.
  Stack acquire();
  void release(const Stack &stack);
  /// Number of stacks ever mapped.
  size_t size() const { return stacks.size(); }

private:
  std::vector<Stack> stacks;
  std::priority_queue<size_t, std::vector<size_t>, std::greater<size_t>> free;
};

} // namespace streamtensor::sim

#endif // STREAMTENSOR_RUNTIME_SIM_STACKPOOL_H
