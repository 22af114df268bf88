//===- RunDesignTest.cpp - Tests of running and packing -------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work of streamtensor-run and streamtensor-pack on files.
//
//===----------------------------------------------------------------------===//

#include "runtime/RunDesign.h"

#include "SampleDesigns.h"
#include "runtime/PackWeights.h"
#include "runtime/SimulatedDevice.h"

#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/resource.h>

using namespace streamtensor;
using namespace streamtensor::runtime;
using namespace streamtensor::runtime::test;
namespace fs = std::filesystem;

namespace {

using Floats = std::vector<float>;

class RunDesignTest : public ::testing::Test {
protected:
  RunDesignTest() : device(makeSimulatedDevice()) {
    design = (directory.path / "design").string();
    inputs = (directory.path / "in.safetensors").string();
    outputs = (directory.path / "out.safetensors").string();
  }

  void writeInputs(const TensorMap &tensors) {
    std::string error;
    ASSERT_TRUE(writeSafetensors(inputs, tensors, error)) << error;
  }

  Floats output(const std::string &name) {
    std::string error;
    const auto file = SafetensorsFile::open(outputs, error);
    EXPECT_TRUE(file) << error;
    const TensorView *tensor = file ? file->find(name) : nullptr;
    if (!tensor)
      return {};
    Floats values(tensor->bytes / sizeof(float));
    std::memcpy(values.data(), tensor->data, tensor->bytes);
    return values;
  }

  std::string errorOfRun() {
    return errorOf([&] { runDesign(*device, {design, inputs, outputs, ""}); });
  }

  TemporaryDirectory directory;
  std::unique_ptr<Device> device;
  std::string design, inputs, outputs;
};

/// w[n][k] = n + 10 k, row-major 32 x 8.
Floats matvecWeights() {
  Floats w;
  for (int n = 0; n < 32; ++n)
    for (int k = 0; k < 8; ++k)
      w.push_back(static_cast<float>(n + 10 * k));
  return w;
}

const Floats kX = {1, 2, 3, 4, 5, 6, 7, 8};

TEST_F(RunDesignTest, PacksInputsRunsAndWritesResults) {
  makeDesign(design, "matvec");
  const Floats w = matvecWeights();
  writeInputs({{"arg0", view(kX, {8})}, {"arg1", view(w, {32, 8})}});
  const std::string json = (directory.path / "run.json").string();
  runDesign(*device, {design, inputs, outputs, json});
  Floats expected; // sum over k of (k + 1) (n + 10 k)
  for (int n = 0; n < 32; ++n)
    expected.push_back(static_cast<float>(36 * n + 1680));
  EXPECT_EQ(output("result0"), expected);

  const nlohmann::json statistics = nlohmann::json::parse(readFile(json));
  EXPECT_EQ(statistics["macs"], 256);
  EXPECT_EQ(statistics["fifos"][1]["name"], "load_arg1_out");
  EXPECT_EQ(statistics["fifos"][1]["tokens"], 16);
  EXPECT_EQ(statistics["fifos"][1]["peak"], 4);
  EXPECT_EQ(statistics["fifos"][1]["depth"], 4);
  EXPECT_EQ(statistics["dma"][2]["name"], "store_result0");
  EXPECT_EQ(statistics["dma"][2]["direction"], "out");
  EXPECT_EQ(statistics["dma"][2]["bytes"], 128);
  EXPECT_GT(statistics["seconds"], 0.0);
  EXPECT_GT(statistics["peak_rss_bytes"], 1 << 20);
}

TEST_F(RunDesignTest, ValuesThatFifosCarry) {
  makeDesign(design, "matvec");
  const Floats w = matvecWeights();
  writeInputs({{"arg0", view(kX, {8})}, {"arg1", view(w, {32, 8})}});
  const std::string values = (directory.path / "values.safetensors").string();
  runDesign(*device, {design, inputs, outputs, "", values});
  std::string error;
  const auto file = SafetensorsFile::open(values, error);
  ASSERT_TRUE(file) << error;
  ASSERT_EQ(file->tensors().size(), 1u);
  const TensorView *tensor = file->find("matmul_0_out");
  ASSERT_TRUE(tensor);
  // The 32 numbers as 2 x 16 whose tokens are columns of the transpose.
  EXPECT_EQ(tensor->shape, (std::vector<int64_t>{16, 2}));
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 2; ++j)
      EXPECT_EQ(static_cast<const float *>(tensor->data)[2 * i + j],
                36.f * (16 * j + i) + 1680.f);
}

