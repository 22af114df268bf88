//===- LanguageModel.cpp - Runs all layers of a language model ------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every argument of every launch is bound once, at the start, to a place in
// device memory. A design of all layers is launched once per step; what differs
// from layer to layer lies in slots of one buffer per argument:
//
//   weight      the mapped file
//   cache       a slot per layer
//   host        one tensor for all layers, or a slot per layer
//   hidden      a buffer for the argument, a slot per layer of the result
//   others      (new rows) a slot per layer
//
// A design of one layer is launched once per layer:
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

/// The design that runs once per layer, or once for all.
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
  /// Where the host's tensors go, and what describes one.
  struct Host {
    std::vector<BufferView> places;
    ArgumentInfo info;
  };
  std::map<std::string, Host> host;
  /// One view per argument, per launch; the hidden states are bound per run.
  std::vector<std::vector<BufferView>> bound;
  /// The parameter that says how many layers a launch runs; empty: one each.
  std::string repeat;
  /// Whether the hidden result can be the next layer's argument as it lies.
  bool chainsDirectly = true;

  /// All layers run in one launch.
  bool isRepeated() const { return !repeat.empty(); }
  const ArgumentInfo &info(size_t argument) const {
    return design->interface().arguments[argument];
  }
  /// Whether an argument of run-time size has a slot per layer.
  bool isStacked(size_t argument) const {
    const std::vector<TripCount> &sizes = info(argument).sizes;
    return isRepeated() && !sizes.empty() &&
           sizes.front() == TripCount::parameter(repeat);
  }
  /// The argument as one layer sees it.
  ArgumentInfo infoOfOne(size_t argument) const {
    return isStacked(argument) ? info(argument).slot() : info(argument);
  }
  /// Where layer `index` finds the argument.
  BufferView placeOf(size_t argument, size_t index) const {
    if (!isRepeated())
      return bound[index][argument];
    BufferView view = bound.front()[argument];
    if (isStacked(argument))
      view.offset = index * infoOfOne(argument).bytes;
    return view;
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
  std::map<std::string, BufferRef> weights;    // by path
  std::vector<std::vector<BufferView>> caches; // by layer and cache
  BufferRef hidden[2];
  ModelStatistics statistics;

  void load();
  void openDesigns();
  void prepareLayer();
  void checkParameterNames() const;
  void allocateCaches();
  void bindLayers();
  void bindAllLayers();
  void addHost(const std::string &name, size_t argument,
               const BufferView &place);
  void bindHead();
  BufferView bindFile(const std::string &path, const ArgumentInfo &argument,
                      const std::string &design);

  ParameterValues checkRequest(const StepRequest &request) const;
  BufferView runLayer(size_t index, const ParameterValues &values,
                      StepResult &result);
  BufferView runAllLayers(const ParameterValues &values, StepResult &result);
  /// What describes a hidden state behind a layer.
  ArgumentInfo stateInfo() const {
    return layer.isRepeated() ? layer.infoOfOne(layer.hiddenResult)
                              : layer.info(layer.hidden);
  }
  void tapHidden(const BufferView &view, const ParameterValues &values,
                 ResultTensor &taps);
  void appendRows(size_t index, const StepRequest &request,
                  const ParameterValues &values);
  void runHead(const StepRequest &request, const BufferView &view,
               const ParameterValues &values, StepResult &result);
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
  for (const std::string &name :
       {description.layer.tokens, description.layer.layers})
    if (!name.empty())
      named.insert(name);
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
  layer.repeat = description.layer.layers;
  layer.hidden = design.indexOf(description.layer.hidden);
  layer.hiddenResult = design.indexOf(description.layer.hiddenResult);
  const ArgumentInfo &from = layer.info(layer.hidden);
  const ArgumentInfo to = layer.infoOfOne(layer.hiddenResult);
  if (from.shape != to.shape || from.dtype != to.dtype)
    throw Error("design '" + design.directory +
                "' expected the shape of the hidden result '" + to.name +
                "' to be that of '" + from.name + "' (" +
                shapeString(from.shape) + ") but got " + shapeString(to.shape));
  layer.chainsDirectly = sameLayout(from, to);
  for (const ParameterInfo &parameter : design.parameters) {
    if (parameter.name == description.layer.tokens)
      layer.tokens = parameter.max;
    else if (parameter.name == layer.repeat) {
      const int64_t layers = description.layers.size();
      if (layers < parameter.min || layers > parameter.max)
        throw Error("design '" + design.directory + "' expected " +
                    std::to_string(parameter.min) + " to " +
                    std::to_string(parameter.max) + " layers but got " +
                    std::to_string(layers) + "; compile the model again");
    } else if (parameter.min > 0 || parameter.max < description.maxLength - 1)
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
         CacheRows(layer.infoOfOne(argument), layer.infoOfOne(result),
                   cache.axis, layer.tokens, description.maxLength,
                   design.directory)});
  }
}

