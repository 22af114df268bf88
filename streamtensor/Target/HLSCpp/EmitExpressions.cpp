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
    return op->emitOpError()
           << "expected a value of type f32, f16, bf16, index "
              "or an integer but got "
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

/// The bits of a signed value as an unsigned number. Indices are not negative.
static Expression asUnsigned(const Expression &value, Type type) {
  if (type.isIndex() || type.isInteger(1))
    return value;
  return call("st::to_unsigned<" + *scalarType(type) + ">", {value});
}

std::optional<Expression> Emitter::compare(arith::CmpIOp op) {
  Type type = op.getLhs().getType();
  if (!scalarType(type))
    return std::nullopt;
  const Expression &a = valueOf(op.getLhs()), &b = valueOf(op.getRhs());
  auto signedRelation = [&](StringRef spelling) {
    // One bit as a signed number is 0 or -1, while bool counts 0 and 1.
    return type.isInteger(1) ? binary(b, spelling, a, Precedence::Relational)
                             : binary(a, spelling, b, Precedence::Relational);
  };
  auto unsignedRelation = [&](StringRef spelling) {
    return binary(asUnsigned(a, type), spelling, asUnsigned(b, type),
                  Precedence::Relational);
  };
  using P = arith::CmpIPredicate;
  switch (op.getPredicate()) {
  case P::eq:
    return binary(a, "==", b, Precedence::Equality);
  case P::ne:
    return binary(a, "!=", b, Precedence::Equality);
  case P::slt:
    return signedRelation("<");
  case P::sle:
    return signedRelation("<=");
  case P::sgt:
    return signedRelation(">");
  case P::sge:
    return signedRelation(">=");
  case P::ult:
    return unsignedRelation("<");
  case P::ule:
    return unsignedRelation("<=");
  case P::ugt:
    return unsignedRelation(">");
  case P::uge:
    return unsignedRelation(">=");
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

/// Operations on f32, and on indices, which do not overflow.
static std::optional<BinaryForm> binaryForm(Operation *op) {
  using F = std::optional<BinaryForm>;
  Type type = op->getResult(0).getType();
  if (type.isF32())
    return TypeSwitch<Operation *, F>(op)
        .Case<arith::AddFOp>(
            [](auto) { return BinaryForm{"+", Precedence::Additive}; })
        .Case<arith::SubFOp>(
            [](auto) { return BinaryForm{"-", Precedence::Additive}; })
        .Case<arith::MulFOp>(
            [](auto) { return BinaryForm{"*", Precedence::Multiplicative}; })
        .Case<arith::DivFOp>(
            [](auto) { return BinaryForm{"/", Precedence::Multiplicative}; })
        .Case<arith::MaximumFOp>([](auto) { return BinaryForm{"st::max", {}}; })
        .Case<arith::MinimumFOp>([](auto) { return BinaryForm{"st::min", {}}; })
        .Case<arith::MaxNumFOp>(
            [](auto) { return BinaryForm{"st::maxnum", {}}; })
        .Case<arith::MinNumFOp>(
            [](auto) { return BinaryForm{"st::minnum", {}}; })
        .Case<arith::RemFOp>([](auto) { return BinaryForm{"hls::fmod", {}}; })
        .Case<math::PowFOp>([](auto) { return BinaryForm{"hls::pow", {}}; })
        .Case<math::Atan2Op>([](auto) { return BinaryForm{"hls::atan2", {}}; })
        .Case<math::CopySignOp>(
            [](auto) { return BinaryForm{"hls::copysign", {}}; })
        .Default(std::nullopt);
  if (!type.isIndex())
    return std::nullopt;
  return TypeSwitch<Operation *, F>(op)
      .Case<arith::AddIOp>(
          [](auto) { return BinaryForm{"+", Precedence::Additive}; })
      .Case<arith::SubIOp>(
          [](auto) { return BinaryForm{"-", Precedence::Additive}; })
      .Case<arith::MulIOp>(
          [](auto) { return BinaryForm{"*", Precedence::Multiplicative}; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(
          [](auto) { return BinaryForm{"/", Precedence::Multiplicative}; })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [](auto) { return BinaryForm{"%", Precedence::Multiplicative}; })
      .Case<arith::AndIOp>(
          [](auto) { return BinaryForm{"&", Precedence::BitAnd}; })
      .Case<arith::OrIOp>(
          [](auto) { return BinaryForm{"|", Precedence::BitOr}; })
      .Case<arith::XOrIOp>(
          [](auto) { return BinaryForm{"^", Precedence::BitXor}; })
      .Case<arith::MaxSIOp, arith::MaxUIOp>(
          [](auto) { return BinaryForm{"st::max<int>", {}}; })
      .Case<arith::MinSIOp, arith::MinUIOp>(
          [](auto) { return BinaryForm{"st::min<int>", {}}; })
      .Default(std::nullopt);
}

/// Operations on i1, a bool: sums are modulo 2, and a signed true is -1.
static std::optional<BinaryForm> booleanForm(Operation *op) {
  using F = std::optional<BinaryForm>;
  return TypeSwitch<Operation *, F>(op)
      .Case<arith::AndIOp, arith::MulIOp, arith::MinUIOp, arith::MaxSIOp>(
          [](auto) { return BinaryForm{"&&", Precedence::LogicalAnd}; })
      .Case<arith::OrIOp, arith::MaxUIOp, arith::MinSIOp>(
          [](auto) { return BinaryForm{"||", Precedence::LogicalOr}; })
      .Case<arith::XOrIOp, arith::AddIOp, arith::SubIOp>(
          [](auto) { return BinaryForm{"!=", Precedence::Equality}; })
      .Default(std::nullopt);
}

/// The function of st_math.h for an operation on integers that wrap, without
/// its template argument.
static StringRef wrappingFunction(Operation *op) {
  return TypeSwitch<Operation *, StringRef>(op)
      .Case<arith::AddIOp>([](auto) { return "st::add"; })
      .Case<arith::SubIOp>([](auto) { return "st::sub"; })
      .Case<arith::MulIOp>([](auto) { return "st::mul"; })
      .Case<arith::DivSIOp>([](auto) { return "st::div"; })
      .Case<arith::RemSIOp>([](auto) { return "st::rem"; })
      .Case<arith::FloorDivSIOp>([](auto) { return "st::floordiv"; })
      .Case<arith::CeilDivSIOp>([](auto) { return "st::ceildiv"; })
      .Case<arith::ShLIOp>([](auto) { return "st::shl"; })
      .Case<arith::ShRSIOp>([](auto) { return "st::shr"; })
      .Case<arith::ShRUIOp>([](auto) { return "st::shru"; })
      .Case<arith::MaxSIOp>([](auto) { return "st::max"; })
      .Case<arith::MinSIOp>([](auto) { return "st::min"; })
      .Default(StringRef());
}

/// `a op b` of integers of 8 to 64 bits; nothing for other operations.
static std::optional<Expression>
integerBinary(Operation *op, const Expression &a, const Expression &b) {
  Type type = op->getResult(0).getType();
  std::string name = *scalarType(type);
  auto chosen = [&](StringRef relation) {
    return Expression{binary(asUnsigned(a, type), relation, asUnsigned(b, type),
                             Precedence::Relational)
                              .text +
                          " ? " + a.in(Precedence::LogicalOr) + " : " +
                          b.in(Precedence::LogicalOr),
                      Precedence::Conditional};
  };
  auto unsignedOperator = [&](StringRef spelling) {
    return Expression{"static_cast<" + name + ">(" + asUnsigned(a, type).text +
                          " " + spelling.str() + " " +
                          asUnsigned(b, type).text + ")",
                      Precedence::Primary};
  };
  if (StringRef function = wrappingFunction(op); !function.empty())
    return call((function + "<" + name + ">").str(), {a, b});
  return TypeSwitch<Operation *, std::optional<Expression>>(op)
      // Operands are sign-extended, and so is what these make of them.
      .Case(
          [&](arith::AndIOp) { return binary(a, "&", b, Precedence::BitAnd); })
      .Case([&](arith::OrIOp) { return binary(a, "|", b, Precedence::BitOr); })
      .Case(
          [&](arith::XOrIOp) { return binary(a, "^", b, Precedence::BitXor); })
      .Case([&](arith::DivUIOp) { return unsignedOperator("/"); })
      .Case([&](arith::RemUIOp) { return unsignedOperator("%"); })
      .Case([&](arith::MaxUIOp) { return chosen(">"); })
      .Case([&](arith::MinUIOp) { return chosen("<"); })
      .Default(std::nullopt);
}

/// A conversion between numbers; nothing for those without a C++ form.
static std::optional<Expression> conversion(Operation *op,
                                            const Expression &value) {
  Type fromType = op->getOperand(0).getType(),
       toType = op->getResult(0).getType();
  std::optional<std::string> from = scalarType(fromType),
                             to = scalarType(toType);
  if (!from || !to)
    return std::nullopt;
  auto cast = [](StringRef type, const Expression &operand) {
    return call(("static_cast<" + type + ">").str(), {operand});
  };
  // The floats of 16 bits convert from and to float only.
  auto fromFloat = [&](const Expression &number) {
    return toType.isF32() ? number : cast(*to, number);
  };
  bool isBit = fromType.isInteger(1);
  using E = std::optional<Expression>;
  return TypeSwitch<Operation *, E>(op)
      .Case([&](arith::TruncIOp) -> E {
        if (!toType.isInteger(1))
          return cast(*to, value);
        return Expression{"(" + value.in(Precedence::BitAnd) + " & 1) != 0",
                          Precedence::Equality};
      })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp>(
          [&](auto) -> E {
            if (isBit && isa<arith::ExtSIOp>(op))
              return Expression{value.in(Precedence::LogicalOr) + " ? -1 : 0",
                                Precedence::Conditional};
            if (isBit && isa<arith::IndexCastOp>(op))
              return std::nullopt;
            // An unsigned number that C++ would extend with its sign.
            if (isa<arith::IndexCastUIOp>(op) && !fromType.isIndex())
              return cast(*to, asUnsigned(value, fromType));
            return *from == *to ? value : cast(*to, value);
          })
      .Case([&](arith::ExtUIOp) -> E {
        return cast(*to, asUnsigned(value, fromType));
      })
      .Case([&](arith::SIToFPOp) -> E {
        if (isBit)
          return fromFloat({value.in(Precedence::LogicalOr) + " ? -1.0f : 0.0f",
                            Precedence::Conditional});
        return fromFloat(cast("float", value));
      })
      .Case([&](arith::UIToFPOp) -> E {
        return fromFloat(cast("float", asUnsigned(value, fromType)));
      })
      .Case([&](arith::FPToSIOp) -> E {
        return toType.isInteger(1) ? E() : cast(*to, value);
      })
      .Case([&](arith::FPToUIOp) -> E {
        if (toType.isInteger(1) || toType.isIndex())
          return std::nullopt;
        StringRef type = toType.isInteger(8)    ? "unsigned char"
                         : toType.isInteger(16) ? "unsigned short"
                         : toType.isInteger(32) ? "unsigned"
                                                : "unsigned long long";
        return cast(*to, cast(type, value));
      })
      .Case<arith::ExtFOp, arith::TruncFOp>(
          [&](auto) -> E { return cast(*to, value); })
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
  Type type = op->getResult(0).getType();
  const bool isWrapping = isComputedInteger(type);
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
  } else if (std::optional<BinaryForm> form =
                 type.isInteger(1) ? booleanForm(op) : binaryForm(op)) {
    const Expression &a = valueOf(op->getOperand(0)),
                     &b = valueOf(op->getOperand(1));
    return form->precedence ? binary(a, form->spelling, b, *form->precedence)
                            : call(form->spelling, {a, b});
  } else if (StringRef function = unaryFunction(op);
             !function.empty() && type.isF32()) {
    return call(function, {valueOf(op->getOperand(0))});
  } else if (isa<arith::NegFOp>(op) && type.isF32()) {
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
  } else if (isa<math::AbsIOp>(op) && isWrapping) {
    const Expression &value = valueOf(op->getOperand(0));
    std::string name = "<" + *scalarType(type) + ">";
    return call("st::max" + name,
                {value, call("st::sub" + name, {integerLiteral(0), value})});
  } else if (op->getNumOperands() == 2 && isWrapping) {
    if (std::optional<Expression> spelled = integerBinary(
            op, valueOf(op->getOperand(0)), valueOf(op->getOperand(1))))
      return *spelled;
  } else if (op->getNumOperands() == 1) {
    if (std::optional<Expression> spelled =
            conversion(op, valueOf(op->getOperand(0))))
      return *spelled;
  }
  return op->emitOpError() << "expected an operation with a form in HLS C++";
}

LogicalResult Emitter::emitExpression(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    std::optional<Expression> spelled = literal(constant.getValue());
    if (!spelled)
      return op->emitOpError() << "expected a constant of type f32, f16, bf16, "
                                  "index or an integer but got "
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
