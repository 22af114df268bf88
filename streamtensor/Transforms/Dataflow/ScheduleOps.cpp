//===- ScheduleOps.cpp - decide schedules -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rules that give every operation its loop order, token tile and unroll
// factors, and the choice between them.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Dataflow/Passes.h"

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Support/StreamLimits.h"
#include "streamtensor/Transforms/Dataflow/GroupedProduct.h"
#include "streamtensor/Transforms/Dataflow/IterationSpace.h"
#include "streamtensor/Transforms/Dataflow/ShrinkSchedule.h"
#include "streamtensor/Transforms/Dataflow/StreamEdge.h"
#include "streamtensor/Transforms/Dataflow/WindowTask.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>
#include <tuple>

namespace streamtensor {
#define GEN_PASS_DEF_SCHEDULEOPS
#include "streamtensor/Transforms/Dataflow/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;
using streamtensor::dataflow::kScheduleAttr;
using streamtensor::dataflow::ScheduleAttr;

/// Dimensions of the iteration space in the order in which `map` names them.
static SmallVector<int64_t> dimsOfMap(AffineMap map) {
  SmallVector<int64_t> dims;
  for (AffineExpr result : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      dims.push_back(dim.getPosition());
  return dims;
}

/// Of the two operands of product `op`, the one that is held while the columns
/// of the result pass: not the one that has the last dimension of the result
/// (groups aside, which both have), which is streamed.
static unsigned heldOperand(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> outDims = dimsOfMap(maps.back());
  SmallVector<int64_t> groups = groupDims(op);
  llvm::erase_if(outDims,
                 [&](int64_t dim) { return llvm::is_contained(groups, dim); });
  return !outDims.empty() && !maps[1].isFunctionOfDim(outDims.back()) ? 1 : 0;
}

/// Whether product `op` finishes some columns before it begins with others.
static bool finishesBlocks(linalg::GenericOp op, ScheduleAttr schedule) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap held = maps[heldOperand(op)];
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<int64_t> groups = groupDims(op);
  LoopSpace space(iterationSizes(op), schedule);
  for (int64_t dim : space.dims) {
    if (iterators[dim] == utils::IteratorType::reduction ||
        llvm::is_contained(groups, dim))
      return false;
    if (!held.isFunctionOfDim(dim))
      return true;
  }
  return false;
}

/// How many elements of `op` a token holds at most when one holds `maxLanes` of
/// 32 bits: as many as have the same width. Of a product the streamed operand
/// counts, which is what memory has to deliver; else the widest of all.
static int64_t laneLimit(Operation *op, int64_t maxLanes) {
  auto bitsOf = [](Value value) {
    return int64_t(
        getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth());
  };
  auto generic = dyn_cast<linalg::GenericOp>(op);
  int64_t bits = bitsOf(op->getResult(0));
  if (generic && isContraction(generic) && !summedProduct(generic))
    bits = bitsOf(generic.getDpsInputs()[1 - heldOperand(generic)]);
  else if (generic && summedProduct(generic))
    // As many as the product delivers; they are not computed at once.
    return kMaxTokenBits / bits;
  else if (generic)
    for (Value input : generic.getDpsInputs())
      bits = std::max(bits, bitsOf(input));
  // Smaller elements than bytes have a byte each.
  return std::max<int64_t>(maxLanes * 32 / std::max<int64_t>(bits, 8), 1);
}

/// The extents that tiles of `op` must divide: 1 where the extent is known at
/// run time only.
static SmallVector<int64_t> divisibleExtents(Operation *op) {
  return llvm::map_to_vector(
      iterationSizes(op).sizes, [](const TripCount &size) {
        return size.isConstant() ? size.getConstant() : int64_t(1);
      });
}

namespace {

/// Builds the schedule of one Linalg operation.
class Scheduler {
public:
  /// How the loops of a product stand. With `rowsFirst`, a batched product
  /// takes a block of rows of every batch before the next block: what comes and
  /// goes row by row then needs no more memory than a block of rows. With
  /// `columnBlocks` it finishes a block of columns before the next one, so that
  /// its reader starts after the first; the held operand passes once per block.
  /// Of a product in groups, a block is one token wide; without `columnBlocks`
  /// all columns of a group come before the next group.
  struct ProductOrder {
    bool rowsFirst, columnBlocks;
  };

  Scheduler(linalg::GenericOp op, int64_t maxLanes, int64_t maxRows,
            ProductOrder product = {false, false})
      : op(op), maxLanes(laneLimit(op, maxLanes)), maxRows(maxRows),
        product(product), sizes(iterationSizes(op)),
        extents(divisibleExtents(op)), maps(op.getIndexingMapsArray()),
        tile(extents.size(), 1), unroll(extents.size(), 1) {}

