//===- TimedSizing.cpp - Depths checked by timed simulation ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A FIFO as deep as its peak in some run changes nothing of that run. So FIFOs
// grow in large steps, and are cut to their peaks at the end.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/TimedSizing.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace streamtensor;

/// Rounds of growth without any use after which there is none.
static constexpr int64_t kMostIdle = 8;
static constexpr int64_t kManyRounds = 16;
/// Where time does not count, what was reached by then still does.
static constexpr double kTrimTolerance = 0.01;
/// One part in so many of all steps is for the run with FIFOs that are never
/// full, which finds little that repeats.
static constexpr int64_t kUnboundedShare = 12;

int64_t streamtensor::depthBits(const TimedNetwork &network,
                                const std::vector<int64_t> &depths) {
  int64_t bits = 0;
  for (size_t i = 0; i < depths.size(); ++i)
    if (!network.fifos[i].isControl)
      bits += depths[i] * network.fifos[i].widthBits * network.fifos[i].lanes;
  return bits;
}

namespace {

class Sizer {
public:
  Sizer(const TimedNetwork &network, const TimedSizingOptions &options,
        std::string &error)
      : network(network), options(options), error(error) {
    for (const TimedFifo &fifo : network.fifos)
      sizing.depths.push_back(fifo.depth);
    first = sizing.depths;
    least = options.least.empty() ? first : options.least;
    sizing.reasons.resize(first.size());
    tokens.assign(first.size(), 1);
    for (const ParameterValues &values : options.points)
      for (const AccessProcess &process :
           programOrder(network, values).processes) {
        const std::vector<AccessCount> counts =
            countAccesses(process.program, first.size());
        for (size_t i = 0; i < first.size(); ++i)
          tokens[i] = std::max(tokens[i], counts[i].writes);
      }
    for (size_t i = 0; i < first.size(); ++i)
      tokens[i] += network.initialTokensOf(i, network.maxima());
  }

  std::optional<TimedSizing> grow();
  std::optional<TimedSizing> shrink();

private:
  std::optional<TimedResult> simulate(const ParameterValues &values,
                                      const std::vector<int64_t> *depths);
  /// A run that is truncated when it takes more than its share of the steps.
  std::optional<TimedResult> tryToSimulate(const ParameterValues &values,
                                           const std::vector<int64_t> *depths,
                                           int64_t share);
  /// In run \p point with FIFOs that are never full, or at most.
  int64_t peakOf(unsigned fifo, size_t point) const {
    return unbounded.empty() ? tokens[fifo] : unbounded[point].fifos[fifo].peak;
  }
  std::optional<TimedSizing> giveUp();
  bool simulateUnbounded();
  struct Reached;
  bool growAt(size_t point);
  bool growCycle(const TimedResult &result, size_t point);
  bool growSlow(const TimedResult &result, size_t point);
  void growFifo(unsigned fifo, size_t point, const std::string &why);
  bool simulateAll();
  void cut();
  void trim();
  void leaveAPlaceFree();
  double limitAt(size_t point) const;
  bool isWithin(const std::vector<int64_t> &depths,
                const std::vector<double> &limits);
  std::vector<double> reachedCycles() const {
    std::vector<double> cycles;
    for (const TimedSizingPoint &point : sizing.points)
      cycles.push_back(double(point.cycles));
    return cycles;
  }
  /// Whether one more run is within the limits, or `part` as many again as
  /// there were.
  bool hasLeft(int64_t part = 1) const {
    return part * sizing.simulations < options.mostSimulations &&
           part * (sizing.steps + stepsOfRun) <= options.mostSteps;
  }
  std::vector<int64_t> shrinkInOrder(std::vector<int64_t> depths,
                                     const std::vector<unsigned> &order);
  std::string at(size_t point) const;

