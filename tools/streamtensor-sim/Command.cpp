//===- Command.cpp - What streamtensor-sim does ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads network and options, simulates, prints.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-sim/Command.h"

#include "runtime/Error.h"
#include "streamtensor/Network/NetworkJson.h"
#include "streamtensor/Sim/TimedReport.h"
#include "streamtensor/Support/AtomicFile.h"

#include <iostream>
#include <sstream>

using namespace streamtensor;
using runtime::CommandLine;
using runtime::Error;
using runtime::UsageError;

static int64_t parseNumber(const std::string &text, const std::string &what,
                           int64_t smallest, int64_t largest = INT32_MAX) {
  size_t end = 0;
  int64_t value = -1;
  try {
    value = std::stoll(text, &end);
  } catch (const std::exception &) {
    end = 0;
  }
  if (end == 0 || end != text.size() || value < smallest || value > largest)
    throw UsageError("expected a number from " + std::to_string(smallest) +
                     " to " + std::to_string(largest) + " for " + what +
                     " but got '" + text + "'");
  return value;
}

/// `seq=5,past=0`.
static ParameterValues parseValues(const std::string &text) {
  ParameterValues values;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const size_t equals = item.find('=');
    if (equals == std::string::npos)
      throw UsageError("expected NAME=VALUE,... but got '" + item + "'");
    values[item.substr(0, equals)] =
        parseNumber(item.substr(equals + 1), item.substr(0, equals), 0);
  }
  return values;
}

/// `0.5,0.75,0.924`.
static std::vector<double> parseEfficiencies(const std::string &text) {
  std::vector<double> values;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    size_t end = 0;
    double value = 0;
    try {
      value = std::stod(item, &end);
    } catch (const std::exception &) {
      end = 0;
    }
    if (end == 0 || end != item.size() || !(value >= 0.01) || value > 1)
      throw UsageError("expected numbers from 0.01 to 1 for "
                       "--memory-efficiency, separated by commas, but got '" +
                       item + "'");
    values.push_back(value);
  }
  if (values.empty() || text.back() == ',')
    throw UsageError("expected a number from 0.01 to 1 for "
                     "--memory-efficiency but got ''");
  return values;
}

/// Runs with memory of each efficiency.
static std::vector<SensitivityRun>
simulateEfficiencies(const TimedNetwork &network, TimedOptions options,
                     const std::vector<double> &efficiencies,
                     const std::string &path) {
  options.onStall = nullptr;
  options.onInvocation = nullptr;
  std::vector<SensitivityRun> runs;
  for (double efficiency : efficiencies) {
    TimedNetwork changed = network;
    if (auto fault = changed.setMemoryEfficiency(efficiency))
      throw Error(path + ": --memory-efficiency: " + *fault);
    std::string error;
    const std::optional<TimedResult> result =
        simulateTimed(changed, options, error);
    if (!result)
      throw Error(path + ": " + error);
    runs.push_back(
        {efficiency, result->cycles, boundOf(changed, options, *result)});
  }
  return runs;
}

void streamtensor::simulateNetwork(const CommandLine &line) {
  const std::string path = line.required("network");
  TimedOptions options;
  if (const std::string text = line.optional("invocations"); !text.empty())
    options.invocations =
        parseNumber(text, "--invocations", 1, TimedOptions::kMostInvocations);
  options.values = parseValues(line.optional("values"));
  options.unbounded = line.flag("unbounded");
  if (const std::string text = line.optional("max-events"); !text.empty())
    options.mostEvents = parseNumber(text, "--max-events", 1, INT64_MAX);
  std::vector<double> efficiencies;
  if (line.has("memory-efficiency"))
    efficiencies = parseEfficiencies(line.optional("memory-efficiency"));
  TimedReportParts parts;
  if (const std::string text = line.optional("timeline"); !text.empty())
    parts.timelineParts = parseNumber(text, "--timeline", 1, 1000);
  const bool asJson = line.flag("json");
  const bool explains = !asJson || line.flag("explain") || parts.timelineParts;

  std::string error;
  std::optional<TimedNetwork> network = readNetworkFile(path, error);
  if (!network)
    throw Error(error);
  if (const std::string depths = line.optional("depths"); !depths.empty())
    if (auto fault = applyDepthsFile(depths, *network))
      throw Error(*fault);
  if (auto fault = network->check(options.values))
    throw Error(path + ": " + *fault);

  if (line.flag("accesses")) {
    std::cout << writeOut(programOrder(*network, options.values)) << std::flush;
    return;
  }

  const std::string tracePath = line.optional("trace");
  std::optional<ExplainedRun> run;
  if (explains) {
    run = explainTime(*network, options, error);
  } else {
    ExplainedRun plain{{}, Timeline(*network), {}};
    TimedOptions observed = options;
    if (!tracePath.empty())
      plain.timeline.observe(observed);
    if (std::optional<TimedResult> result =
            simulateTimed(*network, observed, error)) {
      plain.result = std::move(*result);
      run = std::move(plain);
    }
  }
  if (!run)
    throw Error(path + ": " + error);
  if (!tracePath.empty() &&
      !writeFileAtomically(tracePath, traceJson(*network, run->timeline),
                           error))
    throw Error(error);
  if (!efficiencies.empty() && run->result.deadlock.empty())
    parts.sensitivity =
        simulateEfficiencies(*network, options, efficiencies, path);
  if (explains)
    parts.explained = &*run;
  std::cout << (asJson ? timedReportJson(*network, options, run->result, parts)
                       : timedReportText(*network, options, *run,
                                         parts.sensitivity))
            << std::flush;
  if (!run->result.deadlock.empty())
    throw Error(path +
                ": deadlock: " + describeDeadlock(*network, run->result));
}