TEST_F(RunDesignTest, ValuesThatAreNone) {
  makeDesign(design, "matvec");
  replaceInFile(fs::path(design) / "interface.json", "\"trips\": [\"2\"]",
                "\"trips\": [\"3\"]");
  const Floats w = matvecWeights();
  writeInputs({{"arg0", view(kX, {8})}, {"arg1", view(w, {32, 8})}});
  const std::string values = (directory.path / "values.safetensors").string();
  EXPECT_EQ(errorOf([&] {
              runDesign(*device, {design, inputs, outputs, "", values});
            }),
            "fifo 'matmul_0_out' has carried 2 tokens of 64 bytes but expected "
            "3 of 64; compile the design again");
  EXPECT_FALSE(fs::exists(values));
  EXPECT_FALSE(fs::exists(outputs));
}

TEST_F(RunDesignTest, RunsManyDesignsBuiltTogether) {
  // Two kernels whose tasks have the same names, and one run that fails.
  makeDesign(design, "matvec");
  const std::string other = (directory.path / "other").string();
  std::string kernel = readFile(fs::path(design) / "hls" / "kernel.cpp");
  const size_t name = kernel.find("void matvec(");
  ASSERT_NE(name, std::string::npos);
  kernel.replace(name, 12, "void other_(");
  makeDesignOf(other, "matvec", kernel);
  replaceInFile(fs::path(other) / "interface.json", "\"function\": \"matvec\"",
                "\"function\": \"other_\"");
  const Floats w = matvecWeights(), four(4);
  writeInputs({{"arg0", view(kX, {8})}, {"arg1", view(w, {32, 8})}});
  const std::string wrong = (directory.path / "wrong.safetensors").string();
  std::string error;
  ASSERT_TRUE(writeSafetensors(wrong, {{"arg0", view(four, {4})}}, error));
  const std::string list = (directory.path / "list").string();
  auto run = [&](const std::string &design, const std::string &inputs) {
    return nlohmann::json(
               {{"design", design}, {"inputs", inputs}, {"outputs", outputs}})
               .dump() +
           "\n";
  };
  writeFile(list, run(design, wrong) + "\n" + run(other, inputs));

  std::ostringstream log;
  const std::string folder = (directory.path / "build").string();
  EXPECT_EQ(
      errorOf([&] { runDesigns(*device, readRunList(list), folder, log); }),
      "1 of 2 runs failed");
  std::istringstream lines(log.str());
  std::string first, second;
  std::getline(lines, first);
  std::getline(lines, second);
  EXPECT_NE(first.find("'arg0': expected 8 F32 but got 4 F32"),
            std::string::npos)
      << first;
  EXPECT_EQ(nlohmann::json::parse(second),
            nlohmann::json({{"design", other}, {"error", nullptr}}));
  EXPECT_EQ(output("result0")[1], 36 + 1680);
  // One library for both, and none in the designs.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
  EXPECT_FALSE(fs::exists(fs::path(design) / "csim"));

  // A design may run several times, a second kernel of its name may not.
  writeFile(list, run(design, inputs) + run(design, inputs));
  EXPECT_EQ(
      errorOf([&] { runDesigns(*device, readRunList(list), folder, log); }),
      "no error");
  const std::string copy = (directory.path / "copy").string();
  makeDesign(copy, "matvec");
  writeFile(list, run(design, inputs) + run(copy, inputs));
  EXPECT_EQ(
      errorOf([&] { runDesigns(*device, readRunList(list), folder, log); }),
      "expected kernels with different function names in one simulation but "
      "designs '" +
          design + "' and '" + copy +
          "' both define 'matvec'; export them with different names");
  writeFile(list, run(design, inputs) + "{\"design\": 3}\n");
  EXPECT_EQ(errorOf([&] { readRunList(list); })
                .rfind("line 2 of '" + list +
                           "': expected an object with the texts 'design', "
                           "'inputs' and 'outputs'",
                       0),
            0u);
}

