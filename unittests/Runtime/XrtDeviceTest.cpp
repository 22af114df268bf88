//===- XrtDeviceTest.cpp - Tests of the device on a board -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// XrtDevice as it is built for a board, run over the library runtime/xrt-sim in
// the place of XRT's. Expected results are computed by hand.
//
//===----------------------------------------------------------------------===//

#include "runtime/XrtDevice.h"

#include "SampleDesigns.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>

using namespace streamtensor::runtime;
using namespace streamtensor::runtime::test;
namespace fs = std::filesystem;

namespace {

using Floats = std::vector<float>;

const char *const kSimulated = "streamtensor simulated xclbin\n";

class XrtDeviceTest : public ::testing::Test {
protected:
  // The product is built once for all tests: its simulation is kept.
  static void SetUpTestSuite() {
    shared = new TemporaryDirectory;
    makeBoardDesign(shared->path / "matvec", "matvec", {3, 5, 7});
  }
  static void TearDownTestSuite() { delete shared; }

  static void makeBoardDesign(const fs::path &path, const std::string &name,
                              const std::vector<int> &banks) {
    makeDesign(path, name);
    makeBanks(path, banks);
    writeFile(path / (name + ".xclbin"),
              std::string(kSimulated) + "design .\n");
  }

  XrtDeviceTest() : matvec((shared->path / "matvec").string()) {}

  void useDevice(const XrtOptions &options = {}) {
    device.reset(); // a board is opened once
    device = makeXrtDevice(options);
  }
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
  std::string errorOfOpen(const std::string &directory,
                          const XrtOptions &options = {}) {
    return errorOf([&] {
      useDevice(options);
      device->open(directory);
    });
  }

