//===- MaterializeStreams.cpp - explicit DMAs and converters -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rewrites a function of fused kernels over tensors into one over memrefs, in
// which every DMA and every converter is a task.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Transforms/Memory/Passes.h"

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Support/ConverterInference.h"
#include "streamtensor/Transforms/Dataflow/StreamEdge.h"
#include "streamtensor/Transforms/Memory/StreamTasks.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringMap.h"

namespace streamtensor {
#define GEN_PASS_DEF_MATERIALIZESTREAMS
#include "streamtensor/Transforms/Memory/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::dataflow;
using streamtensor::itensor::ITensorType;

//===----------------------------------------------------------------------===//
// Memory of the function
//===----------------------------------------------------------------------===//

/// Row-major strides of `shape`.
static SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  return strides;
}

namespace {

/// A tensor in memory: the memref, the name of the argument that holds it, and
/// the packing of its tokens if it has one.
struct MemoryValue {
  Value memref;
  std::string name;
  ITensorType packing;
};

/// Rewrites one function.
class Materializer {
public:
  explicit Materializer(func::FuncOp function)
      : function(function), builder(function.getContext()),
        entry(&function.getBody().front()) {}

  LogicalResult run() {
    returnOp = cast<func::ReturnOp>(entry->getTerminator());
    oldOps.clear();
    for (Operation &op : entry->without_terminator())
      oldOps.push_back(&op);
    builder.setInsertionPointToStart(entry);
    if (failed(convertArguments()) || failed(addResults()))
      return failure();
    builder.setInsertionPoint(returnOp);
    for (Operation *op : oldOps)
      if (auto kernel = dyn_cast<KernelOp>(op))
        if (failed(convertKernel(kernel)))
          return failure();
    func::ReturnOp::create(builder, returnOp.getLoc());
    returnOp.erase();
    for (Operation *op : llvm::reverse(oldOps))
      if (op->use_empty())
        op->erase();
    return finishSignature();
  }

private:
  MemRefType memoryType(unsigned index, RankedTensorType tensor,
                        ITensorType packing) {
    if (packing) {
      SmallVector<int64_t> shape{packing.getNumTokens()};
      auto token =
          function.getArgAttrOfType<DenseI64ArrayAttr>(index, kTokenShapeAttr);
      llvm::append_range(shape, token ? token.asArrayRef()
                                      : packing.getElementShape());
      return MemRefType::get(shape, tensor.getElementType());
    }
    if (auto buffer = function.getArgAttrOfType<DenseI64ArrayAttr>(
            index, kBufferShapeAttr)) {
      auto layout = StridedLayoutAttr::get(
          function.getContext(), 0, rowMajorStrides(buffer.asArrayRef()));
      return MemRefType::get(tensor.getShape(), tensor.getElementType(),
                             layout);
    }
    return MemRefType::get(tensor.getShape(), tensor.getElementType());
  }

  LogicalResult convertArguments() {
    numInputs = function.getNumArguments();
    for (unsigned i = 0; i < numInputs; ++i) {
      BlockArgument argument = entry->getArgument(i);
      auto tensor = dyn_cast<RankedTensorType>(argument.getType());
      if (!tensor)
        return function.emitError()
               << "expected argument " << i << " to be a tensor but got "
               << argument.getType();
      if (auto buffer =
              function.getArgAttrOfType<DenseI64ArrayAttr>(i, kBufferShapeAttr))
        if (failed(checkBuffer(i, tensor, buffer.asArrayRef())))
          return failure();
      MemoryValue memory;
      if (auto packing = function.getArgAttrOfType<TypeAttr>(i, kPackingAttr))
        memory.packing = cast<ITensorType>(packing.getValue());
      auto name = function.getArgAttrOfType<StringAttr>(i, kArgumentNameAttr);
      memory.name = name ? name.str() : "arg" + std::to_string(i);
      memory.memref = entry->addArgument(memoryType(i, tensor, memory.packing),
                                         argument.getLoc());
      inMemory[argument] = memory;
    }
    return success();
  }

  LogicalResult checkBuffer(unsigned index, RankedTensorType tensor,
                            ArrayRef<int64_t> buffer) {
    bool fits = static_cast<int64_t>(buffer.size()) == tensor.getRank();
    for (int64_t dim = 0; fits && dim < tensor.getRank(); ++dim)
      fits = buffer[dim] >= tensor.getDimSize(dim);
    if (fits)
      return success();
    return function.emitError()
           << "expected the buffer of argument " << index << " to hold "
           << tensor << " but its shape is ["
           << llvm::make_range(buffer.begin(), buffer.end()) << "]";
  }

