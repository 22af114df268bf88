//===- IndexExpr.cpp - Conditions on loops and run-time sizes -------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Building, evaluating and printing postfix expressions.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Network/IndexExpr.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cmath>
#include <numeric>

using namespace streamtensor;

using Op = IndexExpr::Op;

static int64_t floorDiv(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

/// Numbers from files may overflow; the result is then wrong, but defined.
static int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }

static int64_t apply(Op op, int64_t a, int64_t b) {
  switch (op) {
  case Op::Add:
    return wrap(uint64_t(a) + uint64_t(b));
  case Op::Mul:
    return wrap(uint64_t(a) * uint64_t(b));
  case Op::FloorDiv:
    return floorDiv(a, b);
  case Op::CeilDiv:
    return wrap(-uint64_t(floorDiv(wrap(-uint64_t(a)), b)));
  case Op::Mod:
    return wrap(uint64_t(a) - uint64_t(b) * uint64_t(floorDiv(a, b)));
  case Op::Equal:
    return a == b;
  case Op::Less:
    return a < b;
  case Op::LessEqual:
    return a <= b;
  case Op::UnsignedLess:
    return static_cast<uint64_t>(a) < static_cast<uint64_t>(b);
  case Op::UnsignedLessEqual:
    return static_cast<uint64_t>(a) <= static_cast<uint64_t>(b);
  case Op::And:
    return a & b;
  case Op::Or:
    return a | b;
  case Op::Xor:
    return a ^ b;
  case Op::Constant:
  case Op::Induction:
  case Op::Parameter:
    break;
  }
  assert(false && "expected a binary operation");
  return 0;
}

static const char *symbol(Op op) {
  switch (op) {
  case Op::Add:
    return " + ";
  case Op::Mul:
    return " * ";
  case Op::FloorDiv:
    return " floordiv ";
  case Op::CeilDiv:
    return " ceildiv ";
  case Op::Mod:
    return " mod ";
  case Op::Equal:
    return " == ";
  case Op::Less:
    return " < ";
  case Op::LessEqual:
    return " <= ";
  case Op::UnsignedLess:
    return " u< ";
  case Op::UnsignedLessEqual:
    return " u<= ";
  case Op::And:
    return " and ";
  case Op::Or:
    return " or ";
  case Op::Xor:
    return " xor ";
  case Op::Constant:
  case Op::Induction:
  case Op::Parameter:
    break;
  }
  return "";
}

static bool isLeaf(Op op) {
  return op == Op::Constant || op == Op::Induction || op == Op::Parameter;
}

bool streamtensor::isParameterName(std::string_view name) {
  auto isLetter = [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) || c == '_';
  };
  auto isDigit = [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  };
  if (name.empty() || !isLetter(name.front()) ||
      !std::all_of(name.begin(), name.end(),
                   [&](char c) { return isLetter(c) || isDigit(c); }))
    return false;
  if (name.size() > 1 && name.front() == 'i' &&
      std::all_of(name.begin() + 1, name.end(), isDigit))
    return false;
  static constexpr std::string_view kWords[] = {
      "and", "or", "xor", "not", "mod", "floordiv", "ceildiv"};
  return std::find(std::begin(kWords), std::end(kWords), name) ==
         std::end(kWords);
}

IndexExpr IndexExpr::constant(int64_t value) {
  IndexExpr result;
  result.terms = {{Op::Constant, value}};
  return result;
}

IndexExpr IndexExpr::induction(unsigned level) {
  IndexExpr result;
  result.terms = {{Op::Induction, static_cast<int64_t>(level)}};
  return result;
}

IndexExpr IndexExpr::binary(Op op, const IndexExpr &lhs, const IndexExpr &rhs) {
  // Offsets of loops with step 1 from 0 are the induction variable itself.
  if (rhs.terms.size() == 1 && rhs.terms[0].op == Op::Constant) {
    const int64_t value = rhs.terms[0].value;
    if ((op == Op::Add && value == 0) || (op == Op::Mul && value == 1))
      return lhs;
  }
  IndexExpr result = lhs;
  result.append(rhs);
  result.terms.push_back({op});
  return result;
}

IndexExpr IndexExpr::parameter(const std::string &name) {
  IndexExpr result;
  result.terms = {{Op::Parameter, 0}};
  result.names = {name};
  return result;
}

