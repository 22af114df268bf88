//===- Device.cpp - Facts about boards ------------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading target descriptions.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Device/Device.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

#include <set>

using namespace streamtensor;
using llvm::StringRef;
namespace json = llvm::json;

namespace {

/// A description as it stands in its file.
struct Description {
  const char *name;
  const char *text;
};

const Description kDescriptions[] = {
#include "Devices.inc"
};

/// Reads the members of an object once each; what is left over is unknown.
class Reader {
public:
  Reader(const json::Object &object, std::string path, std::string &error)
      : object(object), path(std::move(path)), error(error) {}

  /// A plain text member.
  bool text(StringRef key, std::string &out) {
    const json::Value *member = find(key);
    if (!member)
      return false;
    std::optional<StringRef> value = member->getAsString();
    if (!value)
      return fail(key, "expected a string");
    out = value->str();
    return true;
  }

  /// A fact: {"value": ..., "source": "..."}.
  bool fact(StringRef key, std::string &out) {
    const json::Value *value = factValue(key);
    if (!value)
      return false;
    std::optional<StringRef> text = value->getAsString();
    if (!text)
      return fail(key, "expected a string as value");
    out = text->str();
    return true;
  }
  bool fact(StringRef key, int64_t &out) {
    const json::Value *value = factValue(key);
    if (!value)
      return false;
    std::optional<int64_t> number = value->getAsInteger();
    if (!number || *number < 0)
      return fail(key, "expected an integer of at least 0 as value");
    out = *number;
    return true;
  }
  bool fact(StringRef key, double &out) {
    const json::Value *value = factValue(key);
    if (!value)
      return false;
    std::optional<double> number = value->getAsNumber();
    if (!number || *number < 0)
      return fail(key, "expected a number of at least 0 as value");
    out = *number;
    return true;
  }

  const json::Array *list(StringRef key) {
    const json::Value *member = find(key);
    if (!member)
      return nullptr;
    const json::Array *array = member->getAsArray();
    if (!array)
      fail(key, "expected a list");
    return array;
  }

  bool finish() {
    for (const auto &[key, value] : object)
      if (!seen.count(StringRef(key).str()))
        return fail(key, "expected no such key");
    return true;
  }

  bool fail(StringRef key, StringRef what) {
    error = path + "." + key.str() + ": " + what.str();
    return false;
  }

private:
  const json::Value *find(StringRef key) {
    seen.insert(key.str());
    const json::Value *member = object.get(key);
    if (!member)
      fail(key, "expected this key but got none");
    return member;
  }

  const json::Value *factValue(StringRef key) {
    const json::Value *member = find(key);
    if (!member)
      return nullptr;
    const json::Object *fact = member->getAsObject();
    const json::Value *value = fact ? fact->get("value") : nullptr;
    if (!value || fact->size() != 2 ||
        fact->getString("source").value_or("").empty()) {
      fail(key, "expected a value with its source");
      return nullptr;
    }
    return value;
  }

  const json::Object &object;
  std::string path;
  std::string &error;
  std::set<std::string> seen;
};

bool readResources(Reader &reader, DeviceResources &out) {
  return reader.fact("lut", out.lut) && reader.fact("ff", out.ff) &&
         reader.fact("bram36", out.bram36) && reader.fact("uram", out.uram) &&
         reader.fact("dsp", out.dsp);
}

} // namespace

std::vector<std::string> streamtensor::deviceNames() {
  std::vector<std::string> names;
  for (const Description &description : kDescriptions)
    names.push_back(description.name);
  return names;
}

std::optional<DeviceInfo> streamtensor::findDevice(StringRef name,
                                                   std::string &error) {
  std::string known;
  for (const Description &description : kDescriptions) {
    if (name == description.name)
      return parseDevice(description.text, error);
    known += (known.empty() ? "" : ", ") + std::string(description.name);
  }
  error = "expected a target among " + known + " but got '" + name.str() + "'";
  return std::nullopt;
}

std::optional<DeviceInfo> streamtensor::parseDevice(StringRef text,
                                                    std::string &error) {
  llvm::Expected<json::Value> parsed = json::parse(text);
  if (!parsed) {
    error = llvm::toString(parsed.takeError());
    return std::nullopt;
  }
  const json::Object *object = parsed->getAsObject();
  if (!object) {
    error = "expected an object";
    return std::nullopt;
  }
  DeviceInfo device;
  std::string name = object->getString("name").value_or("device").str();
  Reader reader(*object, name, error);
  const json::Array *dies = nullptr;
  bool complete =
      reader.text("name", device.name) && reader.text("title", device.title) &&
      reader.fact("part", device.part) &&
      reader.fact("clock_mhz", device.clockMHz) &&
      readResources(reader, device.resources) &&
      reader.fact("memory_kind", device.memoryKind) &&
      reader.fact("memory_channels", device.memoryChannels) &&
      reader.fact("channel_bytes", device.channelBytes) &&
      reader.fact("peak_gigabytes_per_second", device.peakGigabytesPerSecond) &&
      reader.fact("memory_efficiency", device.memoryEfficiency) &&
      reader.fact("memory_latency_cycles", device.memoryLatencyCycles) &&
      reader.fact("launch_microseconds", device.launchMicroseconds) &&
      reader.fact("max_ports", device.maxPorts) &&
      reader.fact("memory_die", device.memoryDie) &&
      reader.fact("power_watts", device.powerWatts) &&
      (dies = reader.list("dies")) && reader.finish();
  if (!complete)
    return std::nullopt;
  if (device.memoryEfficiency <= 0 || device.memoryEfficiency > 1 ||
      device.clockMHz <= 0 || device.peakGigabytesPerSecond <= 0) {
    error = name + ": expected a clock and a peak above 0, and a "
                   "memory_efficiency above 0 and of at most 1";
    return std::nullopt;
  }
  for (const json::Value &value : *dies) {
    const json::Object *die = value.getAsObject();
    if (!die) {
      error = name + ".dies: expected objects";
      return std::nullopt;
    }
    DieInfo info;
    Reader dieReader(*die, name + ".dies", error);
    if (!dieReader.text("name", info.name) ||
        !readResources(dieReader, info.resources) || !dieReader.finish())
      return std::nullopt;
    device.dies.push_back(std::move(info));
  }
  if (device.dies.empty()) {
    error = name + ".dies: expected at least one die";
    return std::nullopt;
  }
  return device;
}
