//===- InterpreterTensor.cpp - Tensor and Linalg operations -------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensor and linalg dialects: views, slices and loop nests over elements.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/InterpreterCompiler.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::interp;

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

/// The strides of `source` multiplied by the steps of a slice, without the
/// dimensions that the slice drops.
static SmallVector<int64_t> sliceStrides(const Layout &source,
                                         ArrayRef<int64_t> steps) {
  SmallVector<int64_t> strides;
  for (size_t dim = 0; dim < steps.size(); ++dim)
    strides.push_back(source.strides[dim] * steps[dim]);
  return strides;
}

LogicalResult FunctionCompiler::compileTensor(Operation *op, Steps &steps) {
  for (Value value : op->getOperands())
    if (isa<ShapedType>(value.getType()) && failed(layoutOf(value, op)))
      return failure();
  if (isa<ShapedType>(op->getResult(0).getType()) &&
      failed(layoutOf(op->getResult(0), op)))
    return failure();
  auto layout = [&](Value value) { return *getLayout(value.getType()); };

  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tensor::EmptyOp empty) {
        const unsigned r = buffer(empty);
        steps.push_back([r, l = layout(empty)](Frame &f) {
          f.buffers[r] = allocateBuffer(l);
        });
        return success();
      })
      // The elements do not move.
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::CastOp,
            tensor::ReshapeOp>([&](auto view) {
        const unsigned a = buffer(op->getOperand(0)), r = buffer(view);
        const bool last = isLastUse(op->getOperand(0), op);
        steps.push_back([=](Frame &f) {
          if (last)
            f.buffers[r] = std::move(f.buffers[a]);
          else
            f.buffers[r] = f.buffers[a];
        });
        return success();
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        Layout from = layout(slice.getSource()), to = layout(slice);
        SmallVector<int64_t> sizes(slice.getStaticSizes()),
            steps_(slice.getStaticStrides());
        if (ShapedType::isDynamicShape(sizes) ||
            ShapedType::isDynamicShape(steps_))
          return refuse(op, "expected static sizes and strides");
        SliceOffset offset =
            sliceOffset(op, slice.getMixedOffsets(), sizes, steps_, from);
        BoxCopy copy(sizes, sliceStrides(from, steps_), rowMajorStrides(sizes),
                     from.elementBytes);
        const unsigned a = buffer(slice.getSource()), r = buffer(slice);
        steps.push_back(
            [=, bytes = to.bytes(), element = from.elementBytes](Frame &f) {
              int64_t first = offset.get(f);
              Buffer result{Storage::allocate(bytes), 0};
              copy.run(f.buffers[a].at(first, element), result.storage->data());
              f.buffers[r] = std::move(result);
            });
        addOperationRecord(op, steps);
        return success();
      })
      .Case([&](tensor::InsertSliceOp slice) {
        Layout to = layout(slice);
        SmallVector<int64_t> sizes(slice.getStaticSizes()),
            steps_(slice.getStaticStrides());
        if (ShapedType::isDynamicShape(sizes) ||
            ShapedType::isDynamicShape(steps_))
          return refuse(op, "expected static sizes and strides");
        SliceOffset offset =
            sliceOffset(op, slice.getMixedOffsets(), sizes, steps_, to);
        BoxCopy copy(sizes, rowMajorStrides(sizes), sliceStrides(to, steps_),
                     to.elementBytes);
        const unsigned a = buffer(slice.getSource()), r = buffer(slice);
        Step take = takeTensor(slice.getDest(), r, op, to);
        steps.push_back([=, element = to.elementBytes](Frame &f) {
          int64_t first = offset.get(f);
          take(f);
          copy.run(f.buffers[a].storage->data(),
                   f.buffers[r].at(first, element));
        });
        return success();
      })
      .Case([&](tensor::ConcatOp concat) {
        Layout to = layout(concat);
        struct Part {
          BoxCopy copy;
          unsigned slot;
          int64_t offset;
        };
        std::vector<Part> parts;
        int64_t position = 0;
        const uint64_t dim = concat.getDim();
        for (Value input : concat.getInputs()) {
          Layout from = layout(input);
          parts.push_back(
              {BoxCopy(from.shape, from.strides, to.strides, to.elementBytes),
               buffer(input), position * to.strides[dim]});
          position += from.shape[dim];
        }
        const unsigned r = buffer(concat);
        steps.push_back([=](Frame &f) {
          Buffer result{Storage::allocate(to.bytes()), 0};
          for (const Part &part : parts)
            part.copy.run(f.buffers[part.slot].storage->data(),
                          result.at(part.offset, to.elementBytes));
          f.buffers[r] = std::move(result);
        });
        addOperationRecord(op, steps);
        return success();
      })
      .Case([&](tensor::PadOp pad) -> LogicalResult {
        Layout from = layout(pad.getSource()), to = layout(pad);
        Value value = pad.getConstantPaddingValue();
        if (!value || ShapedType::isDynamicShape(pad.getStaticLow()))
          return refuse(op, "expected a constant padding");
        int64_t offset = 0;
        for (auto [low, stride] :
             llvm::zip_equal(pad.getStaticLow(), to.strides))
          offset += low * stride;
        BoxCopy copy(from.shape, from.strides, to.strides, to.elementBytes);
        const unsigned a = buffer(pad.getSource()), r = buffer(pad),
                       constant = scalar(value);
        steps.push_back([=](Frame &f) {
          Buffer result{Storage::allocate(to.bytes()), 0};
          for (int64_t at = 0, end = to.bytes() / to.elementBytes; at < end;
               ++at)
            storeElement(to.kind, f.scalars[constant],
                         result.at(at, to.elementBytes));
          copy.run(f.buffers[a].storage->data(),
                   result.at(offset, to.elementBytes));
          f.buffers[r] = std::move(result);
        });
        addOperationRecord(op, steps);
        return success();
      })
      .Case([&](tensor::ExtractOp extract) {
        Layout from = layout(extract.getTensor());
        SmallVector<int64_t> ones(from.shape.size(), 1);
        SliceOffset offset = sliceOffset(
            op, getAsOpFoldResult(extract.getIndices()), ones, ones, from);
        const unsigned a = buffer(extract.getTensor()), r = scalar(extract);
        steps.push_back(
            [=, kind = from.kind, element = from.elementBytes](Frame &f) {
              f.scalars[r] =
                  loadElement(kind, f.buffers[a].at(offset.get(f), element));
            });
        return success();
      })
      .Case([&](tensor::InsertOp insert) {
        Layout to = layout(insert);
        SmallVector<int64_t> ones(to.shape.size(), 1);
        SliceOffset offset = sliceOffset(
            op, getAsOpFoldResult(insert.getIndices()), ones, ones, to);
        const unsigned a = scalar(insert.getScalar()), r = buffer(insert);
        Step take = takeTensor(insert.getDest(), r, op, to);
        steps.push_back([=, kind = to.kind,
                         element = to.elementBytes](Frame &f) {
          int64_t position = offset.get(f);
          take(f);
          storeElement(kind, f.scalars[a], f.buffers[r].at(position, element));
        });
        return success();
      })
      .Case([&](tensor::FromElementsOp from) {
        Layout to = layout(from);
        SmallVector<unsigned> slots;
        for (Value value : from.getElements())
          slots.push_back(scalar(value));
        const unsigned r = buffer(from);
        steps.push_back([=](Frame &f) {
          Buffer result{Storage::allocate(to.bytes()), 0};
          for (auto [i, slot] : llvm::enumerate(slots))
            storeElement(to.kind, f.scalars[slot],
                         result.at(i, to.elementBytes));
          f.buffers[r] = std::move(result);
        });
        return success();
      })
      .Case([&](tensor::SplatOp splat) {
        Layout to = layout(splat);
        const unsigned a = scalar(splat.getInput()), r = buffer(splat);
        steps.push_back([=](Frame &f) {
          Buffer result{Storage::allocate(to.bytes()), 0};
          for (int64_t i = 0; i < to.numElements; ++i)
            storeElement(to.kind, f.scalars[a], result.at(i, to.elementBytes));
          f.buffers[r] = std::move(result);
        });
        return success();
      })
      .Default([&](Operation *) {
        return refuse(op, "the operation is not known to the interpreter");
      });
}

