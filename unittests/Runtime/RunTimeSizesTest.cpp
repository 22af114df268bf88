//===- RunTimeSizesTest.cpp - Tests of sizes known at run time ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parameters found from shapes, and the sample design `append` at many lengths.
//
//===----------------------------------------------------------------------===//

#include "runtime/RunTimeSizes.h"

#include "SampleDesigns.h"
#include "runtime/RunDesign.h"
#include "runtime/SimulatedDevice.h"
#include "runtime/TensorTransfer.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace streamtensor;
using namespace streamtensor::runtime;
using namespace streamtensor::runtime::test;
namespace fs = std::filesystem;

namespace {

using Floats = std::vector<float>;
using Problems = std::vector<std::string>;

/// An input of a design whose sizes are `sizes`, of any type's memory.
ArgumentInfo input(const std::string &name, std::vector<TripCount> sizes,
                   const ParameterValues &maxima) {
  ArgumentInfo info;
  info.name = name;
  for (const TripCount &size : sizes)
    info.shape.push_back(size.highest(maxima));
  info.bufferShape = info.shape;
  info.sizes = std::move(sizes);
  return info;
}

/// past from 0 to 9, seq from 1 to 8.
class FindParametersTest : public ::testing::Test {
protected:
  FindParametersTest() { design.parameters = {{"past", 0, 9}, {"seq", 1, 8}}; }

  void add(const std::string &name, std::vector<TripCount> sizes) {
    design.arguments.push_back(
        input(name, std::move(sizes), {{"past", 9}, {"seq", 8}}));
  }

  /// Tensors of these shapes, without data.
  ParameterValues
  find(const std::map<std::string, std::vector<int64_t>> &shapes) {
    TensorMap tensors;
    for (const auto &[name, shape] : shapes)
      tensors[name] = {DType::F32, shape, nullptr, 0};
    problems.clear();
    return findParameters(design, tensors, problems);
  }

  const TripCount past = TripCount::parameter("past"),
                  seq = TripCount::parameter("seq");
  DesignInterface design;
  Problems problems;
};

TEST_F(FindParametersTest, SolvesWhatHasOneUnknown) {
  // seq stands alone in x; past follows from mask then; both are checked in m.
  add("mask", {past + seq + 1, TripCount(4)});
  add("x", {TripCount(1), seq * 3 + 2});
  add("m", {past + seq, TripCount::ceilDiv(seq, 4)});
  const ParameterValues expected = {{"past", 4}, {"seq", 5}};
  EXPECT_EQ(find({{"mask", {10, 4}}, {"x", {1, 17}}, {"m", {9, 2}}}), expected);
  EXPECT_EQ(problems, Problems());
  // 3 seq + 2 is not 16; nothing else tells seq.
  find({{"mask", {10, 4}}, {"x", {1, 16}}, {"m", {9, 2}}});
  EXPECT_EQ(problems, Problems({"'x': expected [1, 3 * seq + 2] F32 with seq "
                                "from 1 to 8 but got [1, 16] F32"}));
  // ceildiv(5, 4) is 2.
  find({{"mask", {10, 4}}, {"x", {1, 17}}, {"m", {9, 1}}});
  EXPECT_EQ(problems,
            Problems({"'m': expected [past + seq, ceildiv(seq, 4)], which is "
                      "[9, 2] with past = 4, seq = 5, but got [9, 1]"}));
}

TEST_F(FindParametersTest, SmallestAndLargestValues) {
  add("x", {seq});
  add("m", {past + seq});
  EXPECT_EQ(find({{"x", {1}}, {"m", {1}}}),
            (ParameterValues{{"past", 0}, {"seq", 1}}));
  EXPECT_EQ(problems, Problems());
  EXPECT_EQ(find({{"x", {8}}, {"m", {17}}}),
            (ParameterValues{{"past", 9}, {"seq", 8}}));
  EXPECT_EQ(problems, Problems());
}

TEST_F(FindParametersTest, ListsEveryMisfitAtOnce) {
  add("x", {TripCount(1), seq, TripCount(4)});
  add("p", {past});
  add("q", {seq});
  find({{"x", {1, 9, 4}}, {"p", {10}}, {"q", {2, 2}}});
  EXPECT_EQ(problems,
            Problems({"'x': expected [1, seq, 4] F32 with seq from 1 to 8 but "
                      "got [1, 9, 4] F32",
                      "'p': expected [past] F32 with past from 0 to 9 but got "
                      "[10] F32",
                      "'q': expected [seq] F32 with seq from 1 to 8 but got "
                      "[2, 2] F32"}));
  find({{"x", {1, 3, 5}}, {"p", {1}}});
  EXPECT_EQ(problems,
            Problems({"'x': expected [1, seq, 4] F32 with seq from 1 to 8 but "
                      "got [1, 3, 5] F32",
                      "missing 'q': expected [seq] F32 with seq from 1 to 8"}));
}

TEST_F(FindParametersTest, NamesArgumentsThatDisagree) {
  add("x", {seq, TripCount(4)});
  add("y", {seq});
  add("p", {past + seq});
  find({{"x", {3, 4}}, {"y", {5}}, {"p", {6}}});
  EXPECT_EQ(problems,
            Problems({"'seq' is 3 in 'x' [seq, 4] but 5 in 'y' [seq]"}));
}

TEST_F(FindParametersTest, ValuesThatFollowMustBeInRange) {
  add("x", {seq});
  add("m", {past + seq});
  // Each could be; together past would be 3 - 8.
  find({{"x", {8}}, {"m", {3}}});
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(problems[0],
            "'m': expected [past + seq] F32 with past from 0 to 9 and seq from "
            "1 to 8 but got [3] F32, so that past = -5, seq = 8");
}

TEST_F(FindParametersTest, AParameterThatNothingTells) {
  add("m", {past + seq});
  find({{"m", {3}}});
  EXPECT_EQ(problems,
            Problems({"expected the size of an input to tell 'past' but none "
                      "does"}));
  // One that has a single value needs no telling.
  design.parameters[0] = {"past", 2, 2};
  EXPECT_EQ(find({{"m", {3}}}), (ParameterValues{{"past", 2}, {"seq", 1}}));
}

//===----------------------------------------------------------------------===//
// The sample design
//===----------------------------------------------------------------------===//

class RunTimeSizesTest : public ::testing::Test {
protected:
  RunTimeSizesTest() : device(makeSimulatedDevice()) {
    makeDesign(directory.path, "append");
  }

