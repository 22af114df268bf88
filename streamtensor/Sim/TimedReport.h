//===- TimedReport.h - Results of timed simulation as JSON ------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What streamtensor-sim prints.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_TIMEDREPORT_H
#define STREAMTENSOR_SIM_TIMEDREPORT_H

#include "streamtensor/Sim/TimeBound.h"
#include "streamtensor/Sim/TimeBreakdown.h"

namespace streamtensor {

/// A run with memory of another efficiency.
struct SensitivityRun {
  double memoryEfficiency = 0;
  int64_t cycles = 0;
  TimeBound bound;
};

/// What a report may say besides the result.
struct TimedReportParts {
  /// Where the time goes.
  const ExplainedRun *explained = nullptr;
  /// Parts of the time line of each process; 0: no time line.
  size_t timelineParts = 0;
  std::vector<SensitivityRun> sensitivity;
};

/// What `streamtensor-sim --json` prints (docs/reports.md for `parts`).
std::string timedReportJson(const TimedNetwork &network,
                            const TimedOptions &options,
                            const TimedResult &result,
                            const TimedReportParts &parts = {});

/// The same for people, at most 20 lines of 100 columns: where the time goes,
/// and what bounds it.
std::string
timedReportText(const TimedNetwork &network, const TimedOptions &options,
                const ExplainedRun &run,
                const std::vector<SensitivityRun> &sensitivity = {});

/// What bounds the time, on a line without an end: "compute, 81.0 % of the
/// time; most by 'mm_0' (model.py:12): 62.1 %". Empty after a deadlock.
std::string describeBottleneck(const TimedNetwork &network,
                               const TimeBreakdown &breakdown);

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_TIMEDREPORT_H
