//===- LowerTiles.cpp - Operations on tiles become loops ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linalg operations on tokens and slices of buffers, copies, and accesses of
// streams with parts of buffers become `scf.for` loops over scalars. Views are
// resolved on the way, so that loads and stores name the memory itself.
//
// Loop order: dimensions computed one after the other outermost, then those
// that are unrolled in part, then the lanes (unrolled completely). Dimensions
// of size one get no loop.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/DataflowToStream/Steps.h"

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor;
using dataflow::TaskOp;

/// On a Linalg operation: per dimension how many points are computed at once.
static constexpr StringLiteral kTileUnrollAttr = "dataflow.unroll";

namespace {

/// Where an element lies: the memory that no view describes, and indices in it.
struct Element {
  Value memory;
  SmallVector<OpFoldResult> indices;
};

/// Builds the loops of one kernel.
class TileLoops {
public:
  explicit TileLoops(MLIRContext *context) : b(context) {}

  LogicalResult lower(linalg::LinalgOp op);
  LogicalResult lower(memref::CopyOp op);
  LogicalResult lower(stream::ReadOp op);
  LogicalResult lower(stream::WriteOp op);
  LogicalResult lower(memref::LoadOp op);
  LogicalResult lower(memref::StoreOp op);

private:
  using Indices = SmallVector<OpFoldResult>;

  LogicalResult lowerReduction(linalg::LinalgOp op, ArrayRef<int64_t> unroll,
                               Operation *combiner);
  LogicalResult inlineBody(linalg::LinalgOp op, const Indices &ivs,
                           IRMapping &mapping);
  Indices elementOf(OpOperand *operand, const Indices &ivs);

  LogicalResult resolve(Location loc, Element &element);
  FailureOr<Value> load(Location loc, Value memref, const Indices &indices);
  LogicalResult store(Location loc, Value value, Value memref,
                      const Indices &indices);
  LogicalResult copy(Location loc, Value source, Value dest);
  LogicalResult nest(Location loc, ArrayRef<int64_t> sizes,
                     ArrayRef<int64_t> unroll,
                     function_ref<LogicalResult(const Indices &)> body);
  OpFoldResult apply(Location loc, AffineExpr expr,
                     ArrayRef<OpFoldResult> operands) {
    auto map = AffineMap::get(operands.size(), /*symbolCount=*/0, expr);
    return affine::makeComposedFoldedAffineApply(b, loc, map, operands);
  }

  OpBuilder b;
};

} // namespace

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// Replaces the outermost view of `element` by the memory it describes, until
/// none is left.
LogicalResult TileLoops::resolve(Location loc, Element &element) {
  AffineExpr d0, d1;
  bindDims(b.getContext(), d0, d1);
  while (Operation *op = element.memory.getDefiningOp()) {
    Indices indices;
    if (auto view = dyn_cast<memref::SubViewOp>(op)) {
      auto dropped = view.getDroppedDims();
      unsigned position = 0;
      for (auto [dim, offset, stride] :
           llvm::enumerate(view.getMixedOffsets(), view.getMixedStrides())) {
        if (dropped.test(dim)) {
          indices.push_back(offset);
          continue;
        }
        OpFoldResult index = element.indices[position++];
        std::optional<int64_t> step = getConstantIntValue(stride);
        if (!step)
          return view.emitOpError() << "expected constant strides";
        indices.push_back(apply(loc, d0 + d1 * *step, {offset, index}));
      }
      element.memory = view.getSource();
    } else if (auto view = dyn_cast<memref::ExpandShapeOp>(op)) {
      auto sizes = view.getResultType().getShape();
      for (const ReassociationIndices &group : view.getReassociationIndices()) {
        OpFoldResult index = b.getIndexAttr(0);
        for (int64_t dim : group)
          index =
              apply(loc, d0 * sizes[dim] + d1, {index, element.indices[dim]});
        indices.push_back(index);
      }
      element.memory = view.getSrc();
    } else if (auto view = dyn_cast<memref::CollapseShapeOp>(op)) {
      auto sizes = view.getSrcType().getShape();
      for (auto [position, group] :
           llvm::enumerate(view.getReassociationIndices())) {
        int64_t inner = 1;
        for (int64_t dim : group)
          inner *= sizes[dim];
        int64_t total = inner;
        for (int64_t dim : group) {
          inner /= sizes[dim];
          AffineExpr expr = d0.floorDiv(inner);
          if (inner * sizes[dim] != total)
            expr = expr % sizes[dim];
          if (sizes[dim] == 1)
            expr = b.getAffineConstantExpr(0);
          indices.push_back(apply(loc, expr, {element.indices[position]}));
        }
      }
      element.memory = view.getSrc();
    } else if (auto view = dyn_cast<memref::CastOp>(op)) {
      element.memory = view.getSource();
      continue;
    } else {
      break;
    }
    element.indices = std::move(indices);
  }
  return success();
}

