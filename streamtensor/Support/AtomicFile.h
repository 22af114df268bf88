//===- AtomicFile.h - Files that appear only when finished ------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes a file under a temporary name beside its place and renames it last, so
// that a full disk or an interruption never leaves half a file that looks
// finished.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SUPPORT_ATOMICFILE_H
#define STREAMTENSOR_SUPPORT_ATOMICFILE_H

#include <cstddef>
#include <string>
#include <string_view>

namespace streamtensor {

/// One file in the making. Each function returns false and sets `error` (what,
/// which file, the system's cause) on failure; the temporary file is then
/// removed, and later calls fail too.
class AtomicFile {
public:
  AtomicFile() = default;
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  /// Removes the temporary file unless it was committed.
  ~AtomicFile();

  /// Starts the file that will become `path`; its directory must exist.
  bool open(const std::string &path, std::string &error);
  /// Appends `size` bytes.
  bool write(const void *data, size_t size, std::string &error);
  /// Closes the file and gives it its name, replacing what was there.
  bool commit(std::string &error);

private:
  bool fail(const char *action, std::string &error);

  std::string path, temporary;
  int descriptor = -1;
};

/// Writes a whole file at once.
bool writeFileAtomically(const std::string &path, std::string_view content,
                         std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_SUPPORT_ATOMICFILE_H
