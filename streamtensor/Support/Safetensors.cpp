//===- Safetensors.cpp - Reading and writing safetensors files ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The header checks and the deterministic writer. JSON exceptions end here:
// callers may be compiled without exceptions.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/Safetensors.h"

#include "streamtensor/Support/AtomicFile.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <set>
#include <stdexcept>
#include <tuple>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace streamtensor;
using nlohmann::json;

namespace {

struct DTypeInfo {
  DType dtype;
  const char *name;
  size_t bytes;
};

constexpr DTypeInfo dtypes[] = {
    {DType::F64, "F64", 8},   {DType::F32, "F32", 4}, {DType::F16, "F16", 2},
    {DType::BF16, "BF16", 2}, {DType::I64, "I64", 8}, {DType::I32, "I32", 4},
    {DType::I16, "I16", 2},   {DType::I8, "I8", 1},   {DType::U64, "U64", 8},
    {DType::U32, "U32", 4},   {DType::U16, "U16", 2}, {DType::U8, "U8", 1},
    {DType::BOOL, "BOOL", 1}};

const DTypeInfo &infoOf(DType dtype) {
  return *std::find_if(std::begin(dtypes), std::end(dtypes),
                       [&](const DTypeInfo &d) { return d.dtype == dtype; });
}

/// As the reference reader: a longer header is refused before it is parsed.
constexpr uint64_t maxHeaderBytes = 100'000'000;

constexpr const char *metadataKey = "__metadata__";

/// Ends the parsing of a file; never leaves this file.
struct FormatError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string inQuotes(std::string_view text) {
  return "'" + std::string(text) + "'";
}

/// A value of the header for a message, shortened.
std::string shown(const json &value) {
  const std::string text = value.dump();
  return text.size() <= 80 ? text : text.substr(0, 77) + "...";
}

/// Bytes of a tensor, or nothing on overflow.
std::optional<uint64_t> byteCount(const std::vector<int64_t> &shape,
                                  DType dtype) {
  uint64_t bytes = infoOf(dtype).bytes;
  // A size of 0 makes the product 0 only where nothing before it overflows.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes) ||
        bytes > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return std::nullopt;
  return bytes;
}

/// Parses JSON and refuses keys that appear twice in one object: parsers
/// disagree on which one counts.
json parseHeader(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int depth, json::parse_event_t event, json &value) {
    if (event == json::parse_event_t::object_start)
      keys.resize(static_cast<size_t>(depth) + 1), keys.back().clear();
    if (event == json::parse_event_t::key &&
        !keys[static_cast<size_t>(depth) - 1]
             .insert(value.get<std::string>())
             .second)
      throw FormatError("the header has the key " +
                        inQuotes(value.get<std::string>()) + " twice");
    return true;
  };
  try {
    return json::parse(text.begin(), text.end(), check);
  } catch (const json::exception &e) {
    throw FormatError(std::string("the header is not valid JSON: ") + e.what());
  }
}

const json &member(const json &object, const char *key,
                   const std::string &name) {
  const auto it = object.find(key);
  if (it == object.end())
    throw FormatError("tensor " + inQuotes(name) + " has no " + inQuotes(key));
  return *it;
}

