//===- System.h - Files and process facts -----------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The few services of the operating system that the runtime needs: whole
// files, atomic replacement of files, memory figures of the process.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_SYSTEM_H
#define STREAMTENSOR_RUNTIME_SYSTEM_H

#include <cstdint>
#include <string>
#include <string_view>

namespace streamtensor::runtime {

/// The contents of a file. Throws Error when it cannot be read.
std::string readTextFile(const std::string &path);

/// Writes a file so that `path` is never half-written. Throws Error, for
/// instance on a full disk.
void writeFileAtomically(const std::string &path, std::string_view text);

/// Resident memory of this process in bytes, now and at its highest.
uint64_t residentBytes();
uint64_t peakResidentBytes();

/// `path`, relative to the folder `base` unless it is absolute.
std::string resolvePath(const std::string &base, const std::string &path);

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_SYSTEM_H
