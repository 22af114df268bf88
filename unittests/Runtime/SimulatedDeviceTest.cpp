//===- SimulatedDeviceTest.cpp - Tests of the simulated device ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Designs are built with the host compiler, loaded and run; expected results
// are computed by hand.
//
//===----------------------------------------------------------------------===//

#include "runtime/SimulatedDevice.h"

#include "SampleDesigns.h"
#include "runtime/TensorTransfer.h"

#include <cstdlib>
#include <gtest/gtest.h>

using namespace streamtensor::runtime;
using namespace streamtensor::runtime::test;
namespace fs = std::filesystem;

namespace {

using Floats = std::vector<float>;

class SimulatedDeviceTest : public ::testing::Test {
protected:
  SimulatedDeviceTest()
      : device(makeSimulatedDevice(
            [this](const std::string &text) { progress.push_back(text); })) {}

  BufferRef upload(const Floats &values) {
    BufferRef buffer = device->allocate(values.size() * sizeof(float));
    device->write(*buffer, 0, values.data(), values.size() * sizeof(float));
    return buffer;
  }

  Floats download(const Buffer &buffer) {
    Floats values(buffer.bytes() / sizeof(float));
    device->read(buffer, 0, values.data(), buffer.bytes());
    return values;
  }

  size_t numLibraries() {
    size_t count = 0;
    for (const auto &entry : fs::directory_iterator(directory.path / "csim"))
      count += entry.path().extension() == ".so";
    return count;
  }

