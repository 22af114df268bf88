//===- KernelBuild.h - Builds the simulation of a kernel --------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles exactly the kernel.cpp of a design for the CPU. The result is kept
// in the design's directory csim/ under a hash of everything it depends on, so
// it is built once. Many small kernels can be built as one simulation, which
// costs a fraction of building each.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_KERNELBUILD_H
#define STREAMTENSOR_RUNTIME_KERNELBUILD_H

#include "runtime/DesignInterface.h"

#include <functional>
#include <string>
#include <vector>

namespace streamtensor::runtime {

/// The host compiler and its options.
struct HostCompiler {
  /// Absolute path of the program.
  std::string path;
  std::vector<std::string> flags;
  /// The folder of the simulation's headers.
  std::string includeDirectory;

  /// The compiler that the variable STREAMTENSOR_CXX names, else the first one
  /// installed of clang++-22, g++, clang++, c++; headers from the variable
  /// STREAMTENSOR_RUNTIME_INCLUDE, else of this build; the flags in
  /// STREAMTENSOR_CXXFLAGS follow ours. Throws Error when there is none.
  static HostCompiler find();
};

/// The symbol that runs kernel `index` of a simulation of several.
std::string runSymbol(size_t index);

/// Returns the path of the simulation of `designs` in `folder`, and builds it
/// first when it does not exist yet, after telling `progress`. Several threads
/// and processes may do so at once. Throws Error when a kernel.cpp is not the
/// one that its interface.json describes, when two kernels have the same
/// function name, or when they do not compile (with the first lines of the
/// compiler's messages).
std::string
buildKernels(const std::vector<DesignInterface> &designs,
             const std::string &folder, const HostCompiler &compiler,
             const std::function<void(const std::string &)> &progress);

/// The same for one design, in its own directory csim/.
std::string
buildKernel(const DesignInterface &design, const HostCompiler &compiler,
            const std::function<void(const std::string &)> &progress);

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_KERNELBUILD_H