  static TemporaryDirectory *shared;
  const std::string matvec;
  TemporaryDirectory directory;
  std::unique_ptr<Device> device;
};

TemporaryDirectory *XrtDeviceTest::shared = nullptr;

/// y[n] = sum over k of x[k] (n + 10 k).
Floats matvecResult(const Floats &x) {
  Floats y(32);
  for (int n = 0; n < 32; ++n)
    for (int k = 0; k < 8; ++k)
      y[n] += x[k] * static_cast<float>(n + 10 * k);
  return y;
}

TEST_F(XrtDeviceTest, RunsAMatrixProduct) {
  useDevice();
  const DesignRef design = device->open(matvec);
  const BufferRef result = device->allocate(128);
  const RunStatistics run = device->run(
      *design,
      {{upload(matvecInput())}, {upload(matvecPackedWeights())}, {result}}, {});
  EXPECT_EQ(download(*result), matvecResult(matvecInput()));
  EXPECT_GT(run.seconds, 0.0);
  EXPECT_FALSE(run.isCounted);
}

TEST_F(XrtDeviceTest, AResultIsTheInputOfTheNextRunInAnotherBank) {
  useDevice();
  const DesignRef design = device->open(matvec);
  const BufferRef w = upload(matvecPackedWeights());
  const BufferRef x = upload({0, 1, 0, 0, 0, 0, 0, 0}),
                  y = device->allocate(128), z = device->allocate(128);
  device->run(*design, {{x}, {w}, {y}}, {});
  device->run(*design, {{y}, {w}, {z}}, {});
  // y = 10, 11, ..., so the first 8 of them are the factors.
  EXPECT_EQ(download(*z), matvecResult({10, 11, 12, 13, 14, 15, 16, 17}));
  // And back: z was written in the bank of results, y is both by now.
  device->run(*design, {{x}, {w}, {y}}, {});
  device->run(*design, {{y}, {w}, {z}}, {});
  EXPECT_EQ(download(*z), matvecResult({10, 11, 12, 13, 14, 15, 16, 17}));
}

TEST_F(XrtDeviceTest, WritesBetweenRunsReachTheBoard) {
  useDevice();
  const DesignRef design = device->open(matvec);
  const BufferRef w = upload(matvecPackedWeights()), x = upload(matvecInput()),
                  y = device->allocate(128);
  device->run(*design, {{x}, {w}, {y}}, {});
  Floats expected = matvecResult(matvecInput());
  // Four bytes of what the kernel has written: its neighbours stay.
  const float one = 1;
  device->write(*y, 4, &one, 4);
  expected[1] = 1;
  EXPECT_EQ(download(*y), expected);
  // An input that is on the board already.
  device->write(*x, 8, &one, 4);
  device->run(*design, {{x}, {w}, {y}}, {});
  EXPECT_EQ(download(*y), matvecResult({1, 2, 1, 4, 5, 6, 7, 8}));
  device->copy(*x, 0, *y, 8, 12);
  const Floats now = matvecResult({1, 2, 1, 4, 5, 6, 7, 8});
  EXPECT_EQ(download(*x), Floats({now[2], now[3], now[4], 4, 5, 6, 7, 8}));
  device->fillZero(*x);
  device->run(*design, {{x}, {w}, {y}}, {});
  EXPECT_EQ(download(*y), Floats(32, 0.0f));
}

TEST_F(XrtDeviceTest, AnArgumentMayBeginInsideABuffer) {
  useDevice();
  const DesignRef design = device->open(matvec);
  Floats large(16 + 8, -1.0f);
  std::copy_n(matvecInput().begin(), 8, large.begin() + 16);
  const BufferRef y = device->allocate(64 + 128 + 64);
  device->run(*design,
              {{upload(large), 64}, {upload(matvecPackedWeights())}, {y, 64}},
              {});
  Floats expected(16, 0.0f);
  const Floats result = matvecResult(matvecInput());
  expected.insert(expected.end(), result.begin(), result.end());
  expected.resize(64, 0.0f);
  EXPECT_EQ(download(*y), expected);
}

TEST_F(XrtDeviceTest, SizesAreArgumentsBehindTheBuffers) {
  makeBoardDesign(directory.path, "append", {0, 1, 2});
  useDevice();
  const DesignRef design = device->open(directory.path.string());
  const BufferRef result = device->allocate(56);
  const std::vector<BufferView> views = {{upload({1, 2, 3, 4, 5, 6, 7, 8})},
                                         {upload({9, 10, 11, 12, 13, 14})},
                                         {result}};
  device->run(*design, views, {{"past", 2}, {"seq", 1}});
  // Rows of the past, then twice those of the input.
  const Floats rows = download(*result);
  EXPECT_EQ(Floats(rows.begin(), rows.begin() + 6),
            Floats({9, 10, 11, 12, 2, 4}));
  EXPECT_EQ(
      errorOf([&] { device->run(*design, views, {{"past", 2}, {"seq", 5}}); }),
      "parameter 'seq' of design '" + directory.path.string() +
          "' expected a value from 0 to 4 but got 5");
}

TEST_F(XrtDeviceTest, WeightsAreFiles) {
  writeFloats(directory.path / "w.bin", matvecPackedWeights());
  useDevice();
  const DesignRef design = device->open(matvec);
  const BufferRef w = device->loadFile((directory.path / "w.bin").string()),
                  y = device->allocate(128);
  device->run(*design, {{upload(matvecInput())}, {w}, {y}}, {});
  EXPECT_EQ(download(*y), matvecResult(matvecInput()));
  EXPECT_EQ(download(*w), matvecPackedWeights());
  const float zero = 0;
  EXPECT_EQ(errorOf([&] { device->write(*w, 0, &zero, 4); }),
            "cannot write to a buffer that was loaded from a file");
  EXPECT_EQ(errorOf([&] {
              device->run(*design, {{upload(matvecInput())}, {w}, {w}}, {});
            }),
            "argument 'result0' of design '" + matvec +
                "' is written but its buffer is a file");
}

TEST_F(XrtDeviceTest, LargeBuffersLieInPieces) {
  XrtOptions options;
  options.pieceBytes = 4096;
  useDevice(options);
  const DesignRef design = device->open(matvec);
  Floats values(2560); // two pieces and a half
  std::iota(values.begin(), values.end(), 0.0f);
  const BufferRef large = upload(values);
  EXPECT_EQ(download(*large), values);
  // In the second piece: x; in the third one: the result.
  const Floats x = matvecInput();
  device->write(*large, 4096 + 64, x.data(), 32);
  device->run(
      *design,
      {{large, 4096 + 64}, {upload(matvecPackedWeights())}, {large, 8192 + 64}},
      {});
  std::copy(x.begin(), x.end(), values.begin() + 1024 + 16);
  const Floats y = matvecResult(x);
  std::copy(y.begin(), y.end(), values.begin() + 2048 + 16);
  EXPECT_EQ(download(*large), values);
  // Across the first boundary, on the host and on the board.
  device->copy(*large, 4092, *large, 8192 + 64, 8);
  values[1023] = y[0];
  values[1024] = y[1];
  EXPECT_EQ(download(*large), values);
  EXPECT_EQ(errorOf([&] {
              device->run(*design,
                          {{upload(x)}, {large, 4096 - 64}, {upload(y)}}, {});
            }),
            "argument 'arg1' of design '" + matvec +
                "' lies across a boundary of the pieces of 4096 bytes in which "
                "a larger buffer lies on a board; give it a buffer of its own");
}

TEST_F(XrtDeviceTest, ArgumentsAreCheckedBeforeALaunch) {
  useDevice();
  const DesignRef design = device->open(matvec);
  const BufferRef w = upload(matvecPackedWeights()), y = device->allocate(128);
  const std::string name = "design '" + matvec + "'";
  EXPECT_EQ(
      errorOf([&] { device->run(*design, {{upload({1, 2})}, {w}, {y}}, {}); }),
      "argument 'arg0' of " + name +
          " expected 32 bytes but got a buffer of 8 from byte 0");
  EXPECT_EQ(errorOf([&] { device->run(*design, {{w}, {w}}, {}); }),
            name + " expected 3 arguments but got 2");
  EXPECT_EQ(download(*y), Floats(32, 0.0f));
}

TEST_F(XrtDeviceTest, ArgumentsOf4GBAreRefused) {
  makeDesign(directory.path, "matvec");
  // 2^32 bytes.
  replaceInFile(directory.path / "interface.json",
                "\"shape\": [8], \"buffer_shape\": [8], \"bytes\": 32,",
                "\"shape\": [1073741824], \"buffer_shape\": [1073741824], "
                "\"bytes\": 4294967296,");
  EXPECT_EQ(errorOfOpen(directory.path.string()),
            "argument 'arg0' of design '" + directory.path.string() +
                "' has 4294967296 bytes but a buffer of XRT has at most "
                "4294963200; split the tensor in the model");
}

TEST_F(XrtDeviceTest, WithoutABoard) {
  XrtOptions options;
  options.board = 7;
  setenv("XILINX_XRT", "set", 1);
  EXPECT_EQ(errorOf([&] { useDevice(options); }),
            "cannot open board 7: Could not open device with index '7'; check "
            "the board with 'xbutil examine', or run without one: --device "
            "csim");
  unsetenv("XILINX_XRT");
  EXPECT_EQ(errorOf([&] { useDevice(options); }),
            "cannot open board 7: Could not open device with index '7'; run "
            "the setup.sh of the XRT installation, which sets XILINX_XRT");
}

TEST_F(XrtDeviceTest, AnExecutableMustBeThere) {
  const fs::path design = directory.path / "design";
  makeDesign(design, "matvec");
  EXPECT_EQ(errorOfOpen(design.string()),
            "design '" + design.string() +
                "' expected its executable for a board in '" + design.string() +
                "/matvec.xclbin' or '" + directory.path.string() +
                "/model.xclbin' but neither exists; make it with 'make -C " +
                design.string() + " link PLATFORM=NAME' (needs Vitis)");
  XrtOptions options;
  options.xclbin = (directory.path / "none").string();
  EXPECT_EQ(errorOfOpen(design.string(), options),
            "expected an executable for a board but '" + options.xclbin +
                "' is no file");
  writeFile(options.xclbin, "xclbin2");
  EXPECT_EQ(errorOfOpen(design.string(), options),
            "cannot load '" + options.xclbin + "' on board 0: '" +
                options.xclbin +
                "' is no executable of a simulated board; it must be linked "
                "for the platform of this board");
}

TEST_F(XrtDeviceTest, AnExecutableMustBeOfTheDesign) {
  const fs::path append = directory.path / "append",
                 other = directory.path / "x";
  makeBoardDesign(append, "append", {0, 1, 2});
  XrtOptions options;
  options.xclbin = (append / "append.xclbin").string();
  EXPECT_EQ(errorOfOpen(matvec, options),
            "'" + options.xclbin + "' has no kernel 'matvec' of design '" +
                matvec + "' but 'append'; it was linked for another design");
  // The same name with one argument less.
  makeDesign(other, "append");
  replaceInFile(other / "interface.json",
                "  {\"name\": \"past\", \"min\": 1, \"max\": 3},\n", "");
  replaceInFile(other / "interface.json", "\"past + seq\"", "\"seq\"");
  replaceInFile(other / "interface.json", "\"past\", \"2\"", "\"3\", \"2\"");
  replaceInFile(other / "interface.json",
                "\"shape\": [7, 2], \"dims\": [\"seq\"",
                "\"shape\": [4, 2], \"dims\": [\"seq\"");
  EXPECT_EQ(errorOfOpen(other.string(), options),
            "kernel 'append' of '" + options.xclbin +
                "' has 5 arguments but design '" + other.string() +
                "' expected 4; link the executable again");
}

TEST_F(XrtDeviceTest, AnExecutableMustBeOfTheSameKernel) {
  makeBoardDesign(directory.path, "append", {0, 1, 2});
  const std::string executable = (directory.path / "append.xclbin").string();
  writeFile(executable + ".kernels", "12ab other\n34cd append\n");
  const std::string error = errorOfOpen(directory.path.string());
  EXPECT_EQ(error.rfind("kernel 'append' of '" + executable +
                            "' was made of another text than design '" +
                            directory.path.string() +
                            "' has: expected SHA-256 ",
                        0),
            0u)
      << error;
  EXPECT_NE(error.find(" but got 34cd; link the executable again"),
            std::string::npos)
      << error;
  // Nothing is said of this kernel.
  writeFile(executable + ".kernels", "12ab other\n");
  EXPECT_EQ(errorOfOpen(directory.path.string()), "no error");
}

TEST_F(XrtDeviceTest, ABoardHoldsOneExecutable) {
  const fs::path append = directory.path / "append";
  makeBoardDesign(append, "append", {0, 1, 2});
  useDevice();
  device->open(matvec);
  EXPECT_EQ(errorOf([&] { device->open(append.string()); }),
            "the board holds the executable '" + matvec +
                "/matvec.xclbin', so '" + append.string() +
                "/append.xclbin' cannot be loaded beside it; link the kernels "
                "into one model.xclbin beside the designs");
  // The same one again is no matter.
  device->open(matvec);
}

TEST_F(XrtDeviceTest, ARunThatDoesNotEnd) {
  std::string kernel = readFile(fs::path(TEST_DATA_DIR) / "matvec.cpp");
  // One product too many is expected.
  kernel.replace(kernel.find("for (int k = 0; k < 8; ++k)"), 27,
                 "for (int k = 0; k < 9; ++k)");
  makeDesignOf(directory.path, "matvec", kernel);
  makeBanks(directory.path, {0, 1, 2});
  writeFile(directory.path / "matvec.xclbin",
            std::string(kSimulated) + "design .\n");
  useDevice();
  const DesignRef design = device->open(directory.path.string());
  EXPECT_EQ(errorOf([&] {
              device->run(*design,
                          {{upload(matvecInput())},
                           {upload(matvecPackedWeights())},
                           {device->allocate(128)}},
                          {});
            }),
            "design '" + directory.path.string() +
                "' did not end within 60000 ms (state 'timeout'); reset the "
                "board with 'xbutil reset', or give it more time in "
                "STREAMTENSOR_XRT_TIMEOUT_MS");
}

TEST_F(XrtDeviceTest, OptionsFromTheEnvironment) {
  setenv("STREAMTENSOR_XRT_BOARD", "2", 1);
  setenv("STREAMTENSOR_XRT_TIMEOUT_MS", "1500", 1);
  const XrtOptions options = XrtOptions::fromEnvironment();
  EXPECT_EQ(options.board, 2u);
  EXPECT_EQ(options.timeout.count(), 1500);
  setenv("STREAMTENSOR_XRT_BOARD", "2x", 1);
  EXPECT_EQ(errorOf([] { XrtOptions::fromEnvironment(); }),
            "expected STREAMTENSOR_XRT_BOARD to be a number from 0 to "
            "2147483647 but got '2x'");
  unsetenv("STREAMTENSOR_XRT_BOARD");
  unsetenv("STREAMTENSOR_XRT_TIMEOUT_MS");
}

} // namespace
