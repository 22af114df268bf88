//===- Connectivity.h - Memory ports to memory channels ---------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which memory channel each AXI port of a kernel uses, and the configuration
// file that tells the linker so.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_CONNECTIVITY_CONNECTIVITY_H
#define STREAMTENSOR_TARGET_CONNECTIVITY_CONNECTIVITY_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <string>
#include <vector>

namespace streamtensor {

/// An argument of the top function as the linker sees it.
struct MemoryPort {
  std::string argument; ///< its name in C++
  std::string bundle;   ///< arguments of one bundle share an AXI port
  int64_t bytes = 0;    ///< of the memory behind it
  int64_t channel = -1; ///< filled by assignChannels; -1: the linker decides
  int64_t channels = 1; ///< how many neighbours of it the memory spans
};

/// Gives every bundle a memory channel: the largest first, each to the channel
/// with the fewest bytes so far (the lowest number among equals), so that the
/// traffic of weights spreads. Arguments of one bundle get one channel, or,
/// with more than `channelBytes`, the emptiest neighbours that hold them: the
/// memory of neighbours is contiguous (UG1393, `sp=kernel.port:HBM[0:3]`).
/// Returns false, and the cause in `error`, when there are no such channels.
bool assignChannels(std::vector<MemoryPort> &ports, int64_t channels,
                    int64_t channelBytes, std::string &error);

/// Writes the configuration of v++'s linker for one instance of `kernel`.
/// `die` is where the instance goes; empty leaves it to the linker.
void writeConnectivity(llvm::StringRef kernel,
                       const std::vector<MemoryPort> &ports,
                       llvm::StringRef die, int64_t clockMHz,
                       llvm::raw_ostream &os);

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_CONNECTIVITY_CONNECTIVITY_H