//===----------------------------------------------------------------------===//
// Linalg
//===----------------------------------------------------------------------===//

namespace {

/// One operand of a nest, with its position as a sum over the loops.
struct NestOperand {
  unsigned bufferSlot = 0;
  unsigned scalarSlot = 0; // of the block argument or the yielded value
  ElementKind kind = ElementKind::F32;
  int64_t firstByte = 0;
  SmallVector<int64_t, 4> bytesPerLoop;
};

/// A loop nest over elements, innermost loop last.
struct Nest {
  SmallVector<int64_t, 4> trips;
  SmallVector<NestOperand, 4> loads, stores;
  SmallVector<std::pair<unsigned, unsigned>, 2> indices; // loop, scalar slot
  Steps body;

  void run(Frame &frame) const;
};

} // namespace

void Nest::run(Frame &frame) const {
  const size_t depth = trips.size();
  const size_t numLoads = loads.size(), count = numLoads + stores.size();
  SmallVector<char *, 8> pointers(count);
  auto operand = [&](size_t i) -> const NestOperand & {
    return i < numLoads ? loads[i] : stores[i - numLoads];
  };
  for (size_t i = 0; i < count; ++i) {
    const Buffer &buffer = frame.buffers[operand(i).bufferSlot];
    pointers[i] =
        buffer.at(0, getElementBytes(operand(i).kind)) + operand(i).firstByte;
  }
  for (int64_t trip : trips)
    if (trip == 0)
      return;
  SmallVector<int64_t, 8> position(depth, 0);
  for (auto [loop, slot] : indices)
    frame.scalars[slot].i = 0;
  auto point = [&] {
    for (size_t i = 0; i < numLoads; ++i)
      frame.scalars[loads[i].scalarSlot] =
          loadElement(loads[i].kind, pointers[i]);
    runSteps(body, frame);
    for (size_t i = numLoads; i < count; ++i)
      storeElement(operand(i).kind, frame.scalars[operand(i).scalarSlot],
                   pointers[i]);
  };
  while (true) {
    point();
    size_t loop = depth;
    while (loop-- > 0) {
      bool wraps = ++position[loop] == trips[loop];
      int64_t moves = wraps ? 1 - trips[loop] : 1;
      for (size_t i = 0; i < count; ++i)
        pointers[i] += operand(i).bytesPerLoop[loop] * moves;
      if (wraps)
        position[loop] = 0;
      for (auto [of, slot] : indices)
        if (of == loop)
          frame.scalars[slot].i = position[loop];
      if (!wraps)
        break;
    }
    if (loop == size_t(-1))
      return;
  }
}