  /// Which loops of an operation on windows stand outermost: the dimensions
  /// that it shares with nothing else (images, channels of a pooling), the rows
  /// of positions, or all batches (images, groups).
  enum class WindowOrder { PlainFirst, RowsFirst, BatchesFirst };

  /// The schedule of a reduction whose input `windows` is a window operation
  /// with the map `windowMap`. Windows are never replayed: all loops over
  /// positions stand outside the reduction, the columns of the other operand
  /// inside.
  ScheduleAttr runOnWindows(unsigned windows, AffineMap windowMap,
                            WindowOrder which) {
    SmallVector<int64_t> outDims = dimsOfMap(maps.back()), plain, batches,
                         positions, columns;
    for (int64_t dim : outDims) {
      bool elsewhere = false;
      for (unsigned i = 0, e = op.getNumDpsInputs(); i < e; ++i)
        elsewhere |= i != windows && maps[i].isFunctionOfDim(dim);
      if (!maps[windows].isFunctionOfDim(dim))
        columns.push_back(dim);
      else if (moveFactor(windows, windowMap, dim) != 0)
        positions.push_back(dim);
      else
        (elsewhere ? batches : plain).push_back(dim);
    }
    // One row of positions at a time; along it, several are computed at once.
    int64_t inRow = -1;
    if (positions.size() > 1)
      inRow = positions.pop_back_val();
    if (which == WindowOrder::RowsFirst)
      for (int64_t dim : positions)
        append(dim);
    for (int64_t dim : plain)
      append(dim);
    if (which == WindowOrder::BatchesFirst)
      for (int64_t dim : batches)
        append(dim);
    for (int64_t dim : llvm::concat<int64_t>(positions, batches))
      append(dim);
    if (inRow >= 0)
      append(inRow);
    for (int64_t dim : dimsOfMap(maps[windows]))
      append(dim);
    for (int64_t dim = 0, e = extents.size(); dim < e; ++dim)
      if (isReduction(dim))
        append(dim);
    for (int64_t dim : columns)
      append(dim);
    if (inRow >= 0 && moveFactor(windows, windowMap, inRow) == 1)
      tile[inRow] = powerOfTwoDivisor(extents[inRow], maxRows);
    if (!columns.empty() && columns.back() == outDims.back())
      setLanes(columns.back());
    else if (inRow >= 0 && tile[inRow] > 1)
      unroll[inRow] = tile[inRow];
    else if (!columns.empty())
      setLanes(columns.back());
    return ScheduleAttr::get(op.getContext(), order, tile, unroll);
  }

  ScheduleAttr run() {
    if (op.getNumReductionLoops() == 0)
      scheduleElementwise();
    else if (isContraction(op) && hasRuntimeInside())
      scheduleRuntimeProduct();
    else if (isContraction(op))
      scheduleContraction();
    else
      scheduleReduction();
    for (OpOperand &operand : op->getOpOperands())
      limitToken(operand);
    if (product.columnBlocks && groups.empty())
      blockColumns();
    return ScheduleAttr::get(op.getContext(), order, steps, tile, unroll);
  }

private:
  /// Independent sums that an adder of floats needs to take one each cycle (10
  /// of them), to the next power of two: the columns of a block, in tokens.
  static constexpr int64_t kBlockTokens = 16;

  /// Moves the loops over columns that a block does not need, whole or in part,
  /// from inside the reduction to outside of it. Nothing changes when a block
  /// is all columns.
  void blockColumns() {
    // Dimensions and steps, from the innermost loop outwards until the block is
    // large enough.
    SmallVector<std::pair<int64_t, int64_t>> inside, outside, loops;
    int64_t tokens = 1;
    for (int64_t dim : llvm::reverse(columns)) {
      int64_t trip = extents[dim] / tile[dim], part = 1;
      while (part < trip && (tokens * part < kBlockTokens || trip % part != 0))
        ++part;
      tokens *= part;
      if (part != 1 || trip == 1)
        inside.emplace_back(dim, tile[dim]);
      if (part != trip)
        outside.emplace_back(dim, part * tile[dim]);
    }
    if (outside.empty())
      return;
    // The columns are the last loops, behind the reduction.
    ArrayRef<int64_t> rest = ArrayRef<int64_t>(order).drop_back(columns.size());
    for (int64_t dim : rest) {
      if (isReduction(dim)) {
        loops.append(outside.rbegin(), outside.rend());
        outside.clear();
      }
      loops.emplace_back(dim, tile[dim]);
    }
    loops.append(inside.rbegin(), inside.rend());
    // Steps are said where a dimension has two loops.
    order.clear();
    for (auto [dim, step] : loops) {
      order.push_back(dim);
      steps.push_back(step);
    }
    if (order.size() == extents.size())
      steps.clear();
  }

