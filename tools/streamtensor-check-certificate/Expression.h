//===- Expression.h - Expressions of parameters and of loops -- -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Trip counts, which are sums over parameters, and conditions, which are
// expressions of iteration numbers; as docs/process-networks.md spells them.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TOOLS_CHECKCERTIFICATE_EXPRESSION_H
#define STREAMTENSOR_TOOLS_CHECKCERTIFICATE_EXPRESSION_H

#include "tools/streamtensor-check-certificate/Json.h"

#include <map>
#include <memory>
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
  /// With the parameters in `fixed` replaced by their values.
  Expression substitute(const Values &fixed) const;
  std::string spelling() const;

  static Expression parameter(const std::string &name);
  static Expression ceilDiv(const Expression &numerator, int64_t divisor);

private:
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

/// A condition on the iteration numbers i0, i1, ... of the loops around it.
class Condition {
public:
  Condition() = default;
  /// `levels` loops are around it.
  static Condition read(const Json &value, const std::string &place,
                        unsigned levels);

  bool holds(const int64_t *iterations) const;
  bool uses(unsigned level) const;
  const std::string &spelling() const { return text; }

private:
  friend class ConditionParser;
  enum class Op : uint8_t {
    Number,
    Level,
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
  std::string text;
};

} // namespace streamtensor::certificate

#endif // STREAMTENSOR_TOOLS_CHECKCERTIFICATE_EXPRESSION_H
