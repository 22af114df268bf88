//===- Words.cpp - Which tokens a shorter run keeps -----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Canonical words, bottom-up. Every step replaces a word by one of the same
// tokens with the same marks:
//
//   e x (n tokens)                   n * e tokens        n constant
//   e x (n x W)                      n * e x W           n constant
//   n x W                            W ... W             n constant, short
//   n x W, then e x W                n + e x W           n constant
//   e x W from its end, then n x W   e + n x W           n constant
//   e x (U ... U)                    k * e x U           U k times
//
// and tokens as a repetition is. A repetition keeps whole copies, which is why
// a constant may move outwards but an expression may not: 9 x (seq tokens)
// stays.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-check-certificate/Words.h"

#include "tools/streamtensor-check-certificate/Reduction.h"

#include <algorithm>

using namespace streamtensor::certificate;

/// Words are refused when they have more blocks, and enumerations when they
/// take more steps.
static constexpr size_t kMostBlocks = size_t(1) << 20;
static constexpr int64_t kMostSteps = int64_t(1) << 26;
/// Constant repetitions of at most so many blocks are written out.
static constexpr int64_t kShort = 4096;

bool streamtensor::certificate::operator==(const Block &a, const Block &b) {
  return a.keepsLast == b.keepsLast && a.count == b.count && a.body == b.body;
}

static void append(Word &word, Block block) {
  if (block.count == Expression(0))
    return;
  if (block.count.isConstant())
    block.keepsLast = false;
  if (!word.empty() && word.back().body == block.body) {
    Block &last = word.back();
    if (last.keepsLast) {
      // Constants between two variable blocks belong to the first.
      const Expression constant(block.keepsLast ? 0
                                                : block.count.getConstant());
      last.count = last.count + constant;
      block.count = block.count + constant * -1;
      if (block.count == Expression(0))
        return;
    } else if (last.count.isConstant() && !block.keepsLast) {
      last.count = last.count + block.count;
      return;
    }
  }
  if (word.size() >= kMostBlocks)
    throw Refusal("expected a simpler order of tokens");
  word.push_back(std::move(block));
}

/// How often the shortest prefix whose powers give `word` stands in it.
static size_t exponent(const Word &word) {
  const size_t size = word.size();
  for (size_t period = 1; period * 2 <= size && period <= 64; ++period)
    if (size % period == 0 &&
        std::equal(word.begin() + period, word.end(), word.begin()))
      return size / period;
  return 1;
}

/// Appends `count` copies of `body`.
static void appendCopies(Word &word, const Expression &count, bool keepsLast,
                         Word body) {
  if (body.empty())
    return;
  if (body.size() == 1 && body.front().count.isConstant()) {
    const int64_t inner = body.front().count.getConstant();
    append(word, {count * inner, std::move(body.front().body), keepsLast});
    return;
  }
  if (count.isConstant() &&
      count.getConstant() <= kShort / int64_t(body.size())) {
    for (int64_t i = 0; i < count.getConstant(); ++i)
      for (const Block &block : body)
        append(word, block);
    return;
  }
  const size_t copies = exponent(body);
  body.resize(body.size() / copies);
  append(word, {count * int64_t(copies), std::move(body), keepsLast});
}

namespace {

class WordBuilder {
public:
  WordBuilder(unsigned fifo, bool isRead, const Box &box)
      : fifo(fifo), isRead(isRead), box(box), fixed(box.fixed()),
        places(kMaxLevels), isRunTime(kMaxLevels) {}

  Word build(const Sequence &sequence);

private:
  bool touches(const Sequence &sequence) const;
  bool decides(const Sequence &sequence, unsigned level) const;
  Word buildLoops(const Node &node, size_t index);
  bool holds(const Condition &condition) const;

  unsigned fifo;
  bool isRead;
  const Box &box;
  const Values fixed;
  /// Of the loops around that decide a branch: the iteration, and of run-time
  /// ones the part.
  int64_t iterations[kMaxLevels] = {};
  std::vector<Place> places;
  std::vector<bool> isRunTime;
  int64_t steps = 0;
};

} // namespace