uint64_t unsignedNumber(const json &value, const char *key,
                        const std::string &name) {
  if (!value.is_number_unsigned() ||
      value.get<uint64_t>() >
          static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
    throw FormatError("expected non-negative integers in " + inQuotes(key) +
                      " of tensor " + inQuotes(name) + " but got " +
                      shown(value));
  return value.get<uint64_t>();
}

struct Range {
  uint64_t begin, end;
  const std::string *name;
};

/// Reads one entry of the header; its data range is checked against the size of
/// the data section and its own shape.
std::pair<TensorView, Range> parseTensor(const std::string &name,
                                         const json &entry, const char *data,
                                         uint64_t dataBytes) {
  if (!entry.is_object())
    throw FormatError("expected an object for tensor " + inQuotes(name) +
                      " but got " + shown(entry));
  for (const auto &[key, value] : entry.items())
    if (key != "dtype" && key != "shape" && key != "data_offsets")
      throw FormatError("tensor " + inQuotes(name) + " has the unknown key " +
                        inQuotes(key));
  TensorView view;
  const json &dtype = member(entry, "dtype", name);
  const auto parsed =
      dtype.is_string() ? parseDType(dtype.get<std::string>()) : std::nullopt;
  if (!parsed) {
    std::string known;
    for (const DTypeInfo &d : dtypes)
      known += (known.empty() ? "" : ", ") + std::string(d.name);
    throw FormatError("tensor " + inQuotes(name) + " has the dtype " +
                      shown(dtype) + ", expected one of " + known);
  }
  view.dtype = *parsed;
  const json &shape = member(entry, "shape", name);
  if (!shape.is_array())
    throw FormatError("expected a list in 'shape' of tensor " + inQuotes(name) +
                      " but got " + shown(shape));
  for (const json &size : shape)
    view.shape.push_back(
        static_cast<int64_t>(unsignedNumber(size, "shape", name)));
  const json &offsets = member(entry, "data_offsets", name);
  if (!offsets.is_array() || offsets.size() != 2)
    throw FormatError("expected two numbers in 'data_offsets' of tensor " +
                      inQuotes(name) + " but got " + shown(offsets));
  const uint64_t begin = unsignedNumber(offsets[0], "data_offsets", name);
  const uint64_t end = unsignedNumber(offsets[1], "data_offsets", name);
  if (begin > end || end > dataBytes)
    throw FormatError("the data of tensor " + inQuotes(name) + " at " +
                      shown(offsets) + " lies outside of the " +
                      std::to_string(dataBytes) +
                      " bytes of data: the file is truncated or corrupt");
  const auto expected = byteCount(view.shape, view.dtype);
  if (!expected || *expected != end - begin)
    throw FormatError("expected " +
                      (expected ? std::to_string(*expected) : "too many") +
                      " bytes for tensor " + inQuotes(name) + " of shape " +
                      shown(shape) + " and dtype " + infoOf(view.dtype).name +
                      " but got " + std::to_string(end - begin));
  view.bytes = static_cast<size_t>(end - begin);
  view.data = data + begin;
  return {std::move(view), Range{begin, end, nullptr}};
}

/// The tensors must tile the data section.
void checkTiling(std::vector<Range> ranges, uint64_t dataBytes) {
  std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
    return std::tie(a.begin, a.end, *a.name) <
           std::tie(b.begin, b.end, *b.name);
  });
  uint64_t covered = 0;
  const std::string *last = nullptr;
  for (const Range &range : ranges) {
    if (range.begin < covered)
      throw FormatError("the data of tensors " + inQuotes(*last) + " and " +
                        inQuotes(*range.name) + " overlap");
    if (range.begin > covered)
      throw FormatError("bytes " + std::to_string(covered) + " to " +
                        std::to_string(range.begin) +
                        " of the data belong to no tensor");
    covered = range.end;
    last = range.name;
  }
  if (covered != dataBytes)
    throw FormatError(std::to_string(dataBytes - covered) +
                      " bytes after the last tensor belong to no tensor");
}

void parseFile(const char *bytes, uint64_t size, TensorMap &views,
               std::map<std::string, std::string> &metadata) {
  if (size < 8)
    throw FormatError("expected at least 8 bytes but got " +
                      std::to_string(size));
  uint64_t headerBytes = 0;
  for (int i = 7; i >= 0; --i)
    headerBytes = headerBytes << 8 | static_cast<unsigned char>(bytes[i]);
  if (headerBytes > maxHeaderBytes)
    throw FormatError("the header would have " + std::to_string(headerBytes) +
                      " bytes, more than " + std::to_string(maxHeaderBytes));
  if (headerBytes > size - 8)
    throw FormatError("the header would have " + std::to_string(headerBytes) +
                      " bytes but the file has only " +
                      std::to_string(size - 8) + " after its length");
  const json header = parseHeader({bytes + 8, headerBytes});
  if (!header.is_object())
    throw FormatError("expected the header to be a JSON object");
  const char *data = bytes + 8 + headerBytes;
  const uint64_t dataBytes = size - 8 - headerBytes;
  std::vector<Range> ranges;
  for (const auto &[name, entry] : header.items()) {
    if (name == metadataKey) {
      if (!entry.is_object())
        throw FormatError("expected an object in '__metadata__'");
      for (const auto &[key, value] : entry.items()) {
        if (!value.is_string())
          throw FormatError("expected text for " + inQuotes(key) +
                            " of '__metadata__' but got " + shown(value));
        metadata[key] = value.get<std::string>();
      }
      continue;
    }
    auto [view, range] = parseTensor(name, entry, data, dataBytes);
    range.name = &views.emplace(name, std::move(view)).first->first;
    ranges.push_back(range);
  }
  checkTiling(std::move(ranges), dataBytes);
}

} // namespace

const char *streamtensor::dtypeName(DType dtype) { return infoOf(dtype).name; }

std::optional<DType> streamtensor::parseDType(std::string_view name) {
  for (const DTypeInfo &info : dtypes)
    if (name == info.name)
      return info.dtype;
  return std::nullopt;
}

