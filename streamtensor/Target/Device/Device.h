//===- Device.h - Facts about boards ----------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Target descriptions. Each is a JSON file of this folder in which every fact
// has a source; the files are compiled into the library.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_DEVICE_DEVICE_H
#define STREAMTENSOR_TARGET_DEVICE_DEVICE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace streamtensor {

/// What a design may use, of a device or of one die of it.
struct DeviceResources {
  int64_t lut = 0, ff = 0, bram36 = 0, uram = 0, dsp = 0;
};

/// A die (super logic region).
struct DieInfo {
  std::string name;
  DeviceResources resources;
};

/// A board.
struct DeviceInfo {
  std::string name;  ///< the key: "u55c"
  std::string title; ///< "Alveo U55C"
  std::string part;
  int64_t clockMHz = 0; ///< a clock that designs are planned for
  DeviceResources resources;
  std::vector<DieInfo> dies;
  /// "HBM": the ports of a design are spread over `memoryChannels`. "DDR": the
  /// linker places them.
  std::string memoryKind;
  int64_t memoryChannels = 0;
  int64_t channelBytes = 0;
  double peakGigabytesPerSecond = 0; ///< of all channels together, 10^9 bytes
  double memoryEfficiency = 0;       ///< part of the peak that streams reach
  int64_t memoryLatencyCycles = 0;   ///< from a request to its first beat
  double launchMicroseconds = 0;     ///< start and end of a kernel by the host
  int64_t maxPorts = 0;              ///< AXI ports that a kernel may have
  std::string memoryDie;             ///< where the memory ports are
  double powerWatts = 0;

  /// Bytes of on-chip block and ultra memory.
  int64_t onChipBytes() const {
    // A BRAM36 holds 36 kbit, an URAM block 288 kbit.
    return resources.bram36 * 36 * 1024 / 8 + resources.uram * 288 * 1024 / 8;
  }
};

/// Keys of all devices, in the order of the documentation.
std::vector<std::string> deviceNames();

/// The device called `name`, or the one that the file `name` (which ends in
/// .json) describes. Nothing, and what is known or wrong in `error`, when there
/// is none.
std::optional<DeviceInfo> findDevice(llvm::StringRef name, std::string &error);

/// Reads a description. Nothing, and the cause in `error`, for malformed JSON,
/// a missing or unknown key, a wrong type, a number that is no hardware's, a
/// fact without a source, or a memory die that is not among the dies.
std::optional<DeviceInfo> parseDevice(llvm::StringRef json, std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_DEVICE_DEVICE_H
