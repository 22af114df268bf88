//===- DepthCertificate.cpp - What proves the depths of FIFOs -------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the parts of loops by comparing both ends of each FIFO.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/DepthCertificate.h"

#include "streamtensor/Allocation/ReductionGaps.h"
#include "streamtensor/Network/DecisiveValues.h"
#include "streamtensor/Sim/TokenSimulator.h"

#include <algorithm>
#include <nlohmann/json.hpp>

using namespace streamtensor;
using Json = nlohmann::ordered_json;
using Kind = TimedNode::Kind;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {

/// A loop around accesses to a FIFO; or, without `inner`, so many accesses.
struct LoopTree {
  int64_t loop = 0;
  TripCount trip;
  std::vector<LoopTree> inner;
  /// At smaller values the last iterations are kept.
  bool keepsLast = false;
};

/// The accesses of a process to one end of a FIFO.
class TreeBuilder {
public:
  TreeBuilder(unsigned fifo, AccessKind kind) : fifo(fifo), kind(kind) {}
  /// Nothing where conditions decide.
  std::optional<std::vector<LoopTree>> build(const TimedSequence &sequence);

private:
  void skip(const TimedSequence &sequence);

  unsigned fifo;
  AccessKind kind;
  int64_t nextLoop = 0;
};

} // namespace

void TreeBuilder::skip(const TimedSequence &sequence) {
  for (const TimedNode &node : sequence) {
    nextLoop += node.trips.size();
    skip(node.body);
    skip(node.otherwise);
  }
}

static bool touches(const TimedSequence &sequence, unsigned fifo,
                    AccessKind kind) {
  return std::any_of(sequence.begin(), sequence.end(),
                     [&](const TimedNode &node) {
                       return (node.kind == Kind::Access &&
                               node.access == kind && node.target == fifo) ||
                              touches(node.body, fifo, kind) ||
                              touches(node.otherwise, fifo, kind);
                     });
}

std::optional<std::vector<LoopTree>>
TreeBuilder::build(const TimedSequence &sequence) {
  std::vector<LoopTree> result;
  for (const TimedNode &node : sequence) {
    if (node.kind == Kind::Access) {
      if (node.access == kind && node.target == fifo)
        result.push_back({0, TripCount(1), {}});
      continue;
    }
    if (!touches({node}, fifo, kind)) {
      skip({node});
      continue;
    }
    if (node.kind == Kind::Branch)
      return std::nullopt;
    const int64_t first = nextLoop;
    nextLoop += node.trips.size();
    std::optional<std::vector<LoopTree>> body = build(node.body);
    if (!body)
      return std::nullopt;
    for (size_t level = node.trips.size(); level-- > 0;)
      body = {{first + int64_t(level), node.trips[level], std::move(*body)}};
    result.push_back(std::move(body->front()));
  }
  return result;
}

/// The tokens of a sequence as a sum of multiples of parameters; nothing for
/// products of them.
static std::optional<TripCount> tokensOf(const std::vector<LoopTree> &trees) {
  TripCount total;
  for (const LoopTree &tree : trees) {
    if (tree.inner.empty()) {
      total = total + tree.trip;
      continue;
    }
    const std::optional<TripCount> inner = tokensOf(tree.inner);
    if (!inner || (!inner->isConstant() && !tree.trip.isConstant()))
      return std::nullopt;
    total = total + (inner->isConstant() ? tree.trip * inner->getConstant()
                                         : *inner * tree.trip.getConstant());
  }
  return total;
}

/// Whether two sequences have the same loops, or the same number of tokens.
static bool isSame(const std::vector<LoopTree> &a,
                   const std::vector<LoopTree> &b) {
  const std::optional<TripCount> tokens = tokensOf(a), others = tokensOf(b);
  if (tokens && others)
    return *tokens == *others;
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(),
                    [](const LoopTree &x, const LoopTree &y) {
                      return x.trip == y.trip && isSame(x.inner, y.inner);
                    });
}

