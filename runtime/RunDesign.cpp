//===- RunDesign.cpp - Runs one design on files ---------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work of streamtensor-run.
//
//===----------------------------------------------------------------------===//

#include "runtime/RunDesign.h"

#include "runtime/Error.h"
#include "runtime/JsonFields.h"
#include "runtime/RunTimeSizes.h"
#include "runtime/System.h"
#include "runtime/TensorTransfer.h"
#include "streamtensor/Support/Packing.h"

#include <cstring>
#include <functional>
#include <map>
#include <sstream>

using namespace streamtensor;
using namespace streamtensor::runtime;

ParameterValues runtime::checkInputs(const DesignInterface &design,
                                     const TensorMap &tensors,
                                     const std::string &source) {
  std::vector<std::string> problems;
  std::string names;
  TensorMap unexpected = tensors;
  for (const ArgumentInfo &argument : design.arguments) {
    if (!argument.isRunTimeInput())
      continue;
    names += (names.empty() ? "" : ", ") + argument.name;
    unexpected.erase(argument.name);
  }
  const ParameterValues values = findParameters(design, tensors, problems);
  for (const auto &[name, view] : unexpected)
    problems.push_back("unexpected '" + name + "': " + shapeString(view.shape) +
                       " " + dtypeName(view.dtype) + "; the design takes " +
                       (names.empty() ? "no inputs" : names));
  std::string text;
  for (const std::string &problem : problems)
    text += "\n  " + problem;
  if (!text.empty())
    throw Error("the tensors in '" + source + "' do not fit design '" +
                design.directory + "':" + text);
  return values;
}

BufferRef runtime::loadWeight(Device &device, const std::string &path,
                              const ArgumentInfo &argument,
                              const DesignInterface &design) {
  BufferRef buffer = device.loadFile(path);
  if (buffer->bytes() != argument.bytes)
    throw Error("weight file '" + path + "' expected " +
                std::to_string(argument.bytes) + " bytes for '" +
                argument.name + "' of design '" + design.directory +
                "' but got " + std::to_string(buffer->bytes()) +
                "; pack it again");
  return buffer;
}

nlohmann::ordered_json
runtime::statisticsJson(const DesignInterface &design,
                        const RunStatistics &statistics) {
  nlohmann::ordered_json json;
  json["fifos"] = nlohmann::ordered_json::array();
  for (const FifoCount &fifo : statistics.fifos)
    json["fifos"].push_back({{"name", fifo.name},
                             {"group", fifo.group},
                             {"tokens", fifo.tokens},
                             {"peak", fifo.peak},
                             {"depth", fifo.depth}});
  json["dma"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < design.dma.size(); ++i)
    json["dma"].push_back({{"name", design.dma[i].name},
                           {"direction", design.dma[i].direction},
                           {"bytes", nullptr}});
  json["macs"] = nullptr;
  if (statistics.isCounted) {
    for (size_t i = 0; i < design.dma.size(); ++i)
      json["dma"][i]["bytes"] = statistics.dmaBytes[i];
    json["macs"] = statistics.macs;
  }
  json["seconds"] = statistics.seconds;
  json["peak_rss_bytes"] = peakResidentBytes();
  return json;
}

/// A tensor with its memory.
struct OwnedTensor {
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<char> data;
};

/// The tensor that the recorded tokens of a FIFO are; where a launch has run
/// the body several times, one for each, along a new outermost dimension.
static OwnedTensor assemble(const FifoTokens &tokens, const FifoValue &value,
                            const ParameterValues &parameters) {
  const TokenOrder order = value.order.at(parameters);
  const size_t element = dtypeBytes(value.dtype);
  // Behind its elements a token in memory may have a gap.
  const size_t token = element * order.tokenElements();
  const size_t perPass = order.numTokens();
  const size_t count =
      tokens.bytes.size() / std::max<size_t>(tokens.tokenBytes, 1);
  const bool isWhole =
      perPass == 0 ? count == 0 : count != 0 && count % perPass == 0;
  if (!isWhole || (count != 0 && tokens.tokenBytes < token))
    throw Error("fifo '" + tokens.name + "' has carried " +
                std::to_string(count) + " tokens of " +
                std::to_string(tokens.tokenBytes) + " bytes but expected " +
                std::to_string(perPass) + " of " + std::to_string(token) +
                "; compile the design again");
  OwnedTensor tensor{value.dtype, order.dataExtents(), {}};
  const size_t passes = perPass ? count / perPass : 1;
  const size_t bytes = elementCount(tensor.shape) * element;
  tensor.data.resize(passes * bytes);
  std::vector<char> packed(perPass * token);
  for (size_t pass = 0; pass < passes; ++pass) {
    for (size_t i = 0; i < perPass; ++i)
      std::memcpy(packed.data() + i * token,
                  tokens.bytes.data() +
                      (pass * perPass + i) * tokens.tokenBytes,
                  token);
    std::string error;
    if (!unpackTensor(order, element, {tensor.shape}, packed.data(),
                      tensor.data.data() + pass * bytes, error))
      throw Error("the tokens of fifo '" + tokens.name + "': " + error);
  }
  if (passes > 1)
    tensor.shape.insert(tensor.shape.begin(), passes);
  return tensor;
}

