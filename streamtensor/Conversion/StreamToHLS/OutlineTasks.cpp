//===- OutlineTasks.cpp - Kernels and tasks become functions --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A task's function gets what the task uses as parameters: what it reads first,
// then what it writes, each in the order of first use, and at last the run-time
// parameters of its trip counts. Constants, trip counts and other spellings of
// a stream are copied into it.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/StreamToHLS/Steps.h"

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/HLS/IR/Identifiers.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor;
using dataflow::KernelOp;
using dataflow::TaskOp;

namespace {

/// What a parameter of a task is used for.
enum class Direction { In, Out };

/// The outlining of one kernel.
class KernelOutliner {
public:
  KernelOutliner(KernelOp kernel, func::FuncOp top,
                 hls::UniqueIdentifiers &symbols)
      : kernel(kernel), top(top), symbols(symbols),
        builder(kernel.getContext()),
        runtimeParameters(dataflow::parametersOf(top)) {}

  LogicalResult run();

private:
  void createGroup();
  LogicalResult outline(TaskOp task);
  LogicalResult collectParameters(TaskOp task);
  std::string parameterName(TaskOp task, Value value, Direction direction,
                            unsigned position, unsigned count);
  std::string originOf(TaskOp task);
  std::string comment(TaskOp task, StringRef name);

  KernelOp kernel;
  func::FuncOp top, group;
  hls::UniqueIdentifiers &symbols;
  OpBuilder builder;
  SmallVector<dataflow::ParameterRange> runtimeParameters;
  /// Values of the kernel and what stands for them in the group's function.
  IRMapping mapping;
  /// Parameters of the task at hand, values of the kernel.
  llvm::MapVector<Value, Direction> parameters;
  /// Where the data of a stream comes from, for names: the task that computes
  /// or loads it.
  DenseMap<Value, std::string> origins;
};

} // namespace

/// The stream or memory that `value` is a view of.
static Value baseOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto cast = dyn_cast<stream::CastOp>(op))
      value = cast.getSource();
    else if (auto view = dyn_cast<ViewLikeOpInterface>(op))
      value = view.getViewSource();
    else
      break;
  }
  return value;
}

/// Copies an attribute of the top function's argument behind `value`.
static Attribute topAttribute(func::FuncOp top, Value value, StringRef name) {
  auto argument = dyn_cast<BlockArgument>(baseOf(value));
  if (!argument || argument.getOwner() != &top.getBody().front())
    return {};
  return top.getArgAttr(argument.getArgNumber(), name);
}

/// Views other than reshapes would need an offset in the call.
static LogicalResult checkOperands(KernelOp kernel) {
  for (Value input : kernel.getInputs())
    for (Value value = input; Operation *op = value.getDefiningOp();) {
      if (!isa<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(
              op))
        return op->emitOpError()
               << "expected memory or a reshape of it as operand of kernel '"
               << kernel.getSym() << "'";
      value = cast<ViewLikeOpInterface>(op).getViewSource();
    }
  return success();
}

/// Adds a use of memory: what is read by one and written by another is both.
static void mergeDirection(func::FuncOp function, unsigned argument,
                           StringRef direction) {
  auto known =
      function.getArgAttrOfType<StringAttr>(argument, hls::kDirectionAttr);
  if (known && known.getValue() != direction)
    direction = "inout";
  function.setArgAttr(argument, hls::kDirectionAttr,
                      StringAttr::get(function.getContext(), direction));
}

