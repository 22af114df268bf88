//===- RunTimeSizes.h - Parameters from the shapes of tensors ---*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A design of run-time sizes is told its parameters; a host knows tensors. This
// finds the values of the parameters from the shapes of the tensors, and checks
// that all shapes fit.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_RUNTIMESIZES_H
#define STREAMTENSOR_RUNTIME_RUNTIMESIZES_H

#include "runtime/DesignInterface.h"

#include <string>
#include <vector>

namespace streamtensor::runtime {

/// The shape that an argument has at run time, and its type: "32x8 F32", or
/// "[1, seq, 64] F32 with seq from 1 to 128".
std::string describeArgument(const DesignInterface &design,
                             const ArgumentInfo &argument);

/// Finds the value of each parameter of `design` from the shapes in `tensors`:
/// a size with one unknown parameter that is a multiple of it plus a constant
/// gives its value. Adds to `problems` every argument whose tensor is missing
/// or does not fit, two arguments that disagree about a parameter, and
/// parameters that no shape tells. The values are complete when nothing was
/// added.
ParameterValues findParameters(const DesignInterface &design,
                               const TensorMap &tensors,
                               std::vector<std::string> &problems);

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_RUNTIMESIZES_H
