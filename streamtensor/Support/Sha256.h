//===- Sha256.h - SHA-256 digests -------------------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SHA-256 (FIPS 180-4) of bytes, text and files: names build caches, stored
// weights and the emitted kernel. Portable code, about 200 MB/s.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SUPPORT_SHA256_H
#define STREAMTENSOR_SUPPORT_SHA256_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace streamtensor {

/// A digest under construction.
class Sha256 {
public:
  Sha256();

  /// Appends `size` bytes.
  void update(const void *data, size_t size);
  void update(std::string_view text) { update(text.data(), text.size()); }

  /// The digest of everything appended so far, as 64 lower-case hex digits.
  /// The object may be updated further.
  std::string hexDigest() const;

private:
  void compress(const uint8_t *block);

  std::array<uint32_t, 8> state;
  std::array<uint8_t, 64> pending;
  uint64_t length = 0; ///< bytes appended
};

/// The digest of `data` as 64 lower-case hex digits.
std::string sha256Hex(std::string_view data);

/// The digest of a file's content. Returns nothing, and the cause in `error`,
/// when the file cannot be read.
std::optional<std::string> sha256HexOfFile(const std::string &path,
                                           std::string &error);

} // namespace streamtensor

#endif // STREAMTENSOR_SUPPORT_SHA256_H
