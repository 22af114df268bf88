//===- IndexExpr.h - Conditions on loops and run-time sizes -----*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An integer expression over the induction variables of the loops around it and
// over run-time parameters: the condition of a branch whose direction is known
// as soon as the parameters have values.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_NETWORK_INDEXEXPR_H
#define STREAMTENSOR_NETWORK_INDEXEXPR_H

#include "streamtensor/Support/TripCount.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace streamtensor {

/// An expression in postfix form, so that evaluation is a loop over a small
/// array. Comparisons yield 0 or 1; a condition holds when it is not 0.
class IndexExpr {
public:
  enum class Op : uint8_t {
    Constant,  ///< value
    Induction, ///< iteration number, from 0, of the loop at level `value`
    Parameter, ///< a run-time value by its name, number `value` of `names`
    Add,
    Mul,
    FloorDiv, ///< the divisor must be a positive constant
    CeilDiv,
    Mod, ///< in [0, divisor)
    Equal,
    Less,
    LessEqual,
    UnsignedLess,
    UnsignedLessEqual,
    And,
    Or,
    Xor
  };
  struct Term {
    Op op;
    int64_t value = 0;
  };
  /// Values that an evaluation holds at a time, at most.
  static constexpr unsigned kMaxHeight = 32;

  static IndexExpr constant(int64_t value);
  /// The iteration number of an enclosing loop; level 0 is the outermost.
  static IndexExpr induction(unsigned level);
  /// The value of the run-time parameter `name`.
  static IndexExpr parameter(const std::string &name);
  /// The value of a trip count.
  static IndexExpr count(const TripCount &count);
  static IndexExpr binary(Op op, const IndexExpr &lhs, const IndexExpr &rhs);

  /// The expression when the parameters have these values, which must have all
  /// of them: without parameters. Operations on constants are carried out.
  IndexExpr bind(const ParameterValues &values) const;

  /// The value when the loop at level l is in iteration `inductions[l]`. There
  /// must be no parameters.
  int64_t evaluate(const int64_t *inductions) const;

  bool hasParameters() const { return !names.empty(); }
  /// Adds the names of all parameters to `names` (values of 0).
  void collectParameters(ParameterValues &names) const;

  /// One more than the deepest level used; 0 when no loop is used.
  unsigned getNumLevels() const;
  bool uses(unsigned level) const;
  /// Whether an evaluation stays within kMaxHeight and divides by positive
  /// constants only.
  bool isEvaluable() const;

  /// The value does not change when the iteration number at `level` rises by a
  /// multiple of this, whatever the other ones are; 0 where none is known.
  int64_t periodOf(unsigned level) const;
  /// All iteration numbers are smaller where a period is asked for.
  static constexpr int64_t kMostIterations = int64_t(1) << 40;

  /// The expression with `replacements[l]` in place of the loop at level l.
  IndexExpr substitute(const std::vector<IndexExpr> &replacements) const;

  /// For people: `(i0 * 4 + i1) < 7`.
  std::string toString() const;

  const std::vector<Term> &getTerms() const { return terms; }
  /// Of parameters, each once.
  const std::vector<std::string> &getNames() const { return names; }

private:
  /// Appends the terms of `other`, whose parameters get the numbers of here.
  void append(const IndexExpr &other);

  std::vector<Term> terms;
  std::vector<std::string> names;
};

/// Whether a parameter may be called so: letters, digits and `_`, and nothing
/// that means something else in a condition (i0, i1, ..., and, or, ...).
bool isParameterName(std::string_view name);

/// After how many iterations two things that repeat are together as they were;
/// 0: never, or very late.
int64_t commonPeriod(int64_t a, int64_t b);

IndexExpr operator+(const IndexExpr &lhs, const IndexExpr &rhs);
IndexExpr operator*(const IndexExpr &lhs, int64_t rhs);
IndexExpr operator<(const IndexExpr &lhs, int64_t rhs);
IndexExpr operator>=(const IndexExpr &lhs, int64_t rhs);
IndexExpr operator==(const IndexExpr &lhs, int64_t rhs);
IndexExpr operator&&(const IndexExpr &lhs, const IndexExpr &rhs);

} // namespace streamtensor

#endif // STREAMTENSOR_NETWORK_INDEXEXPR_H
