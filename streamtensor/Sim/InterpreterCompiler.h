//===- InterpreterCompiler.h - From IR to steps -----------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Translates a function once into steps: closures over numbered slots, so that
// running an operation looks nothing up.
//
// - A scalar, a tensor or memref, and a FIFO each have a slot of their own kind
//   in the frame of the function's activation.
// - Tensors are values: their memory is counted, and an operation that changes
//   a tensor takes the memory over when it is the last to use it, else copies.
// - An itensor is no value at run time. Which FIFO it means is known here: the
//   chain of destinations leads to the task result (or kernel argument) whose
//   FIFO it is, the `channel`.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_INTERPRETERCOMPILER_H
#define STREAMTENSOR_SIM_INTERPRETERCOMPILER_H

#include "streamtensor/Dialect/Dataflow/IR/Dataflow.h"
#include "streamtensor/Dialect/ITensor/IR/ITensor.h"
#include "streamtensor/Sim/Interpreter.h"
#include "streamtensor/Sim/InterpreterNetwork.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

#include <functional>
#include <memory>
#include <vector>

namespace streamtensor::interp {

//===----------------------------------------------------------------------===//
// Run-time state
//===----------------------------------------------------------------------===//

/// Counted memory: a header, then the bytes.
class Storage {
public:
  static llvm::IntrusiveRefCntPtr<Storage> allocate(size_t bytes);

  char *data() { return reinterpret_cast<char *>(this + 1); }
  size_t size() const { return bytes; }
  bool isShared() const { return references > 1; }
  void Retain() { ++references; }
  void Release();

private:
  size_t references = 0;
  size_t bytes = 0;
};

/// A tensor (row-major, offset 0) or a memref (strides as in its type).
struct Buffer {
  llvm::IntrusiveRefCntPtr<Storage> storage;
  int64_t offset = 0; // elements

  char *at(int64_t element, size_t elementBytes) const {
    return storage->data() + (offset + element) * elementBytes;
  }
};

/// One activation of a function.
struct Frame {
  Machine &machine;
  Recording *recording;
  size_t recordLimitBytes;
  std::vector<Scalar> scalars;
  std::vector<Buffer> buffers;
  std::vector<Fifo *> fifos;
  /// The dataflow region that is being built or runs.
  std::unique_ptr<Network> network;
};

using Step = std::function<void(Frame &)>;
using Steps = std::vector<Step>;

inline void runSteps(const Steps &steps, Frame &frame) {
  for (const Step &step : steps)
    step(frame);
}

//===----------------------------------------------------------------------===//
// Compiled functions
//===----------------------------------------------------------------------===//

enum class SlotKind : uint8_t { Scalar, Buffer, Fifo };
struct Slot {
  SlotKind kind;
  unsigned index;
};

/// Copies values between the frames of a caller and a callee.
void copyValues(Frame &from, llvm::ArrayRef<Slot> fromSlots, Frame &to,
                llvm::ArrayRef<Slot> toSlots);

/// The network of `frame`; it begins, as `region`, with the first FIFO or
/// process.
Network &getNetwork(Frame &frame, llvm::StringRef region);

/// Adds a FIFO, with its recording when one is made.
Fifo &startFifo(Frame &frame, llvm::StringRef region, const FifoSpec &spec,
                ElementKind element, std::optional<TokenOrder> order);

/// What a process is called in messages and records.
struct ProcessInfo {
  std::string name, kind, argument;

  ProcessInfo(llvm::StringRef name, llvm::StringRef kind)
      : name(name), kind(kind) {}
  /// Takes kind and argument from the attributes of a task.
  ProcessInfo(llvm::StringRef name, mlir::Operation *task);
};

/// Adds a process that reads and writes the FIFOs in these slots; the records
/// of what it writes learn who it is.
void startProcess(Frame &frame, llvm::StringRef region, const ProcessInfo &info,
                  std::function<void()> body, llvm::ArrayRef<unsigned> reads,
                  llvm::ArrayRef<unsigned> writes);

/// What a task function does with one of its stream arguments.
enum class StreamUse : uint8_t { None, Read, Write };

struct CompiledFunction {
  mlir::func::FuncOp op;
  std::vector<Slot> arguments;
  std::vector<StreamUse> argumentUses;
  std::vector<Slot> results;
  Steps steps;
  /// What a frame starts with: constants.
  std::vector<Scalar> scalars;
  std::vector<Buffer> buffers;
  unsigned numFifos = 0;