  bool isReduction(int64_t dim) {
    return op.getIteratorTypesArray()[dim] == utils::IteratorType::reduction;
  }

  /// By how many elements of the source the windows move with `dim`; 0 when
  /// they do not move.
  int64_t moveFactor(unsigned windows, AffineMap windowMap, int64_t dim) {
    for (auto [position, expr] : llvm::enumerate(maps[windows].getResults()))
      if (cast<AffineDimExpr>(expr).getPosition() == dim)
        for (unsigned result = 0; result < windowMap.getNumResults(); ++result)
          if (!isa<AffineDimExpr>(windowMap.getResult(result)) &&
              windowMap.getResult(result).isFunctionOfDim(position))
            return windowFactors(windowMap, result)[position];
    return 0;
  }

  void append(int64_t dim) {
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  }

  /// Makes `dim` the dimension along which tokens hold several elements, all
  /// computed at once.
  void setLanes(int64_t dim) {
    tile[dim] = unroll[dim] = powerOfTwoDivisor(extents[dim], maxLanes);
  }

  /// Halves tiles until a token of `operand` fits a stream: an operand that
  /// spans both the tiled rows and the lanes, or one of wide elements.
  void limitToken(OpOperand &operand) {
    SmallVector<int64_t> dims = dimsOfMap(op.getMatchingIndexingMap(&operand));
    int64_t bits =
        getElementTypeOrSelf(operand.get().getType()).getIntOrFloatBitWidth();
    // A reduction writes its result in tokens of as many elements as are
    // computed at once.
    bool drains = op.isDpsInit(&operand) && op.getNumReductionLoops() != 0;
    auto sizeOf = [&](int64_t dim) { return drains ? unroll[dim] : tile[dim]; };
    auto tokenBits = [&] {
      int64_t total = bits;
      for (int64_t dim : dims)
        total *= sizeOf(dim);
      return total;
    };
    while (tokenBits() > kMaxTokenBits) {
      // Rows before lanes: fewer of them only cost replays.
      int64_t widest = -1;
      for (int64_t dim : dims)
        if (sizeOf(dim) > 1 &&
            (widest < 0 || (unroll[dim] == 1 && unroll[widest] != 1)))
          widest = dim;
      if (widest < 0)
        return;
      tile[widest] /= 2;
      unroll[widest] = std::min(unroll[widest], tile[widest]);
    }
  }

  void scheduleElementwise() {
    SmallVector<int64_t> outDims = dimsOfMap(maps.back());
    for (int64_t dim : outDims)
      append(dim);
    if (!outDims.empty())
      setLanes(outDims.back());
  }

  bool isRuntime(int64_t dim) { return !sizes.isStatic(dim); }

  /// The last dimension over which a product sums that has a known size, in the
  /// order of the streamed operand; -1 without one.
  int64_t knownReduction() {
    SmallVector<int64_t> dims = dimsOfMap(maps[1 - heldOperand(op)]);
    for (int64_t dim : llvm::reverse(dims))
      if (isReduction(dim) && extents[dim] > 1)
        return dim;
    return -1;
  }

  /// Whether a product has a size that is known at run time only where the
  /// rules for known sizes have their innermost loop, its reduction or its last
  /// dimension, and a known size that can take that place.
  bool hasRuntimeInside() {
    SmallVector<int64_t> outDims = dimsOfMap(maps.back());
    if (outDims.empty())
      return false;
    if (isRuntime(outDims.back()))
      return knownReduction() >= 0;
    return llvm::any_of(
        llvm::seq<int64_t>(0, extents.size()),
        [&](int64_t dim) { return isReduction(dim) && isRuntime(dim); });
  }

  /// Loops of run-time size stand outside, for two reasons: a sum of floats
  /// needs independent ones between two updates, of which as few as one would
  /// be certain; and a pipeline goes on over inner loops of known size only.
  /// For the same reason what both operands have stands inside: then both are
  /// read in the innermost loop. Lanes are columns, or terms of a sum where the
  /// columns have no known number.
  void scheduleRuntimeProduct() {
    SmallVector<int64_t> outDims = dimsOfMap(maps.back());
    SmallVector<int64_t> sums = dimsOfMap(maps[1 - heldOperand(op)]);
    llvm::erase_if(sums, [&](int64_t dim) { return !isReduction(dim); });
    auto appendIf = [&](ArrayRef<int64_t> dims,
                        llvm::function_ref<bool(int64_t)> holds) {
      for (int64_t dim : dims)
        if (holds(dim))
          append(dim);
    };
    auto isShared = [&](int64_t dim) {
      return maps[0].isFunctionOfDim(dim) && maps[1].isFunctionOfDim(dim);
    };
    auto isRuntimeDim = [&](int64_t dim) { return isRuntime(dim); };
    appendIf(outDims, isRuntimeDim);
    appendIf(sums, isRuntimeDim);
    appendIf(sums, [](int64_t) { return true; });
    appendIf(outDims, [&](int64_t dim) { return !isShared(dim); });
    appendIf(outDims, isShared);
    setLanes(isRuntime(outDims.back()) ? knownReduction() : outDims.back());
  }

