//===- TimedReport.cpp - Results of timed simulation as JSON --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Keys in the order in which people read them.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/TimedReport.h"

#include "streamtensor/Sim/TimeBound.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>

using namespace streamtensor;
using Json = nlohmann::ordered_json;

static int64_t depthOf(const TimedNetwork &network, const TimedOptions &options,
                       size_t fifo) {
  return options.depths.empty() ? network.fifos[fifo].depth
                                : options.depths[fifo];
}

std::string streamtensor::timedReportJson(const TimedNetwork &network,
                                          const TimedOptions &options,
                                          const TimedResult &result) {
  Json report;
  report["cycles"] = result.cycles;
  report["deadlock"] = nullptr;
  if (!result.deadlock.empty()) {
    Json cycle = Json::array();
    for (const TimedBlock &block : result.deadlock)
      cycle.push_back({{"process", network.processes[block.process].name},
                       {"op", block.isWrite ? "write" : "read"},
                       {block.isMemory ? "port" : "fifo",
                        block.isMemory ? network.memory.ports[block.fifo].name
                                       : network.fifos[block.fifo].name},
                       {"fill", block.fill},
                       {"depth", block.depth}});
    report["deadlock"] = {{"cycle", std::move(cycle)}};
    if (result.deadlockEnds)
      report["deadlock"]["ended"] =
          network.processes[*result.deadlockEnds].name;
  }
  report["fifos"] = Json::array();
  for (size_t i = 0; i < result.fifos.size(); ++i)
    report["fifos"].push_back({{"name", network.fifos[i].name},
                               {"peak", result.fifos[i].peak},
                               {"depth", depthOf(network, options, i)},
                               {"tokens", result.fifos[i].tokens},
                               {"wait_full", result.fifos[i].waitFull},
                               {"wait_empty", result.fifos[i].waitEmpty}});
  report["processes"] = Json::array();
  for (size_t i = 0; i < result.processes.size(); ++i)
    report["processes"].push_back(
        {{"name", network.processes[i].name},
         {"busy", result.processes[i].busy},
         {"wait_input", result.processes[i].waitInput},
         {"wait_output", result.processes[i].waitOutput},
         {"start", result.processes[i].start},
         {"end", result.processes[i].end}});
  report["memory"] = Json::array();
  for (size_t i = 0; i < result.ports.size(); ++i) {
    const TimedPort &port = network.memory.ports[i];
    report["memory"].push_back(
        {{"port", port.name},
         {"channel", network.memory.channels[port.channel].name},
         {"bytes", result.ports[i].bytes},
         {"bursts", result.ports[i].bursts}});
  }
  report["memory_bytes"] = memoryBytes(result);
  report["memory_utilization"] = memoryUtilization(network, result);
  const TimeBound bound = boundOf(network, options, result);
  report["bound"] = {
      {"cycles", bound.cycles}, {"kind", bound.kind}, {"by", bound.by}};
  report["longest_wait"] = longestWait(network, result);
  report["invocations"] = options.invocations;
  report["label"] = "simulated";
  return report.dump(1) + "\n";
}

std::string streamtensor::timedReportText(const TimedNetwork &network,
                                          const TimedOptions &options,
                                          const TimedResult &result) {
  char line[256];
  std::string text;
  auto add = [&](const char *format, auto... values) {
    std::snprintf(line, sizeof line, format, values...);
    text += line;
  };
  add("%lld cycles (simulated)", (long long)result.cycles);
  if (network.clockNs > 0)
    add(", %.6g ms at %.4g ns", double(result.cycles) * network.clockNs * 1e-6,
        network.clockNs);
  text += "\n";
  if (!result.deadlock.empty())
    text += "deadlock: " + describeDeadlock(network, result) + "\n";
  const TimeBound bound = boundOf(network, options, result);
  add("bound: %lld cycles by %s '%s'; reached %.1f %%\n",
      (long long)bound.cycles, bound.kind.c_str(), bound.by.c_str(),
      result.cycles > 0 ? 100.0 * double(bound.cycles) / double(result.cycles)
                        : 0.0);
  if (const int64_t bytes = memoryBytes(result))
    add("memory: %lld bytes, %.1f %% of its peak\n", (long long)bytes,
        100.0 * memoryUtilization(network, result));
  if (const std::string wait = longestWait(network, result); !wait.empty())
    text += "longest wait: " + wait + "\n";
  std::vector<size_t> order(result.processes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return result.processes[a].busy > result.processes[b].busy;
  });
  constexpr size_t kMostRows = 15;
  add("%-32s %14s %14s %14s\n", "process", "busy", "waits for in",
      "waits for out");
  for (size_t i = 0; i < std::min(order.size(), kMostRows); ++i) {
    const TimedProcessResult &process = result.processes[order[i]];
    add("%-32.32s %14lld %14lld %14lld\n",
        network.processes[order[i]].name.c_str(), (long long)process.busy,
        (long long)process.waitInput, (long long)process.waitOutput);
  }
  if (order.size() > kMostRows)
    add("... and %zu more\n", order.size() - kMostRows);
  int64_t declared = 0, needed = 0;
  for (size_t i = 0; i < result.fifos.size(); ++i) {
    const TimedFifo &fifo = network.fifos[i];
    declared += depthOf(network, options, i) * fifo.widthBits * fifo.lanes;
    needed += result.fifos[i].peak * fifo.widthBits * fifo.lanes;
  }
  add("fifos: %zu, %lld bits, of which %lld were in use at a time\n",
      result.fifos.size(), (long long)declared, (long long)needed);
  return text;
}

