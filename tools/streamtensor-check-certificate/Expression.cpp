//===- Expression.cpp - Expressions of parameters -------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading, canonical form and evaluation of trip counts.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-check-certificate/Expression.h"

#include <algorithm>
#include <cctype>

using namespace streamtensor::certificate;

std::string streamtensor::certificate::spell(const Values &values) {
  std::string text;
  for (const auto &[name, value] : values)
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(value);
  return text.empty() ? "no parameters" : text;
}

static int64_t plus(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result))
    throw Refusal("expected trip counts below 2^63");
  return result;
}

static int64_t times(int64_t a, int64_t b) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result))
    throw Refusal("expected trip counts below 2^63");
  return result;
}

static int64_t floorQuotient(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

static int64_t ceilQuotient(int64_t a, int64_t b) {
  return a / b + (a % b > 0);
}

void Expression::add(const std::string &key, const Term &term) {
  const auto at = terms.emplace(key, Term{0, term.numerator, term.divisor});
  Term &sum = at.first->second;
  sum.factor = plus(sum.factor, term.factor);
  if (sum.factor == 0)
    terms.erase(at.first);
}

Expression Expression::parameter(const std::string &name) {
  Expression result;
  result.add(name, {1, nullptr, 1});
  return result;
}

/// Multiples of the divisor leave the quotient: ceildiv(16 a + b, 16) is
/// a + ceildiv(b, 16).
Expression Expression::ceilDiv(const Expression &numerator, int64_t divisor) {
  Expression whole(floorQuotient(numerator.constant, divisor));
  Expression rest(numerator.constant - whole.constant * divisor);
  for (const auto &[key, term] : numerator.terms) {
    const int64_t quotient = floorQuotient(term.factor, divisor);
    Term part = term;
    part.factor = quotient;
    whole.add(key, part);
    part.factor = term.factor - quotient * divisor;
    rest.add(key, part);
  }
  if (rest.isConstant())
    return whole + Expression(ceilQuotient(rest.constant, divisor));
  whole.add("ceildiv(" + rest.spelling() + ", " + std::to_string(divisor) + ")",
            {1, std::make_shared<const Expression>(rest), divisor});
  return whole;
}

bool Expression::isMonotone() const {
  return std::all_of(terms.begin(), terms.end(), [](const auto &entry) {
    const Term &term = entry.second;
    return term.factor > 0 && (!term.numerator || term.numerator->isMonotone());
  });
}

Expression Expression::operator+(const Expression &other) const {
  Expression result = *this;
  result.constant = plus(constant, other.constant);
  for (const auto &[key, term] : other.terms)
    result.add(key, term);
  return result;
}

Expression Expression::operator*(int64_t factor) const {
  Expression result(times(constant, factor));
  for (const auto &[key, term] : terms)
    result.add(key, {times(term.factor, factor), term.numerator, term.divisor});
  return result;
}

/// The spelling of a quotient is that of its canonical form.
bool Expression::operator==(const Expression &other) const {
  return constant == other.constant && terms.size() == other.terms.size() &&
         std::equal(terms.begin(), terms.end(), other.terms.begin(),
                    [](const auto &a, const auto &b) {
                      return a.first == b.first &&
                             a.second.factor == b.second.factor;
                    });
}

int64_t Expression::evaluate(const Values &values) const {
  int64_t result = constant;
  for (const auto &[key, term] : terms) {
    const int64_t value =
        term.numerator
            ? ceilQuotient(term.numerator->evaluate(values), term.divisor)
            : values.at(key);
    result = plus(result, times(term.factor, value));
  }
  return result;
}

int64_t Expression::bound(const Values &rising, const Values &falling) const {
  int64_t result = constant;
  for (const auto &[key, term] : terms) {
    const Values &up = term.factor > 0 ? rising : falling;
    const Values &down = term.factor > 0 ? falling : rising;
    const int64_t value =
        term.numerator
            ? ceilQuotient(term.numerator->bound(up, down), term.divisor)
            : up.at(key);
    result = plus(result, times(term.factor, value));
  }
  return result;
}

Expression Expression::substitute(const Values &fixed) const {
  Expression result(constant);
  for (const auto &[key, term] : terms) {
    Expression factor;
    if (term.numerator)
      factor = ceilDiv(term.numerator->substitute(fixed), term.divisor);
    else if (const auto value = fixed.find(key); value != fixed.end())
      factor = Expression(value->second);
    else
      factor = parameter(key);
    result = result + factor * term.factor;
  }
  return result;
}

std::string Expression::spelling() const {
  std::string text;
  for (const auto &[key, term] : terms)
    text += (text.empty() ? "" : " + ") +
            (term.factor == 1 ? "" : std::to_string(term.factor) + " * ") + key;
  if (constant != 0 || text.empty())
    text += (text.empty() ? "" : " + ") + std::to_string(constant);
  return text;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// sum     ::= product (`+` product)*
/// product ::= integer (`*` atom)? | atom
/// atom    ::= name | `ceildiv` `(` sum `,` integer `)` | `(` sum `)`
class TripParser {
public:
  TripParser(const std::string &text, const std::string &place,
             const std::set<std::string> &parameters)
      : text(text), place(place), parameters(parameters) {}

  Expression parse() {
    Expression result = sum();
    skip();
    if (at != text.size())
      fail("the end");
    return result;
  }

private:
  [[noreturn]] void fail(const std::string &expected) const {
    throw Refusal(place + ": expected " + expected + " at '" +
                  text.substr(at, 20) + "' in trip count '" +
                  text.substr(0, 60) + "'");
  }
  void skip() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }
  bool take(char c) {
    skip();
    if (at == text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool isDigit() const {
    return at < text.size() &&
           std::isdigit(static_cast<unsigned char>(text[at]));
  }
  int64_t integer() {
    const bool negative = take('-');
    skip();
    const size_t start = at;
    int64_t value = 0;
    for (; isDigit(); ++at)
      if ((value = value * 10 + (text[at] - '0')) > INT32_MAX)
        fail("a number below 2^31");
    if (at == start)
      fail("an integer");
    return negative ? -value : value;
  }
  Expression sum() {
    if (++nesting > 32)
      fail("less nesting");
    Expression result = product();
    while (take('+'))
      result = result + product();
    --nesting;
    return result;
  }
  Expression product() {
    skip();
    if (at == text.size() || (text[at] != '-' && !isDigit()))
      return atom();
    const int64_t factor = integer();
    return take('*') ? atom() * factor : Expression(factor);
  }
  Expression atom() {
    if (take('(')) {
      Expression result = sum();
      if (!take(')'))
        fail("')'");
      return result;
    }
    skip();
    const size_t start = at;
    while (at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) ||
            text[at] == '_' || text[at] == '.'))
      ++at;
    const std::string name = text.substr(start, at - start);
    if (name == "ceildiv" && take('(')) {
      const Expression numerator = sum();
      if (!take(','))
        fail("','");
      const int64_t divisor = integer();
      if (divisor < 1)
        fail("a divisor from 1 on");
      if (!take(')'))
        fail("')'");
      return Expression::ceilDiv(numerator, divisor);
    }
    if (!parameters.count(name)) {
      at = start;
      fail("a parameter of the network");
    }
    return Expression::parameter(name);
  }

  const std::string &text, &place;
  const std::set<std::string> &parameters;
  size_t at = 0;
  unsigned nesting = 0;
};

} // namespace

Expression Expression::read(const Json &value, const std::string &place,
                            const std::set<std::string> &parameters) {
  if (value.is_number_integer())
    return Expression(integerOf(value, place, 0));
  return TripParser(nameOf(value, place), place, parameters).parse();
}
