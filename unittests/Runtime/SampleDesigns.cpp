//===- SampleDesigns.cpp - Handwritten designs for tests ------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Files and directories of the tests.
//
//===----------------------------------------------------------------------===//

#include "SampleDesigns.h"

#include "runtime/Error.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <numeric>
#include <sstream>

using namespace streamtensor;
namespace fs = std::filesystem;

namespace streamtensor::runtime::test {

TemporaryDirectory::TemporaryDirectory() {
  // mkdtemp wants a name that ends in six X.
  std::string name = (fs::temp_directory_path() / "st-runtime-").string() +
                     std::string(6, 'X');
  if (!mkdtemp(name.data()))
    ADD_FAILURE() << "cannot make a temporary directory";
  path = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

std::string readFile(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void writeFile(const fs::path &path, const std::string &text) {
  fs::create_directories(path.parent_path());
  std::ofstream file(path, std::ios::binary);
  file << text;
  EXPECT_TRUE(file) << path;
}

void writeFloats(const fs::path &path, const std::vector<float> &values) {
  writeFile(path, std::string(reinterpret_cast<const char *>(values.data()),
                              values.size() * sizeof(float)));
}

TensorView view(const std::vector<float> &values, std::vector<int64_t> shape) {
  return {DType::F32, std::move(shape), values.data(),
          values.size() * sizeof(float)};
}

/// What sha256sum says of a file.
static std::string systemSha256(const fs::path &path) {
  const std::string command = "sha256sum '" + path.string() + "'";
  std::FILE *pipe = popen(command.c_str(), "r");
  char digest[65] = {};
  EXPECT_TRUE(pipe && std::fread(digest, 1, 64, pipe) == 64u) << command;
  if (pipe)
    pclose(pipe);
  return digest;
}

void makeDesignOf(const fs::path &directory, const std::string &name,
                  const std::string &kernel) {
  writeFile(directory / "hls/kernel.cpp", kernel);
  fs::copy_file(fs::path(TEST_DATA_DIR) / (name + ".json"),
                directory / "interface.json",
                fs::copy_options::overwrite_existing);
  replaceInFile(directory / "interface.json", "KERNEL_SHA256",
                systemSha256(directory / "hls/kernel.cpp"));
}

void makeDesign(const fs::path &directory, const std::string &name) {
  makeDesignOf(directory, name,
               readFile(fs::path(TEST_DATA_DIR) / (name + ".cpp")));
}

void replaceInFile(const fs::path &path, const std::string &from,
                   const std::string &to) {
  std::string text = readFile(path);
  const size_t place = text.find(from);
  ASSERT_NE(place, std::string::npos) << from << " in " << path;
  ASSERT_EQ(text.find(from, place + 1), std::string::npos)
      << from << " twice in " << path;
  writeFile(path, text.replace(place, from.size(), to));
}

void makeBanks(const fs::path &directory, const std::vector<int> &banks) {
  std::string text = "[connectivity]\n";
  for (size_t i = 0; i < banks.size(); ++i)
    text += "sp=kernel_1.argument" + std::to_string(i) + ":HBM[" +
            std::to_string(banks[i]) + "]\n";
  writeFile(directory / "connectivity.cfg", text);
}

void makeModel(const fs::path &directory) {
  makeDesign(directory / "layer", "layer");
  makeDesign(directory / "head", "head");
  fs::copy_file(fs::path(TEST_DATA_DIR) / "model.json",
                directory / "model.json");
  writeFloats(directory / "weights/l0.bin", {1, 2, 3, 4});
  writeFloats(directory / "weights/l1.bin", {2, 1, 1, 1});
  writeFloats(directory / "weights/head.bin",
              {1, 0, 0, 0, /**/ 0, 1, 0, 1, /**/ 1, 1, 1, 1});
}

std::string errorOf(const std::function<void()> &body) {
  try {
    body();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

std::vector<float> matvecInput() {
  std::vector<float> x(8);
  std::iota(x.begin(), x.end(), 1.0f);
  return x;
}

std::vector<float> matvecPackedWeights() {
  std::vector<float> w;
  for (int k = 0; k < 8; ++k)
    for (int n = 0; n < 32; ++n)
      w.push_back(static_cast<float>(n + 10 * k));
  return w;
}

} // namespace streamtensor::runtime::test
