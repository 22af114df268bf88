//===- ObjectReader.h - Reading JSON objects of facts -----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files of facts about hardware are read strictly: a missing key, a wrong type
// and an unknown key are errors that name the place.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_TARGET_DEVICE_OBJECTREADER_H
#define STREAMTENSOR_TARGET_DEVICE_OBJECTREADER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <set>
#include <string>

namespace streamtensor {

/// Reads the members of an object once each; what is left over is unknown.
class ObjectReader {
public:
  /// Numbers above these are no facts about hardware, and sums and products of
  /// a few of them would not fit 64 bits.
  static constexpr int64_t kMostCount = int64_t(1) << 24;
  static constexpr int64_t kMostFact = int64_t(1) << 40;
  static constexpr double kMostNumber = 1e9;

  ObjectReader(const llvm::json::Object &object, std::string path,
               std::string &error)
      : members(object), path(std::move(path)), error(error) {}

  /// A plain text member.
  bool text(llvm::StringRef key, std::string &out) {
    const llvm::json::Value *member = find(key);
    if (!member)
      return false;
    std::optional<llvm::StringRef> value = member->getAsString();
    if (!value)
      return fail(key, "expected a string");
    out = value->str();
    return true;
  }

  /// An integer of at least 0 and at most kMostCount.
  bool integer(llvm::StringRef key, int64_t &out) {
    const llvm::json::Value *member = find(key);
    if (!member)
      return false;
    std::optional<int64_t> value = member->getAsInteger();
    if (!value || *value < 0)
      return fail(key, "expected an integer of at least 0");
    if (*value > kMostCount)
      return failMost(key, kMostCount, *value);
    out = *value;
    return true;
  }

  /// A number above 0.
  bool positive(llvm::StringRef key, double &out) {
    const llvm::json::Value *member = find(key);
    if (!member)
      return false;
    std::optional<double> value = member->getAsNumber();
    if (!value || !(*value > 0))
      return fail(key, "expected a number above 0");
    out = *value;
    return true;
  }

  /// A fact: {"value": ..., "source": "..."}.
  bool fact(llvm::StringRef key, std::string &out) {
    const llvm::json::Value *value = factValue(key);
    if (!value)
      return false;
    std::optional<llvm::StringRef> text = value->getAsString();
    if (!text)
      return fail(key, "expected a string as value");
    out = text->str();
    return true;
  }
  bool fact(llvm::StringRef key, int64_t &out, int64_t most = kMostFact) {
    const llvm::json::Value *value = factValue(key);
    if (!value)
      return false;
    std::optional<int64_t> number = value->getAsInteger();
    if (!number || *number < 0)
      return fail(key, "expected an integer of at least 0 as value");
    if (*number > most)
      return failMost(key, most, *number);
    out = *number;
    return true;
  }
  bool fact(llvm::StringRef key, double &out) {
    const llvm::json::Value *value = factValue(key);
    if (!value)
      return false;
    std::optional<double> number = value->getAsNumber();
    if (!number || *number < 0)
      return fail(key, "expected a number of at least 0 as value");
    if (!(*number <= kMostNumber))
      return failMost(key, int64_t(kMostNumber), *number);
    out = *number;
    return true;
  }

  const llvm::json::Array *list(llvm::StringRef key) {
    const llvm::json::Value *member = find(key);
    if (!member)
      return nullptr;
    const llvm::json::Array *array = member->getAsArray();
    if (!array)
      fail(key, "expected a list");
    return array;
  }

  const llvm::json::Object *object(llvm::StringRef key) {
    const llvm::json::Value *member = find(key);
    if (!member)
      return nullptr;
    const llvm::json::Object *value = member->getAsObject();
    if (!value)
      fail(key, "expected an object");
    return value;
  }

  bool boolean(llvm::StringRef key, bool &out) {
    const llvm::json::Value *member = find(key);
    if (!member)
      return false;
    std::optional<bool> value = member->getAsBoolean();
    if (!value)
      return fail(key, "expected true or false");
    out = *value;
    return true;
  }

  bool finish() {
    for (const auto &[key, value] : members)
      if (!seen.count(llvm::StringRef(key).str()))
        return fail(key, "expected no such key");
    return true;
  }

  bool fail(llvm::StringRef key, llvm::StringRef what) {
    error = path + "." + key.str() + ": " + what.str();
    return false;
  }

private:
  template <typename T>
  bool failMost(llvm::StringRef key, int64_t most, T value) {
    return fail(key, "expected at most " + std::to_string(most) + " but got " +
                         std::to_string(value));
  }

  const llvm::json::Value *find(llvm::StringRef key) {
    seen.insert(key.str());
    const llvm::json::Value *member = members.get(key);
    if (!member)
      fail(key, "expected this key but got none");
    return member;
  }

  const llvm::json::Value *factValue(llvm::StringRef key) {
    const llvm::json::Value *member = find(key);
    if (!member)
      return nullptr;
    const llvm::json::Object *fact = member->getAsObject();
    const llvm::json::Value *value = fact ? fact->get("value") : nullptr;
    if (!value || fact->size() != 2 ||
        fact->getString("source").value_or("").empty()) {
      fail(key, "expected a value with its source");
      return nullptr;
    }
    return value;
  }

  const llvm::json::Object &members;
  std::string path;
  std::string &error;
  std::set<std::string> seen;
};

} // namespace streamtensor

#endif // STREAMTENSOR_TARGET_DEVICE_OBJECTREADER_H
