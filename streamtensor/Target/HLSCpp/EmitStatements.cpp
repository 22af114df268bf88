//===- EmitStatements.cpp - Loops, memory and streams ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Statements of task functions, dataflow functions and the top function.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/HLSCpp/Emitter.h"

#include "streamtensor/Analysis/LinearOffset.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::hlscpp;

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitBlock(Block &block) {
  for (Operation &op : block)
    if (failed(emitOperation(&op)))
      return failure();
  return success();
}

LogicalResult Emitter::emitOperation(Operation *op) {
  if (isExpression(op))
    return emitExpression(op);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<scf::ForOp>([&](auto op) { return emitFor(op); })
      .Case<scf::IfOp>([&](auto op) { return emitIf(op); })
      .Case<scf::YieldOp>([&](auto op) { return emitYield(op); })
      .Case<memref::AllocOp>([&](auto op) { return emitAlloc(op); })
      .Case<stream::BufferOp>([&](auto op) { return emitBuffer(op); })
      .Case<memref::GetGlobalOp>([&](auto op) { return emitTable(op); })
      .Case<memref::StoreOp>([&](auto op) { return emitStore(op); })
      .Case<stream::ReadOp>([&](auto op) { return emitRead(op); })
      .Case<stream::WriteOp>([&](auto op) { return emitWrite(op); })
      .Case<stream::StreamOp>([&](auto op) { return emitStream(op); })
      .Case<stream::CastOp>([&](stream::CastOp op) {
        streams[op.getResult()] = streams.lookup(op.getSource());
        return success();
      })
      .Case<memref::ExpandShapeOp, memref::CollapseShapeOp, memref::CastOp>(
          [&](auto op) { return emitView(op, op->getOperand(0)); })
      // Printed where the vector is read or written.
      .Case<memref::SubViewOp>([&](auto) { return success(); })
      .Case<hls::TaskOp>([&](hls::TaskOp op) {
        SmallVector<std::string> items = {op.getCallee().str()};
        for (Value operand : op.getOperands())
          items.push_back(argument(operand));
        emitList("ST_TASK(", items, ");");
        return success();
      })
      .Case<hls::JoinOp>([&](auto) {
        line() << "ST_JOIN();\n";
        return success();
      })
      .Case<func::CallOp>([&](func::CallOp op) {
        SmallVector<std::string> items;
        for (Value operand : op.getOperands())
          items.push_back(argument(operand));
        emitList(op.getCallee().str() + "(", items, ");");
        return success();
      })
      .Case<func::ReturnOp>([](auto) { return success(); })
      .Default([](Operation *op) {
        return op->emitOpError()
               << "expected an operation with a form in HLS C++";
      });
}

std::string Emitter::argument(Value value) {
  if (isa<stream::StreamType>(value.getType()))
    return streams.lookup(value);
  if (isa<MemRefType>(value.getType()))
    return memories.lookup(value).name;
  return valueOf(value).text;
}

