//===- TimeBound.h - What bounds the time of a network ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fewer cycles than these are not possible whatever the FIFOs are: each process
// has its own work, each memory channel its bytes.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_TIMEBOUND_H
#define STREAMTENSOR_SIM_TIMEBOUND_H

#include "streamtensor/Sim/TimedSimulator.h"

namespace streamtensor {

struct TimeBound {
  /// Of all invocations, with what each launch costs.
  int64_t cycles = 0;
  /// "compute", "converter", "memory" or "launch".
  std::string kind;
  /// The process, or the channel.
  std::string by;
};

/// The bound of a run that gave `result`: the process with most work or the
/// channel with most bytes, in addition to launches.
TimeBound boundOf(const TimedNetwork &network, const TimedOptions &options,
                  const TimedResult &result);

/// Where most time is lost, for people: the FIFO that its writer or reader
/// waits for longest, as "'p' waits for input 'f'", with the cycles; empty when
/// nobody waits. Waits of DMA tasks do not count: they run ahead.
std::string longestWait(const TimedNetwork &network, const TimedResult &result);

/// Bytes of all ports in all invocations, and the part of the memory's peak
/// that they are; 0 where the peak is not known.
int64_t memoryBytes(const TimedResult &result);
double memoryUtilization(const TimedNetwork &network,
                         const TimedResult &result);

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_TIMEBOUND_H
