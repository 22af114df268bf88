//===- Condition.cpp - Conditions on iterations and parameters ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recursive descent into postfix form. `and`, `or` and `xor` take results of
// comparisons only: of other numbers they would be ambiguous.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-check-certificate/Expression.h"

#include <algorithm>
#include <cctype>

namespace streamtensor::certificate {

class ConditionParser {
public:
  ConditionParser(Condition &condition, const std::string &place,
                  unsigned levels, const std::set<std::string> &parameters)
      : text(condition.text), place(place), levels(levels),
        parameters(parameters), terms(condition.terms), names(condition.names) {
  }

  void parse() {
    disjunction();
    skip();
    if (at != text.size())
      fail("the end");
  }

private:
  using Op = Condition::Op;
  static constexpr unsigned kMaxNesting = 24, kMaxTerms = 4096;

  [[noreturn]] void fail(const std::string &expected) const {
    throw Refusal(place + ": expected " + expected + " at '" +
                  text.substr(at, 20) + "' in condition '" +
                  text.substr(0, 100) + "'");
  }
  void skip() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }
  static bool isWord(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  }
  bool take(const std::string &token) {
    skip();
    if (text.compare(at, token.size(), token) != 0)
      return false;
    const size_t end = at + token.size();
    if (isWord(token.back()) && end < text.size() && isWord(text[end]))
      return false;
    at = end;
    return true;
  }
  void emit(Op op, int64_t value = 0) {
    if (terms.size() >= kMaxTerms)
      fail("a shorter condition");
    terms.push_back({op, value});
  }
  void expectTruth(bool isTruth) const {
    if (!isTruth)
      fail("a comparison on either side of and, or, xor");
  }

  /// Each returns whether the value is 0 or 1.
  template <typename Part>
  bool logical(const char *word, Op op, Part part) {
    bool isTruth = part();
    while (take(word)) {
      expectTruth(isTruth);
      expectTruth(part());
      emit(op);
      isTruth = true;
    }
    return isTruth;
  }
  bool disjunction() {
    return logical("or", Op::Or, [&] { return exclusion(); });
  }
  bool exclusion() {
    return logical("xor", Op::Xor, [&] { return conjunction(); });
  }
  bool conjunction() {
    return logical("and", Op::And, [&] { return negation(); });
  }
  bool negation() {
    bool any = false, odd = false;
    while (take("not")) {
      any = true;
      odd = !odd;
    }
    const bool isTruth = comparison();
    if (!any)
      return isTruth;
    emit(Op::Not);
    if (!odd)
      emit(Op::Not);
    return true;
  }
  bool comparison() {
    const bool isTruth = sum();
    struct Spelling {
      const char *text;
      Op op;
      bool swaps;
    };
    // The longer spellings first.
    static constexpr Spelling kSpellings[] = {
        {"==", Op::Equal, false},
        {"!=", Op::NotEqual, false},
        {"u<=", Op::UnsignedLessEqual, false},
        {"u<", Op::UnsignedLess, false},
        {"<=", Op::LessEqual, false},
        {">=", Op::Less, true},
        {"<", Op::Less, false},
        {">", Op::LessEqual, true}};
    for (const Spelling &spelling : kSpellings) {
      if (!take(spelling.text))
        continue;
      sum();
      emit(spelling.op);
      // a >= b is not a < b.
      if (spelling.swaps)
        emit(Op::Not);
      return true;
    }
    return isTruth;
  }
  bool sum() {
    bool isTruth = product();
    for (;;) {
      if (take("+")) {
        product();
        emit(Op::Add);
      } else if (take("-")) {
        product();
        emit(Op::Subtract);
      } else {
        return isTruth;
      }
      isTruth = false;
    }
  }
  void divide(Op op) {
    const size_t before = terms.size();
    primary();
    if (terms.size() != before + 1 || terms.back().op != Op::Number ||
        terms.back().value <= 0)
      fail("a positive constant as divisor before this");
    emit(op);
  }
  bool product() {
    bool isTruth = primary();
    for (;;) {
      if (take("*")) {
        primary();
        emit(Op::Multiply);
      } else if (take("floordiv") || take("//") || take("/")) {
        divide(Op::FloorDiv);
      } else if (take("ceildiv")) {
        divide(Op::CeilDiv);
      } else if (take("mod") || take("%")) {
        divide(Op::Modulo);
      } else {
        return isTruth;
      }
      isTruth = false;
    }
  }
  int64_t number() {
    const size_t start = at;
    int64_t value = 0;
    for (;
         at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
         ++at)
      if ((value = value * 10 + (text[at] - '0')) > INT32_MAX)
        fail("a number below 2^31");
    if (at == start)
      fail("a number, i0, i1, ..., a parameter, or '('");
    return value;
  }
  /// i0, i1, ... are iteration numbers, all other words parameters.
  void word() {
    size_t end = at;
    while (end < text.size() && isWord(text[end]))
      ++end;
    const std::string name = text.substr(at, end - at);
    if (name.size() > 1 && name.front() == 'i' &&
        name.find_first_not_of("0123456789", 1) == std::string::npos) {
      ++at;
      const int64_t level = number();
      if (level >= levels)
        fail("one of the " + std::to_string(levels) + " loops around before");
      return emit(Op::Level, level);
    }
    if (!parameters.count(name))
      fail("i0, i1, ..., or a parameter of the network");
    at = end;
    const auto known = std::find(names.begin(), names.end(), name);
    const int64_t index = known - names.begin();
    if (known == names.end())
      names.push_back(name);
    emit(Op::Parameter, index);
  }
  bool primary() {
    if (take("(")) {
      if (++nesting > kMaxNesting)
        fail("less nesting");
      const bool isTruth = disjunction();
      --nesting;
      if (!take(")"))
        fail("')'");
      return isTruth;
    }
    if (take("-")) {
      skip();
      emit(Op::Number, -number());
      return false;
    }
    skip();
    if (at < text.size() && isWord(text[at]) &&
        !std::isdigit(static_cast<unsigned char>(text[at]))) {
      word();
      return false;
    }
    const int64_t value = number();
    emit(Op::Number, value);
    return value <= 1;
  }

