//===- InterpreterKernel.cpp - Kernels, tasks and itensors --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dataflow and itensor dialects: which FIFO each itensor means, tasks as
// processes, and what happens implicitly before `materialized`: DMAs at the
// kernel's boundary, converters and forks.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/InterpreterCompiler.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::interp;
using itensor::ITensorType;

//===----------------------------------------------------------------------===//
// Channels
//===----------------------------------------------------------------------===//

/// A reassociate that keeps the token's size needs no adapter: its result is
/// the same FIFO.
static bool isAlias(itensor::ReassociateOp op) {
  return op.getSource().getType().getTokenElements() ==
         op.getResult().getType().getTokenElements();
}

Value FunctionCompiler::channelOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto task = dyn_cast<dataflow::TaskOp>(parent))
      return task.getResult(argument.getArgNumber());
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      return channelOf(loop.getTiedLoopInit(argument)->get());
    return value;
  }
  auto result = cast<OpResult>(value);
  return llvm::TypeSwitch<Operation *, Value>(result.getOwner())
      .Case([&](itensor::WriteOp write) { return channelOf(write.getDest()); })
      .Case([&](itensor::CastOp cast) { return channelOf(cast.getSource()); })
      .Case([&](itensor::ReassociateOp op) {
        return isAlias(op) ? channelOf(op.getSource()) : value;
      })
      .Case([&](scf::ForOp loop) {
        return channelOf(loop.getInitArgs()[result.getResultNumber()]);
      })
      .Case([&](scf::IfOp branch) {
        unsigned index = result.getResultNumber();
        Value a = channelOf(branch.thenYield().getOperand(index));
        Value b = channelOf(branch.elseYield().getOperand(index));
        return a == b ? a : Value();
      })
      .Default([&](Operation *) { return value; });
}

FailureOr<Channel *> FunctionCompiler::addChannel(Value root, StringRef name,
                                                  StringRef process,
                                                  Operation *op) {
  auto type = cast<ITensorType>(root.getType());
  FailureOr<TokenOrder> order = orderOf(type, op);
  if (failed(order))
    return failure();
  Channel &channel = channels[root];
  channel.type = type;
  channel.order = *order;
  channel.process = process.str();
  channel.spec.name = name.str();
  channel.spec.tokenBytes =
      channel.type.getTokenElements() *
      getElementBytes(*getElementKind(channel.type.getElementType()));
  channel.spec.tokens = channel.order.numTokens();
  return &channel;
}

unsigned FunctionCompiler::readSlot(const void *reader) {
  return readers.lookup(reader);
}

SmallVector<unsigned> FunctionCompiler::writeSlots(Value value) {
  auto it = channels.find(channelOf(value));
  if (it == channels.end())
    return {};
  return llvm::to_vector(ArrayRef<unsigned>(it->second.slots));
}

