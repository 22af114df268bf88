//===- ConverterInferenceTest.cpp - Converters against brute force --------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The examples of the paper, the smallest legal buffer by brute force over
// enumerated segments, and a converter run element by element.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/ConverterInference.h"

#include "RandomTokenOrders.h"

#include "gtest/gtest.h"

#include <iostream>
#include <map>

using namespace streamtensor;
using namespace streamtensor::test;

namespace {

using Kind = ConverterPlan::Kind;

const TokenOrder paperB{{4, 2}, {4, 2}, {2, 4}, {{1}, {0}}};
const TokenOrder paperC{{4, 2}, {4, 2, 2}, {2, 1, 4}, {{2}, {0}}};

ConverterPlan
infer(const TokenOrder &source, const TokenOrder &destination,
      ConverterAlgorithm algorithm = ConverterAlgorithm::Default) {
  std::string error;
  const auto plan = inferConverter(source, destination, error, algorithm);
  EXPECT_TRUE(plan) << error;
  return plan ? *plan : ConverterPlan{};
}

TEST(ConverterInference, PaperExample) {
  for (auto algorithm :
       {ConverterAlgorithm::Default, ConverterAlgorithm::Paper}) {
    const ConverterPlan plan = infer(paperB, paperC, algorithm);
    EXPECT_EQ(plan.kind, Kind::Converter);
    EXPECT_EQ(plan.bufferShape, (Shape{8, 2}));
    EXPECT_EQ(plan.sharedLoops(), 1u);
    EXPECT_EQ(plan.segments, 4);
    EXPECT_TRUE(plan.pingPong());
    // Two 4x2 tiles, four with ping-pong: 32 floats.
    EXPECT_EQ(plan.bytes(4), 128);
    EXPECT_EQ(plan.shared.front().trip, 4);
    EXPECT_EQ(plan.shared.front().steps, (Shape{0, 2}));
    EXPECT_EQ(plan.fill.str(), "4x2, [2] * [4], (d0) -> (d0, 0)");
    EXPECT_EQ(plan.drain.str(), "4x2, [2, 2] * [1, 4], (d0, d1) -> (d1, 0)");
    EXPECT_FALSE(plan.sourceSplit || plan.destinationSplit);
    EXPECT_EQ(plan.reason,
              "1 outer loop of the source shared, 4 segments: inside, the "
              "source walks dimension 0 in 2 steps of 4, the destination "
              "replays everything 2 times; 8x2 of 8x8 is held twice "
              "(ping-pong)");
  }
}

TEST(ConverterInference, IdenticalSequencesNeedNone) {
  const TokenOrder respelled{
      {4, 2}, {2, 1, 2, 2}, {4, 3, 2, 4}, {{3}, {0, 2, 1}}};
  for (auto algorithm :
       {ConverterAlgorithm::Default, ConverterAlgorithm::Paper}) {
    const ConverterPlan plan = infer(paperB, respelled, algorithm);
    EXPECT_EQ(plan.kind, Kind::None);
    EXPECT_EQ(plan.bytes(4), 0);
    EXPECT_FALSE(plan.pingPong());
  }
}

TEST(ConverterInference, WidthAdapter) {
  const ConverterPlan plan = infer(TokenOrder::rowMajor({8, 64}, {1, 16}),
                                   TokenOrder::rowMajor({8, 64}, {1, 8}));
  EXPECT_EQ(plan.kind, Kind::WidthAdapter);
  EXPECT_EQ(plan.bufferShape, (Shape{1, 16}));
}

TEST(ConverterInference, TransposeHoldsTheWholeTensorOnce) {
  const TokenOrder rows = TokenOrder::rowMajor({6, 10});
  const TokenOrder columns{{1, 1}, {10, 6}, {1, 1}, {{1}, {0}}};
  const ConverterPlan plan = infer(rows, columns);
  EXPECT_EQ(plan.bufferShape, (Shape{6, 10}));
  EXPECT_EQ(plan.sharedLoops(), 0u);
  EXPECT_FALSE(plan.pingPong());
  EXPECT_EQ(plan.bytes(4), 240);
  EXPECT_EQ(plan.reason,
            "no segment smaller than the tensor is worth two buffers: the "
            "source walks dimension 0 in 6 steps of 1, the destination walks "
            "dimension 1 in 10 steps of 1; the whole 6x10 is held once");
}

TEST(ConverterInference, UnequalElementsShareAtTheirCommonMultiple) {
  // Elements of 4 and 6 on one dimension of 48: segments of lcm(4, 6) = 12.
  // The paper's listing shares the loop of dimension 1, but holds dimension 0
  // whole.
  const TokenOrder fours{{4, 1}, {2, 12}, {1, 4}, {{1}, {0}}};
  const TokenOrder sixes{{6, 1}, {2, 8}, {1, 6}, {{1}, {0}}};
  const ConverterPlan plan = infer(fours, sixes);
  EXPECT_EQ(plan.bufferShape, (Shape{12, 1}));
  EXPECT_EQ(plan.segments, 8);
  EXPECT_EQ(plan.sharedLoops(), 2u);
  EXPECT_TRUE(plan.sourceSplit && plan.destinationSplit);
  EXPECT_EQ(plan.source.trips, (Shape{2, 4, 3}));
  EXPECT_EQ(plan.source.steps, (Shape{1, 12, 4}));
  EXPECT_EQ(plan.destination.trips, (Shape{2, 4, 2}));
  EXPECT_EQ(plan.destination.steps, (Shape{1, 12, 6}));
  const ConverterPlan paper = infer(fours, sixes, ConverterAlgorithm::Paper);
  EXPECT_EQ(paper.bufferShape, (Shape{48, 1}));
}

TEST(ConverterInference, RevisitsAtTheSameLevelAreShared) {
  // Both sides pass everything three times; inside, rows are shared.
  const TokenOrder source{{1, 1}, {3, 8, 4}, {1, 1, 1}, {{1}, {2}}};
  const TokenOrder destination{{1, 2}, {3, 8, 2, 2}, {1, 1, 1, 2}, {{1}, {3}}};
  const ConverterPlan plan = infer(source, destination);
  EXPECT_EQ(plan.bufferShape, (Shape{1, 4}));
  EXPECT_EQ(plan.segments, 24);
  EXPECT_EQ(plan.shared[0].steps, (Shape{0, 0}));
  EXPECT_EQ(plan.shared[1].steps, (Shape{1, 0}));
  const ConverterPlan paper =
      infer(source, destination, ConverterAlgorithm::Paper);
  EXPECT_EQ(paper.bufferShape, (Shape{8, 4}));
}

TEST(ConverterInference, MatmulOperandReplayedPerColumnTile) {
  // X of matmul 32x1024x4096 in the order m0, n0, k: 16 replays of a 16x1024
  // row tile. The producer drains 1x16 tokens row by row.
  const TokenOrder producer = TokenOrder::rowMajor({32, 1024}, {1, 16});
  const TokenOrder x{{16, 1}, {2, 16, 1024}, {16, 1, 1}, {{0}, {2}}};
  const ConverterPlan plan = infer(producer, x);
  EXPECT_EQ(plan.bufferShape, (Shape{16, 1024}));
  EXPECT_EQ(plan.segments, 2);
  // 2 x 16 x 1024 x 4 bytes
  EXPECT_EQ(plan.bytes(4), 131072);
}

TEST(ConverterInference, PaperGivesUpLoopsBehindAGap) {
  // "If loops {0,1,2,4} match but 3 does not, 4 must go": five dimensions of
  // 4, dimension d on loop d, except that the destination takes dimension 3 in
  // elements of 2.
  TokenOrder source, destination;
  for (unsigned d = 0; d < 5; ++d) {
    source.element.push_back(1);
    source.trips.push_back(4);
    source.steps.push_back(1);
    source.map.push_back({d});
  }
  destination = source;
  destination.element[3] = destination.steps[3] = destination.trips[3] = 2;
  const ConverterPlan plan =
      infer(source, destination, ConverterAlgorithm::Paper);
  EXPECT_EQ(plan.sharedLoops(), 3u);
  EXPECT_EQ(plan.bufferShape, (Shape{1, 1, 1, 4, 4}));
  // Sharing dimension 3 in pairs of rows halves that.
  EXPECT_EQ(infer(source, destination).bufferShape, (Shape{1, 1, 1, 2, 4}));
}

TEST(ConverterInference, DifferentTensorsAreRefused) {
  std::string error;
  EXPECT_FALSE(inferConverter(TokenOrder::rowMajor({8, 8}),
                              TokenOrder::rowMajor({8, 4}), error));
  EXPECT_EQ(error, "expected source and destination to stream one tensor shape "
                   "but got '8x8' and '8x4'");
}

TEST(ConverterInference, EmptyOrders) {
  const ConverterPlan plan = infer(TokenOrder::rowMajor({0, 64}, {1, 16}),
                                   TokenOrder::rowMajor({0, 64}, {1, 8}));
  EXPECT_EQ(plan.bytes(4), 0);
}

//===----------------------------------------------------------------------===//
// Random pairs
//===----------------------------------------------------------------------===//

struct Pair {
  TokenOrder source, destination;
};

/// Two orders over one tensor that often agree in some outer loops.
Pair randomPairOver(Random &random, const Shape &shape) {
  const TokenOrder source = randomOrderOver(random, shape, 1);
  if (random.chance(30))
    return {source, randomOrderOver(random, shape, 2)};
  // The destination keeps some outer loops, shuffles the rest, adds a revisit,
  // and may take the innermost loop into its token.
  std::vector<Loop> loops = loopsOf(source);
  Shape element = fullElement(source);
  const int64_t kept = random.in(0, static_cast<int64_t>(loops.size()));
  std::vector<Loop> rest(loops.begin() + kept, loops.end());
  loops.resize(kept);
  random.shuffle(rest);
  if (random.chance(30))
    rest.insert(rest.begin() +
                    random.below(static_cast<int64_t>(rest.size()) + 1),
                {random.in(2, 3), 1, -1});
  loops.insert(loops.end(), rest.begin(), rest.end());
  if (!loops.empty() && loops.back().dim >= 0 && random.chance(40) &&
      loops.back().step == element[loops.back().dim]) {
    element[loops.back().dim] *= loops.back().trip;
    loops.pop_back();
  }
  TokenOrder destination = makeOrder(element, loops);
  if (random.chance(30))
    destination = respell(random, destination);
  if (random.chance(30))
    return {respell(random, source), destination};
  return {source, destination};
}

Pair randomPair(Random &random) {
  return randomPairOver(random, randomShape(random, 3));
}

/// The numbers of segments into which a loop nest can be cut by a prefix of its
/// loops, the last one split: from the loops fitted to the sequence.
std::vector<int64_t> prefixCounts(const TokenOrder &order) {
  const auto loops = fitLoops(enumerate(order));
  EXPECT_TRUE(loops) << order.str();
  std::vector<int64_t> counts = {1};
  int64_t outer = 1;
  for (const Loop &loop : loops.value_or(std::vector<Loop>{})) {
    for (int64_t head = 2; head <= loop.trip; ++head)
      if (loop.trip % head == 0)
        counts.push_back(outer * head);
    outer *= loop.trip;
  }
  return counts;
}

/// The volume of the box around the first of `count` segments, and the data
/// that each segment touches.
struct Segments {
  int64_t box;
  std::vector<std::vector<bool>> touched;
  Segments(const Sequence &elements, int64_t count, const Shape &shape) {
    const size_t length = elements.size() / count;
    Shape low = elements[0], high = elements[0];
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i % length == 0)
        touched.emplace_back(volume(shape), false);
      touched.back()[flatten(elements[i], shape)] = true;
      for (size_t dim = 0; dim < shape.size() && i < length; ++dim) {
        low[dim] = std::min(low[dim], elements[i][dim]);
        high[dim] = std::max(high[dim], elements[i][dim]);
      }
    }
    box = 1;
    for (size_t dim = 0; dim < shape.size(); ++dim)
      box *= high[dim] - low[dim] + 1;
  }
};

