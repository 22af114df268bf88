//===- ShrinkSchedule.h - smaller accumulators -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes a schedule whose accumulator takes too much memory.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_DATAFLOW_SHRINKSCHEDULE_H
#define STREAMTENSOR_TRANSFORMS_DATAFLOW_SHRINKSCHEDULE_H

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <string>

namespace streamtensor {

/// The schedule with an accumulator of at most `limitBytes`, or with one of a
/// single element where even that is more. Step by step, the cheapest first:
///  1. fewer rows share what is read once for all of them;
///  2. a parallel loop goes outside the reduction; what does not depend on it
///     is read again in each of its iterations;
///  3. fewer elements are computed at once.
dataflow::ScheduleAttr shrinkAccumulator(mlir::linalg::GenericOp op,
                                         dataflow::ScheduleAttr schedule,
                                         int64_t limitBytes);

/// What differs between two schedules of `op`, for people.
std::string describeShrinking(mlir::linalg::GenericOp op,
                              dataflow::ScheduleAttr before,
                              dataflow::ScheduleAttr after, int64_t limitBytes);

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_DATAFLOW_SHRINKSCHEDULE_H