TEST_F(RunDesignTest, ListsEveryInputThatDoesNotFit) {
  makeDesign(design, "layer_decode");
  const Floats four(4), five(5);
  std::vector<int64_t> integers(20);
  const TensorView wrongType = {DType::I64, {2, 5, 2}, integers.data(), 160};
  writeInputs({{"arg0", view(four, {4})},
               {"arg1", view(four, {4})},
               {"arg2", wrongType},
               {"arg4", view(five, {5})},
               {"arg9", view(five, {5})},
               {"result0", view(four, {1, 4})}});
  EXPECT_EQ(
      errorOfRun(),
      "the tensors in '" + inputs + "' do not fit design '" + design +
          "':\n"
          "  'arg0': expected 1x4 F32 but got 4 F32\n"
          "  'arg2': expected 2x5x2 F32 but got 2x5x2 I64\n"
          "  missing 'arg3': expected 2x5x2 F32\n"
          "  unexpected 'arg9': 5 F32; the design takes arg0, arg1, arg2, "
          "arg3, arg4\n"
          "  unexpected 'result0': 1x4 F32; the design takes arg0, arg1, "
          "arg2, arg3, arg4");
  EXPECT_FALSE(fs::exists(outputs));
  // Nothing was built for a run that cannot be.
  EXPECT_FALSE(fs::exists(fs::path(design) / "csim"));
}

TEST_F(RunDesignTest, CachesLieInLargerMemory) {
  makeDesign(design, "layer_decode");
  const Floats hidden = {1, 1, 1, 1}, weight = {1, 2, 3, 4};
  Floats keys(20), values(20), mask = {0, 0, 1, 0, 0};
  // Row 2 of head 0 and head 1: elements [h][2][.] of 2 x 5 x 2.
  keys[4] = 1, keys[5] = 2, keys[14] = 3, keys[15] = 4;
  values[14] = 1;
  writeInputs({{"arg0", view(hidden, {1, 4})},
               {"arg1", view(weight, {4})},
               {"arg2", view(keys, {2, 5, 2})},
               {"arg3", view(values, {2, 5, 2})},
               {"arg4", view(mask, {5})}});
  runDesign(*device, {design, inputs, outputs, ""});
  // s = 1 + 2 + 3 + 4 + 100.
  EXPECT_EQ(output("result0"), Floats({111, 112, 113, 114}));
  EXPECT_EQ(output("result1"), Floats({1, 1, 1, 1}));
  EXPECT_EQ(output("result2"), Floats({2, 2, 2, 2}));
}

TEST_F(RunDesignTest, WeightsWithAFileAreNotInputs) {
  makeDesign(design, "head");
  replaceInFile(fs::path(design) / "interface.json", "\"shape\": [3, 4], ",
                "\"shape\": [3, 4], \"file\": \"weights/arg1.bin\", ");
  const Floats hidden = {1, 2, 3, 4};
  writeInputs({{"arg0", view(hidden, {4})}});
  EXPECT_EQ(errorOfRun(), "cannot open '" + design +
                              "/weights/arg1.bin': No such file or directory");
  writeFloats(fs::path(design) / "weights/arg1.bin",
              {1, 0, 0, 0, /**/ 0, 2, 0, 0, /**/ 0, 0, 0, 3});
  runDesign(*device, {design, inputs, outputs, ""});
  EXPECT_EQ(output("result0"), Floats({1, 4, 12}));
  writeFloats(fs::path(design) / "weights/arg1.bin", {1, 2});
  EXPECT_EQ(errorOfRun(), "weight file '" + design +
                              "/weights/arg1.bin' expected 48 bytes for 'arg1' "
                              "of design '" +
                              design + "' but got 8; pack it again");
}

TEST_F(RunDesignTest, WeightsFromOutside) {
  makeDesign(design, "head");
  const Floats hidden = {1, 2, 3, 4};
  writeInputs({{"arg0", view(hidden, {4})}});
  const fs::path packed = directory.path / "packed.bin";
  writeFloats(packed, {1, 0, 0, 0, /**/ 0, 2, 0, 0, /**/ 0, 0, 0, 3});
  const std::string list = (directory.path / "weights.json").string();
  const auto run = [&](const std::string &argument) {
    writeFile(list, "{\"weights\": {\"" + argument + "\": \"" +
                        packed.string() + "\"}}");
    return errorOf(
        [&] { runDesign(*device, {design, inputs, outputs, "", "", list}); });
  };
  EXPECT_EQ(run("arg1"), "no error");
  EXPECT_EQ(output("result0"), Floats({1, 4, 12}));
  EXPECT_EQ(run("arg0"),
            list + ": weights: expected weights but 'arg0' is input");
  EXPECT_EQ(run("arg7"), "expected an argument of design '" + design +
                             "' (arg0, arg1, result0) but got 'arg7'");
}