FailureOr<Value> TileLoops::load(Location loc, Value memref,
                                 const Indices &indices) {
  Element element{memref, indices};
  if (failed(resolve(loc, element)))
    return failure();
  return memref::LoadOp::create(
             b, loc, element.memory,
             getValueOrCreateConstantIndexOp(b, loc, element.indices))
      .getResult();
}

LogicalResult TileLoops::store(Location loc, Value value, Value memref,
                               const Indices &indices) {
  Element element{memref, indices};
  if (failed(resolve(loc, element)))
    return failure();
  memref::StoreOp::create(
      b, loc, value, element.memory,
      getValueOrCreateConstantIndexOp(b, loc, element.indices));
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Builds a loop for every dimension larger than one and calls `body` inside
/// with one index per dimension. `unroll[d]` points of dimension d are computed
/// at once (1: one after the other).
LogicalResult
TileLoops::nest(Location loc, ArrayRef<int64_t> sizes, ArrayRef<int64_t> unroll,
                function_ref<LogicalResult(const Indices &)> body) {
  OpBuilder::InsertionGuard guard(b);
  SmallVector<unsigned> order;
  auto rank = [&](unsigned dim) {
    return unroll[dim] >= sizes[dim] ? 2 : unroll[dim] > 1 ? 1 : 0;
  };
  for (unsigned dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] != 1)
      order.push_back(dim);
  llvm::sort(order, [&](unsigned left, unsigned right) {
    return std::pair(rank(left), left) < std::pair(rank(right), right);
  });
  Indices indices(sizes.size(), b.getIndexAttr(0));
  Value zero, one;
  for (unsigned dim : order) {
    if (!zero) {
      zero = arith::ConstantIndexOp::create(b, loc, 0);
      one = arith::ConstantIndexOp::create(b, loc, 1);
    }
    Value trips = arith::ConstantIndexOp::create(b, loc, sizes[dim]);
    auto loop = scf::ForOp::create(b, loc, zero, trips, one);
    if (rank(dim) != 0)
      loop->setAttr(hls::kUnrollAttr,
                    hls::UnrollAttr::get(b.getContext(),
                                         rank(dim) == 2 ? 0 : unroll[dim]));
    indices[dim] = loop.getInductionVar();
    b.setInsertionPointToStart(loop.getBody());
  }
  return body(indices);
}

/// Copies are as wide as a token, so all their elements move at once.
LogicalResult TileLoops::copy(Location loc, Value source, Value dest) {
  auto shape = cast<MemRefType>(source.getType()).getShape();
  return nest(loc, shape, shape, [&](const Indices &indices) -> LogicalResult {
    FailureOr<Value> value = load(loc, source, indices);
    return failed(value) ? failure() : store(loc, *value, dest, indices);
  });
}