void KernelOutliner::createGroup() {
  builder.setInsertionPoint(top);
  std::string name = symbols.get(kernel.getSym());
  SmallVector<Type> types(kernel.getBlock().getArgumentTypes());
  llvm::append_range(types, SmallVector<Type>(runtimeParameters.size(),
                                              builder.getIndexType()));
  auto type = builder.getFunctionType(types, {});
  group = func::FuncOp::create(builder, kernel.getLoc(), name, type);
  group.setPrivate();
  group->setAttr(hls::kDataflowAttr, builder.getUnitAttr());
  Block *body = group.addEntryBlock();
  hls::UniqueIdentifiers names;
  for (auto [index, argument] :
       llvm::enumerate(kernel.getBlock().getArguments())) {
    mapping.map(argument, body->getArgument(index));
    Value input = kernel.getInputs()[index];
    auto base =
        dyn_cast_or_null<StringAttr>(topAttribute(top, input, hls::kNameAttr));
    group.setArgAttr(
        index, hls::kNameAttr,
        builder.getStringAttr(names.get(base ? base.getValue() : "memory")));
    if (Attribute packed = topAttribute(top, input, hls::kPackedAttr))
      group.setArgAttr(index, hls::kPackedAttr, packed);
  }
  for (auto [position, parameter] : llvm::enumerate(runtimeParameters)) {
    unsigned index = kernel.getInputs().size() + position;
    group.setArgAttr(index, hls::kNameAttr,
                     builder.getStringAttr(names.get(parameter.name)));
    group.setArgAttr(index, dataflow::kParameterAttr,
                     builder.getStringAttr(parameter.name));
  }
}

/// Finds what `task` uses of its kernel; constants, trip counts and casts are
/// copied into the task before.
LogicalResult KernelOutliner::collectParameters(TaskOp task) {
  parameters.clear();
  bool changed = true;
  while (changed) {
    changed = false;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(task.getBody(), captured);
    for (Value value : captured) {
      Operation *op = value.getDefiningOp();
      if (!op || isa<stream::StreamOp>(op))
        continue;
      if (!op->hasTrait<OpTrait::ConstantLike>() &&
          !isa<stream::CastOp, memref::GetGlobalOp, dataflow::TripCountOp>(op))
        return op->emitOpError()
               << "expected a task to use streams, memory and constants of "
                  "its kernel only, but '"
               << task.getSym() << "' uses this";
      builder.setInsertionPointToStart(&task.getBlock());
      Operation *copy = builder.clone(*op);
      replaceAllUsesInRegionWith(value, copy->getResult(0), task.getBody());
      changed = true;
    }
  }
  llvm::MapVector<Value, Direction> used;
  auto use = [&](Value value, Direction direction) {
    Value base = baseOf(value);
    if (base.getParentBlock() != &kernel.getBlock())
      return;
    auto [entry, isNew] = used.insert({base, direction});
    if (direction == Direction::Out)
      entry->second = Direction::Out;
  };
  task.walk([&](Operation *op) {
    TypeSwitch<Operation *>(op)
        .Case<stream::ReadOp>([&](auto read) {
          use(read.getSource(), Direction::In);
          if (read.getDest())
            use(read.getDest(), Direction::Out);
        })
        .Case<stream::WriteOp>([&](auto write) {
          if (isa<MemRefType>(write.getValue().getType()))
            use(write.getValue(), Direction::In);
          use(write.getDest(), Direction::Out);
        })
        .Case<memref::LoadOp>(
            [&](auto load) { use(load.getMemRef(), Direction::In); })
        .Case<memref::StoreOp>(
            [&](auto store) { use(store.getMemRef(), Direction::Out); });
  });
  for (Direction direction : {Direction::In, Direction::Out})
    for (auto [value, actual] : used)
      if (actual == direction)
        parameters.insert({value, direction});
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(task.getBody(), captured);
  for (Value value : captured)
    if (!parameters.contains(value))
      return task.emitOpError()
             << "expected loads, stores and stream accesses only but found "
                "another use of a value of type "
             << value.getType();
  return success();
}

std::string KernelOutliner::parameterName(TaskOp task, Value value,
                                          Direction direction,
                                          unsigned position, unsigned count) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return group
        .getArgAttrOfType<StringAttr>(argument.getArgNumber(), hls::kNameAttr)
        .str();
  if (direction == Direction::Out)
    return count == 1 ? "out" : "out" + std::to_string(position);
  if (count == 1)
    return "in";
  std::string origin = origins.lookup(value);
  return origin.empty() ? "in" + std::to_string(position) : origin;
}

/// Forks and converters only pass on what another task made.
std::string KernelOutliner::originOf(TaskOp task) {
  if (task.getKind() == "fork" || task.getKind() == "converter")
    for (auto [value, direction] : parameters)
      if (direction == Direction::In && origins.count(value))
        return origins[value];
  StringRef name = task.getSym();
  name.consume_front("load_");
  return name.str();
}

