//===- DesignInfo.cpp - Facts of a finished design ------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a module of phase `hls`.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Report/DesignInfo.h"

#include "streamtensor/Analysis/Estimate/LoopFacts.h"
#include "streamtensor/Dialect/Dataflow/IR/Placement.h"
#include "streamtensor/Dialect/Dataflow/IR/ValueNames.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"
#include "streamtensor/Support/StreamLimits.h"
#include "streamtensor/Target/Report/ExecutionCounts.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;

static std::vector<int64_t> toVector(ArrayRef<int64_t> values) {
  return std::vector<int64_t>(values.begin(), values.end());
}

static std::string stringAttr(Attribute attr) {
  auto text = dyn_cast_or_null<StringAttr>(attr);
  return text ? text.str() : std::string();
}

const ArgumentInfo *DesignInfo::findArgument(StringRef name) const {
  for (const ArgumentInfo &argument : arguments)
    if (argument.name == name)
      return &argument;
  return nullptr;
}

const TaskInfo *DesignInfo::findTask(StringRef name) const {
  for (const TaskInfo &task : tasks)
    if (task.name == name)
      return &task;
  return nullptr;
}

std::vector<std::pair<std::string, ResourceUse>> DesignInfo::ports() const {
  std::vector<std::pair<std::string, ResourceUse>> result;
  llvm::StringMap<int64_t> bundles;
  for (const ArgumentInfo &argument : arguments) {
    int64_t &bits = bundles[argument.bundle];
    bits = std::max(bits, argument.portBits);
  }
  for (const ArgumentInfo &argument : arguments) {
    auto bundle = bundles.find(argument.bundle);
    if (bundle == bundles.end())
      continue;
    result.emplace_back(argument.bundle,
                        estimatePort(bundle->second, argument.burstBeats));
    bundles.erase(bundle);
  }
  return result;
}

ResourceUse DesignInfo::resources() const {
  ResourceUse total;
  for (const TaskInfo &task : tasks)
    total += task.estimate.resources;
  for (const FifoInfo &fifo : fifos)
    total += fifo.resources();
  for (const auto &[bundle, use] : ports())
    total += use;
  return total;
}

/// The spelling of safetensors, empty for types without one.
static std::string dtypeName(Type type) {
  if (type.isF32())
    return "F32";
  if (type.isF16())
    return "F16";
  if (type.isBF16())
    return "BF16";
  if (type.isInteger(1))
    return "BOOL";
  if (type.isInteger(8) || type.isInteger(16) || type.isInteger(32) ||
      type.isInteger(64))
    return (type.isUnsignedInteger() ? "U" : "I") +
           std::to_string(type.getIntOrFloatBitWidth());
  return {};
}

/// The same of what the C simulation keeps an integer of any width in.
static std::string simulatedDtypeName(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() == 1)
    return dtypeName(type);
  const uint64_t width =
      std::max<uint64_t>(8, llvm::PowerOf2Ceil(integer.getWidth()));
  return dtypeName(IntegerType::get(type.getContext(), width));
}

/// The shape of the memory whose row-major strides `type` has. Fails when they
/// are none.
static FailureOr<std::vector<int64_t>> bufferShape(MemRefType type) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return failure();
  std::vector<int64_t> shape(type.getRank());
  int64_t inner = 1;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    int64_t size = type.getDimSize(dim);
    if (strides[dim] != inner && size != 1)
      return failure();
    if (dim > 0 && type.getDimSize(dim - 1) != 1) {
      if (strides[dim - 1] % inner != 0)
        return failure();
      shape[dim] = strides[dim - 1] / inner;
    } else {
      shape[dim] = size;
    }
    if (shape[dim] < size)
      return failure();
    inner *= shape[dim];
  }
  return shape;
}

/// `shape`, where its row-major strides are those of `type`. Which dimension is
/// larger in memory cannot be seen where one of its neighbours has size 1.
static FailureOr<std::vector<int64_t>>
checkBufferShape(MemRefType type, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  // A reshape of the argument's own shape was bufferized.
  if (type.getRank() != int64_t(shape.size()))
    return toVector(shape);
  if (failed(type.getStridesAndOffset(strides, offset)) || offset != 0)
    return failure();
  int64_t inner = 1;
  for (int64_t dim = type.getRank(); dim-- > 0;) {
    const int64_t size = type.getDimSize(dim);
    if (size > shape[dim] || (size != 1 && strides[dim] != inner))
      return failure();
    inner *= shape[dim];
  }
  return toVector(shape);
}