bool WordBuilder::touches(const Sequence &sequence) const {
  return std::any_of(sequence.begin(), sequence.end(), [&](const Node &node) {
    return (node.kind == Node::Kind::Access && node.fifo == fifo &&
            node.isRead == isRead) ||
           touches(node.body) || touches(node.otherwise);
  });
}

/// Whether a branch around an access of this end looks at the loop at `level`.
bool WordBuilder::decides(const Sequence &sequence, unsigned level) const {
  return std::any_of(sequence.begin(), sequence.end(), [&](const Node &node) {
    return (node.kind == Node::Kind::Branch && node.condition.uses(level) &&
            (touches(node.body) || touches(node.otherwise))) ||
           decides(node.body, level) || decides(node.otherwise, level);
  });
}

Word WordBuilder::buildLoops(const Node &node, size_t index) {
  if (index == node.loops.size())
    return build(node.body);
  const Loop &loop = node.loops[index];
  const unsigned level = node.level + index;
  const Expression trip = loop.trip.substitute(fixed);
  const std::vector<Part> parts = loop.partsAt(fixed);
  Word word;
  if (!decides(node.body, level)) {
    const Word body = buildLoops(node, index + 1);
    for (const Part &part : parts)
      appendCopies(word, part.count, part.keepsLast, body);
    return word;
  }
  isRunTime[level] = !trip.isConstant();
  if (isRunTime[level]) {
    // In a part all iterations take the same branches.
    Expression first;
    for (const Part &part : parts) {
      places[level] = {first, part.count};
      appendCopies(word, part.count, part.keepsLast,
                   buildLoops(node, index + 1));
      first = first + part.count;
    }
    return word;
  }
  if (trip.getConstant() > kMostSteps)
    throw Refusal("expected fewer iterations to enumerate");
  for (int64_t i = 0; i < trip.getConstant(); ++i) {
    iterations[level] = i;
    places[level] = {Expression(i), Expression(1)};
    for (Block &block : buildLoops(node, index + 1))
      append(word, std::move(block));
  }
  return word;
}

bool WordBuilder::holds(const Condition &condition) const {
  if (condition.isPlain(isRunTime))
    return condition.holds(iterations);
  if (std::optional<bool> value = condition.decide(places, box.low, box.high))
    return *value;
  refuseCondition(condition);
}

Word WordBuilder::build(const Sequence &sequence) {
  if ((steps += int64_t(sequence.size())) > kMostSteps)
    throw Refusal("expected fewer iterations to enumerate");
  Word word;
  for (const Node &node : sequence) {
    Word part;
    switch (node.kind) {
    case Node::Kind::Wait:
      continue;
    case Node::Kind::Access:
      if (node.fifo == fifo && node.isRead == isRead)
        part = {{Expression(1), {}, false}};
      break;
    case Node::Kind::Loop:
    case Node::Kind::Pipeline:
      if (touches(node.body))
        part = buildLoops(node, 0);
      break;
    case Node::Kind::Branch:
      if (touches(node.body) || touches(node.otherwise))
        part = build(holds(node.condition) ? node.body : node.otherwise);
      break;
    }
    for (Block &block : part)
      append(word, std::move(block));
  }
  return word;
}

Word streamtensor::certificate::wordOf(const Sequence &program, unsigned fifo,
                                       bool isRead, const Box &box) {
  return WordBuilder(fifo, isRead, box).build(program);
}

std::string streamtensor::certificate::spell(const Word &word) {
  std::string text;
  for (const Block &block : word) {
    text += text.empty() ? "" : ", ";
    if (text.size() > 200)
      return text + "...";
    const std::string count = block.count.spelling();
    if (block.keepsLast)
      text += "the last of ";
    text += block.body.empty()
                ? count + " tokens"
                : (block.count.isConstant() ? count : "(" + count + ")") +
                      " x (" + spell(block.body) + ")";
  }
  return text.empty() ? "no tokens" : text;
}
