//===- DeviceTest.cpp - Target descriptions -------------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests of the boards that are built in, and of reading a description.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Device/Device.h"

#include "gtest/gtest.h"

using namespace streamtensor;

namespace {

/// A complete description, small enough to change in one place.
const char *const kTiny = R"({
  "name": "tiny", "title": "Tiny",
  "part": {"value": "x", "source": "s"},
  "clock_mhz": {"value": 100, "source": "s"},
  "lut": {"value": 1, "source": "s"}, "ff": {"value": 2, "source": "s"},
  "bram36": {"value": 3, "source": "s"}, "uram": {"value": 4, "source": "s"},
  "dsp": {"value": 5, "source": "s"},
  "memory_kind": {"value": "DDR", "source": "s"},
  "memory_channels": {"value": 1, "source": "s"},
  "channel_bytes": {"value": 1024, "source": "s"},
  "peak_gigabytes_per_second": {"value": 19.2, "source": "s"},
  "memory_efficiency": {"value": 0.5, "source": "s"},
  "memory_latency_cycles": {"value": 6, "source": "s"},
  "launch_microseconds": {"value": 1.5, "source": "s"},
  "max_ports": {"value": 2, "source": "s"},
  "memory_die": {"value": "SLR0", "source": "s"},
  "power_watts": {"value": 7.5, "source": "s"},
  "dies": [{"name": "SLR0",
            "lut": {"value": 1, "source": "s"}, "ff": {"value": 2, "source": "s"},
            "bram36": {"value": 3, "source": "s"},
            "uram": {"value": 4, "source": "s"},
            "dsp": {"value": 5, "source": "s"}}]
})";

std::string changed(const std::string &from, const std::string &to) {
  std::string text = kTiny;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  return text.replace(at, from.size(), to);
}

std::string errorOf(const std::string &text) {
  std::string error;
  EXPECT_FALSE(parseDevice(text, error));
  return error;
}

TEST(DeviceTest, EveryBoardIsComplete) {
  for (const std::string &name : deviceNames()) {
    std::string error;
    std::optional<DeviceInfo> device = findDevice(name, error);
    ASSERT_TRUE(device) << error;
    EXPECT_EQ(device->name, name);
    // The dies together have at most what the device has.
    DeviceResources sum;
    for (const DieInfo &die : device->dies) {
      sum.lut += die.resources.lut;
      sum.bram36 += die.resources.bram36;
      sum.dsp += die.resources.dsp;
    }
    EXPECT_LE(sum.lut, device->resources.lut) << name;
    EXPECT_LE(sum.bram36, device->resources.bram36) << name;
    EXPECT_LE(sum.dsp, device->resources.dsp) << name;
  }
}

TEST(DeviceTest, U55C) {
  std::string error;
  std::optional<DeviceInfo> device = findDevice("u55c", error);
  ASSERT_TRUE(device) << error;
  // 16 GB of HBM2 in 32 pseudo channels at 460 GB/s together.
  EXPECT_EQ(device->memoryChannels * device->channelBytes, int64_t(16) << 30);
  EXPECT_EQ(device->peakGigabytesPerSecond, 460.0);
  EXPECT_EQ(device->dies.size(), 3u);
  // 2016 * 4608 + 960 * 36864 bytes
  EXPECT_EQ(device->onChipBytes(), 44679168);
}

TEST(DeviceTest, UnknownFile) {
  std::string error;
  EXPECT_FALSE(findDevice("none/such.json", error));
  EXPECT_EQ(error, "cannot read 'none/such.json': No such file or directory");
}

TEST(DeviceTest, UnknownBoard) {
  std::string error;
  EXPECT_FALSE(findDevice("u50", error));
  EXPECT_EQ(error, "expected a target among u55c, u280, kv260, zcu104 but got "
                   "'u50'");
}

