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

#include "streamtensor/Network/NetworkJson.h"
#include "streamtensor/Sim/TimedReport.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

using namespace streamtensor;
using nlohmann::json;

namespace {

class Mutator {
public:
  explicit Mutator(unsigned seed) : engine(seed) {}

  int64_t in(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }

  /// Changes one value somewhere below `value`.
  void mutate(json &value) {
    json *at = &value;
    while (at->is_structured() && !at->empty() && in(0, 9) > 0)
      at = &*std::next(at->begin(), in(0, at->size() - 1));
    switch (in(0, 5)) {
    case 0:
      if (at->is_structured() && !at->empty()) {
        at->erase(std::next(at->begin(), in(0, at->size() - 1)));
        break;
      }
      [[fallthrough]];
    case 1:
      if (at->is_array() && !at->empty()) {
        at->push_back((*at)[in(0, at->size() - 1)]);
        break;
      }
      [[fallthrough]];
    case 2:
      if (at->is_object()) {
        (*at)[word()] = small();
        break;
      }
      [[fallthrough]];
    default:
      *at = at->is_number() && in(0, 3) ? number(*at) : small();
    }
  }

  void mutate(std::string &text) {
    for (int64_t i = in(1, 4); i > 0 && !text.empty(); --i) {
      const size_t at = in(0, text.size() - 1);
      const size_t length = in(1, in(0, 3) ? 3 : 200);
      switch (in(0, 3)) {
      case 0:
        text[at] = char(in(0, 3) ? in(32, 126) : in(0, 255));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(in(0, text.size() - 1), length));
        break;
      default:
        text.insert(at, std::to_string(edge()));
      }
    }
  }

private:
  int64_t edge() {
    static const int64_t values[] = {
        0,         1,         -1,        2,         3,         64,
        65535,     65537,     1 << 20,   INT32_MAX, 1LL << 39, 1LL << 40,
        1LL << 52, 1LL << 53, INT64_MAX, INT64_MIN};
    return values[in(0, std::size(values) - 1)];
  }
  json number(const json &old) {
    if (!old.is_number_integer() || in(0, 2) == 0)
      return edge();
    return int64_t(uint64_t(old.get<int64_t>()) + uint64_t(in(-3, 3)));
  }
  json small() {
    switch (in(0, 7)) {
    case 0:
      return nullptr;
    case 1:
      return true;
    case 2:
      return json::array({edge(), edge(), edge()});
    case 3:
      return json::object({{word(), edge()}});
    case 4:
      return 0.5 * double(edge());
    case 5:
      return word();
    default:
      return edge();
    }
  }
  std::string word() {
    static const char *words[] = {"name",     "depth",       "fifo",
                                  "read",     "write",       "loop",
                                  "body",     "at",          "wait",
                                  "stage",    "pipeline",    "if",
                                  "then",     "ii",          "latency",
                                  "p0",       "f0",          "i0 < 3",
                                  "memory",   "beats",       "initial_tokens",
                                  "crossing", "i0 * i0 / 7", "seq"};
    return words[in(0, std::size(words) - 1)];
  }

  std::mt19937 engine;
};

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
    Mutator mutator(seed);
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
