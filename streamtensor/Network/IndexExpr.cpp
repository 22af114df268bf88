//===- IndexExpr.cpp - Conditions on induction variables ------------------===//
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
    break;
  }
  return "";
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
  result.terms.insert(result.terms.end(), rhs.terms.begin(), rhs.terms.end());
  result.terms.push_back({op});
  return result;
}

int64_t IndexExpr::evaluate(const int64_t *inductions) const {
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
    if (term.op == Op::Constant || term.op == Op::Induction) {
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

IndexExpr
IndexExpr::substitute(const std::vector<IndexExpr> &replacements) const {
  IndexExpr result;
  for (const Term &term : terms) {
    if (term.op != Op::Induction) {
      result.terms.push_back(term);
      continue;
    }
    const std::vector<Term> &other = replacements[term.value].terms;
    result.terms.insert(result.terms.end(), other.begin(), other.end());
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
