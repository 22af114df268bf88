//===- Phases.h - the named phases -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The phases of a compile by name, and the passes between them. One can stop at
// a phase, dump all of them, and go on from the text of one.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_PIPELINES_PHASES_H
#define STREAMTENSOR_PIPELINES_PHASES_H

#include "streamtensor/Allocation/FifoStrategy.h"

#include "mlir/Pass/PassManager.h"

#include <optional>
#include <string>

namespace streamtensor {

/// In the order of a compile; the text of each is a verified module.
enum class Phase {
  Linalg,
  Normalized,
  Scheduled,
  Dataflow,
  Fused,
  Packed,
  Materialized,
  Vectorized,
  Allocated,
  Stream,
  HLS
};

inline constexpr Phase kLastPhase = Phase::HLS;

/// "linalg", "normalized", ...
llvm::StringRef phaseName(Phase phase);
std::optional<Phase> parsePhase(llvm::StringRef name);
/// All names, in order, for messages: "linalg, normalized, ...".
std::string phaseNames();

/// The limit of lanes of 32 bits when nothing else limits them: a memory port
/// delivers 512 bits at a time (UG1399, m_axi).
inline constexpr int64_t kMaxLanes = 16;

/// What the passes may be told.
struct PhaseOptions {
  /// Compute in f32 what the model computes in f64.
  bool demoteF64 = true;
  /// Values of the parameters that dynamic dimensions depend on, for the phase
  /// normalized: "past=3,seq=8".
  std::string sizes;
  /// On-chip memory of one group of fused kernels, in bytes; 0: no fusion.
  int64_t onchipBudgetBytes = 0;
  /// Most elements of a token, which are computed at once.
  int64_t maxLanes = kMaxLanes;
  FifoStrategy fifoStrategy = FifoStrategy::Normal;
};

/// Adds to `pm` (on a module) the passes that lead from the phase before
/// `phase` to `phase`. Nothing for `linalg`.
void buildPhase(mlir::OpPassManager &pm, Phase phase,
                const PhaseOptions &options);

} // namespace streamtensor

#endif // STREAMTENSOR_PIPELINES_PHASES_H
