//===- SampleDesigns.h - Handwritten designs for tests ----------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes design directories out of the handwritten kernels in data/. The hash
// of a kernel is computed by the system's sha256sum, not by the code under
// test.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_UNITTESTS_RUNTIME_SAMPLEDESIGNS_H
#define STREAMTENSOR_UNITTESTS_RUNTIME_SAMPLEDESIGNS_H

#include "streamtensor/Support/Safetensors.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace streamtensor::runtime::test {

/// A temporary directory that disappears with the object.
class TemporaryDirectory {
public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  std::filesystem::path path;
};

std::string readFile(const std::filesystem::path &path);
void writeFile(const std::filesystem::path &path, const std::string &text);
void writeFloats(const std::filesystem::path &path,
                 const std::vector<float> &values);

/// A view of floats that must outlive it.
TensorView view(const std::vector<float> &values, std::vector<int64_t> shape);

/// Makes `directory` the design `name`, from data/NAME.cpp and data/NAME.json.
void makeDesign(const std::filesystem::path &directory,
                const std::string &name);

/// The same with another text of the kernel.
void makeDesignOf(const std::filesystem::path &directory,
                  const std::string &name, const std::string &kernel);

/// For the design `matvec`: x[k] = k + 1.
std::vector<float> matvecInput();

/// w[n][k] = n + 10 k in the order in which the design `matvec` reads it: for
/// each column k, rows 0..15 and then rows 16..31.
std::vector<float> matvecPackedWeights();

/// Writes connectivity.cfg: the memory bank of each argument of a design.
void makeBanks(const std::filesystem::path &directory,
               const std::vector<int> &banks);

/// Replaces each occurrence of `from` in a file, of which there must be one.
void replaceInFile(const std::filesystem::path &path, const std::string &from,
                   const std::string &to);

/// Makes `directory` the language model of data/model.json.
void makeModel(const std::filesystem::path &directory);

/// The text of the Error that `body` throws, or "no error".
std::string errorOf(const std::function<void()> &body);

} // namespace streamtensor::runtime::test

#endif // STREAMTENSOR_UNITTESTS_RUNTIME_SAMPLEDESIGNS_H
