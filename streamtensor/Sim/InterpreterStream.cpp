//===- InterpreterStream.cpp - Streams and task functions ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stream and hls dialects: FIFOs as values, tasks as functions.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/InterpreterCompiler.h"

#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::interp;

void FunctionCompiler::addStreamEnds(Operation *op,
                                     std::vector<unsigned> &reads,
                                     std::vector<unsigned> &writes) {
  auto add = [&](Value stream, std::vector<unsigned> &slots) {
    unsigned slot = slotOf(stream).index;
    if (!llvm::is_contained(slots, slot))
      slots.push_back(slot);
  };
  if (auto read = dyn_cast<stream::ReadOp>(op))
    add(read.getSource(), reads);
  else if (auto write = dyn_cast<stream::WriteOp>(op))
    add(write.getDest(), writes);
}

/// The stream behind casts: they move nothing.
static Value skipCasts(Value stream) {
  while (auto cast = stream.getDefiningOp<stream::CastOp>())
    stream = cast.getSource();
  return stream;
}

unsigned FunctionCompiler::streamSlot(Value stream) {
  auto [it, isNew] = fifoSlots.try_emplace(skipCasts(stream), 0);
  if (isNew)
    it->second = out.numFifos++;
  return it->second;
}

/// How the function that `call` calls uses `stream`, one of its operands.
StreamUse FunctionCompiler::useInside(func::CallOp call, Value stream) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  auto position = llvm::find(call.getOperands(), stream);
  if (!callee || callee.isExternal())
    return StreamUse::None;
  return useOf(callee.getArgument(position - call.getOperands().begin()));
}

StreamUse FunctionCompiler::useOf(Value stream) {
  StreamUse use = StreamUse::None;
  for (Operation *user : stream.getUsers()) {
    StreamUse next = StreamUse::None;
    if (isa<stream::ReadOp>(user))
      next = StreamUse::Read;
    else if (isa<stream::WriteOp>(user))
      next = StreamUse::Write;
    else if (auto cast = dyn_cast<stream::CastOp>(user))
      next = useOf(cast.getResult());
    else if (auto call = dyn_cast<func::CallOp>(user))
      next = useInside(call, stream);
    if (next != StreamUse::None)
      use = next;
  }
  return use;
}