  void scheduleContraction() {
    SmallVector<int64_t> outDims = dimsOfMap(maps.back());
    auto uses = [&](unsigned operand, int64_t dim) {
      return maps[operand].isFunctionOfDim(dim);
    };
    unsigned held = heldOperand(op);
    groups = groupDims(op);
    SmallVector<int64_t> batches, rows;
    for (int64_t dim : outDims) {
      if (llvm::is_contained(groups, dim))
        continue;
      if (uses(0, dim) && uses(1, dim))
        batches.push_back(dim);
      else if (uses(held, dim))
        rows.push_back(dim);
      else
        columns.push_back(dim);
    }
    // Rows share the streamed operand; the dimension with the most to share is
    // tiled, the last one among equals.
    int64_t tiled = -1, sharing = 0;
    for (int64_t dim : rows)
      if (int64_t count = powerOfTwoDivisor(extents[dim], maxRows);
          count >= sharing) {
        tiled = dim;
        sharing = count;
      }
    if (product.rowsFirst && tiled >= 0)
      append(tiled);
    for (int64_t dim : llvm::concat<int64_t>(batches, rows))
      append(dim);
    if (!groups.empty()) {
      for (int64_t dim : product.columnBlocks
                             ? llvm::concat<int64_t>(columns, groups)
                             : llvm::concat<int64_t>(groups, columns))
        append(dim);
    }
    for (int64_t dim : dimsOfMap(maps[held]))
      if (isReduction(dim) && uses(1 - held, dim))
        append(dim);
    for (int64_t dim : columns)
      append(dim);
    // Parts of an element of the streamed operand: all of them at once, or one
    // after the other while the element is held.
    for (int64_t dim : dimsOfMap(maps[held]))
      if (isReduction(dim) && !uses(1 - held, dim)) {
        append(dim);
        tile[dim] = unroll[dim] = powerOfTwoDivisor(extents[dim], maxLanes);
      }
    if (groups.empty() && !outDims.empty())
      setLanes(outDims.back());
    else if (!columns.empty())
      setLanes(columns.back());
    if (tiled >= 0)
      tile[tiled] = sharing;
  }

  void scheduleReduction() {
    // The input of the highest rank leads; the first one among equals.
    unsigned leader = 0;
    for (unsigned i = 1, e = op.getNumDpsInputs(); i < e; ++i)
      if (maps[i].getNumResults() > maps[leader].getNumResults())
        leader = i;
    SmallVector<int64_t> leading;
    if (op.getNumDpsInputs() != 0)
      leading = dimsOfMap(maps[leader]);
    for (int64_t dim = 0, e = extents.size(); dim < e; ++dim)
      if (!llvm::is_contained(leading, dim) && !isReduction(dim))
        append(dim);
    for (int64_t dim : leading)
      append(dim);
    for (int64_t dim = 0, e = extents.size(); dim < e; ++dim)
      append(dim);
    if (!order.empty())
      setLanes(order.back());
  }

