//===- TripCount.cpp - Trip counts known at run time ----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Canonical form, evaluation, spelling and reading of run-time trip counts.
//
// ceildiv(16 * a + 4 * b + 5, 16) becomes a + ceildiv(b + 2, 4): multiples of
// the divisor leave, what remains is divided by the common divisor of its
// factors and the divisor, the constant rounded up (the rest is an integer).
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/TripCount.h"

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cstdlib>
#include <numeric>

using namespace streamtensor;

static int64_t ceilDivide(int64_t a, int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

std::string TripCount::Term::key() const {
  if (numerator.empty())
    return name;
  return "ceildiv(" + numerator.front().str() + ", " + std::to_string(divisor) +
         ")";
}

void TripCount::add(Term term) {
  const std::string key = term.key();
  auto at = std::lower_bound(
      terms.begin(), terms.end(), key,
      [](const Term &other, const std::string &k) { return other.key() < k; });
  if (at == terms.end() || at->key() != key) {
    if (term.factor != 0)
      terms.insert(at, std::move(term));
    return;
  }
  at->factor += term.factor;
  if (at->factor == 0)
    terms.erase(at);
}

bool TripCount::operator==(const TripCount &other) const {
  return constant == other.constant &&
         std::equal(terms.begin(), terms.end(), other.terms.begin(),
                    other.terms.end(), [](const Term &a, const Term &b) {
                      return a.factor == b.factor && a.name == b.name &&
                             a.divisor == b.divisor &&
                             a.numerator == b.numerator;
                    });
}

TripCount TripCount::parameter(const std::string &name) {
  assert(!name.empty() && "a parameter has a name");
  TripCount result;
  result.add({1, name, {}, 1});
  return result;
}

TripCount TripCount::ceilDiv(const TripCount &numerator, int64_t divisor) {
  assert(divisor >= 1 && "a divisor is at least 1");
  // Split off the multiples of the divisor.
  TripCount whole, rest;
  for (const Term &term : numerator.terms) {
    Term outside = term, inside = term;
    inside.factor = ((term.factor % divisor) + divisor) % divisor;
    outside.factor = (term.factor - inside.factor) / divisor;
    whole.add(outside);
    rest.add(inside);
  }
  int64_t common = divisor;
  for (const Term &term : rest.terms)
    common = std::gcd(common, term.factor);
  for (Term &term : rest.terms)
    term.factor /= common;
  rest.constant = ceilDivide(numerator.constant, common);
  divisor /= common;
  // The constant counts 0 to divisor - 1 inside.
  const int64_t inside = ((rest.constant % divisor) + divisor) % divisor;
  whole.constant = (rest.constant - inside) / divisor;
  rest.constant = inside;
  if (divisor == 1 || rest.terms.empty())
    return whole + (divisor == 1
                        ? rest
                        : TripCount(ceilDivide(rest.constant, divisor)));
  // ceildiv(ceildiv(x, a), b) is ceildiv(x, a * b).
  if (rest.terms.size() == 1 && rest.constant == 0 &&
      rest.terms.front().factor == 1 && !rest.terms.front().numerator.empty())
    return whole + ceilDiv(rest.terms.front().numerator.front(),
                           rest.terms.front().divisor * divisor);
  whole.add({1, "", {rest}, divisor});
  return whole;
}

TripCount TripCount::operator+(const TripCount &other) const {
  TripCount result = *this;
  result.constant += other.constant;
  for (const Term &term : other.terms)
    result.add(term);
  return result;
}

TripCount TripCount::operator*(int64_t factor) const {
  TripCount result(constant * factor);
  for (Term term : terms) {
    term.factor *= factor;
    result.add(std::move(term));
  }
  return result;
}

TripCount TripCount::substitute(const ParameterValues &fixed) const {
  TripCount result(constant);
  for (const Term &term : terms) {
    const auto known = fixed.find(term.name);
    if (!term.numerator.empty())
      result = result +
               ceilDiv(term.numerator.front().substitute(fixed), term.divisor) *
                   term.factor;
    else if (known != fixed.end())
      result = result + TripCount(known->second * term.factor);
    else
      result = result + parameter(term.name) * term.factor;
  }
  return result;
}

int64_t TripCount::evaluate(const ParameterValues &values) const {
  int64_t result = constant;
  for (const Term &term : terms) {
    if (!term.numerator.empty()) {
      result +=
          term.factor *
          ceilDivide(term.numerator.front().evaluate(values), term.divisor);
      continue;
    }
    const auto value = values.find(term.name);
    assert(value != values.end() && "every parameter has a value");
    result += term.factor * value->second;
  }
  return result;
}

int64_t TripCount::bound(const ParameterValues &maxima,
                         const ParameterValues &minima, bool upper) const {
  int64_t result = constant;
  for (const Term &term : terms) {
    const bool high = upper == (term.factor > 0);
    if (!term.numerator.empty()) {
      result += term.factor *
                ceilDivide(term.numerator.front().bound(maxima, minima, high),
                           term.divisor);
    } else if (high) {
      const auto maximum = maxima.find(term.name);
      assert(maximum != maxima.end() && "every parameter has a maximum");
      result += term.factor * maximum->second;
    } else if (const auto minimum = minima.find(term.name);
               minimum != minima.end()) {
      result += term.factor * minimum->second;
    }
  }
  return result;
}

int64_t TripCount::lowest(const ParameterValues &maxima,
                          const ParameterValues &minima) const {
  return bound(maxima, minima, /*upper=*/false);
}

int64_t TripCount::highest(const ParameterValues &maxima,
                           const ParameterValues &minima) const {
  return bound(maxima, minima, /*upper=*/true);
}

int64_t TripCount::content() const {
  int64_t result = std::abs(constant);
  for (const Term &term : terms)
    result = std::gcd(result, term.factor);
  return result;
}

TripCount TripCount::dividedBy(int64_t divisor) const {
  TripCount result = *this;
  result.constant /= divisor;
  for (Term &term : result.terms)
    term.factor /= divisor;
  return result;
}

void TripCount::collectParameters(ParameterValues &names) const {
  for (const Term &term : terms) {
    if (term.numerator.empty())
      names.emplace(term.name, 0);
    else
      term.numerator.front().collectParameters(names);
  }
}

int64_t TripCount::period() const {
  int64_t result = 1;
  for (const Term &term : terms)
    if (!term.numerator.empty())
      result = std::lcm(result, term.divisor * term.numerator.front().period());
  return result;
}

int64_t TripCount::largestNumber() const {
  int64_t result = std::abs(constant);
  for (const Term &term : terms) {
    result = std::max(result, std::abs(term.factor));
    if (!term.numerator.empty())
      result = std::max(
          {result, term.divisor, term.numerator.front().largestNumber()});
  }
  return result;
}

std::string TripCount::spell(const ParameterValues *maxima,
                             ParameterValues *seen) const {
  std::string text;
  for (const Term &term : terms) {
    text += text.empty() ? "" : " + ";
    if (term.factor != 1)
      text += std::to_string(term.factor) + " * ";
    if (!term.numerator.empty()) {
      text += "ceildiv(" + term.numerator.front().spell(maxima, seen) + ", " +
              std::to_string(term.divisor) + ")";
      continue;
    }
    text += term.name;
    if (maxima && seen->emplace(term.name, 0).second)
      text += " max " + std::to_string(maxima->at(term.name));
  }
  if (constant != 0 || text.empty())
    text += (text.empty() ? "" : " + ") + std::to_string(constant);
  return text;
}

std::string TripCount::str() const { return spell(nullptr, nullptr); }

std::string TripCount::str(const ParameterValues &maxima,
                           ParameterValues &seen) const {
  return spell(&maxima, &seen);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {

/// expression ::= term (`+` term)*
/// term       ::= integer (`*` atom)? | atom
/// atom       ::= name (`max` integer)? | `ceildiv` `(` expression `,` integer
///                `)`
class Reader {
public:
  Reader(const std::string &text, ParameterValues &maxima, std::string &error)
      : text(text), maxima(maxima), error(error) {}

  std::optional<TripCount> read() {
    std::optional<TripCount> result = expression();
    if (result && !atEnd())
      return fail("the end");
    return result;
  }

private:
  void skipSpace() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }
  bool atEnd() {
    skipSpace();
    return at == text.size();
  }
  bool consume(char c) {
    skipSpace();
    if (at == text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  std::string word() {
    skipSpace();
    const size_t start = at;
    while (
        at < text.size() &&
        (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'))
      ++at;
    return text.substr(start, at - start);
  }
  std::nullopt_t fail(const std::string &expected) {
    if (error.empty())
      error = "expected " + expected + " in trip count '" + text +
              "' but got '" + text.substr(at) + "'";
    return std::nullopt;
  }

  std::optional<int64_t> integer() {
    const bool negative = consume('-');
    skipSpace();
    const size_t start = at;
    while (at < text.size() &&
           std::isdigit(static_cast<unsigned char>(text[at])))
      ++at;
    // Small enough that no sum or product of a few of them overflows.
    if (at == start || at - start > 9) {
      at = start;
      return fail("an integer below 10^9");
    }
    const int64_t value = std::stoll(text.substr(start, at - start));
    return negative ? -value : value;
  }

  bool startsInteger() {
    skipSpace();
    return at < text.size() &&
           (text[at] == '-' ||
            std::isdigit(static_cast<unsigned char>(text[at])));
  }

  std::optional<TripCount> atom() {
    skipSpace();
    const std::string name = word();
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])))
      return fail("a parameter, ceildiv or an integer");
    if (name == "ceildiv") {
      if (!consume('('))
        return fail("'('");
      const std::optional<TripCount> numerator = expression();
      if (!numerator)
        return std::nullopt;
      if (!consume(','))
        return fail("','");
      const std::optional<int64_t> divisor = integer();
      if (!divisor)
        return std::nullopt;
      if (*divisor < 1)
        return fail("a divisor of at least 1");
      if (!consume(')'))
        return fail("')'");
      return TripCount::ceilDiv(*numerator, *divisor);
    }
    const size_t back = at;
    if (word() == "max") {
      const std::optional<int64_t> maximum = integer();
      if (!maximum)
        return std::nullopt;
      if (*maximum < 0)
        return fail("a maximum of at least 0");
      const auto [known, isNew] = maxima.emplace(name, *maximum);
      if (!isNew && known->second != *maximum) {
        error = "parameter '" + name + "' has two maxima, " +
                std::to_string(known->second) + " and " +
                std::to_string(*maximum);
        return std::nullopt;
      }
    } else {
      at = back;
      if (!maxima.count(name)) {
        error = "parameter '" + name +
                "' needs its maximum at its first use: write '" + name +
                " max N'";
        return std::nullopt;
      }
    }
    return TripCount::parameter(name);
  }

  std::optional<TripCount> term() {
    if (!startsInteger())
      return atom();
    const std::optional<int64_t> value = integer();
    if (!value)
      return std::nullopt;
    if (!consume('*'))
      return TripCount(*value);
    const std::optional<TripCount> factor = atom();
    if (!factor)
      return std::nullopt;
    return *factor * *value;
  }

  std::optional<TripCount> expression() {
    std::optional<TripCount> sum = term();
    while (sum && consume('+')) {
      const std::optional<TripCount> next = term();
      if (!next)
        return std::nullopt;
      sum = *sum + *next;
    }
    return sum;
  }

  const std::string &text;
  ParameterValues &maxima;
  std::string &error;
  size_t at = 0;
};

} // namespace

std::optional<TripCount> TripCount::parse(const std::string &text,
                                          ParameterValues &maxima,
                                          std::string &error) {
  error.clear();
  return Reader(text, maxima, error).read();
}
