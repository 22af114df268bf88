//===- System.cpp - Files and process facts -------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// POSIX implementation.
//
//===----------------------------------------------------------------------===//

#include "runtime/System.h"

#include "runtime/Error.h"
#include "streamtensor/Support/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace streamtensor;
namespace fs = std::filesystem;

std::string runtime::readTextFile(const std::string &path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    throw Error("expected a file but got the directory '" + path + "'");
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error("cannot open '" + path + "': " + std::strerror(errno));
  std::ostringstream text;
  text << file.rdbuf();
  if (file.bad())
    throw Error("cannot read '" + path + "': " + std::strerror(errno));
  return std::move(text).str();
}

void runtime::writeFileAtomically(const std::string &path,
                                  std::string_view text) {
  std::string error;
  if (!streamtensor::writeFileAtomically(path, text, error))
    throw Error(error);
}

/// A figure of /proc/self/status, which counts in kB. (getrusage would report
/// the peak of the parent that started this program.)
static uint64_t statusBytes(const std::string &key) {
  std::ifstream file("/proc/self/status");
  std::string line;
  while (std::getline(file, line))
    if (line.compare(0, key.size(), key) == 0)
      return std::stoull(line.substr(key.size())) * 1024;
  return 0;
}

uint64_t runtime::residentBytes() { return statusBytes("VmRSS:"); }

uint64_t runtime::peakResidentBytes() {
  // The kernel brings its peak up to date only now and then.
  return std::max(statusBytes("VmHWM:"), residentBytes());
}

std::string runtime::resolvePath(const std::string &base,
                                 const std::string &path) {
  return (fs::path(base) / path).string();
}
