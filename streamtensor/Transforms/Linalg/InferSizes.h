//===- InferSizes.h - how sizes depend on parameters ------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Normalization works on static tensors. A module with dynamic dimensions is
// normalized several times, each time with other sizes, and what comes out is
// compared: it must be the same program, in which some sizes differ, and these
// must be affine expressions of the parameters. Everything else that depends on
// a size (a mean over a dynamic dimension divides by it) shows as a difference
// and is refused.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TRANSFORMS_LINALG_INFERSIZES_H
#define STREAMTENSOR_TRANSFORMS_LINALG_INFERSIZES_H

#include "streamtensor/Support/TripCount.h"

#include "mlir/IR/BuiltinOps.h"

#include <vector>

namespace streamtensor {

/// A module that was normalized with these sizes.
struct SizedModule {
  ParameterValues values;
  mlir::ModuleOp module;
};

/// The values with which a module with the parameters of `maxima` has to be
/// normalized: sizes that nothing else has, none below its maximum, then one
/// set per parameter in which it is another, and one more as a check.
std::vector<ParameterValues> probeValues(const ParameterValues &maxima);

/// Gives the tensors in the first module the sizes that they have at `maxima`,
/// and says by `dataflow.dims` how sizes depend on the parameters: on the
/// arguments and results of its functions and on every operation whose result
/// is a tensor of run-time size. `modules` are those that belong to
/// `probeValues`, in this order. Fails with an error on the first operation of
/// the first module that depends on a size in another way.
mlir::LogicalResult inferSizes(mlir::ArrayRef<SizedModule> modules,
                               const ParameterValues &maxima);

} // namespace streamtensor

#endif // STREAMTENSOR_TRANSFORMS_LINALG_INFERSIZES_H