  std::string errorOfRead() {
    return errorOf([&] { DesignInterface::read(directory.path.string()); });
  }

  TemporaryDirectory directory;
  std::unique_ptr<Device> device;
};

TEST_F(RunTimeSizesTest, RunsAtEveryLength) {
  const DesignRef design = device->open(directory.path.string());
  const DesignInterface &info = design->interface();
  // Memory is reused from run to run: what a longer one left must not matter.
  std::vector<BufferView> memory;
  for (const ArgumentInfo &argument : info.arguments)
    memory.push_back({device->allocate(argument.bytes)});
  for (int past : {3, 1, 2})
    for (int seq : {4, 0, 1, 3}) {
      const ParameterValues values = {{"past", past}, {"seq", seq}};
      Floats arg0, arg1, expected;
      for (int i = 0; i < 2 * past; ++i) {
        arg1.push_back(static_cast<float>(100 * past + i));
        expected.push_back(arg1.back());
      }
      for (int i = 0; i < 2 * seq; ++i) {
        arg0.push_back(static_cast<float>(1000 * seq + i));
        expected.push_back(2 * arg0.back());
      }
      writeTensor(*device, memory[0], info.arguments[0].at(values),
                  arg0.data());
      writeTensor(*device, memory[1], info.arguments[1].at(values),
                  arg1.data());
      const RunStatistics run = device->run(*design, memory, values);
      const std::vector<char> bytes =
          readTensor(*device, memory[2], info.arguments[2].at(values));
      ASSERT_EQ(bytes.size(), expected.size() * sizeof(float));
      EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0)
          << past << " " << seq;
      // One multiply-accumulate per element of arg0; 4 bytes per element.
      EXPECT_EQ(run.macs, 2u * seq);
      EXPECT_EQ(run.dmaBytes, (std::vector<uint64_t>{8u * seq, 8u * past,
                                                     8u * (past + seq)}));
    }
}