/// Adds `factor` x `expr` to a linear form; false when `expr` is not linear.
static bool addLinear(AffineExpr expr, int64_t factor,
                      SmallVectorImpl<int64_t> &perLoop, int64_t &constant) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    constant += factor * number.getValue();
    return true;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    perLoop[dim.getPosition()] += factor;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addLinear(binary.getLHS(), factor, perLoop, constant) &&
           addLinear(binary.getRHS(), factor, perLoop, constant);
  auto scale = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && scale &&
         addLinear(binary.getLHS(), factor * scale.getValue(), perLoop,
                   constant);
}

LogicalResult FunctionCompiler::compileGeneric(Operation *op, Steps &steps) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  Nest nest;
  nest.trips.assign(linalgOp.getStaticLoopRanges());
  Block &body = *linalgOp.getBlock();
  if (failed(compileBlock(body, nest.body)))
    return failure();
  for (auto indexOp : body.getOps<linalg::IndexOp>())
    nest.indices.push_back({indexOp.getDim(), scalar(indexOp.getResult())});

  auto makeOperand = [&](OpOperand &operand, unsigned bufferSlot,
                         Value element) -> FailureOr<NestOperand> {
    FailureOr<Layout> layout = layoutOf(operand.get(), op);
    if (failed(layout))
      return failure();
    NestOperand result;
    result.bufferSlot = bufferSlot;
    result.scalarSlot = scalar(element);
    result.kind = layout->kind;
    SmallVector<int64_t> perLoop(nest.trips.size(), 0);
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    const auto bytes = static_cast<int64_t>(layout->elementBytes);
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (!addLinear(expr, layout->strides[dim] * bytes, perLoop,
                     result.firstByte))
        return refuse(op, "expected linear indexing maps");
    result.bytesPerLoop.assign(perLoop.begin(), perLoop.end());
    return result;
  };

  // Scalars are copied to their block arguments once.
  for (OpOperand *input : linalgOp.getDpsInputOperands()) {
    BlockArgument argument = linalgOp.getMatchingBlockArgument(input);
    if (argument.use_empty())
      continue;
    if (!isa<ShapedType>(input->get().getType())) {
      const unsigned a = scalar(input->get()), r = scalar(argument);
      steps.push_back([=](Frame &f) { f.scalars[r] = f.scalars[a]; });
      continue;
    }
    FailureOr<NestOperand> load =
        makeOperand(*input, buffer(input->get()), argument);
    if (failed(load))
      return failure();
    nest.loads.push_back(*load);
  }
  Steps takes;
  for (auto [index, yielded] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    OpOperand *init = linalgOp.getDpsInitOperand(index);
    BlockArgument argument = linalgOp.getMatchingBlockArgument(init);
    FailureOr<Layout> layout = layoutOf(init->get(), op);
    if (failed(layout))
      return failure();
    unsigned slot = buffer(init->get());
    bool covers =
        linalgOp.getMatchingIndexingMap(init).isProjectedPermutation();
    if (!linalgOp.hasPureBufferSemantics()) {
      slot = buffer(op->getResult(index));
      if (argument.use_empty() && covers && !isLastUse(init->get(), op))
        takes.push_back([slot, layout = *layout](Frame &f) {
          f.buffers[slot] = {Storage::allocate(layout.bytes()), 0};
        });
      else
        takes.push_back(takeTensor(init->get(), slot, op, *layout));
    }
    FailureOr<NestOperand> store = makeOperand(*init, slot, yielded);
    if (failed(store))
      return failure();
    nest.stores.push_back(*store);
    if (argument.use_empty())
      continue;
    NestOperand load = *store;
    load.scalarSlot = scalar(argument);
    nest.loads.push_back(load);
  }
  // The memory of an input must not be taken over before it was read: an input
  // that is an init too has two uses and is copied.
  llvm::append_range(steps, takes);
  steps.push_back([nest = std::move(nest)](Frame &f) { nest.run(f); });
  return success();
}

