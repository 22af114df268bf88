//===- LoopFacts.cpp - Iterations, lanes and what they touch --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Facts that need no figures.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/LoopFacts.h"

#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/HLS/IR/Loops.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace streamtensor;

int64_t streamtensor::tripCount(scf::ForOp loop) {
  return hls::tripBounds(loop).max;
}

static hls::UnrollAttr unrollOf(scf::ForOp loop) {
  return loop->getAttrOfType<hls::UnrollAttr>(hls::kUnrollAttr);
}

int64_t streamtensor::unrollFactor(scf::ForOp loop) {
  hls::UnrollAttr unroll = unrollOf(loop);
  if (!unroll)
    return 1;
  return unroll.getFactor() == 0 ? tripCount(loop) : unroll.getFactor();
}

bool streamtensor::isFullyUnrolled(scf::ForOp loop) {
  hls::UnrollAttr unroll = unrollOf(loop);
  return unroll && unroll.getFactor() == 0;
}

int64_t streamtensor::iterationsOf(scf::ForOp loop, int64_t trips) {
  hls::UnrollAttr unroll = unrollOf(loop);
  if (!unroll)
    return trips;
  return unroll.getFactor() == 0 ? 1
                                 : llvm::divideCeil(trips, unroll.getFactor());
}

int64_t streamtensor::iterations(scf::ForOp loop) {
  return iterationsOf(loop, tripCount(loop));
}

/// The induction variables that `value` is computed from.
static void collectLoops(Value value, SmallPtrSetImpl<Operation *> &loops) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
      loops.insert(loop);
    return;
  }
  for (Value operand : value.getDefiningOp()->getOperands())
    collectLoops(operand, loops);
}

SmallPtrSet<Operation *, 4> streamtensor::loopsOf(ValueRange indices) {
  SmallPtrSet<Operation *, 4> loops;
  for (Value index : indices)
    collectLoops(index, loops);
  return loops;
}

int64_t streamtensor::copiesInside(Operation *op, Operation *scope) {
  int64_t copies = 1;
  for (Operation *outer = op->getParentOp(); outer && outer != scope;
       outer = outer->getParentOp())
    if (auto loop = dyn_cast<scf::ForOp>(outer))
      copies *= unrollFactor(loop);
  return copies;
}

/// The one loop that `loop` contains and nothing else that takes a cycle; null
/// when there is none.
static scf::ForOp perfectInner(scf::ForOp loop) {
  scf::ForOp inner;
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto next = dyn_cast<scf::ForOp>(op)) {
      if (inner)
        return nullptr;
      inner = next;
    } else if (!isa<arith::ConstantOp, affine::AffineApplyOp>(op)) {
      return nullptr;
    }
  }
  // An inner count that changes with the outer loop cannot be flattened.
  if (inner && loopsOf({inner.getLowerBound(), inner.getUpperBound()})
                   .contains(loop.getOperation()))
    return nullptr;
  return inner;
}

SmallVector<scf::ForOp> streamtensor::pipelinedNest(scf::ForOp loop) {
  SmallVector<scf::ForOp> nest = {loop};
  while (!nest.back()->hasAttr(hls::kPipelineAttr)) {
    scf::ForOp inner = perfectInner(nest.back());
    // Only the outermost loop of a flattened nest may have a bound that is
    // known at run time (UG1399, semi-perfect loops).
    if (!inner || isFullyUnrolled(inner) ||
        !getConstantIntValue(inner.getUpperBound()))
      return {};
    nest.push_back(inner);
  }
  return nest;
}

Value streamtensor::streamOf(Value value) {
  while (auto cast = value.getDefiningOp<stream::CastOp>())
    value = cast.getSource();
  return value;
}

ContiguousRun streamtensor::contiguousRun(Operation *access,
                                          const LinearOffset &offset,
                                          int64_t elements) {
  for (Operation *op = access->getParentOp(); op; op = op->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    const int64_t trips = tripCount(loop);
    if (trips == 1)
      continue;
    int64_t factor = 0;
    for (const auto &[value, multiple] : offset.terms)
      if (value == loop.getInductionVar())
        factor += multiple;
    const std::optional<int64_t> step = getConstantIntValue(loop.getStep());
    if (!step || factor * *step != elements)
      return {elements, false};
    elements *= trips;
  }
  return {elements, true};
}

Value streamtensor::deviceMemoryOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    auto view = dyn_cast<ViewLikeOpInterface>(op);
    if (!view)
      return nullptr;
    value = view.getViewSource();
  }
  auto function = dyn_cast<func::FuncOp>(
      cast<BlockArgument>(value).getOwner()->getParentOp());
  if (!function || !isa<MemRefType>(value.getType()) ||
      function.getArgAttr(cast<BlockArgument>(value).getArgNumber(),
                          hls::kArrayAttr))
    return nullptr;
  return value;
}
