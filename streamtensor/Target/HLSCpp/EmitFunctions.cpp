//===- EmitFunctions.cpp - Functions, parameters and interfaces -----------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file around the statements: includes, vector types, signatures, ports.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Dialect/Dataflow/IR/Placement.h"
#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Target/HLSCpp/Emitter.h"
#include "streamtensor/Target/HLSCpp/HLSCpp.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace streamtensor;
using namespace streamtensor::hlscpp;

/// Longest line before parameters get lines of their own.
static constexpr unsigned kLineWidth = 100;

LogicalResult Emitter::checkName(Operation *op, StringRef name) {
  if (hls::isIdentifier(name))
    return success();
  return op->emitOpError() << "expected a name that C++ accepts but got '"
                           << name << "'";
}

LogicalResult Emitter::collectVectors(Type element, int64_t lanes,
                                      Operation *user) {
  std::optional<std::string> name = vectorType(element, lanes);
  if (!name)
    return user->emitOpError()
           << "expected elements of type f32, f16, bf16 or an integer of up to "
              "64 bits but got "
           << element;
  if (lanes > 1 && !llvm::is_contained(globals, *name)) {
    os << (globals.empty() ? "\n" : "");
    globals.push_back(*name);
    os << "typedef hls::vector<" << *scalarType(element) << ", " << lanes
       << "> " << *name << ";\n";
  }
  return success();
}

