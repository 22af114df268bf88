//===- InlineResources.cpp - Constants in resource blobs ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces dense_resource constants by dense constants.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Linalg/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace streamtensor {
#define GEN_PASS_DEF_INLINERESOURCES
#include "streamtensor/Transforms/Linalg/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;

namespace {

struct InlineResources
    : streamtensor::impl::InlineResourcesBase<InlineResources> {
  void runOnOperation() override {
    bool failed = false;
    getOperation()->walk([&](arith::ConstantOp op) {
      auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
      if (!resource)
        return;
      AsmResourceBlob *blob = resource.getRawHandle().getBlob();
      bool isSplat = false;
      if (!blob || !DenseElementsAttr::isValidRawBuffer(
                       resource.getType(), blob->getData(), isSplat)) {
        op.emitOpError("expected ")
            << resource.getType() << " in the resource '"
            << resource.getRawHandle().getKey() << "' but got "
            << (blob ? blob->getData().size() : 0)
            << " bytes; give the whole text, with its resources";
        failed = true;
        return;
      }
      op.setValueAttr(DenseElementsAttr::getFromRawBuffer(resource.getType(),
                                                          blob->getData()));
    });
    if (failed)
      signalPassFailure();
  }
};

} // namespace