void LanguageModel::Impl::allocateCaches() {
  std::vector<BufferRef> stacked;
  for (size_t index = 0; index < description.layers.size(); ++index) {
    caches.emplace_back();
    for (size_t i = 0; i < layer.caches.size(); ++i) {
      const size_t argument = layer.caches[i].argument;
      if (index == 0 || !layer.isRepeated())
        stacked.push_back(device.allocate(layer.info(argument).bytes));
      caches.back().push_back(
          layer.isRepeated()
              ? BufferView{stacked[i], index * layer.infoOfOne(argument).bytes}
              : BufferView{stacked.back(), 0});
    }
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

/// One line of what `requireBound` lists.
static std::string unboundLine(const ArgumentInfo &argument,
                               const std::string &where = "") {
  return "\n  " + where + roleName(argument.role) + " '" + argument.name +
         "' " + shapeString(argument.shape);
}

static void requireBound(const DesignInterface &design,
                         const std::string &unbound) {
  if (!unbound.empty())
    throw Error("model.json binds nothing to these arguments of design '" +
                design.directory + "':" + unbound);
}

/// The host's tensor `name` is to be written to `place`, too.
void LanguageModel::Impl::addHost(const std::string &name, size_t argument,
                                  const BufferView &place) {
  const ArgumentInfo info = layer.infoOfOne(argument);
  auto [entry, isNew] = layer.host.try_emplace(name, Layer::Host{{}, info});
  Layer::Host &host = entry->second;
  if (!isNew && (host.info.shape != info.shape || !sameLayout(host.info, info)))
    throw Error("design '" + layer.design->interface().directory +
                "' expected one shape of the host's tensor '" + name +
                "' but '" + host.info.name + "' and '" + info.name +
                "' differ");
  for (const BufferView &other : host.places)
    if (other.buffer == place.buffer && other.offset == place.offset)
      return;
  host.places.push_back(place);
}

/// One launch, with a slot per layer of what differs between them.
void LanguageModel::Impl::bindAllLayers() {
  const DesignInterface &design = layer.design->interface();
  std::string unbound;
  for (const auto &entry : description.layer.weights)
    design.indexOf(entry.first); // throws for a name that does not exist
  std::vector<BufferView> views(design.arguments.size());
  for (size_t i = 0; i < views.size(); ++i) {
    const ArgumentInfo &argument = design.arguments[i];
    const std::string file = lookUp(description.layer.weights, argument.name);
    if (!file.empty() || !argument.file.empty()) {
      views[i] = bindFile(file.empty() ? argument.file : file, argument,
                          design.directory);
      continue;
    }
    for (size_t c = 0; c < layer.caches.size(); ++c)
      if (layer.caches[c].argument == i)
        views[i] = caches.front()[c];
    const bool isBound = views[i].buffer || !argument.isRunTimeInput() ||
                         i == layer.hidden ||
                         description.layers.front().host.count(argument.name);
    if (argument.role == Role::Weight || !isBound)
      unbound += unboundLine(argument);
    else if (!views[i].buffer)
      views[i].buffer =
          i == layer.hidden ? hidden[0] : device.allocate(argument.bytes);
  }
  requireBound(design, unbound);
  layer.bound.push_back(std::move(views));
  for (size_t index = 0; index < description.layers.size(); ++index)
    for (const auto &[argument, tensor] : description.layers[index].host) {
      const size_t i = design.indexOf(argument);
      if (index > 0 && !layer.isStacked(i) &&
          tensor != lookUp(description.layers.front().host, argument))
        throw Error("design '" + design.directory +
                    "' expected one tensor of the host for '" + argument +
                    "', which all layers share, but model.json names '" +
                    tensor + "' for layer " + std::to_string(index));
      addHost(tensor, i, layer.placeOf(i, index));
    }
}

void LanguageModel::Impl::bindLayers() {
  if (layer.isRepeated())
    return bindAllLayers();
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
        auto known = layer.host.find(tensor);
        views[i] = known == layer.host.end()
                       ? BufferView{device.allocate(argument.bytes), 0}
                       : known->second.places.front();
        addHost(tensor, i, views[i]);
      } else if (!argument.isRunTimeInput() && argument.role != Role::Weight) {
        if (!shared[i])
          shared[i] = device.allocate(argument.bytes);
        views[i].buffer = shared[i];
      } else {
        for (size_t c = 0; c < layer.caches.size(); ++c)
          if (layer.caches[c].argument == i)
            views[i] = caches[index][c];
        if (!views[i].buffer)
          unbound +=
              unboundLine(argument, "layer " + std::to_string(index) + ": ");
      }
    }
    layer.bound.push_back(std::move(views));
  }
  requireBound(design, unbound);
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
      unbound += unboundLine(argument);
    head.arguments.push_back(view);
  }
  requireBound(design, unbound);
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
    buffer =
        device.allocate(std::max(layer.info(layer.hidden).bytes,
                                 layer.infoOfOne(layer.hiddenResult).bytes));
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
  if (layer.isRepeated())
    values[layer.repeat] = description.layers.size();

  std::map<std::string, uint64_t> expected = {
      {"hidden", tensorBytes(layer.info(layer.hidden).at(values))}};
  for (const auto &[name, host] : layer.host)
    expected[name] = tensorBytes(host.info.at(values));
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

