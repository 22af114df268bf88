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

#include "llvm/ADT/STLExtras.h"

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

bool readResources(ObjectReader &reader, DeviceResources &out) {
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
  ObjectReader reader(*object, name, error);
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
    ObjectReader dieReader(*die, name + ".dies", error);
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
