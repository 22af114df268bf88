//===- Reference.cpp - Execution by MLIR's own tools ----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Wraps a function into a program that reads and writes files, and runs
// mlir-opt and mlir-runner on it.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/Reference.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace streamtensor;

namespace {

constexpr StringLiteral kMain = "st_reference_main";
constexpr StringLiteral kRead = "st_reference_read";
constexpr StringLiteral kWrite = "st_reference_write";

/// Upstream passes only.
constexpr StringLiteral kPipeline =
    "--pass-pipeline=builtin.module("
    "one-shot-bufferize{bufferize-function-boundaries=1 "
    "function-boundary-type-conversion=identity-layout-map},"
    "func.func(convert-linalg-to-loops),"
    "expand-strided-metadata,lower-affine,convert-scf-to-cf,"
    // Powers with integer exponents have no runtime function.
    "convert-math-to-funcs{min-width-of-fpowi-exponent=1},"
    "func.func(math-expand-ops{ops=rsqrt}),"
    // Divisions that round down or up.
    "arith-expand,"
    "convert-math-to-llvm,convert-math-to-libm,convert-arith-to-llvm,"
    "finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,"
    "reconcile-unrealized-casts)";

FailureOr<std::vector<HostTensor>> fail(std::string &error,
                                        const Twine &message) {
  error = ("reference: " + message).str();
  return failure();
}

/// Removes what only our tools know, and what no upstream pass bufferizes.
void prepare(ModuleOp module) {
  for (auto global :
       llvm::make_early_inc_range(module.getOps<ml_program::GlobalOp>()))
    global.erase(); // torch-mlir's unused random seed
  module.walk([](Operation *op) {
    for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
      op->removeDiscardableAttr(attribute.getName());
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      function.removeArgAttrsAttr();
      function.removeResAttrsAttr();
      function.setPrivate();
    }
  });
  RewritePatternSet patterns(module.getContext());
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  (void)applyPatternsGreedily(module, std::move(patterns));
}

/// Builds the function that reads the inputs, calls `function` and writes the
/// results. The inputs are allocated in the shapes that they have; what becomes
/// of these in `function` is known at run time only, so the sizes of a result
/// are written before its elements.
void addMain(ModuleOp module, func::FuncOp function,
             ArrayRef<HostTensor> inputs) {
  MLIRContext *context = module.getContext();
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = UnknownLoc::get(context);
  Type i64 = builder.getI64Type();
  auto transfer = builder.getFunctionType({i64, i64, i64}, {});
  for (StringRef name : {kRead, kWrite})
    func::FuncOp::create(builder, loc, name, transfer).setPrivate();
  auto main = func::FuncOp::create(builder, loc, kMain,
                                   builder.getFunctionType({}, {}));
  builder.setInsertionPointToStart(main.addEntryBlock());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI64IntegerAttr(value));
  };
  auto callTransfer = [&](StringRef callee, Value memref, Value bytes,
                          int64_t index) {
    Value address =
        memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
    address = arith::IndexCastOp::create(builder, loc, i64, address);
    func::CallOp::create(builder, loc, callee, TypeRange(),
                         ValueRange{address, bytes, constant(index)});
  };
  SmallVector<Value> arguments;
  for (auto [index, type, input] :
       llvm::enumerate(function.getArgumentTypes(), inputs)) {
    Type element = cast<RankedTensorType>(type).getElementType();
    auto known = RankedTensorType::get(input.shape, element);
    Value memory = memref::AllocOp::create(
        builder, loc, MemRefType::get(input.shape, element));
    callTransfer(kRead, memory, constant(input.data.size()), index);
    Value tensor = bufferization::ToTensorOp::create(builder, loc, known,
                                                     memory, /*restrict=*/true);
    if (known != type)
      tensor = tensor::CastOp::create(builder, loc, type, tensor);
    arguments.push_back(tensor);
  }
  auto call = func::CallOp::create(builder, loc, function, arguments);
  for (auto [index, result] : llvm::enumerate(call.getResults())) {
    auto type = cast<RankedTensorType>(result.getType());
    Value memory = bufferization::ToBufferOp::create(
        builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
        result, /*read_only=*/true);
    Value sizes = memref::AllocOp::create(
        builder, loc, MemRefType::get({type.getRank()}, i64));
    Value bytes =
        constant(getElementBytes(*getElementKind(type.getElementType())));
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      Value position = arith::ConstantIndexOp::create(builder, loc, dim);
      Value size = memref::DimOp::create(builder, loc, memory, position);
      size = arith::IndexCastOp::create(builder, loc, i64, size);
      memref::StoreOp::create(builder, loc, size, sizes, position);
      bytes = arith::MulIOp::create(builder, loc, bytes, size);
    }
    callTransfer(kWrite, sizes, constant(sizeof(int64_t) * type.getRank()),
                 index);
    callTransfer(kWrite, memory, bytes, index);
  }
  func::ReturnOp::create(builder, loc);
}

bool writeFile(const std::string &path, StringRef content) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (code)
    return false;
  stream << content;
  stream.close();
  bool failed = stream.has_error();
  stream.clear_error();
  return !failed;
}

