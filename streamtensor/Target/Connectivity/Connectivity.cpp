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
#include "llvm/Support/MathExtras.h"

#include <tuple>

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
  llvm::StringMap<std::pair<int64_t, int64_t>> chosen;
  for (const auto &[bundle, bytes] : order) {
    const int64_t span =
        std::max<int64_t>(1, llvm::divideCeil(bytes, channelBytes));
    // The most bytes and bundles of a channel from `first` on.
    auto load = [&](int64_t first) {
      std::pair<int64_t, int64_t> most = {0, 0};
      for (int64_t channel = first; channel < first + span; ++channel)
        most = std::max(most, {used[channel], count[channel]});
      return most;
    };
    int64_t best = 0;
    for (int64_t first = 1; first + span <= channels; ++first)
      if (load(first) < load(best))
        best = first;
    const int64_t share = llvm::divideCeil(bytes, span);
    if (span > channels || load(best).first + share > channelBytes) {
      error = "expected the arguments of bundle '" + bundle.str() + "', " +
              std::to_string(bytes) + " bytes, to fit " + std::to_string(span) +
              " of " + std::to_string(channels) + " memory channels of " +
              std::to_string(channelBytes) +
              " bytes beside what is there already; use a smaller precision, a "
              "shorter maximal length or a target with more memory";
      return false;
    }
    for (int64_t channel = best; channel < best + span; ++channel) {
      used[channel] += share;
      ++count[channel];
    }
    chosen[bundle] = {best, span};
  }
  for (MemoryPort &port : ports)
    std::tie(port.channel, port.channels) = chosen[port.bundle];
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
    if (port.channel >= 0) {
      os << "sp=" << instance << "." << port.argument << ":HBM["
         << port.channel;
      if (port.channels > 1)
        os << ":" << port.channel + port.channels - 1;
      os << "]\n";
    }
  os << "\n[clock]\ndefaultFreqHz=" << clockMHz << "000000\n";
}
