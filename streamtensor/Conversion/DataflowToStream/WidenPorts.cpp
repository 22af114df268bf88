//===- WidenPorts.cpp - whole tokens through memory ports -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A DMA whose tokens lie in memory as they are (consecutive elements, at
// multiples of their number) moves a token at a time, through a port as wide as
// the token. The bytes in memory are the same, whoever else reads them.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/DataflowToStream/Steps.h"

#include "streamtensor/Analysis/LinearOffset.h"
#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace streamtensor;
using dataflow::KernelOp;

std::optional<unsigned> streamtensor::functionArgument(Value memory) {
  auto argument = dyn_cast<BlockArgument>(memory);
  auto kernel = argument
                    ? dyn_cast<KernelOp>(argument.getOwner()->getParentOp())
                    : nullptr;
  if (!kernel)
    return std::nullopt;
  Value outside = kernel.getInputs()[argument.getArgNumber()];
  while (Operation *op = outside.getDefiningOp()) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view)
      return std::nullopt;
    outside = view.getViewSource();
  }
  auto source = cast<BlockArgument>(outside);
  if (!isa<FunctionOpInterface>(source.getOwner()->getParentOp()))
    return std::nullopt;
  return source.getArgNumber();
}

/// Whether the elements of `view` are neighbours in memory.
static bool isContiguous(memref::SubViewOp view) {
  SmallVector<int64_t> strides;
  int64_t offset = 0, run = 1;
  if (failed(view.getSourceType().getStridesAndOffset(strides, offset)))
    return false;
  for (auto [size, stride] : llvm::zip_equal(
           llvm::reverse(view.getStaticSizes()), llvm::reverse(strides))) {
    if (size == 1)
      continue;
    if (stride != run)
      return false;
    run *= size;
  }
  return llvm::all_of(view.getStaticStrides(),
                      [](int64_t step) { return step == 1; });
}

/// The read whose token `copy` only brings to its target: the token has memory
/// of its own, and nothing else uses it.
static stream::ReadOp readBefore(memref::CopyOp copy) {
  auto token = copy.getSource().getDefiningOp<memref::AllocOp>();
  if (!token || token->getBlock() != copy->getBlock() ||
      !token->getResult(0).hasNUses(2))
    return nullptr;
  for (Operation *user : token->getUsers())
    if (auto read = dyn_cast<stream::ReadOp>(user);
        read && read.getDest() == token && read->getBlock() == copy->getBlock())
      return read;
  return nullptr;
}

/// The elements of all tokens that pass between `memory`, an argument of a
/// kernel, and streams; 0 when they differ, when something else is done with
/// the memory, or when a token does not lie there as it is.
static int64_t wholeTokens(BlockArgument memory) {
  int64_t elements = 0;
  for (Operation *user : memory.getUsers()) {
    auto view = dyn_cast<memref::SubViewOp>(user);
    if (!view || !isContiguous(view))
      return 0;
    int64_t count = view.getType().getNumElements();
    std::optional<LinearOffset> offset = offsetOf(view);
    if (!offset || !offset->isMultipleOf(count) ||
        (elements != 0 && count != elements))
      return 0;
    elements = count;
    for (OpOperand &use : view->getUses()) {
      auto read = dyn_cast<stream::ReadOp>(use.getOwner());
      auto write = dyn_cast<stream::WriteOp>(use.getOwner());
      auto copy = dyn_cast<memref::CopyOp>(use.getOwner());
      if (!(read && read.getDest() == view) &&
          !(write && write.getValue() == view) &&
          !(copy && copy.getTarget() == view && readBefore(copy)))
        return 0;
    }
  }
  return elements;
}

/// Lets tokens that are read for `memory` go there at once.
static void readInPlace(BlockArgument memory) {
  SmallVector<memref::CopyOp> copies;
  for (Operation *view : memory.getUsers())
    for (Operation *user : view->getUsers())
      if (auto copy = dyn_cast<memref::CopyOp>(user))
        copies.push_back(copy);
  for (memref::CopyOp copy : copies) {
    stream::ReadOp read = readBefore(copy);
    // The view may be computed after the read.
    read->moveBefore(copy);
    read.getDestMutable().assign(copy.getTarget());
    Operation *token = copy.getSource().getDefiningOp();
    copy.erase();
    token->erase();
  }
}

void streamtensor::widenPorts(ModuleOp module) {
  module.walk([](FunctionOpInterface function) {
    // Per argument the elements of its tokens; 0 once something stands against.
    SmallVector<std::optional<int64_t>> tokens(function.getNumArguments());
    SmallVector<SmallVector<BlockArgument>> uses(function.getNumArguments());
    function.walk([&](KernelOp kernel) {
      for (BlockArgument memory : kernel.getBlock().getArguments()) {
        std::optional<unsigned> argument = functionArgument(memory);
        if (!argument)
          continue;
        uses[*argument].push_back(memory);
        int64_t elements = wholeTokens(memory);
        std::optional<int64_t> &known = tokens[*argument];
        known = !known || *known == elements ? elements : 0;
      }
    });
    for (auto [index, elements] : llvm::enumerate(tokens)) {
      auto type = dyn_cast<MemRefType>(function.getArgumentTypes()[index]);
      if (!elements || *elements < 2 || !llvm::isPowerOf2_64(*elements) ||
          !type || type.getNumElements() % *elements != 0 ||
          *elements * type.getElementTypeBitWidth() > kMaxPortBits ||
          function.getArgAttr(index, "dataflow.packing"))
        continue;
      function.setArgAttr(
          index, hls::kPackedAttr,
          IntegerAttr::get(IntegerType::get(function.getContext(), 64),
                           *elements));
      llvm::for_each(uses[index], readInPlace);
    }
  });
}