/// A loop of constant trip count around one that is not, written out.
static std::vector<LoopTree> writtenOut(const std::vector<LoopTree> &trees) {
  constexpr int64_t kMost = 64;
  std::vector<LoopTree> result;
  for (const LoopTree &tree : trees) {
    const bool isRunTime = std::any_of(
        tree.inner.begin(), tree.inner.end(),
        [](const LoopTree &inner) { return !inner.trip.isConstant(); });
    if (!isRunTime || !tree.trip.isConstant() ||
        tree.trip.getConstant() > kMost) {
      result.push_back(tree);
      continue;
    }
    for (int64_t i = 0; i < tree.trip.getConstant(); ++i)
      result.insert(result.end(), tree.inner.begin(), tree.inner.end());
  }
  return result;
}

/// The parts of the one loop on a side, when the loops on the other add up to
/// it.
static std::optional<std::vector<LoopPart>>
partsOf(const LoopTree &single, const std::vector<LoopTree> &others) {
  if (!single.trip.isConstant() && !single.inner.empty() &&
      std::all_of(others.begin(), others.end(), [&](const LoopTree &other) {
        return !other.inner.empty() && isSame(other.inner, single.inner);
      })) {
    std::vector<LoopPart> parts;
    TripCount sum;
    for (const LoopTree &other : others) {
      parts.push_back({other.trip, other.keepsLast});
      sum = sum + other.trip;
    }
    if (sum == single.trip)
      return parts;
  }
  const std::optional<TripCount> each = tokensOf(single.inner);
  if (single.trip.isConstant() || !each || !each->isConstant() ||
      each->getConstant() == 0)
    return std::nullopt;
  std::vector<LoopPart> parts;
  TripCount sum;
  for (const LoopTree &other : others) {
    const std::optional<TripCount> tokens = tokensOf({other});
    if (!tokens || tokens->content() % each->getConstant() != 0)
      return std::nullopt;
    parts.push_back({tokens->dividedBy(each->getConstant()), other.keepsLast});
    sum = sum + parts.back().count;
  }
  return sum == single.trip ? std::optional(std::move(parts)) : std::nullopt;
}

namespace {

/// Finds the parts of all loops of a network.
class SegmentFinder {
public:
  explicit SegmentFinder(const TimedNetwork &network) : network(network) {}
  std::vector<LoopParts> run();

private:
  /// A loop of a process.
  using Key = std::pair<unsigned, int64_t>;

  void compare(const std::vector<LoopTree> &writes,
               const std::vector<LoopTree> &reads, const TimedFifo &fifo);
  void join(const LoopTree &single, unsigned singleProcess,
            std::vector<LoopTree> others, unsigned otherProcess);
  /// Where one of two loops that pass the same tokens has parts, the other one
  /// has them too.
  void copyParts(const LoopTree &from, unsigned fromProcess, const LoopTree &to,
                 unsigned toProcess);
  void add(Key key, std::vector<LoopPart> found) {
    changed |= parts.emplace(key, std::move(found)).second;
  }

  const TimedNetwork &network;
  std::map<Key, std::vector<LoopPart>> parts;
  bool changed = false;
};

} // namespace

void SegmentFinder::copyParts(const LoopTree &from, unsigned fromProcess,
                              const LoopTree &to, unsigned toProcess) {
  auto known = parts.find({fromProcess, from.loop});
  if (known == parts.end() || from.inner.empty() || to.inner.empty())
    return;
  const std::optional<TripCount> each = tokensOf(from.inner);
  if (!each || !each->isConstant())
    return;
  // As if each part were a loop of its own.
  std::vector<LoopTree> others;
  for (const LoopPart &part : known->second)
    others.push_back({0, part.count * each->getConstant(), {}, part.keepsLast});
  if (auto found = partsOf(to, others))
    add({toProcess, to.loop}, std::move(*found));
}

/// One loop passes the tokens of several. Of two, the first keeps its last
/// iterations, so that what is kept of the one loop is one piece: a pipeline
/// then stays in order.
void SegmentFinder::join(const LoopTree &single, unsigned singleProcess,
                         std::vector<LoopTree> others, unsigned otherProcess) {
  if (others.size() == 2 && !others.front().trip.isConstant() &&
      !others.front().inner.empty() && others[0].loop != others[1].loop) {
    others.front().keepsLast = true;
    add({otherProcess, others.front().loop},
        {{others.front().trip, /*keepsLast=*/true}});
  }
  if (auto found = partsOf(single, others))
    add({singleProcess, single.loop}, std::move(*found));
}

