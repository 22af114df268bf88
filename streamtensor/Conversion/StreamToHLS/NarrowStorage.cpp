//===- NarrowStorage.cpp - Accumulators and FIFOs of the bits they need ---===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where a task knows how many bits its sums need, its accumulators get elements
// of as many, and so do the FIFO that the sums leave through and the buffers of
// the tasks that only move them. Arithmetic stays as wide as it was: what is
// stored is truncated, what is loaded is extended, and synthesis keeps no more
// of an adder than what is stored of its result.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Conversion/Passes.h"

#include "streamtensor/Dialect/Dataflow/IR/Widths.h"
#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace streamtensor {
#define GEN_PASS_DEF_NARROWSTORAGE
#include "streamtensor/Conversion/Passes.h.inc"
} // namespace streamtensor

using namespace mlir;
using namespace streamtensor;

/// The type of the elements in memory or in a stream.
static Type elementOf(Value value) {
  if (auto stream = dyn_cast<stream::StreamType>(value.getType()))
    return stream.getElementType();
  if (auto memory = dyn_cast<MemRefType>(value.getType()))
    return memory.getElementType();
  return nullptr;
}

static Type withElement(Type type, Type element) {
  if (auto stream = dyn_cast<stream::StreamType>(type))
    return stream::StreamType::get(type.getContext(), stream.getTokenShape(),
                                   element, stream.getDepth());
  return MemRefType::Builder(cast<MemRefType>(type)).setElementType(element);
}

/// Bits of what the function of a task sums up; 0 where it does not know.
static int64_t bitsOf(func::FuncOp function) {
  auto bits = function->getAttrOfType<IntegerAttr>(dataflow::kBitsAttr);
  return bits ? bits.getInt() : 0;
}

/// The callee of an hls.task or a func.call.
static FlatSymbolRefAttr calleeOf(Operation *op) {
  if (auto task = dyn_cast<hls::TaskOp>(op))
    return task.getCalleeAttr();
  if (auto call = dyn_cast<func::CallOp>(op))
    return call.getCalleeAttr();
  return nullptr;
}

namespace {

/// The private functions of a module that are called once, and by whom.
class SingleCalls {
public:
  explicit SingleCalls(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPrivate() && !function.isExternal())
        functions[function.getName()] = function;
    llvm::StringSet<> repeated;
    module.walk([&](Operation *op) {
      if (FlatSymbolRefAttr callee = calleeOf(op))
        if (!calls.try_emplace(callee.getValue(), op).second)
          repeated.insert(callee.getValue());
    });
    for (StringRef name : repeated.keys())
      calls.erase(name);
  }

  /// The argument that operand `index` of a call becomes; null where the callee
  /// has other calls.
  Value argumentOf(Operation *call, unsigned index) const {
    StringRef name = calleeOf(call).getValue();
    func::FuncOp function = functions.lookup(name);
    return function && calls.contains(name) ? function.getArgument(index)
                                            : Value();
  }
  /// The operand that becomes an argument; null where there are several.
  Value operandOf(BlockArgument argument) const {
    auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
    Operation *call = function ? calls.lookup(function.getName()) : nullptr;
    return call && functions.contains(function.getName())
               ? call->getOperand(argument.getArgNumber())
               : Value();
  }

private:
  llvm::StringMap<func::FuncOp> functions;
  llvm::StringMap<Operation *> calls;
};

/// Memory and streams that hold the same numbers, and so change together.
class Storage {
public:
  Storage(const SingleCalls &calls, Type element)
      : calls(calls), element(element) {}

  /// Adds `value` and all that shares its elements. Fails where something uses
  /// them that has no narrow form.
  bool add(Value value);
  /// Whether all that is stored is bounded, by `bits`.
  bool isBounded();
  int64_t bits() const { return most; }
  void narrow(Type type);

private:
  bool addUse(OpOperand &use);
  bool addOrigin(Value value);
  /// Whether `stored`, in `function`, is bounded.
  bool isBounded(Value stored, func::FuncOp function);

  const SingleCalls &calls;
  Type element;
  llvm::SetVector<Value> values;
  SmallVector<std::pair<Value, func::FuncOp>> stored;
  int64_t most = 0;
};

} // namespace

static func::FuncOp functionOf(Operation *op) {
  return op->getParentOfType<func::FuncOp>();
}

bool Storage::add(Value value) {
  if (elementOf(value) != element)
    return false;
  if (!values.insert(value))
    return true;
  return addOrigin(value) && llvm::all_of(value.getUses(), [&](OpOperand &use) {
           return addUse(use);
         });
}

