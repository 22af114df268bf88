//===- DemoteF64.cpp - Compute in f32 what the model computes in f64 ------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes every f64 type and constant of a function to f32 in place and removes
// the conversions that become identities.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace streamtensor {
#define GEN_PASS_DEF_DEMOTEF64
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;

namespace {

/// The type with f64 replaced by f32; the type itself if it contains none.
Type demote(Type type) {
  if (type.isF64())
    return Float32Type::get(type.getContext());
  auto shaped = dyn_cast<ShapedType>(type);
  if (shaped && shaped.getElementType().isF64())
    return shaped.clone(Float32Type::get(type.getContext()));
  return type;
}

/// `attr` rounded to f32, ties to even.
Attribute demote(Attribute attr) {
  auto round = [](APFloat value) {
    bool losesInfo;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    return value;
  };
  if (auto scalar = dyn_cast<FloatAttr>(attr);
      scalar && scalar.getType().isF64())
    return FloatAttr::get(demote(scalar.getType()), round(scalar.getValue()));
  auto dense = dyn_cast<DenseFPElementsAttr>(attr);
  if (!dense || !dense.getElementType().isF64())
    return attr;
  if (dense.isSplat())
    return DenseElementsAttr::get(cast<ShapedType>(demote(dense.getType())),
                                  round(dense.getSplatValue<APFloat>()));
  SmallVector<APFloat> values;
  for (APFloat value : dense.getValues<APFloat>())
    values.push_back(round(value));
  return DenseElementsAttr::get(cast<ShapedType>(demote(dense.getType())),
                                values);
}

struct DemoteF64 : streamtensor::impl::DemoteF64Base<DemoteF64> {
  void runOnOperation() override {
    int64_t demoted = 0;
    auto setTypes = [](ValueRange values) {
      bool changed = false;
      for (Value value : values) {
        Type type = demote(value.getType());
        changed |= type != value.getType();
        value.setType(type);
      }
      return changed;
    };

    SmallVector<Operation *> conversions;
    getOperation()->walk([&](Operation *op) {
      if (isa<func::FuncOp>(op))
        return;
      bool changed = setTypes(op->getResults());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          setTypes(block.getArguments());
      if (auto constant = dyn_cast<arith::ConstantOp>(op))
        constant.setValueAttr(cast<TypedAttr>(demote(constant.getValue())));
      else if (changed && !isa<arith::ExtFOp>(op) && op->getNumRegions() == 0)
        ++demoted;
      if (isa<arith::ExtFOp, arith::TruncFOp>(op))
        conversions.push_back(op);
    });

    for (Operation *op : conversions) {
      Value source = op->getOperand(0);
      if (source.getType() != op->getResult(0).getType())
        continue;
      op->getResult(0).replaceAllUsesWith(source);
      op->erase();
    }
    if (demoted)
      getOperation()->emitRemark()
          << "computes " << demoted
          << " operations in f32 that the model has in f64";
  }
};

} // namespace
