//===- LanguageModel.cpp - Runs all layers of a language model ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every argument of every layer is bound once, at the start, to a place in
// device memory:
//
//   weight      the mapped file, shared by all layers that name it
//   cache       one buffer per layer and cache
//   host        one buffer per name of a tensor, shared by the layers
//   hidden      two buffers that take turns as argument and result
//   others      (workspaces, new rows) one buffer, shared by the layers
//
// Their sizes are those of the longest step and the longest past; a launch is
// told the real ones, which lie in the corner.
//
//===----------------------------------------------------------------------===//

#include "runtime/LanguageModel.h"

#include "runtime/CacheRows.h"
#include "runtime/Error.h"
#include "runtime/TensorTransfer.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <set>

using namespace streamtensor;
using namespace streamtensor::runtime;

namespace {

using StringMap = std::map<std::string, std::string>;

/// The design that runs once per layer.
struct Layer {
  DesignRef design;
  size_t hidden = 0, hiddenResult = 0;
  /// The most new tokens of a step.
  int64_t tokens = 1;
  struct Cache {
    size_t argument, result;
    CacheRows rows;
  };
  std::vector<Cache> caches;
  /// Buffers of the host's tensors, and an argument that describes each.
  struct Host {
    BufferRef buffer;
    const ArgumentInfo *info;
  };
  std::map<std::string, Host> host;
  /// One view per argument, per layer; the hidden states are bound per run.
  std::vector<std::vector<BufferView>> bound;
  /// Whether the hidden result can be the next layer's argument as it lies.
  bool chainsDirectly = true;

  const ArgumentInfo &info(size_t argument) const {
    return design->interface().arguments[argument];
  }
};

struct Head {
  DesignRef design;
  size_t hidden = 0, logits = 0;
  std::vector<BufferView> arguments;
};

} // namespace

struct LanguageModel::Impl {
  Impl(Device &device, const std::string &directory)
      : device(device), description(ModelDescription::read(directory)) {}

  Device &device;
  ModelDescription description;
  Layer layer;
  Head head;
  std::map<std::string, BufferRef> weights;   // by path
  std::vector<std::vector<BufferRef>> caches; // by layer and cache
  BufferRef hidden[2];
  ModelStatistics statistics;

  void load();
  void openDesigns();
  void prepareLayer();
  void checkParameterNames() const;
  void allocateCaches();
  void bindLayers();
  void bindHead();
  BufferView bindFile(const std::string &path, const ArgumentInfo &argument,
                      const std::string &design);

  ParameterValues checkRequest(const StepRequest &request) const;
  void runLayer(size_t index, const ParameterValues &values,
                StepResult &result);
  void tapHidden(const ParameterValues &values, ResultTensor &taps);
  void appendRows(size_t index, const StepRequest &request,
                  const ParameterValues &values);
  void runHead(const StepRequest &request, const ParameterValues &values,
               StepResult &result);
  void account(const RunStatistics &run, StepResult &result);
  const CacheRows &cacheRows(int64_t layer, int64_t cache, int64_t row) const;
};

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

void LanguageModel::Impl::openDesigns() {
  // Building a simulation takes long the first time.
  auto open = [this](const std::string &directory) {
    return std::async(std::launch::async,
                      [=] { return device.open(directory); });
  };
  // Before anything is built.
  const DesignInterface info = DesignInterface::read(description.head.design);
  if (!info.parameters.empty())
    throw Error("design '" + info.directory +
                "' expected constant sizes, as the head computes one token, "
                "but '" +
                info.parameters.front().name +
                "' is known at run time only; compile the model again");
  std::future<DesignRef> first = open(description.layer.design);
  std::future<DesignRef> second = open(description.head.design);
  layer.design = first.get();
  head.design = second.get();
}