  std::unique_ptr<Frame> makeFrame(Machine &machine, Recording *recording,
                                   size_t recordLimitBytes) const;
};

/// All functions of a module that are called, compiled on first use.
class Program {
public:
  Program(mlir::ModuleOp module, const ParameterValues &parameters)
      : module(module), parameters(parameters) {}

  /// The compiled function, or null and the cause in `error`.
  CompiledFunction *getFunction(mlir::func::FuncOp function);
  CompiledFunction *getFunction(llvm::StringRef name);

  mlir::ModuleOp module;
  /// Values of the run-time parameters: everything is compiled for these.
  const ParameterValues &parameters;
  std::string error;

private:
  llvm::DenseMap<mlir::Operation *, std::unique_ptr<CompiledFunction>>
      functions;
};

/// An integer that is a constant or comes from a slot.
struct IndexValue {
  int64_t constant = 0;
  int slot = -1;

  int64_t get(const Frame &frame) const {
    return slot < 0 ? constant : frame.scalars[slot].i;
  }
};

/// Computes the linear offset of a slice and checks its bounds.
struct SliceOffset {
  struct Dim {
    IndexValue index;
    int64_t stride = 1; // elements per unit of the index
    int64_t limit = 0;  // largest index that stays inside
  };
  mlir::Operation *op = nullptr;
  llvm::SmallVector<Dim, 4> dims;

  int64_t get(Frame &frame) const;
};

/// Ends the run with what `op` found wrong.
[[noreturn]] void failAt(Frame &frame, mlir::Operation *op,
                         const llvm::Twine &message);

/// "tensor.extract_slice at model.py:12".
std::string describeOp(mlir::Operation *op);

/// A memory layout known at compile time.
struct Layout {
  ElementKind kind = ElementKind::F32;
  size_t elementBytes = 4;
  llvm::SmallVector<int64_t> shape, strides;
  int64_t numElements = 1;
  /// Elements from the first to behind the last.
  int64_t extent = 1;
  bool contiguous = true;

  size_t bytes() const { return numElements * elementBytes; }
};

/// The layout of a tensor or memref type (its static offset is not part of it),
/// or failure when it has a dynamic size or stride.
mlir::FailureOr<Layout> getLayout(mlir::Type type);

/// Fresh memory of `extent` elements full of poison.
Buffer allocateBuffer(const Layout &layout);

//===----------------------------------------------------------------------===//
// FunctionCompiler
//===----------------------------------------------------------------------===//

/// The FIFO of one itensor value inside a kernel.
struct Channel {
  FifoSpec spec;
  itensor::ITensorType type;
  /// That of `type`, at the values of the parameters.
  TokenOrder order;
  std::string process; // that writes it
  /// One FIFO per reading process: before `materialized`, several tasks may
  /// read one itensor. At least one.
  llvm::SmallVector<unsigned, 1> slots;
};

/// Compiles one function. The members `compileX` translate the operations of
/// dialect X; each lives in the file InterpreterX.cpp.
class FunctionCompiler {
public:
  FunctionCompiler(Program &program, CompiledFunction &out)
      : program(program), out(out) {}

  mlir::LogicalResult compileFunction();

private:
  // Slots.
  unsigned newScalar();
  unsigned newBuffer();
  unsigned scalar(mlir::Value value);
  unsigned buffer(mlir::Value value);
  Slot slotOf(mlir::Value value);
  IndexValue index(mlir::OpFoldResult value);
  llvm::SmallVector<IndexValue>
  indices(llvm::ArrayRef<mlir::OpFoldResult> values);
  llvm::SmallVector<IndexValue> indices(mlir::ValueRange values);

  // Blocks and values.
  mlir::LogicalResult compileBlock(mlir::Block &block, Steps &steps);
  mlir::LogicalResult compileOp(mlir::Operation *op, Steps &steps);
  /// Copies values from slots to slots in parallel (yields, arguments).
  void addTransfer(mlir::ValueRange from, mlir::ValueRange to,
                   mlir::Operation *user, Steps &steps);
  /// Whether the memory of tensor `value` is free once `user` has run.
  bool isLastUse(mlir::Value value, mlir::Operation *user);
  /// A step that puts the tensor `from`, to be changed, into slot `to`: taken
  /// over when this is its last use and it is not shared, else copied.
  Step takeTensor(mlir::Value from, unsigned to, mlir::Operation *user,
                  const Layout &layout);
  /// Records why `op` cannot be compiled.
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &why);
  mlir::FailureOr<Layout> layoutOf(mlir::Value value, mlir::Operation *op);
  mlir::FailureOr<ElementKind> kindOf(mlir::Type type, mlir::Operation *op);
  /// The order of `type` at the values of the parameters.
  mlir::FailureOr<TokenOrder> orderOf(itensor::ITensorType type,
                                      mlir::Operation *op);
  /// Fails when a parameter in `maxima` has no value up to its maximum.
  mlir::LogicalResult checkParameters(const ParameterValues &maxima,
                                      mlir::Operation *op);
  SliceOffset sliceOffset(mlir::Operation *op,
                          llvm::ArrayRef<mlir::OpFoldResult> offsets,
                          llvm::ArrayRef<int64_t> sizes,
                          llvm::ArrayRef<int64_t> steps, const Layout &source);

