//===- BuildDataflow.cpp - scheduled ops become kernels -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns each scheduled operation into a kernel with one task over itensors.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Dataflow/Passes.h"

#include "streamtensor/Analysis/SizeConsistency.h"
#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Dialect/Dataflow/IR/Widths.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Transforms/Dataflow/IterationSpace.h"
#include "streamtensor/Transforms/Dataflow/TaskBuilder.h"
#include "streamtensor/Transforms/Dataflow/WindowTask.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace streamtensor {
#define GEN_PASS_DEF_BUILDDATAFLOW
#include "streamtensor/Transforms/Dataflow/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::dataflow;
using streamtensor::itensor::ITensorType;
using Values = TaskBuilder::Values;

namespace {

/// A kernel with one task, ready to be filled.
struct KernelShell {
  KernelOp kernel;
  TaskOp task;
};

/// Creates kernel and task `name` in place of `op`: one itensor argument per
/// input, one result. The task's body is left to the caller.
KernelShell createShell(OpBuilder &builder, Operation *op, StringRef name,
                        ValueRange inputs, TypeRange streams,
                        ITensorType resultStream) {
  Location loc = op->getLoc();
  auto kernel = KernelOp::create(builder, loc, name, op->getResultTypes(),
                                 inputs, streams);
  if (Attribute dims = op->getDiscardableAttr(kDimsAttr))
    kernel->setDiscardableAttr(kDimsAttr, dims);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&kernel.getBlock());
  Value empty = itensor::EmptyOp::create(builder, loc, resultStream);
  auto task = TaskOp::create(builder, loc, name, "compute", ValueRange{empty});
  task->setAttr("source", builder.getStringAttr(describeSource(op)));
  for (StringRef name : {StringRef(kScheduleReasonAttr), StringRef(kBitsAttr)})
    if (Attribute value = op->getAttr(name))
      task->setAttr(name, value);
  YieldOp::create(builder, loc, task.getResults());
  return {kernel, task};
}

/// The same for `op`, which reads one tensor, in the orders of its schedule.
KernelShell createShell(OpBuilder &builder, Operation *op, StringRef name) {
  auto schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttr);
  auto stream = [&](Value tensor, const SymbolicOrder &order) {
    return ITensorType::get(
        cast<RankedTensorType>(tensor.getType()).getElementType(), order);
  };
  Value source = op->getOperand(0), result = op->getResult(0);
  return createShell(
      builder, op, name, source,
      TypeRange{Type(stream(source, operandOrder(op, schedule, 0)))},
      stream(result, resultOrder(op, schedule)));
}

/// Whether the loops with the induction variables `ivs` stand in the part of a
/// tensor of shape `whole` that has these offsets and sizes; null when the part
/// is all of it.
Value requirePart(TaskBuilder &task, const LoopSpace &space, ValueRange ivs,
                  ArrayRef<int64_t> offsets, ArrayRef<TripCount> sizes,
                  ArrayRef<TripCount> whole) {
  Value inside;
  for (auto [loop, dim] : llvm::enumerate(space.dims)) {
    // Parts are whole iterations of the outermost loop.
    if (sizes[dim] == whole[dim] ||
        llvm::is_contained(ArrayRef(space.dims).take_front(loop), dim))
      continue;
    TripCount first = offsets[dim] / space.steps[loop];
    TripCount last = first + sizes[dim].dividedBy(space.steps[loop]);
    inside =
        task.requireRange(inside, ivs[loop], space.trips[loop], first, last);
  }
  return inside;
}

void finishTask(OpBuilder &builder, TaskOp task, ValueRange results) {
  builder.setInsertionPointToEnd(&task.getBlock());
  YieldOp::create(builder, task.getLoc(), results);
}

//===----------------------------------------------------------------------===//
// Linalg operations
//===----------------------------------------------------------------------===//