IndexExpr IndexExpr::count(const TripCount &count) {
  IndexExpr result;
  for (const TripCount::Term &term : count.getTerms()) {
    IndexExpr next =
        term.numerator.empty()
            ? parameter(term.name)
            : binary(Op::CeilDiv, IndexExpr::count(term.numerator.front()),
                     constant(term.divisor));
    next = next * term.factor;
    result = result.terms.empty() ? next : result + next;
  }
  const IndexExpr rest = constant(count.getConstant());
  return result.terms.empty() ? rest : result + rest;
}

void IndexExpr::append(const IndexExpr &other) {
  for (Term term : other.terms) {
    if (term.op == Op::Parameter) {
      const std::string &name = other.names[term.value];
      term.value = std::find(names.begin(), names.end(), name) - names.begin();
      if (term.value == int64_t(names.size()))
        names.push_back(name);
    }
    terms.push_back(term);
  }
}

IndexExpr IndexExpr::bind(const ParameterValues &values) const {
  IndexExpr result;
  for (const Term &term : terms) {
    if (term.op == Op::Parameter) {
      result.terms.push_back({Op::Constant, values.at(names[term.value])});
      continue;
    }
    const size_t size = result.terms.size();
    // In postfix form two constants in a row are the operands.
    if (!isLeaf(term.op) && result.terms[size - 1].op == Op::Constant &&
        result.terms[size - 2].op == Op::Constant) {
      const int64_t rhs = result.terms.back().value;
      result.terms.pop_back();
      Term &lhs = result.terms.back();
      lhs.value = apply(term.op, lhs.value, rhs);
      continue;
    }
    result.terms.push_back(term);
  }
  return result;
}

void IndexExpr::collectParameters(ParameterValues &all) const {
  for (const std::string &name : names)
    all.emplace(name, 0);
}

int64_t IndexExpr::evaluate(const int64_t *inductions) const {
  assert(names.empty() && "expected parameters to have values");
  int64_t stack[kMaxHeight];
  unsigned height = 0;
  for (const Term &term : terms) {
    if (term.op == Op::Constant) {
      stack[height++] = term.value;
    } else if (term.op == Op::Induction) {
      stack[height++] = inductions[term.value];
    } else {
      --height;
      stack[height - 1] = apply(term.op, stack[height - 1], stack[height]);
    }
  }
  return stack[0];
}

unsigned IndexExpr::getNumLevels() const {
  unsigned levels = 0;
  for (const Term &term : terms)
    if (term.op == Op::Induction)
      levels = std::max(levels, static_cast<unsigned>(term.value) + 1);
  return levels;
}

bool IndexExpr::uses(unsigned level) const {
  return std::any_of(terms.begin(), terms.end(), [&](const Term &term) {
    return term.op == Op::Induction && term.value == int64_t(level);
  });
}

bool IndexExpr::isEvaluable() const {
  unsigned height = 0;
  const Term *previous = nullptr;
  for (const Term &term : terms) {
    if (isLeaf(term.op)) {
      if (++height > kMaxHeight)
        return false;
    } else {
      if (height < 2)
        return false;
      const bool divides = term.op == Op::FloorDiv || term.op == Op::CeilDiv ||
                           term.op == Op::Mod;
      if (divides && (previous->op != Op::Constant || previous->value <= 0))
        return false;
      --height;
    }
    previous = &term;
  }
  return height == 1;
}

namespace {

/// How an expression changes when an induction variable rises: by `rise` in
/// each `period`. `bound` is its largest absolute value.
struct Growth {
  int64_t period = 1, rise = 0;
  double bound = 0;
  bool isConstant = false;
  int64_t value = 0;

  /// The same over a multiple of the period.
  void stretch(int64_t factor) {
    period *= factor;
    rise *= factor;
  }
};

} // namespace

/// Beyond these no period is looked for, so that nothing overflows.
static constexpr int64_t kMostPeriod = int64_t(1) << 20;
static constexpr double kMostValue = double(int64_t(1) << 60);
static constexpr double kMostRise = double(int64_t(1) << 40);