  const TimedNetwork &network;
  const TimedSizingOptions &options;
  std::string &error;
  TimedSizing sizing;
  std::vector<int64_t> first, least;
  /// By FIFO, the most tokens that pass it in one invocation at any point, and
  /// those that are there before: a deeper one would hold those of the next.
  std::vector<int64_t> tokens;
  /// By point: with FIFOs that are never full; empty where that is too much.
  std::vector<TimedResult> unbounded;
  /// By point: with the depths found.
  std::vector<TimedResult> results;
  /// The last run with depths at each choice of values: growing ends with what
  /// cutting begins with.
  std::map<ParameterValues, std::pair<std::vector<int64_t>, TimedResult>> last;
  /// Steps that a run with bounded FIFOs takes, as far as is known.
  int64_t stepsOfRun = 0;
  std::optional<int64_t> mostStepsOfRun;
};

} // namespace

std::string Sizer::at(size_t point) const {
  const ParameterValues &values = options.points[point];
  std::string text;
  for (const auto &[name, value] : values)
    text +=
        (text.empty() ? " at " : ", ") + name + " = " + std::to_string(value);
  return text;
}

std::optional<TimedResult> Sizer::simulate(const ParameterValues &values,
                                           const std::vector<int64_t> *depths) {
  if (auto known = last.find(values);
      depths && known != last.end() && known->second.first == *depths)
    return known->second.second;
  ++sizing.simulations;
  TimedOptions timed;
  timed.invocations = options.invocations;
  timed.values = values;
  if (mostStepsOfRun)
    timed.mostSteps = *mostStepsOfRun;
  if (depths)
    timed.depths = *depths;
  else
    timed.unbounded = true;
  std::optional<TimedResult> result = simulateTimed(network, timed, error);
  if (result) {
    sizing.steps += result->steps;
    if (depths) {
      stepsOfRun = std::max(stepsOfRun, result->steps);
      if (!result->isTruncated)
        last.insert_or_assign(values, std::pair(*depths, *result));
    }
  }
  return result;
}

std::optional<TimedResult>
Sizer::tryToSimulate(const ParameterValues &values,
                     const std::vector<int64_t> *depths, int64_t share) {
  mostStepsOfRun = options.mostSteps / share;
  std::optional<TimedResult> result = simulate(values, depths);
  mostStepsOfRun.reset();
  return result;
}

/// What `first` has; a failure stays one.
std::optional<TimedSizing> Sizer::giveUp() {
  if (!sizing.isTooLarge)
    return std::nullopt;
  sizing.depths = first;
  sizing.reasons.assign(first.size(), "");
  sizing.points.clear();
  return std::move(sizing);
}

/// Without it, FIFOs grow until that is of no use.
bool Sizer::simulateUnbounded() {
  for (const ParameterValues &values : options.points)
    sizing.points.push_back({values, 0, 0});
  for (size_t point = 0; point < options.points.size(); ++point) {
    std::optional<TimedResult> result =
        tryToSimulate(options.points[point], nullptr, kUnboundedShare);
    if (!result)
      return false;
    if (result->isTruncated) {
      unbounded.clear();
      return true;
    }
    if (!result->deadlock.empty()) {
      error = "deadlock that no depth resolves" + at(point) + ": " +
              describeDeadlock(network, *result);
      return false;
    }
    sizing.points[point].cyclesUnbounded = result->cycles;
    unbounded.push_back(std::move(*result));
  }
  return true;
}

void Sizer::growFifo(unsigned fifo, size_t point, const std::string &why) {
  int64_t &depth = sizing.depths[fifo];
  const int64_t peak = peakOf(fifo, point);
  // Up to the peak nobody can be hindered; beyond it only where others are.
  const int64_t most = std::max(depth, tokens[fifo]);
  // In fewer rounds where there are few.
  const bool isInHaste =
      options.mostSteps / 2 < kManyRounds * std::max<int64_t>(stepsOfRun, 1);
  const int64_t larger = (isInHaste ? 4 : 2) * depth;
  depth = std::min(most, depth < peak ? std::min(larger, peak) : larger);
  if (sizing.reasons[fifo].empty())
    sizing.reasons[fifo] = why;
}