LogicalResult FunctionCompiler::compileStream(Operation *op, Steps &steps) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](stream::StreamOp stream) {
        stream::StreamType type = stream.getType();
        FailureOr<ElementKind> kind = kindOf(type.getElementType(), op);
        if (failed(kind))
          return LogicalResult::failure();
        FifoSpec spec;
        spec.name = stream.getSym().str();
        spec.tokenBytes = type.getTokenElements() * getElementBytes(*kind);
        spec.depth = type.getDepth();
        // Of run-time size it is the largest number.
        if (stream.getTokens() && program.parameters.empty())
          spec.tokens = *stream.getTokens();
        const unsigned slot = slotOf(stream.getResult()).index;
        std::string region = out.op.getName().str();
        if (auto kernel = op->getParentOfType<dataflow::KernelOp>())
          region = kernel.getSym().str();
        steps.push_back([=, kind = *kind](Frame &f) {
          f.fifos[slot] = &startFifo(f, region, spec, kind, std::nullopt);
        });
        return success();
      })
      .Case([&](stream::CastOp) { return success(); })
      .Case([&](stream::ReadOp read) {
        const unsigned fifo = slotOf(read.getSource()).index;
        if (!read.getDest()) {
          FailureOr<ElementKind> kind = kindOf(read.getValue().getType(), op);
          if (failed(kind))
            return LogicalResult::failure();
          const unsigned r = scalar(read.getValue());
          steps.push_back([=, kind = *kind](Frame &f) {
            char token[8];
            f.fifos[fifo]->read(token);
            f.scalars[r] = loadElement(kind, token);
          });
          return success();
        }
        FailureOr<Layout> layout = layoutOf(read.getDest(), op);
        if (failed(layout))
          return LogicalResult::failure();
        BoxCopy copy(layout->shape, rowMajorStrides(layout->shape),
                     layout->strides, layout->elementBytes);
        const unsigned r = buffer(read.getDest());
        steps.push_back([=, layout = *layout](Frame &f) {
          if (layout.contiguous)
            return f.fifos[fifo]->read(f.buffers[r].at(0, layout.elementBytes));
          std::vector<char> token(layout.bytes());
          f.fifos[fifo]->read(token.data());
          copy.run(token.data(), f.buffers[r].at(0, layout.elementBytes));
        });
        return success();
      })
      .Case([&](stream::WriteOp write) {
        const unsigned fifo = slotOf(write.getDest()).index;
        Value value = write.getValue();
        if (!isa<MemRefType>(value.getType())) {
          FailureOr<ElementKind> kind = kindOf(value.getType(), op);
          if (failed(kind))
            return LogicalResult::failure();
          const unsigned a = scalar(value);
          steps.push_back([=, kind = *kind](Frame &f) {
            char token[8];
            storeElement(kind, f.scalars[a], token);
            f.fifos[fifo]->write(token);
          });
          return success();
        }
        FailureOr<Layout> layout = layoutOf(value, op);
        if (failed(layout))
          return LogicalResult::failure();
        BoxCopy copy(layout->shape, layout->strides,
                     rowMajorStrides(layout->shape), layout->elementBytes);
        const unsigned a = buffer(value);
        steps.push_back([=, layout = *layout](Frame &f) {
          const char *from = f.buffers[a].at(0, layout.elementBytes);
          if (layout.contiguous)
            return f.fifos[fifo]->write(from);
          std::vector<char> token(layout.bytes());
          copy.run(from, token.data());
          f.fifos[fifo]->write(token.data());
        });
        return success();
      })
      .Case([&](stream::BufferOp bufferOp) {
        FailureOr<Layout> layout = layoutOf(bufferOp.getResult(), op);
        if (failed(layout))
          return LogicalResult::failure();
        const unsigned r = buffer(bufferOp.getResult());
        steps.push_back([r, layout = *layout](Frame &f) {
          f.buffers[r] = allocateBuffer(layout);
        });
        return success();
      })
      .Default([&](Operation *) {
        return refuse(op, "the operation is not known to the interpreter");
      });
}

LogicalResult FunctionCompiler::compileHLS(Operation *op, Steps &steps) {
  if (isa<hls::JoinOp>(op)) {
    std::string name = out.op.getName().str();
    steps.push_back([name](Frame &f) {
      getNetwork(f, name).run();
      f.network.reset();
    });
    return success();
  }
  auto task = dyn_cast<hls::TaskOp>(op);
  if (!task)
    return refuse(op, "the operation is not known to the interpreter");
  CompiledFunction *callee = program.getFunction(task.getCallee());
  if (!callee)
    return failure();
  const ProcessInfo info(task.getCallee(), callee->op.getOperation());
  SmallVector<Slot> arguments;
  std::vector<unsigned> reads, writes;
  for (auto [operand, use] :
       llvm::zip_equal(task->getOperands(), callee->argumentUses)) {
    Slot slot = slotOf(operand);
    arguments.push_back(slot);
    if (use == StreamUse::Read)
      reads.push_back(slot.index);
    else if (use == StreamUse::Write)
      writes.push_back(slot.index);
  }
  steps.push_back([=, region = out.op.getName().str()](Frame &f) {
    std::shared_ptr<Frame> inner =
        callee->makeFrame(f.machine, f.recording, f.recordLimitBytes);
    copyValues(f, arguments, *inner, callee->arguments);
    startProcess(
        f, region, info, [callee, inner] { runSteps(callee->steps, *inner); },
        reads, writes);
  });
  return success();
}
