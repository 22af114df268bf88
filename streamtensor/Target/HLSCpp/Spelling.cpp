//===- Spelling.cpp - Types, literals and sub-expressions -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Spelling of types, literals and affine expressions.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/HLSCpp/Spelling.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace streamtensor::hlscpp;

std::string Expression::in(Precedence context) const {
  return precedence < context ? "(" + text + ")" : text;
}

Expression streamtensor::hlscpp::binary(const Expression &left, StringRef op,
                                        const Expression &right,
                                        Precedence precedence) {
  // The right operand needs parentheses at equal strength: a - (b - c). What is
  // compared is no comparison itself without them: compilers take a < b < c for
  // a mistake.
  bool compares = precedence == Precedence::Equality ||
                  precedence == Precedence::Relational;
  auto tighter =
      compares ? Precedence::Shift
               : static_cast<Precedence>(static_cast<int>(precedence) + 1);
  return {left.in(compares ? tighter : precedence) + " " + op.str() + " " +
              right.in(tighter),
          precedence};
}

Expression streamtensor::hlscpp::integerSum(const Expression &left,
                                            const Expression &right) {
  return {left.in(Precedence::Additive) + " + " +
              right.in(Precedence::Additive),
          Precedence::Additive};
}

Expression streamtensor::hlscpp::call(StringRef function,
                                      ArrayRef<Expression> arguments) {
  return {
      function.str() + "(" +
          llvm::join(llvm::map_range(
                         arguments, [](const Expression &e) { return e.text; }),
                     ", ") +
          ")",
      Precedence::Primary};
}

std::optional<std::string> streamtensor::hlscpp::scalarType(Type type) {
  if (type.isF32())
    return "float";
  if (type.isF16())
    return "st::f16";
  if (type.isBF16())
    return "st::bf16";
  if (type.isIndex() || type.isInteger(32))
    return "int";
  if (type.isInteger(1))
    return "bool";
  if (type.isInteger(8))
    return "signed char";
  if (type.isInteger(16))
    return "short";
  if (type.isInteger(64))
    return "long long";
  if (type.isSignlessInteger() && type.getIntOrFloatBitWidth() < 64)
    return "st::sint<" + std::to_string(type.getIntOrFloatBitWidth()) + ">";
  return std::nullopt;
}

bool streamtensor::hlscpp::isComputedInteger(Type type) {
  return type.isInteger(8) || type.isInteger(16) || type.isInteger(32) ||
         type.isInteger(64);
}

std::optional<std::string> streamtensor::hlscpp::vectorType(Type type,
                                                            int64_t lanes) {
  std::optional<std::string> scalar = scalarType(type);
  if (!scalar || lanes == 1)
    return scalar;
  std::string name;
  llvm::raw_string_ostream(name) << type << 'x' << lanes;
  return name;
}

Expression streamtensor::hlscpp::integerLiteral(int64_t value) {
  // The literal is the number without its sign, which has to fit as well.
  if (value == INT64_MIN)
    return {std::to_string(value + 1) + "ll - 1", Precedence::Additive};
  std::string text = std::to_string(value);
  if (value > INT32_MAX || value < INT32_MIN)
    text += "ll";
  return {text, value < 0 ? Precedence::Unary : Precedence::Primary};
}

/// Nine digits name every float exactly.
static Expression floatLiteral(float number) {
  APFloat value(number);
  bool negative = value.isNegative();
  Precedence precedence = negative ? Precedence::Unary : Precedence::Primary;
  if (value.isNaN())
    return {"NAN", Precedence::Primary};
  if (value.isInfinity())
    return {negative ? "-INFINITY" : "INFINITY", precedence};
  std::string text;
  for (int digits = 1; digits <= 9; ++digits) {
    text.clear();
    llvm::raw_string_ostream stream(text);
    stream << llvm::format("%.*g", digits, static_cast<double>(number));
    if (std::strtof(text.c_str(), nullptr) == number)
      break;
  }
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return {text + "f", precedence};
}

std::optional<Expression> streamtensor::hlscpp::literal(Attribute value) {
  if (auto number = dyn_cast<FloatAttr>(value)) {
    std::optional<std::string> type = scalarType(number.getType());
    if (!type)
      return std::nullopt;
    APFloat wide = number.getValue();
    bool lossy;
    wide.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven, &lossy);
    Expression spelled = floatLiteral(wide.convertToFloat());
    return number.getType().isF32() ? spelled : call(*type, {spelled});
  }
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    if (!scalarType(number.getType()))
      return std::nullopt;
    if (number.getType().isInteger(1))
      return Expression{number.getValue().isZero() ? "false" : "true",
                        Precedence::Primary};
    return integerLiteral(number.getValue().getSExtValue());
  }
  return std::nullopt;
}

std::optional<Expression>
streamtensor::hlscpp::affine(AffineExpr expr, ArrayRef<Expression> dims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return integerLiteral(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  auto operation = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!operation)
    return std::nullopt;
  std::optional<Expression> left = affine(operation.getLHS(), dims);
  if (!left)
    return std::nullopt;
  AffineExpr rightExpr = operation.getRHS();
  if (operation.getKind() == AffineExprKind::Add) {
    // d0 + d1 * -2 is easier to read as a difference.
    if (auto constant = dyn_cast<AffineConstantExpr>(rightExpr))
      if (constant.getValue() < 0)
        return binary(*left, "-", integerLiteral(-constant.getValue()),
                      Precedence::Additive);
    if (auto product = dyn_cast<AffineBinaryOpExpr>(rightExpr))
      if (product.getKind() == AffineExprKind::Mul)
        if (auto factor = dyn_cast<AffineConstantExpr>(product.getRHS()))
          if (factor.getValue() < 0) {
            std::optional<Expression> subtracted =
                affine(product.getLHS() * -factor.getValue(), dims);
            if (!subtracted)
              return std::nullopt;
            return binary(*left, "-", *subtracted, Precedence::Additive);
          }
  }
  std::optional<Expression> right = affine(rightExpr, dims);
  if (!right)
    return std::nullopt;
  switch (operation.getKind()) {
  case AffineExprKind::Add:
    // The larger part of an address first: i * 16 + l.
    if (left->precedence > Precedence::Multiplicative &&
        right->precedence == Precedence::Multiplicative)
      std::swap(left, right);
    return integerSum(*left, *right);
  case AffineExprKind::Mul:
    return binary(*left, "*", *right, Precedence::Multiplicative);
  case AffineExprKind::FloorDiv:
    return binary(*left, "/", *right, Precedence::Multiplicative);
  case AffineExprKind::Mod:
    return binary(*left, "%", *right, Precedence::Multiplicative);
  default:
    return std::nullopt;
  }
}
