//===- Compiler.cpp - from text to a design -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a module, runs the phases, validates them, writes the design.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/Compiler.h"

#include "streamtensor/Dialect/RegisterDialects.h"
#include "streamtensor/Pipelines/DesignWriter.h"
#include "streamtensor/Pipelines/Manifest.h"
#include "streamtensor/Support/AtomicFile.h"
#include "streamtensor/Target/Device/Device.h"
#include "streamtensor/Transforms/Linalg/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>

using namespace mlir;
using namespace streamtensor;

namespace {

/// The state of one compile.
class Compilation {
public:
  Compilation(const CompileRequest &request, llvm::raw_ostream &out,
              llvm::raw_ostream &errs)
      : request(request), out(out), errs(errs) {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    // A message names its line; the operation may be a whole layer.
    context.printOpOnDiagnostic(false);
  }

  bool run() {
    if (!resolveTarget() || !parse() || !prepareFunction())
      return false;
    SourceMgrDiagnosticHandler handler(sources, &context, errs);
    if (request.from == Phase::Linalg &&
        failed(annotateArguments(function, manifest ? &*manifest : nullptr)))
      return false;
    if (!keepPhase(request.from))
      return false;
    for (unsigned i = static_cast<unsigned>(request.from) + 1;
         i <= static_cast<unsigned>(request.to); ++i)
      if (!runPhase(static_cast<Phase>(i)))
        return false;
    if (request.validate && !validate())
      return false;
    return finish();
  }

private:
  bool fail(const llvm::Twine &message) {
    errs << "error: " << message << "\n";
    return false;
  }

  /// Looks the target up and fills in what depends on it.
  bool resolveTarget() {
    std::string error;
    std::optional<DeviceInfo> device = findDevice(request.target, error);
    if (!device)
      return fail(error);
    phaseOptions = request.phases;
    // A quarter is left for FIFOs and the memory ports' own buffers.
    if (phaseOptions.onchipBudgetBytes < 0)
      phaseOptions.onchipBudgetBytes = device->onChipBytes() / 4 * 3;
    return true;
  }

  bool parse() {
    auto buffer = llvm::MemoryBuffer::getFile(request.input);
    if (!buffer)
      return fail("cannot read '" + request.input +
                  "': " + buffer.getError().message());
    StringRef text = (*buffer)->getBuffer();
    // Before parsing: the custom syntax of an unknown dialect would end in a
    // parse error that does not name the model's line.
    if (std::optional<std::string> unknown = findUnregisteredOps(text)) {
      errs << *unknown;
      if (!StringRef(*unknown).ends_with("\n"))
        errs << "\n";
      return false;
    }
    sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
    SourceMgrDiagnosticHandler handler(sources, &context, errs);
    module = parseSourceFile<ModuleOp>(sources, &context);
    if (!module)
      return fail("'" + request.input + "' is not a valid module");
    return true;
  }

  /// The manifest's path: as given, or beside the input.
  std::string manifestPath() {
    if (!request.manifest.empty())
      return request.manifest;
    llvm::SmallString<256> stem(request.input);
    llvm::sys::path::replace_extension(stem, "manifest.json");
    if (llvm::sys::fs::exists(stem))
      return std::string(stem);
    if (llvm::sys::path::filename(request.input) == "module.mlir") {
      llvm::SmallString<256> exported(
          llvm::sys::path::parent_path(request.input));
      llvm::sys::path::append(exported, "manifest.json");
      if (llvm::sys::fs::exists(exported))
        return std::string(exported);
    }
    return "";
  }

