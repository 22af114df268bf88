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

#include "streamtensor/Target/Device/ObjectReader.h"

#include "llvm/Support/MemoryBuffer.h"

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

/// Bounds of what can be believed; the largest device of 2026 has 10^7 LUTs.
constexpr int64_t kMostResources = int64_t(1) << 30;
constexpr int64_t kMostChannels = 1024;
constexpr int64_t kMostMegahertz = 10000;
constexpr size_t kMostDies = 16;

bool readResources(ObjectReader &reader, DeviceResources &out) {
  auto read = [&](const char *key, int64_t &count) {
    return reader.fact(key, count, kMostResources);
  };
  return read("lut", out.lut) && read("ff", out.ff) &&
         read("bram36", out.bram36) && read("uram", out.uram) &&
         read("dsp", out.dsp);
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
  if (name.ends_with(".json")) {
    auto file = llvm::MemoryBuffer::getFile(name);
    if (!file) {
      error = "cannot read '" + name.str() + "': " + file.getError().message();
      return std::nullopt;
    }
    std::optional<DeviceInfo> device = parseDevice((*file)->getBuffer(), error);
    if (!device)
      error = name.str() + ": " + error;
    return device;
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
  ObjectReader reader(*object, name, error);
  const json::Array *dies = nullptr;
  bool complete =
      reader.text("name", device.name) && reader.text("title", device.title) &&
      reader.fact("part", device.part) &&
      reader.fact("clock_mhz", device.clockMHz, kMostMegahertz) &&
      readResources(reader, device.resources) &&
      reader.fact("memory_kind", device.memoryKind) &&
      reader.fact("memory_channels", device.memoryChannels, kMostChannels) &&
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
    ObjectReader dieReader(*die, name + ".dies", error);
    if (!dieReader.text("name", info.name) ||
        !readResources(dieReader, info.resources) || !dieReader.finish())
      return std::nullopt;
    device.dies.push_back(std::move(info));
  }
  if (device.dies.empty() || device.dies.size() > kMostDies) {
    error = name + ".dies: expected 1 to " + std::to_string(kMostDies) +
            " dies but got " + std::to_string(device.dies.size());
    return std::nullopt;
  }
  unsigned memoryDies = 0;
  for (size_t i = 0; i < device.dies.size(); ++i) {
    const std::string &die = device.dies[i].name;
    memoryDies += die == device.memoryDie;
    for (size_t j = 0; j < i; ++j)
      if (die.empty() || device.dies[j].name == die) {
        error = name +
                ".dies: expected a name of its own for each die but "
                "got '" +
                die + "' twice";
        return std::nullopt;
      }
  }
  if (memoryDies != 1) {
    error = name + ".memory_die: expected the name of a die but got '" +
            device.memoryDie + "'";
    return std::nullopt;
  }
  return device;
}
