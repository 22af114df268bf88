//===- InterpreterArith.cpp - Scalar arithmetic -------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The arith and math dialects on scalars: f32 in float, integers in their
// width.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/InterpreterCompiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>
#include <type_traits>

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::interp;

namespace {

/// Integers are kept sign-extended, I1 as 0 or 1.
int64_t wrap(int64_t value, unsigned bits) {
  if (bits == 1)
    return value & 1;
  unsigned shift = 64 - bits;
  return static_cast<int64_t>(static_cast<uint64_t>(value) << shift) >> shift;
}

uint64_t toUnsigned(int64_t value, unsigned bits) {
  return bits == 64 ? value : value & ((uint64_t(1) << bits) - 1);
}

/// As a number in two's complement: a true I1 is -1.
int64_t toSigned(int64_t value, unsigned bits) {
  return bits == 1 ? -value : value;
}

unsigned bitsOf(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

int64_t addWrapping(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + uint64_t(b));
}
int64_t subWrapping(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - uint64_t(b));
}
int64_t mulWrapping(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * uint64_t(b));
}
int64_t divWrapping(int64_t a, int64_t b) {
  return b == -1 ? subWrapping(0, a) : a / b;
}
int64_t remWrapping(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

/// arith.maximumf: NaN wins, +0 is larger than -0.
template <typename T>
T maximum(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  if (a == b)
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

template <typename T>
T minimum(T a, T b) {
  if (std::isnan(a) || std::isnan(b))
    return a + b;
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

bool compareFloats(arith::CmpFPredicate predicate, double a, double b) {
  using P = arith::CmpFPredicate;
  bool unordered = std::isnan(a) || std::isnan(b);
  switch (predicate) {
  case P::AlwaysFalse:
    return false;
  case P::OEQ:
    return a == b;
  case P::OGT:
    return a > b;
  case P::OGE:
    return a >= b;
  case P::OLT:
    return a < b;
  case P::OLE:
    return a <= b;
  case P::ONE:
    return !unordered && a != b;
  case P::ORD:
    return !unordered;
  case P::UEQ:
    return unordered || a == b;
  case P::UGT:
    return unordered || a > b;
  case P::UGE:
    return unordered || a >= b;
  case P::ULT:
    return unordered || a < b;
  case P::ULE:
    return unordered || a <= b;
  case P::UNE:
    return unordered || a != b;
  case P::UNO:
    return unordered;
  case P::AlwaysTrue:
    return true;
  }
  llvm_unreachable("predicate");
}

bool compareInts(arith::CmpIPredicate predicate, int64_t a, int64_t b,
                 unsigned bits) {
  using P = arith::CmpIPredicate;
  int64_t sa = toSigned(a, bits), sb = toSigned(b, bits);
  uint64_t ua = toUnsigned(a, bits), ub = toUnsigned(b, bits);
  switch (predicate) {
  case P::eq:
    return a == b;
  case P::ne:
    return a != b;
  case P::slt:
    return sa < sb;
  case P::sle:
    return sa <= sb;
  case P::sgt:
    return sa > sb;
  case P::sge:
    return sa >= sb;
  case P::ult:
    return ua < ub;
  case P::ule:
    return ua <= ub;
  case P::ugt:
    return ua > ub;
  case P::uge:
    return ua >= ub;
  }
  llvm_unreachable("predicate");
}

/// Float to integer as the C cast, clamped instead of undefined.
int64_t truncateToInt(double value) {
  if (std::isnan(value))
    return 0;
  if (value >= 9223372036854775807.0)
    return std::numeric_limits<int64_t>::max();
  if (value <= -9223372036854775808.0)
    return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

} // namespace

template <typename Fn>
LogicalResult FunctionCompiler::unaryFloat(Operation *op, Steps &steps, Fn fn) {
  FailureOr<ElementKind> kind = kindOf(op->getResult(0).getType(), op);
  if (failed(kind))
    return failure();
  const unsigned a = scalar(op->getOperand(0)), r = scalar(op->getResult(0));
  if (*kind == ElementKind::F32)
    steps.push_back([=](Frame &f) { f.scalars[r].f = fn(f.scalars[a].f); });
  else if (*kind == ElementKind::F64)
    steps.push_back([=](Frame &f) { f.scalars[r].d = fn(f.scalars[a].d); });
  else
    steps.push_back([=, kind = *kind](Frame &f) {
      f.scalars[r].f = roundToHalf(kind, fn(f.scalars[a].f));
    });
  return success();
}

template <typename Fn>
LogicalResult FunctionCompiler::binaryFloat(Operation *op, Steps &steps,
                                            Fn fn) {
  FailureOr<ElementKind> kind = kindOf(op->getResult(0).getType(), op);
  if (failed(kind))
    return failure();
  const unsigned a = scalar(op->getOperand(0)), b = scalar(op->getOperand(1)),
                 r = scalar(op->getResult(0));
  if (*kind == ElementKind::F32)
    steps.push_back(
        [=](Frame &f) { f.scalars[r].f = fn(f.scalars[a].f, f.scalars[b].f); });
  else if (*kind == ElementKind::F64)
    steps.push_back(
        [=](Frame &f) { f.scalars[r].d = fn(f.scalars[a].d, f.scalars[b].d); });
  else
    steps.push_back([=, kind = *kind](Frame &f) {
      f.scalars[r].f = roundToHalf(kind, fn(f.scalars[a].f, f.scalars[b].f));
    });
  return success();
}

template <typename Fn>
LogicalResult FunctionCompiler::binaryInt(Operation *op, Steps &steps, Fn fn) {
  FailureOr<ElementKind> kind = kindOf(op->getResult(0).getType(), op);
  if (failed(kind))
    return failure();
  const unsigned a = scalar(op->getOperand(0)), b = scalar(op->getOperand(1)),
                 r = scalar(op->getResult(0)),
                 bits = bitsOf(op->getResult(0).getType());
  steps.push_back([=](Frame &f) {
    f.scalars[r].i = wrap(fn(f.scalars[a].i, f.scalars[b].i, bits), bits);
  });
  return success();
}

/// A step that refuses the divisor 0 in slot `divisor`.
static Step checkDivisor(Operation *op, unsigned divisor) {
  return [=](Frame &frame) {
    if (frame.scalars[divisor].i == 0)
      failAt(frame, op, "division by zero");
  };
}

LogicalResult FunctionCompiler::compileCompare(Operation *op, Steps &steps) {
  const unsigned a = scalar(op->getOperand(0)), b = scalar(op->getOperand(1)),
                 r = scalar(op->getResult(0));
  FailureOr<ElementKind> kind = kindOf(op->getOperand(0).getType(), op);
  if (failed(kind))
    return failure();
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    const unsigned bits = bitsOf(compare.getLhs().getType());
    steps.push_back([=, predicate = compare.getPredicate()](Frame &f) {
      f.scalars[r].i =
          compareInts(predicate, f.scalars[a].i, f.scalars[b].i, bits);
    });
    return success();
  }
  auto predicate = cast<arith::CmpFOp>(op).getPredicate();
  steps.push_back([=, kind = *kind](Frame &f) {
    f.scalars[r].i =
        compareFloats(predicate, scalarToDouble(kind, f.scalars[a]),
                      scalarToDouble(kind, f.scalars[b]));
  });
  return success();
}

LogicalResult FunctionCompiler::compileSelect(Operation *op, Steps &steps) {
  auto select = cast<arith::SelectOp>(op);
  if (!select.getCondition().getType().isInteger(1))
    return refuse(op, "expected a scalar condition");
  const unsigned c = scalar(select.getCondition());
  if (isa<ShapedType>(select.getType())) {
    const unsigned a = buffer(select.getTrueValue()),
                   b = buffer(select.getFalseValue()),
                   r = buffer(select.getResult());
    steps.push_back(
        [=](Frame &f) { f.buffers[r] = f.buffers[f.scalars[c].i ? a : b]; });
    return success();
  }
  const unsigned a = scalar(select.getTrueValue()),
                 b = scalar(select.getFalseValue()),
                 r = scalar(select.getResult());
  steps.push_back(
      [=](Frame &f) { f.scalars[r] = f.scalars[f.scalars[c].i ? a : b]; });
  return success();
}

LogicalResult FunctionCompiler::compileCast(Operation *op, Steps &steps) {
  Type fromType = op->getOperand(0).getType(),
       toType = op->getResult(0).getType();
  FailureOr<ElementKind> from = kindOf(fromType, op), to = kindOf(toType, op);
  if (failed(from) || failed(to))
    return failure();
  const unsigned a = scalar(op->getOperand(0)), r = scalar(op->getResult(0)),
                 fromBits = bitsOf(fromType), toBits = bitsOf(toType);
  // Every cast goes through one of three domains without loss.
  auto setFloat = [to = *to](Scalar &result, auto value) {
    if (to == ElementKind::F64)
      result.d = static_cast<double>(value);
    else if (to == ElementKind::F32)
      result.f = static_cast<float>(value);
    else
      result.f = roundToHalf(to, static_cast<float>(value));
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) {
        steps.push_back([=, from = *from](Frame &f) {
          setFloat(f.scalars[r], scalarToDouble(from, f.scalars[a]));
        });
        return success();
      })
      .Case([&](arith::SIToFPOp) {
        steps.push_back([=](Frame &f) {
          setFloat(f.scalars[r], toSigned(f.scalars[a].i, fromBits));
        });
        return success();
      })
      .Case([&](arith::UIToFPOp) {
        steps.push_back([=](Frame &f) {
          setFloat(f.scalars[r], toUnsigned(f.scalars[a].i, fromBits));
        });
        return success();
      })
      .Case<arith::FPToSIOp, arith::FPToUIOp>([&](auto) {
        steps.push_back([=, from = *from](Frame &f) {
          f.scalars[r].i =
              wrap(truncateToInt(scalarToDouble(from, f.scalars[a])), toBits);
        });
        return success();
      })
      .Case<arith::ExtUIOp, arith::IndexCastUIOp>([&](auto) {
        steps.push_back([=](Frame &f) {
          f.scalars[r].i = wrap(toUnsigned(f.scalars[a].i, fromBits), toBits);
        });
        return success();
      })
      .Case<arith::ExtSIOp, arith::IndexCastOp, arith::TruncIOp>([&](auto) {
        steps.push_back([=](Frame &f) {
          f.scalars[r].i = wrap(toSigned(f.scalars[a].i, fromBits), toBits);
        });
        return success();
      })
      .Case([&](arith::BitcastOp) {
        steps.push_back([=, from = *from, to = *to](Frame &f) {
          char bytes[8];
          storeElement(from, f.scalars[a], bytes);
          f.scalars[r] = loadElement(to, bytes);
        });
        return success();
      })
      .Default([&](Operation *) {
        return refuse(op, "the operation is not known to the interpreter");
      });
}

LogicalResult FunctionCompiler::compileArith(Operation *op, Steps &steps) {
  if (isa<arith::ConstantOp>(op))
    return compileConstant(op);
  if (isa<arith::SelectOp>(op))
    return compileSelect(op, steps);
  if (isa<ShapedType>(op->getResult(0).getType()))
    return refuse(op, "expected scalars");
  if (isa<arith::CmpIOp, arith::CmpFOp>(op))
    return compileCompare(op, steps);
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::CeilDivSIOp, arith::FloorDivSIOp, arith::CeilDivUIOp>(op))
    steps.push_back(checkDivisor(op, scalar(op->getOperand(1))));
  auto floats = [&](auto fn) { return binaryFloat(op, steps, fn); };
  auto ints = [&](auto fn) { return binaryInt(op, steps, fn); };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::AddFOp) {
        return floats([](auto a, auto b) { return a + b; });
      })
      .Case([&](arith::SubFOp) {
        return floats([](auto a, auto b) { return a - b; });
      })
      .Case([&](arith::MulFOp) {
        return floats([](auto a, auto b) { return a * b; });
      })
      .Case([&](arith::DivFOp) {
        return floats([](auto a, auto b) { return a / b; });
      })
      .Case([&](arith::RemFOp) {
        return floats([](auto a, auto b) { return std::fmod(a, b); });
      })
      .Case([&](arith::MaximumFOp) {
        return floats([](auto a, auto b) { return maximum(a, b); });
      })
      .Case([&](arith::MinimumFOp) {
        return floats([](auto a, auto b) { return minimum(a, b); });
      })
      .Case([&](arith::MaxNumFOp) {
        return floats([](auto a, auto b) { return std::fmax(a, b); });
      })
      .Case([&](arith::MinNumFOp) {
        return floats([](auto a, auto b) { return std::fmin(a, b); });
      })
      .Case([&](arith::NegFOp) {
        return unaryFloat(op, steps, [](auto a) { return -a; });
      })
      .Case([&](arith::AddIOp) {
        return ints(
            [](int64_t a, int64_t b, unsigned) { return addWrapping(a, b); });
      })
      .Case([&](arith::SubIOp) {
        return ints(
            [](int64_t a, int64_t b, unsigned) { return subWrapping(a, b); });
      })
      .Case([&](arith::MulIOp) {
        return ints(
            [](int64_t a, int64_t b, unsigned) { return mulWrapping(a, b); });
      })
      .Case([&](arith::DivSIOp) {
        return ints([](int64_t a, int64_t b, unsigned bits) {
          return divWrapping(toSigned(a, bits), toSigned(b, bits));
        });
      })
      .Case([&](arith::RemSIOp) {
        return ints([](int64_t a, int64_t b, unsigned bits) {
          return remWrapping(toSigned(a, bits), toSigned(b, bits));
        });
      })
      .Case([&](arith::DivUIOp) {
        return ints([](int64_t a, int64_t b, unsigned bits) {
          return static_cast<int64_t>(toUnsigned(a, bits) /
                                      toUnsigned(b, bits));
        });
      })
      .Case([&](arith::RemUIOp) {
        return ints([](int64_t a, int64_t b, unsigned bits) {
          return static_cast<int64_t>(toUnsigned(a, bits) %
                                      toUnsigned(b, bits));
        });
      })
      .Case([&](arith::FloorDivSIOp) {
        return ints([](int64_t a, int64_t b, unsigned) {
          int64_t q = divWrapping(a, b);
          return remWrapping(a, b) != 0 && (a < 0) != (b < 0) ? q - 1 : q;
        });
      })
      .Case([&](arith::CeilDivSIOp) {
        return ints([](int64_t a, int64_t b, unsigned) {
          int64_t q = divWrapping(a, b);
          return remWrapping(a, b) != 0 && (a < 0) == (b < 0) ? q + 1 : q;
        });
      })
      .Case([&](arith::CeilDivUIOp) {
        return ints([](int64_t a, int64_t b, unsigned bits) {
          uint64_t ua = toUnsigned(a, bits), ub = toUnsigned(b, bits);
          return static_cast<int64_t>(ua / ub + (ua % ub != 0));
        });
      })
      .Case([&](arith::AndIOp) {
        return ints([](int64_t a, int64_t b, unsigned) { return a & b; });
      })
      .Case([&](arith::OrIOp) {
        return ints([](int64_t a, int64_t b, unsigned) { return a | b; });
      })
      .Case([&](arith::XOrIOp) {
        return ints([](int64_t a, int64_t b, unsigned) { return a ^ b; });
      })
      .Case([&](arith::ShLIOp) {
        return ints([](int64_t a, int64_t b, unsigned bits) {
          return toUnsigned(b, bits) < bits
                     ? static_cast<int64_t>(static_cast<uint64_t>(a) << b)
                     : 0;
        });
      })
      .Case([&](arith::ShRSIOp) {
        return ints([](int64_t a, int64_t b, unsigned bits) {
          uint64_t shift = std::min<uint64_t>(toUnsigned(b, bits), bits - 1);
          return toSigned(a, bits) >> shift;
        });
      })
      .Case([&](arith::ShRUIOp) {
        return ints([](int64_t a, int64_t b, unsigned bits) {
          return toUnsigned(b, bits) < bits
                     ? static_cast<int64_t>(toUnsigned(a, bits) >> b)
                     : 0;
        });
      })
      .Case([&](arith::MaxSIOp) {
        return ints([](int64_t a, int64_t b, unsigned bits) {
          return toSigned(a, bits) > toSigned(b, bits) ? a : b;
        });
      })
      .Case([&](arith::MinSIOp) {
        return ints([](int64_t a, int64_t b, unsigned bits) {
          return toSigned(a, bits) < toSigned(b, bits) ? a : b;
        });
      })
      .Case([&](arith::MaxUIOp) {
        return ints([](int64_t a, int64_t b, unsigned bits) {
          return toUnsigned(a, bits) > toUnsigned(b, bits) ? a : b;
        });
      })
      .Case([&](arith::MinUIOp) {
        return ints([](int64_t a, int64_t b, unsigned bits) {
          return toUnsigned(a, bits) < toUnsigned(b, bits) ? a : b;
        });
      })
      .Default([&](Operation *) { return compileCast(op, steps); });
}

