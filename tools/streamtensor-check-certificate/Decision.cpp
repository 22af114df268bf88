//===- Decision.cpp - Conditions that do not depend on the values ---------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A condition is evaluated with a sum over parameters and iteration numbers in
// place of each number. Where two of them are compared, the bounds of their
// difference over a box of values decide: i < past is true for all i from 0 to
// past - 1, whatever past is. What is no such sum is unknown, and so is what is
// made of it, unless the other side of `and` or `or` decides alone.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-check-certificate/Expression.h"

namespace streamtensor::certificate {

class Decision {
public:
  Decision(const Condition &condition, const std::vector<Place> &places,
           const Values &low, const Values &high)
      : condition(condition), places(places), low(low), high(high) {}

  std::optional<bool> run();

private:
  using Op = Condition::Op;
  /// base + sum of factor * (a number from 0 to below places[level].count).
  struct Sum {
    Expression base;
    std::map<unsigned, int64_t> factors;

    bool isConstant() const { return base.isConstant() && factors.empty(); }
    Sum operator+(const Sum &other) const;
    Sum operator*(int64_t factor) const;
  };
  /// Nothing where it is unknown.
  using Value = std::optional<Sum>;

  int64_t lowest(const Sum &sum) const;
  int64_t highest(const Sum &sum) const { return -lowest(sum * -1); }
  Value leaf(const Condition::Term &term) const;
  Value combine(Op op, const Value &a, const Value &b) const;
  Value compare(Op op, const Sum &a, const Sum &b) const;
  static Value divide(Op op, const Sum &a, int64_t divisor);
  static Value logic(Op op, std::optional<bool> a, std::optional<bool> b);
  /// Whether `value` is never 0, or always.
  std::optional<bool> truth(const Value &value) const;
  static Value number(int64_t value) { return Sum{Expression(value), {}}; }

  const Condition &condition;
  const std::vector<Place> &places;
  const Values &low, &high;
};

Decision::Sum Decision::Sum::operator+(const Sum &other) const {
  Sum result{base + other.base, factors};
  for (const auto &[level, factor] : other.factors)
    if (__builtin_add_overflow(result.factors[level], factor,
                               &result.factors[level]))
      throw Refusal("expected conditions on numbers below 2^63");
  for (auto at = result.factors.begin(); at != result.factors.end();)
    at = at->second == 0 ? result.factors.erase(at) : std::next(at);
  return result;
}

Decision::Sum Decision::Sum::operator*(int64_t factor) const {
  Sum result{base * factor, {}};
  for (const auto &[level, own] : factors)
    if (factor != 0 &&
        __builtin_mul_overflow(own, factor, &result.factors[level]))
      throw Refusal("expected conditions on numbers below 2^63");
  return result;
}

int64_t Decision::lowest(const Sum &sum) const {
  Expression result = sum.base;
  for (const auto &[level, factor] : sum.factors)
    if (factor < 0)
      result = result + (places[level].count + Expression(-1)) * factor;
  return result.lowest(low, high);
}

Decision::Value Decision::leaf(const Condition::Term &term) const {
  if (term.op == Op::Number)
    return number(term.value);
  if (term.op == Op::Parameter)
    return Sum{Expression::parameter(condition.names[term.value]), {}};
  const unsigned level = term.value;
  Sum result{places[level].first, {}};
  if (places[level].count != Expression(1))
    result.factors[level] = 1;
  return result;
}

std::optional<bool> Decision::truth(const Value &value) const {
  if (!value)
    return std::nullopt;
  const int64_t least = lowest(*value), most = highest(*value);
  if (least > 0 || most < 0)
    return true;
  if (least == 0 && most == 0)
    return false;
  return std::nullopt;
}

/// Of quotients, those of sums over parameters alone are such sums.
Decision::Value Decision::divide(Op op, const Sum &a, int64_t divisor) {
  if (!a.factors.empty())
    return std::nullopt;
  if (op == Op::CeilDiv)
    return Sum{Expression::ceilDiv(a.base, divisor), {}};
  const Expression quotient =
      Expression::ceilDiv(a.base + Expression(1 - divisor), divisor);
  if (op == Op::FloorDiv)
    return Sum{quotient, {}};
  return Sum{a.base + quotient * -divisor, {}};
}

Decision::Value Decision::compare(Op op, const Sum &a, const Sum &b) const {
  // Unsigned, numbers from 0 on compare as they do signed.
  if (op == Op::UnsignedLess || op == Op::UnsignedLessEqual) {
    if (lowest(a) < 0 || lowest(b) < 0)
      return std::nullopt;
    op = op == Op::UnsignedLess ? Op::Less : Op::LessEqual;
  }
  const Sum difference = a + b * -1;
  const int64_t least = lowest(difference), most = highest(difference);
  switch (op) {
  case Op::Less:
    return most < 0 ? number(1) : least >= 0 ? number(0) : std::nullopt;
  case Op::LessEqual:
    return most <= 0 ? number(1) : least > 0 ? number(0) : std::nullopt;
  default:
    if (least > 0 || most < 0)
      return number(op == Op::NotEqual);
    if (least == 0 && most == 0)
      return number(op == Op::Equal);
    return std::nullopt;
  }
}

/// Of numbers that are 0 or 1, which the reader sees to.
Decision::Value Decision::logic(Op op, std::optional<bool> a,
                                std::optional<bool> b) {
  if (op == Op::Xor)
    return a && b ? number(*a != *b) : std::nullopt;
  const bool decides = op == Op::Or;
  if ((a && *a == decides) || (b && *b == decides))
    return number(decides);
  return a && b ? number(!decides) : std::nullopt;
}

Decision::Value Decision::combine(Op op, const Value &a, const Value &b) const {
  if (op == Op::And || op == Op::Or || op == Op::Xor)
    return logic(op, truth(a), truth(b));
  if (!a || !b)
    return std::nullopt;
  switch (op) {
  case Op::Add:
    return *a + *b;
  case Op::Subtract:
    return *a + *b * -1;
  case Op::Multiply:
    if (b->isConstant())
      return *a * b->base.getConstant();
    if (a->isConstant())
      return *b * a->base.getConstant();
    return std::nullopt;
  case Op::FloorDiv:
  case Op::CeilDiv:
  case Op::Modulo:
    return divide(op, *a, b->base.getConstant());
  default:
    return compare(op, *a, *b);
  }
}

std::optional<bool> Decision::run() {
  std::vector<Value> stack;
  for (const Condition::Term &term : condition.terms) {
    if (term.op == Op::Number || term.op == Op::Level ||
        term.op == Op::Parameter) {
      stack.push_back(leaf(term));
      continue;
    }
    if (term.op == Op::Not) {
      const std::optional<bool> value = truth(stack.back());
      stack.back() = value ? number(!*value) : std::nullopt;
      continue;
    }
    const Value b = std::move(stack.back());
    stack.pop_back();
    stack.back() = combine(term.op, stack.back(), b);
  }
  return truth(stack.front());
}

std::optional<bool> Condition::decide(const std::vector<Place> &places,
                                      const Values &low,
                                      const Values &high) const {
  return Decision(*this, places, low, high).run();
}

} // namespace streamtensor::certificate