/// model.json must name each parameter of the layer's design, and no other.
void LanguageModel::Impl::checkParameterNames() const {
  const DesignInterface &design = layer.design->interface();
  std::set<std::string> named = {description.layer.past};
  if (!description.layer.tokens.empty())
    named.insert(description.layer.tokens);
  std::set<std::string> known;
  for (const ParameterInfo &parameter : design.parameters)
    known.insert(parameter.name);
  auto listOf = [](const std::set<std::string> &names) {
    std::string text;
    for (const std::string &name : names)
      text += (text.empty() ? "'" : ", '") + name + "'";
    return text.empty() ? std::string("none") : text;
  };
  if (named != known)
    throw Error("model.json expected design '" + design.directory +
                "' to have the parameters " + listOf(named) + " but got " +
                listOf(known) + "; compile the model again");
}

void LanguageModel::Impl::prepareLayer() {
  checkParameterNames();
  const DesignInterface &design = layer.design->interface();
  layer.hidden = design.indexOf(description.layer.hidden);
  layer.hiddenResult = design.indexOf(description.layer.hiddenResult);
  const ArgumentInfo &from = layer.info(layer.hidden);
  const ArgumentInfo &to = layer.info(layer.hiddenResult);
  if (from.shape != to.shape || from.dtype != to.dtype)
    throw Error("design '" + design.directory +
                "' expected the shape of the hidden result '" + to.name +
                "' to be that of '" + from.name + "' (" +
                shapeString(from.shape) + ") but got " + shapeString(to.shape));
  layer.chainsDirectly = sameLayout(from, to);
  for (const ParameterInfo &parameter : design.parameters) {
    if (parameter.name == description.layer.tokens)
      layer.tokens = parameter.max;
    else if (parameter.min > 0 || parameter.max < description.maxLength - 1)
      throw Error("design '" + design.directory + "' expected '" +
                  parameter.name + "' from 0 to " +
                  std::to_string(description.maxLength - 1) +
                  ", all positions of model.json, but got " +
                  std::to_string(parameter.min) + " to " +
                  std::to_string(parameter.max) + "; compile the model again");
  }
  for (const CacheDescription &cache : description.layer.caches) {
    const size_t argument = design.indexOf(cache.argument);
    const size_t result = design.indexOf(cache.result);
    layer.caches.push_back(
        {argument, result,
         CacheRows(layer.info(argument), layer.info(result), cache.axis,
                   layer.tokens, description.maxLength, design.directory)});
  }
}

void LanguageModel::Impl::allocateCaches() {
  for (size_t index = 0; index < description.layers.size(); ++index) {
    caches.emplace_back();
    for (const Layer::Cache &cache : layer.caches)
      caches.back().push_back(
          device.allocate(layer.info(cache.argument).bytes));
  }
}

BufferView LanguageModel::Impl::bindFile(const std::string &path,
                                         const ArgumentInfo &argument,
                                         const std::string &design) {
  BufferRef &buffer = weights[path];
  if (!buffer)
    buffer = device.loadFile(path);
  if (buffer->bytes() != argument.bytes)
    throw Error("weight '" + path + "' expected " +
                std::to_string(argument.bytes) + " bytes for '" +
                argument.name + "' of design '" + design + "' but got " +
                std::to_string(buffer->bytes()) +
                "; pack it again with streamtensor-pack");
  return {buffer, 0};
}

/// The value of `key`, or empty.
static std::string lookUp(const StringMap &map, const std::string &key) {
  auto entry = map.find(key);
  return entry == map.end() ? "" : entry->second;
}

