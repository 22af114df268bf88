//===- ReductionGaps.cpp - Sizes that are to be tried one by one ----------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Begins with the parameters that conditions depend on, at fixed values: the
// largest, the smallest, and ones between. Whatever still does not agree adds
// the parameters of the loops around it, until all agrees. The tokens of both
// ends of a FIFO are compared as words in a canonical form, whose rules are
// those of docs/certificates.md.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/ReductionGaps.h"

#include "streamtensor/Network/DecisiveValues.h"

#include <algorithm>

using namespace streamtensor;

namespace {

using Kind = TimedNode::Kind;

struct Block;
using Word = std::vector<Block>;

/// So many copies of `body`, or tokens if it is empty; at smaller values the
/// first of them are kept, or the last.
struct Block {
  TripCount count;
  Word body;
  bool keepsLast = false;
};

bool operator==(const Block &a, const Block &b) {
  return a.keepsLast == b.keepsLast && a.count == b.count && a.body == b.body;
}

/// Thrown and caught in this file only: the order is not compared.
struct TooLarge {};

/// Words of more blocks, and programs of more iterations that decide, are taken
/// for different ones.
constexpr size_t kMostBlocks = size_t(1) << 16;
constexpr int64_t kMostSteps = int64_t(1) << 22;
/// Constant repetitions of so many blocks are written out.
constexpr int64_t kShort = 4096;

void append(Word &word, Block next) {
  if (next.count.isConstant(0))
    return;
  if (next.count.isConstant())
    next.keepsLast = false;
  if (!word.empty() && word.back().body == next.body) {
    Block &last = word.back();
    if (!last.keepsLast && last.count.isConstant() && !next.keepsLast) {
      last.count = last.count + next.count;
      return;
    }
    if (last.keepsLast && !next.keepsLast) {
      // A constant behind what keeps its end is kept, too.
      const TripCount constant(next.count.getConstant());
      last.count = last.count + constant;
      next.count = next.count + constant * -1;
      if (next.count.isConstant(0))
        return;
    }
  }
  if (word.size() >= kMostBlocks)
    throw TooLarge();
  word.push_back(std::move(next));
}

/// The shortest word of which `word` is a power.
int64_t takeRoot(Word &word) {
  for (size_t period = 1; 2 * period <= word.size() && period <= 64; ++period)
    if (word.size() % period == 0 &&
        std::equal(word.begin() + period, word.end(), word.begin())) {
      const int64_t power = word.size() / period;
      word.resize(period);
      return power;
    }
  return 1;
}

void appendCopies(Word &word, const LoopPart &part, Word body) {
  if (body.empty())
    return;
  const bool isRun = body.size() == 1 && body.front().count.isConstant();
  if (isRun) {
    const int64_t each = body.front().count.getConstant();
    append(word,
           {part.count * each, std::move(body.front().body), part.keepsLast});
    return;
  }
  if (part.count.isConstant() &&
      part.count.getConstant() <= kShort / int64_t(body.size())) {
    for (int64_t i = 0; i < part.count.getConstant(); ++i)
      for (const Block &block : body)
        append(word, block);
    return;
  }
  const int64_t power = takeRoot(body);
  append(word, {part.count * power, std::move(body), part.keepsLast});
}

/// The parts of each loop of a process at some values of some parameters.
class ProcessParts {
public:
  ProcessParts(const TimedProcess &process,
               const std::vector<LoopParts> &segments,
               const ParameterValues &fixed)
      : fixed(fixed) {
    for (const LoopParts &loop : segments)
      if (loop.process == process.name)
        given[loop.loop] = &loop.parts;
  }

