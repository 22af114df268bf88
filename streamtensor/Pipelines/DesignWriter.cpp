//===- DesignWriter.cpp - the output directory -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Fills the output directory: everything is built in a hidden directory inside
// it and moved into place at the end, interface.json last. A directory without
// interface.json is not a design.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/DesignWriter.h"

#include "streamtensor/Support/AtomicFile.h"
#include "streamtensor/Support/Packing.h"
#include "streamtensor/Support/Safetensors.h"
#include "streamtensor/Target/Report/Edges.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

using namespace mlir;
using namespace streamtensor;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static std::string join(StringRef directory, StringRef name) {
  llvm::SmallString<256> result(directory);
  path::append(result, name);
  return std::string(result);
}

namespace {

/// Writes one design.
class DesignWriter {
public:
  DesignWriter(ModuleOp module, const DesignRequest &request,
               llvm::raw_ostream &out, llvm::raw_ostream &errs)
      : module(module), request(request), out(out), errs(errs),
        partial(join(request.outputDir,
                     ".partial-" +
                         std::to_string(llvm::sys::Process::getProcessId()))) {}

  ~DesignWriter() { fs::remove_directories(partial); }

  bool write() {
    FailureOr<DesignInfo> design = collectDesign(module);
    if (failed(design))
      return false;
    if (std::error_code code = fs::create_directories(partial))
      return fail("cannot create '" + partial + "': " + code.message());
    if (request.explain)
      explain(*design);
    if (!writeWeights(*design) || !writeFiles() || !publish())
      return false;
    out << summary;
    return true;
  }

private:
  bool fail(const llvm::Twine &message) {
    errs << "error: " << message << "\n";
    return false;
  }

  /// For a person to read, each in program order: schedules that are not the
  /// usual ones, why operations were fused or not, what lies between them, and
  /// the size of each FIFO and buffer.
  void explain(const DesignInfo &design) {
    for (const TaskInfo &task : design.tasks)
      if (!task.scheduleReason.empty())
        errs << task.name << ": schedule changed: " << task.scheduleReason
             << "\n";
    for (const FusionInfo &decision : design.fusion) {
      errs << decision.op << ": " << (decision.fused ? "" : "not ") << "fused";
      if (!decision.producer.empty())
        errs << " with '" << decision.producer << "'";
      errs << ": " << decision.reason << "\n";
    }
    for (const EdgeInfo &edge : collectEdges(design))
      errs << edge.producer << " -> " << edge.consumer << ": "
           << edgeKindName(edge.kind) << " of " << edge.bytes
           << " bytes: " << edge.reason << "\n";
    for (const FifoInfo &fifo : design.fifos)
      errs << fifo.group << ": " << fifo.producer << " -> " << fifo.consumer
           << ": FIFO of " << fifo.depth << " x " << fifo.tokenBits
           << " bits for " << fifo.tokens << " tokens: " << fifo.reason << "\n";
    for (const BufferInfo &buffer : design.buffers)
      if (!buffer.reason.empty())
        errs << buffer.task << ": buffer of " << buffer.bytes
             << " bytes: " << buffer.reason << "\n";
  }

  bool writeFiles() {
    if (failed(writeDesign(module, request.report, partial, &summary)))
      return fail("cannot write the design");
    return true;
  }

  /// Packs the weights of the manifest into weights/NAME.bin.
  bool writeWeights(const DesignInfo &design) {
    if (request.weights.empty())
      return true;
    std::string error;
    std::optional<SafetensorsFile> file =
        SafetensorsFile::open(request.weights, error);
    if (!file)
      return fail(error);
    bool complete = true;
    for (const ArgumentInfo &argument : design.arguments)
      if (argument.role == "weight" && !isConstant(argument.name))
        complete &= writeWeight(argument, *file);
    return complete;
  }

  /// Constants of the program are written with the program.
  static bool isConstant(StringRef name) { return name.starts_with("const"); }

  bool writeWeight(const ArgumentInfo &argument, const SafetensorsFile &file) {
    const TensorView *tensor = file.find(argument.name);
    if (!tensor)
      return fail("'" + request.weights + "' has no tensor '" + argument.name +
                  "'");
    if (tensor->shape != argument.shape ||
        dtypeName(tensor->dtype) != argument.dtype)
      return fail("expected tensor '" + argument.name + "' of '" +
                  request.weights + "' to be " + argument.dtype + " of shape " +
                  shapeString(argument.shape) + " but got " +
                  dtypeName(tensor->dtype) + " of shape " +
                  shapeString(tensor->shape));
    std::string error;
    std::vector<char> packed(tensor->bytes);
    const void *data = tensor->data;
    if (argument.packing) {
      TensorLayout layout{argument.packedShape, {}};
      if (!packTensor(*argument.packing, dtypeBytes(tensor->dtype), layout,
                      tensor->data, packed.data(), error))
        return fail("cannot pack '" + argument.name + "': " + error);
      data = packed.data();
    }
    std::string directory = join(partial, "weights");
    if (std::error_code code = fs::create_directories(directory))
      return fail("cannot create '" + directory + "': " + code.message());
    AtomicFile out;
    if (!out.open(join(directory, argument.name + ".bin"), error) ||
        !out.write(data, tensor->bytes, error) || !out.commit(error))
      return fail(error);
    return true;
  }

  /// True if the output directory holds a design, or the beginning of one whose
  /// compilation was interrupted: the Makefile is what publish() moves first.
  bool holdsDesign() {
    if (fs::exists(join(request.outputDir, "interface.json")))
      return true;
    auto makefile =
        llvm::MemoryBuffer::getFile(join(request.outputDir, "Makefile"));
    return makefile && (*makefile)->getBuffer().starts_with(
                           "# Written by streamtensor-compile");
  }

  /// Moves everything into the output directory; interface.json is taken away
  /// first and put back last. An earlier design is replaced, nothing else is.
  bool publish() {
    std::error_code code;
    std::vector<std::string> names;
    for (fs::directory_iterator it(partial, code), end; it != end && !code;
         it.increment(code))
      names.push_back(path::filename(it->path()).str());
    if (code)
      return fail("cannot read '" + partial + "': " + code.message());
    llvm::sort(names, [](const std::string &a, const std::string &b) {
      return std::pair(a == "interface.json", a) <
             std::pair(b == "interface.json", b);
    });
    if (!holdsDesign())
      for (const std::string &name : names)
        if (std::string taken = join(request.outputDir, name);
            fs::exists(taken))
          return fail("'" + taken + "' exists and is of no earlier design, " +
                      "which could be replaced; name another output directory");
    fs::remove(join(request.outputDir, "interface.json"));
    // A page about the design that was there.
    fs::remove(join(request.outputDir, "report.html"));
    for (const std::string &name : names) {
      std::string destination = join(request.outputDir, name);
      fs::remove_directories(destination);
      if ((code = fs::rename(join(partial, name), destination)))
        return fail("cannot create '" + destination + "': " + code.message());
    }
    return true;
  }

  ModuleOp module;
  const DesignRequest &request;
  llvm::raw_ostream &out, &errs;
  std::string partial, summary;
};

} // namespace

bool streamtensor::writeDesignDirectory(ModuleOp module,
                                        const DesignRequest &request,
                                        llvm::raw_ostream &out,
                                        llvm::raw_ostream &errs) {
  return DesignWriter(module, request, out, errs).write();
}