LogicalResult TileLoops::lower(memref::CopyOp op) {
  b.setInsertionPoint(op);
  if (failed(copy(op.getLoc(), op.getSource(), op.getTarget())))
    return failure();
  op.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Linalg operations
//===----------------------------------------------------------------------===//

/// The dimensions of `memory` of which a view takes more than one element at a
/// time: its lanes.
static SmallVector<int64_t> lanesOf(Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<int64_t> lanes(type.getRank(), 1);
  for (Operation *user : memory.getUsers())
    if (auto view = dyn_cast<memref::SubViewOp>(user))
      for (auto [dim, size] : llvm::enumerate(view.getStaticSizes()))
        lanes[dim] = std::max(lanes[dim], size);
  return lanes;
}

/// How many points of each dimension are computed at once.
static FailureOr<SmallVector<int64_t>> unrollOf(linalg::LinalgOp op) {
  unsigned loops = op.getNumLoops();
  if (auto attr = op->getAttrOfType<DenseI64ArrayAttr>(kTileUnrollAttr)) {
    if (attr.size() != loops)
      return op->emitOpError()
             << "expected " << loops << " factors in '" << kTileUnrollAttr
             << "' but got " << attr.size();
    return SmallVector<int64_t>(attr.asArrayRef());
  }
  if (isa<linalg::FillOp>(op)) {
    Value memory = op.getDpsInits().front();
    auto type = cast<MemRefType>(memory.getType());
    if (!memory.getDefiningOp<stream::BufferOp>())
      return SmallVector<int64_t>(type.getShape());
    return lanesOf(memory);
  }
  return SmallVector<int64_t>(loops, 1);
}

/// The indices of `operand` at one point of the iteration space.
TileLoops::Indices TileLoops::elementOf(OpOperand *operand,
                                        const Indices &ivs) {
  auto op = cast<linalg::LinalgOp>(operand->getOwner());
  Indices indices;
  for (AffineExpr result : op.getMatchingIndexingMap(operand).getResults())
    indices.push_back(apply(op.getLoc(), result, ivs));
  return indices;
}

/// Loads the operands that the body uses (those in `mapping` already excepted)
/// and clones the body without its terminator. What `mapping` names is not
/// cloned.
LogicalResult TileLoops::inlineBody(linalg::LinalgOp op, const Indices &ivs,
                                    IRMapping &mapping) {
  Location loc = op.getLoc();
  Block *body = op.getBlock();
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (mapping.contains(argument) || argument.use_empty())
      continue;
    if (!isa<MemRefType>(operand.get().getType())) {
      mapping.map(argument, operand.get());
      continue;
    }
    FailureOr<Value> value = load(loc, operand.get(), elementOf(&operand, ivs));
    if (failed(value))
      return failure();
    mapping.map(argument, *value);
  }
  for (Operation &inner : body->without_terminator()) {
    if (inner.getNumResults() == 1 && mapping.contains(inner.getResult(0)))
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(inner))
      mapping.map(index.getResult(),
                  getValueOrCreateConstantIndexOp(b, loc, ivs[index.getDim()]));
    else
      b.clone(inner, mapping);
  }
  return success();
}

/// The operation that combines the running value with a new one, when the body
/// does nothing else with the running value and grouping does not matter.
static Operation *findCombiner(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1)
    return nullptr;
  BlockArgument running = op.getRegionOutputArgs().front();
  Operation *combiner =
      op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || !running.hasOneUse() || *running.user_begin() != combiner ||
      !isa<arith::AddFOp, arith::MulFOp, arith::MaximumFOp, arith::MinimumFOp,
           arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp, arith::MaxSIOp,
           arith::MinSIOp, arith::AndIOp, arith::OrIOp>(combiner))
    return nullptr;
  return combiner;
}

LogicalResult TileLoops::lower(linalg::LinalgOp op) {
  Location loc = op.getLoc();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  FailureOr<SmallVector<int64_t>> unroll = unrollOf(op);
  if (failed(unroll))
    return failure();
  b.setInsertionPoint(op);
  bool reducesLanes = false;
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    reducesLanes |= kind == utils::IteratorType::reduction && sizes[dim] > 1 &&
                    (*unroll)[dim] >= sizes[dim];
  Operation *combiner = reducesLanes ? findCombiner(op) : nullptr;
  LogicalResult built =
      combiner
          ? lowerReduction(op, *unroll, combiner)
          : nest(loc, sizes, *unroll, [&](const Indices &ivs) -> LogicalResult {
              IRMapping mapping;
              if (failed(inlineBody(op, ivs, mapping)))
                return failure();
              Operation *yield = op.getBlock()->getTerminator();
              for (auto [position, yielded] :
                   llvm::enumerate(yield->getOperands())) {
                OpOperand *init = op.getDpsInitOperand(position);
                if (failed(store(loc, mapping.lookupOrDefault(yielded),
                                 init->get(), elementOf(init, ivs))))
                  return failure();
              }
              return success();
            });
  if (failed(built))
    return failure();
  op.erase();
  return success();
}

