//===- SizeFifos.cpp - Depths of FIFOs by time ----------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Derives the network, sizes it, and writes depths and reasons back by name.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/SizeFifos.h"

#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Target/Report/DeriveNetwork.h"
#include "streamtensor/Target/Report/WriteDesign.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace streamtensor;

FailureOr<NetworkDepths> streamtensor::sizeFifos(ModuleOp module,
                                                 ModuleOp lowered,
                                                 const DeviceInfo &device,
                                                 FifoStrategy strategy) {
  std::vector<MemoryPort> ports;
  FailureOr<DesignInfo> design = collectPlacedDesign(lowered, device, ports);
  if (failed(design))
    return failure();
  FailureOr<std::optional<TimedNetwork>> network =
      deriveNetwork(lowered, *design, device);
  if (failed(network))
    return failure();
  // Without a network the depths stay those of program order.
  if (!*network)
    return NetworkDepths();
  std::string error;
  std::optional<NetworkDepths> sizing = sizeNetwork(**network, strategy, error);
  if (!sizing)
    return module.emitError() << error;
  llvm::StringMap<unsigned> indices;
  for (unsigned i = 0; i < (*network)->fifos.size(); ++i)
    indices[(*network)->fifos[i].name] = i;
  module.walk([&](itensor::InstanceOp op) {
    auto index = indices.find(op.getSym());
    if (index == indices.end() || sizing->reasons[index->second].empty())
      return;
    Builder builder(op.getContext());
    op.setDepthAttr(builder.getI64IntegerAttr(sizing->depths[index->second]));
    op.setReasonAttr(builder.getStringAttr(sizing->reasons[index->second]));
  });
  return std::move(*sizing);
}
