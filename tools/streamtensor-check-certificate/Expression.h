//===- Expression.h - Expressions of parameters and of loops -- -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Trip counts, which are sums over parameters, and conditions, which are
// expressions of iteration numbers and parameters; as docs/process-networks.md
// spells them.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TOOLS_CHECKCERTIFICATE_EXPRESSION_H
#define STREAMTENSOR_TOOLS_CHECKCERTIFICATE_EXPRESSION_H

#include "tools/streamtensor-check-certificate/Json.h"

#include <map>
#include <memory>
#include <optional>
#include <set>

namespace streamtensor::certificate {

/// Of parameters, by name.
using Values = std::map<std::string, int64_t>;

/// `seq = 3, past = 0`.
std::string spell(const Values &values);

/// A constant plus multiples of parameters and of `ceildiv(expression, n)`.
/// Equal canonical forms have equal values for all values of the parameters;
/// without `ceildiv` the converse holds too. Sums beyond 63 bits are refused.
class Expression {
public:
  Expression(int64_t constant = 0) : constant(constant) {}

  /// Reads `past + 2 * seq`, `ceildiv(seq, 16)`, or an integer, over the names
  /// in `parameters`.
  static Expression read(const Json &value, const std::string &place,
                         const std::set<std::string> &parameters);

  bool isConstant() const { return terms.empty(); }
  int64_t getConstant() const { return constant; }
  /// Whether it never decreases when a parameter increases.
  bool isMonotone() const;

  Expression operator+(const Expression &other) const;
  Expression operator*(int64_t factor) const;
  bool operator==(const Expression &other) const;
  bool operator!=(const Expression &other) const { return !(*this == other); }

  int64_t evaluate(const Values &values) const;
  /// At least the smallest value, and at most the largest one, when each
  /// parameter runs from its value in `low` to that in `high`.
  int64_t lowest(const Values &low, const Values &high) const {
    return bound(low, high);
  }
  int64_t highest(const Values &low, const Values &high) const {
    return bound(high, low);
  }
  /// With the parameters in `fixed` replaced by their values.
  Expression substitute(const Values &fixed) const;
  std::string spelling() const;

  static Expression parameter(const std::string &name);
  static Expression ceilDiv(const Expression &numerator, int64_t divisor);

private:
  /// The value with `rising` where it grows with a parameter, else `falling`.
  int64_t bound(const Values &rising, const Values &falling) const;
  /// `factor` times a parameter, or times a rounded-up quotient.
  struct Term {
    int64_t factor = 0;
    std::shared_ptr<const Expression> numerator;
    int64_t divisor = 1;
  };
  void add(const std::string &key, const Term &term);

  int64_t constant;
  /// By the name of the parameter or the spelling of the quotient.
  std::map<std::string, Term> terms;
};

/// Which iteration numbers of a loop are meant: from `first` on, `count` ones.
struct Place {
  Expression first, count{1};
};

/// A condition on the iteration numbers i0, i1, ... of the loops around it and
/// on parameters.
class Condition {
public:
  Condition() = default;
  /// `levels` loops are around it. Parameters are those in `parameters`.
  static Condition read(const Json &value, const std::string &place,
                        unsigned levels,
                        const std::set<std::string> &parameters);

  /// With the parameters in `fixed` replaced by their values.
  Condition substitute(const Values &fixed) const;
  /// At these iteration numbers, without parameters.
  bool holds(const int64_t *iterations) const;
  /// Whether it holds at all iteration numbers in `places` (by level) and all
  /// values from `low` to `high`, or at none; nothing where this is not shown.
  std::optional<bool> decide(const std::vector<Place> &places,
                             const Values &low, const Values &high) const;
  bool uses(unsigned level) const;
  /// Whether it looks at no parameter, and at no loop that is in `isRunTime`.
  bool isPlain(const std::vector<bool> &isRunTime) const;
  bool hasParameters() const { return !isPlain({}); }
  const std::string &spelling() const { return text; }

private:
  friend class ConditionParser;
  friend class Decision;
  enum class Op : uint8_t {
    Number,
    Level,
    Parameter, ///< number `value` of `names`
    Add,
    Subtract,
    Multiply,
    FloorDiv,
    CeilDiv,
    Modulo,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    UnsignedLess,
    UnsignedLessEqual,
    And,
    Or,
    Xor,
    Not
  };
  struct Term {
    Op op;
    int64_t value = 0;
  };
  /// In postfix order.
  std::vector<Term> terms;
  std::vector<std::string> names;
  std::string text;
};

} // namespace streamtensor::certificate

#endif // STREAMTENSOR_TOOLS_CHECKCERTIFICATE_EXPRESSION_H