size_t streamtensor::dtypeBytes(DType dtype) { return infoOf(dtype).bytes; }

std::optional<SafetensorsFile> SafetensorsFile::open(const std::string &path,
                                                     std::string &error) {
  const auto systemError = [&](const char *action) {
    error = std::string("cannot ") + action + " '" + path +
            "': " + std::strerror(errno);
    return std::nullopt;
  };
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return systemError("open");
  SafetensorsFile file;
  file.filePath = path;
  struct stat status;
  const bool known = ::fstat(descriptor, &status) == 0;
  if (known && !S_ISREG(status.st_mode))
    errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  if (!known || !S_ISREG(status.st_mode)) {
    const int cause = errno;
    ::close(descriptor);
    errno = cause;
    return systemError("read");
  }
  const size_t size = static_cast<size_t>(status.st_size);
  if (size > 0) {
    void *mapping =
        ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (mapping == MAP_FAILED) {
      const int cause = errno;
      ::close(descriptor);
      errno = cause;
      return systemError("map");
    }
    file.mapping = mapping;
    file.mappedBytes = size;
  }
  ::close(descriptor);
  try {
    parseFile(static_cast<const char *>(file.mapping), size, file.views,
              file.notes);
  } catch (const std::exception &e) {
    error = "'" + path + "' is not a valid safetensors file: " + e.what();
    return std::nullopt;
  }
  return file;
}

SafetensorsFile::SafetensorsFile(SafetensorsFile &&other) noexcept {
  *this = std::move(other);
}

SafetensorsFile &SafetensorsFile::operator=(SafetensorsFile &&other) noexcept {
  std::swap(filePath, other.filePath);
  std::swap(mapping, other.mapping);
  std::swap(mappedBytes, other.mappedBytes);
  std::swap(views, other.views);
  std::swap(notes, other.notes);
  return *this;
}

SafetensorsFile::~SafetensorsFile() {
  if (mapping)
    ::munmap(mapping, mappedBytes);
}

const TensorView *SafetensorsFile::find(const std::string &name) const {
  const auto it = views.find(name);
  return it == views.end() ? nullptr : &it->second;
}

bool streamtensor::writeSafetensors(
    const std::string &path, const TensorMap &tensors, std::string &error,
    const std::map<std::string, std::string> &metadata) {
  const auto refuse = [&](const std::string &message) {
    error = "cannot write '" + path + "': " + message;
    return false;
  };
  std::vector<const TensorMap::value_type *> ordered;
  for (const auto &entry : tensors) {
    const auto &[name, view] = entry;
    if (name == metadataKey)
      return refuse("a tensor may not be called '__metadata__'");
    for (int64_t size : view.shape)
      if (size < 0)
        return refuse("tensor " + inQuotes(name) + " has a negative size");
    const auto expected = byteCount(view.shape, view.dtype);
    if (!expected || *expected != view.bytes)
      return refuse("expected " +
                    (expected ? std::to_string(*expected) : "too many") +
                    " bytes for tensor " + inQuotes(name) + " but got " +
                    std::to_string(view.bytes));
    ordered.push_back(&entry);
  }
  std::sort(ordered.begin(), ordered.end(), [](const auto *a, const auto *b) {
    const size_t bytesA = dtypeBytes(a->second.dtype),
                 bytesB = dtypeBytes(b->second.dtype);
    return bytesA != bytesB ? bytesA > bytesB : a->first < b->first;
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty())
    header[metadataKey] = metadata;
  uint64_t offset = 0;
  for (const auto *entry : ordered) {
    const TensorView &view = entry->second;
    header[entry->first] = {{"dtype", dtypeName(view.dtype)},
                            {"shape", view.shape},
                            {"data_offsets", {offset, offset + view.bytes}}};
    offset += view.bytes;
  }
  std::string text;
  try {
    text = header.dump();
  } catch (const json::exception &e) {
    return refuse(std::string("a name is not valid UTF-8: ") + e.what());
  }
  // The data starts at a multiple of 8, the largest element size.
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > maxHeaderBytes)
    return refuse("the header exceeds " + std::to_string(maxHeaderBytes) +
                  " bytes");
  unsigned char length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<unsigned char>(uint64_t(text.size()) >> (8 * i));

  AtomicFile file;
  if (!file.open(path, error) || !file.write(length, sizeof(length), error) ||
      !file.write(text.data(), text.size(), error))
    return false;
  for (const auto *entry : ordered)
    if (!file.write(entry->second.data, entry->second.bytes, error))
      return false;
  return file.commit(error);
}