TEST_F(RunDesignTest, UnreadableInputsAndUnwritableOutputs) {
  makeDesign(design, "matvec");
  EXPECT_NE(errorOfRun().find(inputs), std::string::npos);
  writeFile(inputs, "not a safetensors file");
  EXPECT_NE(errorOfRun().find(inputs), std::string::npos);
  const Floats w = matvecWeights();
  writeInputs({{"arg0", view(kX, {8})}, {"arg1", view(w, {32, 8})}});
  outputs = (directory.path / "missing/out.safetensors").string();
  EXPECT_NE(errorOfRun().find(outputs), std::string::npos);
}

TEST_F(RunDesignTest, FullDiskLeavesNothingBehind) {
  makeDesign(design, "matvec");
  const Floats w = matvecWeights();
  writeInputs({{"arg0", view(kX, {8})}, {"arg1", view(w, {32, 8})}});
  runDesign(*device, {design, inputs, outputs, ""});
  fs::remove(outputs);
  // A limit on the size of files fails writes as a full disk does.
  rlimit saved;
  getrlimit(RLIMIT_FSIZE, &saved);
  const rlimit tight = {64, saved.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &tight);
  const std::string error = errorOfRun();
  setrlimit(RLIMIT_FSIZE, &saved);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(error.find(outputs), std::string::npos) << error;
  for (const auto &entry : fs::directory_iterator(directory.path))
    EXPECT_EQ(entry.path().filename().string().find("out"), std::string::npos)
        << entry.path();
}

TEST_F(RunDesignTest, PacksWeightsByTheDesignsOrder) {
  makeDesign(design, "matvec");
  const Floats w = matvecWeights();
  writeInputs({{"layer.w", view(w, {32, 8})}, {"layer.v", view(w, {32, 8})}});
  const std::string packed = (directory.path / "weights").string();
  const auto files =
      packWeights({design, inputs, parseNames("arg1=layer.w"), packed});
  ASSERT_EQ(files.size(), 1u);
  const fs::path file = fs::path(packed) / files["arg1"].get<std::string>();
  EXPECT_EQ(file.filename().string().find("layer.w."), 0u);
  EXPECT_EQ(file.extension(), ".bin");

  // Column by column, rows 0..31.
  const std::string bytes = readFile(file);
  ASSERT_EQ(bytes.size(), 1024u);
  Floats values(256);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  for (int k = 0; k < 8; ++k)
    for (int n = 0; n < 32; ++n)
      EXPECT_EQ(values[k * 32 + n], static_cast<float>(n + 10 * k));

  // The same tensor in the same order is the same file, not written again.
  const auto time = fs::last_write_time(file);
  EXPECT_EQ(packWeights({design, inputs, parseNames("arg1=layer.w"), packed}),
            files);
  EXPECT_EQ(fs::last_write_time(file), time);
  // Other values are another file.
  const Floats zeros(256);
  writeInputs({{"layer.w", view(zeros, {32, 8})}});
  EXPECT_NE(packWeights({design, inputs, parseNames("arg1=layer.w"), packed}),
            files);
}

TEST_F(RunDesignTest, PackingListsWhatDoesNotFit) {
  makeDesign(design, "matvec");
  const Floats w = matvecWeights();
  writeInputs({{"w", view(w, {8, 32})}});
  EXPECT_EQ(errorOf([&] {
              packWeights({design, inputs,
                           parseNames("arg1=w,arg0=nothing,arg7=w"),
                           (directory.path / "weights").string()});
            }),
            "the weights in '" + inputs + "' do not fit design '" + design +
                "':\n"
                "  'w' for 'arg1': expected 32x8 F32 but got 8x32 F32\n"
                "  missing 'nothing' for 'arg0': expected 8 F32\n"
                "  the design has no argument 'arg7'");
  EXPECT_EQ(errorOf([&] { parseNames("arg0"); }),
            "expected --names argument=tensor,... but got 'arg0'");
}

} // namespace
