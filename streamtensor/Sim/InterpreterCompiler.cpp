//===- InterpreterCompiler.cpp - From IR to steps -----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slots, blocks, transfers of values, frames and the functions of a program.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/InterpreterCompiler.h"

#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"

#include <cstdlib>
#include <new>

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::interp;

//===----------------------------------------------------------------------===//
// Run-time state
//===----------------------------------------------------------------------===//

llvm::IntrusiveRefCntPtr<Storage> Storage::allocate(size_t bytes) {
  auto *storage = new (std::malloc(sizeof(Storage) + bytes)) Storage();
  storage->bytes = bytes;
  return storage;
}

void Storage::Release() {
  if (--references == 0)
    std::free(this);
}

Buffer interp::allocateBuffer(const Layout &layout) {
  Buffer buffer{Storage::allocate(layout.extent * layout.elementBytes), 0};
  fillPoison(layout.kind, buffer.storage->data(), layout.extent);
  return buffer;
}

std::string interp::describeOp(Operation *op) {
  std::string text = ("'" + op->getName().getStringRef() + "'").str();
  FileLineColLoc place;
  op->getLoc()->walk([&](Location loc) {
    if (auto file = dyn_cast<FileLineColLoc>(loc)) {
      place = file;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (place)
    text += " at " + place.getFilename().str() + ":" +
            std::to_string(place.getLine());
  return text;
}

void interp::failAt(Frame &frame, Operation *op, const Twine &message) {
  frame.machine.fail(
      (frame.machine.where() + describeOp(op) + ": " + message).str());
}

int64_t SliceOffset::get(Frame &frame) const {
  int64_t offset = 0;
  for (auto [position, dim] : llvm::enumerate(dims)) {
    int64_t index = dim.index.get(frame);
    if (index < 0 || index > dim.limit)
      failAt(frame, op,
             "expected an index of 0 to " + Twine(dim.limit) +
                 " in dimension " + Twine(position) + " but got " +
                 Twine(index));
    offset += index * dim.stride;
  }
  return offset;
}

FailureOr<Layout> interp::getLayout(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped || !shaped.hasStaticShape())
    return failure();
  std::optional<ElementKind> kind = getElementKind(shaped.getElementType());
  if (!kind)
    return failure();
  Layout layout;
  layout.kind = *kind;
  layout.elementBytes = getElementBytes(*kind);
  layout.shape.assign(shaped.getShape().begin(), shaped.getShape().end());
  layout.strides = rowMajorStrides(layout.shape);
  layout.numElements = shaped.getNumElements();
  layout.extent = layout.numElements;
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref)
    return layout;
  int64_t offset;
  SmallVector<int64_t> strides;
  if (failed(memref.getStridesAndOffset(strides, offset)) ||
      llvm::is_contained(strides, ShapedType::kDynamic))
    return failure();
  for (size_t dim = 0; dim < strides.size(); ++dim)
    if (layout.shape[dim] > 1 && strides[dim] != layout.strides[dim])
      layout.contiguous = false;
  layout.strides = strides;
  layout.extent = layout.numElements ? 1 : 0;
  for (size_t dim = 0; dim < strides.size() && layout.numElements; ++dim)
    layout.extent += (layout.shape[dim] - 1) * strides[dim];
  return layout;
}

std::unique_ptr<Frame> CompiledFunction::makeFrame(Machine &machine,
                                                   Recording *recording,
                                                   size_t limitBytes) const {
  return std::make_unique<Frame>(
      Frame{machine, recording, limitBytes, scalars, buffers,
            std::vector<Fifo *>(numFifos, nullptr), nullptr});
}

void interp::copyValues(Frame &from, ArrayRef<Slot> fromSlots, Frame &to,
                        ArrayRef<Slot> toSlots) {
  for (auto [source, target] : llvm::zip_equal(fromSlots, toSlots)) {
    if (source.kind == SlotKind::Scalar)
      to.scalars[target.index] = from.scalars[source.index];
    else if (source.kind == SlotKind::Buffer)
      to.buffers[target.index] = from.buffers[source.index];
    else
      to.fifos[target.index] = from.fifos[source.index];
  }
}

//===----------------------------------------------------------------------===//
// Program
//===----------------------------------------------------------------------===//

CompiledFunction *Program::getFunction(func::FuncOp function) {
  std::unique_ptr<CompiledFunction> &slot = functions[function];
  if (slot)
    return slot.get();
  auto compiled = std::make_unique<CompiledFunction>();
  compiled->op = function;
  if (function.isExternal()) {
    error = ("function '" + function.getName() + "' has no body").str();
    return nullptr;
  }
  if (failed(FunctionCompiler(*this, *compiled).compileFunction()))
    return nullptr;
  // Compiling may have added functions, which moves `slot`.
  functions[function] = std::move(compiled);
  return functions[function].get();
}

CompiledFunction *Program::getFunction(StringRef name) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (function)
    return getFunction(function);
  error = ("expected a function named '" + name + "' but found none").str();
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

unsigned FunctionCompiler::newScalar() {
  Scalar zero;
  zero.i = 0;
  out.scalars.push_back(zero);
  return out.scalars.size() - 1;
}

unsigned FunctionCompiler::newBuffer() {
  out.buffers.emplace_back();
  return out.buffers.size() - 1;
}

unsigned FunctionCompiler::scalar(Value value) {
  auto [it, isNew] = scalarSlots.try_emplace(value, 0);
  if (isNew)
    it->second = newScalar();
  return it->second;
}

unsigned FunctionCompiler::buffer(Value value) {
  auto [it, isNew] = bufferSlots.try_emplace(value, 0);
  if (isNew)
    it->second = newBuffer();
  return it->second;
}

Slot FunctionCompiler::slotOf(Value value) {
  if (isa<ShapedType>(value.getType()))
    return {SlotKind::Buffer, buffer(value)};
  if (isa<stream::StreamType>(value.getType()))
    return {SlotKind::Fifo, streamSlot(value)};
  return {SlotKind::Scalar, scalar(value)};
}

IndexValue FunctionCompiler::index(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return {*constant, -1};
  return {0, static_cast<int>(scalar(cast<Value>(value)))};
}

SmallVector<IndexValue>
FunctionCompiler::indices(ArrayRef<OpFoldResult> values) {
  return llvm::map_to_vector(values, [&](OpFoldResult v) { return index(v); });
}

SmallVector<IndexValue> FunctionCompiler::indices(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value v) { return index(v); });
}

