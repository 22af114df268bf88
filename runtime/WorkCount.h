//===- WorkCount.h - Work of a run from counted tokens ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the tokens that a simulation has counted per FIFO into multiply-
// accumulates and memory traffic, with the constants of the design.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_WORKCOUNT_H
#define STREAMTENSOR_RUNTIME_WORKCOUNT_H

#include "runtime/Device.h"
#include "runtime/sim/Scheduler.h"

#include <string>
#include <unordered_map>
#include <vector>

namespace streamtensor::runtime {

class WorkCount {
public:
  /// Throws Error when the design counts by a FIFO whose name is not unique.
  explicit WorkCount(const DesignInterface &design);

  /// The statistics of one run, without the time. FIFOs keep the order of the
  /// design; FIFOs that the design does not list come last.
  RunStatistics count(const std::vector<sim::FifoStatistics> &simulated) const;

private:
  /// A constant per token of one FIFO.
  struct Rate {
    size_t fifo;
    uint64_t perToken;
  };
  static constexpr size_t kNone = ~size_t(0);

  static std::string key(const std::string &name, const std::string &group);
  size_t find(const std::string &name, const std::string &group) const;
  Rate rate(const DesignInterface &design, const std::string &task,
            const std::string &fifo, const std::string &group,
            uint64_t perToken) const;

  /// The FIFOs of the design with nothing counted.
  std::vector<FifoCount> fifos;
  std::unordered_map<std::string, size_t> byGroup;
  /// kNone for a name that several groups have.
  std::unordered_map<std::string, size_t> byName;
  std::vector<Rate> macs, dma;
  /// One per entry of `dma`: what did not come from memory.
  std::vector<Rate> except;
};

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_WORKCOUNT_H
