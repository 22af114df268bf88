//===- StreamTasks.cpp - DMA and converter tasks -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bodies of DMA, converter and fork tasks.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Memory/StreamTasks.h"

#include "streamtensor/Transforms/Dataflow/TaskBuilder.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace streamtensor;
using streamtensor::dataflow::TaskOp;
using streamtensor::dataflow::YieldOp;
using streamtensor::itensor::ITensorType;
using Values = TaskBuilder::Values;

/// Creates a task that writes streams of the given types; the caller fills it.
static TaskOp createTask(OpBuilder &builder, Location loc, StringRef name,
                         StringRef kind, ArrayRef<ITensorType> streams) {
  Values inits;
  for (ITensorType stream : streams)
    inits.push_back(itensor::EmptyOp::create(builder, loc, stream));
  return TaskOp::create(builder, loc, name, kind, inits);
}

static void finishTask(OpBuilder &builder, TaskOp task, ValueRange results) {
  builder.setInsertionPointToEnd(&task.getBlock());
  YieldOp::create(builder, task.getLoc(), results);
}

static SmallVector<int64_t> tokenShape(ITensorType stream) {
  std::vector<int64_t> shape = stream.getOrder().elementShape();
  return SmallVector<int64_t>(shape.begin(), shape.end());
}

/// The part of `memory` that holds the token with these loop variables.
static Value tokenInMemory(TaskBuilder &task, Value memory, ITensorType stream,
                           ITensorType packing, ValueRange ivs) {
  OpBuilder &builder = task.builder;
  SmallVector<int64_t> shape = tokenShape(stream);
  SmallVector<OpFoldResult> offsets, sizes;
  SymbolicOrder order = stream.getSymbolicOrder();
  if (packing) {
    // The number of the token within one pass of the largest size.
    TokenOrder largest = stream.getOrder();
    std::vector<int> dims = largest.loopDims();
    SmallVector<std::pair<Value, int64_t>> terms;
    int64_t stride = 1;
    for (unsigned loop = order.numLoops(); loop-- > 0;)
      if (dims[loop] >= 0) {
        terms.emplace_back(ivs[loop], stride);
        stride *= largest.trips[loop];
      }
    std::reverse(terms.begin(), terms.end());
    offsets.push_back(task.offset(terms));
    sizes.push_back(builder.getIndexAttr(1));
    offsets.append(shape.size(), builder.getIndexAttr(0));
  } else {
    offsets = task.offsets(order, ivs);
  }
  llvm::append_range(sizes, asIndexAttrs(builder, shape));
  if (offsets.empty())
    return memory;
  SmallVector<OpFoldResult> strides(offsets.size(), builder.getIndexAttr(1));
  auto type = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
      shape, cast<MemRefType>(memory.getType()), offsets, sizes, strides));
  return memref::SubViewOp::create(builder, task.loc, type, memory, offsets,
                                   sizes, strides);
}

/// A builder for `task`, whose loops have the trip counts of `stream`.
static TaskBuilder buildBody(OpBuilder &builder, TaskOp task,
                             ITensorType stream) {
  return TaskBuilder(builder, task, stream.getSymbolicOrder().maxima);
}

Value streamtensor::buildLoad(OpBuilder &builder, Location loc, StringRef name,
                              StringRef argument, Value memory,
                              ITensorType stream, ITensorType packing) {
  TaskOp task = createTask(builder, loc, name, "dma_in", stream);
  task->setAttr("argument", builder.getStringAttr(argument));
  OpBuilder::InsertionGuard guard(builder);
  TaskBuilder body = buildBody(builder, task, stream);
  auto tensorType =
      RankedTensorType::get(tokenShape(stream), stream.getElementType());
  Values results = body.nest(
      stream.getSymbolicOrder().trips, "load", task.getBlock().getArgument(0),
      [&](ValueRange ivs, ValueRange carried) -> Values {
        Value token = tokenInMemory(body, memory, stream, packing, ivs);
        Value value = bufferization::ToTensorOp::create(
            builder, loc, tensorType, token, /*restrict=*/true);
        return {body.write(value, carried.front())};
      });
  finishTask(builder, task, results);
  return task.getResult(0);
}

