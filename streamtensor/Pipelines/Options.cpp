//===- Options.cpp - command line of the compiler -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Options of streamtensor-compile.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/Options.h"

#include "streamtensor/Target/Device/Device.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

using namespace streamtensor;
namespace cl = llvm::cl;

static cl::OptionCategory category("streamtensor-compile options");
static cl::opt<std::string> input(cl::Positional, cl::desc("IN.mlir"),
                                  cl::cat(category));
static cl::opt<std::string> target("target",
                                   cl::desc("device that the design is for"),
                                   cl::init("u55c"), cl::cat(category));
static cl::opt<bool> checkTarget(
    "check-target",
    cl::desc("only look --target up and check the file that it names; there is "
             "no IN.mlir"),
    cl::cat(category));
static cl::opt<std::string>
    outputDir("output-dir",
              cl::desc("where the design goes; without it the text of the last "
                       "phase is printed"),
              cl::value_desc("DIR"), cl::cat(category));
static cl::opt<std::string>
    manifest("manifest",
             cl::desc("roles of the arguments (default: IN.manifest.json, or "
                      "manifest.json beside module.mlir)"),
             cl::value_desc("FILE"), cl::cat(category));
static cl::opt<std::string>
    dims("dims",
         cl::desc("limits of dynamic dimensions (default: IN.dims.json)"),
         cl::value_desc("FILE"), cl::cat(category));
static cl::opt<std::string>
    function("function",
             cl::desc("function to compile, when there are several"),
             cl::value_desc("NAME"), cl::cat(category));
static cl::opt<std::string>
    dumpPhases("dump-phases", cl::desc("write the text of every phase to DIR"),
               cl::value_desc("DIR"), cl::cat(category));
static cl::opt<bool>
    validate("validate",
             cl::desc("run random data through every phase and compare"),
             cl::cat(category));
static cl::opt<std::string> validateData(
    "validate-data",
    cl::desc("validate with the inputs arg0, arg1 ... of a safetensors file "
             "and compare with its result0, result1 ..."),
    cl::value_desc("FILE"), cl::cat(category));
static cl::opt<uint64_t> seed("seed", cl::desc("seed of the random data"),
                              cl::init(0), cl::cat(category));
static cl::opt<std::string>
    compileFrom("compile-from", cl::desc("phase that the input is the text of"),
                cl::value_desc("PHASE"), cl::init("linalg"), cl::cat(category));
static cl::opt<std::string> compileTo("compile-to",
                                      cl::desc("phase to stop at"),
                                      cl::value_desc("PHASE"), cl::init("hls"),
                                      cl::cat(category));
static cl::opt<int64_t> onchipBudget(
    "onchip-budget-bytes",
    cl::desc("on-chip memory for converters and accumulators of one group of "
             "fused kernels (default: 3/4 of the target's; 0: no fusion)"),
    cl::init(-1), cl::cat(category));
static cl::opt<int64_t> dspBudget(
    "dsp-budget",
    cl::desc("most DSP blocks of the design, estimated: fewer elements are "
             "computed at once until it fits (default: no limit)"),
    cl::value_desc("N"), cl::init(-1), cl::cat(category));
static cl::opt<std::string> fifoStrategy(
    "fifo-strategy",
    cl::desc("depth of a FIFO that needs none to end: normal (2 tokens, 32 "
             "behind a load, which runs ahead), conservative (2: no lead, all "
             "tasks at the rate of the slowest), min (1); what a design needs "
             "is the same under all"),
    cl::value_desc("STRATEGY"), cl::init("normal"), cl::cat(category));
static cl::opt<std::string> csynth(
    "csynth",
    cl::desc("synthesis reports of this design (csynth.xml, NAME_csynth.xml, "
             "or a directory of them): their figures instead of estimates"),
    cl::value_desc("FILE_OR_DIR"), cl::cat(category));
static cl::opt<bool> keepF64("keep-f64",
                             cl::desc("do not turn f64 arithmetic into f32"),
                             cl::cat(category));
static cl::opt<bool> explain("explain",
                             cl::desc("say why each edge is what it is"),
                             cl::cat(category));

/// Looks `name` up; complains about an unknown one.
static bool phaseOf(llvm::StringRef option, llvm::StringRef name, Phase &phase,
                    llvm::raw_ostream &errs) {
  if (std::optional<Phase> found = parsePhase(name)) {
    phase = *found;
    return true;
  }
  errs << "error: --" << option << ": unknown phase '" << name
       << "'; expected one of " << phaseNames() << "\n";
  return false;
}

bool streamtensor::parseCompileOptions(int argc, char **argv,
                                       CompileRequest &request,
                                       llvm::raw_ostream &errs) {
  cl::HideUnrelatedOptions(category);
  static const std::string targets =
      "device that the design is for: " + llvm::join(deviceNames(), ", ") +
      ", or a file .json that describes one (default: " + target.getValue() +
      ")";
  target.setDescription(targets);
  static const std::string phases =
      std::string("phase that the input is the text "
                  "of: ") +
      phaseNames();
  compileFrom.setDescription(phases);
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "StreamTensor compiler: Linalg to a dataflow accelerator\n", &errs))
    return false;
  request.checkTarget = checkTarget;
  if (checkTarget != input.empty()) {
    errs << (checkTarget ? "error: --check-target: expected no IN.mlir\n"
                         : "error: expected IN.mlir\n");
    return false;
  }
  request.input = input;
  request.outputDir = outputDir;
  request.manifest = manifest;
  request.dims = dims;
  request.function = function;
  request.dumpDir = dumpPhases;
  request.target = target;
  request.validate = validate || !validateData.empty();
  request.validateData = validateData;
  request.seed = seed;
  request.explain = explain;
  request.csynth = csynth;
  request.phases.demoteF64 = !keepF64;
  request.phases.onchipBudgetBytes = onchipBudget;
  if (dspBudget >= 0)
    request.dspBudget = dspBudget;
  std::optional<FifoStrategy> strategy = parseFifoStrategy(fifoStrategy);
  if (!strategy) {
    errs << "error: --fifo-strategy: expected one of " << kFifoStrategyNames
         << " but got '" << fifoStrategy << "'\n";
    return false;
  }
  request.phases.fifoStrategy = *strategy;
  if (!phaseOf("compile-from", compileFrom, request.from, errs) ||
      !phaseOf("compile-to", compileTo, request.to, errs))
    return false;
  if (request.to < request.from) {
    errs << "error: --compile-to=" << compileTo
         << " comes before --compile-from=" << compileFrom << "\n";
    return false;
  }
  if (!request.csynth.empty() && request.to != kLastPhase) {
    errs << "error: --csynth: expected a compile to phase '"
         << phaseName(kLastPhase) << "' but got --compile-to=" << compileTo
         << "\n";
    return false;
  }
  if (onchipBudget < -1) {
    errs << "error: --onchip-budget-bytes: expected a size in bytes\n";
    return false;
  }
  if (dspBudget < -1) {
    errs << "error: --dsp-budget: expected a number of DSP blocks\n";
    return false;
  }
  return true;
}