/// Writes the task of one Linalg generic.
class GenericTask {
public:
  GenericTask(OpBuilder &builder, linalg::GenericOp op, StringRef name)
      : builder(builder), op(op), name(name),
        schedule(op->getAttrOfType<ScheduleAttr>(kScheduleAttr)),
        space(iterationSizes(op), schedule), plan(op, schedule, space),
        maps(op.getIndexingMapsArray()) {}

  FailureOr<KernelOp> run() {
    if (failed(findInit()))
      return failure();
    Type elementType =
        cast<RankedTensorType>(op.getResult(0).getType()).getElementType();
    SmallVector<Value> inputs;
    SmallVector<Type> streams;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand->get().getType());
      if (!type)
        return op.emitError("expected tensor inputs");
      SymbolicOrder order = deriveOrder(
          space, maps[operand->getOperandNumber()], depths.emplace_back());
      inputs.push_back(operand->get());
      streams.push_back(ITensorType::get(type.getElementType(), order));
    }
    KernelShell shell = createShell(builder, op, name, inputs, streams,
                                    ITensorType::get(elementType, plan.order));
    int64_t macs = countMacs();
    if (macs != 0)
      shell.task->setAttr("macs", builder.getI64IntegerAttr(macs));

    OpBuilder::InsertionGuard guard(builder);
    TaskBuilder taskBuilder(builder, shell.task, space.maxima);
    task = &taskBuilder;
    streamValues =
        llvm::to_vector_of<Value>(shell.kernel.getBlock().getArguments());
    tokens.assign(streamValues.size(), Value());
    if (failed(cloneInit()) || failed(captureBody()))
      return failure();
    readTokens(0);
    Value dest = shell.task.getBlock().getArgument(0);
    Values results = outerLoops(0, dest);
    finishTask(builder, shell.task, results);
    return shell.kernel;
  }

