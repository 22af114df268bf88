//===- StackLayers.cpp - Memory of all layers -----------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Accesses get the layer as their first index, reshapes a group of its own for
// it; what describes an argument to hosts and reports gets one more dimension.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/StreamToHLS/RepeatLayers.h"
#include "streamtensor/Conversion/StreamToHLS/Steps.h"

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <numeric>

using namespace mlir;
using namespace streamtensor;

/// `type` with `count` copies one behind the other. `stride` elements lie from
/// one to the next where that is more than those of the type.
static MemRefType stackedType(MemRefType type, int64_t count, int64_t stride) {
  SmallVector<int64_t> shape{count};
  llvm::append_range(shape, type.getShape());
  if (type.getLayout().isIdentity())
    return MemRefType::get(shape, type.getElementType());
  auto [strides, offset] = type.getStridesAndOffset();
  SmallVector<int64_t> all{stride};
  llvm::append_range(all, strides);
  return MemRefType::get(
      shape, type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), offset, all));
}

/// Groups of a reshape behind one more dimension.
static SmallVector<ReassociationIndices>
shifted(ArrayRef<ReassociationIndices> groups) {
  SmallVector<ReassociationIndices> result{{0}};
  for (const ReassociationIndices &group : groups) {
    result.emplace_back();
    for (int64_t dim : group)
      result.back().push_back(dim + 1);
  }
  return result;
}

namespace {

/// Gives memory of a design an outermost dimension over layers.
class Stacking {
public:
  Stacking(func::FuncOp top, StringRef parameter, int64_t count)
      : top(top), parameter(parameter), count(count), builder(top) {}

  /// Argument `index` of the top function, and its views.
  LogicalResult stackArgument(unsigned index);

private:
  LogicalResult stackUsers(Value value);
  void stackAttributes(unsigned index, MemRefType before);

  func::FuncOp top;
  StringRef parameter;
  int64_t count;
  OpBuilder builder;
};

} // namespace

/// What describes the argument to hosts and reports.
void Stacking::stackAttributes(unsigned index, MemRefType before) {
  auto prepend = [&](StringRef name) {
    auto shape = top.getArgAttrOfType<DenseI64ArrayAttr>(index, name);
    if (!shape)
      return;
    SmallVector<int64_t> all{count};
    llvm::append_range(all, shape.asArrayRef());
    top.setArgAttr(index, name, builder.getDenseI64ArrayAttr(all));
  };
  const int64_t rank = [&] {
    for (StringRef name : {"dataflow.tensor_shape", "dataflow.shape"})
      if (auto shape = top.getArgAttrOfType<DenseI64ArrayAttr>(index, name))
        return int64_t(shape.size());
    return before.getRank();
  }();
  for (StringRef name :
       {"dataflow.shape", "dataflow.tensor_shape", "dataflow.buffer_shape"})
    prepend(name);
  if (auto packing =
          top.getArgAttrOfType<TypeAttr>(index, "dataflow.packing")) {
    auto order = cast<itensor::ITensorType>(packing.getValue());
    TokenOrder all = order.getOrder();
    all.element = all.elementShape();
    all.element.insert(all.element.begin(), 1);
    all.trips.insert(all.trips.begin(), count);
    all.steps.insert(all.steps.begin(), 1);
    for (std::vector<unsigned> &loops : all.map)
      for (unsigned &loop : loops)
        ++loop;
    all.map.insert(all.map.begin(), std::vector<unsigned>{0});
    top.setArgAttr(
        index, "dataflow.packing",
        TypeAttr::get(itensor::ITensorType::get(order.getElementType(), all)));
  }
  // Weights are files of all layers, whatever a launch runs.
  auto role = top.getArgAttrOfType<StringAttr>(index, "dataflow.role");
  if (!role || role.getValue() != "weight") {
    auto dims = top.getArgAttrOfType<ArrayAttr>(index, dataflow::kDimsAttr);
    SmallVector<Attribute> all{
        builder.getStringAttr(parameter + " max " + std::to_string(count))};
    for (int64_t dim = 0; dim < rank; ++dim)
      all.push_back(dims ? dims[dim] : builder.getStringAttr(""));
    top.setArgAttr(index, dataflow::kDimsAttr, builder.getArrayAttr(all));
  }
  auto port =
      top.getArgAttrOfType<hls::InterfaceAttr>(index, hls::kInterfaceAttr);
  if (port)
    top.setArgAttr(index, hls::kInterfaceAttr,
                   hls::InterfaceAttr::get(top.getContext(), port.getBundle(),
                                           portDepth(top, index),
                                           port.getBurst()));
}

