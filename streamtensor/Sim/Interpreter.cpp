//===- Interpreter.cpp - Functional execution of any phase --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Binds host tensors to the arguments of a function, runs it, and reads the
// results back.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/Interpreter.h"

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Sim/InterpreterCompiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::interp;
using itensor::ITensorType;

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

void TokenRecord::add(const char *token, size_t bytes, size_t limitBytes) {
  // FNV-1a over words of up to 8 bytes.
  for (size_t at = 0; at < bytes; at += 8) {
    uint64_t word = 0;
    std::memcpy(&word, token + at, std::min<size_t>(8, bytes - at));
    hash = (hash ^ word) * 0x100000001b3ull;
    hash ^= hash >> 29;
  }
  // Only a prefix without gaps is of use.
  if (data.size() == tokens * bytes && data.size() + bytes <= limitBytes)
    data.insert(data.end(), token, token + bytes);
  ++tokens;
}

int64_t TokenRecord::numRecorded() const {
  size_t bytes = tokenElements * getElementBytes(element);
  return bytes ? data.size() / bytes : 0;
}

const TokenRecord *Recording::findFifo(StringRef name) const {
  for (const TokenRecord &record : fifos)
    if (record.fifo == name)
      return &record;
  return nullptr;
}

const OperationRecord *Recording::findOperation(StringRef name) const {
  for (const OperationRecord &record : operations)
    if (record.name == name)
      return &record;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {

enum class ArgumentRole { Input, Output, Workspace, Parameter };

/// One argument of the function, as its caller sees it.
struct Argument {
  ArgumentRole role = ArgumentRole::Input;
  std::string name;
  Layout layout;
  /// The tensor behind it.
  std::vector<int64_t> shape;
  /// Set when the memory holds packed tokens.
  std::optional<TokenOrder> packing;
};

bool fail(std::string &error, const Twine &message) {
  error = message.str();
  return false;
}

std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

bool describeArguments(func::FuncOp function, size_t numInputs,
                       std::vector<Argument> &arguments, std::string &error) {
  size_t inputs = 0;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    Argument argument;
    auto name = function.getArgAttrOfType<StringAttr>(index, "dataflow.name");
    argument.name = name ? name.str() : "arg" + std::to_string(index);
    if (auto parameter = function.getArgAttrOfType<StringAttr>(
            index, dataflow::kParameterAttr)) {
      if (!type.isIndex())
        return fail(error, "expected the parameter '" + parameter.getValue() +
                               "' to be an index but got '" + typeText(type) +
                               "'");
      argument.role = ArgumentRole::Parameter;
      argument.name = parameter.str();
      arguments.push_back(std::move(argument));
      continue;
    }
    FailureOr<Layout> layout = getLayout(type);
    if (failed(layout))
      return fail(error, "expected argument '" + argument.name +
                             "' to have a static shape but got '" +
                             typeText(type) + "'");
    argument.layout = *layout;
    argument.shape.assign(layout->shape.begin(), layout->shape.end());
    auto role = function.getArgAttrOfType<StringAttr>(index, "dataflow.role");
    if (role && role == "output")
      argument.role = ArgumentRole::Output;
    else if (role && role == "workspace")
      argument.role = ArgumentRole::Workspace;
    else if (!role && isa<MemRefType>(type) && inputs == numInputs)
      argument.role = ArgumentRole::Output;
    inputs += argument.role == ArgumentRole::Input;
    // On a tensor, in phase `packed`, it only says what will be.
    auto packing =
        function.getArgAttrOfType<TypeAttr>(index, "dataflow.packing");
    if (packing && isa<MemRefType>(type)) {
      auto order = dyn_cast<ITensorType>(packing.getValue());
      if (!order)
        return fail(error, "expected the packing of argument '" +
                               argument.name + "' to be an itensor but got '" +
                               typeText(packing.getValue()) + "'");
      argument.packing = order.getOrder();
      argument.shape = argument.packing->dataExtents();
      if (auto shape = function.getArgAttrOfType<DenseI64ArrayAttr>(
              index, "dataflow.shape"))
        argument.shape = shape.asArrayRef();
      if (order.getNumTokens() * order.getTokenElements() !=
          layout->numElements)
        return fail(error, "expected the memory of argument '" + argument.name +
                               "' to hold the " + Twine(order.getNumTokens()) +
                               " tokens of its packing but got '" +
                               typeText(type) + "'");
    }
    arguments.push_back(std::move(argument));
  }
  return true;
}

/// Fills the memory of an input.
bool bindInput(const Argument &argument, const HostTensor &input,
               Buffer &buffer, std::string &error) {
  const Layout &layout = argument.layout;
  // A packed argument may have been reshaped since: its elements are the same.
  const bool isReshaped =
      argument.packing && input.shape.size() != argument.shape.size() &&
      input.numElements() ==
          HostTensor(argument.shape, layout.kind).numElements();
  if (input.kind != layout.kind ||
      (input.shape != argument.shape && !isReshaped) ||
      input.data.size() != input.numElements() * layout.elementBytes)
    return fail(error, "expected argument '" + argument.name + "' to be a " +
                           HostTensor(argument.shape, layout.kind).describe() +
                           " but got a " + input.describe());
  buffer = allocateBuffer(layout);
  if (argument.packing) {
    std::vector<char> tokens = packTokens(input, *argument.packing);
    std::memcpy(buffer.storage->data(), tokens.data(), tokens.size());
    return true;
  }
  BoxCopy(layout.shape, rowMajorStrides(layout.shape), layout.strides,
          layout.elementBytes)
      .run(input.data.data(), buffer.storage->data());
  return true;
}

HostTensor readOutput(const Argument &argument, const Buffer &buffer) {
  const Layout &layout = argument.layout;
  HostTensor result(argument.shape, layout.kind);
  if (argument.packing) {
    unpackTokens(buffer.storage->data(), *argument.packing, result);
    return result;
  }
  BoxCopy(layout.shape, layout.strides, rowMajorStrides(layout.shape),
          layout.elementBytes)
      .run(buffer.storage->data(), result.data.data());
  return result;
}

/// The named function, or the top one, or the only public one.
func::FuncOp findFunction(ModuleOp module, StringRef name, std::string &error) {
  if (!name.empty()) {
    auto function = module.lookupSymbol<func::FuncOp>(name);
    if (!function)
      error = ("expected a function named '" + name + "' but found none").str();
    return function;
  }
  func::FuncOp found;
  int count = 0;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function->hasAttr(hls::kTopAttr))
      return function;
    if (function.isPublic() && !function.isExternal()) {
      found = function;
      ++count;
    }
  }
  if (count == 1)
    return found;
  error = "expected one public function but found " + std::to_string(count);
  return nullptr;
}

} // namespace