FailureOr<Layout> FunctionCompiler::layoutOf(Value value, Operation *op) {
  FailureOr<Layout> layout = getLayout(value.getType());
  if (succeeded(layout))
    return layout;
  std::string type;
  llvm::raw_string_ostream(type) << value.getType();
  return refuse(op, "expected a static layout but got '" + type + "'");
}

FailureOr<ElementKind> FunctionCompiler::kindOf(Type type, Operation *op) {
  if (std::optional<ElementKind> kind = getElementKind(type))
    return *kind;
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return refuse(op, "expected a scalar that can be interpreted but got '" +
                        text + "'");
}

LogicalResult FunctionCompiler::checkParameters(const ParameterValues &maxima,
                                                Operation *op) {
  for (const auto &[name, maximum] : maxima) {
    auto it = program.parameters.find(name);
    if (it == program.parameters.end())
      return refuse(op, "expected a value of the run-time parameter '" + name +
                            "' but got none");
    if (it->second < 0 || it->second > maximum)
      return refuse(op, "expected a value of 0 to " + Twine(maximum) +
                            " of the run-time parameter '" + name +
                            "' but got " + Twine(it->second));
  }
  return success();
}

FailureOr<TokenOrder> FunctionCompiler::orderOf(itensor::ITensorType type,
                                                Operation *op) {
  SymbolicOrder order = type.getSymbolicOrder();
  if (failed(checkParameters(order.maxima, op)))
    return failure();
  return order.at(program.parameters);
}

