//===- ProfileJson.h - Profiles of loops and memories in JSON ---*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What streamtensor-estimate reads and prints:
//
//   {"loops": [{"name": "...", "operations": {"fmul": 2}, "cells": 1,
//               "accumulates": true, "distance": 0, "reads_arrays": false,
//               "port_accesses": 1}],
//    "fifos": [{"depth": 64, "bits": 32}],
//    "arrays": [{"words": 64, "bits": 32, "banks": 1, "ping_pong": false}]}
//
// The answer has the same lists in the same order.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ANALYSIS_ESTIMATE_PROFILEJSON_H
#define STREAMTENSOR_ANALYSIS_ESTIMATE_PROFILEJSON_H

#include "streamtensor/Analysis/Estimate/LoopProfile.h"

#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace streamtensor {

/// Reads one loop. Nothing, and the cause in `error`, for a missing or unknown
/// key, a wrong type, or an operator that does not exist.
std::optional<LoopProfile> parseProfile(const llvm::json::Object &loop,
                                        std::string &error);

/// The estimates of everything in `text`, as JSON text. Nothing, and the cause
/// in `error`, for malformed input.
std::optional<std::string> estimateProfiles(llvm::StringRef text,
                                            std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_ANALYSIS_ESTIMATE_PROFILEJSON_H