  /// One memref argument per result, and where each kernel result lies.
  LogicalResult addResults() {
    for (OpOperand &operand : returnOp->getOpOperands()) {
      auto tensor = cast<RankedTensorType>(operand.get().getType());
      MemoryValue memory;
      memory.name = "result" + std::to_string(operand.getOperandNumber());
      memory.memref = entry->addArgument(
          MemRefType::get(tensor.getShape(), tensor.getElementType()),
          operand.get().getLoc());
      std::vector<Reshape> reshapes;
      Value root = traceReshapes(operand.get(), reshapes);
      if (!root.getDefiningOp<KernelOp>() || inMemory.count(root))
        return returnOp.emitError()
               << "expected result " << operand.getOperandNumber()
               << " to be written by a kernel of its own";
      for (const Reshape &reshape : llvm::reverse(reshapes))
        memory.memref = reshapeMemory(memory.memref, reshape, !reshape.expands,
                                      reshape.sourceShape);
      inMemory[root] = memory;
    }
    return success();
  }

  Value reshapeMemory(Value memory, const Reshape &reshape, bool expands,
                      ArrayRef<int64_t> shape) {
    auto type = cast<MemRefType>(memory.getType());
    SmallVector<ReassociationIndices> groups;
    for (const std::vector<unsigned> &group : reshape.groups)
      groups.emplace_back(group.begin(), group.end());
    Location loc = memory.getLoc();
    if (expands) {
      FailureOr<MemRefType> expanded =
          memref::ExpandShapeOp::computeExpandedType(type, shape, groups);
      assert(succeeded(expanded) && "expanding row-major memory");
      return memref::ExpandShapeOp::create(builder, loc, *expanded, memory,
                                           groups);
    }
    return memref::CollapseShapeOp::create(builder, loc, memory, groups);
  }

  /// Where `value`, an argument, a kernel result or a reshape of one, lies.
  FailureOr<MemoryValue> lookupMemory(Value value) {
    auto known = inMemory.find(value);
    if (known != inMemory.end())
      return known->second;
    std::vector<Reshape> reshapes;
    Value root = traceReshapes(value, reshapes);
    known = inMemory.find(root);
    if (known == inMemory.end()) {
      if (Operation *op = root.getDefiningOp())
        if (auto constant = dyn_cast<arith::ConstantOp>(op))
          return constantMemory(constant, value, reshapes);
      return emitError(value.getLoc(), "expected a tensor that lies in memory");
    }
    MemoryValue memory = known->second;
    // Packed tokens are addressed by token, whatever shape the tensor has.
    if (!memory.packing)
      for (const Reshape &reshape : reshapes)
        memory.memref = reshapeMemory(memory.memref, reshape, reshape.expands,
                                      reshape.resultShape);
    return inMemory[value] = memory;
  }

  /// A constant tensor becomes an argument that the host fills.
  FailureOr<MemoryValue> constantMemory(arith::ConstantOp constant, Value value,
                                        ArrayRef<Reshape> reshapes) {
    auto tensor = cast<RankedTensorType>(constant.getType());
    MemoryValue memory;
    memory.name = "const" + std::to_string(constants.size());
    memory.memref = entry->addArgument(
        MemRefType::get(tensor.getShape(), tensor.getElementType()),
        constant.getLoc());
    constants.push_back(cast<ElementsAttr>(constant.getValue()));
    inMemory[constant.getResult()] = memory;
    return lookupMemory(value);
  }

  /// A workspace for a tensor that passes between kernels.
  MemoryValue workspaceFor(Value result) {
    auto tensor = cast<RankedTensorType>(result.getType());
    MemoryValue memory;
    memory.name = "workspace" + std::to_string(numWorkspaces++);
    auto alloc = memref::AllocOp::create(
        builder, result.getLoc(),
        MemRefType::get(tensor.getShape(), tensor.getElementType()));
    alloc->setAttr("hls.name", builder.getStringAttr(memory.name));
    memory.memref = alloc;
    return inMemory[result] = memory;
  }

  //===--------------------------------------------------------------------===//
  // Kernels
  //===--------------------------------------------------------------------===//

