//===- OperatorLibrary.cpp - Units that compute operations ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading operators.json, and which operator an operation needs.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/OperatorLibrary.h"

#include "streamtensor/Target/Device/ObjectReader.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace streamtensor;

static const char *const kStandardOperators =
#include "Operators.inc"
    ;

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

std::optional<OperatorLibrary> OperatorLibrary::parse(StringRef text,
                                                      std::string &error) {
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(text);
  if (!parsed) {
    error = llvm::toString(parsed.takeError());
    return std::nullopt;
  }
  const llvm::json::Object *object = parsed->getAsObject();
  if (!object) {
    error = "expected an object";
    return std::nullopt;
  }
  ObjectReader reader(*object, "file", error);
  const llvm::json::Array *list = reader.list("operators");
  if (!list || !reader.finish())
    return std::nullopt;
  OperatorLibrary library;
  for (const llvm::json::Value &value : *list) {
    const llvm::json::Object *entry = value.getAsObject();
    if (!entry) {
      error = "file.operators: expected objects";
      return std::nullopt;
    }
    OperatorInfo info;
    std::string origin;
    ObjectReader fields(
        *entry, entry->getString("name").value_or("operator").str(), error);
    if (!fields.text("name", info.name) ||
        !fields.integer("latency", info.latency) ||
        !fields.integer("dsp", info.dsp) || !fields.integer("lut", info.lut) ||
        !fields.integer("ff", info.ff) ||
        !fields.positive("clock_ns", info.clockNs) ||
        !fields.text("origin", origin) || !fields.text("source", info.source) ||
        !fields.finish())
      return std::nullopt;
    if (origin != "published" && origin != "ours") {
      fields.fail("origin", "expected 'published' or 'ours'");
      return std::nullopt;
    }
    info.published = origin == "published";
    if (info.source.empty()) {
      fields.fail("source", "expected where the figures come from");
      return std::nullopt;
    }
    if (library.find(info.name)) {
      fields.fail("name", "expected each operator once");
      return std::nullopt;
    }
    library.infos.push_back(std::move(info));
  }
  return library;
}

const OperatorLibrary &OperatorLibrary::standard() {
  static const OperatorLibrary library = [] {
    std::string error;
    std::optional<OperatorLibrary> parsed = parse(kStandardOperators, error);
    if (!parsed)
      llvm::report_fatal_error(llvm::Twine("operators.json: ") + error);
    // The file has one bit of it.
    const OperatorInfo bit = parsed->get("int");
    for (int64_t bits = 1; bits <= 64; ++bits) {
      OperatorInfo unit = bit;
      unit.name += "_" + std::to_string(bits);
      unit.lut *= bits;
      parsed->infos.push_back(std::move(unit));
    }
    return *parsed;
  }();
  return library;
}

const OperatorInfo *OperatorLibrary::find(StringRef name) const {
  for (const OperatorInfo &info : infos)
    if (name == info.name)
      return &info;
  return nullptr;
}

const OperatorInfo &OperatorLibrary::get(StringRef name) const {
  const OperatorInfo *info = find(name);
  if (!info)
    llvm::report_fatal_error(llvm::Twine("operators.json: no operator '") +
                             name + "'");
  return *info;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Bits of the number that `value` is, before its extension.
static int64_t extendedBits(Value value) {
  while (isa_and_nonnull<arith::ExtSIOp, arith::ExtUIOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value.getType().getIntOrFloatBitWidth();
}

/// How many operations are followed from a value; a sum of 256 lanes has eight.
constexpr unsigned kMaxSteps = 10;

/// Bits of the least signed type that `value` fits, by what computes it.
static int64_t numberBits(Value value, unsigned steps = kMaxSteps) {
  const int64_t width = value.getType().getIntOrFloatBitWidth();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSignificantBits();
  Operation *op = value.getDefiningOp();
  if (!op || steps == 0)
    return width;
  auto bits = [&](unsigned operand) {
    return numberBits(op->getOperand(operand), steps - 1);
  };
  int64_t found = width;
  if (isa<arith::ExtSIOp, arith::TruncIOp>(op))
    found = bits(0);
  else if (auto extend = dyn_cast<arith::ExtUIOp>(op))
    found = extend.getIn().getType().getIntOrFloatBitWidth() + 1;
  else if (isa<arith::AddIOp, arith::SubIOp>(op))
    found = std::max(bits(0), bits(1)) + 1;
  else if (isa<arith::MulIOp>(op))
    found = bits(0) + bits(1);
  else if (isa<arith::AndIOp>(op) &&
           matchPattern(op->getOperand(1), m_ConstantInt(&constant)) &&
           constant.isNonNegative())
    found = constant.getSignificantBits();
  return std::min(found, width);
}

/// Bits of `value` that are kept of it. Lower bits of sums, products and
/// logical operations follow from lower bits: what is truncated later was never
/// needed.
static int64_t keptBits(Value value, unsigned steps = kMaxSteps) {
  const int64_t width = value.getType().getIntOrFloatBitWidth();
  if (steps == 0 || value.use_empty())
    return width;
  int64_t kept = 0;
  for (Operation *user : value.getUsers()) {
    if (auto truncate = dyn_cast<arith::TruncIOp>(user))
      kept =
          std::max<int64_t>(kept, truncate.getType().getIntOrFloatBitWidth());
    else if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp,
                 arith::OrIOp, arith::XOrIOp>(user))
      kept = std::max(kept, keptBits(user->getResult(0), steps - 1));
    else
      return width;
  }
  return std::min(kept, width);
}

/// Bits of the unit that computes a sum, a comparison or the like.
static int64_t unitBits(Operation *op) {
  int64_t bits = 1;
  for (Value operand : op->getOperands())
    bits = std::max(bits, numberBits(operand));
  if (!isa<arith::AddIOp, arith::SubIOp, arith::AndIOp, arith::OrIOp,
           arith::XOrIOp>(op))
    return bits;
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    ++bits;
  return std::min(bits, keptBits(op->getResult(0)));
}

/// The unit that computes an operation on integers that are data.
static std::string integerUnit(Operation *op) {
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
          arith::FloorDivSIOp, arith::CeilDivSIOp>(op))
    return "idiv";
  if (!isa<arith::MulIOp>(op))
    return "int_" + std::to_string(std::min<int64_t>(unitBits(op), 64));
  const int64_t bits = std::max(extendedBits(op->getOperand(0)),
                                extendedBits(op->getOperand(1)));
  return bits <= 8    ? "mul_8"
         : bits <= 18 ? "mul_18"
         : bits <= 32 ? "mul_32"
                      : "mul_64";
}

