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

#include "streamtensor/Analysis/SizeConsistency.h"
#include "streamtensor/Analysis/UnfusedMemory.h"
#include "streamtensor/Conversion/Passes.h"
#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Dialect/RegisterDialects.h"
#include "streamtensor/Pipelines/Allocate.h"
#include "streamtensor/Pipelines/DesignWriter.h"
#include "streamtensor/Pipelines/Dimensions.h"
#include "streamtensor/Pipelines/Manifest.h"
#include "streamtensor/Support/AtomicFile.h"
#include "streamtensor/Target/Device/Device.h"
#include "streamtensor/Target/Report/ImportCsynth.h"
#include "streamtensor/Transforms/Linalg/InferSizes.h"
#include "streamtensor/Transforms/Linalg/Passes.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
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
    if (!resolveTarget())
      return false;
    if (request.checkTarget)
      return true;
    if (!parse() || !prepareFunction())
      return false;
    SourceMgrDiagnosticHandler handler(sources, &context, errs);
    if (request.from == Phase::Linalg &&
        (failed(annotateArguments(function, manifest ? &*manifest : nullptr)) ||
         !annotateDimensions()))
      return false;
    if (!keepPhase(request.from))
      return false;
    for (unsigned i = static_cast<unsigned>(request.from) + 1;
         i <= static_cast<unsigned>(request.to); ++i)
      if (!runPhase(static_cast<Phase>(i)))
        return false;
    if (request.to == kLastPhase && !repeatLayers())
      return false;
    // Also for a text whose schedules were given.
    if (request.dspBudget && request.to == kLastPhase && !checkDsp())
      return false;
    if (request.validate && !validate())
      return false;
    // After every phase: reports name the functions and loops of the last one.
    if (!request.csynth.empty() && !takeCsynth())
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
    device = findDevice(request.target, error);
    if (!device)
      return fail(error);
    phaseOptions = request.phases;
    // A quarter is left for FIFOs and the memory ports' own buffers.
    if (phaseOptions.onchipBudgetBytes < 0)
      phaseOptions.onchipBudgetBytes = device->onChipBytes() / 4 * 3;
    return true;
  }

  bool parse() {
    StringRef name(request.input);
    if (name.ends_with(".py"))
      return fail("expected a file of MLIR but got '" + request.input +
                  "'; export the module first: streamtensor export " +
                  request.input + ":FACTORY --output-dir DIR");
    if (llvm::sys::fs::is_directory(name))
      return fail("expected a file of MLIR but got the directory '" +
                  request.input +
                  "'; in an exported module the file is module.mlir");
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

  /// The dimensions' file: as given, or beside the input.
  std::string dimensionsPath() {
    if (!request.dims.empty())
      return request.dims;
    llvm::SmallString<256> stem(request.input);
    llvm::sys::path::replace_extension(stem, "dims.json");
    return llvm::sys::fs::exists(stem) ? std::string(stem) : "";
  }

  bool annotateDimensions() {
    if (request.dims.empty() && dynamicDimensions(function).empty())
      return true;
    std::string path = dimensionsPath(), error;
    if (!path.empty())
      return readDimensions(path, function, error) || fail(error);
    std::string first = dynamicDimensions(function).front();
    return fail("the sizes of dynamic dimensions are not known: " +
                llvm::join(dynamicDimensions(function), ", ") +
                "; say them and their limits in a file for --dims, like "
                "{\"dims\": {\"" +
                first +
                "\": \"seq\"}, \"min\": {\"seq\": 1}, \"max\": "
                "{\"seq\": 128}}, or export the module with fixed shapes");
  }

  bool runPhase(Phase phase) {
    auto start = std::chrono::steady_clock::now();
    if (phase == Phase::Scheduled && request.dspBudget && !chooseLanes())
      return false;
    if (phase == Phase::Allocated)
      return allocate() && keepPhase(phase);
    bool sized = phase == Phase::Normalized &&
                 !dynamicDimensions(function).empty() &&
                 !dataflow::parametersOf(function).empty();
    if (sized ? !normalizeSized() : !transform(*module, phase))
      return false;
    seconds.emplace_back(phaseName(phase).str(), secondsSince(start));
    return keepPhase(phase);
  }

  /// Where the design is one layer of many: the last step of phase `hls`. What
  /// is validated is the layer, and so is what depths are found for.
  bool repeatLayers() {
    if (llvm::none_of(module->getOps<func::FuncOp>(), [](func::FuncOp op) {
          return op->hasAttr(dataflow::kRepeatAttr);
        }))
      return true;
    PassManager pm(&context);
    pm.addPass(createRepeatLayers());
    if (failed(pm.run(*module)) || failed(verify(*module)))
      return fail("the layers cannot run in one launch");
    return request.dumpDir.empty() || dump(kLastPhase);
  }

  /// Runs the passes that lead to `phase`.
  bool transform(ModuleOp op, Phase phase) {
    PassManager pm(&context);
    buildPhase(pm, phase, phaseOptions);
    return succeeded(pm.run(op)) ||
           fail("phase '" + phaseName(phase) + "' failed");
  }

  /// Normalizes a function with dynamic dimensions: with several sizes, to see
  /// what depends on them.
  bool normalizeSized() {
    ParameterValues maxima;
    for (BlockArgument argument : function.getArguments())
      if (isa<RankedTensorType>(argument.getType())) {
        dataflow::RuntimeShape shape = dataflow::shapeOf(argument);
        maxima.insert(shape.maxima.begin(), shape.maxima.end());
      }
    std::vector<SizedModule> versions;
    std::vector<OwningOpRef<ModuleOp>> copies;
    for (const ParameterValues &values : probeValues(maxima)) {
      if (!versions.empty())
        copies.push_back(module->clone());
      versions.push_back({values, versions.empty() ? *module : *copies.back()});
    }
    // The copies first: they are of the text before.
    for (const SizedModule &version : llvm::reverse(versions)) {
      phaseOptions.sizes.clear();
      for (const auto &[name, value] : version.values)
        phaseOptions.sizes += (phaseOptions.sizes.empty() ? "" : ",") + name +
                              "=" + std::to_string(value);
      if (!transform(version.module, Phase::Normalized))
        return false;
    }
    if (failed(inferSizes(versions, maxima)) || failed(checkSizes(function)))
      return fail("phase 'normalized' failed");
    // Now all sizes are the largest.
    PassManager pm(&context);
    pm.addNestedPass<func::FuncOp>(createBoundReductions());
    return succeeded(pm.run(*module)) || fail("phase 'normalized' failed");
  }

  static double secondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }

  /// Runs phase `allocated`. Where memories do not fit with the depths of the
  /// strategy that is asked for, it is run again with `conservative`.
  bool allocate() {
    FifoStrategy &strategy = phaseOptions.fifoStrategy;
    if (strategy == FifoStrategy::Conservative)
      return allocateOnce(nullptr);
    OwningOpRef<ModuleOp> before = module->clone();
    std::string misfit;
    if (allocateOnce(&misfit))
      return true;
    if (misfit.empty())
      return false;
    const std::string_view asked = fifoStrategyName(strategy);
    strategy = FifoStrategy::Conservative;
    module = std::move(before);
    function = module->lookupSymbol<func::FuncOp>(designName);
    if (!allocateOnce(nullptr))
      return false;
    strategyFallback = misfit;
    module->emitWarning()
        << "the memories of the design do not fit with the FIFO depths of "
           "strategy '"
        << asked
        << "', so those of 'conservative' are used, which may cost time: "
        << misfit;
    return true;
  }

  /// Keeps apart the seconds of the steps that have entries of their own. A
  /// design whose memories do not fit is an error, or, with `misfit`, its text.
  bool allocateOnce(std::string *misfit) {
    const auto start = std::chrono::steady_clock::now();
    if (!transform(*module, Phase::Allocated))
      return false;
    auto lowerCopy = [&]() -> OwningOpRef<ModuleOp> {
      OwningOpRef<ModuleOp> copy = module->clone();
      if (!transform(*copy, Phase::Stream) || !transform(*copy, Phase::HLS))
        return nullptr;
      return copy;
    };
    FailureOr<AllocationSummary> summary = allocateDesign(
        *module, *device, phaseOptions.fifoStrategy, lowerCopy, misfit);
    if (failed(summary))
      return (misfit && !misfit->empty()) ? false
                                          : fail("phase 'allocated' failed");
    double elapsed = secondsSince(start);
    for (const auto &[step, own] : summary->seconds) {
      seconds.emplace_back(step, own);
      elapsed -= own;
    }
    seconds.emplace_back(phaseName(Phase::Allocated).str(), elapsed);
    allocation = std::move(*summary);
    return true;
  }

  /// DSP blocks of a module of phase hls, as the report will say.
  std::optional<int64_t> countDsp(ModuleOp op) {
    FailureOr<DesignInfo> design = collectDesign(op);
    if (failed(design))
      return std::nullopt;
    return design->resources().dsp;
  }

  /// The most lanes whose design fits the DSP budget. Only the finished design
  /// tells, so each choice is compiled to its end on a copy.
  bool chooseLanes() {
    std::optional<int64_t> least;
    for (int64_t lanes = kMaxLanes; lanes >= 1; lanes /= 2) {
      phaseOptions.maxLanes = lanes;
      OwningOpRef<ModuleOp> trial = module->clone();
      for (Phase phase = Phase::Scheduled;;
           phase = static_cast<Phase>(static_cast<unsigned>(phase) + 1)) {
        if (!transform(*trial, phase))
          return false;
        if (phase == kLastPhase)
          break;
      }
      std::optional<int64_t> dsp = countDsp(*trial);
      if (!dsp)
        return false;
      least = std::min(least.value_or(*dsp), *dsp);
      lanesTried.emplace_back(lanes, *dsp);
      if (*dsp <= *request.dspBudget)
        return true;
    }
    return failBudget("the smallest schedule needs", *least);
  }

  bool checkDsp() {
    std::optional<int64_t> dsp = countDsp(*module);
    if (!dsp)
      return false;
    return *dsp <= *request.dspBudget ||
           failBudget("the given schedules need", *dsp);
  }

  bool failBudget(StringRef what, int64_t dsp) {
    return fail("--dsp-budget: expected a design of at most " +
                llvm::Twine(*request.dspBudget) + " DSP blocks but " + what +
                " " + llvm::Twine(dsp) + " (estimated); raise the budget to " +
                llvm::Twine(dsp));
  }

  /// Verifies the module and keeps what is asked of it: its text, a copy.
  bool keepPhase(Phase phase) {
    if (failed(verify(*module)))
      return fail("phase '" + phaseName(phase) + "' is not valid");
    if (!request.dumpDir.empty() && !dump(phase))
      return false;
    if (request.validate)
      snapshots.emplace_back(phaseName(phase).str(), module->clone());
    // What fusion saves is measured against this phase.
    if (phase == Phase::Normalized)
      unfusedBytes = countUnfusedBytes(function);
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
    return validateDesign(phases, designName, request.seed,
                          request.validateData, errs, validationReport);
  }

  bool takeCsynth() {
    std::string error;
    std::optional<DeviceInfo> device = findDevice(request.target, error);
    return (device &&
            succeeded(importCsynth(*module, request.csynth, *device))) ||
           fail("--csynth: cannot use '" + request.csynth + "'");
  }

  bool finish() {
    if (request.outputDir.empty()) {
      module->print(out);
      out << "\n";
      return true;
    }
    if (request.to != kLastPhase) {
      if (std::error_code code =
              llvm::sys::fs::create_directories(request.outputDir))
        return fail("cannot create '" + request.outputDir +
                    "': " + code.message());
      return writeText(request.outputDir,
                       phaseName(request.to).str() + ".mlir");
    }
    DesignRequest design;
    design.outputDir = request.outputDir;
    design.explain = request.explain;
    design.weights = manifest ? manifest->weights : "";
    describe(design.report);
    return writeDesignDirectory(*module, design, out, errs);
  }

  /// What the report can't read off the design.
  void describe(DesignOptions &report) {
    report.model = designName;
    report.target = request.target;
    report.options = describeOptions();
    report.seed = static_cast<int64_t>(request.seed);
    report.phaseSeconds = seconds;
    report.fusionBudgetBytes = phaseOptions.onchipBudgetBytes;
    report.unfusedBytes = unfusedBytes;
    if (request.from < Phase::Scheduled)
      report.maxLanes = phaseOptions.maxLanes;
    report.lanesTried = lanesTried;
    report.fifoStrategy = fifoStrategyName(phaseOptions.fifoStrategy);
    if (allocation) {
      report.strategyFallback = strategyFallback;
      report.lpSeconds = allocation->lpSeconds;
      report.dies = llvm::json::Value(std::move(allocation->dies));
      report.memories = llvm::json::Value(std::move(allocation->memories));
    }
    for (const auto &[phase, elapsed] : seconds)
      if (phase == phaseName(Phase::Allocated))
        report.allocationSeconds = elapsed;
    // Whatever the depths come from: a compiled design must not deadlock.
    report.requireCertificate = true;
    report.validation = std::move(validationReport);
  }

  /// The options that decide about the design, without paths: the same design
  /// gives the same text everywhere.
  llvm::json::Object describeOptions() {
    llvm::json::Object options{
        {"target", device->name},
        {"function", designName},
        {"compile_from", phaseName(request.from)},
        {"validate", request.validate},
        {"demote_f64", phaseOptions.demoteF64},
        {"onchip_budget_bytes", phaseOptions.onchipBudgetBytes},
        {"dsp_budget", nullptr},
        {"fifo_strategy",
         std::string(fifoStrategyName(request.phases.fifoStrategy))}};
    if (request.dspBudget)
      options["dsp_budget"] = *request.dspBudget;
    return options;
  }

  const CompileRequest &request;
  llvm::raw_ostream &out, &errs;
  PhaseOptions phaseOptions;
  std::optional<DeviceInfo> device;
  MLIRContext context;
  llvm::SourceMgr sources;
  OwningOpRef<ModuleOp> module;
  std::optional<Manifest> manifest;
  func::FuncOp function;
  std::string designName;
  std::optional<int64_t> unfusedBytes;
  /// With a DSP budget: lanes and the DSP blocks that they gave.
  std::vector<std::pair<int64_t, int64_t>> lanesTried;
  std::optional<llvm::json::Value> validationReport;
  /// What phase `allocated` decided, when this compile ran it.
  std::optional<AllocationSummary> allocation;
  /// Why the depths are not of the strategy that was asked for, if so.
  std::string strategyFallback;
  std::vector<std::pair<std::string, double>> seconds;
  std::vector<std::pair<std::string, OwningOpRef<ModuleOp>>> snapshots;
};

} // namespace

bool streamtensor::compile(const CompileRequest &request,
                           llvm::raw_ostream &out, llvm::raw_ostream &errs) {
  return Compilation(request, out, errs).run();
}
