//===- MappedMemory.cpp - Memory of the host in pages ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calls of mmap.
//
//===----------------------------------------------------------------------===//

#include "runtime/MappedMemory.h"

#include "runtime/Error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace streamtensor;
using namespace streamtensor::runtime;

MappedMemory MappedMemory::zeros(uint64_t bytes) {
  void *memory = nullptr;
  if (bytes)
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw Error("cannot allocate a buffer of " + std::to_string(bytes) +
                " bytes: " + std::strerror(errno));
  return {static_cast<char *>(memory), bytes, /*file=*/false};
}

MappedMemory MappedMemory::ofFile(const std::string &path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    throw Error("cannot open '" + path + "': " + std::strerror(errno));
  struct stat status;
  void *memory = nullptr;
  bool ok = fstat(file, &status) == 0;
  if (ok && !S_ISREG(status.st_mode)) {
    close(file);
    throw Error("expected a file of weights but '" + path + "' is none");
  }
  if (ok && status.st_size > 0) {
    memory = mmap(nullptr, status.st_size, PROT_READ, MAP_SHARED, file, 0);
    ok = memory != MAP_FAILED;
  }
  const int error = errno;
  close(file);
  if (!ok)
    throw Error("cannot read '" + path + "': " + std::strerror(error));
  return {static_cast<char *>(memory), static_cast<uint64_t>(status.st_size),
          /*file=*/true};
}

MappedMemory::MappedMemory(MappedMemory &&other) noexcept
    : memory(other.memory), size(std::exchange(other.size, 0)),
      file(other.file) {}

MappedMemory::~MappedMemory() {
  if (size)
    munmap(memory, size);
}
