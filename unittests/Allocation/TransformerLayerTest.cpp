//===- TransformerLayerTest.cpp - Depths of a large layer -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A network of the size and form of one layer of GPT-2 medium with 256 tokens
// of prompt (rows of 1024 elements, 16 heads of 64, tokens of 16 elements,
// tiles of 16 rows): 29 million accesses, all deep FIFOs by hand.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Allocation/FifoDepthSolver.h"

#include "gtest/gtest.h"

#include <map>

using namespace streamtensor;

namespace {

/// Builds tasks in the order of the data; each call returns the FIFO it writes,
/// which carries the name of the task.
class LayerBuilder {
public:
  FifoDepthProblem problem;

  unsigned load(const std::string &name, int64_t tokens) {
    return add(
        name, [&](unsigned y) -> AccessSequence { return {write(y, tokens)}; });
  }

  std::pair<unsigned, unsigned> fork(const std::string &name, unsigned x,
                                     int64_t tokens) {
    const unsigned a = problem.addFifo(name + ".0", 2, 512);
    const unsigned b = problem.addFifo(name + ".1", 2, 512);
    problem.addProcess(name, {loop(tokens, {read(x), write(a), write(b)})});
    return {a, b};
  }

  /// y = f(a, b), token by token.
  unsigned combine(const std::string &name, unsigned a, unsigned b,
                   int64_t tokens) {
    return add(name, [&](unsigned y) -> AccessSequence {
      return {loop(tokens, {read(a), read(b), write(y)})};
    });
  }

  unsigned convert(const std::string &name, unsigned x, int64_t segments,
                   int64_t in, int64_t out) {
    return add(name, [&](unsigned y) -> AccessSequence {
      return {loop(segments, {read(x, in), write(y, out)})};
    });
  }

  /// Reduces each row of x to one token, and combines it with each token of a
  /// copy of the row (a mean that is subtracted, a maximum, a sum).
  unsigned normalize(const std::string &name, unsigned x, int64_t rows,
                     int64_t tokens) {
    const auto [toReduce, copy] = fork(name + "_fork", x, rows * tokens);
    const unsigned r = convert(name + "_reduce", toReduce, rows, tokens, 1);
    return add(name + "_apply", [&, row = copy](unsigned y) -> AccessSequence {
      return {loop(rows, {read(r), loop(tokens, {read(row), write(y)})})};
    });
  }

  unsigned matmul(const std::string &name, unsigned x, unsigned w,
                  int64_t tiles, int64_t reduction, int64_t columns,
                  int64_t out) {
    return add(name, [&](unsigned y) -> AccessSequence {
      return {loop(tiles, {loop(reduction, {read(x), read(w, columns)}),
                           write(y, out)})};
    });
  }

  void store(const std::string &name, unsigned x, int64_t tokens) {
    problem.addProcess(name, {read(x, tokens)});
  }

private:
  template <typename Program>
  unsigned add(const std::string &name, Program program) {
    const unsigned y = problem.addFifo(name, 2, 512);
    problem.addProcess(name, program(y));
    return y;
  }
};

TEST(TransformerLayer, DeepFifosByHand) {
  constexpr int64_t kRows = 256, kRowTokens = 64, kTiles = 16, kTileRows = 16;
  constexpr int64_t kTokens = kRows * kRowTokens; // also in tokens of 16x1
  constexpr int64_t kTileTokens = kTokens / kTiles;
  constexpr int64_t kHeads = 16, kScores = kHeads * kRows * kRows / 16;
  LayerBuilder b;
  auto project = [&](const std::string &name, unsigned x) {
    const unsigned w = b.load(name + "_w", kTiles * 1024 * 64);
    return b.matmul(name, x, w, kTiles, 1024, 64, kTileTokens);
  };

  const auto [x, skip1] = b.fork("skip1", b.load("x", kTokens), kTokens);
  unsigned n = b.normalize("mean1", x, kRows, kRowTokens);
  n = b.normalize("variance1", n, kRows, kRowTokens);
  n = b.convert("tile1", n, kTiles, kTileTokens, kTileTokens);
  const auto [toQ, toKV] = b.fork("fork_q", n, kTokens);
  const auto [toK, toV] = b.fork("fork_kv", toKV, kTokens);
  // Attention wants each head alone: all of q, k, v is buffered, and k and v
  // are replayed for each tile of rows.
  const unsigned q =
      b.convert("q_heads", project("q", toQ), 1, kTokens, kTokens);
  const unsigned k =
      b.convert("k_heads", project("k", toK), 1, kTokens, kTokens * kTiles);
  const unsigned v =
      b.convert("v_heads", project("v", toV), 1, kTokens, kTokens * kTiles);
  unsigned s =
      b.matmul("scores", q, k, kHeads * kTiles, 64, 16, kTileRows * kRows / 16);
  s = b.combine("mask", s, b.load("mask_in", kScores), kScores);
  s = b.normalize("max", s, kHeads * kRows, kRows / 16);
  s = b.normalize("sum", s, kHeads * kRows, kRows / 16);
  s = b.convert("probabilities", s, kHeads * kTiles, kRows, kRows);
  unsigned o = b.matmul("mix", s, v, kHeads * kTiles, kRows, 4, kTileRows * 4);
  o = b.convert("o_rows", o, 1, kTokens, kTokens);
  const unsigned h = b.combine("add1", skip1, project("o", o), kTokens);

  const auto [y, skip2] = b.fork("skip2", h, kTokens);
  n = b.normalize("mean2", y, kRows, kRowTokens);
  n = b.normalize("variance2", n, kRows, kRowTokens);
  n = b.convert("tile2", n, kTiles, kTileTokens, kTileTokens);
  unsigned m = b.matmul("up", n, b.load("up_w", kTiles * 1024 * 256), kTiles,
                        1024, 256, 4 * kTileTokens);
  m = b.convert("gelu", m, 4 * kTokens, 1, 1);
  m = b.convert("tile3", m, kTiles, 4 * kTileTokens, 4 * kTileTokens);
  m = b.matmul("down", m, b.load("down_w", kTiles * 4096 * 64), kTiles, 4096,
               64, kTileTokens);
  b.store("store", b.combine("add2", skip2, m, kTokens), kTokens);

  FifoDepthProblem &problem = b.problem;
  const std::optional<NetworkIssue> issue = problem.check();
  ASSERT_FALSE(issue) << issue->message;
  std::string error;
  const auto solution = solveFifoDepths(problem, error);
  ASSERT_TRUE(solution) << error;
  EXPECT_EQ(problem.verify(*solution).value_or(""), "");

  std::map<std::string, int64_t> deep;
  for (size_t i = 0; i < solution->depths.size(); ++i)
    if (solution->depths[i] > 2)
      deep[problem.network.fifos[i].name] = solution->depths[i];
  // The copy of a row is one token behind when the last token of the row goes
  // to the reduction: 63 of 64, and 15 of 16 in the softmax. A skip is one
  // behind as well, and the addition has taken one: 2 less than what the path
  // around needs, which is a tile of rows (1024 tokens), or everything (16384)
  // where attention buffers all keys.
  const std::map<std::string, int64_t> expected = {
      {"mean1_fork.1", 63},     {"variance1_fork.1", 63},
      {"max_fork.1", 15},       {"sum_fork.1", 15},
      {"skip1.1", kTokens - 2}, {"mean2_fork.1", 63},
      {"variance2_fork.1", 63}, {"skip2.1", kTileTokens - 2}};
  EXPECT_EQ(deep, expected);
}

} // namespace