/// The growth of `a op b`; false when there is no simple one.
static bool grow(Op op, Growth &a, Growth b) {
  const int64_t period = std::lcm(a.period, b.period);
  if (period > kMostPeriod)
    return false;
  a.stretch(period / a.period);
  b.stretch(period / b.period);
  const bool wasConstant = a.isConstant;
  a.isConstant = false;
  switch (op) {
  case Op::Add:
    a.rise += b.rise;
    a.bound += b.bound;
    break;
  case Op::Mul:
    if (a.rise != 0 || b.rise != 0) {
      if (!wasConstant && !b.isConstant)
        return false;
      const int64_t factor = wasConstant ? a.value : b.value;
      const int64_t rise = wasConstant ? b.rise : a.rise;
      if (std::abs(double(rise)) * std::abs(double(factor)) > kMostRise)
        return false;
      a.rise = rise * factor;
    }
    a.bound *= b.bound;
    break;
  case Op::FloorDiv:
  case Op::CeilDiv:
  case Op::Mod: {
    if (!b.isConstant || b.value <= 0)
      return false;
    const int64_t factor = b.value / std::gcd(a.rise, b.value);
    if (factor > kMostPeriod / a.period)
      return false;
    a.stretch(factor);
    a.rise = op == Op::Mod ? 0 : a.rise / b.value;
    break;
  }
  case Op::Equal:
  case Op::Less:
  case Op::LessEqual:
    if (a.rise != b.rise)
      return false;
    a.rise = 0;
    a.bound = 1;
    break;
  default:
    if (a.rise != 0 || b.rise != 0)
      return false;
    a.bound = kMostValue;
    break;
  }
  return a.bound <= kMostValue && std::abs(double(a.rise)) <= kMostRise;
}

int64_t IndexExpr::periodOf(unsigned level) const {
  std::vector<Growth> stack;
  for (const Term &term : terms) {
    Growth growth;
    if (term.op == Op::Constant) {
      growth.bound = std::abs(double(term.value));
      if (growth.bound > kMostValue)
        return 0;
      growth.isConstant = true;
      growth.value = term.value;
    } else if (term.op == Op::Parameter) {
      growth.bound = double(INT32_MAX);
    } else if (term.op == Op::Induction) {
      growth.rise = term.value == int64_t(level);
      growth.bound = double(kMostIterations);
    } else {
      growth = stack.back();
      stack.pop_back();
      if (!grow(term.op, stack.back(), growth))
        return 0;
      continue;
    }
    stack.push_back(growth);
  }
  return stack.size() == 1 && stack[0].rise == 0 ? stack[0].period : 0;
}

int64_t streamtensor::commonPeriod(int64_t a, int64_t b) {
  if (a == 0 || b == 0)
    return 0;
  const int64_t common = std::lcm(a, b);
  return common > kMostPeriod ? 0 : common;
}

IndexExpr
IndexExpr::substitute(const std::vector<IndexExpr> &replacements) const {
  IndexExpr result;
  result.names = names;
  for (const Term &term : terms) {
    if (term.op == Op::Induction)
      result.append(replacements[term.value]);
    else
      result.terms.push_back(term);
  }
  return result;
}

std::string IndexExpr::toString() const {
  std::vector<std::string> stack;
  for (const Term &term : terms) {
    if (term.op == Op::Constant) {
      stack.push_back(std::to_string(term.value));
    } else if (term.op == Op::Induction) {
      stack.push_back("i" + std::to_string(term.value));
    } else if (term.op == Op::Parameter) {
      stack.push_back(names[term.value]);
    } else {
      const std::string rhs = std::move(stack.back());
      stack.pop_back();
      stack.back() = "(" + stack.back() + symbol(term.op) + rhs + ")";
    }
  }
  return stack.empty() ? "" : stack.back();
}

IndexExpr streamtensor::operator+(const IndexExpr &lhs, const IndexExpr &rhs) {
  return IndexExpr::binary(Op::Add, lhs, rhs);
}

IndexExpr streamtensor::operator*(const IndexExpr &lhs, int64_t rhs) {
  return IndexExpr::binary(Op::Mul, lhs, IndexExpr::constant(rhs));
}

IndexExpr streamtensor::operator<(const IndexExpr &lhs, int64_t rhs) {
  return IndexExpr::binary(Op::Less, lhs, IndexExpr::constant(rhs));
}

IndexExpr streamtensor::operator>=(const IndexExpr &lhs, int64_t rhs) {
  return IndexExpr::binary(Op::LessEqual, IndexExpr::constant(rhs), lhs);
}

IndexExpr streamtensor::operator==(const IndexExpr &lhs, int64_t rhs) {
  return IndexExpr::binary(Op::Equal, lhs, IndexExpr::constant(rhs));
}

IndexExpr streamtensor::operator&&(const IndexExpr &lhs, const IndexExpr &rhs) {
  return IndexExpr::binary(Op::And, lhs, rhs);
}