TEST(DeviceTest, Description) {
  std::string error;
  std::optional<DeviceInfo> device = parseDevice(kTiny, error);
  ASSERT_TRUE(device) << error;
  EXPECT_EQ(device->resources.uram, 4);
  EXPECT_EQ(device->powerWatts, 7.5);
  EXPECT_EQ(device->memoryEfficiency, 0.5);
  EXPECT_EQ(device->memoryLatencyCycles, 6);
  EXPECT_EQ(device->launchMicroseconds, 1.5);
  EXPECT_EQ(device->dies.front().resources.dsp, 5);
}

/// Of the board and of each die.
TEST(DeviceTest, EveryResourceIsSaid) {
  const char *const resources[] = {"lut", "ff", "bram36", "uram", "dsp"};
  for (const char *resource : resources) {
    const std::string key = '"' + std::string(resource) + "\": ";
    const std::string other = key.substr(0, key.size() - 3) + "x\": ";
    const std::string expected =
        "." + std::string(resource) + ": expected this key but got none";
    std::string text = kTiny;
    EXPECT_EQ(errorOf(text.replace(text.find(key), key.size(), other)),
              "tiny" + expected);
    text = kTiny;
    EXPECT_EQ(errorOf(text.replace(text.rfind(key), key.size(), other)),
              "tiny.dies" + expected);
  }
}

TEST(DeviceTest, Refusals) {
  EXPECT_EQ(errorOf(changed("\"title\"", "\"colour\": 1, \"title\"")),
            "tiny.colour: expected no such key");
  EXPECT_EQ(errorOf(changed(
                "\"clock_mhz\": {\"value\": 100, \"source\": \"s\"},", "")),
            "tiny.clock_mhz: expected this key but got none");
  EXPECT_EQ(errorOf(changed("{\"value\": 100, \"source\": \"s\"}", "100")),
            "tiny.clock_mhz: expected a value with its source");
  EXPECT_EQ(errorOf(changed("{\"value\": 100, \"source\": \"s\"}",
                            "{\"value\": 100, \"source\": \"\"}")),
            "tiny.clock_mhz: expected a value with its source");
  EXPECT_EQ(errorOf(changed("{\"value\": 100,", "{\"value\": \"fast\",")),
            "tiny.clock_mhz: expected an integer of at least 0 as value");
  EXPECT_EQ(errorOf(changed("[{\"name\": \"SLR0\",",
                            "[{\"name\": \"SLR0\", \"x\": 1,")),
            "tiny.dies.x: expected no such key");
  EXPECT_EQ(errorOf(changed("\"memory_die\": {\"value\": \"SLR0\"",
                            "\"memory_die\": {\"value\": \"SLR1\"")),
            "tiny.memory_die: expected the name of a die but got 'SLR1'");
  // A resource that a die lacks, and numbers that no device has.
  EXPECT_EQ(errorOf(changed("\"uram\": {\"value\": 4, \"source\": \"s\"},\n"
                            "            ",
                            "")),
            "tiny.dies.uram: expected this key but got none");
  EXPECT_EQ(
      errorOf(changed("{\"value\": 4,", "{\"value\": 9223372036854775807,")),
      "tiny.uram: expected at most 1073741824 but got "
      "9223372036854775807");
  EXPECT_EQ(errorOf(changed("{\"value\": 1024,", "{\"value\": 1099511627777,")),
            "tiny.channel_bytes: expected at most 1099511627776 but got "
            "1099511627777");
  EXPECT_EQ(
      errorOf(changed("{\"value\": 1.5,", "{\"value\": 1e300,")).substr(0, 57),
      "tiny.launch_microseconds: expected at most 1000000000 but");
  EXPECT_EQ(errorOf(changed("{\"value\": 0.5,", "{\"value\": 1.5,")),
            "tiny: expected a clock and a peak above 0, and a "
            "memory_efficiency above 0 and of at most 1");
  EXPECT_NE(errorOf("{"), "");
}

} // namespace