TEST_F(RunTimeSizesTest, RefusesValuesOutsideOfTheirRange) {
  const DesignRef design = device->open(directory.path.string());
  std::vector<BufferView> memory;
  for (const ArgumentInfo &argument : design->interface().arguments)
    memory.push_back({device->allocate(argument.bytes)});
  const std::string of = " of design '" + directory.path.string() + "' ";
  auto errorAt = [&](const ParameterValues &values) {
    return errorOf([&] { device->run(*design, memory, values); });
  };
  EXPECT_EQ(errorAt({{"past", 4}, {"seq", 1}}),
            "parameter 'past'" + of + "expected a value from 1 to 3 but got 4");
  EXPECT_EQ(errorAt({{"past", 1}, {"seq", -1}}),
            "parameter 'seq'" + of + "expected a value from 0 to 4 but got -1");
  EXPECT_EQ(errorAt({{"past", 1}}),
            "parameter 'seq'" + of +
                "expected a value from 0 to 4 but got none");
  EXPECT_EQ(errorAt({{"past", 1}, {"seq", 1}, {"rows", 1}}),
            "design '" + directory.path.string() +
                "' expected 2 parameters but got 3");
}

TEST_F(RunTimeSizesTest, CountsTokensLeftAtTheLengthOfTheRun) {
  std::string kernel = readFile(directory.path / "hls/kernel.cpp");
  // The store is right for one row of past only.
  const std::string count = "i0 < past + seq; ";
  kernel.replace(kernel.find(count), count.size(), "i0 < 1 + seq; ");
  makeDesignOf(directory.path, "append", kernel);
  const DesignRef design = device->open(directory.path.string());
  std::vector<BufferView> memory;
  for (const ArgumentInfo &argument : design->interface().arguments)
    memory.push_back({device->allocate(argument.bytes)});
  EXPECT_EQ(device->run(*design, memory, {{"past", 1}, {"seq", 3}}).dmaBytes[2],
            32u);
  // One row of two tokens more than it reads.
  const std::string error =
      errorOf([&] { device->run(*design, memory, {{"past", 2}, {"seq", 3}}); });
  EXPECT_NE(
      error.find("fifo 'append_0_out' of 'group0' has 2 left-over tokens"),
      std::string::npos)
      << error;
}

TEST_F(RunTimeSizesTest, ReadsAndWritesTensorsOfTheirRealShape) {
  const std::string inputs = (directory.path / "in.safetensors").string();
  const std::string outputs = (directory.path / "out.safetensors").string();
  const Floats arg1 = {1, 2, 3, 4};
  std::string error;
  // No rows of arg0 at all.
  ASSERT_TRUE(writeSafetensors(inputs,
                               {{"arg0", {DType::F32, {0, 2}, nullptr, 0}},
                                {"arg1", view(arg1, {2, 2})}},
                               error))
      << error;
  runDesign(*device, {directory.path.string(), inputs, outputs, ""});
  const auto file = SafetensorsFile::open(outputs, error);
  ASSERT_TRUE(file) << error;
  const TensorView *result = file->find("result0");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(std::memcmp(result->data, arg1.data(), 16), 0);
}

TEST_F(RunTimeSizesTest, ReadsOnlySizesThatFit) {
  const fs::path file = directory.path / "interface.json";
  const std::string where = file.string() + ": ";
  auto errorWith = [&](const std::string &from, const std::string &to) {
    makeDesign(directory.path, "append");
    replaceInFile(file, from, to);
    return errorOfRead();
  };
  auto expectEnd = [&](const std::string &error, const std::string &end) {
    ASSERT_GE(error.size(), end.size()) << error;
    EXPECT_EQ(error.substr(error.size() - end.size()), end);
  };
  expectEnd(errorWith("[\"seq\", \"2\"]", "[\"seq\"]"),
            "arguments[0].dims: expected 2 sizes but got 1");
  expectEnd(errorWith("[\"seq\", \"2\"]", "[\"rows\", \"2\"]"),
            "arguments[0].dims: expected an expression of the design's "
            "parameters but got 'rows'");
  expectEnd(errorWith("[\"seq\", \"2\"]", "[\"rows max 4\", \"2\"]"),
            "arguments[0].dims: expected an expression of the design's "
            "parameters but got 'rows max 4'");
  expectEnd(errorWith("[\"seq\", \"2\"]", "[\"seq + 1\", \"2\"]"),
            "arguments[0].dims: expected size 'seq + 1' to fit 4, the size in "
            "shape, but it is up to 5");
  expectEnd(errorWith("[\"seq\", \"2\"]", "[\"seq\", \"1\"]"),
            "arguments[0].dims: expected size '1' to fit 2, the size in shape, "
            "but it is up to 1");
  expectEnd(errorWith("\"min\": 1, \"max\": 3", "\"min\": 4, \"max\": 3"),
            "parameters[0].max: expected at least 4 but got 3");
  expectEnd(errorWith("\"name\": \"seq\"", "\"name\": \"past\""),
            "parameters[1].name: expected each parameter once but got 'past' "
            "twice");
}

} // namespace