void LanguageModel::Impl::bindLayers() {
  const DesignInterface &design = layer.design->interface();
  std::vector<BufferRef> shared(design.arguments.size());
  std::string unbound;
  for (size_t index = 0; index < description.layers.size(); ++index) {
    const StringMap &files = description.layers[index].weights;
    const StringMap &host = description.layers[index].host;
    for (const StringMap *map : {&files, &host})
      for (const auto &entry : *map)
        design.indexOf(entry.first); // throws for a name that does not exist
    std::vector<BufferView> views(design.arguments.size());
    for (size_t i = 0; i < views.size(); ++i) {
      const ArgumentInfo &argument = design.arguments[i];
      const std::string file = lookUp(files, argument.name);
      const std::string tensor = lookUp(host, argument.name);
      if (i == layer.hidden || i == layer.hiddenResult) {
        continue;
      } else if (!file.empty() || !argument.file.empty()) {
        const std::string &path = file.empty() ? argument.file : file;
        views[i] = bindFile(path, argument, design.directory);
      } else if (!tensor.empty()) {
        Layer::Host &entry = layer.host[tensor];
        if (!entry.buffer) {
          entry = {device.allocate(argument.bytes), &argument};
        } else if (entry.info->shape != argument.shape ||
                   !sameLayout(*entry.info, argument)) {
          throw Error("design '" + design.directory +
                      "' expected one shape of "
                      "the host's tensor '" +
                      tensor + "' but '" + entry.info->name + "' and '" +
                      argument.name + "' differ");
        }
        views[i].buffer = entry.buffer;
      } else if (!argument.isRunTimeInput() && argument.role != Role::Weight) {
        if (!shared[i])
          shared[i] = device.allocate(argument.bytes);
        views[i].buffer = shared[i];
      } else {
        for (size_t c = 0; c < layer.caches.size(); ++c)
          if (layer.caches[c].argument == i)
            views[i].buffer = caches[index][c];
        if (!views[i].buffer)
          unbound += "\n  layer " + std::to_string(index) + ": " +
                     roleName(argument.role) + " '" + argument.name + "' " +
                     shapeString(argument.shape);
      }
    }
    layer.bound.push_back(std::move(views));
  }
  if (!unbound.empty())
    throw Error("model.json binds nothing to these arguments of design '" +
                design.directory + "':" + unbound);
}

void LanguageModel::Impl::bindHead() {
  const DesignInterface &design = head.design->interface();
  head.hidden = design.indexOf(description.head.hidden);
  head.logits = design.indexOf(description.head.logits);
  std::string unbound;
  for (size_t i = 0; i < design.arguments.size(); ++i) {
    const ArgumentInfo &argument = design.arguments[i];
    std::string file = lookUp(description.head.weights, argument.name);
    if (file.empty())
      file = argument.file;
    BufferView view;
    if (!file.empty())
      view = bindFile(file, argument, design.directory);
    else if (i == head.hidden || argument.role == Role::Output ||
             argument.role == Role::Workspace)
      view.buffer = device.allocate(argument.bytes);
    else
      unbound += std::string("\n  ") + roleName(argument.role) + " '" +
                 argument.name + "' " + shapeString(argument.shape);
    head.arguments.push_back(view);
  }
  if (!unbound.empty())
    throw Error("model.json binds nothing to these arguments of design '" +
                design.directory + "':" + unbound);
  // One row of a layer's hidden state must be the head's argument.
  const uint64_t row = tensorBytes(layer.info(layer.hidden)) /
                       static_cast<uint64_t>(layer.tokens);
  const uint64_t expected = tensorBytes(design.arguments[head.hidden]);
  if (row != expected)
    throw Error("design '" + design.directory + "' expected " +
                std::to_string(expected) + " bytes of hidden state but got " +
                std::to_string(row) + " from the layers");
}

