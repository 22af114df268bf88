//===- Safetensors.h - Reading and writing safetensors files ----*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Named row-major tensors in one file: 8 bytes little-endian header length, a
// JSON header {name: {dtype, shape, data_offsets}}, then the raw data.
//
// Source of the format: github.com/huggingface/safetensors, README. Every
// number of the header is checked before use; as in the reference reader the
// tensors must fill the data exactly, without holes or overlap.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SUPPORT_SAFETENSORS_H
#define STREAMTENSOR_SUPPORT_SAFETENSORS_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace streamtensor {

/// Element types, little endian in files. BOOL is one byte, 0 or 1.
enum class DType {
  F64,
  F32,
  F16,
  BF16,
  I64,
  I32,
  I16,
  I8,
  U64,
  U32,
  U16,
  U8,
  BOOL
};

/// The name in files and in interface.json: "F32".
const char *dtypeName(DType dtype);
/// Nothing for an unknown name.
std::optional<DType> parseDType(std::string_view name);
/// Bytes of one element.
size_t dtypeBytes(DType dtype);

/// A tensor in memory that someone else owns, row-major without gaps.
struct TensorView {
  DType dtype = DType::F32;
  /// Empty for a scalar.
  std::vector<int64_t> shape;
  /// `bytes` bytes. Not necessarily aligned for the element type when it comes
  /// from a file. May be null when `bytes` is 0.
  const void *data = nullptr;
  size_t bytes = 0;

  int64_t numElements() const {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    return count;
  }
};

/// Tensors by name, in the order of names.
using TensorMap = std::map<std::string, TensorView>;

/// A safetensors file mapped into memory, read only. Views into it live as long
/// as the object (moving it keeps them valid).
class SafetensorsFile {
public:
  /// Maps and checks a file. Returns nothing, and what is wrong with which
  /// file and tensor in `error`.
  static std::optional<SafetensorsFile> open(const std::string &path,
                                             std::string &error);

  SafetensorsFile(SafetensorsFile &&other) noexcept;
  SafetensorsFile &operator=(SafetensorsFile &&other) noexcept;
  SafetensorsFile(const SafetensorsFile &) = delete;
  SafetensorsFile &operator=(const SafetensorsFile &) = delete;
  ~SafetensorsFile();

  const std::string &path() const { return filePath; }
  const TensorMap &tensors() const { return views; }
  /// The tensor called `name`, or null.
  const TensorView *find(const std::string &name) const;
  /// The optional free text of the header.
  const std::map<std::string, std::string> &metadata() const { return notes; }

private:
  SafetensorsFile() = default;

  std::string filePath;
  void *mapping = nullptr;
  size_t mappedBytes = 0;
  TensorMap views;
  std::map<std::string, std::string> notes;
};

/// Writes a file that holds exactly `tensors`; the same input gives the same
/// bytes. Larger element types come first, so that all data is aligned, then
/// names in order. The file appears under `path` only when it is complete.
/// Returns false and sets `error` on inconsistent views and on I/O errors.
bool writeSafetensors(const std::string &path, const TensorMap &tensors,
                      std::string &error,
                      const std::map<std::string, std::string> &metadata = {});

} // namespace streamtensor

#endif // STREAMTENSOR_SUPPORT_SAFETENSORS_H
