//===- ConditionReader.cpp - Conditions as text ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Recursive descent, from `or` (binds least) to products.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Network/NetworkJson.h"

#include <cctype>
#include <cstdlib>
#include <utility>

using namespace streamtensor;

using Op = IndexExpr::Op;

namespace {

/// Thrown and caught in this file only.
struct Fault {
  std::string message;
};

class ConditionReader {
public:
  ConditionReader(std::string_view text, unsigned levels,
                  const ParameterValues &parameters)
      : text(text), levels(levels), parameters(parameters) {}

  IndexExpr read() {
    IndexExpr result = parseLevel(0);
    skipSpace();
    if (at != text.size())
      fail("the end");
    return result;
  }

private:
  /// Nested parentheses deeper than this are no condition of a design, and
  /// would overflow the stack.
  static constexpr unsigned kMaxNesting = 64;

  [[noreturn]] void fail(const std::string &expected) const {
    throw Fault{"expected " + expected + " at '" +
                std::string(text.substr(at, 20)) + "' in condition '" +
                std::string(text.substr(0, 200)) + "'"};
  }
  void skipSpace() {
    while (at < text.size() && text[at] == ' ')
      ++at;
  }
  static bool isWord(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  }
  /// Words end where no letter follows.
  bool consume(std::string_view token) {
    skipSpace();
    if (text.substr(at, token.size()) != token)
      return false;
    const size_t end = at + token.size();
    if (std::isalpha(static_cast<unsigned char>(token.back())) &&
        end < text.size() && isWord(text[end]))
      return false;
    at = end;
    return true;
  }
  static IndexExpr negate(const IndexExpr &value) {
    return IndexExpr::binary(Op::Equal, value, IndexExpr::constant(0));
  }

  IndexExpr parseLevel(unsigned level);
  IndexExpr parseComparison();
  IndexExpr parseSum();
  IndexExpr parseProduct();
  IndexExpr parsePrimary();
  int64_t parseNumber();
  IndexExpr parseName();

  std::string_view text;
  unsigned levels;
  const ParameterValues &parameters;
  size_t at = 0;
  unsigned nesting = 0;
};

} // namespace

/// or, xor, and, not.
IndexExpr ConditionReader::parseLevel(unsigned level) {
  static constexpr std::pair<const char *, Op> kWords[] = {
      {"or", Op::Or}, {"xor", Op::Xor}, {"and", Op::And}};
  if (level == std::size(kWords)) {
    if (!consume("not"))
      return parseComparison();
    if (++nesting > kMaxNesting)
      fail("less nesting");
    IndexExpr result = negate(parseLevel(level));
    --nesting;
    return result;
  }
  IndexExpr result = parseLevel(level + 1);
  while (consume(kWords[level].first))
    result =
        IndexExpr::binary(kWords[level].second, result, parseLevel(level + 1));
  return result;
}

IndexExpr ConditionReader::parseComparison() {
  IndexExpr lhs = parseSum();
  // The longer spellings first.
  if (consume("=="))
    return IndexExpr::binary(Op::Equal, lhs, parseSum());
  if (consume("!="))
    return negate(IndexExpr::binary(Op::Equal, lhs, parseSum()));
  if (consume("u<="))
    return IndexExpr::binary(Op::UnsignedLessEqual, lhs, parseSum());
  if (consume("u<"))
    return IndexExpr::binary(Op::UnsignedLess, lhs, parseSum());
  if (consume("<="))
    return IndexExpr::binary(Op::LessEqual, lhs, parseSum());
  if (consume(">="))
    return IndexExpr::binary(Op::LessEqual, parseSum(), lhs);
  if (consume("<"))
    return IndexExpr::binary(Op::Less, lhs, parseSum());
  if (consume(">"))
    return IndexExpr::binary(Op::Less, parseSum(), lhs);
  return lhs;
}

IndexExpr ConditionReader::parseSum() {
  IndexExpr result = parseProduct();
  for (;;) {
    if (consume("+"))
      result = result + parseProduct();
    else if (consume("-"))
      result = result + parseProduct() * -1;
    else
      return result;
  }
}

IndexExpr ConditionReader::parseProduct() {
  IndexExpr result = parsePrimary();
  for (;;) {
    if (consume("*"))
      result = IndexExpr::binary(Op::Mul, result, parsePrimary());
    else if (consume("floordiv") || consume("//") || consume("/"))
      result = IndexExpr::binary(Op::FloorDiv, result, parsePrimary());
    else if (consume("ceildiv"))
      result = IndexExpr::binary(Op::CeilDiv, result, parsePrimary());
    else if (consume("mod") || consume("%"))
      result = IndexExpr::binary(Op::Mod, result, parsePrimary());
    else
      return result;
  }
}

int64_t ConditionReader::parseNumber() {
  int64_t value = 0;
  const size_t start = at;
  for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at]));
       ++at)
    if ((value = value * 10 + (text[at] - '0')) > INT32_MAX)
      fail("a number below 2^31");
  if (at == start)
    fail("a number, i0, i1, ..., a parameter, or '('");
  return value;
}

/// An iteration number or a parameter.
IndexExpr ConditionReader::parseName() {
  size_t end = at;
  while (end < text.size() && isWord(text[end]))
    ++end;
  const std::string name(text.substr(at, end - at));
  if (name.size() > 1 && name.front() == 'i' &&
      name.find_first_not_of("0123456789", 1) == std::string::npos) {
    ++at;
    const int64_t level = parseNumber();
    if (level >= levels)
      fail("one of the " + std::to_string(levels) + " loops around");
    return IndexExpr::induction(level);
  }
  if (!parameters.count(name)) {
    std::string known;
    for (const auto &[parameter, unused] : parameters)
      known += (known.empty() ? "" : ", ") + parameter;
    fail("i0, i1, ..., or a parameter of the network" +
         (known.empty() ? ", which has none," : " (" + known + ")"));
  }
  at = end;
  return IndexExpr::parameter(name);
}

IndexExpr ConditionReader::parsePrimary() {
  skipSpace();
  if (consume("(")) {
    if (++nesting > kMaxNesting)
      fail("less nesting");
    IndexExpr result = parseLevel(0);
    --nesting;
    if (!consume(")"))
      fail("')'");
    return result;
  }
  if (consume("-")) {
    skipSpace();
    return IndexExpr::constant(-parseNumber());
  }
  if (at < text.size() &&
      (std::isalpha(static_cast<unsigned char>(text[at])) || text[at] == '_'))
    return parseName();
  return IndexExpr::constant(parseNumber());
}

std::optional<IndexExpr>
streamtensor::parseCondition(std::string_view text, unsigned levels,
                             const ParameterValues &parameters,
                             std::string &error) {
  try {
    IndexExpr result = ConditionReader(text, levels, parameters).read();
    if (!result.isEvaluable())
      throw Fault{
          "expected divisors that are positive constants in condition '" +
          std::string(text.substr(0, 200)) + "'"};
    return result;
  } catch (const Fault &fault) {
    error = fault.message;
    return std::nullopt;
  }
}
