//===- RandomInputs.h - Random data for validation --------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Seeded inputs that exercise a model without leaving its range.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_RANDOMINPUTS_H
#define STREAMTENSOR_SIM_RANDOMINPUTS_H

#include "streamtensor/Dialect/Dataflow/IR/RuntimeSizes.h"
#include "streamtensor/Sim/HostTensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

namespace streamtensor {

/// Inputs for `function`, whose arguments are tensors, in these shapes. The
/// attribute `dataflow.role` of an argument decides what its values look like:
///
/// - weight: uniform of variance 1 / (last size), of rank 1 around 1
/// - mask: 0 and the lowest float (or true and false), causal with further
///   holes, and in each row at least the last allowed position open
/// - position: uniform in [-1, 1)
/// - otherwise: uniform of variance 1; matrices as weights when there is no
///   role
///
/// Integers are -8 to 7 (I8) or 0 to 7. The same seed gives the same values on
/// every machine. Fails when an argument cannot be filled, with the cause in
/// `error`.
mlir::FailureOr<std::vector<HostTensor>>
makeRandomInputs(mlir::func::FuncOp function,
                 llvm::ArrayRef<std::vector<int64_t>> shapes, uint64_t seed,
                 std::string &error);
/// The same for static tensors.
mlir::FailureOr<std::vector<HostTensor>>
makeRandomInputs(mlir::func::FuncOp function, uint64_t seed,
                 std::string &error);

/// A value for each parameter, uniform strictly between its smallest and its
/// largest one where there is such a value, else one of the two. The same seed
/// gives the same values on every machine.
ParameterValues
makeRandomParameters(llvm::ArrayRef<dataflow::ParameterRange> parameters,
                     uint64_t seed);

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_RANDOMINPUTS_H
