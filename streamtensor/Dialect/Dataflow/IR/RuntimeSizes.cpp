//===- RuntimeSizes.cpp - tensors of run-time size ------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes the attributes that say sizes.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::dataflow;

FailureOr<RuntimeShape>
dataflow::readShape(ShapedType type, Attribute dims,
                    function_ref<InFlightDiagnostic()> emitError) {
  RuntimeShape shape;
  for (int64_t size : type.getShape())
    shape.sizes.emplace_back(size);
  if (!dims)
    return shape;
  auto list = dyn_cast<ArrayAttr>(dims);
  if (!list || static_cast<int64_t>(list.size()) != type.getRank())
    return emitError() << "expected '" << kDimsAttr << "' to be a list of "
                       << type.getRank() << " texts but got " << dims;
  for (auto [dim, entry] : llvm::enumerate(list)) {
    auto text = dyn_cast<StringAttr>(entry);
    if (!text)
      return emitError() << "expected '" << kDimsAttr
                         << "' to be a list of texts but got " << dims;
    if (text.empty())
      continue;
    std::string error;
    std::optional<TripCount> size =
        TripCount::parse(text.str(), shape.maxima, error);
    if (!size)
      return emitError() << "in the size '" << text.getValue()
                         << "' of dimension " << dim << ": " << error;
    if (!type.isDynamicDim(dim) &&
        size->highest(shape.maxima) != type.getDimSize(dim))
      return emitError() << "expected size '" << text.getValue()
                         << "' of dimension " << dim << " to be at most "
                         << type.getDimSize(dim) << ", as in " << type
                         << ", but it goes up to "
                         << size->highest(shape.maxima);
    shape.sizes[dim] = *size;
  }
  return shape;
}

RuntimeShape dataflow::shapeOf(Value value) {
  Attribute dims;
  if (Operation *op = value.getDefiningOp())
    dims = op->getNumResults() == 1 ? op->getDiscardableAttr(kDimsAttr)
                                    : Attribute();
  else if (auto function = dyn_cast_or_null<FunctionOpInterface>(
               cast<BlockArgument>(value).getOwner()->getParentOp()))
    dims = function.getArgAttr(cast<BlockArgument>(value).getArgNumber(),
                               kDimsAttr);
  FailureOr<RuntimeShape> shape =
      readShape(cast<ShapedType>(value.getType()), dims,
                [&] { return emitError(value.getLoc()); });
  assert(succeeded(shape) && "the dialect verifies the attribute");
  return *shape;
}

ArrayAttr dataflow::dimsAttr(MLIRContext *context, const RuntimeShape &shape) {
  if (shape.isStatic())
    return {};
  SmallVector<Attribute> texts;
  ParameterValues seen;
  for (const TripCount &size : shape.sizes)
    texts.push_back(StringAttr::get(
        context, size.isConstant() ? "" : size.str(shape.maxima, seen)));
  return ArrayAttr::get(context, texts);
}

SmallVector<ParameterRange>
dataflow::parametersOf(FunctionOpInterface function) {
  SmallVector<ParameterRange> parameters;
  if (auto entries = function->getAttrOfType<DictionaryAttr>(kParametersAttr))
    for (NamedAttribute entry : entries)
      if (auto range = dyn_cast<DenseI64ArrayAttr>(entry.getValue());
          range && range.size() == 2)
        parameters.push_back({entry.getName().str(), range[0], range[1]});
  return parameters;
}

void dataflow::setParameters(FunctionOpInterface function,
                             ArrayRef<ParameterRange> parameters) {
  if (parameters.empty()) {
    function->removeAttr(kParametersAttr);
    return;
  }
  Builder builder(function->getContext());
  SmallVector<NamedAttribute> entries;
  for (const ParameterRange &parameter : parameters)
    entries.push_back(builder.getNamedAttr(
        parameter.name,
        builder.getDenseI64ArrayAttr({parameter.smallest, parameter.largest})));
  function->setAttr(kParametersAttr, builder.getDictionaryAttr(entries));
}