  // Operations, one dialect each.
  mlir::LogicalResult compileConstant(mlir::Operation *op);
  mlir::LogicalResult compileArith(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileCast(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileMath(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileTensor(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileLinalg(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileMemRef(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileBufferization(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileAffine(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileControl(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileDataflow(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileITensor(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileStream(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileHLS(mlir::Operation *op, Steps &steps);

  // Arithmetic.
  template <typename Fn>
  mlir::LogicalResult unaryFloat(mlir::Operation *op, Steps &steps, Fn fn);
  template <typename Fn>
  mlir::LogicalResult binaryFloat(mlir::Operation *op, Steps &steps, Fn fn);
  template <typename Fn>
  mlir::LogicalResult binaryInt(mlir::Operation *op, Steps &steps, Fn fn);
  mlir::LogicalResult compileCompare(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileSelect(mlir::Operation *op, Steps &steps);
  mlir::LogicalResult compileGeneric(mlir::Operation *op, Steps &steps);
  /// Records what `op` computes when it is one that becomes a task.
  void addOperationRecord(mlir::Operation *op, Steps &steps);
  /// A function that evaluates `expr`, where dimension d is `dims[d]`.
  std::function<int64_t(const Frame &)>
  affineExpr(mlir::AffineExpr expr, llvm::ArrayRef<IndexValue> dims,
             llvm::ArrayRef<IndexValue> symbols);

  // Kernels and tasks.
  mlir::LogicalResult compileKernel(dataflow::KernelOp kernel, Steps &steps);
  mlir::LogicalResult compileTask(dataflow::TaskOp task, Steps &steps);
  /// The value whose FIFO the itensor `value` means: a task result, a kernel
  /// argument, or the result of an operation that moves tokens. Null when the
  /// branches of an scf.if disagree.
  mlir::Value channelOf(mlir::Value value);
  mlir::LogicalResult planChannels(dataflow::KernelOp kernel);
  mlir::FailureOr<Channel *> addChannel(mlir::Value root, llvm::StringRef name,
                                        llvm::StringRef process,
                                        mlir::Operation *op);
  /// The slot of the FIFO that `reader` reads: an itensor.read, an operation
  /// that moves tokens, or an operand of a kernel's yield.
  unsigned readSlot(const void *reader);
  llvm::SmallVector<unsigned> writeSlots(mlir::Value value);
  unsigned streamSlot(mlir::Value stream);
  /// What the function does with a stream.
  static StreamUse useOf(mlir::Value stream);
  static StreamUse useInside(mlir::func::CallOp call, mlir::Value stream);
  /// Adds the streams that `op` reads or writes.
  void addStreamEnds(mlir::Operation *op, std::vector<unsigned> &reads,
                     std::vector<unsigned> &writes);
  /// A step that adds a process to the network of the frame.
  Step addProcess(ProcessInfo info, Steps body, std::vector<unsigned> reads,
                  std::vector<unsigned> writes);
  void compileLoad(mlir::Value argument, mlir::Value tensor, Steps &steps);
  mlir::LogicalResult compileStore(mlir::OpOperand &yielded, mlir::Value tensor,
                                   mlir::Operation *kernel, Steps &steps);

  Program &program;
  CompiledFunction &out;
  llvm::DenseMap<mlir::Value, unsigned> scalarSlots, bufferSlots, fifoSlots;
  llvm::MapVector<mlir::Value, Channel> channels;
  /// The FIFO of each reader: an operation, or an operand of a kernel's yield.
  llvm::DenseMap<const void *, unsigned> readers;
  unsigned numConverters = 0;
  llvm::StringMap<unsigned> operationNames;
};

} // namespace streamtensor::interp

#endif // STREAMTENSOR_SIM_INTERPRETERCOMPILER_H