LogicalResult Emitter::emitFor(scf::ForOp loop) {
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound()),
                         step = getConstantIntValue(loop.getStep());
  auto trips = loop->getAttrOfType<hls::TripCountAttr>(hls::kTripCountAttr);
  auto unroll = loop->getAttrOfType<hls::UnrollAttr>(hls::kUnrollAttr);
  bool isConstant = getConstantIntValue(loop.getUpperBound()).has_value();
  if (!lower || !step || *step <= 0 || (!isConstant && !trips))
    return loop.emitOpError()
           << "expected constant bounds, or '" << hls::kTripCountAttr
           << "' for an upper bound that is none, and a positive constant step";
  if (!isConstant && unroll)
    return loop.emitOpError()
           << "expected an unrolled loop to have a constant trip count but it "
              "is known at run time";
  for (auto [argument, init, result] : llvm::zip_equal(
           loop.getRegionIterArgs(), loop.getInitArgs(), loop.getResults())) {
    std::optional<std::string> type = scalarType(argument.getType());
    if (!type)
      return loop.emitOpError() << "expected carried values to be scalars but "
                                   "got "
                                << argument.getType();
    std::string name = local("carried");
    line() << *type << " " << name << " = " << valueOf(init).text << ";\n";
    values[argument] = {name};
    values[result] = {name};
  }
  auto label = loop->getAttrOfType<StringAttr>(hls::kLabelAttr);
  if (label) {
    // Two columns left of the loop, as in the vendor's examples.
    os.indent(indentation - 2)
        << functionName << "_" << hls::makeIdentifier(label.getValue())
        << ":\n";
  }
  openScope();
  unsigned depth = scopes.size() - 2;
  std::string variable;
  // A short label names a dimension ("k"), a long one an activity ("drain").
  if (label && label.getValue().size() <= 2)
    variable = local(label.getValue());
  else
    variable = local(unroll ? "l" : "i" + std::to_string(depth));
  values[loop.getInductionVar()] = {variable};
  line() << "for (int " << variable << " = " << *lower << "; " << variable
         << " < " << valueOf(loop.getUpperBound()).in(Precedence::Additive)
         << "; ";
  if (*step == 1)
    os << "++" << variable;
  else
    os << variable << " += " << *step;
  os << ") {\n";
  if (auto pipeline =
          loop->getAttrOfType<hls::PipelineAttr>(hls::kPipelineAttr))
    pragma() << "pipeline II=" << pipeline.getIi() << "\n";
  if (loop->hasAttr(hls::kDataflowAttr))
    pragma() << "dataflow\n";
  if (trips)
    pragma() << "loop_tripcount min=" << trips.getMin()
             << " max=" << trips.getMax() << "\n";
  if (unroll) {
    pragma() << "unroll";
    if (unroll.getFactor() != 0)
      os << " factor=" << unroll.getFactor();
    os << "\n";
  }
  indentation += 2;
  if (failed(emitBlock(*loop.getBody())))
    return failure();
  indentation -= 2;
  closeScope();
  line() << "}\n";
  return success();
}

LogicalResult Emitter::emitYield(scf::YieldOp yield) {
  Operation *parent = yield->getParentOp();
  SmallVector<std::pair<std::string, std::string>> updates;
  for (auto [index, value] : llvm::enumerate(yield.getOperands())) {
    std::string name = valueOf(parent->getResult(index)).text;
    std::string text = valueOf(value).text;
    if (name != text)
      updates.push_back({name, text});
  }
  // Several at once may read each other.
  if (updates.size() > 1)
    for (auto [index, update] : llvm::enumerate(updates)) {
      std::string next = local("next");
      Type type = parent->getResult(index).getType();
      line() << "const " << *scalarType(type) << " " << next << " = "
             << update.second << ";\n";
      update.second = next;
    }
  for (auto &[name, text] : updates)
    line() << name << " = " << text << ";\n";
  return success();
}

