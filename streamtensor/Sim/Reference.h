//===- Reference.h - Execution by MLIR's own tools --------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The independent reference of all validation: the input Linalg, lowered by
// mlir-opt and executed by mlir-runner as child processes. None of our passes
// and none of the interpreter takes part.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_REFERENCE_H
#define STREAMTENSOR_SIM_REFERENCE_H

#include "streamtensor/Sim/HostTensor.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"

#include <string>
#include <vector>

namespace streamtensor {

/// Where the tools of the reference are. The defaults are those of the build.
struct ReferenceTools {
  ReferenceTools();

  std::string mlirOpt, mlirRunner;
  /// Shared libraries for mlir-runner.
  std::vector<std::string> libraries;
};

/// Runs `function` of `module` (Linalg on tensors, as imported) on `inputs` and
/// returns its results. Where a size of an argument is dynamic any size may be
/// given; the results have the sizes that the program computes, and a
/// `cf.assert` that does not hold ends it. `module` is not changed. On failure
/// `error` says which tool failed and what it printed first.
mlir::FailureOr<std::vector<HostTensor>>
runReference(mlir::ModuleOp module, llvm::StringRef function,
             llvm::ArrayRef<HostTensor> inputs, std::string &error,
             const ReferenceTools &tools = ReferenceTools());

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_REFERENCE_H