  /// Of the loop with this number. A constant trip count is one part.
  std::vector<LoopPart> of(int64_t loop, const TripCount &trip) const {
    const TripCount all = trip.substitute(fixed);
    auto found = given.find(loop);
    if (all.isConstant() || found == given.end())
      return {{all, false}};
    std::vector<LoopPart> parts;
    for (const LoopPart &part : *found->second)
      parts.push_back({part.count.substitute(fixed), part.keepsLast});
    return parts;
  }

private:
  const ParameterValues &fixed;
  std::map<int64_t, const std::vector<LoopPart> *> given;
};

int64_t countLoops(const TimedSequence &sequence) {
  int64_t loops = 0;
  for (const TimedNode &node : sequence)
    loops += int64_t(node.trips.size()) + countLoops(node.body) +
             countLoops(node.otherwise);
  return loops;
}

/// The word of one end of a FIFO in a program with bound conditions.
class WordBuilder {
public:
  WordBuilder(unsigned fifo, AccessKind kind, const ProcessParts &parts)
      : fifo(fifo), kind(kind), parts(parts) {}

  /// `number` is that of the first loop of `sequence`.
  Word build(const TimedSequence &sequence, int64_t number);
  /// The parameters of loops around accesses of this end.
  void collectParameters(const TimedSequence &sequence,
                         ParameterValues &names) const;

private:
  bool touches(const TimedNode &node) const;
  bool touches(const TimedSequence &sequence) const {
    return std::any_of(sequence.begin(), sequence.end(),
                       [&](const TimedNode &node) { return touches(node); });
  }
  bool decides(const TimedSequence &sequence, unsigned level) const;
  Word buildLoops(const TimedNode &node, size_t index, int64_t number);

  unsigned fifo;
  AccessKind kind;
  const ProcessParts &parts;
  /// Of the loops around; what counts are those that decide.
  std::vector<int64_t> iterations;
  int64_t steps = 0;
};

} // namespace

bool WordBuilder::touches(const TimedNode &node) const {
  return (node.kind == Kind::Access && node.access == kind &&
          node.target == fifo) ||
         touches(node.body) || touches(node.otherwise);
}

bool WordBuilder::decides(const TimedSequence &sequence, unsigned level) const {
  return std::any_of(
      sequence.begin(), sequence.end(), [&](const TimedNode &node) {
        return (node.kind == Kind::Branch && node.condition.uses(level) &&
                touches(node)) ||
               decides(node.body, level) || decides(node.otherwise, level);
      });
}

void WordBuilder::collectParameters(const TimedSequence &sequence,
                                    ParameterValues &names) const {
  for (const TimedNode &node : sequence) {
    if (!touches(node))
      continue;
    for (const TripCount &trip : node.trips)
      trip.collectParameters(names);
    collectParameters(node.body, names);
    collectParameters(node.otherwise, names);
  }
}

Word WordBuilder::buildLoops(const TimedNode &node, size_t index,
                             int64_t number) {
  if (index == node.trips.size())
    return build(node.body, number + int64_t(index));
  const std::vector<LoopPart> own =
      parts.of(number + int64_t(index), node.trips[index]);
  const unsigned level = iterations.size();
  iterations.push_back(0);
  Word word;
  if (decides(node.body, level)) {
    // Those of run-time trip counts have been fixed.
    const int64_t trip = own.front().count.getConstant();
    for (int64_t i = 0; i < trip; ++i) {
      iterations[level] = i;
      for (Block &block : buildLoops(node, index + 1, number))
        append(word, std::move(block));
    }
  } else {
    const Word body = buildLoops(node, index + 1, number);
    for (const LoopPart &part : own)
      appendCopies(word, part, body);
  }
  iterations.pop_back();
  return word;
}

Word WordBuilder::build(const TimedSequence &sequence, int64_t number) {
  if ((steps += int64_t(sequence.size())) > kMostSteps)
    throw TooLarge();
  Word word;
  for (const TimedNode &node : sequence) {
    Word part;
    if (node.kind == Kind::Access && touches(node))
      part = {{TripCount(1), {}, false}};
    else if (!node.trips.empty() && touches(node))
      part = buildLoops(node, 0, number);
    else if (node.kind == Kind::Branch && touches(node))
      part = node.condition.evaluate(iterations.data()) != 0
                 ? build(node.body, number)
                 : build(node.otherwise, number + countLoops(node.body));
    for (Block &block : part)
      append(word, std::move(block));
    number += countLoops({node});
  }
  return word;
}