/// Finds all FIFOs of a kernel, who writes and who reads them.
LogicalResult FunctionCompiler::planChannels(dataflow::KernelOp kernel) {
  channels.clear();
  readers.clear();
  for (BlockArgument argument : kernel.getBlock().getArguments()) {
    auto type = dyn_cast<ITensorType>(argument.getType());
    if (!type)
      continue;
    std::string name = "operand " + std::to_string(argument.getArgNumber());
    if (failed(addChannel(argument, name, name, kernel)))
      return failure();
  }
  for (Operation &op : kernel.getBlock()) {
    for (Value value : op.getResults())
      if (auto type = dyn_cast<ITensorType>(value.getType()))
        if (failed(kindOf(type.getElementType(), &op)))
          return failure();
    if (auto task = dyn_cast<dataflow::TaskOp>(op)) {
      for (auto [index, init, result] :
           llvm::enumerate(task.getInits(), task.getOutputs())) {
        if (!isa<ITensorType>(result.getType()))
          return refuse(task, "expected itensors as destinations");
        std::string name = (task.getSym() + "_out").str();
        if (task.getOutputs().size() > 1)
          name += std::to_string(index);
        auto instance = init.getDefiningOp<itensor::InstanceOp>();
        FailureOr<Channel *> channel =
            addChannel(result, instance ? instance.getSym() : StringRef(name),
                       task.getSym(), task);
        if (failed(channel))
          return failure();
        if (instance)
          (*channel)->spec.depth = instance.getDepth();
        if (channelOf(
                cast<dataflow::YieldOp>(task.getYield()).getValues()[index]) !=
            result)
          return refuse(task, "expected task '" + task.getSym() +
                                  "' to yield its destination " + Twine(index));
      }
      continue;
    }
    auto reassociate = dyn_cast<itensor::ReassociateOp>(op);
    if (isa<itensor::ConverterOp, itensor::ForkOp>(op) ||
        (reassociate && !isAlias(reassociate))) {
      std::string name =
          (op.getName().stripDialect() + "_" + Twine(numConverters++)).str();
      for (auto [index, result] : llvm::enumerate(op.getResults()))
        if (failed(addChannel(result,
                              name + (index ? "_" + std::to_string(index) : ""),
                              name, &op)))
          return failure();
    }
  }
  // Once DMAs are tasks, forks are tasks too.
  const bool isMaterialized = llvm::any_of(
      kernel.getInputs().getTypes(), [](Type t) { return isa<MemRefType>(t); });
  // Before that, each place that reads an itensor reads all of it. Afterwards
  // all places of a task read from its one FIFO.
  DenseMap<std::pair<Value, Operation *>, unsigned> taskSlots;
  auto addReader = [&](Value value, const void *reader,
                       Operation *process) -> LogicalResult {
    Value root = channelOf(value);
    auto it = channels.find(root);
    if (it == channels.end())
      return refuse(process, "it reads an itensor that no task writes");
    if (isMaterialized) {
      auto [slot, isNew] = taskSlots.try_emplace({root, process}, out.numFifos);
      readers[reader] = slot->second;
      if (!isNew)
        return success();
      if (!it->second.slots.empty())
        return refuse(process, "expected one reader of fifo '" +
                                   it->second.spec.name + "'");
    }
    readers[reader] = out.numFifos;
    it->second.slots.push_back(out.numFifos++);
    return success();
  };
  WalkResult walk = kernel.getBody().walk([&](Operation *op) {
    LogicalResult added = success();
    if (auto read = dyn_cast<itensor::ReadOp>(op)) {
      auto task = op->getParentOfType<dataflow::TaskOp>();
      added = task ? addReader(read.getSource(), op, task)
                   : refuse(op, "expected it inside a task");
    } else if (isa<itensor::ConverterOp, itensor::ForkOp,
                   itensor::ReassociateOp>(op) &&
               channels.contains(op->getResult(0))) {
      added = addReader(op->getOperand(0), op, op);
    }
    return failed(added) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  // Each result of the kernel reads, also one itensor twice.
  for (OpOperand &yielded : kernel.getYield()->getOpOperands())
    if (isa<ITensorType>(yielded.get().getType()) &&
        failed(addReader(yielded.get(), &yielded, kernel.getYield())))
      return failure();
  // A FIFO that nobody reads keeps its tokens, which is an error at run time.
  for (auto &[root, channel] : channels)
    if (channel.slots.empty())
      channel.slots.push_back(out.numFifos++);
  return success();
}

//===----------------------------------------------------------------------===//
// Kernels and tasks
//===----------------------------------------------------------------------===//

Network &interp::getNetwork(Frame &frame, StringRef region) {
  if (!frame.network)
    frame.network = std::make_unique<Network>(frame.machine, region);
  return *frame.network;
}

Fifo &interp::startFifo(Frame &frame, StringRef region, const FifoSpec &spec,
                        ElementKind element, std::optional<TokenOrder> order) {
  Fifo &fifo = getNetwork(frame, region).addFifo(spec);
  if (!frame.recording)
    return fifo;
  TokenRecord record;
  record.fifo = spec.name;
  record.element = element;
  record.tokenElements = spec.tokenBytes / getElementBytes(element);
  record.order = std::move(order);
  frame.recording->fifos.push_back(std::move(record));
  fifo.record = &frame.recording->fifos.back();
  fifo.recordLimitBytes = frame.recordLimitBytes;
  return fifo;
}

ProcessInfo::ProcessInfo(StringRef name, Operation *task) : name(name) {
  auto text = [&](StringRef attribute) {
    auto value = task->getAttrOfType<StringAttr>(attribute);
    return value ? value.str() : std::string();
  };
  kind = text("kind").empty() ? "compute" : text("kind");
  argument = text("argument");
}

void interp::startProcess(Frame &frame, StringRef region,
                          const ProcessInfo &info, std::function<void()> body,
                          ArrayRef<unsigned> reads, ArrayRef<unsigned> writes) {
  auto fifosIn = [&](ArrayRef<unsigned> slots) {
    return llvm::map_to_vector(slots,
                               [&](unsigned s) { return frame.fifos[s]; });
  };
  SmallVector<Fifo *> sources = fifosIn(reads), targets = fifosIn(writes);
  for (Fifo *fifo : targets) {
    if (!fifo->record)
      continue;
    fifo->record->task = info.name;
    fifo->record->kind = info.kind;
    fifo->record->argument = info.argument;
    for (Fifo *source : sources)
      fifo->record->inputs.push_back(source->getSpec().name);
  }
  if (frame.recording && info.kind == "dma_out" && sources.size() == 1)
    frame.recording->stores.push_back(
        {info.name, info.argument, sources.front()->getSpec().name});
  getNetwork(frame, region)
      .addProcess(info.name, std::move(body), sources, targets);
}

Step FunctionCompiler::addProcess(ProcessInfo info, Steps body,
                                  std::vector<unsigned> reads,
                                  std::vector<unsigned> writes) {
  auto shared = std::make_shared<Steps>(std::move(body));
  return [=](Frame &frame) {
    startProcess(
        frame, "", info, [shared, &frame] { runSteps(*shared, frame); }, reads,
        writes);
  };
}

/// The implicit DMA of a kernel operand: streams a tensor.
void FunctionCompiler::compileLoad(Value argument, Value tensor, Steps &steps) {
  const Channel &channel = channels[argument];
  auto order = std::make_shared<TokenOrder>(channel.order);
  const Layout layout = *getLayout(tensor.getType());
  std::vector<int64_t> element = order->elementShape();
  BoxCopy copy(element, layout.strides, rowMajorStrides(element),
               layout.elementBytes);
  const unsigned source = buffer(tensor);
  std::vector<unsigned> slots(channel.slots.begin(), channel.slots.end());
  const size_t tokenBytes = channel.spec.tokenBytes;
  Step body = [=, strides = layout.strides,
               bytes = layout.elementBytes](Frame &f) {
    std::vector<char> token(tokenBytes);
    const Buffer tensor = f.buffers[source];
    forEachTokenOffset(*order, strides, [&](int64_t offset) {
      copy.run(tensor.at(offset, bytes), token.data());
      for (unsigned slot : slots)
        f.fifos[slot]->write(token.data());
    });
  };
  steps.push_back(addProcess({channel.process, "dma_in"}, {body}, {}, slots));
}

/// The implicit DMA of a kernel result: assembles a tensor.
LogicalResult FunctionCompiler::compileStore(OpOperand &yielded, Value tensor,
                                             Operation *kernel, Steps &steps) {
  auto type = cast<ITensorType>(yielded.get().getType());
  FailureOr<Layout> layout = layoutOf(tensor, kernel);
  FailureOr<TokenOrder> order = orderOf(type, kernel);
  if (failed(layout) || failed(order))
    return failure();
  const unsigned fifo = readSlot(&yielded), target = buffer(tensor);
  const int64_t count = order->numTokens();
  const size_t tokenBytes = type.getTokenElements() * layout->elementBytes;
  Step body = [=, layout = *layout, order = *order](Frame &f) {
    std::vector<char> tokens(count * tokenBytes);
    for (int64_t i = 0; i < count; ++i)
      f.fifos[fifo]->read(tokens.data() + i * tokenBytes);
    // What lies outside of the corner must not be used by anyone.
    HostTensor assembled(layout.shape, layout.kind);
    fillPoison(layout.kind, assembled.data.data(), layout.numElements);
    if (int64_t missing =
            unpackTokens(tokens.data(), order, layout.shape, assembled))
      failAt(f, kernel, Twine(missing) + " elements of a result are missing");
    Buffer result{Storage::allocate(layout.bytes()), 0};
    std::memcpy(result.storage->data(), assembled.data.data(), layout.bytes());
    f.buffers[target] = std::move(result);
  };
  steps.push_back(addProcess(
      {"result " + std::to_string(yielded.getOperandNumber()), "dma_out"},
      {body}, {fifo}, {}));
  return success();
}

LogicalResult FunctionCompiler::compileKernel(dataflow::KernelOp kernel,
                                              Steps &steps) {
  if (failed(planChannels(kernel)))
    return failure();
  Steps body;
  for (auto [argument, input] :
       llvm::zip_equal(kernel.getBlock().getArguments(), kernel.getInputs())) {
    if (isa<ITensorType>(argument.getType())) {
      if (failed(layoutOf(input, kernel)))
        return failure();
      compileLoad(argument, input, body);
    } else {
      addTransfer(input, argument, kernel, body);
    }
  }
  if (failed(compileBlock(kernel.getBlock(), body)))
    return failure();
  for (auto [yielded, output] : llvm::zip_equal(
           kernel.getYield()->getOpOperands(), kernel.getOutputs())) {
    if (isa<ITensorType>(yielded.get().getType())) {
      if (failed(compileStore(yielded, output, kernel, body)))
        return failure();
    } else {
      addTransfer(yielded.get(), output, kernel.getYield(), body);
    }
  }
  std::vector<Channel> fifos;
  for (auto &[root, channel] : channels)
    fifos.push_back(channel);
  steps.push_back([=, body = std::move(body),
                   name = kernel.getSym().str()](Frame &f) {
    f.network = std::make_unique<Network>(f.machine, name);
    for (const Channel &channel : fifos) {
      const ElementKind kind = *getElementKind(channel.type.getElementType());
      // One record per itensor, however many tasks read it.
      ArrayRef<unsigned> slots = channel.slots;
      f.fifos[slots.front()] =
          &startFifo(f, name, channel.spec, kind, channel.order);
      for (unsigned slot : slots.drop_front())
        f.fifos[slot] = &f.network->addFifo(channel.spec);
    }
    runSteps(body, f);
    f.network->run();
    f.network.reset();
  });
  return success();
}

LogicalResult FunctionCompiler::compileTask(dataflow::TaskOp task,
                                            Steps &steps) {
  Steps body;
  if (failed(compileBlock(task.getBlock(), body)))
    return failure();
  std::vector<unsigned> reads, writes;
  task.getBody().walk([&](itensor::ReadOp read) {
    if (unsigned slot = readSlot(read.getOperation());
        !llvm::is_contained(reads, slot))
      reads.push_back(slot);
  });
  for (Value result : task.getOutputs())
    llvm::append_range(writes, writeSlots(result));
  task.getBody().walk([&](Operation *op) { addStreamEnds(op, reads, writes); });
  steps.push_back(addProcess({task.getSym(), task.getOperation()},
                             std::move(body), reads, writes));
  return success();
}

LogicalResult FunctionCompiler::compileDataflow(Operation *op, Steps &steps) {
  if (auto kernel = dyn_cast<dataflow::KernelOp>(op))
    return compileKernel(kernel, steps);
  if (auto task = dyn_cast<dataflow::TaskOp>(op))
    return compileTask(task, steps);
  if (auto count = dyn_cast<dataflow::TripCountOp>(op)) {
    ParameterValues maxima;
    TripCount trips = count.getTripCount(maxima);
    if (failed(checkParameters(maxima, op)))
      return failure();
    out.scalars[scalar(count.getResult())].i =
        trips.evaluate(program.parameters);
    return success();
  }
  return refuse(op, "the operation is not known to the interpreter");
}

//===----------------------------------------------------------------------===//
// ITensor
//===----------------------------------------------------------------------===//

LogicalResult FunctionCompiler::compileITensor(Operation *op, Steps &steps) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      // Known at compile time: see channelOf.
      .Case<itensor::EmptyOp, itensor::InstanceOp, itensor::CastOp>(
          [&](auto) { return success(); })
      .Case([&](itensor::ReadOp read) {
        const unsigned fifo = readSlot(op);
        FailureOr<ElementKind> kind =
            kindOf(read.getSource().getType().getElementType(), op);
        if (failed(kind))
          return LogicalResult::failure();
        if (!read.getInit()) {
          const unsigned r = scalar(read.getValue());
          steps.push_back([=, kind = *kind](Frame &f) {
            char token[8];
            f.fifos[fifo]->read(token);
            f.scalars[r] = loadElement(kind, token);
          });
          return success();
        }
        const unsigned r = buffer(read.getValue());
        const size_t bytes = getLayout(read.getValue().getType())->bytes();
        steps.push_back([=](Frame &f) {
          // Fresh memory: the value of the last iteration may still be in use.
          Buffer token{Storage::allocate(bytes), 0};
          f.fifos[fifo]->read(token.storage->data());
          f.buffers[r] = std::move(token);
        });
        return success();
      })
      .Case([&](itensor::WriteOp write) {
        SmallVector<unsigned> slots = writeSlots(write.getDest());
        if (slots.empty() || !op->getParentOfType<dataflow::TaskOp>())
          return refuse(op, "expected the destination of a task");
        if (isa<RankedTensorType>(write.getValue().getType())) {
          const unsigned a = buffer(write.getValue());
          steps.push_back([=](Frame &f) {
            for (unsigned slot : slots)
              f.fifos[slot]->write(f.buffers[a].storage->data());
          });
          return success();
        }
        FailureOr<ElementKind> kind = kindOf(write.getValue().getType(), op);
        if (failed(kind))
          return LogicalResult::failure();
        const unsigned a = scalar(write.getValue());
        steps.push_back([=, kind = *kind](Frame &f) {
          char token[8];
          storeElement(kind, f.scalars[a], token);
          for (unsigned slot : slots)
            f.fifos[slot]->write(token);
        });
        return success();
      })
      .Case([&](itensor::ConverterOp converter) {
        ITensorType from = converter.getSource().getType(),
                    to = converter.getResult().getType();
        FailureOr<TokenOrder> source = orderOf(from, op),
                              target = orderOf(to, op);
        if (failed(source) || failed(target))
          return LogicalResult::failure();
        const ElementKind kind = *getElementKind(from.getElementType());
        const unsigned fifo = readSlot(op);
        SmallVector<unsigned> slots = writeSlots(converter.getResult());
        const int64_t count = source->numTokens();
        // Both sides are in the corner of the largest tensor.
        SmallVector<int64_t> shape = from.getTensorShape();
        Step body = [=, source = *source, target = *target](Frame &f) {
          const size_t bytes = getElementBytes(kind);
          const size_t fromBytes = source.tokenElements() * bytes,
                       toBytes = target.tokenElements() * bytes;
          std::vector<char> tokens(count * fromBytes);
          for (int64_t i = 0; i < count; ++i)
            f.fifos[fifo]->read(tokens.data() + i * fromBytes);
          HostTensor tensor(shape, kind);
          unpackTokens(tokens.data(), source, shape, tensor);
          tokens = packTokens(tensor, target, shape);
          for (size_t at = 0; at < tokens.size(); at += toBytes)
            for (unsigned slot : slots)
              f.fifos[slot]->write(tokens.data() + at);
        };
        steps.push_back(addProcess(
            {channels[converter.getResult()].process, "converter"}, {body},
            {fifo}, std::vector<unsigned>(slots.begin(), slots.end())));
        return success();
      })
      .Case([&](itensor::ReassociateOp reassociate) {
        if (isAlias(reassociate))
          return success();
        ITensorType from = reassociate.getSource().getType(),
                    to = reassociate.getResult().getType();
        const size_t bytes =
            getElementBytes(*getElementKind(from.getElementType()));
        const size_t fromBytes = from.getTokenElements() * bytes,
                     toBytes = to.getTokenElements() * bytes;
        FailureOr<TokenOrder> order = orderOf(from, op);
        if (failed(order))
          return LogicalResult::failure();
        const int64_t count = order->numTokens();
        const unsigned fifo = readSlot(op);
        SmallVector<unsigned> slots = writeSlots(reassociate.getResult());
        // The elements inside a token pass row-major.
        Step body = [=](Frame &f) {
          std::vector<char> token(fromBytes), pending;
          for (int64_t i = 0; i < count; ++i) {
            f.fifos[fifo]->read(token.data());
            pending.insert(pending.end(), token.begin(), token.end());
            size_t used = 0;
            for (; used + toBytes <= pending.size(); used += toBytes)
              for (unsigned slot : slots)
                f.fifos[slot]->write(pending.data() + used);
            pending.erase(pending.begin(), pending.begin() + used);
          }
        };
        steps.push_back(addProcess(
            {channels[reassociate.getResult()].process, "converter"}, {body},
            {fifo}, std::vector<unsigned>(slots.begin(), slots.end())));
        return success();
      })
      .Case([&](itensor::ForkOp fork) {
        const unsigned fifo = readSlot(op);
        std::vector<unsigned> slots;
        for (Value copy : fork.getCopies())
          llvm::append_range(slots, writeSlots(copy));
        const Channel &channel = channels[fork.getCopies().front()];
        const size_t bytes = channel.spec.tokenBytes;
        const int64_t count = channel.order.numTokens();
        Step body = [=](Frame &f) {
          std::vector<char> token(bytes);
          for (int64_t i = 0; i < count; ++i) {
            f.fifos[fifo]->read(token.data());
            for (unsigned slot : slots)
              f.fifos[slot]->write(token.data());
          }
        };
        steps.push_back(
            addProcess({channel.process, "fork"}, {body}, {fifo}, slots));
        return success();
      })
      .Default([&](Operation *) {
        return refuse(op, "the operation is not known to the interpreter");
      });
}
