//===- TimedReport.h - Results of timed simulation as JSON ------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What streamtensor-sim prints, and traces for Perfetto.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_TIMEDREPORT_H
#define STREAMTENSOR_SIM_TIMEDREPORT_H

#include "streamtensor/Sim/TimedSimulator.h"

namespace streamtensor {

/// The JSON of docs/process-networks.md, "What streamtensor-sim prints".
std::string timedReportJson(const TimedNetwork &network,
                            const TimedOptions &options,
                            const TimedResult &result);

/// The same for people, at most 40 lines: where the time goes.
std::string timedReportText(const TimedNetwork &network,
                            const TimedOptions &options,
                            const TimedResult &result);

/// Collects when processes run and wait, and writes it as a trace that
/// ui.perfetto.dev opens (the JSON of Chrome's trace events; a process is a
/// track; one cycle is the network's clock, or 1 ns without one).
class TraceCollector {
public:
  explicit TraceCollector(const TimedNetwork &network);

  /// Sets the callbacks of `options`; must outlive the simulation.
  void observe(TimedOptions &options);
  std::string json() const;

private:
  struct Span {
    bool isWrite, isMemory;
    unsigned fifo;
    int64_t from, to, waited;
  };
  struct Track {
    std::vector<Span> stalls;
    std::vector<BusySpan> invocations;
    /// Waits closer together than this become one span.
    int64_t resolution = 0;
  };
  void add(const StallSpan &span);
  static void merge(Track &track);
  std::string waitName(const Span &span) const;

  const TimedNetwork &network;
  std::vector<Track> tracks;
};

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_TIMEDREPORT_H
