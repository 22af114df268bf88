//===- StorageEstimate.cpp - Blocks that memories need --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Storage follows published synthesis reports (Stream-HLS, FPGA '25 artifacts),
// apart from the count of blocks.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/StorageEstimate.h"

#include "streamtensor/Dialect/HLS/IR/HLS.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;

ResourceUse &ResourceUse::operator+=(const ResourceUse &other) {
  dsp += other.dsp;
  lut += other.lut;
  ff += other.ff;
  bram18 += other.bram18;
  uram += other.uram;
  return *this;
}

/// LUTs of a memory in LUTs, per 32 bits of width.
static int64_t lutRamLuts(int64_t words) {
  return words <= 64 ? 33 : 65 * llvm::divideCeil(words, 128);
}

/// A memory of 36-bit wide, 512 deep blocks.
static int64_t bram18Blocks(int64_t words, int64_t bits) {
  return llvm::divideCeil(bits, 36) * llvm::divideCeil(words, 512);
}

ResourceUse streamtensor::estimateFifo(int64_t depth, int64_t bits) {
  ResourceUse use;
  int64_t lanes = llvm::divideCeil(bits, 32);
  if (depth <= 2 || depth * bits <= 1024) {
    use.lut = 50 * lanes;
    use.ff = 8 * lanes;
  } else if (depth <= 128) {
    use.lut = (depth <= 64 ? 100 : 179) * lanes;
    use.ff = (depth <= 64 ? 118 : 121) * lanes;
  } else {
    use.bram18 = bram18Blocks(depth, bits);
    use.lut = 78;
    use.ff = 95;
  }
  return use;
}

ResourceUse streamtensor::estimatePort(int64_t bits, int64_t burst) {
  // 16 outstanding bursts is the tool's default.
  ResourceUse use;
  use.bram18 = bram18Blocks(16 * burst, bits);
  return use;
}

/// Banks of a buffer, from its partitions.
static int64_t banksOf(stream::BufferOp buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t banks = 1;
  if (auto partitions = buffer->getAttrOfType<ArrayAttr>(hls::kPartitionAttr))
    for (auto partition : partitions.getAsRange<hls::PartitionAttr>())
      banks *= partition.getFactor() != 0
                   ? partition.getFactor()
                   : type.getDimSize(partition.getDim() - 1);
  return banks;
}

ResourceUse streamtensor::estimateBuffer(stream::BufferOp buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t bits = type.getElementTypeBitWidth();
  int64_t banks = banksOf(buffer);
  int64_t halves = buffer.getPingPong() ? 2 : 1;
  int64_t words = llvm::divideCeil(type.getNumElements(), banks);
  ResourceUse use;
  auto storage = buffer->getAttrOfType<hls::StorageAttr>(hls::kStorageAttr);
  if (!storage)
    use.ff = type.getNumElements() * bits * halves;
  else if (storage.getMemory() == "lutram")
    use.lut = banks * lutRamLuts(words * halves) * llvm::divideCeil(bits, 32);
  else if (storage.getMemory() == "bram")
    use.bram18 = banks * halves * bram18Blocks(words, bits);
  else
    use.uram = banks * llvm::divideCeil(bits, 72) *
               llvm::divideCeil(words * halves, 4096);
  return use;
}
