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

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace streamtensor;
using Json = nlohmann::ordered_json;

static int64_t depthOf(const TimedNetwork &network, const TimedOptions &options,
                       size_t fifo) {
  return options.depths.empty() ? network.fifos[fifo].depth
                                : options.depths[fifo];
}

static Json boundJson(const TimeBound &bound) {
  return {{"cycles", bound.cycles}, {"kind", bound.kind}, {"by", bound.by}};
}

static Json shareJson(const TimeBreakdown &breakdown, const TimeShare &share) {
  return {{"kind", timeKindName(share.kind)},
          {"by", share.by},
          {"source", share.source},
          {"cycles", share.cycles},
          {"share", breakdown.fraction(share.cycles)}};
}

static void addBreakdown(const TimeBreakdown &breakdown, Json &report) {
  report["bottleneck"] = nullptr;
  if (breakdown.bottleneck) {
    const TimeShare &share = *breakdown.bottleneck;
    report["bottleneck"] = shareJson(breakdown, share);
    report["bottleneck"]["kind_share"] =
        breakdown.fraction(breakdown.of(share.kind));
  }
  Json kinds;
  for (TimeKind kind : {TimeKind::Compute, TimeKind::Converter,
                        TimeKind::Memory, TimeKind::Fifo, TimeKind::Launch})
    kinds[timeKindName(kind)] = breakdown.fraction(breakdown.of(kind));
  report["time_by_kind"] = std::move(kinds);
  report["lost_to_fifos"] = breakdown.lostToFifos;
  report["chain"] = Json::array();
  for (const TimeShare &share : breakdown.shares)
    report["chain"].push_back(shareJson(breakdown, share));
}

static Json timelineOf(const TimedNetwork &network, const ExplainedRun &run,
                       size_t count) {
  const int64_t end = run.result.cycles + 1;
  Json tracks = Json::array();
  const std::vector<std::vector<TimelinePart>> parts =
      splitTimeline(run.timeline, end, count);
  const double length = std::max(1.0, double(end) / double(count));
  auto percent = [&](double cycles) {
    return std::clamp<int>(std::lround(100.0 * cycles / length), 0, 100);
  };
  for (size_t i = 0; i < parts.size(); ++i) {
    Json busy = Json::array(), input = Json::array(), output = Json::array();
    for (const TimelinePart &part : parts[i]) {
      busy.push_back(percent(part.busy));
      input.push_back(percent(part.waitInput));
      output.push_back(percent(part.waitOutput));
    }
    tracks.push_back({{"process", network.processes[i].name},
                      {"busy", std::move(busy)},
                      {"wait_input", std::move(input)},
                      {"wait_output", std::move(output)}});
  }
  return {{"part_cycles", length}, {"tracks", std::move(tracks)}};
}

std::string streamtensor::timedReportJson(const TimedNetwork &network,
                                          const TimedOptions &options,
                                          const TimedResult &result,
                                          const TimedReportParts &parts) {
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
  report["bound"] = boundJson(boundOf(network, options, result));
  report["longest_wait"] = longestWait(network, result);
  if (parts.explained) {
    addBreakdown(parts.explained->breakdown, report);
    // For those who print it among other figures.
    report["summary"] = Json::array();
    std::istringstream lines(
        timedReportText(network, options, *parts.explained));
    for (std::string line; std::getline(lines, line);)
      report["summary"].push_back(line);
  }
  if (parts.explained && parts.timelineParts > 0)
    report["timeline"] =
        timelineOf(network, *parts.explained, parts.timelineParts);
  if (!parts.sensitivity.empty()) {
    report["sensitivity"] = Json::array();
    for (const SensitivityRun &run : parts.sensitivity)
      report["sensitivity"].push_back(
          {{"memory_efficiency", run.memoryEfficiency},
           {"cycles", run.cycles},
           {"bound", boundJson(run.bound)}});
  }
  report["invocations"] = options.invocations;
  report["label"] = "simulated";
  return report.dump(1) + "\n";
}

//===----------------------------------------------------------------------===//
// For people
//===----------------------------------------------------------------------===//

static constexpr size_t kMostColumns = 100;

/// `text`, shortened in the middle, where names differ least.
static std::string shorten(const std::string &text, size_t most) {
  if (text.size() <= most)
    return text;
  const size_t front = (most - 2) / 2;
  return text.substr(0, front) + ".." +
         text.substr(text.size() - (most - 2 - front));
}

/// The place in the model, without the name of the operation there.
static std::string placeOf(const std::string &source, size_t most) {
  const size_t at = source.rfind(" at ");
  return shorten(at == std::string::npos ? source : source.substr(at + 4),
                 most);
}

std::string streamtensor::describeBottleneck(const TimedNetwork &network,
                                             const TimeBreakdown &breakdown) {
  if (!breakdown.bottleneck)
    return "";
  const TimeShare &share = *breakdown.bottleneck;
  char line[128];
  std::snprintf(line, sizeof line, "%s, %.1f %% of the time; most by '",
                timeKindName(share.kind),
                100.0 * breakdown.fraction(breakdown.of(share.kind)));
  std::string text = line + shorten(share.by, 24) + "'";
  std::string source = placeOf(share.source, 32);
  if (share.kind == TimeKind::Fifo)
    for (const TimedFifo &fifo : network.fifos)
      if (fifo.name == share.by)
        source = shorten("'" + network.processes[fifo.writer].name + "' to '" +
                             network.processes[fifo.reader].name + "'",
                         40);
  if (!source.empty())
    text += " (" + source + ")";
  std::snprintf(line, sizeof line, ": %.1f %%",
                100.0 * breakdown.fraction(share.cycles));
  return text + line;
}

