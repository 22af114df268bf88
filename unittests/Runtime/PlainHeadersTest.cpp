//===- PlainHeadersTest.cpp - The same kernel with AMD headers ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles the sample kernels a second time, against AMD's open hls_stream.h
// and the plain st_dataflow.h, where tasks are calls in order, and compares
// with the C simulation bit by bit. Also compiles them strictly as C++14 and
// C++17.
//
//===----------------------------------------------------------------------===//

#include "SampleDesigns.h"
#include "runtime/SimulatedDevice.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <gtest/gtest.h>

using namespace streamtensor::runtime;
using namespace streamtensor::runtime::test;
namespace fs = std::filesystem;

namespace {

using Floats = std::vector<float>;

/// The folder with AMD's hls_stream.h: the variable STREAMTENSOR_AMD_HEADERS,
/// or the package hls4ml in the project's .venv. Empty when there is none.
fs::path amdHeaders() {
  if (const char *chosen = std::getenv("STREAMTENSOR_AMD_HEADERS"))
    return chosen;
  const fs::path libraries = fs::path(PROJECT_SOURCE_DIR) / ".venv/lib";
  if (fs::exists(libraries))
    for (const auto &python : fs::directory_iterator(libraries)) {
      const fs::path headers =
          python.path() / "site-packages/hls4ml/templates/vivado/ap_types";
      if (fs::exists(headers / "hls_stream.h"))
        return headers;
    }
  return "";
}

class PlainHeadersTest : public ::testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    headers = amdHeaders();
    if (headers.empty())
      GTEST_SKIP() << "AMD's headers are not installed";
    makeDesign(directory.path, GetParam());
    device = makeSimulatedDevice();
    design = device->open(directory.path.string());
  }

  int compile(const std::string &options) {
    const std::string runtime = std::string(PROJECT_SOURCE_DIR) + "/runtime";
    // AMD's folder has an hls_math.h of its own: ours must come first.
    return std::system(("c++ -Wno-unknown-pragmas -ffp-contract=off -I'" +
                        runtime + "/include-plain' -I'" + runtime +
                        "/include/common' -isystem '" + headers.string() +
                        "' " + options)
                           .c_str());
  }

  fs::path headers;
  TemporaryDirectory directory;
  std::unique_ptr<Device> device;
  DesignRef design;
};

TEST_P(PlainHeadersTest, CompilesWithoutWarnings) {
  const std::string kernel = (directory.path / "hls/kernel.cpp").string();
  for (const char *standard : {"14", "17"})
    EXPECT_EQ(compile("-Wall -Wextra -Werror -Wno-unused-label "
                      "-fsyntax-only -std=c++" +
                      std::string(standard) + " '" + kernel + "'"),
              0);
}

TEST_P(PlainHeadersTest, GivesTheSameBits) {
  const DesignInterface &info = design->interface();
  const fs::path wrapper = directory.path / "plain.cpp";
  const std::string library = (directory.path / "plain.so").string();
  writeFile(wrapper,
            "#include \"hls/kernel.cpp\"\n#include \"" +
                std::string(PROJECT_SOURCE_DIR) +
                "/runtime/include/st_entry.h\"\nST_SIMULATION(" +
                info.function + ", " +
                std::to_string(info.arguments.size() + info.parameters.size()) +
                ")\n");
  ASSERT_EQ(compile("-std=c++14 -O2 -fPIC -shared '" + wrapper.string() +
                    "' -o '" + library + "'"),
            0);
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(handle) << dlerror();
  auto run = reinterpret_cast<void (*)(void *const *)>(
      dlsym(handle, "st_simulation_run"));
  ASSERT_TRUE(run);

  // Values with all bits of the fraction in use, (7 i mod 23 - 11) / 13; their
  // bytes where a design takes integers.
  std::vector<BufferView> arguments;
  std::vector<float *> plain;
  std::vector<void *> pointers;
  for (const ArgumentInfo &argument : info.arguments) {
    const size_t bytes = (argument.bytes + 63) / 64 * 64;
    const size_t count = bytes / sizeof(float);
    float *values = static_cast<float *>(std::aligned_alloc(64, bytes));
    for (size_t i = 0; i < count; ++i)
      values[i] = argument.role == Role::Output
                      ? 0.0f
                      : (static_cast<float>(7 * i % 23) - 11.0f) / 13.0f;
    arguments.push_back({device->allocate(argument.bytes)});
    device->write(*arguments.back().buffer, 0, values, argument.bytes);
    plain.push_back(values);
    pointers.push_back(values);
  }
  // Between the least and the largest size, so that some memory stays as it is.
  streamtensor::ParameterValues values;
  std::vector<int32_t> scalars;
  for (const ParameterInfo &parameter : info.parameters) {
    scalars.push_back(
        static_cast<int32_t>((parameter.min + parameter.max + 1) / 2));
    values[parameter.name] = scalars.back();
  }
  for (int32_t &scalar : scalars)
    pointers.push_back(&scalar);
  device->run(*design, arguments, values);
  run(pointers.data());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ArgumentInfo &argument = info.arguments[i];
    if (argument.role == Role::Output) {
      std::vector<char> simulated(argument.bytes);
      device->read(*arguments[i].buffer, 0, simulated.data(), argument.bytes);
      EXPECT_EQ(std::memcmp(simulated.data(), plain[i], argument.bytes), 0)
          << argument.name;
      const std::vector<char> zeros(argument.bytes);
      EXPECT_NE(std::memcmp(zeros.data(), plain[i], argument.bytes), 0)
          << argument.name;
    }
    std::free(plain[i]);
  }
  dlclose(handle);
}

INSTANTIATE_TEST_SUITE_P(Samples, PlainHeadersTest,
                         ::testing::Values("matvec", "layer", "layer_decode",
                                           "head", "integers", "append"),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