private:
  bool isReduction(int64_t dim) {
    return op.getIteratorTypesArray()[dim] == utils::IteratorType::reduction;
  }

  bool hasReduction() { return op.getNumReductionLoops() != 0; }

  /// Multiply-accumulates of a contraction: the points of its iteration space.
  int64_t countMacs() {
    if (!isContraction(op))
      return 0;
    int64_t points = 1;
    for (int64_t extent : op.getStaticLoopRanges())
      points *= extent;
    return points;
  }

  /// A reduction starts from a filled tensor.
  LogicalResult findInit() {
    if (!hasReduction())
      return success();
    auto fill = op.getDpsInits().front().getDefiningOp<linalg::FillOp>();
    if (!fill)
      return op.emitError("expected the init of a reduction to be a "
                          "linalg.fill");
    fillValue = fill.getInputs().front();
    return success();
  }

  LogicalResult cloneInit() {
    if (!fillValue)
      return success();
    FailureOr<Value> constant = task->captureConstant(fillValue, op);
    if (failed(constant))
      return failure();
    fillValue = *constant;
    return success();
  }

  /// Copies the constants that the body uses from outside into the task.
  LogicalResult captureBody() {
    WalkResult result = op.getRegion().walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        if (op.getRegion().isAncestor(operand.getParentRegion()))
          continue;
        FailureOr<Value> constant = task->captureConstant(operand, op);
        if (failed(constant))
          return WalkResult::interrupt();
        bodyCaptures.map(operand, *constant);
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Pulls the tokens of all operands that change with the loop just opened.
  void readTokens(size_t openLoops) {
    for (auto [i, stream] : llvm::enumerate(streamValues))
      if (depths[i] == openLoops)
        tokens[i] = task->read(stream);
  }

  std::string loopLabel(size_t loop) {
    return (isReduction(space.dims[loop]) ? "reduce" : "loop") +
           std::to_string(loop);
  }

  /// The loops outside the first reduction loop; they carry the destination.
  Values outerLoops(size_t depth, Value dest) {
    if (depth < plan.firstReduction)
      return task->loop(space.trips[depth], loopLabel(depth), dest,
                        [&](Value iv, ValueRange carried) {
                          ivs.push_back(iv);
                          readTokens(depth + 1);
                          Values results =
                              outerLoops(depth + 1, carried.front());
                          ivs.pop_back();
                          return results;
                        });
    if (!hasReduction()) {
      Value result = compute(emptyToken());
      return {task->write(result, dest)};
    }
    return reduce(dest);
  }

  Type resultElementType() {
    return cast<RankedTensorType>(op.getResult(0).getType()).getElementType();
  }

  /// One token of the result.
  RankedTensorType tokenType() {
    return RankedTensorType::get(plan.order.element, resultElementType());
  }

  /// One cell of the accumulator: a tile of the result.
  RankedTensorType cellType() {
    SmallVector<int64_t> shape;
    for (AffineExpr result : maps.back().getResults())
      shape.push_back(space.tile[cast<AffineDimExpr>(result).getPosition()]);
    return RankedTensorType::get(shape, resultElementType());
  }

  Value emptyToken() {
    RankedTensorType type = tokenType();
    return tensor::EmptyOp::create(builder, op.getLoc(), type.getShape(),
                                   type.getElementType());
  }

  /// Accumulator: the parallel loops inside the first reduction loop, times the
  /// token. Filled, updated by the inner loops, drained into `dest`.
  Values reduce(Value dest) {
    Location loc = op.getLoc();
    SmallVector<int64_t> shape;
    SmallVector<TripCount> drainTrips;
    for (size_t loop : plan.accumulatorLoops)
      shape.push_back(space.largestTrip(loop));
    for (const DrainLoop &loop : plan.drainLoops)
      drainTrips.push_back(loop.trip);
    llvm::append_range(shape, cellType().getShape());
    auto empty =
        tensor::EmptyOp::create(builder, loc, shape, resultElementType());
    empty->setAttr("hls.name", builder.getStringAttr("acc"));
    Value filled =
        linalg::FillOp::create(builder, loc, fillValue, empty.getResult())
            .getResult(0);
    Value sum = innerLoops(plan.firstReduction, filled);
    return task->nest(drainTrips, "drain", dest,
                      [&](ValueRange drainIvs, ValueRange carried) -> Values {
                        Value result = drainSlice(sum, drainIvs);
                        return {task->write(result, carried.front())};
                      });
  }

  /// The token of the accumulator that the drain loops have reached.
  Value drainSlice(Value accumulator, ValueRange drainIvs) {
    if (drainIvs.empty())
      return accumulator;
    size_t numLoops = plan.accumulatorLoops.size();
    SmallVector<OpFoldResult> offsets(numLoops + plan.order.element.size(),
                                      builder.getIndexAttr(0));
    SmallVector<OpFoldResult> sizes(numLoops, builder.getIndexAttr(1));
    llvm::append_range(sizes, asIndexAttrs(builder, plan.order.element));
    for (auto [loop, iv] : llvm::zip_equal(plan.drainLoops, drainIvs)) {
      if (loop.accumulatorLoop)
        offsets[llvm::find(plan.accumulatorLoops, *loop.accumulatorLoop) -
                plan.accumulatorLoops.begin()] = iv;
      else
        offsets[numLoops + loop.result] = task->offset({{iv, loop.step}});
    }
    return tensor::ExtractSliceOp::create(
        builder, op.getLoc(), tokenType(), accumulator, offsets, sizes,
        SmallVector<OpFoldResult>(offsets.size(), builder.getIndexAttr(1)));
  }

  Value innerLoops(size_t depth, Value accumulator) {
    if (depth < space.size())
      return task
          ->loop(space.trips[depth], loopLabel(depth), accumulator,
                 [&](Value iv, ValueRange carried) -> Values {
                   ivs.push_back(iv);
                   readTokens(depth + 1);
                   Value result = innerLoops(depth + 1, carried.front());
                   ivs.pop_back();
                   return {result};
                 })
          .front();
    Values cellIvs;
    for (size_t loop : plan.accumulatorLoops)
      cellIvs.push_back(ivs[loop]);
    if (cellIvs.empty())
      return compute(accumulator);
    Value cell = accumulatorSlice(accumulator, cellIvs);
    Value updated = compute(cell);
    SmallVector<OpFoldResult> offsets, sizes;
    accumulatorPosition(cellIvs, offsets, sizes);
    return tensor::InsertSliceOp::create(
        builder, op.getLoc(), updated, accumulator, offsets, sizes,
        SmallVector<OpFoldResult>(offsets.size(), builder.getIndexAttr(1)));
  }

  void accumulatorPosition(ValueRange cellIvs,
                           SmallVectorImpl<OpFoldResult> &offsets,
                           SmallVectorImpl<OpFoldResult> &sizes) {
    for (Value iv : cellIvs) {
      offsets.push_back(iv);
      sizes.push_back(builder.getIndexAttr(1));
    }
    for (int64_t size : cellType().getShape()) {
      offsets.push_back(builder.getIndexAttr(0));
      sizes.push_back(builder.getIndexAttr(size));
    }
  }

  Value accumulatorSlice(Value accumulator, ValueRange cellIvs) {
    if (cellIvs.empty())
      return accumulator;
    SmallVector<OpFoldResult> offsets, sizes;
    accumulatorPosition(cellIvs, offsets, sizes);
    return tensor::ExtractSliceOp::create(
        builder, op.getLoc(), cellType(), accumulator, offsets, sizes,
        SmallVector<OpFoldResult>(offsets.size(), builder.getIndexAttr(1)));
  }

  /// The operation on one tile: the same body on tokens, with `out` as the
  /// destination.
  Value compute(Value out) {
    auto tileOp = linalg::GenericOp::create(
        builder, op.getLoc(), TypeRange{out.getType()}, ValueRange(tokens),
        ValueRange{out}, op.getIndexingMapsArray(), op.getIteratorTypesArray());
    tileOp->setAttr("dataflow.unroll",
                    builder.getDenseI64ArrayAttr(schedule.getUnroll()));
    tileOp->setAttr("dataflow.order",
                    builder.getDenseI64ArrayAttr(schedule.getInnermostOrder()));
    IRMapping mapping = bodyCaptures;
    op.getRegion().cloneInto(&tileOp.getRegion(), mapping);
    addLoopOffsets(tileOp);
    return tileOp.getResult(0);
  }

  /// `linalg.index` counts within the tile: add the offset of the tile.
  void addLoopOffsets(linalg::GenericOp tileOp) {
    SmallVector<linalg::IndexOp> indices;
    tileOp.getRegion().walk(
        [&](linalg::IndexOp index) { indices.push_back(index); });
    for (linalg::IndexOp index : indices) {
      SmallVector<std::pair<Value, int64_t>> terms;
      for (auto [loop, dim] : llvm::enumerate(space.dims))
        if (dim == static_cast<int64_t>(index.getDim()))
          terms.emplace_back(ivs[loop], space.steps[loop]);
      if (terms.empty())
        continue;
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(tileOp);
      OpFoldResult offset = task->offset(terms);
      builder.setInsertionPointAfter(index);
      auto sum = arith::AddIOp::create(builder, op.getLoc(), index.getResult(),
                                       cast<Value>(offset));
      index.getResult().replaceAllUsesExcept(sum, sum);
    }
  }

  OpBuilder &builder;
  linalg::GenericOp op;
  StringRef name;
  ScheduleAttr schedule;
  LoopSpace space;
  ResultPlan plan;
  SmallVector<AffineMap> maps;
  TaskBuilder *task = nullptr;
  SmallVector<size_t> depths;
  Values streamValues, tokens, ivs;
  Value fillValue;
  IRMapping bodyCaptures;
};

