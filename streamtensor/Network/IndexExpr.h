//===- IndexExpr.h - Conditions on induction variables ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An integer expression over the induction variables of the loops around it:
// the condition of a branch whose direction is known at compile time.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_NETWORK_INDEXEXPR_H
#define STREAMTENSOR_NETWORK_INDEXEXPR_H

#include <cstdint>
#include <string>
#include <vector>

namespace streamtensor {

/// An expression in postfix form, so that evaluation is a loop over a small
/// array. Comparisons yield 0 or 1; a condition holds when it is not 0.
class IndexExpr {
public:
  enum class Op : uint8_t {
    Constant,  ///< value
    Induction, ///< iteration number, from 0, of the loop at level `value`
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
  static IndexExpr binary(Op op, const IndexExpr &lhs, const IndexExpr &rhs);

  /// The value when the loop at level l is in iteration `inductions[l]`.
  int64_t evaluate(const int64_t *inductions) const;

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

private:
  std::vector<Term> terms;
};

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
