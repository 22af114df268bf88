//===- DeriveNetwork.cpp - The timed network of a design ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows the schedule of each task and resolves what its values stand for:
// FIFOs, memory ports, run-time parameters.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Report/DeriveNetwork.h"

#include "streamtensor/Analysis/ConditionBuilder.h"
#include "streamtensor/Analysis/Estimate/LoopFacts.h"
#include "streamtensor/Analysis/Estimate/TaskSchedule.h"
#include "streamtensor/Analysis/LinearOffset.h"
#include "streamtensor/Dialect/Dataflow/IR/Placement.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include <cmath>

using namespace mlir;
using namespace streamtensor;

namespace {

class ProgramBuilder;

class Derivation {
public:
  Derivation(ModuleOp module, const DesignInfo &design,
             const DeviceInfo &device)
      : module(module), design(design), device(device) {}

  FailureOr<std::optional<TimedNetwork>> run();

private:
  void addMemory();
  LogicalResult addGroup(func::FuncOp group);
  LogicalResult addTask(func::FuncOp group, hls::TaskOp call);
  unsigned addProcess(StringRef name, const TaskInfo &task,
                      TimedSequence program);
  LogicalResult addStages(const TaskInfo &task, ArrayRef<ScheduleNode> before,
                          const ScheduleNode &stages,
                          ArrayRef<ScheduleNode> after);
  void bindCall(func::CallOp call, ProgramBuilder &caller);
  void connect(const TimedSequence &sequence, unsigned process);

  ModuleOp module;
  const DesignInfo &design;
  const DeviceInfo &device;
  TimedNetwork network;
  llvm::StringMap<unsigned> fifoOf, portOf;
  /// Something that a network cannot say was met.
  bool hasObstacle = false;
  /// What arguments of the task at hand, and of its stages, stand for.
  llvm::DenseMap<Value, unsigned> fifos, ports;
  llvm::DenseMap<Value, TripCount> counts;

  friend class ProgramBuilder;
};

/// Translates the schedule of one function.
class ProgramBuilder {
public:
  explicit ProgramBuilder(Derivation &derivation)
      : derivation(derivation),
        conditions([this](Value value) -> std::optional<IndexExpr> {
          if (std::optional<TripCount> count = countOf(value))
            return IndexExpr::count(*count);
          return std::nullopt;
        }) {}
  // The conditions refer to this.
  ProgramBuilder(const ProgramBuilder &) = delete;

  LogicalResult build(ArrayRef<ScheduleNode> schedule, unsigned level,
                      TimedSequence &program);

  /// How often `loop` runs, on parameters.
  FailureOr<TripCount> tripsOf(scf::ForOp loop);
  /// `value` on parameters; nothing for anything else.
  std::optional<TripCount> countOf(Value value);
  /// Enters `loop`, the outermost one. Returns how often it runs.
  FailureOr<TripCount> enterSegments(scf::ForOp loop);
  /// `argument` of a function that is called stands for `operand` here.
  void define(Value argument, Value operand) {
    conditions.define(argument, conditions.build(operand));
  }

private:
  std::optional<TripCount>
  countOf(AffineExpr expr, ArrayRef<TripCount> operands, unsigned numDims);
  FailureOr<TripCount> enter(scf::ForOp loop, unsigned level);
  LogicalResult buildAccess(const ScheduleNode &node, TimedSequence &program);
  int64_t contiguousBeats(const ScheduleNode &node, int64_t beatBytes);

  Derivation &derivation;
  ConditionBuilder conditions;
  /// The loops around, outermost first.
  SmallVector<scf::ForOp> loops;
};

} // namespace

//===----------------------------------------------------------------------===//
// Trip counts
//===----------------------------------------------------------------------===//

