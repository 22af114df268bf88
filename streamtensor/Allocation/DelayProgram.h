//===- DelayProgram.h - Start times with a price on delays ------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The linear program behind FIFO sizing, without FIFOs: start times s, and for
// each arc a least delay s[to] - s[from] and a price of every cycle of delay
// beyond a free one:
//
//   minimize   sum of price(a) * max(0, s[to(a)] - s[from(a)] - free(a))
//   subject to s[to(a)] - s[from(a)] >= least(a),  s >= 0.
//
// Its dual is a circulation. With needs y >= 0 (one per least delay) and prices
// paid 0 <= h <= price, where y - h enters each node as often as it leaves,
//
//   sum of y(a) * least(a) - h(a) * free(a)
//
// is a lower bound of the objective. A solution carries both, so that anybody
// can see that it is the best one: the two values are equal. All numbers are
// integers and the matrix is that of a graph, so some optimal s is integer.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_DELAYPROGRAM_H
#define STREAMTENSOR_ALLOCATION_DELAYPROGRAM_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace streamtensor {

struct DelayArc {
  unsigned from = 0, to = 0;
  /// In cycles; may be negative. None: no constraint.
  std::optional<int64_t> least;
  /// Of one cycle of delay beyond `free`; 0 for none.
  int64_t price = 0, free = 0;
};

/// What shows that no start times are cheaper.
struct DelayCertificate {
  /// One per arc: what the objective would grow by per cycle of `least`, and
  /// the part of the price that is paid.
  std::vector<int64_t> needs, paid;
};

struct DelayProgram {
  unsigned numNodes = 0;
  std::vector<DelayArc> arcs;

  /// Limits of what is solved without overflow: the sum of the absolute least
  /// and free delays, and the sum of the prices.
  static constexpr int64_t kMaxCycles = int64_t(1) << 50;
  static constexpr int64_t kMaxPrice = int64_t(1) << 50;

  /// Returns what is wrong, or nothing: ends that do not exist, negative
  /// prices, numbers beyond the limits.
  std::optional<std::string> check() const;

  /// The arcs, one after the other, of a circle whose least delays add up to
  /// more than 0, so that no start times exist; empty when some exist.
  std::vector<unsigned> findContradiction() const;

  /// Whether `starts` are start times: as many as nodes, not negative, every
  /// least delay kept. Returns what is wrong otherwise.
  std::optional<std::string> verify(const std::vector<int64_t> &starts) const;
  /// Whether also no others are cheaper, by the certificate.
  std::optional<std::string> verify(const std::vector<int64_t> &starts,
                                    const DelayCertificate &certificate) const;

  /// In prices; exact.
  __int128 objective(const std::vector<int64_t> &starts) const;
};

/// The earliest start times, each as small as the least delays allow. Not the
/// cheapest. Needs a program without contradiction.
std::vector<int64_t> earliestStarts(const DelayProgram &program);

/// The certificate of an optimum, by the cheapest circulation: successive
/// shortest paths with potentials (R. K. Ahuja, T. L. Magnanti, J. B. Orlin,
/// Network Flows, 1993, chapters 9 and 14). Exact, in integers. Needs a program
/// that passed its check and has no contradiction.
DelayCertificate solveByCirculation(const DelayProgram &program);

/// The same by the linear program itself in CLP. Nothing when the library is
/// not there or its floating-point answer does not round to a certificate; the
/// caller checks what it gets.
std::optional<DelayCertificate> solveByClp(const DelayProgram &program);
/// Whether CLP was there when this was built.
bool hasClp();

/// Of all optimal start times the earliest ones: by complementary slackness
/// they are those that keep the delay exact wherever a need is positive or a
/// price is paid in part. So they depend neither on the solver nor on which of
/// several certificates it found. Nothing when the certificate is not that of
/// an optimum.
std::optional<std::vector<int64_t>>
earliestOptimalStarts(const DelayProgram &program,
                      const DelayCertificate &certificate);

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_DELAYPROGRAM_H
