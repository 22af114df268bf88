//===- Timeline.cpp - When processes ran and waited -----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Spans of waiting, joined where there are too many.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/Timeline.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace streamtensor;
using Json = nlohmann::ordered_json;

void Timeline::observe(TimedOptions &options) {
  options.onStall = [this](const StallSpan &span) { add(span); };
  options.onInvocation = [this](const BusySpan &span) {
    tracks_[span.process].invocations.push_back(span);
  };
}

static bool canJoin(int64_t gap, int64_t resolution) {
  return gap <= resolution;
}

void Timeline::add(const StallSpan &span) {
  Track &track = tracks_[span.process];
  if (!track.waits.empty()) {
    WaitSpan &last = track.waits.back();
    if (last.isWrite == span.isWrite && last.isMemory == span.isMemory &&
        last.target == span.fifo &&
        canJoin(span.from - last.to, track.resolution)) {
      last.to = span.to;
      last.waited += span.waited;
      return;
    }
  }
  track.waits.push_back({span.isWrite, span.isMemory, span.fifo, span.from,
                         span.to, span.waited});
  if (track.waits.size() > mostSpans)
    merge(track);
}

/// Joins neighbours until half of the spans are left.
void Timeline::merge(Track &track) const {
  while (track.waits.size() > mostSpans / 2) {
    track.resolution = std::max<int64_t>(1, track.resolution * 2);
    std::vector<WaitSpan> joined;
    for (const WaitSpan &span : track.waits) {
      if (!joined.empty() &&
          canJoin(span.from - joined.back().to, track.resolution)) {
        WaitSpan &last = joined.back();
        // A joined span is named after its longest wait.
        if (span.waited > last.waited) {
          last.isWrite = span.isWrite;
          last.isMemory = span.isMemory;
          last.target = span.target;
        }
        last.to = span.to;
        last.waited += span.waited;
      } else {
        joined.push_back(span);
      }
    }
    track.waits = std::move(joined);
  }
}

static std::string waitName(const TimedNetwork &network, const WaitSpan &span) {
  if (span.isMemory)
    return (span.isWrite ? "write " : "read ") +
           network.memory.ports[span.target].name;
  return (span.isWrite ? "full " : "empty ") + network.fifos[span.target].name;
}

std::string streamtensor::traceJson(const TimedNetwork &network,
                                    const Timeline &timeline) {
  const double unit = (network.clockNs > 0 ? network.clockNs : 1.0) * 1e-3;
  const std::vector<Timeline::Track> &tracks = timeline.tracks();
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
    for (const WaitSpan &span : tracks[process].waits)
      events.push_back({{"name", waitName(network, span)},
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

/// Adds `weight` times the part of [from, to) in each of the equal parts.
template <typename Add>
static void spread(int64_t from, int64_t to, double partLength, size_t count,
                   Add add) {
  if (to <= from)
    return;
  size_t part = std::min<size_t>(count - 1, double(from) / partLength);
  for (; part < count && double(part) * partLength < double(to); ++part)
    add(part,
        std::max(0.0, std::min<double>(to, double(part + 1) * partLength) -
                          std::max<double>(from, double(part) * partLength)));
}

std::vector<std::vector<TimelinePart>>
streamtensor::splitTimeline(const Timeline &timeline, int64_t end,
                            size_t count) {
  std::vector<std::vector<TimelinePart>> result;
  const double length = std::max(1.0, double(end) / double(count));
  for (const Timeline::Track &track : timeline.tracks()) {
    std::vector<TimelinePart> parts(count);
    for (const BusySpan &span : track.invocations)
      spread(span.from, span.to, length, count,
             [&](size_t part, double cycles) { parts[part].busy += cycles; });
    for (const WaitSpan &span : track.waits) {
      const double share = double(span.waited) / double(span.to - span.from);
      spread(span.from, span.to, length, count,
             [&](size_t part, double cycles) {
               TimelinePart &at = parts[part];
               (span.isWrite ? at.waitOutput : at.waitInput) += cycles * share;
               at.busy -= cycles * share;
             });
    }
    result.push_back(std::move(parts));
  }
  return result;
}
