//===- Json.cpp - Strict reading of JSON files ----------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nesting is limited before parsing, because messages print values, which is
// recursive.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-check-certificate/Json.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

using namespace streamtensor::certificate;

static std::string printable(std::string text) {
  for (char &c : text)
    if (c < ' ' || c > '~')
      c = '?';
  return text;
}

Refusal::Refusal(const std::string &text)
    : std::runtime_error(printable(text)) {}

std::string streamtensor::certificate::readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || file.peek() == std::ifstream::traits_type::eof() ||
      !(text << file.rdbuf()))
    throw Refusal(path + ": expected a file that can be read and is not empty");
  return text.str();
}

Json streamtensor::certificate::parseJson(const std::string &text,
                                          const std::string &path) {
  constexpr int kMaxNesting = 256;
  int nesting = 0;
  for (char c : text) {
    if (c == '[' || c == '{') {
      if (++nesting > kMaxNesting)
        throw Refusal(path + ": expected less nesting of brackets");
    } else if (c == ']' || c == '}') {
      --nesting;
    }
  }
  std::vector<std::set<std::string>> keys;
  auto note = [&](int, Json::parse_event_t event, Json &parsed) {
    if (event == Json::parse_event_t::object_start)
      keys.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      keys.pop_back();
    else if (event == Json::parse_event_t::key &&
             !keys.back().insert(parsed.get<std::string>()).second)
      throw Refusal(path + ": expected each key once but got " + spell(parsed) +
                    " twice in an object");
    return true;
  };
  try {
    return Json::parse(text, note);
  } catch (const Json::exception &error) {
    throw Refusal(path + ": expected JSON: " + error.what());
  }
}

std::string streamtensor::certificate::spell(const Json &value) {
  const std::string text =
      value.dump(-1, ' ', true, Json::error_handler_t::replace);
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

int64_t streamtensor::certificate::integerOf(const Json &value,
                                             const std::string &place,
                                             int64_t least, int64_t most) {
  const bool fits =
      value.is_number_unsigned()
          ? value.get<uint64_t>() <= static_cast<uint64_t>(kLargestNumber)
          : value.is_number_integer();
  const int64_t number = fits ? value.get<int64_t>() : 0;
  if (!fits || number < least || number > most)
    throw Refusal(place + ": expected an integer from " +
                  std::to_string(least) + " to " + std::to_string(most) +
                  " but got " + spell(value));
  return number;
}

std::string streamtensor::certificate::nameOf(const Json &value,
                                              const std::string &place) {
  if (!value.is_string() || value.get_ref<const std::string &>().empty() ||
      value.get_ref<const std::string &>().size() > 4096)
    throw Refusal(place + ": expected a name but got " + spell(value));
  return value.get<std::string>();
}

const Json &streamtensor::certificate::arrayOf(const Json &value,
                                               const std::string &place) {
  if (!value.is_array())
    throw Refusal(place + ": expected an array but got " + spell(value));
  return value;
}

Object::Object(const Json &value, std::string place)
    : value(value), place(std::move(place)) {
  if (!value.is_object())
    throw Refusal(this->place + ": expected an object but got " + spell(value));
}

const Json *Object::find(const char *key) {
  const auto found = value.find(key);
  if (found == value.end())
    return nullptr;
  taken.push_back(key);
  return &*found;
}

const Json &Object::get(const char *key) {
  if (const Json *found = find(key))
    return *found;
  throw Refusal(place + ": expected the key '" + std::string(key) + "'");
}

int64_t Object::integerOr(const char *key, int64_t otherwise, int64_t least,
                          int64_t most) {
  const Json *found = find(key);
  return found ? integerOf(*found, at(key), least, most) : otherwise;
}

bool Object::flagOr(const char *key, bool otherwise) {
  const Json *found = find(key);
  if (!found)
    return otherwise;
  if (!found->is_boolean())
    throw Refusal(at(key) + ": expected true or false but got " +
                  spell(*found));
  return found->get<bool>();
}

const Json &Object::arrayOr(const char *key) {
  static const Json empty = Json::array();
  const Json *found = find(key);
  return found ? arrayOf(*found, at(key)) : empty;
}

void Object::ignore(std::initializer_list<const char *> keys) {
  for (const char *key : keys)
    find(key);
}

void Object::finish() const {
  for (const auto &[key, unused] : value.items())
    if (std::find(taken.begin(), taken.end(), key) == taken.end())
      throw Refusal(place + ": unknown key '" + key.substr(0, 80) + "'");
}
