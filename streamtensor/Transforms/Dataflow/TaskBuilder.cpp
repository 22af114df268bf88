//===- TaskBuilder.cpp - loops of a task -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Construction of task bodies.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Dataflow/TaskBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace streamtensor;
using streamtensor::itensor::ITensorType;

TaskBuilder::TaskBuilder(OpBuilder &builder, dataflow::TaskOp task,
                         const ParameterValues &maxima)
    : builder(builder), loc(task.getLoc()), start(&task.getBlock()),
      maxima(maxima) {
  builder.setInsertionPointToStart(start);
}

void TaskBuilder::setConstantInsertionPoint() {
  if (lastConstant)
    builder.setInsertionPointAfter(lastConstant);
  else
    builder.setInsertionPointToStart(start);
}

Value TaskBuilder::index(const TripCount &value) {
  Value &index = indices[value.str()];
  if (!index) {
    OpBuilder::InsertionGuard guard(builder);
    setConstantInsertionPoint();
    ParameterValues seen;
    if (value.isConstant())
      index = arith::ConstantIndexOp::create(builder, loc, value.getConstant());
    else
      index = dataflow::TripCountOp::create(
          builder, loc, builder.getIndexType(),
          builder.getStringAttr(value.str(maxima, seen)));
    lastConstant = index.getDefiningOp();
  }
  return index;
}

FailureOr<Value> TaskBuilder::captureConstant(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  if (!op || !matchPattern(op, m_Constant())) {
    user->emitError() << "expected a value from outside its body to be a "
                         "constant but got "
                      << value;
    return failure();
  }
  Value &copy = captured[value];
  if (!copy) {
    OpBuilder::InsertionGuard guard(builder);
    setConstantInsertionPoint();
    lastConstant = builder.clone(*op);
    copy = lastConstant->getResult(0);
  }
  return copy;
}

TaskBuilder::Values
TaskBuilder::loop(const TripCount &trip, StringRef label, ValueRange carried,
                  function_ref<Values(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(builder, loc, index(0), index(trip), index(1),
                                 carried);
  if (!label.empty())
    loop->setAttr("hls.label", builder.getStringAttr(label));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Values results = body(loop.getInductionVar(), loop.getRegionIterArgs());
  // A loop without carried values comes with its terminator.
  if (carried.empty())
    return {};
  builder.setInsertionPointToEnd(loop.getBody());
  scf::YieldOp::create(builder, loc, results);
  return llvm::to_vector_of<Value>(loop.getResults());
}

TaskBuilder::Values
TaskBuilder::nest(ArrayRef<TripCount> trips, StringRef label,
                  ValueRange carried,
                  function_ref<Values(ValueRange, ValueRange)> body) {
  Values ivs;
  std::function<Values(size_t, ValueRange)> level =
      [&](size_t depth, ValueRange values) -> Values {
    if (depth == trips.size())
      return body(ivs, values);
    std::string name = label.str();
    if (trips.size() > 1)
      name += std::to_string(depth);
    return loop(trips[depth], name, values, [&](Value iv, ValueRange inner) {
      ivs.push_back(iv);
      Values results = level(depth + 1, inner);
      ivs.pop_back();
      return results;
    });
  };
  return level(0, carried);
}

OpFoldResult TaskBuilder::offset(ArrayRef<std::pair<Value, int64_t>> terms) {
  if (terms.empty())
    return builder.getIndexAttr(0);
  if (terms.size() == 1 && terms.front().second == 1)
    return terms.front().first;
  AffineExpr sum = builder.getAffineConstantExpr(0);
  Values operands;
  for (auto [iv, step] : terms) {
    sum = sum + builder.getAffineDimExpr(operands.size()) * step;
    operands.push_back(iv);
  }
  auto map = AffineMap::get(operands.size(), 0, sum);
  return affine::AffineApplyOp::create(builder, loc, map, operands).getResult();
}

SmallVector<OpFoldResult> TaskBuilder::offsets(const SymbolicOrder &order,
                                               ValueRange ivs) {
  SmallVector<OpFoldResult> result;
  for (const std::vector<unsigned> &loops : order.map) {
    SmallVector<std::pair<Value, int64_t>> terms;
    for (unsigned loop : loops)
      terms.emplace_back(ivs[loop], order.steps[loop]);
    result.push_back(offset(terms));
  }
  return result;
}

Value TaskBuilder::read(Value source) {
  auto type = cast<ITensorType>(source.getType());
  Type token = type.getTokenType();
  Value init;
  if (auto tensor = dyn_cast<RankedTensorType>(token))
    init = tensor::EmptyOp::create(builder, loc, tensor.getShape(),
                                   tensor.getElementType());
  return itensor::ReadOp::create(builder, loc, token, source, init);
}

Value TaskBuilder::write(Value token, Value dest) {
  return itensor::WriteOp::create(builder, loc, dest.getType(), token, dest);
}

Value TaskBuilder::require(Value condition, arith::CmpIPredicate predicate,
                           Value value, const TripCount &bound) {
  Value test =
      arith::CmpIOp::create(builder, loc, predicate, value, index(bound));
  return condition
             ? arith::AndIOp::create(builder, loc, condition, test).getResult()
             : test;
}

Value TaskBuilder::requireRange(Value condition, Value iv,
                                const TripCount &trip, const TripCount &first,
                                const TripCount &last) {
  if (!first.isConstant(0))
    condition = require(condition, arith::CmpIPredicate::sge, iv, first);
  bool reachesEnd = last == trip || (last.isConstant() && trip.isConstant() &&
                                     last.getConstant() >= trip.getConstant());
  if (!reachesEnd)
    condition = require(condition, arith::CmpIPredicate::slt, iv, last);
  return condition;
}

Value TaskBuilder::branch(Value condition, Type type,
                          function_ref<Value()> then,
                          function_ref<Value()> otherwise) {
  if (!condition)
    return then();
  auto op = scf::IfOp::create(builder, loc, type, condition,
                              /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  scf::YieldOp::create(builder, loc, then());
  builder.setInsertionPointToStart(op.elseBlock());
  scf::YieldOp::create(builder, loc, otherwise());
  return op.getResult(0);
}

SmallVector<OpFoldResult> streamtensor::asIndexAttrs(OpBuilder &builder,
                                                     ArrayRef<int64_t> values) {
  return llvm::map_to_vector(values, [&](int64_t value) -> OpFoldResult {
    return builder.getIndexAttr(value);
  });
}

std::string streamtensor::baseName(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>("st.name"))
    return name.getValue().str();
  return op->getName().stripDialect().str();
}

/// The first file position in `loc`, searched depth first.
static FileLineColLoc findPosition(Location loc) {
  FileLineColLoc found;
  loc->walk([&](Location inner) {
    if (auto position = dyn_cast<FileLineColLoc>(inner)) {
      found = position;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return found;
}

std::string streamtensor::describeSource(Operation *op) {
  std::string text = op->getName().getStringRef().str();
  if (FileLineColLoc position = findPosition(op->getLoc())) {
    StringRef file = position.getFilename().getValue();
    text += " at " + file.substr(file.rfind('/') + 1).str() + ":" +
            std::to_string(position.getLine());
  }
  return text;
}
