//===- Json.h - Strict reading of JSON files ------------------ -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The checker's own reader: every key is asked for or an error, a key that
// stands twice is an error, numbers stay below 2^53.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TOOLS_CHECKCERTIFICATE_JSON_H
#define STREAMTENSOR_TOOLS_CHECKCERTIFICATE_JSON_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace streamtensor::certificate {

using Json = nlohmann::json;

/// Why a certificate is not accepted. The text is complete; bytes of files that
/// are not printable are replaced.
class Refusal : public std::runtime_error {
public:
  explicit Refusal(const std::string &text);
};

/// No count in a file is larger.
constexpr int64_t kLargestNumber = int64_t(1) << 53;

/// The bytes of a file.
std::string readFile(const std::string &path);

/// Parses `text`, the content of `path`.
Json parseJson(const std::string &text, const std::string &path);

/// A value for a message.
std::string spell(const Json &value);

/// An integer from `least` to `most`.
int64_t integerOf(const Json &value, const std::string &place, int64_t least,
                  int64_t most = kLargestNumber);
/// Short enough to be a name, and not empty.
std::string nameOf(const Json &value, const std::string &place);
const Json &arrayOf(const Json &value, const std::string &place);

/// An object whose keys are taken one after the other.
class Object {
public:
  Object(const Json &value, std::string place);

  const Json *find(const char *key);
  const Json &get(const char *key);
  std::string name(const char *key) { return nameOf(get(key), at(key)); }
  int64_t integer(const char *key, int64_t least,
                  int64_t most = kLargestNumber) {
    return integerOf(get(key), at(key), least, most);
  }
  int64_t integerOr(const char *key, int64_t otherwise, int64_t least,
                    int64_t most = kLargestNumber);
  bool flagOr(const char *key, bool otherwise);
  /// An array, empty where it is missing.
  const Json &arrayOr(const char *key);
  const Json &array(const char *key) { return arrayOf(get(key), at(key)); }
  void ignore(std::initializer_list<const char *> keys);
  /// All keys must have been taken.
  void finish() const;
  std::string at(const std::string &key) const { return place + "." + key; }

private:
  const Json &value;
  std::string place;
  std::vector<std::string> taken;
};

} // namespace streamtensor::certificate

#endif // STREAMTENSOR_TOOLS_CHECKCERTIFICATE_JSON_H
