//===- Connectivity.cpp - Memory ports to memory channels -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Assignment of ports to channels, and connectivity.cfg.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Connectivity/Connectivity.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

using namespace streamtensor;

bool streamtensor::assignChannels(std::vector<MemoryPort> &ports,
                                  int64_t channels, int64_t channelBytes,
                                  std::string &error) {
  llvm::MapVector<llvm::StringRef, int64_t> bundles;
  for (const MemoryPort &port : ports)
    bundles[port.bundle] += port.bytes;
  llvm::SmallVector<std::pair<llvm::StringRef, int64_t>> order(bundles.begin(),
                                                               bundles.end());
  llvm::stable_sort(order, [](const auto &left, const auto &right) {
    return left.second > right.second;
  });
  std::vector<int64_t> used(channels, 0), count(channels, 0);
  llvm::StringMap<int64_t> chosen;
  for (const auto &[bundle, bytes] : order) {
    int64_t best = 0;
    for (int64_t channel = 1; channel < channels; ++channel)
      if (std::pair(used[channel], count[channel]) <
          std::pair(used[best], count[best]))
        best = channel;
    used[best] += bytes;
    ++count[best];
    if (used[best] > channelBytes) {
      error = "expected the arguments of bundle '" + bundle.str() +
              "' to fit a memory channel of " + std::to_string(channelBytes) +
              " bytes but got " + std::to_string(used[best]) +
              "; split the argument or use a target with larger channels";
      return false;
    }
    chosen[bundle] = best;
  }
  for (MemoryPort &port : ports)
    port.channel = chosen[port.bundle];
  return true;
}

void streamtensor::writeConnectivity(llvm::StringRef kernel,
                                     const std::vector<MemoryPort> &ports,
                                     llvm::StringRef die, int64_t clockMHz,
                                     llvm::raw_ostream &os) {
  std::string instance = kernel.str() + "_1";
  os << "# Written by streamtensor-compile: one instance of '" << kernel
     << "', and the memory channel of each argument.\n"
     << "[connectivity]\nnk=" << kernel << ":1:" << instance << "\n";
  if (!die.empty())
    os << "slr=" << instance << ":" << die << "\n";
  for (const MemoryPort &port : ports)
    if (port.channel >= 0)
      os << "sp=" << instance << "." << port.argument << ":HBM[" << port.channel
         << "]\n";
  os << "\n[clock]\ndefaultFreqHz=" << clockMHz << "000000\n";
}
