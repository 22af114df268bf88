//===- Emitter.h - State of the C++ emitter ---------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The emitter of one function. Expressions with one use are printed inside
// their use; a load only when nothing is written in between.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_HLSCPP_EMITTER_H
#define STREAMTENSOR_TARGET_HLSCPP_EMITTER_H

#include "streamtensor/Dialect/HLS/IR/HLS.h"
#include "streamtensor/Dialect/HLS/IR/Identifiers.h"
#include "streamtensor/Dialect/Stream/IR/Stream.h"
#include "streamtensor/Target/HLSCpp/Spelling.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

namespace streamtensor::hlscpp {

/// How memory looks in C++.
enum class MemoryKind {
  Scalar,        ///< one element: a variable
  Vector,        ///< a token: an hls::vector, elements row-major
  Array,         ///< a local array; dimensions of size one are left out
  Linear,        ///< a constant table, row-major
  Pointer,       ///< device memory, elements by stride
  PackedPointer, ///< device memory, one vector at a time
};

struct Memory {
  std::string name;
  MemoryKind kind;
  /// Set once, before every use (only Scalar and Vector).
  bool isConstant = false;
  /// Scalar: the value, printed instead of the name.
  std::optional<Expression> value = std::nullopt;
};

/// Prints the functions of a module.
class Emitter {
public:
  Emitter(mlir::ModuleOp module, llvm::raw_ostream &os)
      : module(module), os(os) {}

  llvm::LogicalResult emit();

private:
  using Operation = mlir::Operation;
  using Value = mlir::Value;
  using LogicalResult = llvm::LogicalResult;

  // EmitFunctions.cpp
  LogicalResult emitPreamble();
  LogicalResult collectVectors(mlir::Type element, int64_t lanes,
                               Operation *user);
  mlir::LogicalResult emitRepeatedBody(mlir::func::FuncOp function);
  LogicalResult emitFunction(mlir::func::FuncOp function);
  llvm::FailureOr<std::string> parameter(mlir::func::FuncOp function,
                                         unsigned index);
  LogicalResult emitInterfaces(mlir::func::FuncOp top);
  LogicalResult emitStream(stream::StreamOp op);
  void emitList(llvm::StringRef head, llvm::ArrayRef<std::string> items,
                llvm::StringRef tail);
  LogicalResult checkName(Operation *op, llvm::StringRef name);

  // EmitStatements.cpp
  LogicalResult emitBlock(mlir::Block &block);
  LogicalResult emitOperation(Operation *op);
  /// How `value` is passed to a function.
  std::string argument(Value value);
  LogicalResult emitFor(mlir::scf::ForOp loop);
  LogicalResult emitIf(mlir::scf::IfOp branch);
  LogicalResult emitYield(mlir::scf::YieldOp yield);
  LogicalResult emitAlloc(mlir::memref::AllocOp op);
  LogicalResult emitBuffer(stream::BufferOp op);
  LogicalResult emitTable(mlir::memref::GetGlobalOp op);
  LogicalResult emitRead(stream::ReadOp op);
  LogicalResult emitWrite(stream::WriteOp op);
  LogicalResult emitStore(mlir::memref::StoreOp op);
  LogicalResult emitLoad(mlir::memref::LoadOp op);
  LogicalResult emitView(Operation *op, Value source);
  llvm::FailureOr<Expression> element(Operation *op, Value memory,
                                      mlir::ValueRange indices);
  bool isPacked(Value memory);
  llvm::FailureOr<Expression> packedElement(Operation *op, Value memory);
  llvm::FailureOr<std::string> declare(Operation *op, mlir::MemRefType type,
                                       const Memory &memory);

  // EmitExpressions.cpp
  LogicalResult emitExpression(Operation *op);
  llvm::FailureOr<Expression> expression(Operation *op);
  std::optional<Expression> compare(mlir::arith::CmpFOp op);
  std::optional<Expression> compare(mlir::arith::CmpIOp op);
  /// Keeps `expr` for the use of `op`'s result, or declares a variable.
  LogicalResult bind(Operation *op, const Expression &expr);
  const Expression &valueOf(Value value);
  Expression sum(llvm::ArrayRef<std::pair<Value, int64_t>> terms,
                 int64_t constant);

  // Text and scopes
  llvm::raw_ostream &line() { return os.indent(indentation); }
  /// A line at the left edge, like every pragma.
  llvm::raw_ostream &pragma() { return os << "#pragma HLS "; }
  std::string local(llvm::StringRef name) {
    scopes.back().push_back(names.get(name));
    return scopes.back().back();
  }
  void openScope() { scopes.emplace_back(); }
  void closeScope() {
    for (const std::string &name : scopes.back())
      names.release(name);
    scopes.pop_back();
  }

  mlir::ModuleOp module;
  llvm::raw_ostream &os;
  unsigned indentation = 0;
  /// Names of vector types, which no variable may hide.
  llvm::SmallVector<std::string> globals;
  // The function at hand:
  std::string functionName;
  hls::UniqueIdentifiers names;
  llvm::SmallVector<llvm::SmallVector<std::string>> scopes;
  llvm::DenseMap<Value, Expression> values;
  llvm::DenseMap<Value, Memory> memories;
  llvm::DenseMap<Value, std::string> streams;
};

/// Whether `op` computes a value and nothing else (loads included).
bool isExpression(mlir::Operation *op);
/// Whether the value of `op` may be computed at its single use instead.
bool canInline(mlir::Operation *op);

} // namespace streamtensor::hlscpp

#endif // STREAMTENSOR_TARGET_HLSCPP_EMITTER_H