  linalg::GenericOp op;
  int64_t maxLanes, maxRows;
  ProductOrder product;
  dataflow::RuntimeShape sizes;
  /// What tiles must divide.
  SmallVector<int64_t> extents;
  SmallVector<AffineMap> maps;
  SmallVector<int64_t> order, tile, unroll;
  /// Of a product: the dimensions that only the streamed operand has, and the
  /// step of each loop when a dimension has several.
  SmallVector<int64_t> columns, steps;
  /// Of a product in groups: the dimensions of the groups.
  SmallVector<int64_t> groups;
};

/// The schedule with which `op` reads input `input`, a tensor of its iteration
/// space by `map`, in the order `order`: the same loops and tokens. Empty when
/// the order visits anything twice, cuts a token in the middle, walks the
/// columns of what is one dimension here before its rows, or leaves a
/// dimension out.
std::optional<ScheduleAttr> followOrder(Operation *op, AffineMap map,
                                        const SymbolicOrder &order,
                                        int64_t maxLanes) {
  SmallVector<int64_t> extents = iterationExtents(op);
  SmallVector<int64_t> tile(extents.size(), 1), dims, steps;
  std::vector<int> results = order.largest().loopDims();
  for (auto [loop, result] : llvm::enumerate(results)) {
    if (result < 0) {
      if (order.trips[loop].isConstant(1))
        continue;
      return std::nullopt;
    }
    dims.push_back(map.getDimPosition(result));
    steps.push_back(order.steps[loop]);
  }
  for (unsigned result = 0; result < map.getNumResults(); ++result)
    tile[map.getDimPosition(result)] = order.element[result];
  int64_t lanes = 1;
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    if (!map.isFunctionOfDim(dim) && extent != 1)
      return std::nullopt;
    if (!llvm::is_contained(dims, static_cast<int64_t>(dim))) {
      dims.push_back(dim);
      steps.push_back(tile[dim]);
    }
    lanes *= tile[dim];
  }
  if (lanes > laneLimit(op, maxLanes))
    return std::nullopt;
  if (dims.size() == extents.size())
    steps.clear();
  // Loops over one dimension may stand the wrong way round: columns of what is
  // one dimension here.
  ScopedDiagnosticHandler silence(op->getContext(),
                                  [](Diagnostic &) { return success(); });
  if (failed(ScheduleAttr::verify([&] { return op->emitError(); }, dims, steps,
                                  tile, tile)))
    return std::nullopt;
  return ScheduleAttr::get(op->getContext(), dims, steps, tile, tile);
}

/// What a schedule costs on the chip and at the memory ports.
struct ScheduleCost {
  /// Bytes of converters before the operation, and of its accumulator.
  int64_t onchipBytes = 0;
  /// Elements that are loaded from memory, replays included.
  int64_t loadedElements = 0;

  bool operator<(const ScheduleCost &other) const {
    return std::tie(onchipBytes, loadedElements) <
           std::tie(other.onchipBytes, other.loadedElements);
  }
};

class ScheduleOps : public streamtensor::impl::ScheduleOpsBase<ScheduleOps> {
public:
  using streamtensor::impl::ScheduleOpsBase<ScheduleOps>::ScheduleOpsBase;

  void runOnOperation() override {
    bool failedAny = false;
    orders.clear();
    inBlocks.clear();
    getOperation().walk([&](Operation *op) {
      if (!isSchedulable(op))
        return;
      auto schedule = op->getAttrOfType<ScheduleAttr>(kScheduleAttr);
      // These come in the order in which their reader wants them.
      if (!schedule && isOrderedByReader(op))
        return;
      if (!schedule)
        schedule = decide(op);
      else if (failed(checkSchedule(op, schedule)))
        failedAny = true;
      if (!failedAny)
        setSchedule(op, schedule);
    });
    if (failedAny)
      signalPassFailure();
  }

private:
  void setSchedule(Operation *op, ScheduleAttr schedule) {
    op->setAttr(kScheduleAttr, schedule);
    for (auto [index, input] : llvm::enumerate(op->getOperands()))
      if (Operation *open = openProducer(input))
        setSchedule(open,
                    scheduleForReader(open, operandOrder(op, schedule, index)));
    orders[op->getResult(0)] = resultOrder(op, schedule);
    if (auto generic = dyn_cast<linalg::GenericOp>(op);
        generic && isContraction(generic) && finishesBlocks(generic, schedule))
      inBlocks.insert(op);
  }

  /// Whether `op` takes the order that its only reader wants: windows of a
  /// reduction or an element-wise operation, and paddings of such windows.
  bool isOrderedByReader(Operation *op) {
    if (!op->hasOneUse())
      return false;
    Operation *reader = *op->getUsers().begin();
    if (isa<tensor::PadOp>(op))
      return isWindow(reader) && isOrderedByReader(reader);
    return isWindow(op) && isa<linalg::GenericOp>(reader) && !isWindow(reader);
  }

  /// The operation that computes `value`, when it waits for the order that its
  /// reader wants.
  Operation *openProducer(Value value) {
    Operation *op = value.getDefiningOp();
    return op && isSchedulable(op) && !op->hasAttr(kScheduleAttr) &&
                   isOrderedByReader(op)
               ? op
               : nullptr;
  }

  /// The schedule of `op` for a reader that wants `order`: that order (element
  /// by element where tokens must not cross the border of a padding), or memory
  /// order element by element.
  ScheduleAttr scheduleForReader(Operation *op, SymbolicOrder order) {
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      for (int64_t dim = 0; dim < pad.getSourceType().getRank(); ++dim)
        if (pad.getSourceType().getDimSize(dim) !=
            pad.getType().getDimSize(dim))
          splitToken(order, dim);
    int64_t rank = iterationExtents(op).size();
    std::optional<ScheduleAttr> follow = followOrder(
        op, AffineMap::getMultiDimIdentityMap(rank, op->getContext()), order,
        maxLanes);
    if (follow && isLegal(op, *follow))
      return *follow;
    return elementByElement(op);
  }