LogicalResult FunctionCompiler::compileLinalg(Operation *op, Steps &steps) {
  if (isa<linalg::IndexOp>(op))
    return success(); // set by the nest
  if (!isa<linalg::LinalgOp>(op))
    return refuse(op, "the operation is not known to the interpreter");
  if (failed(compileGeneric(op, steps)))
    return failure();
  addOperationRecord(op, steps);
  return success();
}

void FunctionCompiler::addOperationRecord(Operation *op, Steps &steps) {
  // The operations that --st-build-dataflow turns into tasks, and its naming.
  if (!isa<linalg::GenericOp, tensor::ExtractSliceOp, tensor::ConcatOp,
           tensor::PadOp>(op) ||
      op->getNumResults() != 1 || !isa<func::FuncOp>(op->getParentOp()))
    return;
  auto given = op->getAttrOfType<StringAttr>("st.name");
  std::string name = given ? given.str() : op->getName().stripDialect().str();
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  name += "_" + std::to_string(operationNames[name]++);
  const Layout layout = *getLayout(op->getResult(0).getType());
  const unsigned slot = buffer(op->getResult(0));
  steps.push_back([=](Frame &f) {
    if (!f.recording || layout.bytes() > f.recordLimitBytes)
      return;
    HostTensor value(layout.shape, layout.kind);
    std::memcpy(value.data.data(), f.buffers[slot].storage->data(),
                layout.bytes());
    f.recording->operations.push_back({name, std::move(value)});
  });
}