/// Whether a type that `isUsed` holds for occurs anywhere.
template <typename T>
static bool usesType(ModuleOp module, llvm::function_ref<bool(T)> isUsed) {
  AttrTypeWalker walker;
  walker.addWalk([&](T type) {
    return isUsed(type) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return module
      .walk([&](Operation *op) {
        for (Type type : op->getResultTypes())
          if (walker.walk(type).wasInterrupted())
            return WalkResult::interrupt();
        return walker.walk(op->getAttrDictionary());
      })
      .wasInterrupted();
}

LogicalResult Emitter::emitPreamble() {
  const bool usesHalf = usesType<FloatType>(
      module, [](FloatType type) { return type.getWidth() == 16; });
  const bool usesInt = usesType<IntegerType>(module, [](IntegerType type) {
    return StringRef(scalarType(type).value_or("")).starts_with("st::sint");
  });
  os << "#include \"hls_math.h\"\n#include \"hls_stream.h\"\n"
        "#include \"hls_vector.h\"\n#include \"st_dataflow.h\"\n"
     << (usesHalf ? "#include \"st_half.h\"\n" : "")
     << (usesInt ? "#include \"st_int.h\"\n" : "")
     << "#include \"st_math.h\"\n";
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    LogicalResult ok = success();
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      for (unsigned i = 0; succeeded(ok) && i < function.getNumArguments(); ++i)
        if (auto packed =
                function.getArgAttrOfType<IntegerAttr>(i, hls::kPackedAttr))
          ok =
              collectVectors(cast<MemRefType>(function.getArgument(i).getType())
                                 .getElementType(),
                             packed.getInt(), op);
    } else if (auto stream = dyn_cast<stream::StreamOp>(op)) {
      ok = collectVectors(stream.getType().getElementType(),
                          stream.getType().getTokenElements(), op);
    } else if (auto read = dyn_cast<stream::ReadOp>(op)) {
      ok = collectVectors(read.getSource().getType().getElementType(),
                          read.getSource().getType().getTokenElements(), op);
    } else if (auto write = dyn_cast<stream::WriteOp>(op)) {
      ok = collectVectors(write.getDest().getType().getElementType(),
                          write.getDest().getType().getTokenElements(), op);
    }
    return failed(ok) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

FailureOr<std::string> Emitter::parameter(func::FuncOp function,
                                          unsigned index) {
  BlockArgument argument = function.getArgument(index);
  auto name = function.getArgAttrOfType<StringAttr>(index, hls::kNameAttr);
  if (!name)
    return function.emitOpError()
           << "expected '" << hls::kNameAttr << "' on argument " << index;
  if (failed(checkName(function, name.getValue())))
    return failure();
  std::string spelled = local(name.getValue());
  if (auto type = dyn_cast<stream::StreamType>(argument.getType())) {
    std::optional<std::string> token =
        vectorType(type.getElementType(), type.getTokenElements());
    if (!token)
      return function.emitOpError() << "expected a stream of f32, f16, bf16 or "
                                       "integers but got "
                                    << type;
    streams[argument] = spelled;
    return "hls::stream<" + *token + "> &" + spelled;
  }
  if (argument.getType().isIndex()) {
    values[argument] = {spelled};
    return "int " + spelled;
  }
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!type || !type.hasStaticShape())
    return function.emitOpError()
           << "expected a stream, an index or memory of static shape but got "
           << argument.getType();
  auto packed = function.getArgAttrOfType<IntegerAttr>(index, hls::kPackedAttr);
  std::optional<std::string> element =
      vectorType(type.getElementType(), packed ? packed.getInt() : 1);
  if (!element)
    return function.emitOpError()
           << "expected memory of f32, f16, bf16 or integers but got " << type;
  auto direction =
      function.getArgAttrOfType<StringAttr>(index, hls::kDirectionAttr);
  if (function.getArgAttr(index, hls::kArrayAttr)) {
    Memory memory{spelled, MemoryKind::Array};
    memories[argument] = memory;
    return declare(function, type, memory);
  }
  memories[argument] = {spelled, packed ? MemoryKind::PackedPointer
                                        : MemoryKind::Pointer};
  return (direction && direction.getValue() == "in" ? "const " : "") +
         *element + " *" + spelled;
}

void Emitter::emitList(StringRef head, ArrayRef<std::string> items,
                       StringRef tail) {
  std::string joined = llvm::join(items, ", ");
  if (indentation + head.size() + joined.size() + tail.size() <= kLineWidth) {
    line() << head << joined << tail << "\n";
    return;
  }
  line() << head << "\n";
  for (auto [index, item] : llvm::enumerate(items))
    os.indent(indentation + 4)
        << item << (index + 1 == items.size() ? tail : StringRef(",")) << "\n";
}

LogicalResult Emitter::emitInterfaces(func::FuncOp top) {
  for (unsigned index = 0; index < top.getNumArguments(); ++index) {
    Value argument = top.getArgument(index);
    if (argument.getType().isIndex()) {
      pragma() << "interface s_axilite port=" << valueOf(argument).text << "\n";
      continue;
    }
    auto port =
        top.getArgAttrOfType<hls::InterfaceAttr>(index, hls::kInterfaceAttr);
    if (!port)
      return top.emitOpError() << "expected '" << hls::kInterfaceAttr
                               << "' on argument " << index;
    auto direction =
        top.getArgAttrOfType<StringAttr>(index, hls::kDirectionAttr);
    const std::string &name = memories.lookup(argument).name;
    StringRef used = direction ? direction.getValue() : StringRef("inout");
    pragma() << "interface m_axi port=" << name
             << " bundle=" << port.getBundle()
             << " offset=slave depth=" << port.getDepth();
    if (used != "out")
      os << " max_read_burst_length=" << port.getBurst();
    if (used != "in")
      os << " max_write_burst_length=" << port.getBurst();
    os << "\n";
    pragma() << "interface s_axilite port=" << name << "\n";
  }
  pragma() << "interface s_axilite port=return\n";
  return success();
}

LogicalResult Emitter::emitStream(stream::StreamOp op) {
  stream::StreamType type = op.getType();
  std::optional<std::string> token =
      vectorType(type.getElementType(), type.getTokenElements());
  if (!token || failed(checkName(op, op.getSym())))
    return failure();
  std::string name = local(op.getSym());
  if (name != op.getSym())
    return op.emitOpError() << "expected a name of its own but got '"
                            << op.getSym() << "' a second time";
  streams[op.getResult()] = name;
  line() << (op->hasAttr(hls::kFeedbackAttr) ? "ST_FEEDBACK(" : "ST_FIFO(")
         << *token << ", " << name << ", " << type.getDepth() << ");";
  if (op.getReason())
    os << " // " << StringRef(*op.getReason()).split('\n').first.rtrim('\\');
  os << "\n";
  if (auto memory = op->getAttrOfType<StringAttr>(dataflow::kMemoryAttr))
    pragma() << "bind_storage variable=" << name
             << " type=fifo impl=" << memory.getValue() << "\n";
  return success();
}

/// A loop around a dataflow body; feedback stands in front of it.
LogicalResult Emitter::emitRepeatedBody(func::FuncOp function) {
  auto parameter = function->getAttrOfType<StringAttr>(hls::kRepeatAttr);
  Block &body = function.getBody().front();
  Value bound;
  for (BlockArgument argument : function.getArguments())
    if (function.getArgAttr(argument.getArgNumber(),
                            dataflow::kParameterAttr) == parameter)
      bound = argument;
  if (!bound)
    return function.emitOpError()
           << "expected an argument for parameter " << parameter;
  std::string variable = local("run");
  for (Operation &op : body) {
    if (op.hasAttr(hls::kFeedbackAttr) && failed(emitOperation(&op)))
      return failure();
    if (auto iteration = dyn_cast<hls::IterationOp>(op)) {
      variable = local(iteration.getSym());
      values[iteration.getIndex()] = {variable};
    }
  }
  const std::string limit = valueOf(bound).text;
  line() << "for (int " << variable << " = 0; " << variable << " < " << limit
         << "; ++" << variable << ") {\n";
  pragma() << "dataflow\n";
  if (auto trips =
          function->getAttrOfType<hls::TripCountAttr>(hls::kTripCountAttr))
    pragma() << "loop_tripcount min=" << trips.getMin()
             << " max=" << trips.getMax() << "\n";
  indentation += 2;
  openScope();
  for (Operation &op : body)
    if (!op.hasAttr(hls::kFeedbackAttr) && !isa<hls::IterationOp>(op) &&
        failed(emitOperation(&op)))
      return failure();
  closeScope();
  indentation -= 2;
  line() << "}\n";
  return success();
}

LogicalResult Emitter::emitFunction(func::FuncOp function) {
  if (failed(checkName(function, function.getName())))
    return failure();
  if (function.isExternal() || !function.getBody().hasOneBlock() ||
      function.getNumResults() != 0)
    return function.emitOpError()
           << "expected a body of one block and no results";
  functionName = function.getName().str();
  names = {};
  scopes.clear();
  values.clear();
  memories.clear();
  streams.clear();
  openScope();
  for (const std::string &global : globals)
    names.get(global);
  // Only what calls functions must not hide them.
  if (function->hasAttr(hls::kDataflowAttr) || function->hasAttr(hls::kTopAttr))
    for (auto other : module.getOps<func::FuncOp>())
      names.get(other.getName());
  SmallVector<std::string> parameters;
  for (unsigned index = 0; index < function.getNumArguments(); ++index) {
    FailureOr<std::string> spelled = parameter(function, index);
    if (failed(spelled))
      return failure();
    parameters.push_back(*spelled);
  }
  os << "\n";
  if (auto comment = function->getAttrOfType<StringAttr>(hls::kCommentAttr))
    os << "// " << StringRef(comment.getValue()).split('\n').first.rtrim('\\')
       << "\n";
  bool isTop = function->hasAttr(hls::kTopAttr);
  emitList((isTop ? "extern \"C\" void " : "static void ") + functionName + "(",
           parameters, ") {");
  if (isTop && failed(emitInterfaces(function)))
    return failure();
  indentation = 2;
  if (function->hasAttr(hls::kRepeatAttr)) {
    if (failed(emitRepeatedBody(function)))
      return failure();
  } else {
    if (function->hasAttr(hls::kDataflowAttr))
      pragma() << "dataflow\n";
    if (failed(emitBlock(function.getBody().front())))
      return failure();
  }
  indentation = 0;
  os << "}\n";
  return success();
}

LogicalResult Emitter::emit() {
  for (Operation &op : *module.getBody())
    if (!isa<func::FuncOp, memref::GlobalOp>(op))
      return op.emitOpError() << "expected functions and constants only";
  if (failed(emitPreamble()))
    return failure();
  // A function must be declared before its use; outlining keeps that order.
  for (auto function : module.getOps<func::FuncOp>())
    if (failed(emitFunction(function)))
      return failure();
  return success();
}

LogicalResult streamtensor::emitHLSCpp(ModuleOp module, llvm::raw_ostream &os) {
  return Emitter(module, os).emit();
}