  bool prepareFunction() {
    if (std::string path = manifestPath(); !path.empty()) {
      std::string error;
      manifest = readManifest(path, error);
      if (!manifest)
        return fail(error);
    }
    std::string name = request.function;
    if (name.empty() && manifest)
      name = manifest->function;
    SmallVector<func::FuncOp> candidates;
    module->walk([&](func::FuncOp op) {
      if (name.empty() ? op.isPublic() : op.getSymName() == name)
        candidates.push_back(op);
    });
    if (candidates.empty())
      return fail(name.empty()
                      ? "expected a public function in '" + request.input + "'"
                      : "no function '" + name + "' in '" + request.input +
                            "'");
    if (candidates.size() > 1) {
      errs << "error: expected one public function but got";
      for (func::FuncOp op : candidates)
        errs << " '" << op.getSymName() << "'";
      errs << "; choose one with --function=NAME\n";
      return false;
    }
    function = candidates.front();
    designName = function.getSymName().str();
    return true;
  }

  bool runPhase(Phase phase) {
    auto start = std::chrono::steady_clock::now();
    PassManager pm(&context);
    buildPhase(pm, phase, phaseOptions);
    if (failed(pm.run(*module)))
      return fail("phase '" + phaseName(phase) + "' failed");
    std::chrono::duration<double> elapsed =
        std::chrono::steady_clock::now() - start;
    seconds.emplace_back(phaseName(phase).str(), elapsed.count());
    return keepPhase(phase);
  }

  /// Verifies the module and keeps what is asked of it: its text, a copy.
  bool keepPhase(Phase phase) {
    if (failed(verify(*module)))
      return fail("phase '" + phaseName(phase) + "' is not valid");
    if (!request.dumpDir.empty() && !dump(phase))
      return false;
    if (request.validate)
      snapshots.emplace_back(phaseName(phase).str(), module->clone());
    return true;
  }

  bool dump(Phase phase) {
    if (std::error_code code =
            llvm::sys::fs::create_directories(request.dumpDir))
      return fail("cannot create '" + request.dumpDir + "': " + code.message());
    return writeText(request.dumpDir, phaseName(phase).str() + ".mlir");
  }

  bool writeText(StringRef directory, StringRef name) {
    llvm::SmallString<256> path(directory);
    llvm::sys::path::append(path, name);
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream, OpPrintingFlags().enableDebugInfo(false));
    stream << "\n";
    std::string error;
    if (!writeFileAtomically(std::string(path), text, error))
      return fail(error);
    return true;
  }

  bool validate() {
    std::vector<std::pair<std::string, ModuleOp>> phases;
    for (auto &[name, op] : snapshots)
      phases.emplace_back(name, *op);
    return validateDesign(phases, designName, request.seed, errs);
  }

  bool finish() {
    if (request.to != kLastPhase && request.outputDir.empty()) {
      module->print(out);
      out << "\n";
      return true;
    }
    if (request.outputDir.empty()) {
      module->print(out);
      out << "\n";
      return true;
    }
    DesignRequest design;
    design.outputDir = request.outputDir;
    design.target = request.target;
    design.name = designName;
    design.seed = request.seed;
    design.explain = request.explain;
    design.seconds = seconds;
    design.weights = manifest ? manifest->weights : "";
    design.onchipBudgetBytes = phaseOptions.onchipBudgetBytes;
    if (request.to != kLastPhase) {
      if (std::error_code code =
              llvm::sys::fs::create_directories(request.outputDir))
        return fail("cannot create '" + request.outputDir +
                    "': " + code.message());
      return writeText(request.outputDir,
                       phaseName(request.to).str() + ".mlir");
    }
    return writeDesignDirectory(*module, design, errs);
  }

  const CompileRequest &request;
  llvm::raw_ostream &out, &errs;
  PhaseOptions phaseOptions;
  MLIRContext context;
  llvm::SourceMgr sources;
  OwningOpRef<ModuleOp> module;
  std::optional<Manifest> manifest;
  func::FuncOp function;
  std::string designName;
  std::vector<std::pair<std::string, double>> seconds;
  std::vector<std::pair<std::string, OwningOpRef<ModuleOp>>> snapshots;
};

} // namespace

bool streamtensor::compile(const CompileRequest &request,
                           llvm::raw_ostream &out, llvm::raw_ostream &errs) {
  return Compilation(request, out, errs).run();
}
