//===- RunDesign.h - Runs one design on files -------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a design once: inputs from a safetensors file, results to another, and
// what was counted as JSON.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_RUNDESIGN_H
#define STREAMTENSOR_RUNTIME_RUNDESIGN_H

#include "runtime/Device.h"
#include "streamtensor/Support/Safetensors.h"

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

namespace streamtensor::runtime {

struct RunOptions {
  /// Directory of the design.
  std::string design;
  /// Safetensors files; `inputs` has exactly the arguments that are neither
  /// packed weights nor workspaces nor results, by their names.
  std::string inputs, outputs;
  /// Where to write the statistics; may be empty.
  std::string json = {};
  /// Where to write the values of the model that FIFOs have carried, by the
  /// names of the FIFOs; may be empty.
  std::string values = {};
  /// A JSON file {"weights": {argument: file}} with packed weights that the
  /// design does not have, such as those of a model's layers; may be empty.
  std::string weights = {};
};

/// Reads a list of runs: one JSON object per line with `design`, `inputs`,
/// `outputs` and, if wanted, `json`. Throws Error naming the line.
std::vector<RunOptions> readRunList(const std::string &path);

/// Runs designs, each once or more often, built as one simulation in `folder`.
/// After each run a line goes to `log`: an object with `design` and `error`,
/// which says what went wrong, or null. Throws Error when the designs cannot be
/// built together, and at the end when runs failed.
void runDesigns(Device &device, const std::vector<RunOptions> &runs,
                const std::string &folder, std::ostream &log);

/// Throws Error; nothing is written then.
void runDesign(Device &device, const RunOptions &options);

/// The values of the design's parameters that follow from the shapes. Throws
/// Error that lists every missing and unexpected tensor and every wrong shape
/// and type. `source` names the tensors' origin.
ParameterValues checkInputs(const DesignInterface &design,
                            const TensorMap &tensors,
                            const std::string &source);

/// {"fifos", "dma", "macs", "seconds", "peak_rss_bytes"} of one run; figures
/// that the device did not count are null.
nlohmann::ordered_json statisticsJson(const DesignInterface &design,
                                      const RunStatistics &statistics);

/// Maps the packed file of a weight. Throws Error when it is missing or has
/// another size than the design expects.
BufferRef loadWeight(Device &device, const std::string &path,
                     const ArgumentInfo &argument,
                     const DesignInterface &design);

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_RUNDESIGN_H
