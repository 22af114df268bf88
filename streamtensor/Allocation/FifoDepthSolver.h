//===- FifoDepthSolver.h - Smallest depths by simulation --------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The built-in solver of FifoDepthProblem.
//
// 1. Grow. Simulate from the least depths. At a deadlock, make one full FIFO of
//    the cycle one token deeper and continue in place (T. M. Parks, Bounded
//    Scheduling of Process Networks, 1995). Each step lets a
//    writer go on, so this ends; a cycle without a full FIFO is a true deadlock
//    that no depth resolves.
// 2. Shrink. Each FIFO that grew, largest first, is simulated one token
//    shallower. If that does not deadlock, it is grown again from its least
//    depth with the others fixed. Continuing in place equals a new run with the
//    new depth, so the depth reached is exactly the smallest; and making
//    another one shallower later never lowers it, so one round is enough. The
//    last deadlock on the way is the reason for the depth.
//
// Where a cycle has several full FIFOs, there is a choice: Parks takes the
// smallest, which can split tokens over a chain where one FIFO would do better
// alone. Then both steps are also tried with the full FIFO next to the waiting
// reader and with the one next to the first writer, and the fewest bits win.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_FIFODEPTHSOLVER_H
#define STREAMTENSOR_ALLOCATION_FIFODEPTHSOLVER_H

#include "streamtensor/Allocation/FifoDepthProblem.h"

namespace streamtensor {

/// Solves a problem that passed its check. Returns nothing and sets `error`
/// when no depths let the network end; the error is the cycle. With `only` that
/// choice is the one that is tried.
std::optional<FifoDepthSolution>
solveFifoDepths(const FifoDepthProblem &problem, std::string &error,
                std::optional<GrowingFifo> only = std::nullopt);

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_FIFODEPTHSOLVER_H
