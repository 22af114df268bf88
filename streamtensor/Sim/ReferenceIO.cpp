//===- ReferenceIO.cpp - Tensors of the reference run ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared library for mlir-runner: the program that it executes reads its
// inputs from files and writes its results to files, bit for bit.
//
//===----------------------------------------------------------------------===//

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

std::string pathOf(const char *kind, int64_t index) {
  const char *folder = std::getenv("ST_REFERENCE_DIR");
  return std::string(folder ? folder : ".") + "/" + kind +
         std::to_string(index) + ".bin";
}

/// What a `cf.assert` prints is not lost in a buffer when it aborts.
const int isLineBuffered = std::setvbuf(stdout, nullptr, _IOLBF, 0);

[[noreturn]] void die(const char *what, const std::string &path) {
  std::fprintf(stderr, "cannot %s '%s'\n", what, path.c_str());
  std::exit(1);
}

} // namespace

/// Fills `bytes` bytes at `address` from the file of input `index`.
extern "C" void st_reference_read(int64_t address, int64_t bytes,
                                  int64_t index) {
  std::string path = pathOf("input", index);
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    die("open", path);
  if (std::fread(reinterpret_cast<void *>(address), 1, bytes, file) !=
      static_cast<size_t>(bytes))
    die("read", path);
  std::fclose(file);
}

/// Appends `bytes` bytes at `address` to the file of result `index`.
extern "C" void st_reference_write(int64_t address, int64_t bytes,
                                   int64_t index) {
  std::string path = pathOf("result", index);
  std::FILE *file = std::fopen(path.c_str(), "ab");
  if (!file)
    die("open", path);
  if (std::fwrite(reinterpret_cast<const void *>(address), 1, bytes, file) !=
          static_cast<size_t>(bytes) ||
      std::fclose(file) != 0)
    die("write", path);
}