void LanguageModel::Impl::load() {
  openDesigns();
  prepareLayer();
  for (BufferRef &buffer : hidden)
    buffer = device.allocate(std::max(layer.info(layer.hidden).bytes,
                                      layer.info(layer.hiddenResult).bytes));
  allocateCaches();
  bindLayers();
  bindHead();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Returns the sizes of the step, by the names of the design's parameters.
ParameterValues
LanguageModel::Impl::checkRequest(const StepRequest &request) const {
  if (request.count < 1 || request.count > layer.tokens)
    throw Error("a step expected 1 to " + std::to_string(layer.tokens) +
                " tokens but got " + std::to_string(request.count));
  if (request.logits < 0 || request.logits > request.count)
    throw Error("a step expected logits of 0 to " +
                std::to_string(request.count) + " tokens, its own, but got " +
                std::to_string(request.logits));
  if (request.position < 0 ||
      request.position + request.count > description.maxLength)
    throw Error("expected a prompt and answer of at most " +
                std::to_string(description.maxLength) + " tokens but got " +
                std::to_string(request.count) + " at position " +
                std::to_string(request.position) +
                "; compile the model with a larger --max-length");
  ParameterValues values = {{description.layer.past, request.position}};
  if (!description.layer.tokens.empty())
    values[description.layer.tokens] = request.count;

  std::map<std::string, uint64_t> expected = {
      {"hidden", tensorBytes(layer.info(layer.hidden).at(values))}};
  for (const auto &[name, host] : layer.host)
    expected[name] = tensorBytes(host.info->at(values));
  std::string problems;
  auto report = [&](const std::string &text) {
    problems += (problems.empty() ? "" : "; ") + text;
  };
  std::set<std::string> seen;
  for (const HostTensor &tensor : request.tensors) {
    auto known = expected.find(tensor.name);
    if (!seen.insert(tensor.name).second)
      report("'" + tensor.name + "' comes twice");
    else if (known == expected.end())
      report("unexpected '" + tensor.name + "'");
    else if (known->second != tensor.bytes)
      report("'" + tensor.name + "' expected " + std::to_string(known->second) +
             " bytes but got " + std::to_string(tensor.bytes));
  }
  for (const auto &item : expected)
    if (!seen.count(item.first))
      report("missing '" + item.first + "'");
  if (!problems.empty())
    throw Error("tensors of a step of " + std::to_string(request.count) +
                " tokens at position " + std::to_string(request.position) +
                ": " + problems);
  return values;
}

void LanguageModel::Impl::account(const RunStatistics &run,
                                  StepResult &result) {
  result.macs += run.macs;
  for (uint64_t bytes : run.dmaBytes)
    result.dmaBytes += bytes;
}

/// Runs one layer from `hidden[0]` to `hidden[1]` and exchanges the two.
void LanguageModel::Impl::runLayer(size_t index, const ParameterValues &values,
                                   StepResult &result) {
  std::vector<BufferView> &arguments = layer.bound[index];
  arguments[layer.hidden] = {hidden[0], 0};
  arguments[layer.hiddenResult] = {hidden[1], 0};
  account(device.run(*layer.design, arguments, values), result);
  std::swap(hidden[0], hidden[1]);
  if (!layer.chainsDirectly) {
    const std::vector<char> tensor = readTensor(
        device, {hidden[0], 0}, layer.info(layer.hiddenResult).at(values));
    writeTensor(device, {hidden[0], 0}, layer.info(layer.hidden).at(values),
                tensor.data());
  }
}

void LanguageModel::Impl::appendRows(size_t index, const StepRequest &request,
                                     const ParameterValues &values) {
  for (size_t i = 0; i < layer.caches.size(); ++i) {
    const Layer::Cache &cache = layer.caches[i];
    cache.rows.append(device, *caches[index][i],
                      layer.bound[index][cache.result], request.position,
                      values);
  }
}

/// Adds the hidden state behind the layer that has just run to `taps`.
void LanguageModel::Impl::tapHidden(const ParameterValues &values,
                                    ResultTensor &taps) {
  const ArgumentInfo info = layer.info(layer.hidden).at(values);
  const std::vector<char> states = readTensor(device, {hidden[0], 0}, info);
  if (taps.shape.empty()) {
    taps.dtype = info.dtype;
    taps.shape = info.shape;
    taps.shape.insert(taps.shape.begin(), 0);
  }
  ++taps.shape.front();
  taps.data.insert(taps.data.end(), states.begin(), states.end());
}

/// Runs the head on the last tokens of a step.
void LanguageModel::Impl::runHead(const StepRequest &request,
                                  const ParameterValues &values,
                                  StepResult &result) {
  const std::vector<char> states =
      readTensor(device, {hidden[0], 0}, layer.info(layer.hidden).at(values));
  const size_t rowBytes = states.size() / request.count;
  const DesignInterface &design = head.design->interface();
  const ArgumentInfo &logits = design.arguments[head.logits];
  result.logits.dtype = logits.dtype;
  result.logits.shape = logits.shape;
  result.logits.shape.insert(result.logits.shape.begin(), request.logits);
  for (int64_t row = request.count - request.logits; row < request.count;
       ++row) {
    writeTensor(device, head.arguments[head.hidden],
                design.arguments[head.hidden], states.data() + row * rowBytes);
    account(device.run(*head.design, head.arguments, /*parameters=*/{}),
            result);
    const std::vector<char> values =
        readTensor(device, head.arguments[head.logits], logits);
    result.logits.data.insert(result.logits.data.end(), values.begin(),
                              values.end());
  }
}

StepResult LanguageModel::step(const StepRequest &request) {
  const ParameterValues values = impl->checkRequest(request);
  const auto start = std::chrono::steady_clock::now();
  const Layer &layer = impl->layer;
  for (const HostTensor &tensor : request.tensors) {
    if (tensor.name == "hidden") {
      writeTensor(impl->device, {impl->hidden[0], 0},
                  layer.info(layer.hidden).at(values), tensor.data);
      continue;
    }
    const Layer::Host &host = layer.host.at(tensor.name);
    writeTensor(impl->device, {host.buffer, 0}, host.info->at(values),
                tensor.data);
  }
  StepResult result;
  for (size_t index = 0; index < layer.bound.size(); ++index) {
    impl->runLayer(index, values, result);
    impl->appendRows(index, request, values);
    if (request.taps)
      impl->tapHidden(values, result.taps);
  }
  if (request.logits > 0)
    impl->runHead(request, values, result);
  const std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  result.seconds = seconds.count();
  impl->statistics.macs += result.macs;
  impl->statistics.dmaBytes += result.dmaBytes;
  ++impl->statistics.steps;
  return result;
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

const CacheRows &LanguageModel::Impl::cacheRows(int64_t layer, int64_t cache,
                                                int64_t row) const {
  auto check = [](const char *what, int64_t value, int64_t size) {
    if (value < 0 || value >= size)
      throw Error(std::string("expected a ") + what + " from 0 to " +
                  std::to_string(size - 1) + " but got " +
                  std::to_string(value));
  };
  check("layer", layer, caches.size());
  check("cache", cache, this->layer.caches.size());
  check("row", row, description.maxLength);
  return this->layer.caches[cache].rows;
}

void LanguageModel::reset() {
  for (const std::vector<BufferRef> &layer : impl->caches)
    for (const BufferRef &buffer : layer)
      impl->device.fillZero(*buffer);
}

void LanguageModel::writeCache(int64_t layer, int64_t cache, int64_t row,
                               const void *data, uint64_t bytes) {
  const CacheRows &rows = impl->cacheRows(layer, cache, row);
  if (bytes != rows.rowBytes())
    throw Error("expected a cache row of " + std::to_string(rows.rowBytes()) +
                " bytes but got " + std::to_string(bytes));
  rows.write(impl->device, *impl->caches[layer][cache], row, data);
}

ResultTensor LanguageModel::readCache(int64_t layer, int64_t cache,
                                      int64_t row) {
  const CacheRows &rows = impl->cacheRows(layer, cache, row);
  return {rows.dtype(), rows.rowShape(),
          rows.read(impl->device, *impl->caches[layer][cache], row)};
}

const ModelStatistics &LanguageModel::statistics() const {
  return impl->statistics;
}

LanguageModel::LanguageModel(Device &device, const std::string &directory)
    : impl(std::make_unique<Impl>(device, directory)) {
  impl->load();
}

LanguageModel::~LanguageModel() = default;