/// The name of the unit for one of the operators that exist for each type of
/// floats: `base` is mul, add, add_fabric, div or exp.
static std::string floatUnit(Operation *op, StringRef base) {
  Type type = op->getResult(0).getType();
  if (type.isBF16())
    return (base + "_bf16").str();
  if (type.isF16())
    return (base + "_f16").str();
  bool isDouble = type.isF64() && (base == "mul" || base == "add" ||
                                   base == "add_fabric" || base == "div");
  if (isDouble)
    return ("d" + base.take_front(3)).str();
  return ("f" + base).str();
}

static std::string unitName(Operation *op, bool carried) {
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<arith::MulFOp>([](auto op) { return floatUnit(op, "mul"); })
      .Case<arith::AddFOp, arith::SubFOp>([&](auto op) {
        return floatUnit(op, carried ? "add_fabric" : "add");
      })
      .Case<arith::DivFOp>([](arith::DivFOp div) {
        // Division by a constant becomes a product, 1 / x a reciprocal.
        if (div.getRhs().getDefiningOp<arith::ConstantOp>())
          return floatUnit(div, "mul");
        auto one = div.getLhs().getDefiningOp<arith::ConstantOp>();
        auto value = one ? dyn_cast<FloatAttr>(one.getValue()) : nullptr;
        if (div.getType().isF32() && value && value.getValueAsDouble() == 1.0)
          return std::string("frecip");
        return floatUnit(div, "div");
      })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
            arith::MinNumFOp>([](auto) { return "fmax"; })
      .Case<arith::CmpFOp>([](auto) { return "fcmp"; })
      .Case<arith::SelectOp>([](auto) { return "select"; })
      .Case<arith::SIToFPOp, arith::UIToFPOp>([](auto) { return "sitofp"; })
      .Case<arith::FPToSIOp, arith::FPToUIOp>([](auto) { return "fptosi"; })
      .Case<arith::TruncFOp>([](arith::TruncFOp cast) {
        return cast.getIn().getType().isF64() ? "fptrunc" : "round_16";
      })
      .Case<arith::ExtFOp>([](arith::ExtFOp cast) {
        return cast.getType().isF64() ? "fpext" : "";
      })
      .Case<arith::ConstantOp, arith::NegFOp, arith::IndexCastOp,
            arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp, math::AbsFOp>(
          [](auto) { return ""; })
      .Case<math::ExpOp, math::Exp2Op>(
          [](auto op) { return floatUnit(op, "exp"); })
      .Case<math::RoundOp, math::RoundEvenOp, math::FloorOp, math::CeilOp,
            math::TruncOp>([](auto) { return "fround"; })
      .Case<math::SqrtOp>([](auto) { return "fsqrt"; })
      .Case<math::RsqrtOp>([](auto) { return "frsqrt"; })
      .Case<math::TanhOp>([](auto) { return "ftanh"; })
      .Case<math::LogOp, math::Log2Op, math::Log10Op, math::Log1pOp>(
          [](auto) { return "flog"; })
      .Case<math::PowFOp>([](auto) { return "fpow"; })
      .Default([](Operation *op) -> std::string {
        bool isMath = isa_and_nonnull<math::MathDialect>(op->getDialect());
        bool isArith = isa_and_nonnull<arith::ArithDialect>(op->getDialect());
        if ((isMath || isArith) &&
            llvm::all_of(op->getOperandTypes(), llvm::IsaPred<IntegerType>))
          return integerUnit(op);
        if (isMath)
          return "ffunction";
        if (isArith || isa<affine::AffineApplyOp>(op))
          return "index";
        return "";
      });
}

const OperatorInfo *streamtensor::operatorOf(Operation *op, bool carried) {
  std::string name = unitName(op, carried);
  return name.empty() ? nullptr : &OperatorLibrary::standard().get(name);
}

bool streamtensor::isAddress(const OperatorInfo &unit) {
  return unit.name == "index" || unit.name == "address_mac";
}

int64_t streamtensor::carriedLatency(Operation *op) {
  const OperatorInfo *unit = operatorOf(op, /*carried=*/true);
  return unit ? unit->latency : 0;
}
