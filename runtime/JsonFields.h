//===- JsonFields.h - Checked access to JSON files --------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Access to the fields of a JSON file whose errors name the file, the place in
// it, what was expected and what was found.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_JSONFIELDS_H
#define STREAMTENSOR_RUNTIME_JSONFIELDS_H

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace streamtensor::runtime {

/// One object inside a JSON document. Every getter throws Error when the field
/// is missing or of another type. Copies share the document.
class JsonFields {
public:
  /// Reads the file `path`, which must hold one JSON object.
  static JsonFields readFile(const std::string &path);
  /// Parses `text`; `source` names it in messages.
  static JsonFields parse(const std::string &text, const std::string &source);

  bool has(const std::string &key) const;
  std::string string(const std::string &key) const;
  /// A string, or `otherwise` where the field is missing or null.
  std::string stringOr(const std::string &key,
                       const std::string &otherwise) const;
  int64_t integer(const std::string &key) const;
  /// An integer of at least `minimum`.
  int64_t integerAtLeast(const std::string &key, int64_t minimum) const;
  std::vector<int64_t> integers(const std::string &key) const;
  std::vector<std::string> strings(const std::string &key) const;
  JsonFields object(const std::string &key) const;
  std::vector<JsonFields> objects(const std::string &key) const;
  /// The keys and values of an object of strings, by order of the keys.
  std::vector<std::pair<std::string, std::string>>
  stringMap(const std::string &key) const;
  std::vector<std::vector<unsigned>> indexLists(const std::string &key) const;

  /// "FILE: a.b[2]": where this object stands, for messages.
  const std::string &where() const { return place; }
  /// Throws Error: "WHERE.key: text".
  [[noreturn]] void fail(const std::string &key, const std::string &text) const;

private:
  JsonFields(std::shared_ptr<const nlohmann::json> document,
             const nlohmann::json *value, std::string place);
  const nlohmann::json &get(const std::string &key) const;
  JsonFields child(const nlohmann::json &value, std::string place) const;
  std::string pathOf(const std::string &key) const;
  const nlohmann::json &list(const std::string &key) const;

  std::shared_ptr<const nlohmann::json> document;
  const nlohmann::json *value;
  std::string place;
};

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_JSONFIELDS_H
