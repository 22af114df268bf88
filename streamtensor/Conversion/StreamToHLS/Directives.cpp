//===- Directives.cpp - Pipelines, banks and memories ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a synthesis tool is told about a task. The figures come from published
// synthesis reports at 3.33 ns on UltraScale+ (Stream-HLS, FPGA '25 artifacts):
// a float sum carried from one iteration to the next is scheduled with
// initiation interval 4, a carried maximum with 1, and a sum over d independent
// cells needs d iterations of at most that latency.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/StreamToHLS/Steps.h"

#include "streamtensor/Analysis/Estimate/LoopFacts.h"
#include "streamtensor/Analysis/Estimate/LoopInterval.h"
#include "streamtensor/Dialect/Dataflow/IR/Placement.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/HLS/IR/Identifiers.h"
#include "streamtensor/Dialect/HLS/IR/Loops.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"
#include "streamtensor/Support/StreamLimits.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Whether a loop inside `loop` takes cycles of its own.
static bool hasInnerLoop(scf::ForOp loop) {
  return loop
      .walk([&](scf::ForOp inner) {
        return inner != loop && !isFullyUnrolled(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

static void attachLoopDirectives(func::FuncOp task) {
  MLIRContext *context = task.getContext();
  hls::UniqueIdentifiers labels;
  unsigned number = 0;
  task.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    if (isFullyUnrolled(loop))
      return;
    auto label = loop->getAttrOfType<StringAttr>(hls::kLabelAttr);
    std::string fallback = "loop" + std::to_string(number++);
    loop->setAttr(hls::kLabelAttr,
                  StringAttr::get(context, labels.get(label ? label.getValue()
                                                            : fallback)));
    if (hasInnerLoop(loop))
      return;
    loop->setAttr(
        hls::kPipelineAttr,
        hls::PipelineAttr::get(context, intervalBounds(loop).largest()));
  });
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// How many elements of each dimension of `memory` are accessed at once.
static SmallVector<int64_t> parallelAccesses(Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> parallel(type.getRank(), 1);
  for (Operation *user : memory.getUsers()) {
    ValueRange indices;
    if (auto load = dyn_cast<memref::LoadOp>(user))
      indices = load.getIndices();
    else if (auto store = dyn_cast<memref::StoreOp>(user))
      indices = store.getIndices();
    for (auto [dim, index] : llvm::enumerate(indices)) {
      int64_t lanes = 1;
      for (Operation *op : loopsOf(index)) {
        auto loop = cast<scf::ForOp>(op);
        lanes *= llvm::divideCeil(tripCount(loop), iterations(loop));
      }
      parallel[dim] = std::max(parallel[dim], lanes);
    }
  }
  return parallel;
}

/// Partitions `buffer` so that what is accessed at once lies in different
/// banks, and names the kind of memory: the one of `memories` (phase
/// allocated), else the one that the size of a bank suggests.
static void attachArrayDirectives(stream::BufferOp buffer,
                                  DictionaryAttr memories) {
  MLIRContext *context = buffer.getContext();
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> parallel = parallelAccesses(buffer);
  SmallVector<Attribute> partitions;
  int64_t words = type.getNumElements();
  for (auto [dim, lanes] : llvm::enumerate(parallel)) {
    int64_t size = type.getDimSize(dim);
    if (lanes == 1 || size == 1)
      continue;
    bool complete = lanes >= size;
    partitions.push_back(
        hls::PartitionAttr::get(context, complete ? "complete" : "cyclic",
                                complete ? 0 : lanes, dim + 1));
    words = llvm::divideCeil(words, complete ? size : lanes);
  }
  if (!partitions.empty())
    buffer->setAttr(hls::kPartitionAttr, ArrayAttr::get(context, partitions));
  // One word a bank is a register; both halves of a ping-pong buffer share a
  // memory. Thresholds: what synthesis chooses for
  // 32-bit words.
  if (words <= 1)
    return;
  if (buffer.getPingPong())
    words *= 2;
  StringRef memory = words <= 128 ? "lutram" : words <= 2048 ? "bram" : "uram";
  if (memories)
    if (auto chosen = memories.getAs<StringAttr>(buffer.getSym()))
      memory = chosen;
  buffer->setAttr(hls::kStorageAttr,
                  hls::StorageAttr::get(context, "ram_2p", memory));
}

void streamtensor::attachDirectives(func::FuncOp task) {
  attachLoopDirectives(task);
  auto memories = task->getAttrOfType<DictionaryAttr>(dataflow::kMemoriesAttr);
  task.walk([&](stream::BufferOp buffer) {
    attachArrayDirectives(buffer, memories);
  });
}
