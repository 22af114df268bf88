//===- Certificate.h - What a certificate claims -------------- -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// certificate.json, as docs/certificates.md describes it.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TOOLS_CHECKCERTIFICATE_CERTIFICATE_H
#define STREAMTENSOR_TOOLS_CHECKCERTIFICATE_CERTIFICATE_H

#include "tools/streamtensor-check-certificate/Network.h"

namespace streamtensor::certificate {

/// The parts of one loop, by its number in the program of a process.
struct Segments {
  std::string process;
  int64_t loop = 0;
  Json parts;
};

struct Certificate {
  std::string kernelHash, networkHash;
  std::vector<Parameter> parameters;
  std::map<std::string, int64_t> depths;
  int64_t invocations = 0;
  std::vector<Values> basePoints;
  std::vector<Segments> segments;
  /// Of FIFOs as deep as all their tokens: whether one less deadlocks (or only
  /// delays).
  std::map<std::string, bool> fullDepths;
  /// How many lengths it states a slow-down for.
  size_t numSlowdowns = 0;
};

/// Refuses what is no claim that the checker knows.
Certificate readCertificate(const Json &document, const std::string &path);

/// Sets the parts of the loops of `network`.
void applySegments(const std::vector<Segments> &segments, Network &network);

} // namespace streamtensor::certificate

#endif // STREAMTENSOR_TOOLS_CHECKCERTIFICATE_CERTIFICATE_H