  TemporaryDirectory directory;
  std::vector<std::string> progress;
  std::unique_ptr<Device> device;
};

/// y[n] = sum over k of (k + 1) (n + 10 k) = 36 n + 10 * 168.
Floats matvecResult() {
  Floats y;
  for (int n = 0; n < 32; ++n)
    y.push_back(static_cast<float>(36 * n + 1680));
  return y;
}

TEST_F(SimulatedDeviceTest, RunsAMatrixProduct) {
  makeDesign(directory.path, "matvec");
  const DesignRef design = device->open(directory.path.string());
  const BufferRef result = device->allocate(32 * sizeof(float));
  const RunStatistics run = device->run(
      *design,
      {{upload(matvecInput())}, {upload(matvecPackedWeights())}, {result}}, {});
  EXPECT_EQ(download(*result), matvecResult());

  // 32 x 8 products; x is 8 floats, the weights 16 tokens of 64 bytes, the
  // result 2 tokens of 64 bytes.
  EXPECT_EQ(run.macs, 256u);
  EXPECT_EQ(run.dmaBytes, std::vector<uint64_t>({32, 1024, 128}));
  ASSERT_EQ(run.fifos.size(), 3u);
  EXPECT_EQ(run.fifos[1].name, "load_arg1_out");
  EXPECT_EQ(run.fifos[1].group, "group0");
  EXPECT_EQ(run.fifos[1].tokens, 16u);
  EXPECT_EQ(run.fifos[1].depth, 4u);
  EXPECT_EQ(run.fifos[1].peak, 4u);
  EXPECT_GT(run.seconds, 0.0);

  // Runs do not add up.
  EXPECT_EQ(device
                ->run(*design,
                      {{upload(matvecInput())},
                       {upload(matvecPackedWeights())},
                       {result}},
                      {})
                .macs,
            256u);
}

TEST_F(SimulatedDeviceTest, BuildsOnceAndAgainWhenTheKernelChanges) {
  makeDesign(directory.path, "matvec");
  // What an interrupted build of a process that is gone has left.
  writeFile(directory.path / "csim/build2147483646.0/simulation.so", "half");
  device->open(directory.path.string());
  ASSERT_EQ(progress.size(), 1u);
  EXPECT_EQ(progress[0], "building the simulation of " +
                             (directory.path / "hls/kernel.cpp").string());
  device->open(directory.path.string());
  EXPECT_EQ(progress.size(), 1u);
  makeDesignOf(directory.path, "matvec",
               readFile(directory.path / "hls/kernel.cpp") + "// changed\n");
  device->open(directory.path.string());
  EXPECT_EQ(progress.size(), 2u);
  EXPECT_EQ(numLibraries(), 2u);
  // Nothing else is left behind.
  for (const auto &entry : fs::directory_iterator(directory.path / "csim"))
    EXPECT_EQ(entry.path().extension(), ".so") << entry.path();
}

TEST_F(SimulatedDeviceTest, RefusesAKernelThatWasChanged) {
  makeDesign(directory.path, "matvec");
  const std::string kernel = readFile(directory.path / "hls/kernel.cpp");
  writeFile(directory.path / "hls/kernel.cpp", kernel + "\n");
  const std::string error =
      errorOf([&] { device->open(directory.path.string()); });
  EXPECT_NE(error.find("is not the kernel that interface.json describes: "
                       "expected SHA-256 "),
            std::string::npos)
      << error;
  EXPECT_FALSE(fs::exists(directory.path / "csim"));
}

TEST_F(SimulatedDeviceTest, ShowsTheCompilersFirstMessages) {
  std::string kernel = readFile(fs::path(TEST_DATA_DIR) / "matvec.cpp");
  kernel.replace(kernel.find("const float xk = x.read();"), 26,
                 "const float xk = x.undefined();");
  makeDesignOf(directory.path, "matvec", kernel);
  const std::string error =
      errorOf([&] { device->open(directory.path.string()); });
  EXPECT_EQ(error.find("cannot build the simulation of '"), 0u) << error;
  EXPECT_NE(error.find("failed with exit code 1\n"), std::string::npos)
      << error;
  EXPECT_NE(error.find("undefined"), std::string::npos) << error;
  EXPECT_EQ(numLibraries(), 0u);
}

TEST_F(SimulatedDeviceTest, InterfaceWithTooFewArgumentsDoesNotBuild) {
  makeDesign(directory.path, "matvec");
  replaceInFile(directory.path / "interface.json",
                "\"shape\": [32], \"buffer_shape\": [32], \"bytes\": 128, "
                "\"packing\": null}",
                "\"shape\": [32], \"buffer_shape\": [32], \"bytes\": 128, "
                "\"packing\": null}, {\"name\": \"result1\", \"role\": "
                "\"output\", \"dtype\": \"F32\", \"shape\": [], "
                "\"bytes\": 4}");
  const std::string error =
      errorOf([&] { device->open(directory.path.string()); });
  EXPECT_NE(error.find("as many parameters of the top function"),
            std::string::npos)
      << error;
}

TEST_F(SimulatedDeviceTest, NamesAMissingCompiler) {
  makeDesign(directory.path, "matvec");
  setenv("STREAMTENSOR_CXX", "no-such-compiler", 1);
  const std::string error =
      errorOf([&] { device->open(directory.path.string()); });
  unsetenv("STREAMTENSOR_CXX");
  EXPECT_EQ(error, "expected STREAMTENSOR_CXX to name a compiler but there is "
                   "no program 'no-such-compiler'");
}

TEST_F(SimulatedDeviceTest, EitherCompilerGivesTheSameResult) {
  makeDesign(directory.path, "matvec");
  for (const char *compiler : {"g++", "clang++-22"}) {
    setenv("STREAMTENSOR_CXX", compiler, 1);
    DesignRef design;
    const std::string error =
        errorOf([&] { design = device->open(directory.path.string()); });
    unsetenv("STREAMTENSOR_CXX");
    if (error.find("there is no program") != std::string::npos)
      continue;
    ASSERT_EQ(error, "no error");
    const BufferRef result = device->allocate(32 * sizeof(float));
    device->run(
        *design,
        {{upload(matvecInput())}, {upload(matvecPackedWeights())}, {result}},
        {});
    EXPECT_EQ(download(*result), matvecResult()) << compiler;
  }
}

TEST_F(SimulatedDeviceTest, DeadlockNamesTheDesign) {
  std::string kernel = readFile(fs::path(TEST_DATA_DIR) / "matvec.cpp");
  // One product too many is expected.
  kernel.replace(kernel.find("for (int k = 0; k < 8; ++k)"), 27,
                 "for (int k = 0; k < 9; ++k)");
  makeDesignOf(directory.path, "matvec", kernel);
  const DesignRef design = device->open(directory.path.string());
  const BufferRef result = device->allocate(32 * sizeof(float));
  EXPECT_EQ(errorOf([&] {
              device->run(*design,
                          {{upload(matvecInput())},
                           {upload(matvecPackedWeights())},
                           {result}},
                          {});
            }),
            "design '" + directory.path.string() +
                "': deadlock: process 'matmul_0' waits to read empty fifo "
                "'load_arg0_out' (0/2), but its writer 'load_arg0' has ended "
                "after 8 tokens");
}

TEST_F(SimulatedDeviceTest, ChecksTheArgumentsOfARun) {
  makeDesign(directory.path, "matvec");
  const DesignRef design = device->open(directory.path.string());
  const std::string name = "design '" + directory.path.string() + "'";
  const BufferRef x = upload(matvecInput()), w = upload(matvecPackedWeights());
  EXPECT_EQ(errorOf([&] { device->run(*design, {{x}, {w}}, {}); }),
            name + " expected 3 arguments but got 2");
  EXPECT_EQ(errorOf([&] { device->run(*design, {{x}, {w}, {nullptr}}, {}); }),
            "argument 'result0' of " + name +
                " expected a buffer but got none");
  EXPECT_EQ(errorOf([&] { device->run(*design, {{x}, {x}, {w}}, {}); }),
            "argument 'arg1' of " + name +
                " expected 1024 bytes but got a buffer of 32 from byte 0");
  EXPECT_EQ(errorOf([&] { device->run(*design, {{w, 4}, {w}, {w}}, {}); }),
            "argument 'arg0' of " + name +
                " expected an offset that is a multiple of 64 but got 4");
}

TEST_F(SimulatedDeviceTest, BuffersAreZeroAndTakeRanges) {
  const BufferRef buffer = device->allocate(16);
  EXPECT_EQ(download(*buffer), Floats({0, 0, 0, 0}));
  const Floats values = {1, 2, 3};
  device->write(*buffer, 4, values.data(), 8);
  EXPECT_EQ(download(*buffer), Floats({0, 1, 2, 0}));
  const BufferRef other = upload({7, 8, 9, 10});
  device->copy(*buffer, 8, *other, 4, 8);
  EXPECT_EQ(download(*buffer), Floats({0, 1, 8, 9}));
  float value = 0;
  device->read(*buffer, 12, &value, 4);
  EXPECT_EQ(value, 9.0f);
  device->fillZero(*buffer);
  EXPECT_EQ(download(*buffer), Floats({0, 0, 0, 0}));
  EXPECT_EQ(errorOf([&] { device->write(*buffer, 8, values.data(), 12); }),
            "cannot write bytes 8 to 20 of a buffer of 16 bytes");
  EXPECT_EQ(errorOf([&] { device->read(*buffer, 20, &value, 4); }),
            "cannot read bytes 20 to 24 of a buffer of 16 bytes");
}

TEST_F(SimulatedDeviceTest, FilesAreBuffersThatCannotBeWritten) {
  const fs::path path = directory.path / "weights.bin";
  writeFloats(path, {1, 2, 3});
  const BufferRef buffer = device->loadFile(path.string());
  EXPECT_EQ(download(*buffer), Floats({1, 2, 3}));
  const float value = 0;
  EXPECT_EQ(errorOf([&] { device->write(*buffer, 0, &value, 4); }),
            "cannot write to a buffer that was loaded from a file");
  EXPECT_EQ(errorOf([&] { device->loadFile(path.string() + "x"); }),
            "cannot open '" + path.string() + "x': No such file or directory");
}

TEST_F(SimulatedDeviceTest, MissingDesignIsExplained) {
  EXPECT_EQ(errorOf([&] { device->open(directory.path.string()); }),
            "expected a compiled design in '" + directory.path.string() +
                "' but there is no interface.json; make one with "
                "streamtensor-compile --output-dir");
}

TEST_F(SimulatedDeviceTest, BrokenInterfaceIsExplained) {
  makeDesign(directory.path, "matvec");
  const fs::path file = directory.path / "interface.json";
  const std::string good = readFile(file);
  auto errorAfter = [&](const std::string &from, const std::string &to) {
    writeFile(file, good);
    replaceInFile(file, from, to);
    return errorOf([&] { device->open(directory.path.string()); });
  };
  EXPECT_EQ(errorAfter("\"function\": \"matvec\",", ""),
            file.string() + ": function: expected this field but found none");
  EXPECT_EQ(errorAfter("\"shape\": [32, 8]", "\"shape\": [32, \"8\"]"),
            file.string() + ": arguments[1].shape: expected a list of integers "
                            "but got [32,\"8\"]");
  // 2^63 is no negative number, and 2^32 loops are not loop 0.
  EXPECT_EQ(errorAfter("\"bytes_per_token\": 64, \"bytes\": 1024",
                       "\"bytes_per_token\": 9223372036854775808"),
            file.string() + ": dma[1].bytes_per_token: expected an integer but "
                            "got 9223372036854775808");
  EXPECT_EQ(errorAfter("\"map\": [[1], [0]]", "\"map\": [[1], [4294967296]]"),
            file.string() + ": arguments[1].packing.map: expected a list of "
                            "lists of loop numbers but got [[1],[4294967296]]");
  // Their product is 2^64 bytes, which is 0 in 64 bits.
  EXPECT_EQ(errorAfter("\"shape\": [8], \"buffer_shape\": [8]",
                       "\"shape\": [2147483648, 2147483648]"),
            file.string() + ": arguments[0].shape: expected fewer than 2^63 "
                            "bytes but got 2147483648x2147483648");
  // A third loop that lets all 256 elements pass three times.
  EXPECT_EQ(errorAfter("\"trips\": [8, 2], \"steps\": [1, 16]",
                       "\"trips\": [8, 2, 3], \"steps\": [1, 16, 1]"),
            file.string() + ": arguments[1].packing: expected an order that "
                            "fits the 1024 bytes of the argument");
  EXPECT_EQ(errorAfter("\"macs_fifo\": \"load_arg1_out\"",
                       "\"macs_fifo\": \"nowhere\""),
            file.string() + ": tasks[2].macs_fifo: expected the name of a fifo "
                            "of this design but got 'nowhere'");
  EXPECT_EQ(errorAfter("\"schema\": 1", "\"schema\": 2"),
            file.string() +
                ": schema: expected 1 but got 2; compile the design again");
  writeFile(file, good.substr(0, good.size() / 2));
  EXPECT_EQ(errorOf([&] {
              device->open(directory.path.string());
            }).find(file.string() + ": expected JSON but got: "),
            0u);
}

} // namespace
