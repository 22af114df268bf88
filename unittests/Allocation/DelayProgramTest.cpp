//===- DelayProgramTest.cpp - Start times by enumeration ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Both solvers against the enumeration of all integer start times, against each
// other, and against the formulation over paths that the paper gives.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/DelayProgram.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <functional>
#include <random>

using namespace streamtensor;

namespace {

using Starts = std::vector<int64_t>;

/// Solves by both solvers; demands certificates that hold and equal starts.
Starts solve(const DelayProgram &program) {
  EXPECT_EQ(program.check().value_or(""), "");
  const DelayCertificate ours = solveByCirculation(program);
  const std::optional<Starts> starts = earliestOptimalStarts(program, ours);
  if (!starts) {
    ADD_FAILURE() << "expected the certificate of an optimum";
    return {};
  }
  EXPECT_EQ(program.verify(*starts, ours).value_or(""), "");
  if (hasClp()) {
    const std::optional<DelayCertificate> clp = solveByClp(program);
    if (!clp) {
      ADD_FAILURE() << "expected CLP to solve the program";
      return {};
    }
    EXPECT_EQ(program.verify(*starts, *clp).value_or(""), "");
    EXPECT_EQ(earliestOptimalStarts(program, *clp).value_or(Starts()), *starts);
  }
  return *starts;
}

/// Calls `visit` with all vectors of `size` values from 0 to `most`.
void enumerate(size_t size, int64_t most,
               const std::function<void(const Starts &)> &visit) {
  Starts values(size, 0);
  while (true) {
    visit(values);
    size_t i = 0;
    while (i < size && values[i] == most)
      values[i++] = 0;
    if (i == size)
      return;
    ++values[i];
  }
}

DelayArc arc(unsigned from, unsigned to, int64_t least, int64_t price) {
  return {from, to, least, price, least};
}

TEST(DelayProgram, Diamond) {
  // 0 -> 1 -> 3 takes 10 + 5, 0 -> 2 -> 3 takes 1 + 1. The slack of 13 is paid
  // on the cheaper edge of the short path: at 2 -> 3, so task 2 starts at 1.
  DelayProgram program{
      4, {arc(0, 1, 10, 1), arc(1, 3, 5, 1), arc(0, 2, 1, 7), arc(2, 3, 1, 2)}};
  EXPECT_EQ(solve(program), (Starts{0, 10, 1, 15}));
  EXPECT_EQ(program.objective({0, 10, 1, 15}), 13 * 2);
  // Where the other edge is the cheaper one, task 2 waits.
  program.arcs[2].price = 1;
  EXPECT_EQ(solve(program), (Starts{0, 10, 14, 15}));
}

TEST(DelayProgram, NothingToDo) {
  EXPECT_EQ(solve({0, {}}), Starts());
  EXPECT_EQ(solve({1, {}}), Starts{0});
  EXPECT_EQ(solve({3, {}}), (Starts{0, 0, 0}));
  // A delay to itself cannot be chosen; what it costs is paid.
  const DelayProgram self{1, {{0, 0, std::nullopt, 5, -3}}};
  EXPECT_EQ(solve(self), Starts{0});
  EXPECT_EQ(self.objective({0}), 15);
}

TEST(DelayProgram, ANegativeLeastDelayLetsTheTargetStartFirst) {
  // Task 1 may start 4 cycles before task 0, and each cycle later costs 1.
  EXPECT_EQ(solve({2, {arc(0, 1, -4, 1)}}), (Starts{4, 0}));
}

TEST(DelayProgram, Contradictions) {
  // 0 -> 1 takes at least 5, and 1 -> 0 demands that it take at most 4.
  DelayProgram program{3, {arc(0, 2, 1, 1), arc(0, 1, 5, 1), arc(1, 0, -4, 0)}};
  std::vector<unsigned> circle = program.findContradiction();
  std::sort(circle.begin(), circle.end());
  EXPECT_EQ(circle, (std::vector<unsigned>{1, 2}));
  program.arcs[2].least = -5;
  EXPECT_TRUE(program.findContradiction().empty());
  EXPECT_EQ(solve(program), (Starts{0, 5, 1}));
}

TEST(DelayProgram, BadInput) {
  EXPECT_NE(DelayProgram({1, {arc(0, 1, 0, 0)}}).check().value_or(""), "");
  EXPECT_NE(DelayProgram({2, {arc(0, 1, 0, -1)}}).check().value_or(""), "");
  const int64_t huge = INT64_MAX;
  EXPECT_NE(DelayProgram({2, {arc(0, 1, huge, 0)}}).check().value_or(""), "");
  EXPECT_NE(DelayProgram({2, {arc(0, 1, INT64_MIN, 0)}}).check().value_or(""),
            "");
  EXPECT_NE(DelayProgram({2, {arc(0, 1, 0, huge)}}).check().value_or(""), "");
}

TEST(DelayProgram, VerifyRefusesWhatIsWrong) {
  const DelayProgram program{
      3, {arc(0, 1, 2, 3), arc(1, 2, 2, 1), arc(0, 2, 6, 2)}};
  const DelayCertificate good = solveByCirculation(program);
  const Starts starts = *earliestOptimalStarts(program, good);
  EXPECT_EQ(starts, (Starts{0, 2, 6}));
  EXPECT_EQ(program.verify(starts, good).value_or(""), "");
  // Feasible but dearer: task 1 later costs 3 and saves 1.
  EXPECT_EQ(program.verify({0, 3, 6}).value_or(""), "");
  EXPECT_NE(program.verify({0, 3, 6}, good).value_or(""), "");
  EXPECT_NE(program.verify({0, 1, 6}).value_or(""), "");
  EXPECT_NE(program.verify({0, 2}).value_or(""), "");
  EXPECT_NE(program.verify({-1, 1, 5}).value_or(""), "");
  for (size_t i = 0; i < program.arcs.size(); ++i)
    for (int64_t change : {-1, 1}) {
      DelayCertificate bad = good;
      bad.needs[i] += change;
      EXPECT_NE(program.verify(starts, bad).value_or(""), "");
      bad = good;
      bad.paid[i] += change;
      EXPECT_NE(program.verify(starts, bad).value_or(""), "");
    }
}

/// Some arcs lead back, some have no least delay, some have a free delay.
DelayProgram randomProgram(std::mt19937 &random, unsigned numNodes,
                           unsigned numArcs, int64_t most) {
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  DelayProgram program{numNodes, {}};
  for (unsigned i = 0; i < numArcs; ++i) {
    DelayArc arc;
    arc.from = pick(0, numNodes - 1);
    arc.to = pick(0, numNodes - 1);
    if (pick(0, 5) != 0)
      arc.least = arc.from < arc.to ? pick(-1, most) : -pick(0, 2 * most);
    arc.price = pick(0, 4);
    arc.free = arc.least.value_or(0) + pick(-1, 3);
    program.arcs.push_back(arc);
  }
  return program;
}

TEST(DelayProgram, RandomProgramsByEnumeration) {
  std::mt19937 random(20);
  int solved = 0, contradictions = 0;
  for (int round = 0; round < 400; ++round) {
    const unsigned numNodes = 1 + random() % 4;
    const DelayProgram program =
        randomProgram(random, numNodes, random() % 7, 2);
    // From 0, a start of an optimum is reached in steps along arcs whose delay
    // is exactly the least or the free one.
    int64_t farthest = 0;
    for (const DelayArc &arc : program.arcs)
      farthest = std::max({farthest, std::abs(arc.least.value_or(0)),
                           arc.price > 0 ? std::abs(arc.free) : 0});
    std::optional<__int128> best;
    Starts earliest;
    enumerate(numNodes, (numNodes - 1) * farthest, [&](const Starts &starts) {
      if (program.verify(starts))
        return;
      const __int128 value = program.objective(starts);
      if (!best || value < *best) {
        best = value;
        earliest = starts;
      } else if (value == *best) {
        for (size_t i = 0; i < starts.size(); ++i)
          earliest[i] = std::min(earliest[i], starts[i]);
      }
    });
    const bool isContradiction = !program.findContradiction().empty();
    EXPECT_EQ(isContradiction, !best);
    if (isContradiction) {
      ++contradictions;
      continue;
    }
    ++solved;
    EXPECT_EQ(solve(program), earliest) << "round " << round;
  }
  EXPECT_GT(solved, 300);
  EXPECT_GT(contradictions, 10);
}

TEST(DelayProgram, SolversAgreeOnLargerPrograms) {
  std::mt19937 random(21);
  for (int round = 0; round < 60; ++round) {
    const unsigned numNodes = 2 + random() % 60;
    DelayProgram program =
        randomProgram(random, numNodes, random() % 150, 1000);
    for (DelayArc &arc : program.arcs) {
      if (arc.from > arc.to)
        arc.least.reset();
      arc.price *= random() % 100000;
    }
    if (program.findContradiction().empty())
      solve(program);
  }
}

//===----------------------------------------------------------------------===//
// The paper's formulation
//===----------------------------------------------------------------------===//

/// A DAG whose node i has its first output `delays[i]` cycles after its start.
struct Dag {
  std::vector<std::pair<unsigned, unsigned>> edges;
  Starts delays;
};

/// All paths as lists of edges.
std::vector<std::vector<unsigned>> allPaths(const Dag &dag) {
  std::vector<std::vector<unsigned>> paths;
  std::function<void(std::vector<unsigned>)> extend =
      [&](std::vector<unsigned> path) {
        paths.push_back(path);
        for (unsigned i = 0; i < dag.edges.size(); ++i)
          if (dag.edges[i].first == dag.edges[path.back()].second) {
            path.push_back(i);
            extend(path);
            path.pop_back();
          }
      };
  for (unsigned i = 0; i < dag.edges.size(); ++i)
    extend({i});
  return paths;
}

/// For each path the largest sum of initial delays between its ends.
Starts thresholds(const Dag &dag,
                  const std::vector<std::vector<unsigned>> &paths) {
  Starts sums, result;
  for (const std::vector<unsigned> &path : paths) {
    sums.push_back(0);
    for (unsigned edge : path)
      sums.back() += dag.delays[dag.edges[edge].first];
  }
  auto ends = [&](size_t i) {
    return std::make_pair(dag.edges[paths[i].front()].first,
                          dag.edges[paths[i].back()].second);
  };
  for (size_t i = 0; i < paths.size(); ++i) {
    result.push_back(0);
    for (size_t j = 0; j < paths.size(); ++j)
      if (ends(i) == ends(j))
        result.back() = std::max(result.back(), sums[j]);
  }
  return result;
}

bool keepsPaths(const Starts &edgeDelays,
                const std::vector<std::vector<unsigned>> &paths,
                const Starts &thresholds) {
  for (size_t i = 0; i < paths.size(); ++i) {
    int64_t sum = 0;
    for (unsigned edge : paths[i])
      sum += edgeDelays[edge];
    if (sum < thresholds[i])
      return false;
  }
  return true;
}

/// The paper's optimum by enumeration, and ours.
std::pair<int64_t, int64_t> optima(const Dag &dag) {
  const auto paths = allPaths(dag);
  const Starts least = thresholds(dag, paths);
  int64_t most = 0;
  for (int64_t value : least)
    most = std::max(most, value);
  int64_t paper = INT64_MAX;
  enumerate(dag.edges.size(), most, [&](const Starts &delays) {
    int64_t sum = 0;
    for (int64_t delay : delays)
      sum += delay;
    if (sum < paper && keepsPaths(delays, paths, least))
      paper = sum;
  });

  DelayProgram program;
  program.numNodes = dag.delays.size();
  for (auto [from, to] : dag.edges)
    program.arcs.push_back({from, to, dag.delays[from], 1, 0});
  const Starts starts = solve(program);
  Starts delays;
  int64_t ours = 0;
  for (auto [from, to] : dag.edges) {
    delays.push_back(starts[to] - starts[from]);
    ours += delays.back();
  }
  EXPECT_TRUE(keepsPaths(delays, paths, least));
  return {paper, ours};
}

TEST(DelayProgram, KeepsAllPathsOfThePaper) {
  // Start times satisfy what the paper demands of every path, so its optimum
  // is a lower bound of ours; on most graphs they are equal.
  std::mt19937 random(22);
  int equal = 0;
  constexpr int kRounds = 150;
  for (int round = 0; round < kRounds; ++round) {
    Dag dag;
    const unsigned numNodes = 3 + random() % 3;
    for (unsigned i = 0; i < numNodes; ++i)
      dag.delays.push_back(random() % 3);
    for (unsigned i = 0; i < 5; ++i) {
      const unsigned from = random() % (numNodes - 1);
      dag.edges.push_back({from, from + 1 + random() % (numNodes - from - 1)});
    }
    const auto [paper, ours] = optima(dag);
    EXPECT_LE(paper, ours);
    equal += paper == ours;
  }
  EXPECT_GT(equal, kRounds * 9 / 10);
}

TEST(DelayProgram, DelaysOfThePaperNeedNotBelongToStartTimes) {
  // Both of 0, 1 feed both of 2, 3 directly; 0 feeds 3 and 1 feeds 2 also by a
  // slow task (4 and 5) with an initial delay of 2. Delays one by one: the
  // direct edges 0 -> 2 and 1 -> 3 take 0, the other two direct edges 2, and
  // the slow paths 0 + 2, in total 8. But task 2 starts 2 after task 1, task 3
  // 2 after task 0; so of 0 -> 2 and 1 -> 3 the sum is that of 1 -> 2 and
  // 0 -> 3, which is 4, and the total is 12.
  const Dag dag{
      {{0, 2}, {0, 3}, {1, 2}, {1, 3}, {0, 4}, {4, 3}, {1, 5}, {5, 2}},
      {0, 0, 0, 0, 2, 2}};
  EXPECT_EQ(optima(dag), std::make_pair(int64_t(8), int64_t(12)));
}

} // namespace
