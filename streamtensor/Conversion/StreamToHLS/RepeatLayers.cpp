//===- RepeatLayers.cpp - All layers in one launch ------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass `--st-repeat-layers`: the parameter, the loop, and who is told the
// layer; StackLayers.cpp and LayerFeedback.cpp do the rest.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/StreamToHLS/RepeatLayers.h"

#include "streamtensor/Analysis/Estimate/LoopFacts.h"
#include "streamtensor/Conversion/Passes.h"
#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSet.h"

namespace streamtensor {
#define GEN_PASS_DEF_REPEATLAYERS
#include "streamtensor/Conversion/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;

StringRef streamtensor::cppNameOf(func::FuncOp function, unsigned argument) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, hls::kNameAttr);
  return name ? name.getValue() : StringRef();
}

StringRef streamtensor::hostNameOf(func::FuncOp top, unsigned argument) {
  auto name = top.getArgAttrOfType<StringAttr>(argument, "dataflow.name");
  return name ? name.getValue() : cppNameOf(top, argument);
}

void streamtensor::updateType(func::FuncOp function) {
  function.setType(
      FunctionType::get(function.getContext(),
                        function.getBody().front().getArgumentTypes(), {}));
}

namespace {

class LayerRepeater {
public:
  LayerRepeater(ModuleOp module, func::FuncOp top, DictionaryAttr repeat)
      : module(module), top(top), repeat(repeat), builder(module) {}

  LogicalResult run();

private:
  LogicalResult readAttribute();
  LogicalResult findGroup();
  BlockArgument addParameter(func::FuncOp function);
  LogicalResult stackMemory();
  LogicalResult stackTask(hls::TaskOp call);
  FailureOr<HiddenMover> findMover(StringRef argument, StringRef kind);
  int findArgument(StringRef name);

  ModuleOp module;
  func::FuncOp top, group;
  DictionaryAttr repeat;
  OpBuilder builder;
  std::string parameter, argument, result;
  int64_t count = 0;
  llvm::StringSet<> shared;
  func::CallOp call;
  Value layer, layers;
};

} // namespace

LogicalResult LayerRepeater::readAttribute() {
  auto text = [&](StringRef name) {
    auto attr = repeat.getAs<StringAttr>(name);
    return attr ? attr.str() : std::string();
  };
  parameter = text("parameter");
  argument = text("argument");
  result = text("result");
  if (auto number = repeat.getAs<IntegerAttr>("count"))
    count = number.getInt();
  if (auto names = repeat.getAs<ArrayAttr>("shared"))
    for (auto name : names.getAsRange<StringAttr>())
      shared.insert(name.getValue());
  for (const auto &name : shared)
    if (findArgument(name.getKey()) < 0)
      return top.emitOpError()
             << "'" << dataflow::kRepeatAttr
             << "': expected an argument named '" << name.getKey() << "'";
  for (const std::string &name : {argument, result})
    if (findArgument(name) < 0)
      return top.emitOpError()
             << "'" << dataflow::kRepeatAttr
             << "': expected an argument named '" << name << "'";
  if (parameter.empty() || count < 1)
    return top.emitOpError()
           << "'" << dataflow::kRepeatAttr
           << "': expected the name of a parameter and a count from 1 on";
  for (const dataflow::ParameterRange &other : dataflow::parametersOf(top))
    if (other.name == parameter)
      return top.emitOpError() << "'" << dataflow::kRepeatAttr
                               << "': expected a parameter of its own but '"
                               << parameter << "' is a size of the layer";
  return success();
}

int LayerRepeater::findArgument(StringRef name) {
  for (unsigned i = 0; i < top.getNumArguments(); ++i)
    if (isa<MemRefType>(top.getArgument(i).getType()) &&
        hostNameOf(top, i) == name)
      return static_cast<int>(i);
  return -1;
}

LogicalResult LayerRepeater::findGroup() {
  SmallVector<func::CallOp> calls(top.getBody().front().getOps<func::CallOp>());
  if (calls.size() != 1)
    return top.emitOpError()
           << "expected one fused kernel, as all layers of a launch stream "
              "their hidden state, but got "
           << calls.size() << "; raise --onchip-budget-bytes";
  call = calls.front();
  group = module.lookupSymbol<func::FuncOp>(call.getCallee());
  return success();
}

/// Run-time parameters stand in the order of their names.
BlockArgument LayerRepeater::addParameter(func::FuncOp function) {
  unsigned index = function.getNumArguments();
  for (unsigned i = function.getNumArguments(); i-- > 0;)
    if (auto other =
            function.getArgAttrOfType<StringAttr>(i, dataflow::kParameterAttr);
        other && other.getValue() > parameter)
      index = i;
  NamedAttribute attributes[] = {
      {hls::kNameAttr, builder.getStringAttr(parameter)},
      {dataflow::kParameterAttr, builder.getStringAttr(parameter)}};
  (void)function.insertArgument(index, builder.getIndexType(),
                                builder.getDictionaryAttr(attributes),
                                function.getLoc());
  return function.getArgument(index);
}