/// Adds the packed weights that `path` lists.
static void addWeights(DesignInterface &design, const std::string &path) {
  const JsonFields fields = JsonFields::readFile(path);
  for (const auto &[argument, file] : fields.stringMap("weights")) {
    ArgumentInfo &info = design.arguments[design.indexOf(argument)];
    if (info.role != Role::Weight)
      fields.fail("weights", "expected weights but '" + argument + "' is " +
                                 roleName(info.role));
    info.file = file;
  }
}

/// Runs a design that `open` makes ready. The inputs are checked before: the
/// simulation may have to be built.
static void runOnFiles(Device &device, const RunOptions &options,
                       DesignInterface info,
                       const std::function<DesignRef()> &open) {
  if (!options.weights.empty())
    addWeights(info, options.weights);
  std::string error;
  const std::optional<SafetensorsFile> inputs =
      SafetensorsFile::open(options.inputs, error);
  if (!inputs)
    throw Error(error);
  const ParameterValues parameters =
      checkInputs(info, inputs->tensors(), options.inputs);

  std::vector<BufferView> arguments;
  for (const ArgumentInfo &argument : info.arguments) {
    BufferView view;
    if (argument.role == Role::Weight && !argument.file.empty()) {
      view.buffer = loadWeight(device, argument.file, argument, info);
    } else {
      view.buffer = device.allocate(argument.bytes);
      if (const TensorView *tensor = inputs->find(argument.name))
        writeTensor(device, view, argument.at(parameters), tensor->data);
    }
    arguments.push_back(view);
  }
  const DesignRef design = open();
  std::vector<std::string> recorded;
  std::map<std::string, FifoValue> values;
  for (const FifoInfo &fifo : info.fifos)
    if (fifo.value && !options.values.empty()) {
      recorded.push_back(fifo.name);
      values.emplace(fifo.name, *fifo.value);
    }
  const RunStatistics statistics =
      device.run(*design, arguments, parameters, recorded);
  if (!options.values.empty()) {
    std::vector<OwnedTensor> tensors;
    for (const FifoTokens &tokens : statistics.recorded)
      tensors.push_back(assemble(tokens, values.at(tokens.name), parameters));
    TensorMap views;
    for (size_t i = 0; i < tensors.size(); ++i)
      views[recorded[i]] = {tensors[i].dtype, tensors[i].shape,
                            tensors[i].data.data(), tensors[i].data.size()};
    if (!writeSafetensors(options.values, views, error))
      throw Error(error);
  }

  std::vector<std::vector<char>> results;
  TensorMap outputs;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (info.arguments[i].role != Role::Output)
      continue;
    const ArgumentInfo argument = info.arguments[i].at(parameters);
    results.push_back(readTensor(device, arguments[i], argument));
    outputs[argument.name] = {argument.dtype, argument.shape,
                              results.back().data(), results.back().size()};
  }
  if (!writeSafetensors(options.outputs, outputs, error))
    throw Error(error);
  if (!options.json.empty())
    writeFileAtomically(options.json,
                        statisticsJson(info, statistics).dump(2) + "\n");
}

void runtime::runDesign(Device &device, const RunOptions &options) {
  runOnFiles(device, options, DesignInterface::read(options.design),
             [&] { return device.open(options.design); });
}

std::vector<RunOptions> runtime::readRunList(const std::string &path) {
  std::istringstream lines(readTextFile(path));
  std::vector<RunOptions> runs;
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    try {
      const nlohmann::json run = nlohmann::json::parse(line);
      runs.push_back({run.at("design"), run.at("inputs"), run.at("outputs"),
                      run.value("json", ""), run.value("values", ""),
                      run.value("weights", "")});
    } catch (const nlohmann::json::exception &error) {
      throw Error("line " + std::to_string(number) + " of '" + path +
                  "': expected an object with the texts 'design', 'inputs' and "
                  "'outputs' (" +
                  error.what() + ")");
    }
  }
  return runs;
}

void runtime::runDesigns(Device &device, const std::vector<RunOptions> &runs,
                         const std::string &folder, std::ostream &log) {
  std::vector<std::string> directories;
  std::map<std::string, size_t> numbers;
  for (const RunOptions &run : runs)
    if (numbers.emplace(run.design, directories.size()).second)
      directories.push_back(run.design);
  const std::vector<DesignRef> designs =
      device.openTogether(directories, folder);
  size_t failures = 0;
  for (const RunOptions &run : runs) {
    const DesignRef &design = designs[numbers.at(run.design)];
    nlohmann::ordered_json json = {{"design", run.design}, {"error", nullptr}};
    try {
      runOnFiles(device, run, design->interface(), [&] { return design; });
    } catch (const Error &error) {
      json["error"] = error.what();
      ++failures;
    }
    // At once: a fault of a kernel ends the process, and the last line then
    // says which ones had run.
    log << json.dump() << std::endl;
  }
  if (failures)
    throw Error(std::to_string(failures) + " of " +
                std::to_string(runs.size()) + " runs failed");
}