LogicalResult Emitter::emitIf(scf::IfOp branch) {
  for (OpResult result : branch.getResults()) {
    std::optional<std::string> type = scalarType(result.getType());
    if (!type)
      return branch.emitOpError()
             << "expected results to be scalars but got " << result.getType();
    std::string name = local("chosen");
    line() << *type << " " << name << ";\n";
    values[result] = {name};
  }
  line() << "if (" << valueOf(branch.getCondition()).text << ") {\n";
  auto emitRegion = [&](Region &region) {
    indentation += 2;
    openScope();
    LogicalResult ok = emitBlock(region.front());
    closeScope();
    indentation -= 2;
    return ok;
  };
  if (failed(emitRegion(branch.getThenRegion())))
    return failure();
  if (!branch.getElseRegion().empty() &&
      (branch.getElseRegion().front().getOperations().size() > 1 ||
       branch.getNumResults() != 0)) {
    line() << "} else {\n";
    if (failed(emitRegion(branch.getElseRegion())))
      return failure();
  }
  line() << "}\n";
  return success();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// "float acc[36][16]"
FailureOr<std::string> Emitter::declare(Operation *op, MemRefType type,
                                        const Memory &memory) {
  bool isVector = memory.kind == MemoryKind::Vector;
  std::optional<std::string> element =
      vectorType(type.getElementType(), isVector ? type.getNumElements() : 1);
  if (!element || !type.hasStaticShape())
    return op->emitOpError() << "expected a static array of f32, f16, bf16 "
                                "or integers but got "
                             << type;
  std::string text = *element + " " + memory.name;
  if (memory.kind == MemoryKind::Array)
    for (int64_t size : type.getShape())
      if (size != 1)
        text += "[" + std::to_string(size) + "]";
  return text;
}

/// The operation that sets the whole memory once, in the block of `alloc` and
/// before everything else that uses it; null when there is none.
static Operation *singleWrite(memref::AllocOp alloc) {
  bool isScalar = alloc.getType().getNumElements() == 1;
  Operation *write = nullptr;
  for (Operation *user : alloc->getUsers()) {
    bool writes;
    if (auto read = dyn_cast<stream::ReadOp>(user))
      writes = read.getDest() == alloc.getResult();
    else if (auto store = dyn_cast<memref::StoreOp>(user))
      writes = store.getMemRef() == alloc.getResult();
    else if (isa<stream::WriteOp, memref::LoadOp>(user))
      continue;
    else
      return nullptr;
    if (!writes)
      continue;
    if (write || (isa<memref::StoreOp>(user) && !isScalar))
      return nullptr;
    write = user;
  }
  if (!write || write->getBlock() != alloc->getBlock())
    return nullptr;
  for (Operation *user : alloc->getUsers()) {
    Operation *here = alloc->getBlock()->findAncestorOpInBlock(*user);
    if (!here || (here != write && !write->isBeforeInBlock(here)))
      return nullptr;
  }
  return write;
}

/// The only reader of a scalar token follows its store, with nothing but
/// expressions in between: the value can be printed in the reader.
static bool isForwarded(memref::StoreOp store) {
  Operation *reader = nullptr;
  for (Operation *user : store.getMemRef().getUsers()) {
    if (user == store)
      continue;
    if (reader || !isa<stream::WriteOp>(user))
      return false;
    reader = user;
  }
  Operation *next = store->getNextNode();
  while (next && next != reader && isExpression(next))
    next = next->getNextNode();
  return next && next == reader;
}

/// What a token is called: after the stream that it comes from, else the one
/// that it goes to.
static std::string
tokenName(memref::AllocOp op,
          const llvm::DenseMap<Value, std::string> &streams) {
  if (auto name = op->getAttrOfType<StringAttr>(hls::kNameAttr))
    return name.str();
  std::string from, to;
  for (Operation *user : op->getUsers()) {
    if (auto read = dyn_cast<stream::ReadOp>(user))
      from = streams.lookup(read.getSource());
    else if (auto write = dyn_cast<stream::WriteOp>(user))
      to = streams.lookup(write.getDest());
  }
  if (!from.empty())
    return from == "in" ? "token" : from + "_token";
  if (!to.empty())
    return to == "out" ? "result" : to + "_token";
  return "value";
}

LogicalResult Emitter::emitAlloc(memref::AllocOp op) {
  bool isToken = llvm::any_of(op->getUsers(), [](Operation *user) {
    return isa<stream::ReadOp, stream::WriteOp>(user);
  });
  Memory memory;
  memory.kind = op.getType().getNumElements() == 1 ? MemoryKind::Scalar
                : isToken                          ? MemoryKind::Vector
                                                   : MemoryKind::Array;
  Operation *write = singleWrite(op);
  auto store = dyn_cast_or_null<memref::StoreOp>(write);
  // A value that is forwarded needs no variable.
  if (!store || !isForwarded(store))
    memory.name = local(tokenName(op, streams));
  memory.isConstant = write != nullptr;
  memories[op.getResult()] = memory;
  if (write)
    return success();
  FailureOr<std::string> text = declare(op, op.getType(), memory);
  if (failed(text))
    return failure();
  line() << *text << ";\n";
  if (memory.kind == MemoryKind::Array)
    pragma() << "array_partition variable=" << memory.name
             << " type=complete dim=0\n";
  return success();
}

LogicalResult Emitter::emitBuffer(stream::BufferOp op) {
  auto type = cast<MemRefType>(op.getType());
  Memory memory;
  memory.kind =
      type.getNumElements() == 1 ? MemoryKind::Scalar : MemoryKind::Array;
  memory.name = local(op.getSym());
  FailureOr<std::string> text = declare(op, type, memory);
  if (failed(text))
    return failure();
  line() << *text << ";\n";
  // Dimensions of size one are not declared, so banks count without them.
  SmallVector<int64_t> position(type.getRank() + 1, 0);
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    position[dim + 1] = position[dim] + (type.getDimSize(dim) != 1);
  if (auto partitions = op->getAttrOfType<ArrayAttr>(hls::kPartitionAttr))
    for (Attribute attr : partitions) {
      auto partition = dyn_cast<hls::PartitionAttr>(attr);
      if (!partition || partition.getDim() < 1 ||
          partition.getDim() > type.getRank())
        return op.emitOpError()
               << "expected a partition of one of " << type.getRank()
               << " dimensions but got " << attr;
      pragma() << "array_partition variable=" << memory.name
               << " type=" << partition.getKind();
      if (partition.getFactor() != 0)
        os << " factor=" << partition.getFactor();
      os << " dim=" << position[partition.getDim()] << "\n";
    }
  if (auto storage = op->getAttrOfType<hls::StorageAttr>(hls::kStorageAttr))
    pragma() << "bind_storage variable=" << memory.name
             << " type=" << storage.getType() << " impl=" << storage.getMemory()
             << "\n";
  memories[op.getResult()] = memory;
  return success();
}

/// Elements of a constant table that may stand in the text.
static constexpr int64_t kMaxTableElements = 65536;

LogicalResult Emitter::emitTable(memref::GetGlobalOp op) {
  auto global = module.lookupSymbol<memref::GlobalOp>(op.getNameAttr());
  auto data =
      global ? dyn_cast_or_null<DenseElementsAttr>(global.getInitialValueAttr())
             : nullptr;
  if (!data)
    return op.emitOpError()
           << "expected a constant named '" << op.getName() << "'";
  std::optional<std::string> type = scalarType(data.getElementType());
  if (!type || data.getNumElements() > kMaxTableElements)
    return op.emitOpError()
           << "expected a constant of at most " << kMaxTableElements
           << " values of f32, f16, bf16 or an integer type but got "
           << data.getType() << "; pass larger ones as an argument";
  std::string name = local("table");
  memories[op.getResult()] = {name, MemoryKind::Linear};
  line() << "static const " << *type << " " << name << "["
         << data.getNumElements() << "] = {";
  bool first = true;
  for (Attribute value : data.getValues<Attribute>()) {
    os << (first ? "" : ", ") << literal(value)->text;
    first = false;
  }
  os << "};\n";
  return success();
}

LogicalResult Emitter::emitView(Operation *op, Value source) {
  auto known = memories.find(source);
  // Elements are addressed by the strides of the view's own type, so the same
  // pointer serves whatever the layout is.
  if (known == memories.end() || known->second.kind == MemoryKind::Array)
    return op->emitOpError() << "expected a view of device memory";
  Memory memory = known->second;
  memories[op->getResult(0)] = memory;
  return success();
}

FailureOr<Expression> Emitter::element(Operation *op, Value memref,
                                       ValueRange indices) {
  auto known = memories.find(memref);
  if (known == memories.end())
    return op->emitOpError() << "expected memory that was declared before";
  const Memory &memory = known->second;
  auto type = cast<MemRefType>(memref.getType());
  switch (memory.kind) {
  case MemoryKind::Scalar:
    return memory.value ? *memory.value : Expression{memory.name};
  case MemoryKind::Array: {
    std::string text = memory.name;
    for (auto [size, index] : llvm::zip_equal(type.getShape(), indices))
      if (size != 1)
        text += "[" + valueOf(index).text + "]";
    return Expression{text};
  }
  case MemoryKind::PackedPointer:
    return op->emitOpError()
           << "expected packed memory to be accessed one token at a time";
  case MemoryKind::Vector:
  case MemoryKind::Linear:
  case MemoryKind::Pointer:
    break;
  }
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)) ||
      llvm::any_of(strides, ShapedType::isDynamic) ||
      ShapedType::isDynamic(offset))
    return op->emitOpError() << "expected constant strides but got " << type;
  int64_t last = offset;
  SmallVector<std::pair<Value, int64_t>> terms;
  for (auto [size, stride, index] :
       llvm::zip_equal(type.getShape(), strides, indices)) {
    last += (size - 1) * stride;
    if (size != 1)
      terms.push_back({index, stride});
  }
  if (last > INT32_MAX)
    return op->emitOpError()
           << "expected memory of at most 2^31 elements but got " << last + 1
           << "; split the argument";
  return Expression{memory.name + "[" + sum(terms, offset).text + "]"};
}

