//===- JsonFields.cpp - Checked access to JSON files ----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Getters over nlohmann::json that fail with the place in the file.
//
//===----------------------------------------------------------------------===//

#include "runtime/JsonFields.h"

#include "runtime/Error.h"
#include "runtime/System.h"

#include <limits>
#include <memory>

using namespace streamtensor::runtime;
using nlohmann::json;

JsonFields::JsonFields(std::shared_ptr<const json> document, const json *value,
                       std::string place)
    : document(std::move(document)), value(value), place(std::move(place)) {}

JsonFields JsonFields::readFile(const std::string &path) {
  return parse(readTextFile(path), path);
}

JsonFields JsonFields::parse(const std::string &text,
                             const std::string &source) {
  auto document = std::make_shared<json>();
  try {
    *document = json::parse(text);
  } catch (const json::exception &exception) {
    throw Error(source + ": expected JSON but got: " + exception.what());
  }
  if (!document->is_object())
    throw Error(source + ": expected a JSON object but got " +
                document->type_name());
  const json *root = document.get();
  return JsonFields(std::move(document), root, source + ": ");
}

std::string JsonFields::pathOf(const std::string &key) const {
  const bool atRoot = place.size() >= 2 && place.back() == ' ';
  return place + (atRoot ? "" : ".") + key;
}

void JsonFields::fail(const std::string &key, const std::string &text) const {
  throw Error(pathOf(key) + ": " + text);
}

bool JsonFields::has(const std::string &key) const {
  auto field = value->find(key);
  return field != value->end() && !field->is_null();
}

const json &JsonFields::get(const std::string &key) const {
  auto field = value->find(key);
  if (field == value->end())
    fail(key, "expected this field but found none");
  return *field;
}

JsonFields JsonFields::child(const json &value, std::string place) const {
  if (!value.is_object())
    throw Error(place + ": expected an object but got " + value.type_name());
  return JsonFields(document, &value, std::move(place));
}

std::string JsonFields::string(const std::string &key) const {
  const json &field = get(key);
  if (!field.is_string())
    fail(key, std::string("expected a string but got ") + field.type_name());
  return field.get<std::string>();
}

std::string JsonFields::stringOr(const std::string &key,
                                 const std::string &otherwise) const {
  return has(key) ? string(key) : otherwise;
}

/// Numbers of 2^63 and more would become negative.
static bool isInteger(const json &field) {
  return field.is_number_integer() &&
         (!field.is_number_unsigned() ||
          field.get<uint64_t>() <=
              static_cast<uint64_t>(std::numeric_limits<int64_t>::max()));
}

int64_t JsonFields::integer(const std::string &key) const {
  const json &field = get(key);
  if (!isInteger(field))
    fail(key, "expected an integer but got " + field.dump());
  return field.get<int64_t>();
}

int64_t JsonFields::integerAtLeast(const std::string &key,
                                   int64_t minimum) const {
  const int64_t number = integer(key);
  if (number < minimum)
    fail(key, "expected at least " + std::to_string(minimum) + " but got " +
                  std::to_string(number));
  return number;
}

const json &JsonFields::list(const std::string &key) const {
  const json &field = get(key);
  if (!field.is_array())
    fail(key, std::string("expected a list but got ") + field.type_name());
  return field;
}

std::vector<int64_t> JsonFields::integers(const std::string &key) const {
  std::vector<int64_t> result;
  for (const json &item : list(key)) {
    if (!isInteger(item))
      fail(key, "expected a list of integers but got " + list(key).dump());
    result.push_back(item.get<int64_t>());
  }
  return result;
}

std::vector<std::string> JsonFields::strings(const std::string &key) const {
  std::vector<std::string> result;
  for (const json &item : list(key)) {
    if (!item.is_string())
      fail(key, "expected a list of strings but got " + list(key).dump());
    result.push_back(item.get<std::string>());
  }
  return result;
}

std::vector<std::vector<unsigned>>
JsonFields::indexLists(const std::string &key) const {
  std::vector<std::vector<unsigned>> result;
  for (const json &inner : list(key)) {
    result.emplace_back();
    if (inner.is_array())
      for (const json &item : inner)
        if (item.is_number_unsigned() &&
            item.get<uint64_t>() <= std::numeric_limits<unsigned>::max())
          result.back().push_back(item.get<unsigned>());
    if (!inner.is_array() || result.back().size() != inner.size())
      fail(key, "expected a list of lists of loop numbers but got " +
                    list(key).dump());
  }
  return result;
}

JsonFields JsonFields::object(const std::string &key) const {
  return child(get(key), pathOf(key));
}

std::vector<JsonFields> JsonFields::objects(const std::string &key) const {
  std::vector<JsonFields> result;
  for (const json &item : list(key))
    result.push_back(
        child(item, pathOf(key) + "[" + std::to_string(result.size()) + "]"));
  return result;
}

std::vector<std::pair<std::string, std::string>>
JsonFields::stringMap(const std::string &key) const {
  std::vector<std::pair<std::string, std::string>> result;
  const JsonFields map = object(key);
  for (const auto &[name, item] : map.value->items()) {
    if (!item.is_string())
      map.fail(name,
               std::string("expected a string but got ") + item.type_name());
    result.emplace_back(name, item.get<std::string>());
  }
  return result;
}