/// Runs one layer from `hidden[0]` to `hidden[1]`, exchanges the two and
/// returns where the result is.
BufferView LanguageModel::Impl::runLayer(size_t index,
                                         const ParameterValues &values,
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
  return {hidden[0], 0};
}

/// Runs all layers in one launch; returns where the last one's result is.
BufferView LanguageModel::Impl::runAllLayers(const ParameterValues &values,
                                             StepResult &result) {
  account(device.run(*layer.design, layer.bound.front(), values), result);
  return layer.placeOf(layer.hiddenResult, description.layers.size() - 1);
}

void LanguageModel::Impl::appendRows(size_t index, const StepRequest &request,
                                     const ParameterValues &values) {
  for (size_t i = 0; i < layer.caches.size(); ++i) {
    const Layer::Cache &cache = layer.caches[i];
    cache.rows.append(device, caches[index][i],
                      layer.placeOf(cache.result, index), request.position,
                      values);
  }
}

/// Adds the hidden state behind a layer to `taps`.
void LanguageModel::Impl::tapHidden(const BufferView &view,
                                    const ParameterValues &values,
                                    ResultTensor &taps) {
  const ArgumentInfo info = stateInfo().at(values);
  const std::vector<char> states = readTensor(device, view, info);
  if (taps.shape.empty()) {
    taps.dtype = info.dtype;
    taps.shape = info.shape;
    taps.shape.insert(taps.shape.begin(), 0);
  }
  ++taps.shape.front();
  taps.data.insert(taps.data.end(), states.begin(), states.end());
}

/// Runs the head on the last tokens of a step, whose states are in `view`.
void LanguageModel::Impl::runHead(const StepRequest &request,
                                  const BufferView &view,
                                  const ParameterValues &values,
                                  StepResult &result) {
  const std::vector<char> states =
      readTensor(device, view, stateInfo().at(values));
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
    for (const BufferView &place : host.places)
      writeTensor(impl->device, place, host.info.at(values), tensor.data);
  }
  StepResult result;
  BufferView states;
  if (layer.isRepeated())
    states = impl->runAllLayers(values, result);
  for (size_t index = 0; index < impl->description.layers.size(); ++index) {
    if (!layer.isRepeated())
      states = impl->runLayer(index, values, result);
    impl->appendRows(index, request, values);
    if (request.taps)
      impl->tapHidden(layer.isRepeated()
                          ? layer.placeOf(layer.hiddenResult, index)
                          : states,
                      values, result.taps);
  }
  if (request.logits > 0)
    impl->runHead(request, states, values, result);
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
  // Slots of one buffer need it once.
  std::set<BufferRef> buffers;
  for (const std::vector<BufferView> &layer : impl->caches)
    for (const BufferView &view : layer)
      buffers.insert(view.buffer);
  for (const BufferRef &buffer : buffers)
    impl->device.fillZero(*buffer);
}

void LanguageModel::writeCache(int64_t layer, int64_t cache, int64_t row,
                               const void *data, uint64_t bytes) {
  const CacheRows &rows = impl->cacheRows(layer, cache, row);
  if (bytes != rows.rowBytes())
    throw Error("expected a cache row of " + std::to_string(rows.rowBytes()) +
                " bytes but got " + std::to_string(bytes));
  rows.write(impl->device, impl->caches[layer][cache], row, data);
}

ResultTensor LanguageModel::readCache(int64_t layer, int64_t cache,
                                      int64_t row) {
  const CacheRows &rows = impl->cacheRows(layer, cache, row);
  return {rows.dtype(), rows.rowShape(),
          rows.read(impl->device, impl->caches[layer][cache], row)};
}

const ModelStatistics &LanguageModel::statistics() const {
  return impl->statistics;
}

LanguageModel::LanguageModel(Device &device, const std::string &directory)
    : impl(std::make_unique<Impl>(device, directory)) {
  impl->load();
}

LanguageModel::~LanguageModel() = default;
