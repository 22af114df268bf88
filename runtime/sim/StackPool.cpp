//===- StackPool.cpp - Stacks of cooperative processes --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lazily committed stacks with a guard page each.
//
//===----------------------------------------------------------------------===//

#include "runtime/sim/StackPool.h"

#include "runtime/Error.h"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>

using namespace streamtensor::sim;

namespace {

constexpr size_t kGuardBytes = 4096;
// Stacks start at multiples of a large power of two, so without a shift their
// hot ends would compete for the same few cache sets.
constexpr size_t kShiftBytes = 4096 + 192;
constexpr size_t kShifts = 61;
constexpr size_t kMappedBytes = kGuardBytes + StackPool::kStackBytes +
                                (kShiftBytes * kShifts + 4095) / 4096 * 4096;

} // namespace

StackPool::~StackPool() {
  for (const Stack &stack : stacks)
    munmap(stack.limit - kGuardBytes, kMappedBytes);
}

StackPool::Stack StackPool::acquire() {
  if (!free.empty()) {
    const size_t index = free.top();
    free.pop();
    return stacks[index];
  }
  void *memory =
      mmap(nullptr, kMappedBytes, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED)
    throw runtime::Error("expected address space for the stack of process " +
                         std::to_string(stacks.size()) +
                         " of the simulation (64 MB each) but " + "got '" +
                         std::strerror(errno) +
                         "'; raise the limit of virtual memory (ulimit -v, "
                         "vm.overcommit_memory)");
  mprotect(memory, kGuardBytes, PROT_NONE);
  // A huge page per stack would cost 2 MB of memory where 8 KB are used.
  madvise(memory, kMappedBytes, MADV_NOHUGEPAGE);
  Stack stack;
  stack.index = stacks.size();
  stack.limit = static_cast<char *>(memory) + kGuardBytes;
  stack.top = static_cast<char *>(memory) + kMappedBytes -
              (stack.index % kShifts) * kShiftBytes;
  stacks.push_back(stack);
  return stack;
}

void StackPool::release(const Stack &stack) { free.push(stack.index); }
