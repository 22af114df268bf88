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

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

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

void runtime::replaceFile(
    const std::string &path,
    const std::function<void(const std::string &)> &write) {
  const std::string temporary = path + ".tmp" + std::to_string(getpid());
  std::error_code ignored;
  try {
    write(temporary);
  } catch (...) {
    fs::remove(temporary, ignored);
    throw;
  }
  std::error_code error;
  fs::rename(temporary, path, error);
  if (error) {
    fs::remove(temporary, ignored);
    throw Error("cannot write '" + path + "': " + error.message());
  }
}

void runtime::writeFileAtomically(const std::string &path,
                                  const std::string &text) {
  replaceFile(path, [&](const std::string &temporary) {
    std::ofstream file(temporary, std::ios::binary);
    file << text;
    file.close();
    if (!file)
      throw Error("cannot write '" + path + "': " + std::strerror(errno));
  });
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
uint64_t runtime::peakResidentBytes() { return statusBytes("VmHWM:"); }

std::string runtime::resolvePath(const std::string &base,
                                 const std::string &path) {
  return (fs::path(base) / path).string();
}
