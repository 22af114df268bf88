//===- DepthCertificate.h - What proves the depths of FIFOs -----*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The witness of a certificate (docs/certificates.md), which a checker verifies
// that shares no code with this: values at which the network is to be executed,
// and how the trip counts of loops are split into parts so that all smaller
// values follow.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_ALLOCATION_DEPTHCERTIFICATE_H
#define STREAMTENSOR_ALLOCATION_DEPTHCERTIFICATE_H

#include "streamtensor/Network/TimedNetwork.h"

#include <map>

namespace streamtensor {

/// So many iterations of a loop; at smaller values the first ones are kept, or
/// the last ones.
struct LoopPart {
  TripCount count;
  bool keepsLast = false;
};

/// A loop that stands for several in a row on the other side of a FIFO: a
/// reader of `past + seq` tokens behind a concatenation of `past` and of `seq`.
struct LoopParts {
  std::string process;
  /// Counted in the order of the text, each loop of a pipeline's nest.
  int64_t loop = 0;
  std::vector<LoopPart> parts;
};

/// Cycles at some values; simulated.
struct CertifiedCycles {
  ParameterValues values;
  int64_t cycles = 0, cyclesUnbounded = 0;
};

struct DepthCertificate {
  int64_t invocations = 3;
  std::vector<ParameterValues> basePoints;
  std::vector<LoopParts> segments;
  /// FIFOs deeper than 2 that hold all their tokens, and what happens with one
  /// token less: "deadlock" or "delay".
  std::map<std::string, std::string> fullDepths;
  std::vector<CertifiedCycles> slowdown;
};

/// From what the end of a network at all values follows, whatever its depths
/// are.
struct CertificateWitness {
  /// The first one has the largest values.
  std::vector<ParameterValues> basePoints;
  std::vector<LoopParts> segments;
};

/// The witness of `network`. Returns nothing and sets `error` where it would
/// need too many base points.
std::optional<CertificateWitness> findWitness(const TimedNetwork &network,
                                              std::string &error);

/// The certificate of `network` with its depths, without cycles. Executes it in
/// program order and in the order of own time at each base point. Returns
/// nothing and sets `error`, the cycle, when it does not end there.
std::optional<DepthCertificate> certifyDepths(const TimedNetwork &network,
                                              CertificateWitness witness,
                                              std::string &error);

/// certificate.json. The hashes are those of the files of the design, in hex.
std::string printCertificate(const TimedNetwork &network,
                             const DepthCertificate &certificate,
                             const std::string &kernelSha256,
                             const std::string &networkSha256);

} // namespace streamtensor

#endif // STREAMTENSOR_ALLOCATION_DEPTHCERTIFICATE_H