/// The smallest full FIFO of the cycle grows. One that holds all tokens of an
/// invocation is never to blame.
bool Sizer::growCycle(const TimedResult &result, size_t point) {
  const TimedBlock *smallest = nullptr;
  auto bits = [&](const TimedBlock &block) {
    return sizing.depths[block.fifo] * network.fifos[block.fifo].widthBits;
  };
  for (const TimedBlock &block : result.deadlock)
    if (block.isWrite && !network.fifos[block.fifo].isControl &&
        sizing.depths[block.fifo] < tokens[block.fifo] &&
        (!smallest || bits(block) < bits(*smallest)))
      smallest = &block;
  if (!smallest) {
    error = "deadlock that no depth resolves" + at(point) + ": " +
            describeDeadlock(network, result);
    return false;
  }
  growFifo(smallest->fifo, point,
           "less deadlocks in stalling pipelines" + at(point) + ": " +
               describeDeadlock(network, result, 4));
  return true;
}

/// FIFOs that were full while their writers waited grow; loads last, because
/// they run ahead as far as they can without making anything faster.
bool Sizer::growSlow(const TimedResult &result, size_t point) {
  std::vector<unsigned> inner, loads;
  for (unsigned fifo = 0; fifo < network.fifos.size(); ++fifo) {
    const TimedFifo &info = network.fifos[fifo];
    if (info.isControl || result.fifos[fifo].waitFull == 0 ||
        sizing.depths[fifo] >= std::min(peakOf(fifo, point), tokens[fifo]))
      continue;
    if (network.processes[info.writer].kind != "dma_in")
      inner.push_back(fifo);
    else if (sizing.depths[fifo] < kMostLoadDepth)
      loads.push_back(fifo);
  }
  for (unsigned fifo : inner.empty() ? loads : inner)
    growFifo(fifo, point,
             "'" + network.processes[network.fifos[fifo].writer].name +
                 "' waited " + std::to_string(result.fifos[fifo].waitFull) +
                 " cycles for it" + at(point));
  return !inner.empty() || !loads.empty();
}

/// Depths, and what they cost.
struct Sizer::Reached {
  std::vector<int64_t> depths;
  std::vector<std::string> reasons;
  double cycles = 0;
};

/// Until it ends within the tolerance, or deeper FIFOs are of no use, or half
/// of the simulations are spent. Then what helped stays.
bool Sizer::growAt(size_t point) {
  std::optional<Reached> best;
  int64_t idle = 0;
  for (bool isFirst = true;; isFirst = false) {
    std::optional<TimedResult> result =
        isFirst ? tryToSimulate(options.points[point], &sizing.depths,
                                options.firstShare)
                : simulate(options.points[point], &sizing.depths);
    if (!result)
      return false;
    if (result->isTruncated) {
      sizing.isTooLarge = true;
      return false;
    }
    if (!result->deadlock.empty()) {
      if (!growCycle(*result, point))
        return false;
      continue;
    }
    const double cycles = double(result->cycles);
    if (!options.tolerance ||
        (!unbounded.empty() &&
         cycles <= double(unbounded[point].cycles) * (1 + *options.tolerance)))
      return true;
    if (!best || cycles * (1 + *options.tolerance) < best->cycles) {
      best = Reached{sizing.depths, sizing.reasons, cycles};
      idle = 0;
    } else {
      ++idle;
    }
    if (idle == kMostIdle || !hasLeft(2) || !growSlow(*result, point)) {
      sizing.depths = std::move(best->depths);
      sizing.reasons = std::move(best->reasons);
      return true;
    }
  }
}

