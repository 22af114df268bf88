//===- TimeBound.cpp - What bounds the time of a network ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums over processes and channels.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/TimeBound.h"

#include <cmath>

using namespace streamtensor;

TimeBound streamtensor::boundOf(const TimedNetwork &network,
                                const TimedOptions &options,
                                const TimedResult &result) {
  const int64_t launches =
      network.serialInvocations ? options.invocations : int64_t(1);
  const int64_t launch = launches * network.launchCycles;
  TimeBound bound;
  auto take = [&](int64_t cycles, const std::string &kind,
                  const std::string &by) {
    if (cycles > bound.cycles) {
      bound.cycles = cycles;
      bound.kind = kind;
      bound.by = by;
    }
  };
  for (size_t i = 0; i < result.processes.size(); ++i) {
    const TimedProcess &process = network.processes[i];
    // Loads and stores are bounded by the memory.
    if (process.kind == "dma_in" || process.kind == "dma_out")
      continue;
    take(result.processes[i].busy,
         process.kind == "converter" ? "converter" : "compute", process.name);
  }
  std::vector<double> cycles(network.memory.channels.size(), 0.0);
  for (size_t i = 0; i < result.ports.size(); ++i) {
    const unsigned channel = network.memory.ports[i].channel;
    cycles[channel] += double(result.ports[i].bytes) /
                       network.memory.channels[channel].bytesPerCycle;
  }
  for (size_t i = 0; i < cycles.size(); ++i)
    take(std::llround(std::ceil(cycles[i])), "memory",
         network.memory.channels[i].name);
  if (launch > bound.cycles) {
    bound.kind = "launch";
    bound.by = "host";
  }
  bound.cycles += launch;
  return bound;
}

std::string streamtensor::longestWait(const TimedNetwork &network,
                                      const TimedResult &result) {
  int64_t longest = 0;
  std::string text;
  for (size_t i = 0; i < result.fifos.size(); ++i) {
    const TimedFifo &fifo = network.fifos[i];
    auto take = [&](int64_t cycles, unsigned process, const char *what) {
      const std::string &kind = network.processes[process].kind;
      if (cycles <= longest || kind == "dma_in" || kind == "dma_out")
        return;
      longest = cycles;
      text = "'" + network.processes[process].name + "' waits " +
             std::to_string(cycles) + " cycles " + what + " '" + fifo.name +
             "'";
    };
    take(result.fifos[i].waitFull, fifo.writer, "for room in");
    take(result.fifos[i].waitEmpty, fifo.reader, "for tokens of");
  }
  return text;
}

int64_t streamtensor::memoryBytes(const TimedResult &result) {
  int64_t bytes = 0;
  for (const TimedPortResult &port : result.ports)
    bytes += port.bytes;
  return bytes;
}

double streamtensor::memoryUtilization(const TimedNetwork &network,
                                       const TimedResult &result) {
  const double possible =
      network.memory.peakBytesPerCycle * double(result.cycles);
  return possible > 0 ? double(memoryBytes(result)) / possible : 0;
}