/// Walks down the loops that both ends share.
void SegmentFinder::compare(const std::vector<LoopTree> &writes,
                            const std::vector<LoopTree> &reads,
                            const TimedFifo &fifo) {
  if (writes.size() == 1 && reads.size() == 1 &&
      !(writes.front().trip == reads.front().trip)) {
    const std::vector<LoopTree> moreWrites = writtenOut(writes);
    const std::vector<LoopTree> moreReads = writtenOut(reads);
    if (moreWrites.size() > 1 || moreReads.size() > 1)
      compare(moreWrites, moreReads, fifo);
    return;
  }
  if (writes.size() == reads.size()) {
    for (size_t i = 0; i < writes.size(); ++i) {
      copyParts(writes[i], fifo.writer, reads[i], fifo.reader);
      copyParts(reads[i], fifo.reader, writes[i], fifo.writer);
      compare(writes[i].inner, reads[i].inner, fifo);
    }
  } else if (reads.size() == 1) {
    join(reads.front(), fifo.reader, writes, fifo.writer);
  } else if (writes.size() == 1) {
    join(writes.front(), fifo.writer, reads, fifo.reader);
  }
}

std::vector<LoopParts> SegmentFinder::run() {
  struct Ends {
    const TimedFifo *fifo;
    std::vector<LoopTree> writes, reads;
  };
  std::vector<Ends> all;
  for (unsigned index = 0; index < network.fifos.size(); ++index) {
    const TimedFifo &fifo = network.fifos[index];
    auto writes = TreeBuilder(index, AccessKind::Write)
                      .build(network.processes[fifo.writer].program);
    auto reads = TreeBuilder(index, AccessKind::Read)
                     .build(network.processes[fifo.reader].program);
    if (writes && reads)
      all.push_back({&fifo, std::move(*writes), std::move(*reads)});
  }
  do {
    changed = false;
    for (const Ends &ends : all)
      compare(ends.writes, ends.reads, *ends.fifo);
  } while (changed);
  std::vector<LoopParts> result;
  for (auto &[key, found] : parts)
    result.push_back(
        {network.processes[key.first].name, key.second, std::move(found)});
  return result;
}

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

static std::vector<int64_t> depthsOf(const TimedNetwork &network) {
  std::vector<int64_t> depths;
  for (const TimedFifo &fifo : network.fifos)
    depths.push_back(fifo.depth);
  return depths;
}

/// Executes both orders of a network at some values.
namespace {
class Execution {
public:
  Execution(const TimedNetwork &network, const ParameterValues &values)
      : orders{programOrder(network, values), pipelinedOrder(network, values)} {
  }

  /// Why it does not end with these depths; nothing where it does.
  std::optional<std::string> findFault(const std::vector<int64_t> &depths) {
    for (size_t i = 0; i < orders.size(); ++i) {
      if (std::optional<NetworkIssue> issue = orders[i].connect())
        return issue->message;
      simulators.emplace_back(orders[i]);
      if (!ends(i, depths))
        return "deadlock " +
               std::string(i == 0 ? "in program order: "
                                  : "of stalling pipelines: ") +
               simulators[i].findDeadlock().describe(orders[i]);
    }
    return std::nullopt;
  }
  /// After a call without fault.
  bool ends(const std::vector<int64_t> &depths) {
    return ends(0, depths) && ends(1, depths);
  }
  int64_t tokens(unsigned fifo) const {
    return orders.front().fifos[fifo].tokens;
  }

private:
  bool ends(size_t order, const std::vector<int64_t> &depths) {
    simulators[order].reset(depths);
    return simulators[order].run();
  }

  std::vector<ProcessNetwork> orders;
  std::vector<TokenSimulator> simulators;
};
} // namespace

std::optional<CertificateWitness>
streamtensor::findWitness(const TimedNetwork &network, std::string &error) {
  CertificateWitness witness;
  witness.segments = SegmentFinder(network).run();
  std::optional<std::vector<ParameterValues>> points = decisiveValues(
      network, findReductionGaps(network, witness.segments), error);
  if (!points)
    return std::nullopt;
  witness.basePoints = std::move(*points);
  return witness;
}