  /// Makes the elements of a token along `dim` an innermost loop.
  static void splitToken(SymbolicOrder &order, int64_t dim) {
    if (order.element[dim] == 1)
      return;
    // One longer loop, if it is the innermost one anyway.
    if (order.map[dim] ==
        std::vector<unsigned>{unsigned(order.numLoops()) - 1}) {
      order.trips.back() = order.trips.back() * order.element[dim];
      order.steps.back() = 1;
      order.element[dim] = 1;
      return;
    }
    order.map[dim].push_back(order.numLoops());
    order.trips.push_back(order.element[dim]);
    order.steps.push_back(1);
    order.element[dim] = 1;
  }

  static ScheduleAttr elementByElement(Operation *op) {
    int64_t rank = iterationExtents(op).size();
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank)),
                         ones(rank, 1);
    return ScheduleAttr::get(op->getContext(), dims, ones, ones);
  }

  /// The cheapest of the rules' schedules and those that follow a producer, the
  /// first one among equals; with a smaller accumulator where all are too
  /// large.
  ScheduleAttr decide(Operation *op) {
    SmallVector<ScheduleAttr> candidates = candidateSchedules(op);
    auto generic = dyn_cast<linalg::GenericOp>(op);
    auto choose = [&](ArrayRef<ScheduleAttr> from) {
      return generic && !groupDims(generic).empty()
                 ? decideGrouped(generic, from)
                 : cheapest(op, from);
    };
    if (!generic || maxAccumulatorBytes <= 0)
      return choose(candidates);
    SmallVector<ScheduleAttr> fitting;
    llvm::copy_if(
        candidates, std::back_inserter(fitting), [&](ScheduleAttr candidate) {
          return accumulatorBytes(generic, candidate) <= maxAccumulatorBytes;
        });
    if (!fitting.empty())
      return choose(fitting);
    ScheduleAttr wanted = choose(candidates);
    ScheduleAttr smaller =
        shrinkAccumulator(generic, wanted, maxAccumulatorBytes);
    op->setAttr(kScheduleReasonAttr,
                StringAttr::get(op->getContext(),
                                describeShrinking(generic, wanted, smaller,
                                                  maxAccumulatorBytes)));
    return smaller;
  }

  /// Of a product in groups, the candidate that is the cheapest together with
  /// the sum over its groups. Behind a product that finishes blocks of columns
  /// it is the second one, which begins with the first group, unless the sums
  /// that it keeps are too large.
  ScheduleAttr decideGrouped(linalg::GenericOp product,
                             ArrayRef<ScheduleAttr> candidates) {
    linalg::GenericOp sum = groupSum(product);
    ScheduleAttr best;
    ScheduleCost bestCost;
    bool readsBlocks = followsBlocks(product);
    for (ScheduleAttr candidate : candidates) {
      ScheduleCost cost = costOf(product, candidate);
      orders[product->getResult(0)] = resultOrder(product, candidate);
      ScheduleAttr follow = cheapest(sum, candidateSchedules(sum));
      ScheduleCost sumCost = costOf(sum, follow);
      cost.onchipBytes += sumCost.onchipBytes;
      cost.loadedElements += sumCost.loadedElements;
      int64_t sums = accumulatorBytes(sum, follow);
      bool fits = maxAccumulatorBytes <= 0 || sums <= maxAccumulatorBytes;
      if (best && (!fits || (!readsBlocks && !(cost < bestCost))))
        continue;
      best = candidate;
      bestCost = cost;
    }
    return best;
  }

  ScheduleAttr cheapest(Operation *op, ArrayRef<ScheduleAttr> candidates) {
    ScheduleAttr best;
    ScheduleCost bestCost;
    for (ScheduleAttr candidate : candidates) {
      ScheduleCost cost = costOf(op, candidate);
      if (best && !(cost < bestCost))
        continue;
      best = candidate;
      bestCost = cost;
    }
    return best;
  }

  SmallVector<ScheduleAttr> candidateSchedules(Operation *op) {
    SmallVector<ScheduleAttr> candidates;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic) {
      candidates.push_back(memoryOrder(op));
    } else if (isWindow(op)) {
      candidates.push_back(elementByElement(op));
      return candidates;
    } else if (int windows = windowInput(generic); windows >= 0) {
      AffineMap map = cast<linalg::GenericOp>(
                          generic.getDpsInputs()[windows].getDefiningOp())
                          .getIndexingMapsArray()
                          .front();
      for (auto which : {Scheduler::WindowOrder::PlainFirst,
                         Scheduler::WindowOrder::RowsFirst,
                         Scheduler::WindowOrder::BatchesFirst})
        candidates.push_back(Scheduler(generic, maxLanes, maxRows)
                                 .runOnWindows(windows, map, which));
      return candidates;
    } else {
      if (!groupDims(generic).empty()) {
        for (bool columnBlocks : {true, false})
          candidates.push_back(Scheduler(generic, maxLanes, maxRows,
                                         {/*rowsFirst=*/false, columnBlocks})
                                   .run());
        return candidates;
      }
      if (isContraction(generic) && !summedProduct(generic)) {
        bool blocks = producesInBlocks(generic);
        for (bool columnBlocks : {true, false})
          for (bool rowsFirst : {false, true})
            if (blocks || !columnBlocks)
              candidates.push_back(Scheduler(generic, maxLanes, maxRows,
                                             {rowsFirst, columnBlocks})
                                       .run());
        return candidates;
      }
      candidates.push_back(Scheduler(generic, maxLanes, maxRows).run());
    }
    unsigned numInputs = generic ? generic.getNumDpsInputs() : tensorInputs(op);
    for (unsigned input = 0; input < numInputs; ++input) {
      std::optional<SymbolicOrder> order = producedOrder(op->getOperand(input));
      if (!order)
        continue;
      AffineMap map = generic ? generic.getIndexingMapsArray()[input]
                              : AffineMap::getMultiDimIdentityMap(
                                    order->map.size(), op->getContext());
      std::optional<ScheduleAttr> follow =
          followOrder(op, map, *order, maxLanes);
      if (follow && isLegal(op, *follow))
        candidates.push_back(atPaceOfProduct(op, *follow));
    }
    return candidates;
  }

  /// The schedule of a sum over groups: as many lanes as keep up with the
  /// product, which takes several cycles for a token.
  static ScheduleAttr atPaceOfProduct(Operation *op, ScheduleAttr schedule) {
    auto sum = dyn_cast<linalg::GenericOp>(op);
    linalg::GenericOp product = sum ? summedProduct(sum) : nullptr;
    if (!product)
      return schedule;
    auto productSchedule = product->getAttrOfType<ScheduleAttr>(kScheduleAttr);
    int64_t cycles = 1;
    SmallVector<int64_t> extents = iterationExtents(product);
    for (auto [dim, kind] : llvm::enumerate(product.getIteratorTypesArray()))
      if (kind == utils::IteratorType::reduction)
        cycles *= extents[dim] /
                  (productSchedule ? productSchedule.getUnroll()[dim] : 1);
    SmallVector<int64_t> unroll(schedule.getUnroll());
    for (int64_t &lanes : unroll)
      for (; lanes > 1 && cycles > 1; cycles /= 2)
        lanes /= 2;
    return ScheduleAttr::get(op->getContext(), schedule.getOrder(),
                             schedule.getSteps(), schedule.getTile(), unroll);
  }

  /// Along a chain of products the loop order alternates: one finishes block
  /// after block of its columns, the next one takes its rows as they come and
  /// has all of its columns at the end. Then both work at the same time, even
  /// on a single row. What lies between them works element by element.
  bool producesInBlocks(linalg::GenericOp op) {
    if (followsBlocks(op))
      return false;
    DenseSet<Operation *> seen;
    auto any = [](linalg::GenericOp) { return true; };
    return llvm::any_of(op->getUsers(), [&](Operation *user) {
      return anyProduct(user, /*forward=*/true, seen, any);
    });
  }

  /// Whether `op` reads, over operations that work element by element, from a
  /// product that finishes blocks of its columns.
  bool followsBlocks(linalg::GenericOp op) {
    DenseSet<Operation *> seen;
    auto blocked = [&](linalg::GenericOp product) {
      return inBlocks.contains(product);
    };
    return llvm::any_of(op.getDpsInputs(), [&](Value input) {
      Operation *producer = input.getDefiningOp();
      return producer && anyProduct(producer, /*forward=*/false, seen, blocked);
    });
  }

  /// Whether `holds` for a product that is `op`, or is reached from it over
  /// operations that work element by element or move elements.
  static bool anyProduct(Operation *op, bool forward,
                         DenseSet<Operation *> &seen,
                         llvm::function_ref<bool(linalg::GenericOp)> holds) {
    if (!seen.insert(op).second)
      return false;
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (linalg::GenericOp product = summedProduct(generic))
        return holds(product);
      if (isContraction(generic))
        return holds(generic);
      if (generic.getNumReductionLoops() != 0)
        return false;
    } else if (!isSchedulable(op) &&
               !isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op)) {
      return false;
    }
    if (forward)
      return llvm::any_of(op->getUsers(), [&](Operation *user) {
        return anyProduct(user, forward, seen, holds);
      });
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *producer = operand.getDefiningOp();
      return producer && anyProduct(producer, forward, seen, holds);
    });
  }

  /// The input of reduction `op` that is windows, or -1.
  int windowInput(linalg::GenericOp op) {
    if (op.getNumReductionLoops() == 0)
      return -1;
    for (auto [index, input] : llvm::enumerate(op.getDpsInputs()))
      if (Operation *open = openProducer(input); open && isWindow(open))
        return index;
    return -1;
  }

  /// The order in which the producer of `value` writes, seen through reshapes.
  std::optional<SymbolicOrder> producedOrder(Value value) {
    std::vector<Reshape> reshapes;
    auto produced = orders.find(traceReshapes(value, reshapes));
    if (produced == orders.end())
      return std::nullopt;
    return pushThrough(produced->second, reshapes);
  }

  /// Whether `schedule` passes the checks, without a message.
  bool isLegal(Operation *op, ScheduleAttr schedule) {
    ScopedDiagnosticHandler silence(op->getContext(),
                                    [](Diagnostic &) { return success(); });
    return succeeded(checkSchedule(op, schedule));
  }

  ScheduleCost costOf(Operation *op, ScheduleAttr schedule) {
    ScheduleCost cost;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    unsigned numInputs = generic ? generic.getNumDpsInputs() : tensorInputs(op);
    for (unsigned input = 0; input < numInputs; ++input) {
      auto type = dyn_cast<RankedTensorType>(op->getOperand(input).getType());
      if (!type)
        continue;
      SymbolicOrder wanted = operandOrder(op, schedule, input);
      if (Operation *open = openProducer(op->getOperand(input))) {
        ScheduleAttr inner = scheduleForReader(open, wanted);
        ScheduleCost own = costOf(open, inner);
        cost.onchipBytes +=
            own.onchipBytes +
            bytesOf(planEdge(resultOrder(open, inner), {}, wanted).elements,
                    type.getElementType());
        cost.loadedElements += own.loadedElements;
        continue;
      }
      std::vector<Reshape> reshapes;
      auto produced =
          orders.find(traceReshapes(op->getOperand(input), reshapes));
      if (produced == orders.end())
        cost.loadedElements += elementsOf(wanted.largest());
      else
        cost.onchipBytes +=
            bytesOf(planEdge(produced->second, reshapes, wanted).elements,
                    type.getElementType());
    }
    if (isWindow(op))
      cost.onchipBytes +=
          bytesOf(WindowPlan(generic, schedule).bufferElements(),
                  getElementTypeOrSelf(op->getResult(0)));
    else if (generic)
      cost.onchipBytes += accumulatorBytes(generic, schedule);
    return cost;
  }

  /// Elements that pass in `order`, repetitions included.
  static int64_t elementsOf(const TokenOrder &order) {
    return order.numTokens() * order.tokenElements();
  }

  /// Inputs of an operation that is no generic.
  unsigned tensorInputs(Operation *op) {
    return isa<tensor::ConcatOp>(op) ? op->getNumOperands() : 1;
  }

  /// Slices, concatenations and paddings: memory order, lanes that divide every
  /// part.
  ScheduleAttr memoryOrder(Operation *op) {
    SmallVector<int64_t> extents = divisibleExtents(op);
    int64_t rank = extents.size();
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    SmallVector<int64_t> tile(rank, 1);
    if (rank != 0) {
      int64_t common = std::gcd(extents.back(), lastDimensionParts(op));
      tile[rank - 1] = powerOfTwoDivisor(common, laneLimit(op, maxLanes));
    }
    return ScheduleAttr::get(op->getContext(), order, tile, tile);
  }

  /// The greatest common divisor of all sizes and offsets that the last
  /// dimension of a slice, concatenation or padding is cut at.
  int64_t lastDimensionParts(Operation *op) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      int64_t parts = slice.getSourceType().getShape().back();
      parts = std::gcd(parts, slice.getStaticOffsets().back());
      return std::gcd(parts, slice.getStaticSizes().back());
    }
    if (auto pad = dyn_cast<tensor::PadOp>(op)) {
      int64_t parts = pad.getSourceType().getShape().back();
      parts = std::gcd(parts, pad.getStaticLow().back());
      return std::gcd(parts, pad.getStaticHigh().back());
    }
    auto concat = cast<tensor::ConcatOp>(op);
    int64_t parts = 0;
    for (Value input : concat.getInputs())
      parts = std::gcd(
          parts, cast<RankedTensorType>(input.getType()).getShape().back());
    return parts;
  }

  /// The orders in which the scheduled operations write.
  DenseMap<Value, SymbolicOrder> orders;
  /// The products that finish block after block of their columns.
  DenseSet<Operation *> inBlocks;
};

} // namespace
