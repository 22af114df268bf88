//===- CsynthReport.h - Synthesis reports of Vitis HLS ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads csynth.xml (all modules of a design and their hierarchy) and
// NAME_csynth.xml (one module), as Vitis HLS 2020 to 2023 write them into
// solution/syn/report.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_ESTIMATE_CSYNTHREPORT_H
#define STREAMTENSOR_ANALYSIS_ESTIMATE_CSYNTHREPORT_H

#include "streamtensor/Analysis/Estimate/Resources.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace streamtensor {

/// A loop of a module. Loops that are flattened are one, named by all of their
/// labels: "load0_load1".
struct CsynthLoop {
  std::string name;
  /// The largest trip count; nothing where the report does not know it.
  std::optional<int64_t> trips;
  /// Of pipelined loops.
  std::optional<int64_t> interval, depth;
};

/// A function in hardware.
struct CsynthModule {
  std::string name;
  /// The worst case; nothing where the report does not know it.
  std::optional<int64_t> latency, interval;
  std::vector<CsynthLoop> loops;
  /// Those of modules inside included.
  ResourceUse resources;
};

/// A file.
struct CsynthReport {
  std::string top;    ///< the module that was synthesized
  std::string part;   ///< "xcu280-fsvh2892-2L-e"
  double clockNs = 0; ///< the target, without its uncertainty
  /// All modules of the design stand in it.
  bool isWholeDesign = false;
  std::vector<CsynthModule> modules;
  /// {module, module inside of it}
  std::vector<std::pair<std::string, std::string>> instances;

  const CsynthModule *find(llvm::StringRef name) const;
};

/// Reads a report. Nothing, and the cause in `error`, for text that is no XML
/// or no report, and for figures that are missing or no numbers.
std::optional<CsynthReport> parseCsynthReport(llvm::StringRef text,
                                              std::string &error);

/// Reads a file; or of a directory its csynth.xml, else all its *_csynth.xml,
/// which must be of one part and clock, as one report of a whole design.
/// Nothing, and the cause with its file in `error`, when that is not possible.
std::optional<CsynthReport> readCsynthReports(llvm::StringRef path,
                                              std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_ESTIMATE_CSYNTHREPORT_H