void streamtensor::buildStore(OpBuilder &builder, Location loc, StringRef name,
                              StringRef argument, Value source, Value memory) {
  TaskOp task = createTask(builder, loc, name, "dma_out", {});
  task->setAttr("argument", builder.getStringAttr(argument));
  OpBuilder::InsertionGuard guard(builder);
  auto stream = cast<ITensorType>(source.getType());
  TaskBuilder body = buildBody(builder, task, stream);
  body.nest(stream.getSymbolicOrder().trips, "store", {},
            [&](ValueRange ivs, ValueRange) -> Values {
              Value token = body.read(source);
              Value place = tokenInMemory(body, memory, stream, {}, ivs);
              auto store = bufferization::MaterializeInDestinationOp::create(
                  builder, loc, token, place);
              store.setWritable(true);
              return {};
            });
  finishTask(builder, task, {});
}

/// One loop over all segments, whose body a synthesis tool can overlap from one
/// iteration to the next; two run-time counts stay two loops.
static SmallVector<TripCount> segmentLoops(ArrayRef<TripCount> shared) {
  SmallVector<TripCount> loops;
  for (const TripCount &trip : shared) {
    if (loops.empty())
      loops.push_back(trip);
    else if (trip.isConstant())
      loops.back() = loops.back() * trip.getConstant();
    else if (loops.back().isConstant())
      loops.back() = trip * loops.back().getConstant();
    else
      loops.push_back(trip);
  }
  return loops;
}

TaskOp streamtensor::buildConverter(OpBuilder &builder, Location loc,
                                    StringRef name, Value source,
                                    ITensorType result,
                                    const SymbolicConverterPlan &plan) {
  TaskOp task = createTask(builder, loc, name, "converter", result);
  OpBuilder::InsertionGuard guard(builder);
  ParameterValues maxima = plan.fill.maxima;
  for (const SymbolicOrder &order :
       {plan.drain, result.getSymbolicOrder(),
        cast<ITensorType>(source.getType()).getSymbolicOrder()})
    maxima.insert(order.maxima.begin(), order.maxima.end());
  TaskBuilder body(builder, task, maxima);
  Type elementType = result.getElementType();
  auto unitStrides = [&](size_t rank) {
    return SmallVector<OpFoldResult>(rank, builder.getIndexAttr(1));
  };
  auto sizesOf = [&](const SymbolicOrder &order) {
    return asIndexAttrs(builder,
                        ArrayRef<int64_t>(order.largest().elementShape()));
  };
  Values results = body.nest(
      segmentLoops(plan.shared), "segment", task.getBlock().getArgument(0),
      [&](ValueRange, ValueRange carried) -> Values {
        auto buffer = tensor::EmptyOp::create(
            builder, loc, ArrayRef<int64_t>(plan.bufferShape), elementType);
        buffer->setAttr("hls.name", builder.getStringAttr("buffer"));
        if (plan.pingPong)
          buffer->setAttr("dataflow.ping_pong", builder.getUnitAttr());
        Value filled =
            body.nest(plan.fill.trips, "fill", buffer.getResult(),
                      [&](ValueRange ivs, ValueRange inner) -> Values {
                        Value token = body.read(source);
                        SmallVector<OpFoldResult> sizes = sizesOf(plan.fill);
                        if (sizes.empty())
                          return {token};
                        return {tensor::InsertSliceOp::create(
                            builder, loc, token, inner.front(),
                            body.offsets(plan.fill, ivs), sizes,
                            unitStrides(sizes.size()))};
                      })
                .front();
        auto tokenType = RankedTensorType::get(tokenShape(result), elementType);
        return body.nest(plan.drain.trips, "drain", carried,
                         [&](ValueRange ivs, ValueRange inner) -> Values {
                           SmallVector<OpFoldResult> sizes =
                               sizesOf(plan.drain);
                           Value token = filled;
                           if (!sizes.empty())
                             token = tensor::ExtractSliceOp::create(
                                 builder, loc, tokenType, filled,
                                 body.offsets(plan.drain, ivs), sizes,
                                 unitStrides(sizes.size()));
                           return {body.write(token, inner.front())};
                         });
      });
  finishTask(builder, task, results);
  return task;
}

TaskOp streamtensor::buildFork(OpBuilder &builder, Location loc, StringRef name,
                               Value source, unsigned copies) {
  auto stream = cast<ITensorType>(source.getType());
  TaskOp task = createTask(builder, loc, name, "fork",
                           SmallVector<ITensorType>(copies, stream));
  OpBuilder::InsertionGuard guard(builder);
  TaskBuilder body = buildBody(builder, task, stream);
  Values results = body.nest(stream.getSymbolicOrder().trips, "fork",
                             task.getBlock().getArguments(),
                             [&](ValueRange, ValueRange carried) -> Values {
                               Value token = body.read(source);
                               Values written;
                               for (Value dest : carried)
                                 written.push_back(body.write(token, dest));
                               return written;
                             });
  finishTask(builder, task, results);
  return task;
}
