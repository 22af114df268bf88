//===- PackWeights.cpp - Packs weights for a design -----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work of streamtensor-pack.
//
//===----------------------------------------------------------------------===//

#include "runtime/PackWeights.h"

#include "runtime/Error.h"
#include "runtime/System.h"
#include "runtime/TensorTransfer.h"
#include "streamtensor/Support/Packing.h"
#include "streamtensor/Support/Sha256.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

using namespace streamtensor;
using namespace streamtensor::runtime;
namespace fs = std::filesystem;

namespace {

constexpr size_t kHashDigits = 12;
/// What memory may have behind its content; much more is a damaged number.
constexpr uint64_t kMaxPadding = 1 << 20;

/// One tensor to pack.
struct Item {
  const ArgumentInfo *argument;
  std::string name;
  const TensorView *tensor;
};

std::string describe(const std::vector<int64_t> &shape, DType dtype) {
  return shapeString(shape) + " " + dtypeName(dtype);
}

std::vector<Item> findTensors(const PackOptions &options,
                              const DesignInterface &design,
                              const SafetensorsFile &weights) {
  std::vector<Item> items;
  std::string problems;
  for (const auto &[name, tensorName] : options.names) {
    const std::string &argumentName = name;
    const auto argument = std::find_if(
        design.arguments.begin(), design.arguments.end(),
        [&](const ArgumentInfo &info) { return info.name == argumentName; });
    if (argument == design.arguments.end()) {
      problems += "\n  the design has no argument '" + argumentName + "'";
      continue;
    }
    const std::string expected = describe(argument->shape, argument->dtype);
    const TensorView *tensor = weights.find(tensorName);
    if (!tensor)
      problems += "\n  missing '" + tensorName + "' for '" + argumentName +
                  "': expected " + expected;
    else if (tensor->shape != argument->shape ||
             tensor->dtype != argument->dtype)
      problems += "\n  '" + tensorName + "' for '" + argumentName +
                  "': expected " + expected + " but got " +
                  describe(tensor->shape, tensor->dtype);
    items.push_back({&*argument, tensorName, tensor});
  }
  if (!problems.empty())
    throw Error("the weights in '" + options.weights + "' do not fit design '" +
                design.directory + "':" + problems);
  return items;
}

/// A name for files: other characters than these become underscores.
std::string fileStem(std::string name) {
  for (char &c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '-')
      c = '_';
  return name;
}

/// Identifies a tensor's data and its order in memory.
std::string hashOf(const Item &item) {
  const ArgumentInfo &argument = *item.argument;
  Sha256 hash;
  hash.update(describe(argument.packedShape, argument.dtype));
  hash.update(argument.packing ? argument.packing->normalForm().str()
                               : "row-major");
  hash.update(" " + shapeString(argument.bufferShape) + " " +
              std::to_string(argument.bytes) + "\n");
  hash.update(item.tensor->data, item.tensor->bytes);
  return hash.hexDigest().substr(0, kHashDigits);
}

/// The memory of the argument: the tensor in its order, then zeros.
std::string memoryOf(const Item &item) {
  const ArgumentInfo &argument = *item.argument;
  const uint64_t content =
      argument.packing
          ? packedBytes(*argument.packing, dtypeBytes(argument.dtype))
          : item.tensor->bytes;
  if (argument.bytes > content + kMaxPadding)
    throw Error("the memory of weight '" + argument.name + "' would have " +
                std::to_string(argument.bytes) + " bytes for " +
                std::to_string(content) +
                "; interface.json is damaged, compile the design again");
  std::string memory(argument.bytes, '\0');
  if (argument.packing) {
    const std::vector<char> packed = packArgument(argument, item.tensor->data);
    if (packed.size() > memory.size())
      throw Error("'" + argument.name + "' of design expected at least " +
                  std::to_string(packed.size()) +
                  " bytes of memory for its packed order but interface.json "
                  "says " +
                  std::to_string(argument.bytes));
    std::copy(packed.begin(), packed.end(), memory.begin());
  } else if (argument.bufferShape == argument.shape) {
    const char *data = static_cast<const char *>(item.tensor->data);
    std::copy(data, data + item.tensor->bytes, memory.begin());
  } else {
    throw Error("weight '" + argument.name +
                "' expected memory of its own shape " +
                shapeString(argument.shape) + " but got " +
                shapeString(argument.bufferShape));
  }
  return memory;
}

} // namespace

std::vector<std::pair<std::string, std::string>>
runtime::parseNames(const std::string &text) {
  std::vector<std::pair<std::string, std::string>> names;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    const size_t equals = item.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == item.size())
      throw Error("expected --names argument=tensor,... but got '" + item +
                  "'");
    names.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  return names;
}

nlohmann::ordered_json runtime::packWeights(const PackOptions &options) {
  const DesignInterface design = DesignInterface::read(options.design);
  std::string error;
  const std::optional<SafetensorsFile> weights =
      SafetensorsFile::open(options.weights, error);
  if (!weights)
    throw Error(error);
  std::error_code code;
  fs::create_directories(options.outputDirectory, code);
  if (code)
    throw Error("cannot make the folder '" + options.outputDirectory +
                "': " + code.message());
  nlohmann::ordered_json files = nlohmann::ordered_json::object();
  for (const Item &item : findTensors(options, design, *weights)) {
    const std::string name = fileStem(item.name) + "." + hashOf(item) + ".bin";
    const std::string path = resolvePath(options.outputDirectory, name);
    if (!fs::exists(path))
      writeFileAtomically(path, memoryOf(item));
    files[item.argument->name] = name;
  }
  return files;
}
