//===- EmitExpressions.cpp - Scalar expressions ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arithmetic, comparisons, conversions and functions.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/HLSCpp/Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::hlscpp;

/// Longest expression that is not given a variable of its own.
static constexpr size_t kMaxInlineText = 72;

bool streamtensor::hlscpp::isExpression(Operation *op) {
  return isa<affine::AffineApplyOp, memref::LoadOp>(op) ||
         isa<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

bool streamtensor::hlscpp::canInline(Operation *op) {
  if (!op->hasOneUse())
    return false;
  // Follow the value to the statement that it ends up in. All of the way must
  // lie in one block: a loop would compute it again and again.
  Operation *end = op;
  do {
    if (!end->hasOneUse())
      break;
    Operation *user = *end->user_begin();
    if (user->getBlock() != op->getBlock()) {
      if (end == op)
        return false;
      break;
    }
    end = user;
  } while (isExpression(end));
  if (!isa<memref::LoadOp>(op))
    return true;
  for (Operation *next = op->getNextNode(); next && next != end;
       next = next->getNextNode())
    if (!isExpression(next))
      return false;
  return true;
}

const Expression &Emitter::valueOf(Value value) {
  auto known = values.find(value);
  assert(known != values.end() && "operands are printed before their users");
  return known->second;
}

/// constant + sum of value * factor, constants folded.
Expression Emitter::sum(ArrayRef<std::pair<Value, int64_t>> terms,
                        int64_t constant) {
  std::optional<Expression> total;
  for (auto [value, factor] : terms) {
    if (std::optional<int64_t> known = getConstantIntValue(value)) {
      constant += *known * factor;
      continue;
    }
    Expression term = valueOf(value);
    if (factor != 1)
      term =
          binary(term, "*", integerLiteral(factor), Precedence::Multiplicative);
    total = total ? integerSum(*total, term) : term;
  }
  if (!total)
    return integerLiteral(constant);
  if (constant == 0)
    return *total;
  return binary(*total, constant < 0 ? "-" : "+",
                integerLiteral(std::abs(constant)), Precedence::Additive);
}

LogicalResult Emitter::bind(Operation *op, const Expression &expr) {
  Value result = op->getResult(0);
  bool isName = expr.precedence == Precedence::Primary &&
                StringRef(expr.text).find_first_of("([ ") == StringRef::npos;
  bool endsHere = op->hasOneUse() &&
                  isa<memref::StoreOp, stream::WriteOp>(*op->user_begin());
  if (isName ||
      (canInline(op) && (endsHere || expr.text.size() <= kMaxInlineText))) {
    values[result] = expr;
    return success();
  }
  std::optional<std::string> type = scalarType(result.getType());
  if (!type)
    return op->emitOpError() << "expected a value of type f32, index or an "
                                "integer but got "
                             << result.getType();
  auto hint = op->getAttrOfType<StringAttr>(hls::kNameAttr);
  std::string name = local(hint ? hint.getValue() : StringRef("t"));
  line() << "const " << *type << " " << name << " = " << expr.text << ";\n";
  values[result] = {name, Precedence::Primary};
  return success();
}

/// C++ comparisons are false for NaN except !=, so the unordered forms are
/// negations of the opposite.
std::optional<Expression> Emitter::compare(arith::CmpFOp op) {
  const Expression &a = valueOf(op.getLhs()), &b = valueOf(op.getRhs());
  auto relation = [&](StringRef spelling) {
    return binary(a, spelling, b,
                  spelling == "==" || spelling == "!="
                      ? Precedence::Equality
                      : Precedence::Relational);
  };
  auto negated = [&](const Expression &e) {
    return Expression{"!(" + e.text + ")", Precedence::Unary};
  };
  auto either = [&](const Expression &left, const Expression &right) {
    return binary(left, "||", right, Precedence::LogicalOr);
  };
  auto isNaN = [](const Expression &e) {
    return binary(e, "!=", e, Precedence::Equality);
  };
  using P = arith::CmpFPredicate;
  switch (op.getPredicate()) {
  case P::AlwaysFalse:
    return Expression{"false"};
  case P::AlwaysTrue:
    return Expression{"true"};
  case P::OEQ:
    return relation("==");
  case P::OGT:
    return relation(">");
  case P::OGE:
    return relation(">=");
  case P::OLT:
    return relation("<");
  case P::OLE:
    return relation("<=");
  case P::ONE:
    return either(relation("<"), relation(">"));
  case P::ORD:
    return negated(either(isNaN(a), isNaN(b)));
  case P::UEQ:
    return negated(either(relation("<"), relation(">")));
  case P::UGT:
    return negated(relation("<="));
  case P::UGE:
    return negated(relation("<"));
  case P::ULT:
    return negated(relation(">="));
  case P::ULE:
    return negated(relation(">"));
  case P::UNE:
    return relation("!=");
  case P::UNO:
    return either(isNaN(a), isNaN(b));
  }
  return std::nullopt;
}

/// Unsigned comparisons only of indices, which are not negative.
std::optional<Expression> Emitter::compare(arith::CmpIOp op) {
  const Expression &a = valueOf(op.getLhs()), &b = valueOf(op.getRhs());
  bool isIndex = op.getLhs().getType().isIndex();
  auto relation = [&](StringRef spelling) {
    return binary(a, spelling, b, Precedence::Relational);
  };
  using P = arith::CmpIPredicate;
  switch (op.getPredicate()) {
  case P::eq:
    return binary(a, "==", b, Precedence::Equality);
  case P::ne:
    return binary(a, "!=", b, Precedence::Equality);
  case P::slt:
    return relation("<");
  case P::sle:
    return relation("<=");
  case P::sgt:
    return relation(">");
  case P::sge:
    return relation(">=");
  case P::ult:
    return isIndex ? std::optional(relation("<")) : std::nullopt;
  case P::ule:
    return isIndex ? std::optional(relation("<=")) : std::nullopt;
  case P::ugt:
    return isIndex ? std::optional(relation(">")) : std::nullopt;
  case P::uge:
    return isIndex ? std::optional(relation(">=")) : std::nullopt;
  }
  return std::nullopt;
}

namespace {

/// The C++ form of a binary operation: an operator, or a function.
struct BinaryForm {
  StringRef spelling;
  std::optional<Precedence> precedence;
};

} // namespace

static std::optional<BinaryForm> binaryForm(Operation *op) {
  bool isBool = op->getResult(0).getType().isInteger(1);
  bool isIndex = op->getResult(0).getType().isIndex();
  using F = std::optional<BinaryForm>;
  auto unsignedForm = [&](BinaryForm form) -> F {
    return isIndex ? F(form) : std::nullopt;
  };
  return TypeSwitch<Operation *, F>(op)
      .Case<arith::AddFOp, arith::AddIOp>(
          [](auto) { return BinaryForm{"+", Precedence::Additive}; })
      .Case<arith::SubFOp, arith::SubIOp>(
          [](auto) { return BinaryForm{"-", Precedence::Additive}; })
      .Case<arith::MulFOp, arith::MulIOp>(
          [](auto) { return BinaryForm{"*", Precedence::Multiplicative}; })
      .Case<arith::DivFOp, arith::DivSIOp>(
          [](auto) { return BinaryForm{"/", Precedence::Multiplicative}; })
      .Case<arith::RemSIOp>(
          [](auto) { return BinaryForm{"%", Precedence::Multiplicative}; })
      .Case<arith::DivUIOp, arith::FloorDivSIOp>(
          [&](auto) { return unsignedForm({"/", Precedence::Multiplicative}); })
      .Case<arith::RemUIOp>(
          [&](auto) { return unsignedForm({"%", Precedence::Multiplicative}); })
      .Case<arith::AndIOp>([&](auto) {
        return isBool ? BinaryForm{"&&", Precedence::LogicalAnd}
                      : BinaryForm{"&", Precedence::BitAnd};
      })
      .Case<arith::OrIOp>([&](auto) {
        return isBool ? BinaryForm{"||", Precedence::LogicalOr}
                      : BinaryForm{"|", Precedence::BitOr};
      })
      .Case<arith::XOrIOp>([&](auto) {
        return isBool ? BinaryForm{"!=", Precedence::Equality}
                      : BinaryForm{"^", Precedence::BitXor};
      })
      .Case<arith::MaximumFOp, arith::MaxSIOp>(
          [](auto) { return BinaryForm{"st::max", {}}; })
      .Case<arith::MinimumFOp, arith::MinSIOp>(
          [](auto) { return BinaryForm{"st::min", {}}; })
      .Case<arith::MaxUIOp>([&](auto) { return unsignedForm({"st::max", {}}); })
      .Case<arith::MinUIOp>([&](auto) { return unsignedForm({"st::min", {}}); })
      .Case<arith::MaxNumFOp>([](auto) { return BinaryForm{"st::maxnum", {}}; })
      .Case<arith::MinNumFOp>([](auto) { return BinaryForm{"st::minnum", {}}; })
      .Case<arith::RemFOp>([](auto) { return BinaryForm{"hls::fmod", {}}; })
      .Case<math::PowFOp>([](auto) { return BinaryForm{"hls::pow", {}}; })
      .Case<math::Atan2Op>([](auto) { return BinaryForm{"hls::atan2", {}}; })
      .Case<math::CopySignOp>(
          [](auto) { return BinaryForm{"hls::copysign", {}}; })
      .Default(std::nullopt);
}

/// The function of hls_math that computes a unary operation.
static StringRef unaryFunction(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<math::AbsFOp>([](auto) { return "hls::fabs"; })
      .Case<math::AcosOp>([](auto) { return "hls::acos"; })
      .Case<math::AcoshOp>([](auto) { return "hls::acosh"; })
      .Case<math::AsinOp>([](auto) { return "hls::asin"; })
      .Case<math::AsinhOp>([](auto) { return "hls::asinh"; })
      .Case<math::AtanOp>([](auto) { return "hls::atan"; })
      .Case<math::AtanhOp>([](auto) { return "hls::atanh"; })
      .Case<math::CbrtOp>([](auto) { return "hls::cbrt"; })
      .Case<math::CeilOp>([](auto) { return "hls::ceil"; })
      .Case<math::CosOp>([](auto) { return "hls::cos"; })
      .Case<math::CoshOp>([](auto) { return "hls::cosh"; })
      .Case<math::ErfOp>([](auto) { return "hls::erf"; })
      .Case<math::ErfcOp>([](auto) { return "hls::erfc"; })
      .Case<math::ExpOp>([](auto) { return "hls::exp"; })
      .Case<math::Exp2Op>([](auto) { return "hls::exp2"; })
      .Case<math::ExpM1Op>([](auto) { return "hls::expm1"; })
      .Case<math::FloorOp>([](auto) { return "hls::floor"; })
      .Case<math::LogOp>([](auto) { return "hls::log"; })
      .Case<math::Log10Op>([](auto) { return "hls::log10"; })
      .Case<math::Log1pOp>([](auto) { return "hls::log1p"; })
      .Case<math::Log2Op>([](auto) { return "hls::log2"; })
      .Case<math::RoundOp>([](auto) { return "hls::round"; })
      .Case<math::RoundEvenOp>([](auto) { return "hls::roundeven"; })
      .Case<math::RsqrtOp>([](auto) { return "hls::rsqrt"; })
      .Case<math::SinOp>([](auto) { return "hls::sin"; })
      .Case<math::SinhOp>([](auto) { return "hls::sinh"; })
      .Case<math::SqrtOp>([](auto) { return "hls::sqrt"; })
      .Case<math::TanOp>([](auto) { return "hls::tan"; })
      .Case<math::TanhOp>([](auto) { return "hls::tanh"; })
      .Case<math::TruncOp>([](auto) { return "hls::trunc"; })
      .Default(StringRef());
}

FailureOr<Expression> Emitter::expression(Operation *op) {
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    SmallVector<Expression> dims;
    for (Value operand : apply.getMapOperands())
      dims.push_back(valueOf(operand));
    AffineMap map = apply.getAffineMap();
    // Symbols are operands like any other here.
    SmallVector<AffineExpr> replacements;
    for (unsigned i = 0; i < map.getNumSymbols(); ++i)
      replacements.push_back(
          getAffineDimExpr(map.getNumDims() + i, op->getContext()));
    AffineExpr expr = map.getResult(0).replaceSymbols(replacements);
    if (std::optional<Expression> spelled = affine(expr, dims))
      return *spelled;
  } else if (std::optional<BinaryForm> form = binaryForm(op)) {
    const Expression &a = valueOf(op->getOperand(0)),
                     &b = valueOf(op->getOperand(1));
    return form->precedence ? binary(a, form->spelling, b, *form->precedence)
                            : call(form->spelling, {a, b});
  } else if (StringRef function = unaryFunction(op); !function.empty()) {
    return call(function, {valueOf(op->getOperand(0))});
  } else if (isa<arith::NegFOp>(op)) {
    return Expression{"-" + valueOf(op->getOperand(0)).in(Precedence::Primary),
                      Precedence::Unary};
  } else if (auto compared = dyn_cast<arith::CmpFOp>(op)) {
    if (std::optional<Expression> spelled = compare(compared))
      return *spelled;
  } else if (auto compared = dyn_cast<arith::CmpIOp>(op)) {
    if (std::optional<Expression> spelled = compare(compared))
      return *spelled;
  } else if (auto select = dyn_cast<arith::SelectOp>(op)) {
    return Expression{
        valueOf(select.getCondition()).in(Precedence::LogicalOr) + " ? " +
            valueOf(select.getTrueValue()).in(Precedence::LogicalOr) + " : " +
            valueOf(select.getFalseValue()).in(Precedence::LogicalOr),
        Precedence::Conditional};
  } else if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp,
                 arith::SIToFPOp, arith::FPToSIOp>(op) ||
             (isa<arith::ExtUIOp, arith::UIToFPOp>(op) &&
              op->getOperand(0).getType().isInteger(1))) {
    std::optional<std::string> from = scalarType(op->getOperand(0).getType()),
                               to = scalarType(op->getResult(0).getType());
    // One bit as a signed number is 0 or -1, which bool is not.
    bool isSignedBit = op->getOperand(0).getType().isInteger(1) &&
                       isa<arith::ExtSIOp, arith::SIToFPOp>(op);
    if (from && to && !isSignedBit) {
      const Expression &value = valueOf(op->getOperand(0));
      if (*from == *to)
        return value;
      return Expression{"static_cast<" + *to + ">(" + value.text + ")",
                        Precedence::Primary};
    }
  }
  return op->emitOpError() << "expected an operation with a form in HLS C++";
}

LogicalResult Emitter::emitExpression(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    std::optional<Expression> spelled = literal(constant.getValue());
    if (!spelled)
      return op->emitOpError() << "expected a constant of type f32, index or "
                                  "an integer but got "
                               << constant.getType();
    values[constant.getResult()] = *spelled;
    return success();
  }
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return emitLoad(load);
  FailureOr<Expression> spelled = expression(op);
  if (failed(spelled))
    return failure();
  return bind(op, *spelled);
}