/// Back to what was in use in the last run of each point.
void Sizer::cut() {
  for (size_t fifo = 0; fifo < first.size(); ++fifo) {
    int64_t peak = least[fifo];
    for (const TimedResult &result : results)
      peak = std::max(peak, result.fifos[fifo].peak);
    sizing.depths[fifo] = std::min(sizing.depths[fifo], peak);
    if (sizing.depths[fifo] == first[fifo])
      sizing.reasons[fifo].clear();
  }
}

std::optional<TimedSizing> Sizer::grow() {
  if (!simulateUnbounded())
    return giveUp();
  for (size_t point = 0; point < options.points.size(); ++point)
    if (!growAt(point))
      return giveUp();
  // Later points have made FIFOs deeper, so all of them are run again; then
  // cutting to the peaks changes none of these runs.
  if (!simulateAll())
    return std::nullopt;
  cut();
  trim();
  leaveAPlaceFree();
  return std::move(sizing);
}

/// A FIFO of more than two places that all tokens of an invocation fit in is
/// suspicious: only where one less costs time does it stay.
void Sizer::leaveAPlaceFree() {
  const std::vector<double> limits = reachedCycles();
  for (unsigned fifo = 0; fifo < least.size(); ++fifo) {
    if (sizing.depths[fifo] <= std::max<int64_t>(least[fifo], 2) ||
        sizing.depths[fifo] != tokens[fifo])
      continue;
    std::vector<int64_t> trial = sizing.depths;
    --trial[fifo];
    if (!hasLeft() || isWithin(trial, limits))
      sizing.depths = trial;
  }
}

bool Sizer::simulateAll() {
  results.clear();
  for (size_t point = 0; point < options.points.size(); ++point) {
    std::optional<TimedResult> result =
        simulate(options.points[point], &sizing.depths);
    if (!result)
      return false;
    if (!result->deadlock.empty()) {
      error =
          "deadlock" + at(point) + ": " + describeDeadlock(network, *result);
      return false;
    }
    sizing.points[point].cycles = result->cycles;
    results.push_back(std::move(*result));
  }
  return true;
}

/// Back to the least depth where more saves too little: all at once if that
/// does it, otherwise one after the other, the most bits first.
void Sizer::trim() {
  std::vector<unsigned> deeper;
  std::vector<int64_t> trial = sizing.depths;
  for (unsigned fifo = 0; fifo < least.size(); ++fifo)
    if (sizing.depths[fifo] > least[fifo]) {
      deeper.push_back(fifo);
      trial[fifo] = least[fifo];
    }
  if (deeper.empty() || !hasLeft())
    return;
  std::vector<double> limits;
  for (size_t point = 0; point < options.points.size(); ++point)
    limits.push_back(limitAt(point));
  bool changed = isWithin(trial, limits);
  if (changed) {
    sizing.depths = trial;
  } else {
    auto saved = [&](unsigned fifo) {
      return (sizing.depths[fifo] - least[fifo]) *
             network.fifos[fifo].widthBits * network.fifos[fifo].lanes;
    };
    std::stable_sort(deeper.begin(), deeper.end(), [&](unsigned a, unsigned b) {
      return saved(a) > saved(b);
    });
    for (unsigned fifo : deeper) {
      if (!hasLeft())
        break;
      trial = sizing.depths;
      trial[fifo] = least[fifo];
      if (!isWithin(trial, limits))
        continue;
      sizing.depths = trial;
      changed = true;
    }
  }
  for (unsigned fifo = 0; fifo < least.size(); ++fifo)
    if (sizing.depths[fifo] == least[fifo])
      sizing.reasons[fifo].clear();
  if (changed)
    simulateAll();
}

//===----------------------------------------------------------------------===//
// The smallest depths
//===----------------------------------------------------------------------===//

/// The cycles within the tolerance: of FIFOs that are never full, or of what
/// was reached if that is more.
double Sizer::limitAt(size_t point) const {
  const double reached = double(sizing.points[point].cycles);
  const double best =
      unbounded.empty() ? reached : double(unbounded[point].cycles);
  if (!options.tolerance)
    return (1 + kTrimTolerance) * reached;
  const double factor = 1 + *options.tolerance;
  return factor * (reached <= factor * best ? best : reached);
}