bool Emitter::isPacked(Value memory) {
  if (auto view = memory.getDefiningOp<memref::SubViewOp>())
    memory = view.getSource();
  auto known = memories.find(memory);
  return known != memories.end() &&
         known->second.kind == MemoryKind::PackedPointer;
}

/// A whole token of packed memory: its number is the offset in elements,
/// divided by the elements of a token.
FailureOr<Expression> Emitter::packedElement(Operation *op, Value memory) {
  auto view = memory.getDefiningOp<memref::SubViewOp>();
  if (!view)
    return Expression{memories.find(memory)->second.name + "[0]"};
  int64_t lanes = view.getType().getNumElements();
  std::optional<LinearOffset> offset = offsetOf(view);
  if (!offset || !offset->isMultipleOf(lanes))
    return op->emitOpError() << "expected whole tokens of packed memory";
  if (view.getSourceType().getNumElements() / lanes > INT32_MAX)
    return op->emitOpError() << "expected memory of at most 2^31 tokens";
  SmallVector<std::pair<Value, int64_t>> terms;
  for (auto [value, factor] : offset->terms)
    terms.push_back({value, factor / lanes});
  return Expression{memories.find(view.getSource())->second.name + "[" +
                    sum(terms, offset->constant / lanes).text + "]"};
}