//===----------------------------------------------------------------------===//
// Slices and concatenations
//===----------------------------------------------------------------------===//

/// A slice: every token of the source is read, those inside are passed on.
FailureOr<KernelOp> buildSlice(OpBuilder &builder, tensor::ExtractSliceOp op,
                               StringRef name) {
  auto schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttr);
  RuntimeShape whole = iterationSizes(op);
  LoopSpace space(whole, schedule);
  KernelShell shell = createShell(builder, op, name);
  OpBuilder::InsertionGuard guard(builder);
  TaskBuilder task(builder, shell.task, space.maxima);
  Value source = shell.kernel.getBlock().getArgument(0);
  Value dest = shell.task.getBlock().getArgument(0);
  Values results =
      task.nest(space.trips, "loop", dest,
                [&](ValueRange ivs, ValueRange carried) -> Values {
                  Value token = task.read(source), current = carried.front();
                  Value inside =
                      requirePart(task, space, ivs, op.getStaticOffsets(),
                                  shapeOf(op.getResult()).sizes, whole.sizes);
                  return {task.branch(
                      inside, current.getType(),
                      [&] { return task.write(token, current); },
                      [&] { return current; })};
                });
  finishTask(builder, shell.task, results);
  return shell.kernel;
}

/// The windows of a tensor: a line buffer.
FailureOr<KernelOp> buildWindows(OpBuilder &builder, linalg::GenericOp op,
                                 StringRef name) {
  auto schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttr);
  WindowPlan plan(op, schedule);
  KernelShell shell = createShell(builder, op, name);
  OpBuilder::InsertionGuard guard(builder);
  TaskBuilder task(builder, shell.task);
  Values results =
      buildWindowTask(task, op, plan, shell.kernel.getBlock().getArgument(0),
                      shell.task.getBlock().getArgument(0));
  finishTask(builder, shell.task, results);
  return shell.kernel;
}