/// Whether each point ends within its limit.
bool Sizer::isWithin(const std::vector<int64_t> &depths,
                     const std::vector<double> &limits) {
  for (size_t point = 0; point < options.points.size(); ++point) {
    std::optional<TimedResult> result =
        simulate(options.points[point], &depths);
    if (!result || !result->deadlock.empty() ||
        double(result->cycles) > limits[point])
      return false;
  }
  return true;
}

/// Makes each FIFO in turn as shallow as the others, as they are then, allow.
/// Deeper never is slower, so bisection finds it.
std::vector<int64_t> Sizer::shrinkInOrder(std::vector<int64_t> depths,
                                          const std::vector<unsigned> &order) {
  const std::vector<double> limits = reachedCycles();
  for (unsigned fifo : order) {
    int64_t low = first[fifo];
    int64_t high = depths[fifo];
    while (low < high && hasLeft()) {
      const int64_t middle = low + (high - low) / 2;
      depths[fifo] = middle;
      if (isWithin(depths, limits))
        high = middle;
      else
        low = middle + 1;
    }
    depths[fifo] = high;
  }
  return depths;
}

std::optional<TimedSizing> Sizer::shrink() {
  if (!simulateUnbounded())
    return std::nullopt;
  std::vector<unsigned> order;
  std::vector<int64_t> depths = first;
  for (unsigned fifo = 0; fifo < network.fifos.size(); ++fifo) {
    if (network.fifos[fifo].isControl)
      continue;
    order.push_back(fifo);
    for (const TimedResult &result : unbounded)
      depths[fifo] = std::max(depths[fifo],
                              std::min(result.fifos[fifo].peak, tokens[fifo]));
  }
  // What these cost is what is possible.
  sizing.depths = depths;
  if (!simulateAll())
    return std::nullopt;
  const std::vector<int64_t> peaks = depths;
  auto bits = [&](unsigned fifo) {
    return peaks[fifo] * network.fifos[fifo].widthBits;
  };
  std::vector<std::vector<unsigned>> orders;
  std::stable_sort(order.begin(), order.end(),
                   [&](unsigned a, unsigned b) { return bits(a) > bits(b); });
  orders.push_back(order);
  std::reverse(order.begin(), order.end());
  orders.push_back(order);
  std::sort(order.begin(), order.end());
  orders.push_back(order);
  std::reverse(order.begin(), order.end());
  orders.push_back(order);
  // Rotations let each FIFO be the first one.
  for (size_t i = 1; i < order.size(); ++i) {
    std::rotate(order.begin(), order.begin() + 1, order.end());
    orders.push_back(order);
  }
  std::optional<std::vector<int64_t>> best;
  for (const std::vector<unsigned> &next : orders) {
    std::vector<int64_t> found = shrinkInOrder(peaks, next);
    if (!best || depthBits(network, found) < depthBits(network, *best))
      best = std::move(found);
    if (!hasLeft())
      break;
  }
  sizing.depths = *best;
  for (size_t fifo = 0; fifo < peaks.size(); ++fifo)
    if (!network.fifos[fifo].isControl)
      sizing.reasons[fifo] = sizing.depths[fifo] <= 1
                                 ? "one token costs no time"
                                 : "the smallest depth that costs no time";
  return std::move(sizing);
}

std::optional<TimedSizing>
streamtensor::growDepths(const TimedNetwork &network,
                         const TimedSizingOptions &options,
                         std::string &error) {
  return Sizer(network, options, error).grow();
}

std::optional<TimedSizing>
streamtensor::smallestDepths(const TimedNetwork &network,
                             const TimedSizingOptions &options,
                             std::string &error) {
  return Sizer(network, options, error).shrink();
}