SliceOffset FunctionCompiler::sliceOffset(Operation *op,
                                          ArrayRef<OpFoldResult> offsets,
                                          ArrayRef<int64_t> sizes,
                                          ArrayRef<int64_t> steps,
                                          const Layout &source) {
  SliceOffset result;
  result.op = op;
  for (size_t dim = 0; dim < offsets.size(); ++dim) {
    int64_t span = (sizes[dim] - 1) * steps[dim];
    result.dims.push_back({index(offsets[dim]), source.strides[dim],
                           source.shape[dim] - 1 - span});
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Moving values
//===----------------------------------------------------------------------===//

bool FunctionCompiler::isLastUse(Value value, Operation *user) {
  Block *block = value.getParentBlock();
  // In another block `user` may run again, or be one of several tasks.
  if (!isa<RankedTensorType>(value.getType()) || block != user->getBlock())
    return false;
  if (matchPattern(value, m_Constant()))
    return false; // constants are set once per frame
  unsigned usesHere = 0;
  for (OpOperand &use : value.getUses()) {
    if (use.getOwner() == user) {
      ++usesHere;
      continue;
    }
    Operation *ancestor = block->findAncestorOpInBlock(*use.getOwner());
    if (!ancestor || !ancestor->isBeforeInBlock(user))
      return false;
  }
  return usesHere == 1;
}

Step FunctionCompiler::takeTensor(Value from, unsigned to, Operation *user,
                                  const Layout &layout) {
  const unsigned source = buffer(from);
  const size_t bytes = layout.bytes();
  const bool last = isLastUse(from, user);
  return [=](Frame &frame) {
    Buffer &tensor = frame.buffers[source];
    if (last && !tensor.storage->isShared()) {
      frame.buffers[to] = std::move(tensor);
      return;
    }
    Buffer copy{Storage::allocate(bytes), 0};
    std::memcpy(copy.storage->data(), tensor.storage->data(), bytes);
    frame.buffers[to] = std::move(copy);
  };
}

void FunctionCompiler::addTransfer(ValueRange from, ValueRange to,
                                   Operation *user, Steps &steps) {
  struct Transfer {
    Slot from;
    unsigned to;
    bool move;
  };
  SmallVector<Transfer, 4> transfers;
  for (auto [source, target] : llvm::zip_equal(from, to)) {
    // Which FIFO an itensor means is known at compile time.
    if (isa<itensor::ITensorType>(source.getType()))
      continue;
    Slot slot = slotOf(source);
    if (unsigned index = slotOf(target).index; index != slot.index)
      transfers.push_back({slot, index, isLastUse(source, user)});
  }
  auto moveOne = [](const Transfer &t, Frame &frame) {
    if (t.from.kind == SlotKind::Scalar)
      frame.scalars[t.to] = frame.scalars[t.from.index];
    else if (t.from.kind == SlotKind::Fifo)
      frame.fifos[t.to] = frame.fifos[t.from.index];
    else if (t.move)
      frame.buffers[t.to] = std::move(frame.buffers[t.from.index]);
    else
      frame.buffers[t.to] = frame.buffers[t.from.index];
  };
  if (transfers.empty())
    return;
  if (transfers.size() == 1) {
    steps.push_back(
        [t = transfers.front(), moveOne](Frame &frame) { moveOne(t, frame); });
    return;
  }
  bool overlaps = llvm::any_of(transfers, [&](const Transfer &target) {
    return llvm::any_of(transfers, [&](const Transfer &source) {
      return source.from.kind == target.from.kind &&
             source.from.index == target.to;
    });
  });
  if (!overlaps) {
    steps.push_back([transfers, moveOne](Frame &frame) {
      for (const Transfer &t : transfers)
        moveOne(t, frame);
    });
    return;
  }
  // A yield may swap values: all are taken before any is set.
  steps.push_back([transfers](Frame &frame) {
    SmallVector<Scalar, 4> scalars(transfers.size());
    SmallVector<Buffer, 4> buffers(transfers.size());
    for (auto [i, t] : llvm::enumerate(transfers)) {
      if (t.from.kind == SlotKind::Scalar)
        scalars[i] = frame.scalars[t.from.index];
      else if (t.move)
        buffers[i] = std::move(frame.buffers[t.from.index]);
      else if (t.from.kind == SlotKind::Buffer)
        buffers[i] = frame.buffers[t.from.index];
    }
    for (auto [i, t] : llvm::enumerate(transfers)) {
      if (t.from.kind == SlotKind::Scalar)
        frame.scalars[t.to] = scalars[i];
      else if (t.from.kind == SlotKind::Buffer)
        frame.buffers[t.to] = std::move(buffers[i]);
    }
  });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult FunctionCompiler::refuse(Operation *op, const Twine &why) {
  program.error = ("cannot interpret " + describeOp(op) + ": " + why).str();
  return failure();
}

LogicalResult FunctionCompiler::compileFunction() {
  Block &entry = out.op.getBody().front();
  if (!llvm::hasSingleElement(out.op.getBody()))
    return refuse(out.op, "expected one block");
  for (BlockArgument argument : entry.getArguments()) {
    out.arguments.push_back(slotOf(argument));
    out.argumentUses.push_back(useOf(argument));
  }
  if (failed(compileBlock(entry, out.steps)))
    return failure();
  for (Value value : entry.getTerminator()->getOperands())
    out.results.push_back(slotOf(value));
  return success();
}

LogicalResult FunctionCompiler::compileBlock(Block &block, Steps &steps) {
  for (Operation &op : block) {
    if (op.hasTrait<OpTrait::IsTerminator>())
      continue; // the parent's business
    if (failed(compileOp(&op, steps)))
      return failure();
  }
  return success();
}

LogicalResult FunctionCompiler::compileOp(Operation *op, Steps &steps) {
  using Member = LogicalResult (FunctionCompiler::*)(Operation *, Steps &);
  Member member =
      llvm::StringSwitch<Member>(op->getName().getDialectNamespace())
          .Case("arith", &FunctionCompiler::compileArith)
          .Case("math", &FunctionCompiler::compileMath)
          .Case("tensor", &FunctionCompiler::compileTensor)
          .Case("linalg", &FunctionCompiler::compileLinalg)
          .Case("memref", &FunctionCompiler::compileMemRef)
          .Case("bufferization", &FunctionCompiler::compileBufferization)
          .Case("affine", &FunctionCompiler::compileAffine)
          .Cases({"scf", "func"}, &FunctionCompiler::compileControl)
          .Case("dataflow", &FunctionCompiler::compileDataflow)
          .Case("itensor", &FunctionCompiler::compileITensor)
          .Case("stream", &FunctionCompiler::compileStream)
          .Case("hls", &FunctionCompiler::compileHLS)
          .Default(nullptr);
  if (!member)
    return refuse(op, "its dialect is not known to the interpreter");
  return (this->*member)(op, steps);
}

/// Writes the elements of a constant to memory.
static bool storeConstant(Attribute value, const Layout &layout, char *to) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() < layout.bytes() ||
        layout.kind == ElementKind::I1)
      return false;
    std::memcpy(to, blob->getData().data(), layout.bytes());
    return true;
  }
  auto dense = dyn_cast<DenseElementsAttr>(value);
  if (!dense)
    return false;
  for (Attribute element : dense.getValues<Attribute>()) {
    Scalar scalar;
    if (auto number = dyn_cast<FloatAttr>(element)) {
      if (layout.kind == ElementKind::F64)
        scalar.d = number.getValueAsDouble();
      else
        scalar.f = static_cast<float>(number.getValueAsDouble());
    } else {
      scalar.i = cast<IntegerAttr>(element).getValue().getSExtValue();
      if (layout.kind == ElementKind::I1)
        scalar.i &= 1;
    }
    storeElement(layout.kind, scalar, to);
    to += layout.elementBytes;
  }
  return true;
}