namespace {

class Collector {
public:
  explicit Collector(ModuleOp module) : module(module) {}
  FailureOr<DesignInfo> run();

private:
  LogicalResult collectArgument(func::FuncOp top, unsigned index);
  LogicalResult collectGroup(func::FuncOp group);
  void collectFusion(func::FuncOp top);
  LogicalResult collectTask(func::FuncOp group, hls::TaskOp call);
  std::string argumentOf(func::FuncOp group, BlockArgument parameter);
  void collectBuffers(func::FuncOp function, const TaskInfo &task);
  void chooseMacsFifo(TaskInfo &task, func::FuncOp function,
                      const llvm::StringMap<BlockArgument> &streams);
  FifoInfo *findFifo(StringRef name);

  ModuleOp module;
  DesignInfo design;
  /// Names of arguments by their C++ name.
  llvm::StringMap<std::string> argumentOfVariable;
};

} // namespace

FifoInfo *Collector::findFifo(StringRef name) {
  for (FifoInfo &fifo : design.fifos)
    if (fifo.name == name)
      return &fifo;
  return nullptr;
}

LogicalResult Collector::collectArgument(func::FuncOp top, unsigned index) {
  auto type = cast<MemRefType>(top.getArgument(index).getType());
  ArgumentInfo info;
  info.variable = stringAttr(top.getArgAttr(index, hls::kNameAttr));
  info.name = stringAttr(top.getArgAttr(index, "dataflow.name"));
  if (info.name.empty())
    info.name = info.variable;
  info.role = stringAttr(top.getArgAttr(index, "dataflow.role"));
  info.file = stringAttr(top.getArgAttr(index, "dataflow.file"));
  if (info.role.empty())
    return top.emitOpError()
           << "expected 'dataflow.role' on argument '" << info.name << "'";
  info.dtype = stringAttr(top.getArgAttr(index, "dataflow.dtype"));
  if (info.dtype.empty())
    info.dtype = dtypeName(type.getElementType());
  if (info.dtype.empty())
    return top.emitOpError() << "expected argument '" << info.name
                             << "' to have an element type with a file form "
                                "but got "
                             << type.getElementType();
  int64_t elementBytes =
      llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
  // `dataflow.shape` is the shape that the packing covers, which a reshape may
  // have made another than the argument's own.
  auto shape =
      top.getArgAttrOfType<DenseI64ArrayAttr>(index, "dataflow.tensor_shape");
  if (!shape)
    shape = top.getArgAttrOfType<DenseI64ArrayAttr>(index, "dataflow.shape");
  info.shape = toVector(shape ? shape.asArrayRef() : type.getShape());
  if (Attribute dims = top.getArgAttr(index, dataflow::kDimsAttr)) {
    FailureOr<dataflow::RuntimeShape> sizes = dataflow::readShape(
        RankedTensorType::get(info.shape, type.getElementType()), dims, [&] {
          return top.emitOpError() << "argument '" << info.name << "': ";
        });
    if (failed(sizes))
      return failure();
    if (!sizes->isStatic())
      for (const TripCount &size : sizes->sizes)
        info.dims.push_back(size.str());
  }
  info.value = dyn_cast_or_null<DenseElementsAttr>(
      top.getArgAttr(index, "dataflow.value"));
  if (auto packing =
          top.getArgAttrOfType<TypeAttr>(index, "dataflow.packing")) {
    auto order = cast<itensor::ITensorType>(packing.getValue());
    info.packing = order.getOrder();
    info.packing->element = info.packing->elementShape();
    info.packedShape = toVector(order.getTensorShape());
    info.bufferShape = info.shape;
  } else {
    auto buffer =
        top.getArgAttrOfType<DenseI64ArrayAttr>(index, "dataflow.buffer_shape");
    FailureOr<std::vector<int64_t>> memory =
        buffer ? checkBufferShape(type, buffer.asArrayRef())
               : bufferShape(type);
    if (failed(memory))
      return top.emitOpError()
             << "expected argument '" << info.name
             << "' to have row-major strides but got " << type;
    info.bufferShape = shape && !buffer ? info.shape : *memory;
  }
  int64_t elements = 1;
  for (int64_t size : info.bufferShape)
    elements *= size;
  info.bytes = elements * elementBytes;
  if (auto port = top.getArgAttrOfType<hls::InterfaceAttr>(
          index, hls::kInterfaceAttr)) {
    info.bundle = port.getBundle().str();
    info.burstBeats = port.getBurst();
  }
  auto packed = top.getArgAttrOfType<IntegerAttr>(index, hls::kPackedAttr);
  int64_t lanes = packed ? packed.getInt() : 1;
  info.portBits = std::min<int64_t>(
      kMaxPortBits, llvm::PowerOf2Ceil(lanes * elementBytes * 8));
  argumentOfVariable[info.variable] = info.name;
  design.arguments.push_back(std::move(info));
  return success();
}

