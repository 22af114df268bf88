//===- ValidatePhases.h - Every phase against the reference -----*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs random data through the modules of all phases, compares them with MLIR's
// own execution of the input, and finds the first task and token that differ.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_VALIDATEPHASES_H
#define STREAMTENSOR_SIM_VALIDATEPHASES_H

#include "streamtensor/Sim/Interpreter.h"
#include "streamtensor/Sim/Reference.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace streamtensor {

/// One module of a compile. The name is the phase's: "dataflow", "fused" ...
struct PhaseModule {
  std::string name;
  mlir::ModuleOp module;
};

/// Where values part. Indices count from 0.
struct ValueDifference {
  /// The task, or empty for a result of the function.
  std::string task;
  std::string fifo;
  /// The result's index when there is no task.
  int64_t result = 0;
  /// Token (0 for a result or an operation) and element inside it.
  int64_t token = 0, element = 0;
  double expected = 0, actual = 0;

  /// "task 'converter_3' token 17 element 2: expected 0.5 but got 0.25".
  std::string str() const;
};

/// One run of one phase.
struct PhaseValidation {
  std::string name;
  /// The values of the run-time parameters; empty without any.
  ParameterValues parameters;
  bool ok = false;
  /// Why the phase could not be executed; empty when it was.
  std::string error;
  /// Largest |actual - reference| over all results, and the largest of its
  /// ratio to the tolerance (at most 1 when ok).
  double maxAbsError = 0, toleranceRatio = 0;
  /// The results equal those of the phase before at these values, bit for bit.
  bool equalToPrevious = false;
  /// Set when not ok and the phase was executed.
  std::optional<ValueDifference> difference;
  double seconds = 0;
};

struct ValidationReport {
  uint64_t seed = 0;
  /// Why there is no reference; empty when there is.
  std::string error;
  double referenceSeconds = 0;
  /// In the order of the runs: the phases in order, for one choice of values
  /// after the other.
  std::vector<PhaseValidation> phases;

  bool ok() const;
  llvm::json::Value toJson() const;
};

struct ValidateOptions {
  /// The function to run; empty: the only public one.
  std::string function;
  uint64_t seed = 0;
  /// A safetensors file with inputs arg0, arg1 ... and the results that are
  /// expected of them, result0, result1 ... (PyTorch's, say); the shapes of the
  /// inputs give the values of run-time parameters. Empty: random inputs, and
  /// the results of the reference tools.
  std::string data;
  /// |actual - expected| <= tolerance x (|expected| + max |tensor|) for F32;
  /// see `toleranceOf` for the others.
  double tolerance = 1e-4;
  /// Bytes of tokens kept per FIFO to find differences.
  size_t recordLimitBytes = size_t(16) << 20;
  ReferenceTools tools;
};

/// Runs the same inputs through `input` (phase linalg, by the reference, unless
/// `options.data` has its results) and through each of `phases` in order; stops
/// at the first phase that fails. Prints one line per phase to `os`, and for
/// the phase that fails what differs first.
///
/// A function of run-time size (`dataflow.parameters`) is run at several values
/// of its parameters: all at the largest size for which there is memory (phases
/// without kernels, which know this size only; the others too when it is the
/// largest value), all largest, all smallest, and one choice between by
/// `options.seed` (`makeRandomParameters`). Inputs lie in the corner of tensors
/// of the largest size, and poison outside; results are cut out of the corner.
mlir::LogicalResult validatePhases(llvm::ArrayRef<PhaseModule> phases,
                                   mlir::ModuleOp input,
                                   const ValidateOptions &options,
                                   llvm::raw_ostream &os,
                                   ValidationReport *report = nullptr);

/// The tolerance for results of `kind`, given that for F32: 0 for integers, and
/// at least five units in the last place for F16 and BF16, because the order of
/// a sum and the number of its roundings are free (2e-2 for BF16).
double toleranceOf(ElementKind kind, double tolerance);

/// The first difference of two tensors beyond `toleranceOf` their kind, or
/// nothing; sets the figures of `phase` when given. Tensors of different shape
/// differ at 0.
std::optional<ValueDifference> compareTensors(const HostTensor &actual,
                                              const HostTensor &expected,
                                              double tolerance,
                                              PhaseValidation *phase = nullptr);

/// Finds the task that is to blame for wrong results of a run: one whose
/// tokens are wrong although those that it read are right. What is right is
/// known from the phase before (`previous`: tokens of the same task, or the
/// operation that became the task), from the function's `inputs` for loads, and
/// from what a task that only moves data read.
std::optional<ValueDifference>
findFirstDifference(const Recording &actual, const Recording &previous,
                    llvm::ArrayRef<HostTensor> inputs, double tolerance);

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_VALIDATEPHASES_H