/// Reduces `r` lanes by a balanced tree and combines its result once with the
/// running value, so that the path from one update to the next is one operation
/// long. The partial values lie in an array [r][parallel lanes]:
///
///   partial[i][l] = value of lane i          (all lanes at once)
///   partial[i][l] = partial[i][l] + partial[i + n][l]   for n = r/2, r/4, .. 1
///   running[l] = running[l] + partial[0][l]
LogicalResult TileLoops::lowerReduction(linalg::LinalgOp op,
                                        ArrayRef<int64_t> unroll,
                                        Operation *combiner) {
  Location loc = op.getLoc();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  BlockArgument running = op.getRegionOutputArgs().front();
  OpOperand *init = op.getDpsInitOperand(0);
  // Outer: one after the other. Inside: reduced lanes, then parallel lanes.
  SmallVector<unsigned> reduced, parallel;
  SmallVector<int64_t> outerSizes(sizes), partialShape;
  int64_t lanes = 1;
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray())) {
    if (unroll[dim] < sizes[dim] || sizes[dim] == 1)
      continue;
    outerSizes[dim] = 1;
    if (kind == utils::IteratorType::reduction) {
      reduced.push_back(dim);
      lanes *= sizes[dim];
    } else {
      parallel.push_back(dim);
    }
  }
  partialShape.push_back(lanes);
  for (unsigned dim : parallel)
    partialShape.push_back(sizes[dim]);
  auto partialType = MemRefType::get(partialShape, running.getType());
  Value fresh = combiner->getOperand(0) == running ? combiner->getOperand(1)
                                                   : combiner->getOperand(0);
  auto combine = [&](Value left, Value right) {
    IRMapping mapping;
    bool runningFirst = combiner->getOperand(0) == running;
    mapping.map(running, runningFirst ? left : right);
    mapping.map(fresh, runningFirst ? right : left);
    return b.clone(*combiner, mapping)->getResult(0);
  };
  return nest(
      loc, outerSizes, unroll, [&](const Indices &outer) -> LogicalResult {
        Value partial = memref::AllocOp::create(b, loc, partialType);
        partial.getDefiningOp()->setAttr(hls::kNameAttr,
                                         b.getStringAttr("partial"));
        // The point of the iteration space for lane indices of the partial
        // array.
        SmallVector<int64_t> laneSizes;
        for (unsigned dim : reduced)
          laneSizes.push_back(sizes[dim]);
        for (unsigned dim : parallel)
          laneSizes.push_back(sizes[dim]);
        LogicalResult filled = nest(
            loc, laneSizes, laneSizes, [&](const Indices &at) -> LogicalResult {
              Indices ivs(outer), target(1, b.getIndexAttr(0));
              AffineExpr d0, d1;
              bindDims(b.getContext(), d0, d1);
              for (auto [position, dim] : llvm::enumerate(reduced)) {
                ivs[dim] = at[position];
                target[0] =
                    apply(loc, d0 * sizes[dim] + d1, {target[0], at[position]});
              }
              for (auto [position, dim] : llvm::enumerate(parallel)) {
                ivs[dim] = at[reduced.size() + position];
                target.push_back(ivs[dim]);
              }
              IRMapping mapping;
              // Neither the running value nor the combination belong here.
              mapping.map(running, running);
              mapping.map(combiner->getResult(0), combiner->getResult(0));
              if (failed(inlineBody(op, ivs, mapping)))
                return failure();
              return store(loc, mapping.lookupOrDefault(fresh), partial,
                           target);
            });
        if (failed(filled))
          return failure();
        for (int64_t left = lanes; left > 1; left = llvm::divideCeil(left, 2)) {
          SmallVector<int64_t> shape(partialShape);
          shape[0] = left / 2;
          int64_t distance = llvm::divideCeil(left, 2);
          LogicalResult added =
              nest(loc, shape, shape, [&](const Indices &at) -> LogicalResult {
                Indices other(at);
                other[0] =
                    apply(loc, b.getAffineDimExpr(0) + distance, {at[0]});
                FailureOr<Value> a = load(loc, partial, at),
                                 c = load(loc, partial, other);
                if (failed(a) || failed(c))
                  return failure();
                return store(loc, combine(*a, *c), partial, at);
              });
          if (failed(added))
            return failure();
        }
        SmallVector<int64_t> shape(partialShape);
        shape[0] = 1;
        return nest(loc, shape, shape, [&](const Indices &at) -> LogicalResult {
          Indices ivs(outer);
          for (unsigned dim : reduced)
            ivs[dim] = b.getIndexAttr(0);
          for (auto [position, dim] : llvm::enumerate(parallel))
            ivs[dim] = at[1 + position];
          Indices target = elementOf(init, ivs);
          FailureOr<Value> value = load(loc, init->get(), target),
                           sum = load(loc, partial, at);
          if (failed(value) || failed(sum))
            return failure();
          return store(loc, combine(*value, *sum), init->get(), target);
        });
      });
}