std::optional<DepthCertificate>
streamtensor::certifyDepths(const TimedNetwork &network,
                            CertificateWitness witness, std::string &error) {
  DepthCertificate certificate;
  certificate.basePoints = std::move(witness.basePoints);
  certificate.segments = std::move(witness.segments);
  const std::vector<ParameterValues> &points = certificate.basePoints;
  std::vector<int64_t> depths = depthsOf(network);
  std::optional<Execution> largest;
  for (const ParameterValues &values : points) {
    Execution execution(network, values);
    if (std::optional<std::string> fault = execution.findFault(depths)) {
      error = *fault;
      if (points.size() > 1)
        for (const auto &[name, value] : values)
          error += (name == values.begin()->first ? "; at " : ", ") + name +
                   " = " + std::to_string(value);
      return std::nullopt;
    }
    if (!largest)
      largest.emplace(std::move(execution));
  }
  for (unsigned fifo = 0; fifo < depths.size(); ++fifo) {
    const TimedFifo &info = network.fifos[fifo];
    if (info.isControl || info.depth <= 2 || info.depth < largest->tokens(fifo))
      continue;
    // With less, what is carried would not fit.
    bool isNeeded = info.isCarried && info.depth == largest->tokens(fifo);
    if (!isNeeded) {
      --depths[fifo];
      isNeeded = !largest->ends(depths);
      ++depths[fifo];
    }
    certificate.fullDepths[info.name] = isNeeded ? "deadlock" : "delay";
  }
  return certificate;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static Json printValues(const ParameterValues &values) {
  Json result = Json::object();
  for (const auto &[name, value] : values)
    result[name] = value;
  return result;
}

static Json printCount(const TripCount &count) {
  return count.isConstant() ? Json(count.getConstant()) : Json(count.str());
}

std::string streamtensor::printCertificate(const TimedNetwork &network,
                                           const DepthCertificate &certificate,
                                           const std::string &kernelSha256,
                                           const std::string &networkSha256) {
  Json document;
  document["schema"] = 1;
  document["kernel_sha256"] = kernelSha256;
  document["network_sha256"] = networkSha256;
  document["parameters"] = Json::array();
  for (const NetworkParameter &parameter : network.parameters)
    document["parameters"].push_back({{"name", parameter.name},
                                      {"min", parameter.min},
                                      {"max", parameter.max}});
  document["depths"] = Json::object();
  for (const TimedFifo &fifo : network.fifos)
    document["depths"][fifo.name] = fifo.depth;
  document["invocations"] = certificate.invocations;
  document["deadlock_free"] = true;
  document["orders"] = {"program", "pipelined"};
  Json points = Json::array(), segments = Json::array();
  for (const ParameterValues &values : certificate.basePoints)
    points.push_back(printValues(values));
  for (const LoopParts &loop : certificate.segments) {
    Json parts = Json::array();
    for (const LoopPart &part : loop.parts)
      parts.push_back(part.keepsLast
                          ? Json{{"keep_last", printCount(part.count)}}
                          : printCount(part.count));
    segments.push_back({{"process", loop.process},
                        {"loop", loop.loop},
                        {"parts", std::move(parts)}});
  }
  document["witness"] = {{"base_points", std::move(points)},
                         {"segments", std::move(segments)}};
  document["full_depths"] = Json::object();
  for (const auto &[name, what] : certificate.fullDepths)
    document["full_depths"][name] = what;
  document["slowdown"] = Json::array();
  for (const CertifiedCycles &cycles : certificate.slowdown)
    document["slowdown"].push_back(
        {{"values", printValues(cycles.values)},
         {"cycles", cycles.cycles},
         {"cycles_unbounded", cycles.cyclesUnbounded},
         {"ratio", cycles.cyclesUnbounded > 0
                       ? double(cycles.cycles) / double(cycles.cyclesUnbounded)
                       : 1.0},
         {"label", "simulated"}});
  return document.dump(1) + "\n";
}
