//===- fuzz_networks.cpp - Mutated files of timed networks ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads, checks and simulates networks that were changed at random: values and
// keys of the JSON, or bytes of its text. Each must end with a result or one
// line of error. Built with sanitizers by fuzz_networks.py.
//
// usage: fuzz_networks FIRST COUNT FILE...
//
//===----------------------------------------------------------------------===//

#include "benchmarks/Mutator.h"
#include "streamtensor/Network/NetworkJson.h"
#include "streamtensor/Sim/TimedReport.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace streamtensor;
using nlohmann::json;

namespace {

const std::vector<std::string> words = {
    "name",   "depth", "fifo",           "read",     "write",       "loop",
    "body",   "at",    "wait",           "stage",    "pipeline",    "if",
    "then",   "ii",    "latency",        "p0",       "f0",          "i0 < 3",
    "memory", "beats", "initial_tokens", "crossing", "i0 * i0 / 7", "seq"};

enum Outcome { Refused, Failed, Ended, Deadlocked, NumOutcomes };

Outcome run(const std::string &text, int64_t invocations) {
  auto checkLine = [](const std::string &error) {
    if (error.empty() || error.find('\n') != std::string::npos) {
      std::fprintf(stderr, "no line: '%s'\n", error.c_str());
      std::abort();
    }
  };
  std::string error;
  const std::optional<TimedNetwork> network = parseNetwork(text, error);
  if (!network) {
    checkLine(error);
    return Refused;
  }
  if (const std::optional<std::string> fault = network->check()) {
    checkLine(*fault);
    return Refused;
  }
  TimedOptions options;
  options.invocations = invocations;
  options.mostEvents = 100000;
  const std::optional<TimedResult> result =
      simulateTimed(*network, options, error);
  if (!result) {
    checkLine(error);
    return Failed;
  }
  timedReportJson(*network, options, *result);
  // Twice the events where FIFOs are never full.
  options.mostEvents *= 2;
  const std::optional<ExplainedRun> run = explainTime(*network, options, error);
  if (!run) {
    checkLine(error);
    return Failed;
  }
  TimedReportParts parts;
  parts.explained = &*run;
  parts.timelineParts = 10;
  timedReportJson(*network, options, run->result, parts);
  timedReportText(*network, options, *run);
  return result->deadlock.empty() ? Ended : Deadlocked;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4)
    return 2;
  std::vector<std::string> texts;
  for (int i = 3; i < argc; ++i) {
    std::ifstream file(argv[i]);
    std::ostringstream text;
    text << file.rdbuf();
    texts.push_back(text.str());
  }
  const unsigned first = std::strtoul(argv[1], nullptr, 10);
  const unsigned count = std::strtoul(argv[2], nullptr, 10);
  int64_t outcomes[NumOutcomes] = {};
  double longest = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    Mutator mutator(seed, words);
    std::string text = texts[mutator.in(0, texts.size() - 1)];
    if (mutator.in(0, 3) == 0) {
      mutator.mutate(text);
    } else {
      json document = json::parse(text);
      for (int64_t i = mutator.in(1, 8) / 4 + 1; i > 0; --i)
        mutator.mutate(document);
      text = document.dump();
    }
    // What a crash needs to be reproduced.
    std::fprintf(stderr, "\rseed %u ", seed);
    const auto begin = std::chrono::steady_clock::now();
    ++outcomes[run(text, mutator.in(1, 3))];
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    if (seconds > longest)
      longest = seconds;
    if (seconds > 5)
      std::fprintf(stderr, "took %.1f s\n", seconds);
  }
  std::printf("\n%u networks: %lld refused, %lld given up, %lld ended, %lld "
              "deadlocks; the longest took %.2f s\n",
              count, (long long)outcomes[Refused], (long long)outcomes[Failed],
              (long long)outcomes[Ended], (long long)outcomes[Deadlocked],
              longest);
}