LogicalResult FunctionCompiler::compileMath(Operation *op, Steps &steps) {
  if (isa<ShapedType>(op->getResult(0).getType()))
    return refuse(op, "expected scalars");
  auto unary = [&](auto fn) { return unaryFloat(op, steps, fn); };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](math::ExpOp) {
        return unary([](auto a) { return std::exp(a); });
      })
      .Case([&](math::Exp2Op) {
        return unary([](auto a) { return std::exp2(a); });
      })
      .Case([&](math::ExpM1Op) {
        return unary([](auto a) { return std::expm1(a); });
      })
      .Case([&](math::TanhOp) {
        return unary([](auto a) { return std::tanh(a); });
      })
      .Case([&](math::SqrtOp) {
        return unary([](auto a) { return std::sqrt(a); });
      })
      .Case([&](math::RsqrtOp) {
        return unary([](auto a) { return decltype(a)(1) / std::sqrt(a); });
      })
      .Case([&](math::ErfOp) {
        return unary([](auto a) { return std::erf(a); });
      })
      .Case([&](math::LogOp) {
        return unary([](auto a) { return std::log(a); });
      })
      .Case([&](math::Log2Op) {
        return unary([](auto a) { return std::log2(a); });
      })
      .Case([&](math::Log1pOp) {
        return unary([](auto a) { return std::log1p(a); });
      })
      .Case([&](math::SinOp) {
        return unary([](auto a) { return std::sin(a); });
      })
      .Case([&](math::CosOp) {
        return unary([](auto a) { return std::cos(a); });
      })
      .Case([&](math::FloorOp) {
        return unary([](auto a) { return std::floor(a); });
      })
      .Case([&](math::CeilOp) {
        return unary([](auto a) { return std::ceil(a); });
      })
      .Case([&](math::TruncOp) {
        return unary([](auto a) { return std::trunc(a); });
      })
      .Case([&](math::RoundOp) {
        return unary([](auto a) { return std::round(a); });
      })
      .Case([&](math::RoundEvenOp) {
        // The default rounding mode is to nearest, ties to even.
        return unary([](auto a) { return std::nearbyint(a); });
      })
      .Case([&](math::AbsFOp) {
        return unary([](auto a) { return std::fabs(a); });
      })
      .Case([&](math::AbsIOp) {
        const unsigned a = scalar(op->getOperand(0)),
                       r = scalar(op->getResult(0)),
                       bits = bitsOf(op->getResult(0).getType());
        steps.push_back([=](Frame &f) {
          int64_t value = f.scalars[a].i;
          f.scalars[r].i =
              wrap(value < 0 ? subWrapping(0, value) : value, bits);
        });
        return success();
      })
      .Case([&](math::PowFOp) {
        return binaryFloat(op, steps,
                           [](auto a, auto b) { return std::pow(a, b); });
      })
      .Case([&](math::FmaOp fma) {
        FailureOr<ElementKind> kind = kindOf(fma.getType(), op);
        if (failed(kind))
          return LogicalResult::failure();
        if (*kind != ElementKind::F32)
          return refuse(op, "expected f32");
        const unsigned a = scalar(fma.getA()), b = scalar(fma.getB()),
                       c = scalar(fma.getC()), r = scalar(fma.getResult());
        steps.push_back([=](Frame &f) {
          f.scalars[r].f =
              std::fma(f.scalars[a].f, f.scalars[b].f, f.scalars[c].f);
        });
        return success();
      })
      .Case([&](math::FPowIOp power) {
        const unsigned n = scalar(power.getRhs());
        const unsigned a = scalar(power.getLhs()),
                       r = scalar(power.getResult());
        const bool isDouble = power.getType().isF64();
        if (!isDouble && !power.getType().isF32())
          return refuse(op, "expected f32 or f64");
        steps.push_back([=](Frame &f) {
          if (isDouble)
            f.scalars[r].d = std::pow(f.scalars[a].d, double(f.scalars[n].i));
          else
            f.scalars[r].f = std::pow(f.scalars[a].f, float(f.scalars[n].i));
        });
        return success();
      })
      .Default([&](Operation *) {
        return refuse(op, "the operation is not known to the interpreter");
      });
}