bool Storage::addOrigin(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Value operand = calls.operandOf(argument);
    return operand && add(operand);
  }
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast<stream::CastOp>(op))
    return add(cast.getSource());
  return isa<memref::AllocOp, stream::BufferOp, stream::StreamOp>(op);
}

bool Storage::addUse(OpOperand &use) {
  Operation *op = use.getOwner();
  if (calleeOf(op)) {
    Value argument = calls.argumentOf(op, use.getOperandNumber());
    return argument && add(argument);
  }
  if (isa<memref::LoadOp>(op))
    return true;
  if (auto store = dyn_cast<memref::StoreOp>(op)) {
    stored.push_back({store.getValue(), functionOf(op)});
    return true;
  }
  if (auto cast = dyn_cast<stream::CastOp>(op))
    return add(cast.getResult());
  if (auto read = dyn_cast<stream::ReadOp>(op))
    return add(read.getSource()) && (!read.getDest() || add(read.getDest()));
  auto write = dyn_cast<stream::WriteOp>(op);
  if (!write || !add(write.getDest()))
    return false;
  if (isa<MemRefType>(write.getValue().getType()))
    return add(write.getValue());
  stored.push_back({write.getValue(), functionOf(op)});
  return true;
}

bool Storage::isBounded() {
  return llvm::all_of(stored, [&](const auto &each) {
    return isBounded(each.first, each.second);
  });
}

bool Storage::isBounded(Value value, func::FuncOp function) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant))) {
    most = std::max<int64_t>(most, constant.getSignificantBits());
    return true;
  }
  // What is only moved is bounded where it was stored first.
  if (auto load = value.getDefiningOp<memref::LoadOp>();
      load && values.contains(load.getMemRef()))
    return true;
  if (auto read = value.getDefiningOp<stream::ReadOp>();
      read && values.contains(read.getSource()))
    return true;
  // What a task reads and keeps is none of its sums.
  if (value.getDefiningOp<stream::ReadOp>())
    return false;
  most = std::max(most, bitsOf(function));
  return bitsOf(function) != 0;
}

void Storage::narrow(Type type) {
  SmallVector<Operation *> users;
  llvm::SetVector<func::FuncOp> functions;
  for (Value value : values) {
    for (Operation *user : value.getUsers())
      if (!llvm::is_contained(users, user))
        users.push_back(user);
    if (auto argument = dyn_cast<BlockArgument>(value))
      functions.insert(cast<func::FuncOp>(argument.getOwner()->getParentOp()));
    value.setType(withElement(value.getType(), type));
  }
  for (func::FuncOp function : functions)
    function.setFunctionType(FunctionType::get(
        type.getContext(), function.getBody().front().getArgumentTypes(), {}));
  OpBuilder builder(type.getContext());
  // What is loaded first: what is moved is not extended and truncated again.
  for (Operation *user : users) {
    if (!isa<memref::LoadOp, stream::ReadOp>(user) ||
        user->getNumResults() == 0)
      continue;
    Value loaded = user->getResult(0);
    loaded.setType(type);
    builder.setInsertionPointAfter(user);
    auto wide =
        arith::ExtSIOp::create(builder, user->getLoc(), element, loaded);
    loaded.replaceAllUsesExcept(wide, wide);
  }
  for (Operation *user : users) {
    if (!isa<memref::StoreOp, stream::WriteOp>(user))
      continue;
    OpOperand &value = user->getOpOperand(0);
    if (value.get().getType() != element)
      continue;
    builder.setInsertionPoint(user);
    Operation *wide = value.get().getDefiningOp();
    value.set(builder.createOrFold<arith::TruncIOp>(user->getLoc(), type,
                                                    value.get()));
    if (isa_and_nonnull<arith::ExtSIOp>(wide) && wide->use_empty())
      wide->erase();
  }
}

namespace {

struct NarrowStorage : streamtensor::impl::NarrowStorageBase<NarrowStorage> {
  void runOnOperation() override {
    SmallVector<Value> roots;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (bitsOf(function) == 0)
        continue;
      function.walk([&](stream::BufferOp buffer) { roots.push_back(buffer); });
      function.walk(
          [&](stream::WriteOp write) { roots.push_back(write.getDest()); });
    }
    const SingleCalls calls(getOperation());
    for (Value root : roots) {
      auto element = dyn_cast_or_null<IntegerType>(elementOf(root));
      if (!element)
        continue;
      Storage storage(calls, element);
      if (storage.add(root) && storage.isBounded() &&
          storage.bits() < element.getWidth())
        storage.narrow(IntegerType::get(&getContext(), storage.bits()));
    }
  }
};

} // namespace