FailureOr<std::vector<std::vector<int64_t>>>
streamtensor::getInputShapes(ModuleOp module, StringRef functionName,
                             size_t numInputs, std::string &error) {
  func::FuncOp function = findFunction(module, functionName, error);
  std::vector<Argument> arguments;
  if (!function || !describeArguments(function, numInputs, arguments, error))
    return failure();
  std::vector<std::vector<int64_t>> shapes;
  for (Argument &argument : arguments)
    if (argument.role == ArgumentRole::Input)
      shapes.push_back(std::move(argument.shape));
  return shapes;
}

FailureOr<std::vector<HostTensor>>
streamtensor::interpret(ModuleOp module, StringRef functionName,
                        ArrayRef<HostTensor> inputs,
                        const InterpretOptions &options, std::string &error) {
  func::FuncOp function = findFunction(module, functionName, error);
  if (!function)
    return failure();
  std::vector<Argument> arguments;
  if (!describeArguments(function, inputs.size(), arguments, error))
    return failure();
  size_t numInputs = llvm::count_if(arguments, [](const Argument &argument) {
    return argument.role == ArgumentRole::Input;
  });
  if (numInputs != inputs.size()) {
    error = "expected " + std::to_string(numInputs) + " inputs but got " +
            std::to_string(inputs.size());
    return failure();
  }
  Program program(module, options.parameters);
  CompiledFunction *compiled = program.getFunction(function);
  if (!compiled) {
    error = program.error;
    return failure();
  }

  Machine machine;
  std::unique_ptr<Frame> frame =
      compiled->makeFrame(machine, options.recording, options.recordLimitBytes);
  const HostTensor *input = inputs.begin();
  for (auto [argument, slot] :
       llvm::zip_equal(arguments, compiled->arguments)) {
    if (argument.role == ArgumentRole::Parameter) {
      auto value = options.parameters.find(argument.name);
      if (value == options.parameters.end()) {
        error = "expected a value of the run-time parameter '" + argument.name +
                "' but got none";
        return failure();
      }
      frame->scalars[slot.index].i = value->second;
      continue;
    }
    Buffer &buffer = frame->buffers[slot.index];
    if (argument.role != ArgumentRole::Input)
      buffer = allocateBuffer(argument.layout);
    else if (!bindInput(argument, *input++, buffer, error))
      return failure();
  }
  if (!machine.run([&] { runSteps(compiled->steps, *frame); }, error))
    return failure();

  std::vector<HostTensor> results;
  for (auto [slot, type] :
       llvm::zip_equal(compiled->results, function.getResultTypes())) {
    FailureOr<Layout> layout = getLayout(type);
    if (failed(layout)) {
      error =
          "expected results of static shape but got '" + typeText(type) + "'";
      return failure();
    }
    Argument result;
    result.layout = *layout;
    result.shape.assign(layout->shape.begin(), layout->shape.end());
    results.push_back(readOutput(result, frame->buffers[slot.index]));
  }
  for (auto [argument, slot] : llvm::zip_equal(arguments, compiled->arguments))
    if (argument.role == ArgumentRole::Output)
      results.push_back(readOutput(argument, frame->buffers[slot.index]));
  return results;
}
