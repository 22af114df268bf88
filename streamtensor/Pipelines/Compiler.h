//===- Compiler.h - from text to a design -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One compile: from the text of a phase to a finished output directory.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_PIPELINES_COMPILER_H
#define STREAMTENSOR_PIPELINES_COMPILER_H

#include "streamtensor/Pipelines/Phases.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace streamtensor {

struct CompileRequest {
  /// Only look the target up; `input` is empty.
  bool checkTarget = false;
  std::string input;
  /// Empty: the text of the last phase goes to standard output.
  std::string outputDir;
  /// Empty: IN.manifest.json, or manifest.json beside an exported module.mlir.
  std::string manifest;
  /// Empty: IN.dims.json where it exists.
  std::string dims;
  /// Empty: the manifest's function, or the only public one.
  std::string function;
  std::string dumpDir;
  std::string target = "u55c";
  Phase from = Phase::Linalg;
  Phase to = kLastPhase;
  bool validate = false;
  /// Safetensors file with inputs and expected results for the validation;
  /// empty: random inputs from `seed`, and the results of mlir-runner.
  std::string validateData;
  uint64_t seed = 0;
  bool explain = false;
  /// Synthesis reports to use instead of estimates; empty for none.
  std::string csynth;
  /// Most DSP blocks of the design, by the report's estimate; the schedule
  /// takes fewer lanes until it fits.
  std::optional<int64_t> dspBudget;
  PhaseOptions phases;
};

/// Runs the phases after `request.from` up to `request.to`, each verified
/// before the next, and writes the design. Progress and errors go to `errs`,
/// texts without an output directory, and a summary of the design with one, to
/// `out`. The output directory appears
/// when it is complete and not before. Returns whether all went well.
bool compile(const CompileRequest &request, llvm::raw_ostream &out,
             llvm::raw_ostream &errs);

} // namespace streamtensor

#endif // STREAMTENSOR_PIPELINES_COMPILER_H