void Collector::collectBuffers(func::FuncOp function, const TaskInfo &task) {
  auto reason = stringAttr(function->getAttr("reason"));
  auto shared = function->getAttrOfType<IntegerAttr>("shared_loops");
  function.walk([&](stream::BufferOp op) {
    auto type = cast<MemRefType>(op.getType());
    BufferInfo info;
    info.name = op.getSym().str();
    info.task = task.name;
    info.taskKind = task.kind;
    info.shape = toVector(type.getShape());
    info.pingPong = op.getPingPong();
    info.bytes = llvm::divideCeil(
                     type.getNumElements() * type.getElementTypeBitWidth(), 8) *
                 (info.pingPong ? 2 : 1);
    if (auto storage = op->getAttrOfType<hls::StorageAttr>(hls::kStorageAttr))
      info.memory = storage.getMemory().str();
    else
      info.memory = "registers";
    info.reason = reason;
    info.sharedLoops = shared ? shared.getInt() : 0;
    design.buffers.push_back(std::move(info));
  });
}

/// The FIFO with most tokens that count the work of the task: inputs first,
/// because a task with a reduction writes only at its end.
void Collector::chooseMacsFifo(TaskInfo &task, func::FuncOp function,
                               const llvm::StringMap<BlockArgument> &streams) {
  if (task.macs == 0)
    return;
  for (const std::vector<std::string> *names : {&task.inputs, &task.outputs}) {
    int64_t most = 0;
    for (const std::string &name : *names) {
      const FifoInfo *fifo = findFifo(name);
      if (fifo->tokens <= most || task.macs % fifo->tokens != 0 ||
          !countsWork(function, streams.lookup(name), design.parameters))
        continue;
      most = fifo->tokens;
      task.macsFifo = name;
      task.macsPerToken = task.macs / most;
    }
    if (most != 0)
      return;
  }
  if (!design.parameters.empty())
    function.emitWarning() << "expected a FIFO of task '" << task.name
                           << "' whose tokens are in proportion to its "
                              "multiply-accumulates but got none; a run does "
                              "not count them";
}

/// The name of the argument that `group` is called with for `parameter`, which
/// is called otherwise where one argument stands for several.
std::string Collector::argumentOf(func::FuncOp group, BlockArgument parameter) {
  const unsigned index = parameter.getArgNumber();
  std::string variable = stringAttr(group.getArgAttr(index, hls::kNameAttr));
  if (auto uses = SymbolTable::getSymbolUses(group, module))
    for (SymbolTable::SymbolUse use : *uses)
      if (auto call = dyn_cast<func::CallOp>(use.getUser()))
        if (auto memory = dyn_cast_or_null<BlockArgument>(
                deviceMemoryOf(call.getOperand(index))))
          variable =
              stringAttr(call->getParentOfType<func::FuncOp>().getArgAttr(
                  memory.getArgNumber(), hls::kNameAttr));
  auto name = argumentOfVariable.find(variable);
  return name == argumentOfVariable.end() ? variable : name->second;
}

LogicalResult Collector::collectTask(func::FuncOp group, hls::TaskOp call) {
  auto function = module.lookupSymbol<func::FuncOp>(call.getCallee());
  if (!function)
    return call.emitOpError()
           << "expected a function named '" << call.getCallee() << "'";
  TaskInfo task;
  task.name = call.getCallee().str();
  task.kind = stringAttr(function->getAttr("kind"));
  task.group = group.getName().str();
  task.source = stringAttr(function->getAttr("source"));
  task.die = stringAttr(function->getAttr(dataflow::kDieAttr));
  task.scheduleReason =
      stringAttr(function->getAttr("dataflow.schedule_reason"));
  if (auto macs = function->getAttrOfType<IntegerAttr>("macs"))
    task.macs = macs.getInt();
  task.estimate = estimateTask(function);
  DmaInfo dma;
  llvm::StringMap<BlockArgument> streams;
  for (auto [index, operand] : llvm::enumerate(call.getOperands())) {
    if (function.getArgAttr(index, dataflow::kParameterAttr))
      continue;
    if (operand.getType().isIndex())
      continue;
    std::string direction =
        stringAttr(function.getArgAttr(index, hls::kDirectionAttr));
    if (direction != "in" && direction != "out")
      return function.emitOpError()
             << "expected '" << hls::kDirectionAttr << "' of argument " << index
             << " to be \"in\" or \"out\"";
    if (auto op = operand.getDefiningOp<stream::StreamOp>()) {
      FifoInfo *fifo = findFifo(op.getSym());
      (direction == "in" ? task.inputs : task.outputs).push_back(fifo->name);
      (direction == "in" ? fifo->consumer : fifo->producer) = task.name;
      streams[fifo->name] = function.getArgument(index);
      if (op->hasAttr(hls::kFeedbackAttr)) {
        dma.exceptFifo = fifo->name;
        dma.exceptBytesPerToken = llvm::divideCeil(fifo->tokenBits, 8);
        continue;
      }
      dma.fifo = fifo->name;
      dma.bytesPerToken = llvm::divideCeil(fifo->tokenBits, 8);
      dma.bytes = dma.bytesPerToken * fifo->tokens;
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument)
      return call.emitOpError() << "expected streams and arguments of '"
                                << group.getName() << "' as operands";
    task.argument = argumentOf(group, argument);
  }
  if (task.kind == "dma_in" || task.kind == "dma_out") {
    dma.name = task.name;
    dma.direction = task.kind == "dma_in" ? "in" : "out";
    dma.argument = task.argument;
    design.dma.push_back(std::move(dma));
  }
  collectBuffers(function, task);
  chooseMacsFifo(task, function, streams);
  design.tasks.push_back(std::move(task));
  return success();
}

