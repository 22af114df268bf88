//===- StorageEstimate.cpp - Blocks that memories need --------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LUTs and flip-flops of 32-bit memories are those of published synthesis
// reports (Stream-HLS, FPGA '25 artifacts). Other widths are ours: a LUT a bit
// in memories of LUTs, a flip-flop a bit of the register at the output, and the
// rest of the published figure as it is.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/StorageEstimate.h"

#include "streamtensor/Dialect/HLS/IR/HLS.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace streamtensor;

StringRef streamtensor::memoryKindName(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::Registers:
    return "registers";
  case MemoryKind::ShiftRegister:
    return "srl";
  case MemoryKind::LutRam:
    return "lutram";
  case MemoryKind::Bram:
    return "bram";
  case MemoryKind::Uram:
    return "uram";
  }
  llvm_unreachable("all kinds are named");
}

std::optional<MemoryKind> streamtensor::parseMemoryKind(StringRef name) {
  for (MemoryKind kind :
       {MemoryKind::Registers, MemoryKind::ShiftRegister, MemoryKind::LutRam,
        MemoryKind::Bram, MemoryKind::Uram})
    if (name == memoryKindName(kind))
      return kind;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// What is needed
//===----------------------------------------------------------------------===//

int64_t streamtensor::bram18Blocks(int64_t words, int64_t bits) {
  if (words <= 0 || bits <= 0)
    return 0;
  // UG573: words and bits of a block.
  static constexpr int64_t kShapes[][2] = {{512, 36}, {1024, 18}, {2048, 9},
                                           {4096, 4}, {8192, 2},  {16384, 1}};
  int64_t fewest = std::numeric_limits<int64_t>::max();
  for (const auto &[blockWords, blockBits] : kShapes)
    fewest = std::min<int64_t>(fewest, llvm::divideCeil(words, blockWords) *
                                           llvm::divideCeil(bits, blockBits));
  return fewest;
}

int64_t streamtensor::uramBlocks(int64_t words, int64_t bits) {
  return llvm::divideCeil(bits, 72) * llvm::divideCeil(words, 4096);
}

/// LUTs of a memory in LUTs: 33 for up to 64 words of 32 bits, 65 for 128.
static int64_t lutRamLuts(int64_t words, int64_t bits) {
  return bits * llvm::divideCeil(words, 64) + 1;
}

ResourceUse streamtensor::estimateArray(const StorageShape &shape,
                                        MemoryKind kind) {
  ResourceUse use;
  int64_t halves = shape.pingPong ? 2 : 1;
  switch (kind) {
  case MemoryKind::Registers:
  case MemoryKind::ShiftRegister:
    use.ff = shape.words * shape.bits * halves;
    break;
  case MemoryKind::LutRam:
    // Both halves are in one memory: the half is a bit of the address.
    use.lut = lutRamLuts(shape.words * halves, shape.bits);
    break;
  case MemoryKind::Bram:
    use.bram18 = halves * bram18Blocks(shape.words, shape.bits);
    break;
  case MemoryKind::Uram:
    use.uram = uramBlocks(shape.words * halves, shape.bits);
    break;
  }
  return use * shape.banks;
}

MemoryKind streamtensor::fifoKind(int64_t depth, int64_t bits) {
  if (depth <= 2 || depth * bits <= 1024)
    return MemoryKind::ShiftRegister;
  return depth <= 128 ? MemoryKind::LutRam : MemoryKind::Bram;
}

ResourceUse streamtensor::estimateFifo(int64_t depth, int64_t bits,
                                       MemoryKind kind) {
  // Published for 32 bits: 50 LUT and 8 FF in shift registers of 32; 100 and
  // 118 in LUTs up to 64, 179 and 121 up to 128; 70 and 92 with blocks up to
  // 256, 78 and 95 above.
  ResourceUse use;
  switch (kind) {
  case MemoryKind::Registers:
  case MemoryKind::ShiftRegister:
    use.lut = 18 + bits * llvm::divideCeil(depth, 32);
    use.ff = 8;
    break;
  case MemoryKind::LutRam:
    use.lut = (depth <= 64 ? 68 : 115) + bits * llvm::divideCeil(depth, 64);
    use.ff = (depth <= 64 ? 86 : 89) + bits;
    break;
  case MemoryKind::Bram:
    use.bram18 = bram18Blocks(depth, bits);
    use.lut = depth <= 256 ? 70 : 78;
    use.ff = (depth <= 256 ? 60 : 63) + bits;
    break;
  case MemoryKind::Uram:
    use.uram = uramBlocks(depth, bits);
    use.lut = 78;
    use.ff = 63 + bits;
    break;
  }
  return use;
}

ResourceUse streamtensor::estimateFifo(int64_t depth, int64_t bits) {
  return estimateFifo(depth, bits, fifoKind(depth, bits));
}

ResourceUse streamtensor::estimatePort(int64_t bits, int64_t burst) {
  // 16 outstanding bursts is the tool's default.
  ResourceUse use;
  use.bram18 = bram18Blocks(16 * burst, bits);
  return use;
}

StorageShape streamtensor::storageShape(stream::BufferOp buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  StorageShape shape;
  if (auto partitions = buffer->getAttrOfType<ArrayAttr>(hls::kPartitionAttr))
    for (auto partition : partitions.getAsRange<hls::PartitionAttr>())
      shape.banks *= partition.getFactor() != 0
                         ? partition.getFactor()
                         : type.getDimSize(partition.getDim() - 1);
  shape.words = llvm::divideCeil(type.getNumElements(), shape.banks);
  shape.bits = type.getElementTypeBitWidth();
  shape.pingPong = buffer.getPingPong();
  return shape;
}

ResourceUse streamtensor::estimateBuffer(stream::BufferOp buffer) {
  StorageShape shape = storageShape(buffer);
  auto storage = buffer->getAttrOfType<hls::StorageAttr>(hls::kStorageAttr);
  if (!storage)
    return estimateArray(shape, MemoryKind::Registers);
  return estimateArray(
      shape, parseMemoryKind(storage.getMemory()).value_or(MemoryKind::Uram));
}

//===----------------------------------------------------------------------===//
// What csynth reports
//===----------------------------------------------------------------------===//

ResourceUse streamtensor::csynthFifo(int64_t depth, int64_t bits) {
  ResourceUse use = estimateFifo(depth, bits);
  if (use.bram18 > 0)
    use.bram18 = 1;
  return use;
}

ResourceUse streamtensor::csynthArray(const StorageShape &shape) {
  // Published for 32 bits; other widths by the blocks that they need.
  ResourceUse use;
  int64_t words = shape.words, bits = shape.bits;
  if (words <= 128) {
    use.lut = lutRamLuts(words, bits);
  } else if (words <= 1024) {
    use.bram18 = llvm::divideCeil(bits, 36) * llvm::divideCeil(words, 512);
  } else if (words <= 2048) {
    use.bram18 = llvm::divideCeil(bits, 36) * 4;
  } else if (words <= 4096) {
    use.uram = llvm::divideCeil(bits, 72);
  } else {
    // Up to 8192 words a power of two of 512, above by the bits held.
    int64_t blocks = words <= 8192 ? llvm::PowerOf2Ceil(llvm::divideCeil(
                                         static_cast<uint64_t>(words), 512))
                                   : llvm::divideNearest(words, 512);
    use.bram18 = llvm::divideCeil(bits, 36) * blocks;
  }
  return use * (shape.banks * (shape.pingPong ? 2 : 1));
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// More words than this in LUTs make slow and large multiplexers.
static constexpr int64_t kMostLutRamWords = 1024;

std::vector<StorageChoice>
streamtensor::arrayChoices(const StorageShape &shape) {
  std::vector<StorageChoice> choices;
  auto consider = [&](MemoryKind kind) {
    choices.push_back({kind, estimateArray(shape, kind)});
  };
  if (shape.words <= 1) {
    consider(MemoryKind::Registers);
    return choices;
  }
  if (shape.words <= kMostLutRamWords)
    consider(MemoryKind::LutRam);
  consider(MemoryKind::Bram);
  consider(MemoryKind::Uram);
  return choices;
}

std::vector<StorageChoice> streamtensor::fifoChoices(int64_t depth,
                                                     int64_t bits) {
  std::vector<StorageChoice> choices;
  auto consider = [&](MemoryKind kind) {
    choices.push_back({kind, estimateFifo(depth, bits, kind)});
  };
  if (depth <= 128)
    consider(MemoryKind::ShiftRegister);
  if (depth <= 2)
    return choices;
  if (depth <= kMostLutRamWords)
    consider(MemoryKind::LutRam);
  consider(MemoryKind::Bram);
  consider(MemoryKind::Uram);
  return choices;
}
