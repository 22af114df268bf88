//===- AtomicFile.cpp - Files that appear only when finished --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The POSIX calls behind AtomicFile.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/AtomicFile.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

using namespace streamtensor;

AtomicFile::~AtomicFile() {
  if (descriptor >= 0) {
    ::close(descriptor);
    ::unlink(temporary.c_str());
  }
}

bool AtomicFile::fail(const char *action, std::string &error) {
  error = std::string("cannot ") + action + " '" + path +
          "': " + std::strerror(errno);
  if (descriptor >= 0) {
    ::close(descriptor);
    ::unlink(temporary.c_str());
    descriptor = -1;
  }
  return false;
}

bool AtomicFile::open(const std::string &name, std::string &error) {
  // Unique among the processes and threads that write the same path.
  static std::atomic<unsigned> counter{0};
  path = name;
  temporary = name + ".tmp-" + std::to_string(::getpid()) + "-" +
              std::to_string(counter++);
  descriptor =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  return descriptor >= 0 || fail("create", error);
}

bool AtomicFile::write(const void *data, size_t size, std::string &error) {
  const char *bytes = static_cast<const char *>(data);
  while (size > 0) {
    // One call writes at most 2 GB on Linux.
    const ssize_t written =
        ::write(descriptor, bytes, std::min<size_t>(size, size_t(1) << 30));
    if (written < 0) {
      if (errno == EINTR)
        continue;
      return fail("write", error);
    }
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

bool AtomicFile::commit(std::string &error) {
  const int closing = descriptor;
  descriptor = -1;
  if (::close(closing) != 0 ||
      std::rename(temporary.c_str(), path.c_str()) != 0) {
    fail("finish", error);
    ::unlink(temporary.c_str());
    return false;
  }
  return true;
}

bool streamtensor::writeFileAtomically(const std::string &path,
                                       std::string_view content,
                                       std::string &error) {
  AtomicFile file;
  return file.open(path, error) &&
         file.write(content.data(), content.size(), error) &&
         file.commit(error);
}