/// Views of stacked memory; calls are changed with their functions.
LogicalResult Stacking::stackUsers(Value value) {
  for (Operation *user : llvm::make_early_inc_range(value.getUsers())) {
    builder.setInsertionPoint(user);
    Operation *view;
    auto type = cast<MemRefType>(value.getType());
    if (auto expand = dyn_cast<memref::ExpandShapeOp>(user)) {
      SmallVector<int64_t> shape{count};
      llvm::append_range(shape, expand.getResultType().getShape());
      view = memref::ExpandShapeOp::create(
          builder, user->getLoc(), shape, value,
          shifted(expand.getReassociationIndices()));
    } else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(user)) {
      view = memref::CollapseShapeOp::create(
          builder, user->getLoc(), value,
          shifted(collapse.getReassociationIndices()));
    } else if (isa<func::CallOp>(user)) {
      continue;
    } else {
      return user->emitOpError()
             << "expected a reshape of memory in function '" << top.getName()
             << "', which all layers share, but got this view of a " << type;
    }
    user->getResult(0).replaceAllUsesWith(view->getResult(0));
    user->erase();
    if (failed(stackUsers(view->getResult(0))))
      return failure();
  }
  return success();
}

LogicalResult Stacking::stackArgument(unsigned index) {
  BlockArgument argument = top.getArgument(index);
  auto type = cast<MemRefType>(argument.getType());
  int64_t elements = type.getNumElements();
  if (auto shape = top.getArgAttrOfType<DenseI64ArrayAttr>(
          index, "dataflow.buffer_shape"))
    elements =
        std::accumulate(shape.asArrayRef().begin(), shape.asArrayRef().end(),
                        int64_t(1), std::multiplies<int64_t>());
  if (type.getLayout().isIdentity() && elements != type.getNumElements())
    return top.emitOpError()
           << "expected the memory of argument '" << hostNameOf(top, index)
           << "' to be as large as its buffer";
  argument.setType(stackedType(type, count, elements));
  stackAttributes(index, type);
  return stackUsers(argument);
}

LogicalResult streamtensor::stackArgument(func::FuncOp top, StringRef parameter,
                                          int64_t count, unsigned index) {
  return Stacking(top, parameter, count).stackArgument(index);
}

LogicalResult streamtensor::stackAccesses(func::FuncOp task, unsigned index,
                                          MemRefType type, Value layer) {
  BlockArgument argument = task.getArgument(index);
  SmallVector<Operation *> users(argument.getUsers());
  argument.setType(type);
  OpBuilder builder(task);
  auto indices = [&](ValueRange inner) {
    SmallVector<Value> all{layer};
    llvm::append_range(all, inner);
    return all;
  };
  for (Operation *user : users) {
    builder.setInsertionPoint(user);
    if (auto load = dyn_cast<memref::LoadOp>(user)) {
      auto access = memref::LoadOp::create(builder, load.getLoc(), argument,
                                           indices(load.getIndices()));
      load.replaceAllUsesWith(access.getResult());
    } else if (auto store = dyn_cast<memref::StoreOp>(user)) {
      memref::StoreOp::create(builder, store.getLoc(), store.getValue(),
                              argument, indices(store.getIndices()));
    } else if (auto view = dyn_cast<memref::SubViewOp>(user)) {
      auto one = builder.getIndexAttr(1);
      SmallVector<OpFoldResult> offsets{layer}, sizes{one}, strides{one};
      llvm::append_range(offsets, view.getMixedOffsets());
      llvm::append_range(sizes, view.getMixedSizes());
      llvm::append_range(strides, view.getMixedStrides());
      auto result =
          cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
              view.getType().getShape(), type, offsets, sizes, strides));
      auto access = memref::SubViewOp::create(
          builder, view.getLoc(), result, argument, offsets, sizes, strides);
      view.replaceAllUsesWith(access.getResult());
    } else {
      return user->emitOpError() << "expected loads and stores of memory only";
    }
    user->erase();
  }
  return success();
}