void Collector::collectFusion(func::FuncOp top) {
  auto decisions = top->getAttrOfType<ArrayAttr>("dataflow.fusion");
  if (!decisions)
    return;
  for (auto entry : decisions.getAsRange<DictionaryAttr>()) {
    FusionInfo info;
    info.op = stringAttr(entry.get("op"));
    info.producer = stringAttr(entry.get("producer"));
    if (auto fused = entry.getAs<BoolAttr>("fused"))
      info.fused = fused.getValue();
    info.reason = stringAttr(entry.get("reason"));
    design.fusion.push_back(std::move(info));
  }
}

LogicalResult Collector::collectGroup(func::FuncOp group) {
  design.groups.push_back(group.getName().str());
  for (auto op : group.getOps<stream::StreamOp>()) {
    if (findFifo(op.getSym()))
      return op.emitOpError() << "expected each stream name once in a design "
                                 "but got '"
                              << op.getSym() << "' again";
    FifoInfo fifo;
    fifo.name = op.getSym().str();
    fifo.group = group.getName().str();
    fifo.reason = op.getReason() ? op.getReason()->str() : "";
    fifo.depth = op.getType().getDepth();
    if (auto stages = op->getAttrOfType<IntegerAttr>(dataflow::kCrossingAttr))
      fifo.crossing = stages.getInt();
    if (auto memory = op->getAttrOfType<StringAttr>(dataflow::kMemoryAttr))
      fifo.memory = parseMemoryKind(memory);
    fifo.tokens = op.getTokens() ? static_cast<int64_t>(*op.getTokens()) : 0;
    fifo.tokenBits = op.getType().getTokenBits();
    auto order = op->getAttrOfType<TypeAttr>(dataflow::kOrderAttr);
    auto values = op->getAttrOfType<ArrayAttr>(dataflow::kValuesAttr);
    if (order && values) {
      for (auto value : values.getAsRange<StringAttr>())
        fifo.values.push_back(value.str());
      auto type = cast<itensor::ITensorType>(order.getValue());
      fifo.order = type.getSymbolicOrder();
      fifo.dtype = simulatedDtypeName(op.getType().getElementType());
    }
    if (fifo.tokens <= 0)
      return op.emitOpError() << "expected the number of tokens of stream '"
                              << op.getSym() << "'";
    design.fifos.push_back(std::move(fifo));
  }
  for (auto call : group.getOps<hls::TaskOp>())
    if (failed(collectTask(group, call)))
      return failure();
  return success();
}

FailureOr<DesignInfo> Collector::run() {
  func::FuncOp top;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(hls::kTopAttr))
      top = function;
  if (!top)
    return module.emitOpError() << "expected a function marked '"
                                << hls::kTopAttr << "' (phase hls)";
  design.function = top.getName().str();
  collectFusion(top);
  for (const dataflow::ParameterRange &parameter : dataflow::parametersOf(top))
    design.parameters.push_back(parameter);
  for (unsigned index = 0; index < top.getNumArguments(); ++index)
    if (!top.getArgAttr(index, dataflow::kParameterAttr) &&
        failed(collectArgument(top, index)))
      return failure();
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(hls::kDataflowAttr))
      if (failed(collectGroup(function)))
        return failure();
  return std::move(design);
}

FailureOr<DesignInfo> streamtensor::collectDesign(ModuleOp module) {
  return Collector(module).run();
}