//===----------------------------------------------------------------------===//
// Pipelines
//===----------------------------------------------------------------------===//

static void collectStages(const TimedSequence &body, int64_t &least,
                          int64_t &most) {
  for (const TimedNode &node : body) {
    if (node.kind == Kind::Access && isFifo(node.access)) {
      least = std::min(least, node.stage);
      most = std::max(most, node.stage);
    }
    collectStages(node.body, least, most);
    collectStages(node.otherwise, least, most);
  }
}

/// Whether what is kept of a nest is one piece.
static bool isWindow(const TimedNode &node, const ProcessParts &parts,
                     int64_t number) {
  for (size_t index = 0; index < node.trips.size(); ++index) {
    const std::vector<LoopPart> own =
        parts.of(number + int64_t(index), node.trips[index]);
    for (size_t part = 0; part < own.size(); ++part)
      if (!own[part].count.isConstant() &&
          (index > 0 || part != (own[part].keepsLast ? 0 : own.size() - 1)))
        return false;
  }
  return true;
}

/// Adds the parameters of pipelines that shorter trip counts may bring out of
/// order.
static void checkPipelines(const TimedSequence &sequence,
                           const ProcessParts &parts, int64_t number,
                           ParameterValues &names) {
  for (const TimedNode &node : sequence) {
    int64_t least = INT64_MAX, most = -1;
    if (node.kind == Kind::Pipeline)
      collectStages(node.body, least, most);
    if (most >= 0 && most - least >= node.ii && !isWindow(node, parts, number))
      for (const TripCount &trip : node.trips)
        trip.collectParameters(names);
    const int64_t inside = number + int64_t(node.trips.size());
    checkPipelines(node.body, parts, inside, names);
    checkPipelines(node.otherwise, parts, inside + countLoops(node.body),
                   names);
    number += countLoops({node});
  }
}

//===----------------------------------------------------------------------===//
// Networks
//===----------------------------------------------------------------------===//

/// The parameters of what does not agree when `fixed` are fixed.
static void findGapsAt(const TimedNetwork &network,
                       const std::vector<LoopParts> &segments,
                       const ParameterValues &fixed, ParameterValues &names) {
  // Conditions on other parameters would be in `fixed`.
  const ParameterValues values = network.complete(fixed);
  std::vector<TimedSequence> programs;
  std::vector<ProcessParts> parts;
  for (const TimedProcess &process : network.processes) {
    programs.push_back(bindConditions(process.program, values));
    parts.emplace_back(process, segments, fixed);
    checkPipelines(programs.back(), parts.back(), 0, names);
  }
  for (unsigned index = 0; index < network.fifos.size(); ++index) {
    const unsigned writer = network.fifos[index].writer;
    const unsigned reader = network.fifos[index].reader;
    WordBuilder writes(index, AccessKind::Write, parts[writer]);
    WordBuilder reads(index, AccessKind::Read, parts[reader]);
    try {
      if (writes.build(programs[writer], 0) == reads.build(programs[reader], 0))
        continue;
    } catch (const TooLarge &) {
      // Not shown to be equal.
    }
    writes.collectParameters(programs[writer], names);
    reads.collectParameters(programs[reader], names);
  }
}

std::set<std::string>
streamtensor::findReductionGaps(const TimedNetwork &network,
                                const std::vector<LoopParts> &segments) {
  std::set<std::string> gaps = decidingParameters(network);
  for (size_t before = size_t(-1); before != gaps.size();) {
    before = gaps.size();
    ParameterValues found;
    // Of the gaps so far, no values, or the largest, the smallest, and between.
    for (int64_t quarter = gaps.empty() ? 4 : 0; quarter <= 4; ++quarter) {
      ParameterValues fixed;
      for (const NetworkParameter &parameter : network.parameters)
        if (gaps.count(parameter.name))
          fixed[parameter.name] =
              parameter.min + (parameter.max - parameter.min) * quarter / 4;
      findGapsAt(network, segments, fixed, found);
    }
    for (const auto &entry : found)
      gaps.insert(entry.first);
  }
  return gaps;
}
