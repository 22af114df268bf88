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

  TraceCollector trace(*network);
  const std::string tracePath = line.optional("trace");
  if (!tracePath.empty())
    trace.observe(options);
  const std::optional<TimedResult> result =
      simulateTimed(*network, options, error);
  if (!result)
    throw Error(path + ": " + error);
  if (!tracePath.empty() &&
      !writeFileAtomically(tracePath, trace.json(), error))
    throw Error(error);
  std::cout << (line.flag("json") ? timedReportJson(*network, options, *result)
                                  : timedReportText(*network, options, *result))
            << std::flush;
  if (!result->deadlock.empty())
    throw Error(path + ": deadlock: " + describeDeadlock(*network, *result));
}
