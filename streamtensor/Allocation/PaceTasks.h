//===- PaceTasks.h - Tasks as slow as costs no time -------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A task that nobody waits for needs no FIFO to run ahead into: a full FIFO
// slows it down, and nothing is lost. This finds how slow each task may be.
// docs/fifo-sizing.md has the linear program.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_PACETASKS_H
#define STREAMTENSOR_ALLOCATION_PACETASKS_H

#include "streamtensor/Allocation/FifoSizingProblem.h"

namespace streamtensor {

/// The same network with tasks that take longer where that saves bits, and
/// never so long that the last one ends later than it must. An access
/// in the first half of a task keeps its distance from the start, one in the
/// second half from the end. A task whose input is slower than its profile is
/// slowed down too, and so is one whose writer may be so many tokens ahead and
/// no more (`mostAhead`, one per edge or empty; where that leaves no time, it
/// does not count). A conservative problem has nothing left to slow down and
/// stays as it is. Needs a problem without greatest depths that passed its
/// check; the result passes it too.
FifoSizingProblem
paceTasks(const FifoSizingProblem &problem,
          const std::vector<std::optional<int64_t>> &mostAhead = {},
          SizingMethod method = SizingMethod::Clp);

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_PACETASKS_H