//===----------------------------------------------------------------------===//
// Traces
//===----------------------------------------------------------------------===//

/// Per process; a trace of more is slow to open and shows no more.
static constexpr size_t kMostSpans = 4000;

TraceCollector::TraceCollector(const TimedNetwork &network)
    : network(network), tracks(network.processes.size()) {}

void TraceCollector::observe(TimedOptions &options) {
  options.onStall = [this](const StallSpan &span) { add(span); };
  options.onInvocation = [this](const BusySpan &span) {
    tracks[span.process].invocations.push_back(span);
  };
}

static bool canJoin(int64_t gap, int64_t resolution) {
  return gap <= resolution;
}

void TraceCollector::add(const StallSpan &span) {
  Track &track = tracks[span.process];
  if (!track.stalls.empty()) {
    Span &last = track.stalls.back();
    if (last.isWrite == span.isWrite && last.isMemory == span.isMemory &&
        last.fifo == span.fifo &&
        canJoin(span.from - last.to, track.resolution)) {
      last.to = span.to;
      last.waited += span.to - span.from;
      return;
    }
  }
  track.stalls.push_back({span.isWrite, span.isMemory, span.fifo, span.from,
                          span.to, span.to - span.from});
  if (track.stalls.size() > kMostSpans)
    merge(track);
}

/// Joins neighbours until half of the spans are left.
void TraceCollector::merge(Track &track) {
  while (track.stalls.size() > kMostSpans / 2) {
    track.resolution = std::max<int64_t>(1, track.resolution * 2);
    std::vector<Span> joined;
    for (const Span &span : track.stalls) {
      if (!joined.empty() &&
          canJoin(span.from - joined.back().to, track.resolution)) {
        Span &last = joined.back();
        // The name of a joined span is that of its longest wait.
        if (span.waited > last.waited) {
          last.isWrite = span.isWrite;
          last.isMemory = span.isMemory;
          last.fifo = span.fifo;
        }
        last.to = span.to;
        last.waited += span.waited;
      } else {
        joined.push_back(span);
      }
    }
    track.stalls = std::move(joined);
  }
}

std::string TraceCollector::waitName(const Span &span) const {
  if (span.isMemory)
    return (span.isWrite ? "write " : "read ") +
           network.memory.ports[span.fifo].name;
  return (span.isWrite ? "full " : "empty ") + network.fifos[span.fifo].name;
}

std::string TraceCollector::json() const {
  const double unit = (network.clockNs > 0 ? network.clockNs : 1.0) * 1e-3;
  Json events = Json::array();
  for (size_t process = 0; process < tracks.size(); ++process) {
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", 1},
                      {"tid", process},
                      {"args", {{"name", network.processes[process].name}}}});
    for (const BusySpan &span : tracks[process].invocations)
      events.push_back(
          {{"name", "invocation " + std::to_string(span.invocation)},
           {"ph", "X"},
           {"pid", 1},
           {"tid", process},
           {"ts", double(span.from) * unit},
           {"dur", double(span.to - span.from) * unit},
           {"args", {{"from_cycle", span.from}, {"to_cycle", span.to}}}});
    for (const Span &span : tracks[process].stalls)
      events.push_back({{"name", waitName(span)},
                        {"ph", "X"},
                        {"pid", 1},
                        {"tid", process},
                        {"ts", double(span.from) * unit},
                        {"dur", double(span.to - span.from) * unit},
                        {"args", {{"waited_cycles", span.waited}}}});
  }
  Json trace = {{"traceEvents", std::move(events)},
                {"displayTimeUnit", "ns"},
                {"otherData", {{"label", "simulated"}}}};
  return trace.dump() + "\n";
}
