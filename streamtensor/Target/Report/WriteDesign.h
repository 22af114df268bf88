//===- WriteDesign.h - The output directory of a compile --------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes a design: kernel, interface, report, connectivity and makefile.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_REPORT_WRITEDESIGN_H
#define STREAMTENSOR_TARGET_REPORT_WRITEDESIGN_H

#include "streamtensor/Target/Connectivity/Connectivity.h"
#include "streamtensor/Target/Device/Device.h"
#include "streamtensor/Target/Report/DesignInfo.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <utility>

namespace streamtensor {

/// What a report says besides the facts of the module.
struct DesignOptions {
  std::string model;           ///< name of the input
  std::string target = "u55c"; ///< key of a device (Target/Device)
  llvm::json::Object options;  ///< what the compile was told, without paths
  int64_t seed = 0;
  /// Seconds by phase, in order; left out when empty.
  std::vector<std::pair<std::string, double>> phaseSeconds;
  std::optional<int64_t> fusionBudgetBytes; ///< C_max
  /// Limit of the elements of a token, when the compile chose it; and under a
  /// DSP budget the limits that it tried, each with the DSP blocks it gave.
  std::optional<int64_t> maxLanes;
  std::vector<std::pair<int64_t, int64_t>> lanesTried;
  /// What one kernel per operation writes to memory.
  std::optional<int64_t> unfusedBytes;
  /// The strategy that the depths are of, and, where it is not the one that was
  /// asked for, why.
  std::string fifoStrategy = "normal", strategyFallback;
  /// Wall-clock time of sizing the FIFOs.
  std::optional<double> allocationSeconds;
  /// Of that, the linear programs.
  std::optional<double> lpSeconds;
  /// How tasks were assigned to dies, and arrays and FIFOs to memories, when
  /// this compile did it.
  std::optional<llvm::json::Value> dies, memories;
  /// The certificate of the FIFO depths, when there is one.
  std::optional<llvm::json::Value> certificate;
  /// Whether a design that may deadlock is an error.
  bool requireCertificate = false;
  /// What the timed simulator found, at the largest sizes that a compile can
  /// afford to simulate.
  std::optional<llvm::json::Value> simulation;
  /// By name of FIFO: the most tokens in the simulation.
  llvm::StringMap<int64_t> simulatedPeaks;
  /// What --validate found, when it ran.
  std::optional<llvm::json::Value> validation;
};

/// interface.json (schema in docs/architecture.md): what a host must know.
void writeInterfaceJson(const DesignInfo &design, llvm::StringRef kernelSha256,
                        llvm::raw_ostream &os);

/// report.json: what an engineer wants to know. Every figure that is not
/// counted is labelled.
void writeReportJson(const DesignInfo &design, const DesignOptions &options,
                     const DeviceInfo &device, llvm::StringRef kernelSha256,
                     llvm::raw_ostream &os);

/// Gathers the facts of `module` (phase hls) with the memory channel of each
/// argument on `device`; `ports` are those of the linker's configuration.
mlir::FailureOr<DesignInfo> collectPlacedDesign(mlir::ModuleOp module,
                                                const DeviceInfo &device,
                                                std::vector<MemoryPort> &ports);

/// Writes hls/kernel.cpp, the headers of ours that a vendor's compile needs
/// (hls/include), constants of the program (weights/), interface.json,
/// report.json, network.pn.json, connectivity.cfg and Makefile into
/// `outputDir`, which must exist. Fails, with an error on the operation or the
/// module, when the module has no C++ form, the target is unknown, or a file
/// cannot be written. `summary` receives what people want to know first: where
/// the time goes, what bounds it, resources; at most 24 lines of 100 columns.
llvm::LogicalResult writeDesign(mlir::ModuleOp module,
                                const DesignOptions &options,
                                llvm::StringRef outputDir,
                                std::string *summary = nullptr);

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_REPORT_WRITEDESIGN_H