/// The smallest allocation over all legal cuts.
int64_t smallestAllocation(const Pair &pair, const Shape &shape) {
  const Sequence source = enumerateElements(pair.source),
                 destination = enumerateElements(pair.destination);
  const std::vector<int64_t> counts = prefixCounts(pair.source),
                             others = prefixCounts(pair.destination);
  int64_t best = volume(shape);
  for (int64_t count : counts) {
    if (count == 1 ||
        std::find(others.begin(), others.end(), count) == others.end())
      continue;
    const Segments a(source, count, shape), b(destination, count, shape);
    if (a.touched == b.touched)
      best = std::min(best, 2 * a.box);
  }
  return best;
}

/// Runs the converter as a code generator would emit it and compares every
/// element pushed with the destination's sequence.
void simulate(const Pair &pair, const ConverterPlan &plan) {
  const Sequence pulled = enumerateElements(pair.source),
                 expected = enumerateElements(pair.destination);
  const Sequence fill = enumerateElements(plan.fill),
                 drain = enumerateElements(plan.drain);
  // Bases of the segments by nested counters.
  std::vector<Shape> bases = {Shape(plan.bufferShape.size(), 0)};
  for (const SharedLoop &loop : plan.shared) {
    std::vector<Shape> next;
    for (const Shape &base : bases)
      for (int64_t i = 0; i < loop.trip; ++i) {
        Shape moved = base;
        for (size_t dim = 0; dim < moved.size(); ++dim)
          moved[dim] += i * loop.steps[dim];
        next.push_back(moved);
      }
    bases = std::move(next);
  }
  ASSERT_EQ(static_cast<int64_t>(bases.size()), plan.segments);
  ASSERT_EQ(bases.size() * fill.size(), pulled.size());
  ASSERT_EQ(bases.size() * drain.size(), expected.size());
  size_t read = 0, written = 0;
  for (size_t segment = 0; segment < bases.size(); ++segment) {
    // A fresh buffer: nothing survives from earlier segments.
    std::vector<Shape> buffer(volume(plan.bufferShape));
    for (const Shape &at : fill) {
      for (size_t dim = 0; dim < at.size(); ++dim) {
        ASSERT_LT(at[dim], plan.bufferShape[dim]);
        ASSERT_EQ(bases[segment][dim] + at[dim], pulled[read][dim]);
      }
      buffer[flatten(at, plan.bufferShape)] = pulled[read++];
    }
    for (const Shape &at : drain) {
      const int64_t index = flatten(at, plan.bufferShape);
      ASSERT_LT(index, static_cast<int64_t>(buffer.size()));
      ASSERT_EQ(buffer[index], expected[written++]);
    }
  }
}

