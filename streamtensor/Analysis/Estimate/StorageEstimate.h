//===- StorageEstimate.h - Blocks that memories need ------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Area of FIFOs, arrays and memory ports, in two numbers: what is needed, and
// what Vitis HLS (csynth) reports. They differ: csynth books one block for a
// FIFO of any depth.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_ESTIMATE_STORAGEESTIMATE_H
#define STREAMTENSOR_ANALYSIS_ESTIMATE_STORAGEESTIMATE_H

#include "streamtensor/Analysis/Estimate/Resources.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <vector>

namespace streamtensor {

/// What holds words.
enum class MemoryKind {
  Registers,
  ShiftRegister, ///< of FIFOs only
  LutRam,
  Bram,
  Uram,
};

/// "registers", "srl", "lutram", "bram", "uram": as in BIND_STORAGE.
llvm::StringRef memoryKindName(MemoryKind kind);
std::optional<MemoryKind> parseMemoryKind(llvm::StringRef name);

/// An array, or a FIFO.
struct StorageShape {
  int64_t words = 0, bits = 0;
  /// Memories of this shape, each with ports of its own.
  int64_t banks = 1;
  /// Two halves: for each block memory another one of the same shape.
  bool pingPong = false;
};

//===----------------------------------------------------------------------===//
// What is needed
//===----------------------------------------------------------------------===//

/// BRAM18 blocks for `words` of `bits`, in the best of the shapes that a block
/// has: 512 x 36, 1024 x 18, 2048 x 9, 4096 x 4, 8192 x 2, 16384 x 1.
int64_t bram18Blocks(int64_t words, int64_t bits);

/// UltraRAM blocks, each 4096 x 72.
int64_t uramBlocks(int64_t words, int64_t bits);

/// An array in `kind` of memory.
ResourceUse estimateArray(const StorageShape &shape, MemoryKind kind);

/// The kind that synthesis chooses for a FIFO: shift registers up to 1024 bits
/// or two tokens, LUTs up to 128 tokens, then blocks.
MemoryKind fifoKind(int64_t depth, int64_t bits);

/// A FIFO of `depth` tokens of `bits` bits in `kind` of memory.
ResourceUse estimateFifo(int64_t depth, int64_t bits, MemoryKind kind);

/// A FIFO of `depth` tokens of `bits` bits.
ResourceUse estimateFifo(int64_t depth, int64_t bits);

/// The read or write buffer of an AXI port: 16 bursts in flight, each of
/// `burst` beats of `bits` bits.
ResourceUse estimatePort(int64_t bits, int64_t burst);

/// The shape of one bank of an array of a task, and the banks, from its
/// directives.
StorageShape storageShape(stream::BufferOp buffer);

/// An array of a task, with its banks and both halves of a ping-pong buffer, in
/// the memory that its directives name.
ResourceUse estimateBuffer(stream::BufferOp buffer);

//===----------------------------------------------------------------------===//
// What csynth reports
//===----------------------------------------------------------------------===//

/// A FIFO as csynth counts it: one block from 129 tokens on, however deep.
ResourceUse csynthFifo(int64_t depth, int64_t bits);

/// An array that csynth places by itself.
ResourceUse csynthArray(const StorageShape &shape);

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// A memory for an array or a FIFO.
struct StorageChoice {
  MemoryKind kind = MemoryKind::Registers;
  ResourceUse use;
};

/// The ways to build an array, in the order of preference: registers for one
/// word a bank; LUTs up to 1024 words a bank, beyond which their multiplexers
/// are slow and large; blocks.
std::vector<StorageChoice> arrayChoices(const StorageShape &shape);

/// The ways to build a FIFO: shift registers, of which up to two tokens always
/// consist and which above 128 tokens are no longer cheaper than memories of
/// LUTs; these up to 1024 tokens; blocks.
std::vector<StorageChoice> fifoChoices(int64_t depth, int64_t bits);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_ESTIMATE_STORAGEESTIMATE_H