  /// Refuses what has no task yet: streams that are split or joined other than
  /// by tasks.
  static LogicalResult checkMaterializable(KernelOp kernel) {
    WalkResult result = kernel.walk([](Operation *op) {
      if (isa<itensor::ChunkOp, itensor::ConcatOp, itensor::JoinOp>(op)) {
        op->emitOpError("is not materialized: split or join the tensors "
                        "before the dataflow, or write a task that does it");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult convertKernel(KernelOp kernel) {
    if (failed(checkMaterializable(kernel)))
      return failure();
    SmallVector<MemoryValue> memories;
    for (Value input : kernel.getInputs()) {
      FailureOr<MemoryValue> memory = lookupMemory(input);
      if (failed(memory))
        return failure();
      memories.push_back(*memory);
    }
    for (Value output : kernel.getOutputs())
      memories.push_back(inMemory.count(output) ? inMemory[output]
                                                : workspaceFor(output));
    SmallVector<Value> operands;
    for (const MemoryValue &memory : memories)
      operands.push_back(memory.memref);
    auto converted =
        KernelOp::create(builder, kernel.getLoc(), kernel.getSym(), TypeRange(),
                         operands, ValueRange(operands).getTypes());
    converted->setDiscardableAttrs(kernel->getDiscardableAttrDictionary());
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&converted.getBlock());
    IRMapping mapping;
    for (auto [i, argument] : llvm::enumerate(kernel.getBlock().getArguments()))
      mapping.map(argument, buildLoad(builder, kernel.getLoc(),
                                      uniqueName("load_" + memories[i].name),
                                      memories[i].name,
                                      converted.getBlock().getArgument(i),
                                      cast<ITensorType>(argument.getType()),
                                      memories[i].packing));
    for (Operation &op : kernel.getBlock().without_terminator())
      if (failed(convertStreamOp(&op, mapping)))
        return failure();
    unsigned numInputs = kernel.getInputs().size();
    for (auto [i, stream] : llvm::enumerate(kernel.getYield()->getOperands())) {
      const MemoryValue &memory = memories[numInputs + i];
      buildStore(builder, kernel.getLoc(), uniqueName("store_" + memory.name),
                 memory.name, mapping.lookup(stream),
                 converted.getBlock().getArgument(numInputs + i));
    }
    YieldOp::create(builder, kernel.getLoc());
    return success();
  }

  LogicalResult convertStreamOp(Operation *op, IRMapping &mapping) {
    if (isa<itensor::EmptyOp>(op))
      return success();
    if (auto task = dyn_cast<TaskOp>(op)) {
      // Placeholders are private to a task: each becomes a FIFO of its own.
      for (Value init : task.getInits())
        mapping.map(init, itensor::EmptyOp::create(builder, op->getLoc(),
                                                   init.getType()));
      auto copy = cast<TaskOp>(builder.clone(*op, mapping));
      copy.setSym(uniqueName(task.getSym().str()));
      return success();
    }
    if (auto converter = dyn_cast<itensor::ConverterOp>(op))
      return convert(op, converter.getSource(), converter.getResult(), mapping);
    if (auto reassociate = dyn_cast<itensor::ReassociateOp>(op)) {
      ITensorType source = reassociate.getSource().getType();
      ITensorType result = reassociate.getResult().getType();
      if (source.getTokenElements() != result.getTokenElements())
        return convert(op, reassociate.getSource(), reassociate.getResult(),
                       mapping);
    }
    builder.clone(*op, mapping);
    return success();
  }

  LogicalResult convert(Operation *op, Value source, Value result,
                        IRMapping &mapping) {
    auto sourceType = cast<ITensorType>(source.getType());
    auto resultType = cast<ITensorType>(result.getType());
    Value stream = mapping.lookup(source);
    Value &shared = converters[{stream, resultType}];
    if (shared) {
      mapping.map(result, shared);
      return success();
    }
    std::optional<SymbolicConverterPlan> plan;
    std::string error;
    for (ConverterAlgorithm algorithm :
         {ConverterAlgorithm::Default, ConverterAlgorithm::Paper}) {
      plan = inferConverter(sourceType.getSymbolicOrder(),
                            resultType.getSymbolicOrder(), error, algorithm);
      if (!plan)
        return op->emitOpError() << error;
      if (plan->kind == ConverterPlan::Kind::LineBuffer)
        return op->emitOpError() << "expected a segmented converter but got a "
                                    "line buffer, which is not materialized: "
                                 << plan->reason;
      auto converter = dyn_cast<itensor::ConverterOp>(op);
      if (!converter || !converter.getBufferShape() ||
          *converter.getBufferShape() == ArrayRef<int64_t>(plan->bufferShape))
        break;
    }
    TaskOp task =
        buildConverter(builder, op->getLoc(),
                       uniqueName("converter_" + std::to_string(numConverters)),
                       stream, resultType, *plan);
    ++numConverters;
    int64_t elementBytes = llvm::divideCeil(
        sourceType.getElementType().getIntOrFloatBitWidth(), 8);
    task->setAttr("buffer_shape", builder.getDenseI64ArrayAttr(
                                      ArrayRef<int64_t>(plan->bufferShape)));
    task->setAttr("shared_loops",
                  builder.getI64IntegerAttr(plan->shared.size()));
    task->setAttr("bytes",
                  builder.getI64IntegerAttr(plan->bytes(elementBytes)));
    task->setAttr("reason", builder.getStringAttr(plan->reason));
    shared = task.getResult(0);
    mapping.map(result, shared);
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Signature
  //===--------------------------------------------------------------------===//

  /// Removes the tensor arguments and results, and describes the new ones.
  LogicalResult finishSignature() {
    unsigned numResults = function.getNumResults();
    SmallVector<DictionaryAttr> attributes;
    for (unsigned i = 0; i < numInputs; ++i) {
      NamedAttrList list(function.getArgAttrDict(i));
      list.set(kArgumentNameAttr,
               builder.getStringAttr(inMemory[entry->getArgument(i)].name));
      if (!list.get(kArgumentRoleAttr))
        list.set(kArgumentRoleAttr, builder.getStringAttr("input"));
      attributes.push_back(list.getDictionary(function.getContext()));
    }
    for (unsigned i = 0; i < numResults; ++i) {
      NamedAttrList list;
      list.set(kArgumentNameAttr,
               builder.getStringAttr("result" + std::to_string(i)));
      list.set(kArgumentRoleAttr, builder.getStringAttr("output"));
      for (StringRef name :
           {StringRef(kArgumentDtypeAttr), StringRef(kDimsAttr)})
        if (Attribute value = function.getResultAttr(i, name))
          list.set(name, value);
      attributes.push_back(list.getDictionary(function.getContext()));
    }
    for (auto [i, value] : llvm::enumerate(constants))
      attributes.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr(
               kArgumentNameAttr,
               builder.getStringAttr("const" + std::to_string(i))),
           builder.getNamedAttr(kArgumentRoleAttr,
                                builder.getStringAttr("weight")),
           builder.getNamedAttr(kConstantValueAttr, value),
           builder.getNamedAttr(kWeightFileAttr,
                                builder.getStringAttr("weights/const" +
                                                      std::to_string(i) +
                                                      ".bin"))}));
    for (unsigned i = 0; i < numInputs; ++i)
      if (!entry->getArgument(i).use_empty())
        return function.emitError() << "expected no tensor operation to be "
                                       "left but argument "
                                    << i << " is still used";
    entry->eraseArguments(0, numInputs);
    SmallVector<Type> types(entry->getArgumentTypes());
    function.removeArgAttrsAttr();
    function.removeResAttrsAttr();
    function.setType(builder.getFunctionType(types, {}));
    function.setAllArgAttrs(attributes);
    return success();
  }

  std::string uniqueName(std::string base) {
    unsigned &count = names[base];
    if (count++ != 0)
      base += "_" + std::to_string(count - 1);
    return base;
  }

  func::FuncOp function;
  OpBuilder builder;
  Block *entry;
  func::ReturnOp returnOp;
  SmallVector<Operation *> oldOps;
  unsigned numInputs = 0, numWorkspaces = 0, numConverters = 0;
  DenseMap<Value, MemoryValue> inMemory;
  SmallVector<Attribute> constants;
  DenseMap<std::pair<Value, Type>, Value> converters;
  llvm::StringMap<unsigned> names;
};

class MaterializeStreams
    : public streamtensor::impl::MaterializeStreamsBase<MaterializeStreams> {
public:
  using streamtensor::impl::MaterializeStreamsBase<
      MaterializeStreams>::MaterializeStreamsBase;

  void runOnOperation() override {
    if (failed(Materializer(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