/// The accesses of a task to stacked memory.
LogicalResult LayerRepeater::stackTask(hls::TaskOp taskCall) {
  auto task = module.lookupSymbol<func::FuncOp>(taskCall.getCallee());
  Value number;
  for (unsigned i = 0; i < task.getNumArguments(); ++i) {
    auto type = dyn_cast<MemRefType>(taskCall.getOperand(i).getType());
    if (!type || task.getArgument(i).getType() == type)
      continue;
    if (!number)
      number = addLayerArgument(task, taskCall, layer);
    if (failed(stackAccesses(task, i, type, number)))
      return failure();
  }
  updateType(task);
  return success();
}

LogicalResult LayerRepeater::stackMemory() {
  for (unsigned i = 0; i < top.getNumArguments(); ++i) {
    if (!isa<MemRefType>(top.getArgument(i).getType()))
      continue;
    StringRef name = hostNameOf(top, i);
    // A table of the program's own is the same for all layers.
    if (name == argument || shared.contains(name) ||
        top.getArgAttr(i, "dataflow.value"))
      continue;
    if (failed(stackArgument(top, parameter, count, i)))
      return failure();
  }
  for (auto [operand, parameter] :
       llvm::zip_equal(call.getOperands(), group.getArguments()))
    parameter.setType(operand.getType());
  updateType(top);
  updateType(group);
  for (auto task : group.getOps<hls::TaskOp>())
    if (failed(stackTask(task)))
      return failure();
  return success();
}

/// The one task of `kind` that accesses the top function's argument `name`.
FailureOr<HiddenMover> LayerRepeater::findMover(StringRef name,
                                                StringRef kind) {
  const int index = findArgument(name);
  SmallVector<HiddenMover> found;
  for (auto task : group.getOps<hls::TaskOp>()) {
    auto function = module.lookupSymbol<func::FuncOp>(task.getCallee());
    HiddenMover mover{task, function};
    bool isMover = false;
    unsigned streams = 0;
    for (auto [i, operand] : llvm::enumerate(task.getOperands())) {
      if (auto memory = dyn_cast<BlockArgument>(operand);
          memory && isa<MemRefType>(memory.getType())) {
        isMover |= deviceMemoryOf(call.getOperand(memory.getArgNumber())) ==
                   top.getArgument(index);
        mover.memory = i;
      } else if (operand.getDefiningOp<stream::StreamOp>()) {
        mover.stream = i;
        ++streams;
      }
    }
    auto own = function->getAttrOfType<StringAttr>("kind");
    if (!isMover)
      continue;
    if (streams != 1 || !own || own.getValue() != kind)
      return function.emitOpError()
             << "expected a task that only moves the hidden state '" << name
             << "' between memory and one stream";
    found.push_back(mover);
  }
  if (found.size() != 1)
    return top.emitOpError()
           << "expected one task that moves the hidden state '" << name
           << "', which all layers of a launch stream, but got "
           << found.size();
  return found.front();
}

LogicalResult LayerRepeater::run() {
  if (failed(readAttribute()) || failed(findGroup()))
    return failure();
  FailureOr<HiddenMover> load = findMover(argument, "dma_in");
  if (failed(load))
    return failure();
  FailureOr<HiddenMover> store = findMover(result, "dma_out");
  if (failed(store))
    return failure();
  SmallVector<dataflow::ParameterRange> parameters =
      dataflow::parametersOf(top);
  parameters.push_back({parameter, 1, count});
  dataflow::setParameters(top, parameters);
  BlockArgument given = addParameter(top);
  layers = addParameter(group);
  SmallVector<Value> operands(call.getOperands());
  operands.insert(operands.begin() + cast<BlockArgument>(layers).getArgNumber(),
                  given);
  call->setOperands(operands);
  group->setAttr(hls::kRepeatAttr, builder.getStringAttr(parameter));
  group->setAttr(hls::kTripCountAttr,
                 hls::TripCountAttr::get(module.getContext(), 1, count));
  builder.setInsertionPointToStart(&group.getBody().front());
  layer = hls::IterationOp::create(builder, group.getLoc(),
                                   builder.getIndexType(), "layer");
  // Before addresses have a layer: what is compared is one of them.
  if (failed(connectFeedback(group, *load, *store, layer, layers)))
    return failure();
  return stackMemory();
}

namespace {

struct RepeatLayers
    : public streamtensor::impl::RepeatLayersBase<RepeatLayers> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      auto repeat =
          function->getAttrOfType<DictionaryAttr>(dataflow::kRepeatAttr);
      if (!function->hasAttr(hls::kTopAttr) || !repeat)
        continue;
      if (failed(LayerRepeater(getOperation(), function, repeat).run()))
        return signalPassFailure();
      // Said once, it is done.
      function->removeAttr(dataflow::kRepeatAttr);
      return;
    }
  }
};

} // namespace
