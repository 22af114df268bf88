//===- MappedMemory.h - Memory of the host in pages -------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Zero-filled memory, or a file in memory: what devices keep of buffers on the
// host. Page-aligned; pages that nobody touches cost nothing.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_MAPPEDMEMORY_H
#define STREAMTENSOR_RUNTIME_MAPPEDMEMORY_H

#include <cstdint>
#include <string>

namespace streamtensor::runtime {

class MappedMemory {
public:
  /// Zeros. Throws Error when the system has no room for them.
  static MappedMemory zeros(uint64_t bytes);
  /// The contents of a file, to be read only, whose pages are those of the
  /// system's file cache. Throws Error when it cannot be read or is no file.
  static MappedMemory ofFile(const std::string &path);

  MappedMemory(MappedMemory &&other) noexcept;
  MappedMemory &operator=(MappedMemory &&) = delete;
  ~MappedMemory();

  char *data() const { return memory; }
  uint64_t bytes() const { return size; }
  bool isFile() const { return file; }

private:
  MappedMemory(char *memory, uint64_t size, bool file)
      : memory(memory), size(size), file(file) {}

  char *memory;
  uint64_t size;
  bool file;
};

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_MAPPEDMEMORY_H