TEST(ConverterInference, SmallestOfAllCutsAndRunsInItsBuffer) {
  Random random(21);
  int shared = 0, split = 0, smaller = 0, none = 0, whole = 0;
  for (int i = 0; i < 20000; ++i) {
    const Pair pair = randomPair(random);
    const Shape shape = pair.source.dataExtents();
    ASSERT_EQ(shape, pair.destination.dataExtents());
    SCOPED_TRACE(pair.source.str() + " to " + pair.destination.str());
    const ConverterPlan plan = infer(pair.source, pair.destination);
    const ConverterPlan paper =
        infer(pair.source, pair.destination, ConverterAlgorithm::Paper);
    for (const ConverterPlan *p : {&plan, &paper}) {
      ASSERT_TRUE(sameSequence(p->source, pair.source));
      ASSERT_TRUE(sameSequence(p->destination, pair.destination));
      ASSERT_EQ(p->fill.dataExtents(), p->bufferShape);
      ASSERT_EQ(p->drain.dataExtents(), p->bufferShape);
      ASSERT_NE(p->reason, "");
      simulate(pair, *p);
      if (HasFatalFailure())
        return;
    }
    const bool same =
        fullElement(pair.source) == fullElement(pair.destination) &&
        enumerate(pair.source) == enumerate(pair.destination);
    ASSERT_EQ(plan.kind == Kind::None, same);
    if (same) {
      ++none;
      ASSERT_EQ(plan.bytes(4), 0);
      continue;
    }
    ASSERT_EQ(plan.kind == Kind::WidthAdapter,
              enumerateElements(pair.source) ==
                  enumerateElements(pair.destination));
    ASSERT_EQ(plan.allocatedElements(), smallestAllocation(pair, shape));
    ASSERT_LE(plan.allocatedElements(), paper.allocatedElements());
    ASSERT_EQ(plan.bytes(4), 4 * plan.allocatedElements());
    shared += plan.pingPong();
    whole += !plan.pingPong();
    split += plan.sourceSplit || plan.destinationSplit;
    smaller += plan.allocatedElements() < paper.allocatedElements();
  }
  // The generator reaches every outcome.
  EXPECT_GT(shared, 4000);
  EXPECT_GT(whole, 2000);
  EXPECT_GT(split, 1000);
  EXPECT_GT(smaller, 1000);
  EXPECT_GT(none, 1000);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

TEST(ConverterInference, LineBufferOfAConvolution) {
  // 3x3 windows of an 8x10 image, stride 1, row by row: three whole rows.
  const TokenOrder image = TokenOrder::rowMajor({8, 10});
  const TokenOrder windows{
      {1, 1}, {6, 8, 3, 3}, {1, 1, 1, 1}, {{0, 2}, {1, 3}}};
  ConverterPlan plan = infer(image, windows);
  EXPECT_EQ(plan.kind, Kind::LineBuffer);
  EXPECT_EQ(plan.bufferShape, (Shape{3, 10}));
  EXPECT_EQ(plan.bytes(4), 120);
  EXPECT_FALSE(plan.pingPong());
  EXPECT_EQ(plan.reason,
            "windows of 3 rows of dimension 0 move by 1, the source "
            "brings 1 at a time: 3x10 of 8x10 is held in a ring "
            "(line buffer)");
  // The paper has no windows: it holds the image.
  EXPECT_EQ(infer(image, windows, ConverterAlgorithm::Paper).bufferShape,
            (Shape{8, 10}));
  // Dilation 2 in the rows: rows 0, 2, 4, then 1, 3, 5; five rows apart.
  const TokenOrder dilated{
      {1, 1}, {4, 8, 3, 3}, {1, 1, 2, 1}, {{0, 2}, {1, 3}}};
  EXPECT_EQ(infer(image, dilated).bufferShape, (Shape{5, 10}));
  // Channels outermost on both sides: one channel at a time.
  const TokenOrder channels = TokenOrder::rowMajor({4, 8, 10});
  const TokenOrder depthwise{
      {1, 1, 1}, {4, 6, 8, 3, 3}, {1, 1, 1, 1, 1}, {{0}, {1, 3}, {2, 4}}};
  plan = infer(channels, depthwise);
  EXPECT_EQ(plan.bufferShape, (Shape{1, 3, 10}));
  EXPECT_EQ(plan.segments, 4);
  EXPECT_EQ(plan.bytes(4), 120);
  // Tokens of 4 rows: the last one brings in up to 3 rows too early.
  plan = infer(TokenOrder::rowMajor({8, 10}, {4, 1}), windows);
  EXPECT_EQ(plan.window->fillRows, 4);
  EXPECT_EQ(plan.bufferShape, (Shape{6, 10}));
}

/// An order of windows over an image, and one that streams the image.
Pair randomWindows(Random &random) {
  const int rank = static_cast<int>(random.in(1, 2));
  std::vector<Loop> outer, inner;
  Shape element, shape;
  for (int dim = 0; dim < rank; ++dim) {
    const int64_t size = random.in(1, 3), kernel = random.in(1, 4),
                  dilation = random.in(1, 2), stride = random.in(1, 3);
    const int64_t windows = random.in(1, 5);
    element.push_back(size);
    outer.push_back({windows, stride, dim});
    inner.push_back({kernel, dilation, dim});
    shape.push_back((windows - 1) * stride + (kernel - 1) * dilation + size);
  }
  if (random.chance(30))
    random.shuffle(outer);
  if (random.chance(30))
    random.shuffle(inner);
  outer.insert(outer.end(), inner.begin(), inner.end());
  if (random.chance(20))
    outer.push_back({2, 1, -1});
  if (random.chance(30)) { // a channel that nothing slides over
    for (Loop &loop : outer)
      loop.dim += loop.dim >= 0;
    shape.insert(shape.begin(), random.in(1, 3));
    element.insert(element.begin(), 1);
    outer.insert(outer.begin(), {shape[0], 1, 0});
  }
  TokenOrder source = TokenOrder::rowMajor(shape);
  source.element.assign(shape.size(), 1);
  if (random.chance(40))
    source = randomOrderOver(random, shape, 1);
  return {source, makeOrder(element, outer)};
}

/// Runs a line buffer as a code generator would emit it; every element pushed
/// must be the next one of the destination.
void simulateRing(const Pair &pair, const ConverterPlan &plan) {
  const Sequence pulled = enumerateElements(pair.source),
                 expected = enumerateElements(pair.destination);
  const Sequence fill = enumerateElements(plan.fill),
                 drain = enumerateElements(plan.drain);
  const SlidingWindow &window = *plan.window;
  std::vector<Shape> bases = {Shape(plan.bufferShape.size(), 0)};
  for (const SharedLoop &loop : plan.shared) {
    std::vector<Shape> next;
    for (const Shape &base : bases)
      for (int64_t i = 0; i < loop.trip; ++i) {
        Shape moved = base;
        for (size_t dim = 0; dim < moved.size(); ++dim)
          moved[dim] += i * loop.steps[dim];
        next.push_back(moved);
      }
    bases = std::move(next);
  }
  size_t read = 0, written = 0;
  for (const Shape &base : bases) {
    std::vector<Shape> ring(volume(plan.bufferShape));
    const auto slot = [&](Shape at) {
      at[window.dim] %= plan.bufferShape[window.dim];
      return flatten(at, plan.bufferShape);
    };
    int64_t filled = 0;
    for (int64_t i = 0; i < window.trips; ++i) {
      for (; filled < i * window.step + window.rows; filled += window.fillRows)
        for (Shape at : fill) {
          at[window.dim] += filled;
          for (size_t dim = 0; dim < at.size(); ++dim)
            ASSERT_EQ(base[dim] + at[dim], pulled[read][dim]);
          ring[slot(at)] = pulled[read++];
        }
      for (Shape at : drain) {
        at[window.dim] += i * window.step;
        ASSERT_EQ(ring[slot(at)], expected[written++]);
      }
    }
  }
  ASSERT_EQ(read, pulled.size());
  ASSERT_EQ(written, expected.size());
}

/// The rows that lie, when a window is due, between the newest row that had to
/// be pulled for it and the oldest that it or a later window needs; from the
/// two sequences of one segment alone.
int64_t rowsNeeded(const Sequence &source, size_t tokenElements,
                   const Sequence &destination, unsigned dim, int64_t windows) {
  std::map<Shape, size_t> arrival;
  std::vector<int64_t> newest;
  for (size_t i = 0; i < source.size(); ++i) {
    // Again passes of the same element do not count.
    arrival.emplace(source[i], i);
    newest.push_back(
        std::max(newest.empty() ? 0 : newest.back(), source[i][dim]));
  }
  const size_t length = destination.size() / windows;
  int64_t oldest = INT64_MAX, most = 0;
  for (int64_t i = windows; i-- > 0;) {
    size_t due = 0;
    for (size_t j = i * length; j < (i + 1) * length; ++j) {
      due = std::max(due, arrival.at(destination[j]));
      oldest = std::min(oldest, destination[j][dim]);
    }
    // A token arrives as a whole.
    due += tokenElements - 1 - due % tokenElements;
    most = std::max(most, newest[due] - oldest + 1);
  }
  return most;
}

TEST(ConverterInference, LineBuffersHoldTheRowsNeededAndRun) {
  Random random(22);
  int lines = 0, others = 0, rounded = 0, exact = 0;
  for (int i = 0; i < 20000; ++i) {
    const Pair pair = randomWindows(random);
    std::string error;
    if (!pair.destination.verify(error, /*allowOverlap=*/true) ||
        volume(pair.source.dataExtents()) > 400)
      continue;
    SCOPED_TRACE(pair.source.str() + " to " + pair.destination.str());
    const ConverterPlan plan = infer(pair.source, pair.destination);
    const ConverterPlan paper =
        infer(pair.source, pair.destination, ConverterAlgorithm::Paper);
    ASSERT_LE(plan.allocatedElements(), paper.allocatedElements());
    if (!plan.window) {
      ++others;
      if (plan.kind != Kind::None)
        simulate(pair, plan);
      if (HasFatalFailure())
        return;
      continue;
    }
    ++lines;
    simulateRing(pair, plan);
    if (HasFatalFailure())
      return;
    Sequence source = enumerateElements(pair.source),
             destination = enumerateElements(pair.destination);
    source.resize(source.size() / plan.segments);
    destination.resize(destination.size() / plan.segments);
    const unsigned dim = plan.window->dim;
    const int64_t needed = rowsNeeded(source, volume(fullElement(pair.source)),
                                      destination, dim, plan.window->trips);
    // A source that replays rows delivers them again before it goes on.
    bool replays = false;
    for (const Loop &loop : loopsOf(pair.source))
      replays |= loop.dim < 0 && loop.trip > 1;
    ASSERT_GE(plan.bufferShape[dim], needed);
    if (!replays) {
      ++exact;
      ASSERT_EQ(plan.bufferShape[dim], needed);
    }
    rounded += plan.bufferShape[dim] > plan.window->rows;
  }
  EXPECT_GT(lines, 3000);
  EXPECT_GT(exact, 2000);
  EXPECT_GT(others, 3000);
  EXPECT_GT(rounded, 100);
}

TEST(ConverterInference, TotalsOfAThousandPairs) {
  // The figure of the documentation: pairs of different sequences over tensors
  // of 64 to 4,096 elements; the paper's answer is never beaten by the pair.
  Random random(1000);
  int64_t total = 0, paperTotal = 0;
  int pairs = 0, smaller = 0;
  while (pairs < 1000) {
    Shape shape;
    const int64_t rank = random.in(1, 3);
    for (int64_t dim = 0; dim < rank; ++dim)
      shape.push_back(
          random.pick(std::vector<int64_t>{1, 4, 6, 8, 12, 16, 32, 64}));
    if (volume(shape) < 64 || volume(shape) > 4096)
      continue;
    const Pair pair = randomPairOver(random, shape);
    const ConverterPlan plan = infer(pair.source, pair.destination);
    if (plan.kind == Kind::None)
      continue;
    const ConverterPlan paper =
        infer(pair.source, pair.destination, ConverterAlgorithm::Paper);
    ++pairs;
    ASSERT_LE(plan.allocatedElements(), paper.allocatedElements())
        << pair.source.str() << " to " << pair.destination.str();
    total += plan.allocatedElements();
    paperTotal += paper.allocatedElements();
    smaller += plan.allocatedElements() < paper.allocatedElements();
  }
  std::cout << "1000 pairs: " << total << " elements, paper " << paperTotal
            << "; smaller on " << smaller << "\n";
  EXPECT_LT(total, paperTotal);
}

} // namespace