/// "16x4 f32"
static std::string describe(ArrayRef<int64_t> shape, Type elementType) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(shape, stream, "x");
  if (!shape.empty())
    stream << ' ';
  stream << elementType;
  return text;
}

std::string KernelOutliner::comment(TaskOp task, StringRef name) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << name << ": ";
  auto source = task->getAttrOfType<StringAttr>("source");
  bool hasSource = source && !source.empty();
  if (!hasSource || task.getKind() != "compute")
    stream << task.getKind() << (hasSource ? " of " : "");
  if (hasSource)
    stream << source.getValue();
  for (auto [value, direction] : parameters) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      continue;
    Value input = kernel.getInputs()[argument.getArgNumber()];
    auto type = cast<MemRefType>(argument.getType());
    auto shape = dyn_cast_or_null<DenseI64ArrayAttr>(
        topAttribute(top, input, "dataflow.shape"));
    auto packing = dyn_cast_or_null<TypeAttr>(
        topAttribute(top, input, "dataflow.packing"));
    stream << ", " << (direction == Direction::In ? "reads " : "writes ")
           << group
                  .getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                hls::kNameAttr)
                  .getValue()
           << " ("
           << describe(shape ? shape.asArrayRef() : type.getShape(),
                       type.getElementType());
    if (packing) {
      stream << ", packed ";
      llvm::interleave(
          cast<itensor::ITensorType>(packing.getValue()).getElementShape(),
          stream, "x");
    }
    stream << ')';
  }
  for (auto [value, direction] : parameters)
    if (auto op = value.getDefiningOp<stream::StreamOp>()) {
      stream << (direction == Direction::In ? ", in " : ", out ");
      if (op.getTokens())
        stream << *op.getTokens() << " x ";
      stream << op.getType().getTokenBits() << " bits";
    }
  if (auto macs = task->getAttrOfType<IntegerAttr>("macs"))
    stream << ", " << macs.getInt() << " multiply-accumulates";
  if (task.walk([](dataflow::TripCountOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    stream << ", at the largest sizes";
  for (char &c : text)
    if (c == '\n' || c == '\r' || c == '\\')
      c = ' ';
  return text;
}

LogicalResult KernelOutliner::outline(TaskOp task) {
  if (failed(collectParameters(task)))
    return failure();
  std::string name = symbols.get(task.getSym());
  SmallVector<Type> types;
  SmallVector<Value> operands;
  for (auto [value, direction] : parameters) {
    types.push_back(value.getType());
    operands.push_back(mapping.lookup(value));
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(group);
  auto function = func::FuncOp::create(builder, task.getLoc(), name,
                                       builder.getFunctionType(types, {}));
  function.setPrivate();
  function->setDiscardableAttrs(task->getDiscardableAttrDictionary());
  // Visibility is an inherent attribute; the line above leaves it alone.
  function->setAttr("kind", builder.getStringAttr(task.getKind()));
  function->setAttr(hls::kTaskAttr, builder.getUnitAttr());
  function->setAttr(hls::kCommentAttr,
                    builder.getStringAttr(comment(task, name)));
  Block *body = function.addEntryBlock();
  unsigned counts[2] = {0, 0}, positions[2] = {0, 0};
  for (auto [value, direction] : parameters)
    if (!isa<BlockArgument>(value))
      ++counts[direction == Direction::Out];
  hls::UniqueIdentifiers names;
  for (auto [index, parameter] : llvm::enumerate(parameters)) {
    auto [value, direction] = parameter;
    bool isOut = direction == Direction::Out;
    unsigned position = isa<BlockArgument>(value) ? 0 : positions[isOut]++;
    function.setArgAttr(index, hls::kNameAttr,
                        builder.getStringAttr(names.get(parameterName(
                            task, value, direction, position, counts[isOut]))));
    function.setArgAttr(index, hls::kDirectionAttr,
                        builder.getStringAttr(isOut ? "out" : "in"));
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned number = argument.getArgNumber();
      if (Attribute packed = group.getArgAttr(number, hls::kPackedAttr))
        function.setArgAttr(index, hls::kPackedAttr, packed);
      mergeDirection(group, number, isOut ? "out" : "in");
    } else if (isOut) {
      origins[value] = originOf(task);
    }
    replaceAllUsesInRegionWith(value, body->getArgument(index), task.getBody());
  }
  Operation *yield = task.getYield();
  body->getOperations().splice(body->end(), task.getBlock().getOperations(),
                               task.getBlock().begin(), yield->getIterator());
  builder.setInsertionPointToEnd(body);
  func::ReturnOp::create(builder, task.getLoc());
  if (failed(lowerTripCounts(function, runtimeParameters, names)))
    return failure();
  llvm::StringMap<BlockArgument> ofGroup = parameterArguments(group);
  for (BlockArgument argument :
       function.getArguments().drop_front(operands.size()))
    operands.push_back(
        ofGroup[function
                    .getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                  dataflow::kParameterAttr)
                    .getValue()]);
  builder.setInsertionPointToEnd(&group.getBody().front());
  hls::TaskOp::create(builder, task.getLoc(), name, operands);
  return success();
}

LogicalResult KernelOutliner::run() {
  if (failed(checkOperands(kernel)))
    return failure();
  createGroup();
  Block *body = &group.getBody().front();
  builder.setInsertionPointToStart(body);
  // A stream must not be called like an argument of its function.
  hls::UniqueIdentifiers names;
  for (unsigned index = 0; index < group.getNumArguments(); ++index)
    names.get(
        group.getArgAttrOfType<StringAttr>(index, hls::kNameAttr).getValue());
  for (auto op : kernel.getOps<stream::StreamOp>()) {
    auto copy = cast<stream::StreamOp>(builder.clone(*op, mapping));
    copy.setSym(names.get(op.getSym()));
  }
  for (Operation &op :
       llvm::make_early_inc_range(kernel.getBlock().without_terminator())) {
    if (auto task = dyn_cast<TaskOp>(op)) {
      if (failed(outline(task)))
        return failure();
      continue;
    }
    if (isa<stream::StreamOp, stream::CastOp, memref::GetGlobalOp,
            dataflow::TripCountOp>(op) ||
        op.hasTrait<OpTrait::ConstantLike>())
      continue;
    return op.emitOpError() << "expected streams, tasks and constants only in "
                               "kernel '"
                            << kernel.getSym() << "'";
  }
  builder.setInsertionPointToEnd(body);
  hls::JoinOp::create(builder, kernel.getLoc());
  func::ReturnOp::create(builder, kernel.getLoc());
  for (unsigned index = 0; index < kernel.getInputs().size(); ++index) {
    auto direction =
        group.getArgAttrOfType<StringAttr>(index, hls::kDirectionAttr);
    auto base = dyn_cast<BlockArgument>(baseOf(kernel.getInputs()[index]));
    if (!direction || !base)
      continue;
    unsigned number = base.getArgNumber();
    mergeDirection(top, number, direction.getValue());
  }
  builder.setInsertionPoint(kernel);
  SmallVector<Value> operands(kernel.getInputs());
  llvm::StringMap<BlockArgument> ofTop = parameterArguments(top);
  for (const dataflow::ParameterRange &parameter : runtimeParameters)
    operands.push_back(ofTop[parameter.name]);
  func::CallOp::create(builder, kernel.getLoc(), group, operands);
  kernel.erase();
  return success();
}

LogicalResult streamtensor::outlineTasks(func::FuncOp top) {
  hls::UniqueIdentifiers symbols;
  symbols.get(top.getName());
  for (auto kernel :
       llvm::make_early_inc_range(top.getBody().front().getOps<KernelOp>()))
    if (failed(KernelOutliner(kernel, top, symbols).run()))
      return failure();
  for (Operation &op : top.getBody().front())
    if (!isa<func::CallOp, func::ReturnOp, memref::ExpandShapeOp,
             memref::CollapseShapeOp, memref::CastOp>(op) &&
        !op.hasTrait<OpTrait::ConstantLike>())
      return op.emitOpError()
             << "expected kernels and reshapes of memory only in function '"
             << top.getName() << "'";
  return success();
}