/// A padding: the tokens of the source where it lies, constants around it.
FailureOr<KernelOp> buildPad(OpBuilder &builder, tensor::PadOp op,
                             StringRef name) {
  auto schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttr);
  RuntimeShape whole = iterationSizes(op);
  LoopSpace space(whole, schedule);
  KernelShell shell = createShell(builder, op, name);
  OpBuilder::InsertionGuard guard(builder);
  TaskBuilder task(builder, shell.task, space.maxima);
  Location loc = op.getLoc();
  FailureOr<Value> constant =
      task.captureConstant(op.getConstantPaddingValue(), op);
  if (failed(constant))
    return failure();
  Value source = shell.kernel.getBlock().getArgument(0);
  Value dest = shell.task.getBlock().getArgument(0);
  Values results = task.nest(
      space.trips, "loop", dest,
      [&](ValueRange ivs, ValueRange carried) -> Values {
        Value current = carried.front();
        Value inside = requirePart(task, space, ivs, op.getStaticLow(),
                                   shapeOf(op.getSource()).sizes, whole.sizes);
        return {task.branch(
            inside, current.getType(),
            [&] { return task.write(task.read(source), current); },
            [&] {
              Value token = *constant;
              if (!schedule.getTile().empty()) {
                token = tensor::EmptyOp::create(
                    builder, loc, SmallVector<int64_t>(schedule.getTile()),
                    op.getType().getElementType());
                token = linalg::FillOp::create(builder, loc, *constant, token)
                            .getResult(0);
              }
              return task.write(token, current);
            })};
      });
  finishTask(builder, shell.task, results);
  return shell.kernel;
}