std::string readFile(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  return file ? (*file)->getBuffer().str() : std::string();
}

/// Runs a tool in `folder`; on failure `error` holds what it printed first.
bool runTool(const std::string &program, ArrayRef<std::string> arguments,
             const std::string &folder, std::string &error) {
  SmallVector<StringRef> all{program};
  all.append(arguments.begin(), arguments.end());
  std::string variable = "ST_REFERENCE_DIR=" + folder;
  SmallVector<StringRef> environment{variable};
  std::string log = folder + "/log.txt", message;
  int status = llvm::sys::ExecuteAndWait(
      program, all, ArrayRef<StringRef>(environment),
      {StringRef(""), StringRef(log), StringRef(log)},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &message);
  if (status == 0)
    return true;
  StringRef tool = llvm::sys::path::filename(program);
  std::string text = readFile(log);
  StringRef lines = StringRef(text).take_front(1000).rtrim();
  error = ("reference: '" + tool + "' failed" +
           (message.empty() ? "" : " (" + message + ")") +
           (lines.empty() ? "" : ": " + lines))
              .str();
  return false;
}

} // namespace

ReferenceTools::ReferenceTools()
    : mlirOpt(STREAMTENSOR_LLVM_PREFIX "/bin/mlir-opt"),
      mlirRunner(STREAMTENSOR_LLVM_PREFIX "/bin/mlir-runner"),
      libraries{STREAMTENSOR_LLVM_PREFIX "/lib/libmlir_c_runner_utils.so",
                // Conversions of f16 and bf16.
                STREAMTENSOR_LLVM_PREFIX "/lib/libmlir_float16_utils.so",
                STREAMTENSOR_REFERENCE_IO} {}

FailureOr<std::vector<HostTensor>>
streamtensor::runReference(ModuleOp module, StringRef functionName,
                           ArrayRef<HostTensor> inputs, std::string &error,
                           const ReferenceTools &tools) {
  OwningOpRef<ModuleOp> clone(cast<ModuleOp>(module->clone()));
  auto function = clone->lookupSymbol<func::FuncOp>(functionName);
  if (!function)
    return fail(error, "expected a function named '" + functionName + "'");
  auto isUsable = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && getElementKind(tensor.getElementType());
  };
  for (TypeRange types : {TypeRange(function.getArgumentTypes()),
                          TypeRange(function.getResultTypes())})
    if (!llvm::all_of(types, isUsable))
      return fail(error, "expected tensors as arguments and results");
  if (function.getNumArguments() != inputs.size())
    return fail(error, "expected " + Twine(function.getNumArguments()) +
                           " inputs but got " + Twine(inputs.size()));
  for (auto [index, input] : llvm::enumerate(inputs)) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[index]);
    if (failed(verifyCompatibleShape(input.shape, type.getShape())) ||
        input.kind != getElementKind(type.getElementType()))
      return fail(error, "input " + Twine(index) + " is a " + input.describe());
  }
  prepare(*clone);
  addMain(*clone, function, inputs);

  SmallString<128> folderName;
  if (llvm::sys::fs::createUniqueDirectory("streamtensor-reference",
                                           folderName))
    return fail(error, "cannot make a temporary directory");
  llvm::scope_exit cleanUp(
      [&] { llvm::sys::fs::remove_directories(folderName); });
  std::string folder = folderName.str().str();

  std::string text;
  {
    llvm::raw_string_ostream stream(text);
    clone->print(stream);
  }
  bool written = writeFile(folder + "/input.mlir", text);
  for (auto [index, input] : llvm::enumerate(inputs)) {
    written &= writeFile(folder + "/input" + std::to_string(index) + ".bin",
                         StringRef(input.data.data(), input.data.size()));
  }
  if (!written)
    return fail(error, "cannot write to '" + folder + "'");

  if (!runTool(tools.mlirOpt,
               {kPipeline.str(), folder + "/input.mlir", "-o",
                folder + "/lowered.mlir"},
               folder, error))
    return failure();
  std::vector<std::string> arguments{folder + "/lowered.mlir", "-O2", "-e",
                                     kMain.str(), "--entry-point-result=void"};
  for (const std::string &library : tools.libraries)
    arguments.push_back("--shared-libs=" + library);
  if (!runTool(tools.mlirRunner, arguments, folder, error))
    return failure();

  std::vector<HostTensor> results;
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    std::string bytes =
        readFile(folder + "/result" + std::to_string(index) + ".bin");
    std::vector<int64_t> shape(tensor.getRank());
    const size_t head = shape.size() * sizeof(int64_t);
    if (bytes.size() < head)
      return fail(error, "result " + Twine(index) + " has no sizes");
    std::memcpy(shape.data(), bytes.data(), head);
    HostTensor result(shape, *getElementKind(tensor.getElementType()));
    if (bytes.size() - head != result.data.size())
      return fail(error, "result " + Twine(index) + " has " +
                             Twine(bytes.size() - head) +
                             " bytes but expected " +
                             Twine(result.data.size()));
    std::memcpy(result.data.data(), bytes.data() + head, result.data.size());
    results.push_back(std::move(result));
  }
  return results;
}