//===----------------------------------------------------------------------===//
// Stream accesses
//===----------------------------------------------------------------------===//

/// The memory is exactly one token that only lives here.
static bool isTokenMemory(Value memory) {
  return memory.getDefiningOp<memref::AllocOp>() != nullptr;
}

/// One whole token of an argument that is packed, or accessed in whole tokens
/// only: read and written as one vector. A packed argument of a single token
/// has no view.
static bool isPackedToken(Value memory) {
  int64_t elements = cast<MemRefType>(memory.getType()).getNumElements();
  if (auto view = memory.getDefiningOp<memref::SubViewOp>())
    memory = view.getSource();
  std::optional<unsigned> argument = functionArgument(memory);
  if (!argument)
    return false;
  auto function =
      memory.getParentRegion()->getParentOfType<FunctionOpInterface>();
  if (auto whole =
          function.getArgAttrOfType<IntegerAttr>(*argument, hls::kPackedAttr))
    return whole.getInt() == elements;
  auto packing =
      function.getArgAttrOfType<TypeAttr>(*argument, "dataflow.packing");
  auto order =
      packing ? dyn_cast<itensor::ITensorType>(packing.getValue()) : nullptr;
  return order && order.getTokenElements() == elements && elements > 1 &&
         llvm::isPowerOf2_64(elements);
}

LogicalResult TileLoops::lower(stream::ReadOp op) {
  if (!op.getDest() || isTokenMemory(op.getDest()) ||
      isPackedToken(op.getDest()))
    return success();
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  auto type = cast<MemRefType>(op.getDest().getType());
  Value token = memref::AllocOp::create(
      b, loc, MemRefType::get(type.getShape(), type.getElementType()));
  Value dest = op.getDest();
  op.getDestMutable().assign(token);
  b.setInsertionPointAfter(op);
  return copy(loc, token, dest);
}

LogicalResult TileLoops::lower(stream::WriteOp op) {
  if (!isa<MemRefType>(op.getValue().getType()) ||
      isTokenMemory(op.getValue()) || isPackedToken(op.getValue()))
    return success();
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  auto type = cast<MemRefType>(op.getValue().getType());
  Value token = memref::AllocOp::create(
      b, loc, MemRefType::get(type.getShape(), type.getElementType()));
  if (failed(copy(loc, op.getValue(), token)))
    return failure();
  op.getValueMutable().assign(token);
  return success();
}

//===----------------------------------------------------------------------===//
// Single elements
//===----------------------------------------------------------------------===//

/// A load through a view names the memory itself.
LogicalResult TileLoops::lower(memref::LoadOp op) {
  if (!op.getMemRef().getDefiningOp<ViewLikeOpInterface>())
    return success();
  b.setInsertionPoint(op);
  FailureOr<Value> value =
      load(op.getLoc(), op.getMemRef(), getAsOpFoldResult(op.getIndices()));
  if (failed(value))
    return failure();
  op.replaceAllUsesWith(*value);
  op.erase();
  return success();
}

LogicalResult TileLoops::lower(memref::StoreOp op) {
  if (!op.getMemRef().getDefiningOp<ViewLikeOpInterface>())
    return success();
  b.setInsertionPoint(op);
  if (failed(store(op.getLoc(), op.getValue(), op.getMemRef(),
                   getAsOpFoldResult(op.getIndices()))))
    return failure();
  op.erase();
  return success();
}

LogicalResult streamtensor::lowerTilesToLoops(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](TaskOp task) {
    task.walk([&](Operation *op) {
      if (isa<linalg::LinalgOp, memref::CopyOp, memref::LoadOp, memref::StoreOp,
              stream::ReadOp, stream::WriteOp>(op))
        ops.push_back(op);
    });
  });
  TileLoops loops(module.getContext());
  for (Operation *op : ops) {
    LogicalResult lowered =
        llvm::TypeSwitch<Operation *, LogicalResult>(op)
            .Case<linalg::LinalgOp, memref::CopyOp, memref::LoadOp,
                  memref::StoreOp, stream::ReadOp, stream::WriteOp>(
                [&](auto op) { return loops.lower(op); });
    if (failed(lowered))
      return failure();
  }
  return success();
}