/// A concatenation: outside the concatenated dimension the loops are shared,
/// inside them the parts follow each other.
FailureOr<KernelOp> buildConcat(OpBuilder &builder, tensor::ConcatOp op,
                                StringRef name) {
  auto schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttr);
  int64_t axis = op.getDim();
  Type elementType = op.getResultType().getElementType();
  std::vector<LoopSpace> parts;
  SmallVector<Type> streams;
  for (auto [i, input] : llvm::enumerate(op.getInputs())) {
    parts.emplace_back(shapeOf(input), schedule);
    streams.push_back(
        ITensorType::get(elementType, operandOrder(op, schedule, i)));
  }
  LoopSpace space(iterationSizes(op), schedule);
  KernelShell shell =
      createShell(builder, op, name, op.getInputs(), streams,
                  ITensorType::get(elementType, resultOrder(op, schedule)));
  OpBuilder::InsertionGuard guard(builder);
  TaskBuilder task(builder, shell.task, space.maxima);
  // The loops outside the axis are equal in all parts.
  ArrayRef<TripCount> outerTrips =
      ArrayRef<TripCount>(space.trips)
          .take_front(llvm::find(space.dims, axis) - space.dims.begin());
  Value dest = shell.task.getBlock().getArgument(0);
  Values results = task.nest(
      outerTrips, "loop", dest, [&](ValueRange, ValueRange carried) -> Values {
        Value current = carried.front();
        for (auto [i, part] : llvm::enumerate(parts)) {
          ArrayRef<TripCount> innerTrips =
              ArrayRef<TripCount>(part.trips).drop_front(outerTrips.size());
          Value stream = shell.kernel.getBlock().getArgument(i);
          current =
              task.nest(innerTrips, "part" + std::to_string(i) + "_", current,
                        [&](ValueRange, ValueRange inner) -> Values {
                          Value token = task.read(stream);
                          return {task.write(token, inner.front())};
                        })
                  .front();
        }
        return {current};
      });
  finishTask(builder, shell.task, results);
  return shell.kernel;
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

class BuildDataflow
    : public streamtensor::impl::BuildDataflowBase<BuildDataflow> {
public:
  using streamtensor::impl::BuildDataflowBase<BuildDataflow>::BuildDataflowBase;

  void runOnOperation() override {
    // Loops follow from sizes, so these must agree whoever wrote the text.
    if (failed(checkSizes(getOperation())))
      return signalPassFailure();
    SmallVector<Operation *> worklist;
    getOperation().walk([&](Operation *op) {
      if (isSchedulable(op) && !op->getParentOfType<KernelOp>())
        worklist.push_back(op);
    });
    OpBuilder builder(&getContext());
    for (Operation *op : worklist) {
      auto schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttr);
      if (!schedule) {
        op->emitOpError("expected a schedule (run --st-schedule-ops first)");
        return signalPassFailure();
      }
      if (failed(checkSchedule(op, schedule)))
        return signalPassFailure();
      builder.setInsertionPoint(op);
      FailureOr<KernelOp> kernel = build(builder, op, uniqueName(op));
      if (failed(kernel))
        return signalPassFailure();
      op->replaceAllUsesWith(*kernel);
      op->erase();
    }
    eraseDeadInits();
  }

private:
  FailureOr<KernelOp> build(OpBuilder &builder, Operation *op, StringRef name) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
      return buildSlice(builder, slice, name);
    if (auto concat = dyn_cast<tensor::ConcatOp>(op))
      return buildConcat(builder, concat, name);
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      return buildPad(builder, pad, name);
    if (isWindow(op))
      return buildWindows(builder, cast<linalg::GenericOp>(op), name);
    return GenericTask(builder, cast<linalg::GenericOp>(op), name).run();
  }

  std::string uniqueName(Operation *op) {
    std::string base = baseName(op);
    for (char &c : base)
      if (!llvm::isAlnum(c))
        c = '_';
    return base + "_" + std::to_string(counts[base]++);
  }

  /// Fills and empties that only served as inits are gone from the dataflow.
  void eraseDeadInits() {
    getOperation().walk([](Operation *op) {
      if (isa<linalg::FillOp>(op) && op->use_empty() &&
          !op->getParentOfType<KernelOp>())
        op->erase();
    });
    getOperation().walk([](tensor::EmptyOp op) {
      if (op->use_empty())
        op->erase();
    });
  }

  llvm::StringMap<unsigned> counts;
};

} // namespace
