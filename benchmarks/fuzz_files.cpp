//===- fuzz_files.cpp - Mutated weights and descriptions of designs -------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads safetensors files, interface.json and model.json that were changed at
// random, and packs weights by them. Each must be read or give an error. Built
// with sanitizers by fuzz_files.py.
//
// usage: fuzz_files FIRST COUNT DIRECTORY DESCRIPTION.json...
//
//===----------------------------------------------------------------------===//

#include "benchmarks/Mutator.h"
#include "runtime/DesignInterface.h"
#include "runtime/Error.h"
#include "runtime/ModelDescription.h"
#include "runtime/PackWeights.h"
#include "runtime/System.h"
#include "runtime/TensorTransfer.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

using namespace streamtensor;
using namespace streamtensor::runtime;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::vector<std::string> words = {
    "F32",        "I8",     "BOOL",    "weight",  "input",   "packing",
    "element",    "trips",  "steps",   "map",     "shape",   "buffer_shape",
    "bytes",      "dtype",  "role",    "name",    "arg1",    "data_offsets",
    "parameters", "dims",   "prefill", "decode",  "design",  "__metadata__",
    "n",          "n - 40", "n * 7",   "1000000", "weights", "packed_shape"};

/// Rows of the tensors of the original file.
constexpr int64_t sides[] = {32, 16, 8, 4, 3};

enum Outcome { Refused, Read, Packed, NumOutcomes };

/// Every byte that a view says it has can be read.
uint64_t sumOf(const TensorView &view) {
  uint64_t sum = static_cast<uint64_t>(view.numElements());
  for (size_t i = 0; i < view.bytes; ++i)
    sum += static_cast<const unsigned char *>(view.data)[i];
  return sum;
}

