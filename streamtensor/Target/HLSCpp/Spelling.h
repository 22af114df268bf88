//===- Spelling.h - Types, literals and sub-expressions ---------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How types, literals and expressions are spelled in C++.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_HLSCPP_SPELLING_H
#define STREAMTENSOR_TARGET_HLSCPP_SPELLING_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Types.h"
#include <optional>
#include <string>

namespace streamtensor::hlscpp {

/// Binding strength of C++ operators, weakest first.
enum class Precedence {
  Conditional,
  LogicalOr,
  LogicalAnd,
  BitOr,
  BitXor,
  BitAnd,
  Equality,
  Relational,
  Shift,
  Additive,
  Multiplicative,
  Unary,
  Primary
};

/// C++ text, and how strongly its outermost operator binds.
struct Expression {
  std::string text;
  Precedence precedence = Precedence::Primary;

  /// The text, in parentheses when it binds weaker than `context`.
  std::string in(Precedence context) const;
};

/// `left op right`, left-associative.
Expression binary(const Expression &left, llvm::StringRef op,
                  const Expression &right, Precedence precedence);
/// `left + right` of integers, which needs no parentheses around sums.
Expression integerSum(const Expression &left, const Expression &right);
/// `function(arguments)`.
Expression call(llvm::StringRef function, llvm::ArrayRef<Expression> arguments);

/// The C++ type of a scalar, or nothing when there is none.
std::optional<std::string> scalarType(mlir::Type type);
/// Whether integers of `type` are computed with. Those of other widths, of
/// `st_int.h`, are only stored.
bool isComputedInteger(mlir::Type type);
/// The name of the vector of `lanes` values of `type`: "f32x16". One lane is
/// the scalar itself.
std::optional<std::string> vectorType(mlir::Type type, int64_t lanes);

/// A literal of exactly this value, or nothing when its type has none.
std::optional<Expression> literal(mlir::Attribute value);
Expression integerLiteral(int64_t value);

/// `expr` with its dimensions replaced by `dims`; nothing for expressions
/// without a C++ form. Quotients are those of non-negative values.
std::optional<Expression> affine(mlir::AffineExpr expr,
                                 llvm::ArrayRef<Expression> dims);

} // namespace streamtensor::hlscpp

#endif // STREAMTENSOR_TARGET_HLSCPP_SPELLING_H