LogicalResult FunctionCompiler::compileConstant(Operation *op) {
  Value result = op->getResult(0);
  Attribute value;
  if (!matchPattern(result, m_Constant(&value)))
    return refuse(op, "expected a constant");
  if (isa<RankedTensorType>(result.getType())) {
    FailureOr<Layout> layout = layoutOf(result, op);
    if (failed(layout))
      return failure();
    Buffer constant{Storage::allocate(layout->bytes()), 0};
    if (!storeConstant(value, *layout, constant.storage->data()))
      return refuse(op, "expected dense elements");
    out.buffers[buffer(result)] = std::move(constant);
    return success();
  }
  FailureOr<ElementKind> kind = kindOf(result.getType(), op);
  if (failed(kind))
    return failure();
  Scalar &scalar = out.scalars[this->scalar(result)];
  if (auto number = dyn_cast<FloatAttr>(value)) {
    if (*kind == ElementKind::F64)
      scalar.d = number.getValueAsDouble();
    else
      scalar.f = static_cast<float>(number.getValueAsDouble());
    return success();
  }
  auto number = dyn_cast<IntegerAttr>(value);
  if (!number)
    return refuse(op, "expected a number");
  scalar.i = number.getValue().getSExtValue();
  if (*kind == ElementKind::I1)
    scalar.i &= 1;
  return success();
}