/// A file of small tensors of several types.
std::string makeWeights(const fs::path &path) {
  std::vector<char> data(1 << 12);
  for (size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<char>(i * 7);
  TensorMap tensors;
  const DType types[] = {DType::F32, DType::I8, DType::F16, DType::I64,
                         DType::BOOL};
  for (size_t i = 0; i < std::size(sides); ++i) {
    const size_t bytes = sides[i] * 8 * dtypeBytes(types[i]);
    tensors["t" + std::to_string(i)] = {
        types[i], {sides[i], 8}, data.data(), bytes};
  }
  tensors["scalar"] = {DType::F64, {}, data.data(), 8};
  tensors["empty"] = {DType::F32, {0, 4}, nullptr, 0};
  std::string error;
  if (!writeSafetensors(path.string(), tensors, error, {{"format", "pt"}}))
    throw Error(error);
  return readTextFile(path.string());
}

/// Changes the header as JSON, so that its length is right, or any byte.
std::string mutateWeights(std::string file, Mutator &mutator) {
  if (mutator.in(0, 2) == 0) {
    mutator.mutate(file);
    return file;
  }
  uint64_t length = 0;
  std::memcpy(&length, file.data(), sizeof(length));
  json header = json::parse(file.substr(8, length));
  for (int64_t i = mutator.in(1, 3); i > 0; --i)
    mutator.mutate(header);
  const std::string text = header.dump(), data = file.substr(8 + length);
  length = text.size();
  return std::string(reinterpret_cast<char *>(&length), 8) + text + data;
}

Outcome readWeights(const fs::path &directory, const std::string &text) {
  const std::string path = (directory / "mutated.safetensors").string();
  writeFileAtomically(path, text);
  std::string error;
  const auto file = SafetensorsFile::open(path, error);
  if (!file) {
    if (error.find(path) == std::string::npos)
      throw std::logic_error("no file in the message: " + error);
    return Refused;
  }
  uint64_t sum = 0;
  for (const auto &[name, view] : file->tensors())
    sum += sumOf(view) + name.size();
  // What was read can be written.
  if (!writeSafetensors((directory / "again.safetensors").string(),
                        file->tensors(), error, file->metadata()))
    throw std::logic_error("read but not written: " + error);
  return sum == 1 ? Refused : Read;
}

/// Packs zeros for each argument of a design.
Outcome readDesign(const fs::path &directory, const std::string &text) {
  writeFileAtomically((directory / "interface.json").string(), text);
  const DesignInterface design = DesignInterface::read(directory.string());
  TensorMap tensors;
  std::vector<char> zeros;
  PackOptions options{directory.string(),
                      (directory / "weights.safetensors").string(),
                      {},
                      (directory / "packed").string()};
  for (const ArgumentInfo &argument : design.arguments) {
    // A real file has its elements; larger ones are no test of the reader.
    const uint64_t bytes = tensorBytes(argument);
    // Caches have rows to spare, which weights do not.
    if (bytes > 1 << 20 ||
        (!argument.packing && argument.shape != argument.bufferShape))
      continue;
    zeros.resize(std::max<size_t>(zeros.size(), bytes));
    options.names.emplace_back(argument.name, "w" + argument.name);
    tensors["w" + argument.name] = {argument.dtype, argument.shape, nullptr,
                                    bytes};
  }
  for (auto &[name, view] : tensors)
    view.data = zeros.data();
  std::string error;
  if (!writeSafetensors(options.weights, tensors, error))
    throw Error(error);
  packWeights(options);
  return Packed;
}

Outcome readModel(const fs::path &directory, const std::string &text) {
  writeFileAtomically((directory / "model.json").string(), text);
  ModelDescription::read(directory.string());
  return Read;
}

/// A file without what it needs is an error, like a mutated one.
template <typename Body>
Outcome outcomeOf(Body &&body) {
  try {
    return body();
  } catch (const Error &error) {
    if (!*error.what())
      throw std::logic_error("no message");
    return Refused;
  }
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 5)
    return 2;
  const fs::path directory = argv[3];
  const std::string weights = makeWeights(directory / "original.safetensors");
  std::vector<std::pair<bool, std::string>> texts;
  for (int i = 4; i < argc; ++i)
    texts.emplace_back(fs::path(argv[i]).filename() == "model.json",
                       readTextFile(argv[i]));
  const auto read = [&](bool isModel, const std::string &text) {
    return outcomeOf([&] {
      return isModel ? readModel(directory, text) : readDesign(directory, text);
    });
  };
  // The originals are good.
  if (readWeights(directory, weights) != Read)
    throw std::logic_error("the original file is refused");
  for (const auto &[isModel, text] : texts)
    isModel ? readModel(directory, text) : readDesign(directory, text);
  const unsigned first = std::strtoul(argv[1], nullptr, 10);
  const unsigned count = std::strtoul(argv[2], nullptr, 10);
  int64_t outcomes[NumOutcomes] = {};
  double longest = 0;
  for (unsigned seed = first; seed < first + count; ++seed) {
    Mutator mutator(seed, words);
    // What a crash needs to be reproduced.
    std::fprintf(stderr, "\rseed %u ", seed);
    const auto begin = std::chrono::steady_clock::now();
    if (mutator.in(0, 2) == 0) {
      ++outcomes[readWeights(directory, mutateWeights(weights, mutator))];
    } else {
      auto [isModel, text] = texts[mutator.in(0, texts.size() - 1)];
      if (mutator.in(0, 3) == 0) {
        mutator.mutate(text);
      } else {
        json document = json::parse(text);
        for (int64_t i = mutator.in(1, 4); i > 0; --i)
          mutator.mutate(document);
        text = document.dump();
      }
      ++outcomes[read(isModel, text)];
      fs::remove_all(directory / "packed");
    }
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
            .count();
    longest = std::max(longest, seconds);
    if (seconds > 5)
      std::fprintf(stderr, "took %.1f s\n", seconds);
  }
  std::printf("\n%u files: %lld refused, %lld read, %lld packed; the longest "
              "took %.2f s\n",
              count, (long long)outcomes[Refused], (long long)outcomes[Read],
              (long long)outcomes[Packed], longest);
}