LogicalResult Emitter::emitLoad(memref::LoadOp op) {
  FailureOr<Expression> spelled = element(op, op.getMemRef(), op.getIndices());
  if (failed(spelled))
    return failure();
  const Memory &memory = memories.find(op.getMemRef())->second;
  if (memory.isConstant || memory.kind == MemoryKind::Linear) {
    values[op.getResult()] = *spelled;
    return success();
  }
  // A variable is only a name for its current value.
  if (memory.kind == MemoryKind::Scalar && !canInline(op)) {
    std::string name = local("value");
    line() << "const " << *scalarType(op.getType()) << " " << name << " = "
           << spelled->text << ";\n";
    values[op.getResult()] = {name};
    return success();
  }
  if (memory.kind == MemoryKind::Scalar) {
    values[op.getResult()] = *spelled;
    return success();
  }
  return bind(op, *spelled);
}

LogicalResult Emitter::emitStore(memref::StoreOp op) {
  auto known = memories.find(op.getMemRef());
  const Expression &value = valueOf(op.getValue());
  if (known != memories.end() && known->second.isConstant) {
    if (isForwarded(op)) {
      known->second.value = value;
      return success();
    }
    FailureOr<std::string> text =
        declare(op, op.getMemRefType(), known->second);
    if (failed(text))
      return failure();
    line() << "const " << *text << " = " << value.text << ";\n";
    return success();
  }
  FailureOr<Expression> target = element(op, op.getMemRef(), op.getIndices());
  if (failed(target))
    return failure();
  line() << target->text << " = " << value.text << ";\n";
  return success();
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

LogicalResult Emitter::emitRead(stream::ReadOp op) {
  std::string text = streams.lookup(op.getSource()) + ".read()";
  if (op.getValue()) {
    std::string name = local("token");
    line() << "const " << *scalarType(op.getValue().getType()) << " " << name
           << " = " << text << ";\n";
    values[op.getValue()] = {name};
    return success();
  }
  if (isPacked(op.getDest())) {
    FailureOr<Expression> target = packedElement(op, op.getDest());
    if (failed(target))
      return failure();
    line() << target->text << " = " << text << ";\n";
    return success();
  }
  auto known = memories.find(op.getDest());
  if (known == memories.end() || (known->second.kind != MemoryKind::Scalar &&
                                  known->second.kind != MemoryKind::Vector))
    return op.emitOpError() << "expected a token as destination";
  if (known->second.isConstant) {
    FailureOr<std::string> declaration =
        declare(op, cast<MemRefType>(op.getDest().getType()), known->second);
    if (failed(declaration))
      return failure();
    // A token that is read and dropped: slices do that.
    if (llvm::hasSingleElement(op.getDest().getUses()))
      line() << text << ";\n";
    else
      line() << "const " << *declaration << " = " << text << ";\n";
    return success();
  }
  line() << known->second.name << " = " << text << ";\n";
  return success();
}

LogicalResult Emitter::emitWrite(stream::WriteOp op) {
  std::string value;
  if (!isa<MemRefType>(op.getValue().getType())) {
    value = valueOf(op.getValue()).text;
  } else if (isPacked(op.getValue())) {
    FailureOr<Expression> source = packedElement(op, op.getValue());
    if (failed(source))
      return failure();
    value = source->text;
  } else {
    auto known = memories.find(op.getValue());
    if (known == memories.end() || (known->second.kind != MemoryKind::Scalar &&
                                    known->second.kind != MemoryKind::Vector))
      return op.emitOpError() << "expected a token as value";
    value =
        known->second.value ? known->second.value->text : known->second.name;
  }
  line() << streams.lookup(op.getDest()) << ".write(" << value << ");\n";
  return success();
}