  const std::string &text, &place;
  unsigned levels;
  const std::set<std::string> &parameters;
  std::vector<Condition::Term> &terms;
  std::vector<std::string> &names;
  size_t at = 0;
  unsigned nesting = 0;
};

} // namespace streamtensor::certificate

using namespace streamtensor::certificate;

Condition Condition::read(const Json &value, const std::string &place,
                          unsigned levels,
                          const std::set<std::string> &parameters) {
  Condition result;
  result.text = nameOf(value, place);
  ConditionParser(result, place, levels, parameters).parse();
  return result;
}

bool Condition::uses(unsigned level) const {
  return std::any_of(terms.begin(), terms.end(), [&](const Term &term) {
    return term.op == Op::Level && term.value == int64_t(level);
  });
}

static int64_t floorQuotient(int64_t a, int64_t b) {
  return a / b - (a % b < 0);
}

bool Condition::isPlain(const std::vector<bool> &isRunTime) const {
  return std::none_of(terms.begin(), terms.end(), [&](const Term &term) {
    return term.op == Op::Parameter ||
           (term.op == Op::Level && size_t(term.value) < isRunTime.size() &&
            isRunTime[term.value]);
  });
}

Condition Condition::substitute(const Values &fixed) const {
  Condition result = *this;
  for (Term &term : result.terms)
    if (term.op == Op::Parameter)
      if (const auto value = fixed.find(names[term.value]);
          value != fixed.end())
        term = {Op::Number, value->second};
  return result;
}

bool Condition::holds(const int64_t *iterations) const {
  // A parenthesis holds at most three values while another is open.
  int64_t stack[128];
  unsigned height = 0;
  for (const Term &term : terms) {
    if (term.op == Op::Parameter)
      throw Refusal("expected a value for '" + names[term.value] +
                    "' in condition '" + text.substr(0, 100) + "'");
    if (term.op == Op::Number || term.op == Op::Level) {
      if (height == 128)
        throw Refusal("expected a simpler condition than '" +
                      text.substr(0, 100) + "'");
      stack[height++] =
          term.op == Op::Number ? term.value : iterations[term.value];
      continue;
    }
    if (term.op == Op::Not) {
      stack[height - 1] = stack[height - 1] == 0;
      continue;
    }
    const int64_t b = stack[--height];
    int64_t &a = stack[height - 1];
    bool overflows = false;
    switch (term.op) {
    case Op::Add:
      overflows = __builtin_add_overflow(a, b, &a);
      break;
    case Op::Subtract:
      overflows = __builtin_sub_overflow(a, b, &a);
      break;
    case Op::Multiply:
      overflows = __builtin_mul_overflow(a, b, &a);
      break;
    case Op::FloorDiv:
      a = floorQuotient(a, b);
      break;
    case Op::CeilDiv:
      a = a / b + (a % b > 0);
      break;
    case Op::Modulo:
      a -= b * floorQuotient(a, b);
      break;
    case Op::Equal:
      a = a == b;
      break;
    case Op::NotEqual:
      a = a != b;
      break;
    case Op::Less:
      a = a < b;
      break;
    case Op::LessEqual:
      a = a <= b;
      break;
    case Op::UnsignedLess:
      a = uint64_t(a) < uint64_t(b);
      break;
    case Op::UnsignedLessEqual:
      a = uint64_t(a) <= uint64_t(b);
      break;
    case Op::And:
      a &= b;
      break;
    case Op::Or:
      a |= b;
      break;
    default:
      a ^= b;
      break;
    }
    if (overflows)
      throw Refusal("expected numbers below 2^63 in condition '" +
                    text.substr(0, 100) + "'");
  }
  return stack[0] != 0;
}
