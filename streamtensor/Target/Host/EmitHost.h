//===- EmitHost.h - The host program of a design ----------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes host/main.cpp: C++17 over XRT that runs one design on a board, from a
// safetensors file to another.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_HOST_EMITHOST_H
#define STREAMTENSOR_TARGET_HOST_EMITHOST_H

#include "streamtensor/Support/TokenOrder.h"

#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace streamtensor {

/// Sizes below this are those that a buffer of XRT can have: those of 4 GB and
/// more are not supported (UG1393; XRT issue 6131).
inline constexpr int64_t kXrtBufferLimit = int64_t(1) << 32;

/// A memory argument of the kernel as its host sees it.
struct HostArgument {
  std::string name;     ///< of the tensor in files: "arg0"
  std::string variable; ///< its name in C++, different from all others
  std::string role;     ///< input, weight, cache, mask, position, output or
                        ///< workspace
  std::string dtype;    ///< as in safetensors: "F32"
  int64_t elementBytes = 0;
  std::vector<int64_t> shape; ///< the largest
  /// The sizes as expressions of run-time parameters; empty for constants.
  std::vector<std::string> dims;
  std::vector<int64_t> bufferShape;  ///< of the memory, at least `shape`
  int64_t bytes = 0;                 ///< of the memory
  std::optional<TokenOrder> packing; ///< over `packedShape`
  std::vector<int64_t> packedShape;
  std::string file; ///< of a packed weight, relative to the design
};

/// A size that is known at run time, from `smallest` to `largest`.
struct HostParameter {
  std::string name;
  int64_t smallest = 0, largest = 0;
};

struct HostDesign {
  std::string function;
  std::string kernelSha256; ///< of hls/kernel.cpp
  std::vector<HostArgument> arguments;
  std::vector<HostParameter> parameters; ///< behind the arguments
};

/// The text of host/st_host.h, which main.cpp includes.
extern const char *const kHostHeader;

/// Writes main.cpp. The size of a parameter is computed from the first
/// dimension of an input that decides it; one that no input decides becomes an
/// option of the program. Returns false, and the cause in `error`, when an
/// argument is too large for a buffer of XRT or a size cannot be read.
bool emitHost(const HostDesign &design, llvm::raw_ostream &os,
              std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_HOST_EMITHOST_H