/// One line for each of the largest shares of the chain.
static void addChain(const TimedNetwork &network, const ExplainedRun &run,
                     std::string &text) {
  constexpr size_t kMostRows = 9;
  const TimeBreakdown &breakdown = run.breakdown;
  char line[256];
  text += "  time  kind       on the critical chain            busy    in   out"
          "  model operation\n";
  // What rounds to nothing is left out.
  size_t rows = 0;
  while (rows < std::min(breakdown.shares.size(), kMostRows) &&
         breakdown.fraction(breakdown.shares[rows].cycles) >= 5e-4)
    ++rows;
  for (size_t i = 0; i < rows; ++i) {
    const TimeShare &share = breakdown.shares[i];
    std::string counters;
    for (size_t p = 0; p < network.processes.size(); ++p)
      if (network.processes[p].name == share.by &&
          share.kind != TimeKind::Fifo) {
        const TimedProcessResult &of = run.result.processes[p];
        const double all =
            std::max(1.0, double(of.busy + of.waitInput + of.waitOutput));
        std::snprintf(line, sizeof line, "%4.0f%% %4.0f%% %4.0f%%",
                      100.0 * double(of.busy) / all,
                      100.0 * double(of.waitInput) / all,
                      100.0 * double(of.waitOutput) / all);
        counters = line;
        break;
      }
    std::snprintf(line, sizeof line, "%5.1f%% %-10s %-32s %17s  %s",
                  100.0 * breakdown.fraction(share.cycles),
                  timeKindName(share.kind), shorten(share.by, 32).c_str(),
                  counters.c_str(), placeOf(share.source, 29).c_str());
    std::string row = line;
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + "\n";
  }
  if (breakdown.shares.size() > rows) {
    int64_t rest = 0;
    for (size_t i = rows; i < breakdown.shares.size(); ++i)
      rest += breakdown.shares[i].cycles;
    std::snprintf(line, sizeof line, "%5.1f%% %zu more\n",
                  100.0 * breakdown.fraction(rest),
                  breakdown.shares.size() - rows);
    text += line;
  }
}

std::string streamtensor::timedReportText(
    const TimedNetwork &network, const TimedOptions &options,
    const ExplainedRun &run, const std::vector<SensitivityRun> &sensitivity) {
  const TimedResult &result = run.result;
  std::string text;
  char line[256];
  auto add = [&](const char *format, auto... values) {
    std::snprintf(line, sizeof line, format, values...);
    text += line;
  };
  auto addLine = [&](const std::string &what) {
    text += shorten(what, kMostColumns) + "\n";
  };
  add("%lld cycles (simulated)", (long long)result.cycles);
  if (network.clockNs > 0)
    add(", %.6g ms at %.4g ns", double(result.cycles) * network.clockNs * 1e-6,
        network.clockNs);
  text += "\n";
  if (!result.deadlock.empty())
    addLine("deadlock: " + describeDeadlock(network, result));
  const TimeBreakdown &breakdown = run.breakdown;
  if (breakdown.bottleneck)
    addLine("bound by " + describeBottleneck(network, breakdown));
  const TimeBound bound = boundOf(network, options, result);
  std::snprintf(line, sizeof line,
                "at least %lld cycles for the work of %s '%s'; reached %.1f %%",
                (long long)bound.cycles, bound.kind.c_str(),
                shorten(bound.by, 40).c_str(),
                result.cycles > 0
                    ? 100.0 * double(bound.cycles) / double(result.cycles)
                    : 0.0);
  addLine(line);
  if (const int64_t bytes = memoryBytes(result))
    add("memory: %lld bytes, %.1f %% of its peak\n", (long long)bytes,
        100.0 * memoryUtilization(network, result));
  if (const std::string wait = longestWait(network, result); !wait.empty())
    addLine("longest wait: " + wait);
  if (breakdown.lostToFifos > 0)
    add("full fifos cost %lld cycles\n", (long long)breakdown.lostToFifos);
  if (!breakdown.shares.empty())
    addChain(network, run, text);
  int64_t declared = 0, needed = 0;
  for (size_t i = 0; i < result.fifos.size(); ++i) {
    const TimedFifo &fifo = network.fifos[i];
    declared += depthOf(network, options, i) * fifo.widthBits * fifo.lanes;
    needed += result.fifos[i].peak * fifo.widthBits * fifo.lanes;
  }
  add("fifos: %zu, %lld bits, of which %lld were in use at a time\n",
      result.fifos.size(), (long long)declared, (long long)needed);
  if (!sensitivity.empty()) {
    std::string cycles;
    for (const SensitivityRun &at : sensitivity) {
      std::snprintf(line, sizeof line, "%s%.4g: %lld",
                    cycles.empty() ? "" : ", ", at.memoryEfficiency,
                    (long long)at.cycles);
      cycles += line;
    }
    addLine("cycles by memory efficiency: " + cycles);
  }
  return text;
}
