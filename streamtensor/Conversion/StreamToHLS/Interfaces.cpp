//===- Interfaces.cpp - The top function and its memory ports -------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The top function: its arguments and their AXI ports.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/StreamToHLS/Steps.h"

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/HLS/IR/Identifiers.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace streamtensor;

static constexpr StringLiteral kArgumentNameAttr = "dataflow.name";
static constexpr StringLiteral kRoleAttr = "dataflow.role";
static constexpr StringLiteral kPackingAttr = "dataflow.packing";

/// The one public function of `module`.
static FailureOr<func::FuncOp> findTop(ModuleOp module) {
  func::FuncOp top;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate())
      continue;
    if (top) {
      InFlightDiagnostic diag = function.emitOpError()
                                << "expected one public function but got "
                                   "another one";
      diag.attachNote(top.getLoc()) << "the first is '" << top.getName() << "'";
      return diag;
    }
    top = function;
  }
  if (!top)
    return module.emitOpError() << "expected one public function but got none";
  return top;
}

FailureOr<func::FuncOp> streamtensor::makeTopFunction(ModuleOp module) {
  FailureOr<func::FuncOp> found = findTop(module);
  if (failed(found))
    return failure();
  func::FuncOp top = *found;
  if (top.isExternal() || !top.getBody().hasOneBlock())
    return top.emitOpError() << "expected a body of one block";
  if (top.getNumResults() != 0)
    return top.emitOpError() << "expected results to be memory arguments "
                                "(phase materialized) but got "
                             << top.getNumResults() << " results";
  Builder builder(module.getContext());
  Block &body = top.getBody().front();
  for (auto alloc :
       llvm::make_early_inc_range(body.getOps<memref::AllocOp>())) {
    if (!alloc.getType().hasStaticShape())
      return alloc.emitOpError()
             << "expected a static shape but got " << alloc.getType();
    auto name = alloc->getAttrOfType<StringAttr>(hls::kNameAttr);
    NamedAttribute attributes[] = {
        {kArgumentNameAttr, name ? name : builder.getStringAttr("workspace")},
        {kRoleAttr, builder.getStringAttr("workspace")}};
    unsigned index = top.getNumArguments();
    if (failed(top.insertArgument(index, alloc.getType(),
                                  builder.getDictionaryAttr(attributes),
                                  alloc.getLoc())))
      return failure();
    alloc.replaceAllUsesWith(top.getArgument(index));
    alloc.erase();
  }
  hls::UniqueIdentifiers names;
  for (BlockArgument argument : top.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || !type.hasStaticShape())
      return top.emitOpError()
             << "expected argument " << index
             << " to be memory of static shape but got " << argument.getType();
    auto name = top.getArgAttrOfType<StringAttr>(index, kArgumentNameAttr);
    top.setArgAttr(index, hls::kNameAttr,
                   builder.getStringAttr(names.get(
                       name ? name.getValue()
                            : StringRef("arg" + std::to_string(index)))));
    auto packing = top.getArgAttrOfType<TypeAttr>(index, kPackingAttr);
    if (!packing)
      continue;
    auto order = dyn_cast<itensor::ITensorType>(packing.getValue());
    if (!order || type.getNumElements() !=
                      order.getNumTokens() * order.getTokenElements())
      return top.emitOpError()
             << "expected the packing of argument " << index
             << " to be an itensor type of " << type.getNumElements()
             << " elements but got " << packing.getValue();
    // hls::vector pads its storage to a power of two, packed files do not.
    if (order.getTokenElements() > 1 &&
        llvm::isPowerOf2_64(order.getTokenElements()))
      top.setArgAttr(index, hls::kPackedAttr,
                     builder.getI64IntegerAttr(order.getTokenElements()));
  }
  for (const dataflow::ParameterRange &parameter :
       dataflow::parametersOf(top)) {
    NamedAttribute attributes[] = {
        {hls::kNameAttr, builder.getStringAttr(names.get(parameter.name))},
        {dataflow::kParameterAttr, builder.getStringAttr(parameter.name)}};
    if (failed(top.insertArgument(top.getNumArguments(), builder.getIndexType(),
                                  builder.getDictionaryAttr(attributes),
                                  top.getLoc())))
      return failure();
  }
  top->setAttr(hls::kTopAttr, builder.getUnitAttr());
  top.setName(hls::makeIdentifier(top.getName()));
  return top;
}

int64_t streamtensor::portDepth(func::FuncOp top, unsigned index) {
  auto type = cast<MemRefType>(top.getArgument(index).getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  int64_t depth = type.getNumElements();
  // A strided argument reaches to its last element.
  if (succeeded(type.getStridesAndOffset(strides, offset)) && depth != 0) {
    depth = offset + 1;
    for (auto [size, stride] : llvm::zip_equal(type.getShape(), strides))
      depth += (size - 1) * stride;
  }
  if (auto packed = top.getArgAttrOfType<IntegerAttr>(index, hls::kPackedAttr))
    depth /= packed.getInt();
  return depth;
}

void streamtensor::attachInterfaces(func::FuncOp top, unsigned maxBundles,
                                    unsigned burst) {
  for (BlockArgument argument : top.getArguments()) {
    unsigned index = argument.getArgNumber();
    // The other ones are values, registers of the control port.
    if (!isa<MemRefType>(argument.getType()))
      continue;
    top.setArgAttr(
        index, hls::kInterfaceAttr,
        hls::InterfaceAttr::get(top.getContext(),
                                "gmem" + std::to_string(index % maxBundles),
                                portDepth(top, index), burst));
  }
}