std::optional<TripCount> ProgramBuilder::countOf(AffineExpr expr,
                                                 ArrayRef<TripCount> operands,
                                                 unsigned numDims) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return TripCount(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return operands[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return operands[numDims + symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  std::optional<TripCount> lhs = countOf(binary.getLHS(), operands, numDims);
  if (!lhs)
    return std::nullopt;
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (binary.getKind()) {
  case AffineExprKind::Add:
    if (std::optional<TripCount> rhs =
            countOf(binary.getRHS(), operands, numDims))
      return *lhs + *rhs;
    return std::nullopt;
  case AffineExprKind::Mul:
    return constant ? std::optional(*lhs * constant.getValue()) : std::nullopt;
  case AffineExprKind::CeilDiv:
    return constant && constant.getValue() > 0
               ? std::optional(TripCount::ceilDiv(*lhs, constant.getValue()))
               : std::nullopt;
  case AffineExprKind::FloorDiv: {
    // (n + d - 1) floordiv d is how a ceildiv is lowered; any other is one of
    // n - d + 1.
    if (!constant || constant.getValue() <= 0)
      return std::nullopt;
    return TripCount::ceilDiv(*lhs + TripCount(1 - constant.getValue()),
                              constant.getValue());
  }
  default:
    return std::nullopt;
  }
}

std::optional<TripCount> ProgramBuilder::countOf(Value value) {
  if (std::optional<int64_t> constant = integerConstant(value))
    return TripCount(*constant);
  auto known = derivation.counts.find(value);
  if (known != derivation.counts.end())
    return known->second;
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return std::nullopt;
  SmallVector<TripCount> operands;
  for (Value operand : apply.getMapOperands()) {
    std::optional<TripCount> count = countOf(operand);
    if (!count)
      return std::nullopt;
    operands.push_back(*count);
  }
  AffineMap map = apply.getAffineMap();
  return countOf(map.getResult(0), operands, map.getNumDims());
}

FailureOr<TripCount> ProgramBuilder::tripsOf(scf::ForOp loop) {
  std::optional<int64_t> lower = integerConstant(loop.getLowerBound());
  std::optional<int64_t> step = integerConstant(loop.getStep());
  std::optional<TripCount> upper = countOf(loop.getUpperBound());
  if (!lower || !step || *step <= 0 || !upper)
    return loop.emitOpError("expected bounds that are constants or sums of "
                            "run-time parameters, and a positive step");
  if (upper->isConstant()) {
    const int64_t span = std::max<int64_t>(0, upper->getConstant() - *lower);
    return TripCount(iterationsOf(loop, (span + *step - 1) / *step));
  }
  if (*lower != 0)
    return loop.emitOpError(
        "expected a loop with a run-time bound to begin at 0");
  const int64_t factor = *step * std::max<int64_t>(1, unrollFactor(loop));
  return factor == 1 ? *upper : TripCount::ceilDiv(*upper, factor);
}

FailureOr<TripCount> ProgramBuilder::enter(scf::ForOp loop, unsigned level) {
  FailureOr<TripCount> trips = tripsOf(loop);
  if (failed(trips))
    return failure();
  conditions.enter(loop, level, *integerConstant(loop.getLowerBound()),
                   *integerConstant(loop.getStep()) * unrollFactor(loop));
  loops.push_back(loop);
  return trips;
}

FailureOr<TripCount> ProgramBuilder::enterSegments(scf::ForOp loop) {
  return enter(loop, /*level=*/0);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The element at which the access of memory begins.
static std::optional<LinearOffset> memoryOffset(Operation *op) {
  if (auto read = dyn_cast<stream::ReadOp>(op)) {
    if (auto view = read.getDest().getDefiningOp<memref::SubViewOp>())
      return offsetOf(view);
  } else if (auto write = dyn_cast<stream::WriteOp>(op)) {
    if (auto view = write.getValue().getDefiningOp<memref::SubViewOp>())
      return offsetOf(view);
  } else if (auto load = dyn_cast<memref::LoadOp>(op)) {
    return offsetOf(load.getMemRefType(), load.getIndices());
  } else if (auto store = dyn_cast<memref::StoreOp>(op)) {
    return offsetOf(store.getMemRefType(), store.getIndices());
  }
  return std::nullopt;
}

static Type memoryType(Operation *op) {
  if (auto read = dyn_cast<stream::ReadOp>(op))
    return read.getDest().getType();
  if (auto write = dyn_cast<stream::WriteOp>(op))
    return write.getValue().getType();
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return load.getMemRefType();
  return cast<memref::StoreOp>(op).getMemRefType();
}

/// How many beats follow each other in memory: elements of the access, then the
/// loops around it from the inside as long as each steps over exactly what the
/// loops inside of it cover. 0: everything.
int64_t ProgramBuilder::contiguousBeats(const ScheduleNode &node,
                                        int64_t beatBytes) {
  std::optional<LinearOffset> offset = memoryOffset(node.op);
  auto type = cast<MemRefType>(memoryType(node.op));
  const bool isElement = isa<memref::LoadOp, memref::StoreOp>(node.op);
  const int64_t bits = type.getElementTypeBitWidth();
  const int64_t elements = isElement ? 1 : type.getNumElements();
  if (!offset)
    return std::max<int64_t>(1, elements * bits / 8 / beatBytes);
  const ContiguousRun run = contiguousRun(node.op, *offset, elements);
  // What a run-time size leaves out interrupts the run where it is inside.
  if (run.isComplete)
    return 0;
  return std::max<int64_t>(1, run.elements * bits / 8 / beatBytes);
}

LogicalResult ProgramBuilder::buildAccess(const ScheduleNode &node,
                                          TimedSequence &program) {
  TimedNode access;
  access.kind = TimedNode::Kind::Access;
  access.access = node.access;
  access.stage = node.stage;
  if (isFifo(node.access)) {
    auto fifo = derivation.fifos.find(node.target);
    if (fifo == derivation.fifos.end())
      return node.op->emitOpError("expected a stream of the group");
    access.target = fifo->second;
    for (int64_t copy = 0; copy < node.copies; ++copy) {
      program.push_back(access);
      ++access.stage;
    }
    return success();
  }
  auto port = derivation.ports.find(node.target);
  if (port == derivation.ports.end()) {
    node.op->emitWarning("memory without a port of the design is accessed, "
                         "which a timed network cannot say: the design has no "
                         "certificate of its fifo depths and is not simulated "
                         "in time");
    derivation.hasObstacle = true;
    return failure();
  }
  access.target = port->second;
  const TimedPort &info = derivation.network.memory.ports[port->second];
  const auto type = cast<MemRefType>(memoryType(node.op));
  const int64_t bits = type.getElementTypeBitWidth();
  const bool isElement = isa<memref::LoadOp, memref::StoreOp>(node.op);
  const int64_t bytes =
      std::max<int64_t>(1, (isElement ? 1 : type.getNumElements()) * bits / 8);
  access.beats =
      isElement ? node.copies
                : std::max<int64_t>(1, llvm::divideCeil(bytes, info.beatBytes));
  access.contiguous = contiguousBeats(node, info.beatBytes);
  program.push_back(access);
  return success();
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static std::string labelOf(Operation *op) {
  auto label = op->getAttrOfType<StringAttr>(hls::kLabelAttr);
  return label ? label.getValue().str() : "";
}

LogicalResult ProgramBuilder::build(ArrayRef<ScheduleNode> schedule,
                                    unsigned level, TimedSequence &program) {
  for (const ScheduleNode &node : schedule) {
    switch (node.kind) {
    case ScheduleNode::Kind::Access:
      if (failed(buildAccess(node, program)))
        return failure();
      break;
    case ScheduleNode::Kind::Wait:
      program.push_back(waitFor(node.cycles));
      break;
    case ScheduleNode::Kind::Loop: {
      scf::ForOp loop = node.loop;
      FailureOr<TripCount> trips = enter(loop, level);
      if (failed(trips))
        return failure();
      TimedNode result = timedLoop(*trips, {});
      result.label = labelOf(loop);
      if (failed(build(node.body, level + 1, result.body)))
        return failure();
      loops.pop_back();
      program.push_back(std::move(result));
      break;
    }
    case ScheduleNode::Kind::Pipeline: {
      TimedNode result =
          timedPipeline({}, node.pipeline.interval, node.pipeline.depth, {});
      unsigned inner = level;
      for (scf::ForOp loop : node.pipeline.nest) {
        FailureOr<TripCount> trips = enter(loop, inner++);
        if (failed(trips))
          return failure();
        result.trips.push_back(*trips);
      }
      result.label = labelOf(node.loop);
      if (failed(build(node.body, inner, result.body)))
        return failure();
      loops.pop_back_n(node.pipeline.nest.size());
      program.push_back(std::move(result));
      break;
    }
    case ScheduleNode::Kind::Branch: {
      auto choice = cast<scf::IfOp>(node.op);
      // A network is what each run does that has one before and one behind.
      if (choice->hasAttr(hls::kBoundaryAttr)) {
        if (failed(build(node.otherwise, level, program)))
          return failure();
        break;
      }
      std::optional<IndexExpr> condition =
          conditions.build(choice.getCondition());
      if (!condition || !condition->isEvaluable()) {
        choice.emitWarning(
            "the condition around accesses of a fifo depends on more than "
            "loops and run-time sizes, which a timed network cannot say: the "
            "design has no certificate of its fifo depths and is not simulated "
            "in time");
        derivation.hasObstacle = true;
        return failure();
      }
      TimedNode result;
      result.kind = TimedNode::Kind::Branch;
      result.condition = *condition;
      if (failed(build(node.body, level, result.body)) ||
          failed(build(node.otherwise, level, result.otherwise)))
        return failure();
      program.push_back(std::move(result));
      break;
    }
    case ScheduleNode::Kind::Call:
      derivation.bindCall(cast<func::CallOp>(node.op), *this);
      if (failed(build(node.body, level, program)))
        return failure();
      break;
    case ScheduleNode::Kind::Stages:
      return node.op->emitOpError(
          "expected overlapping stages in the outermost loop of a task only");
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Arguments of a stage stand for what the call passes.
void Derivation::bindCall(func::CallOp call, ProgramBuilder &caller) {
  auto stage = module.lookupSymbol<func::FuncOp>(call.getCallee());
  for (auto [argument, operand] :
       llvm::zip_equal(stage.getArguments(), call.getOperands())) {
    const Value stream = streamOf(operand);
    if (auto fifo = fifos.find(stream); fifo != fifos.end())
      fifos[argument] = fifo->second;
    if (isa<MemRefType>(operand.getType()))
      if (Value memory = deviceMemoryOf(operand))
        if (auto port = ports.find(memory); port != ports.end())
          ports[argument] = port->second;
    // A size, a trip count that the caller has computed, or a place.
    if (operand.getType().isIndex()) {
      counts.erase(argument);
      if (std::optional<TripCount> count = caller.countOf(operand))
        counts.insert({argument, *count});
      caller.define(argument, operand);
    }
  }
}

void Derivation::connect(const TimedSequence &sequence, unsigned process) {
  for (const TimedNode &node : sequence) {
    if (node.kind == TimedNode::Kind::Access) {
      if (node.access == AccessKind::Read)
        network.fifos[node.target].reader = process;
      else if (node.access == AccessKind::Write)
        network.fifos[node.target].writer = process;
    }
    connect(node.body, process);
    connect(node.otherwise, process);
  }
}

unsigned Derivation::addProcess(StringRef name, const TaskInfo &task,
                                TimedSequence program) {
  TimedProcess process;
  process.name = name.str();
  process.kind = task.kind;
  process.source = task.source;
  process.hasProgram = true;
  process.program = std::move(program);
  const unsigned index = network.processes.size();
  connect(process.program, index);
  network.processes.push_back(std::move(process));
  return index;
}

/// Each stage is a process that runs the segments one after the other. Between
/// neighbours one token per segment says that a half of the buffer is full, and
/// one that it is free again; both halves are free at first.
LogicalResult Derivation::addStages(const TaskInfo &task,
                                    ArrayRef<ScheduleNode> before,
                                    const ScheduleNode &stages,
                                    ArrayRef<ScheduleNode> after) {
  const size_t count = stages.body.size();
  std::vector<unsigned> full, freed;
  auto addControl = [&](const std::string &name, int64_t initialTokens) {
    TimedFifo fifo;
    fifo.name = name;
    fifo.depth = 2;
    fifo.widthBits = 1;
    fifo.initialTokens = initialTokens;
    fifo.isControl = true;
    network.fifos.push_back(fifo);
    return unsigned(network.fifos.size() - 1);
  };
  for (size_t i = 0; i + 1 < count; ++i) {
    const std::string suffix = count > 2 ? std::to_string(i) : "";
    full.push_back(addControl(task.name + "_full" + suffix, 0));
    freed.push_back(addControl(task.name + "_free" + suffix, 2));
  }
  for (size_t i = 0; i < count; ++i) {
    ProgramBuilder builder(*this);
    auto call = cast<func::CallOp>(stages.body[i].op);
    FailureOr<TripCount> segments = builder.enterSegments(stages.loop);
    if (failed(segments))
      return failure();
    TimedSequence segment;
    if (i > 0)
      segment.push_back(timedRead(full[i - 1]));
    if (i + 1 < count)
      segment.push_back(timedRead(freed[i]));
    bindCall(call, builder);
    if (failed(builder.build(stages.body[i].body, 1, segment)))
      return failure();
    if (i > 0)
      segment.push_back(timedWrite(freed[i - 1]));
    if (i + 1 < count)
      segment.push_back(timedWrite(full[i]));
    TimedSequence program;
    // What comes before the segments delays the first stage, what comes after
    // them the end of the last one.
    if (i == 0 && failed(builder.build(before, 0, program)))
      return failure();
    program.push_back(timedLoop(*segments, std::move(segment), 1));
    if (i + 1 == count && failed(builder.build(after, 0, program)))
      return failure();
    network.processes[addProcess(call.getCallee(), task, std::move(program))]
        .stageOf = task.name;
  }
  return success();
}

LogicalResult Derivation::addTask(func::FuncOp group, hls::TaskOp call) {
  auto function = module.lookupSymbol<func::FuncOp>(call.getCallee());
  const TaskInfo *task = design.findTask(call.getCallee());
  if (!function || !task)
    return call.emitOpError()
           << "expected a function named '" << call.getCallee() << "'";
  fifos.clear();
  ports.clear();
  counts.clear();
  for (auto [argument, operand] :
       llvm::zip_equal(function.getArguments(), call.getOperands())) {
    if (auto name = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), dataflow::kParameterAttr))
      counts.insert({argument, TripCount::parameter(name.getValue().str())});
    else if (auto op = operand.getDefiningOp<stream::StreamOp>())
      fifos[argument] = fifoOf.lookup(op.getSym());
    else if (operand.getType().isIndex())
      continue; // which layer: an address depends on it, no access does
    else if (const ArgumentInfo *memory = design.findArgument(task->argument))
      ports[argument] = portOf.lookup(memory->bundle);
  }
  const ScheduleSequence schedule = scheduleTask(function);
  const auto stages = llvm::find_if(schedule, [](const ScheduleNode &node) {
    return node.kind == ScheduleNode::Kind::Stages;
  });
  if (stages != schedule.end())
    return addStages(
        *task, ArrayRef(schedule).take_front(stages - schedule.begin()),
        *stages, ArrayRef(schedule).drop_front(stages - schedule.begin() + 1));
  TimedSequence program;
  if (failed(ProgramBuilder(*this).build(schedule, 0, program)))
    return failure();
  addProcess(task->name, *task, std::move(program));
  return success();
}

//===----------------------------------------------------------------------===//
// Designs
//===----------------------------------------------------------------------===//

void Derivation::addMemory() {
  const bool isSpread = device.memoryChannels > 1;
  const double channels = isSpread ? double(device.memoryChannels) : 1;
  const double bytesPerCycle = device.peakGigabytesPerSecond *
                               device.memoryEfficiency / channels * 1e3 /
                               double(device.clockMHz);
  network.memory.peakBytesPerCycle =
      device.peakGigabytesPerSecond * 1e3 / double(device.clockMHz);
  network.memory.efficiency = device.memoryEfficiency;
  llvm::StringMap<unsigned> channelOf;
  auto channelNamed = [&](const std::string &name) {
    auto [entry, isNew] =
        channelOf.try_emplace(name, network.memory.channels.size());
    if (isNew)
      network.memory.channels.push_back(
          {name, bytesPerCycle, device.memoryLatencyCycles});
    return entry->second;
  };
  for (const ArgumentInfo &argument : design.arguments) {
    if (argument.bundle.empty() || portOf.count(argument.bundle))
      continue;
    TimedPort port;
    port.name = argument.bundle;
    port.channel = channelNamed(isSpread && argument.channel >= 0
                                    ? device.memoryKind + "[" +
                                          std::to_string(argument.channel) + "]"
                                    : device.memoryKind);
    int64_t bits = argument.portBits;
    for (const ArgumentInfo &other : design.arguments)
      if (other.bundle == argument.bundle)
        bits = std::max(bits, other.portBits);
    port.beatBytes = std::max<int64_t>(1, bits / 8);
    port.burstBeats = std::max<int64_t>(1, argument.burstBeats);
    portOf[argument.bundle] = network.memory.ports.size();
    network.memory.ports.push_back(std::move(port));
  }
}

LogicalResult Derivation::addGroup(func::FuncOp group) {
  const unsigned firstProcess = network.processes.size();
  for (auto op : group.getOps<stream::StreamOp>()) {
    TimedFifo fifo;
    fifo.name = op.getSym().str();
    fifo.depth = op.getType().getDepth();
    fifo.widthBits = op.getType().getTokenBits();
    if (auto stages = op->getAttrOfType<IntegerAttr>(dataflow::kCrossingAttr))
      fifo.crossing = stages.getInt();
    fifo.isCarried = op->hasAttr(hls::kFeedbackAttr);
    fifoOf[fifo.name] = network.fifos.size();
    network.fifos.push_back(std::move(fifo));
  }
  for (auto call : group.getOps<hls::TaskOp>())
    if (failed(addTask(group, call)))
      return failure();
  const unsigned end = network.processes.size();
  // The end of the group before is the last process in front of this one.
  if (firstProcess > 0)
    for (unsigned process = firstProcess; process < end; ++process)
      network.pingPongs.push_back({network.processes[process].name + "_begin",
                                   firstProcess - 1, process});
  if (design.groups.size() > 1) {
    TimedProcess last;
    last.name = group.getName().str() + "_end";
    last.kind = "join";
    last.hasProgram = true;
    network.processes.push_back(std::move(last));
    for (unsigned process = firstProcess; process < end; ++process)
      network.pingPongs.push_back(
          {network.processes[process].name + "_end", process, end});
  }
  return success();
}

FailureOr<std::optional<TimedNetwork>> Derivation::run() {
  network.design = design.function;
  network.clockNs = 1e3 / double(device.clockMHz);
  for (const dataflow::ParameterRange &parameter : design.parameters)
    network.parameters.push_back(
        {parameter.name, parameter.smallest, parameter.largest});
  network.launchCycles =
      std::llround(device.launchMicroseconds * double(device.clockMHz));
  // A design with state cannot begin a run before the last one has written it;
  // one of several groups runs them in turn.
  for (auto function : module.getOps<func::FuncOp>())
    if (auto repeat = function->getAttrOfType<StringAttr>(hls::kRepeatAttr))
      network.repeat = repeat.str();
  // The runs of one launch have state of their own each.
  network.serialInvocations =
      design.groups.size() > 1 ||
      (network.repeat.empty() &&
       llvm::any_of(design.arguments, [](const ArgumentInfo &argument) {
         return argument.role == "cache";
       }));
  addMemory();
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(hls::kDataflowAttr) && failed(addGroup(function))) {
      if (hasObstacle)
        return std::optional<TimedNetwork>();
      return failure();
    }
  if (std::optional<std::string> fault = network.check())
    return module.emitError()
           << "internal error: the timed network is wrong: " << *fault;
  return std::optional<TimedNetwork>(std::move(network));
}

FailureOr<std::optional<TimedNetwork>>
streamtensor::deriveNetwork(ModuleOp module, const DesignInfo &design,
                            const DeviceInfo &device) {
  return Derivation(module, design, device).run();
}
