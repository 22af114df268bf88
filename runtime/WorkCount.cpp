//===- WorkCount.cpp - Work of a run from counted tokens ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A FIFO is known by its name and the group that declares it; where only the
// name is known it must be unique in the design.
//
//===----------------------------------------------------------------------===//

#include "runtime/WorkCount.h"

#include "runtime/Error.h"

#include <algorithm>

using namespace streamtensor;
using namespace streamtensor::runtime;

WorkCount::WorkCount(const DesignInterface &design) {
  for (const FifoInfo &fifo : design.fifos) {
    byGroup.try_emplace(key(fifo.name, fifo.group), fifos.size());
    if (!byName.try_emplace(fifo.name, fifos.size()).second)
      byName[fifo.name] = kNone;
    fifos.push_back({fifo.name, fifo.group, 0, 0, fifo.depth});
  }
  for (const TaskInfo &task : design.tasks)
    if (!task.macsFifo.empty())
      macs.push_back(rate(design, task.name, task.macsFifo, task.group,
                          task.macsPerToken));
  for (const DmaInfo &item : design.dma) {
    dma.push_back(
        rate(design, item.name, item.fifo, item.group, item.bytesPerToken));
    except.push_back(rate(design, item.name, item.exceptFifo, item.group,
                          item.exceptBytesPerToken));
  }
}

std::string WorkCount::key(const std::string &name, const std::string &group) {
  return group + "\n" + name;
}

/// The FIFO of that name in that group, else the only one of that name.
size_t WorkCount::find(const std::string &name,
                       const std::string &group) const {
  auto exact = byGroup.find(key(name, group));
  if (exact != byGroup.end())
    return exact->second;
  auto only = byName.find(name);
  return only == byName.end() ? kNone : only->second;
}

WorkCount::Rate WorkCount::rate(const DesignInterface &design,
                                const std::string &task,
                                const std::string &fifo,
                                const std::string &group,
                                uint64_t perToken) const {
  if (fifo.empty())
    return {kNone, 0};
  const size_t index = find(fifo, group);
  if (index == kNone)
    throw Error("design '" + design.directory + "': task '" + task +
                "' counts by fifo '" + fifo + "', expected one fifo of that " +
                "name in group '" + group + "' but got none or several");
  return {index, perToken};
}

RunStatistics
WorkCount::count(const std::vector<sim::FifoStatistics> &simulated) const {
  RunStatistics result;
  result.isCounted = true;
  result.fifos = fifos;
  for (const sim::FifoStatistics &counted : simulated) {
    const size_t index = find(counted.name, counted.scope);
    if (index == kNone) {
      result.fifos.push_back({counted.name, counted.scope, counted.tokens,
                              counted.peak, counted.depth});
      continue;
    }
    FifoCount &fifo = result.fifos[index];
    fifo.tokens += counted.tokens;
    fifo.peak = std::max(fifo.peak, counted.peak);
    fifo.depth = counted.depth; // what was simulated
  }
  auto amount = [&](const Rate &rate) {
    return rate.fifo == kNone ? 0
                              : result.fifos[rate.fifo].tokens * rate.perToken;
  };
  for (const Rate &rate : macs)
    result.macs += amount(rate);
  for (size_t i = 0; i < dma.size(); ++i)
    result.dmaBytes.push_back(amount(dma[i]) - amount(except[i]));
  return result;
}
