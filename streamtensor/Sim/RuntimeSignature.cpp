//===- RuntimeSignature.cpp - Functions of run-time size ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads the attributes, and values of parameters from shapes.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/RuntimeSignature.h"

#include "streamtensor/Support/SolveParameters.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace streamtensor;
using dataflow::ParameterRange;
using dataflow::RuntimeShape;

namespace {

/// The shape that `dims` says; an error goes to `error` instead of the handlers
/// of diagnostics.
FailureOr<RuntimeShape> read(ShapedType type, Attribute dims, const Twine &what,
                             std::string &error) {
  ScopedDiagnosticHandler handler(
      type.getContext(), [&](Diagnostic &diagnostic) {
        error = (what + ": " + diagnostic.str()).str();
        return success();
      });
  return dataflow::readShape(
      RankedTensorType::get(type.getShape(), type.getElementType()), dims,
      [&] { return emitError(UnknownLoc::get(type.getContext())); });
}

std::vector<int64_t> evaluate(const RuntimeShape &shape,
                              const ParameterValues &values) {
  std::vector<int64_t> sizes;
  for (const TripCount &size : shape.sizes)
    sizes.push_back(size.evaluate(values));
  return sizes;
}

std::string textOf(const RuntimeShape &shape) {
  std::string text = "[";
  for (const TripCount &size : shape.sizes)
    text += (text.size() > 1 ? ", " : "") + size.str();
  return text + "]";
}

} // namespace

FailureOr<RuntimeSignature> RuntimeSignature::of(func::FuncOp function,
                                                 std::string &error) {
  RuntimeSignature signature;
  auto ranges = dataflow::parametersOf(function);
  signature.parameters.assign(ranges.begin(), ranges.end());
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) {
      llvm::raw_string_ostream(error)
          << "expected argument " << index << " to be a tensor but got '"
          << type << "'";
      return failure();
    }
    FailureOr<RuntimeShape> shape =
        read(tensor, function.getArgAttr(index, dataflow::kDimsAttr),
             "argument " + Twine(index), error);
    if (failed(shape))
      return failure();
    for (unsigned dim = 0; dim < tensor.getRank(); ++dim)
      if (tensor.isDynamicDim(dim) &&
          shape->sizes[dim].isConstant(ShapedType::kDynamic)) {
        error = ("expected '" + dataflow::kDimsAttr + "' of argument " +
                 Twine(index) + " to say the size of dimension " + Twine(dim) +
                 " but it does not")
                    .str();
        return failure();
      }
    for (const auto &[name, maximum] : shape->maxima)
      if (!signature.maxima.emplace(name, maximum).second &&
          signature.maxima[name] != maximum) {
        error = ("expected one maximum of parameter '" + name + "' but got " +
                 Twine(signature.maxima[name]) + " and " + Twine(maximum))
                    .str();
        return failure();
      }
    signature.inputs.push_back(std::move(*shape));
  }
  ParameterValues largest = signature.largest();
  for (const auto &[name, maximum] : signature.maxima) {
    auto range = largest.find(name);
    if (range == largest.end() || range->second > maximum) {
      error = ("expected '" + dataflow::kParametersAttr +
               "' to have a range up to " + Twine(maximum) + " of parameter '" +
               name + "' but got " +
               (range == largest.end() ? Twine("none") : Twine(range->second)))
                  .str();
      return failure();
    }
  }
  signature.maxima.insert(largest.begin(), largest.end());
  return signature;
}

ParameterValues RuntimeSignature::smallest() const {
  ParameterValues values;
  for (const ParameterRange &parameter : parameters)
    values[parameter.name] = parameter.smallest;
  return values;
}

ParameterValues RuntimeSignature::largest() const {
  ParameterValues values;
  for (const ParameterRange &parameter : parameters)
    values[parameter.name] = parameter.largest;
  return values;
}

std::vector<std::vector<int64_t>>
RuntimeSignature::shapesAt(const ParameterValues &values) const {
  std::vector<std::vector<int64_t>> shapes;
  for (const RuntimeShape &shape : inputs)
    shapes.push_back(evaluate(shape, values));
  return shapes;
}

FailureOr<ParameterValues> RuntimeSignature::solve(ArrayRef<HostTensor> tensors,
                                                   std::string &error) const {
  std::vector<std::pair<TripCount, int64_t>> sizes;
  for (auto [shape, tensor] : llvm::zip_equal(inputs, tensors))
    for (auto [size, value] : llvm::zip_equal(shape.sizes, tensor.shape))
      sizes.emplace_back(size, value);
  std::optional<ParameterValues> values = solveParameters(sizes, error);
  if (!values)
    return failure();
  auto complain = [&](const Twine &message) {
    error += (error.empty() ? "" : "; ") + message.str();
  };
  for (const ParameterRange &parameter : parameters) {
    auto value = values->find(parameter.name);
    if (value == values->end())
      complain("no size tells the value of '" + parameter.name + "'");
    else if (value->second < parameter.smallest ||
             value->second > parameter.largest)
      complain("expected '" + parameter.name + "' from " +
               Twine(parameter.smallest) + " to " + Twine(parameter.largest) +
               " but the sizes give " + Twine(value->second));
  }
  if (error.empty())
    for (auto [index, shape, tensor] : llvm::enumerate(inputs, tensors))
      if (evaluate(shape, *values) != tensor.shape)
        complain("expected input " + Twine(index) + " to have sizes " +
                 textOf(shape) + " but got a " + tensor.describe());
  if (!error.empty())
    return failure();
  return *values;
}

FailureOr<std::vector<std::optional<std::vector<int64_t>>>>
streamtensor::getResultShapes(func::FuncOp function,
                              const ParameterValues &values,
                              std::string &error) {
  std::vector<std::optional<std::vector<int64_t>>> shapes;
  auto add = [&](Type type, Attribute dims) -> LogicalResult {
    FailureOr<RuntimeShape> shape = read(
        cast<ShapedType>(type), dims, "result " + Twine(shapes.size()), error);
    if (failed(shape))
      return failure();
    for (const auto &[name, maximum] : shape->maxima)
      if (!values.count(name)) {
        error = "parameter '" + name + "' of result " +
                std::to_string(shapes.size()) + " is none of the inputs";
        return failure();
      }
    shapes.emplace_back(evaluate(*shape, values));
    return success();
  };
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (failed(add(type, function.getResultAttr(index, dataflow::kDimsAttr))))
      return failure();
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto role = function.getArgAttrOfType<StringAttr>(index, "dataflow.role");
    if (!role || role != "output")
      continue;
    if (function.getArgAttr(index, "dataflow.packing"))
      shapes.emplace_back();
    else if (failed(add(type, function.getArgAttr(index, dataflow::kDimsAttr))))
      return failure();
  }
  return shapes;
}
