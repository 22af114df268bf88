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
//   weight      the mapped file, shared by all layers and phases that name it
//   cache       one buffer per layer and cache, shared by the phases
//   host        one buffer per phase and name of a tensor, shared by the layers
//   hidden      two buffers that take turns as argument and result
//   others      (workspaces, new rows) one buffer per phase, shared by the
//   layers
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

/// A design that runs once per layer.
struct Phase {
  PhaseDescription description;
  DesignRef design;
  size_t hidden = 0, hiddenResult = 0;
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
  std::vector<std::vector<BufferView>> layers;
  std::set<std::string> weightFiles;
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
  std::map<std::string, Phase> phases;
  Head head;
  std::map<std::string, BufferRef> weights;   // by path
  std::vector<std::vector<BufferRef>> caches; // by layer and cache
  BufferRef hidden[2];
  const Phase *lastPhase = nullptr;
  ModelStatistics statistics;

  void load();
  void openDesigns();
  void preparePhase(Phase &phase);
  void allocateCaches();
  void bindLayers(Phase &phase);
  void bindHead();
  BufferView bindFile(const std::string &path, const ArgumentInfo &argument,
                      const std::string &design);

  Phase &checkRequest(const StepRequest &request);
  void switchTo(const Phase &phase);
  void runLayer(Phase &phase, size_t layer, StepResult &result);
  void tapHidden(const Phase &phase, ResultTensor &taps);
  void appendRows(const Phase &phase, size_t layer, int64_t position,
                  int64_t count);
  void runHead(const Phase &phase, int64_t begin, int64_t end,
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
    const DesignInterface design = DesignInterface::read(directory);
    if (!design.parameters.empty())
      throw Error("design '" + directory +
                  "' expected constant sizes, as every step of a language "
                  "model has the same, but '" +
                  design.parameters.front().name +
                  "' is known at run time only; compile it with constant "
                  "lengths");
    return std::async(std::launch::async,
                      [=] { return device.open(directory); });
  };
  std::vector<std::future<DesignRef>> designs;
  for (const PhaseDescription &phase : description.phases)
    designs.push_back(open(phase.design));
  designs.push_back(open(description.head.design));
  for (size_t i = 0; i < description.phases.size(); ++i) {
    Phase &phase = phases[description.phases[i].name];
    phase.description = description.phases[i];
    phase.design = designs[i].get();
  }
  head.design = designs.back().get();
}

void LanguageModel::Impl::preparePhase(Phase &phase) {
  const DesignInterface &design = phase.design->interface();
  phase.hidden = design.indexOf(phase.description.hidden);
  phase.hiddenResult = design.indexOf(phase.description.hiddenResult);
  const ArgumentInfo &from = phase.info(phase.hidden);
  const ArgumentInfo &to = phase.info(phase.hiddenResult);
  if (from.shape != to.shape || from.dtype != to.dtype)
    throw Error("design '" + design.directory +
                "' expected the shape of the hidden result '" + to.name +
                "' to be that of '" + from.name + "' (" +
                shapeString(from.shape) + ") but got " + shapeString(to.shape));
  phase.chainsDirectly = sameLayout(from, to);
  for (const CacheDescription &cache : phase.description.caches) {
    const size_t argument = design.indexOf(cache.argument);
    const size_t result = design.indexOf(cache.result);
    phase.caches.push_back(
        {argument, result,
         CacheRows(phase.info(argument), phase.info(result), cache.axis,
                   phase.description.tokens, description.maxLength,
                   design.directory)});
  }
}

void LanguageModel::Impl::allocateCaches() {
  const Phase &prefill = phases.at("prefill"), &decode = phases.at("decode");
  for (size_t i = 0; i < prefill.caches.size(); ++i) {
    const ArgumentInfo &a = prefill.info(prefill.caches[i].argument);
    const ArgumentInfo &b = decode.info(decode.caches[i].argument);
    if (a.bufferShape != b.bufferShape || a.dtype != b.dtype)
      throw Error("expected both phases to see cache " + std::to_string(i) +
                  " in one memory but got " + shapeString(a.bufferShape) + " " +
                  dtypeName(a.dtype) + " in prefill and " +
                  shapeString(b.bufferShape) + " " + dtypeName(b.dtype) +
                  " in decode");
  }
  for (size_t layer = 0; layer < description.layers.size(); ++layer) {
    caches.emplace_back();
    for (size_t i = 0; i < prefill.caches.size(); ++i)
      caches.back().push_back(device.allocate(
          std::max(prefill.info(prefill.caches[i].argument).bytes,
                   decode.info(decode.caches[i].argument).bytes)));
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

void LanguageModel::Impl::bindLayers(Phase &phase) {
  const DesignInterface &design = phase.design->interface();
  std::vector<BufferRef> shared(design.arguments.size());
  std::string unbound;
  for (size_t layer = 0; layer < description.layers.size(); ++layer) {
    const StringMap &files =
        description.layers[layer].weights.at(phase.description.name);
    const StringMap &host =
        description.layers[layer].host.at(phase.description.name);
    for (const StringMap *map : {&files, &host})
      for (const auto &entry : *map)
        design.indexOf(entry.first); // throws for a name that does not exist
    std::vector<BufferView> views(design.arguments.size());
    for (size_t i = 0; i < views.size(); ++i) {
      const ArgumentInfo &argument = design.arguments[i];
      const std::string file = lookUp(files, argument.name);
      const std::string tensor = lookUp(host, argument.name);
      if (i == phase.hidden || i == phase.hiddenResult) {
        continue;
      } else if (!file.empty() || !argument.file.empty()) {
        const std::string &path = file.empty() ? argument.file : file;
        views[i] = bindFile(path, argument, design.directory);
        phase.weightFiles.insert(path);
      } else if (!tensor.empty()) {
        Phase::Host &entry = phase.host[tensor];
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
        for (size_t c = 0; c < phase.caches.size(); ++c)
          if (phase.caches[c].argument == i)
            views[i].buffer = caches[layer][c];
        if (!views[i].buffer)
          unbound += "\n  layer " + std::to_string(layer) + ": " +
                     roleName(argument.role) + " '" + argument.name + "' " +
                     shapeString(argument.shape);
      }
    }
    phase.layers.push_back(std::move(views));
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
  const Phase &phase = phases.at("decode");
  const uint64_t row = tensorBytes(phase.info(phase.hidden)) /
                       static_cast<uint64_t>(phase.description.tokens);
  const uint64_t expected = tensorBytes(design.arguments[head.hidden]);
  if (row != expected)
    throw Error("design '" + design.directory + "' expected " +
                std::to_string(expected) + " bytes of hidden state but got " +
                std::to_string(row) + " from the layers");
}

void LanguageModel::Impl::load() {
  openDesigns();
  uint64_t hiddenBytes = 0;
  for (auto &entry : phases) {
    Phase &phase = entry.second;
    preparePhase(phase);
    hiddenBytes = std::max({hiddenBytes, phase.info(phase.hidden).bytes,
                            phase.info(phase.hiddenResult).bytes});
  }
  for (BufferRef &buffer : hidden)
    buffer = device.allocate(hiddenBytes);
  allocateCaches();
  for (auto &entry : phases)
    bindLayers(entry.second);
  bindHead();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Phase &LanguageModel::Impl::checkRequest(const StepRequest &request) {
  auto entry = phases.find(request.phase);
  if (entry == phases.end())
    throw Error("expected phase 'prefill' or 'decode' but got '" +
                request.phase + "'");
  Phase &phase = entry->second;
  if (request.count < 1 || request.count > phase.description.tokens)
    throw Error("phase '" + request.phase + "' expected 1 to " +
                std::to_string(phase.description.tokens) + " tokens but got " +
                std::to_string(request.count));
  if (request.logits < 0 || request.logits > request.count)
    throw Error("phase '" + request.phase + "' expected logits of 0 to " +
                std::to_string(request.count) +
                " tokens, those of the step, but got " +
                std::to_string(request.logits));
  if (request.position < 0 ||
      request.position + request.count > description.maxLength)
    throw Error("expected a prompt and answer of at most " +
                std::to_string(description.maxLength) + " tokens but got " +
                std::to_string(request.count) + " at position " +
                std::to_string(request.position) +
                "; compile the model with a larger --max-length");
  for (const Phase::Cache &cache : phase.caches)
    if (request.position > cache.rows.visibleRows())
      throw Error("phase '" + request.phase + "' sees at most " +
                  std::to_string(cache.rows.visibleRows()) +
                  " rows of the cache but the position is " +
                  std::to_string(request.position) +
                  "; use phase 'decode' from there on");

  std::map<std::string, uint64_t> expected = {
      {"hidden", tensorBytes(phase.info(phase.hidden))}};
  for (const auto &[name, host] : phase.host)
    expected[name] = tensorBytes(*host.info);
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
    throw Error("tensors of phase '" + request.phase + "': " + problems);
  return phase;
}

/// Frees the memory of weights that only the other phase uses.
void LanguageModel::Impl::switchTo(const Phase &phase) {
  if (lastPhase && lastPhase != &phase)
    for (const std::string &file : lastPhase->weightFiles)
      if (!phase.weightFiles.count(file))
        device.setIdle(*weights.at(file));
  lastPhase = &phase;
}

void LanguageModel::Impl::account(const RunStatistics &run,
                                  StepResult &result) {
  result.macs += run.macs;
  for (uint64_t bytes : run.dmaBytes)
    result.dmaBytes += bytes;
}

/// Runs one layer from `hidden[0]` to `hidden[1]` and exchanges the two.
void LanguageModel::Impl::runLayer(Phase &phase, size_t layer,
                                   StepResult &result) {
  std::vector<BufferView> &arguments = phase.layers[layer];
  arguments[phase.hidden] = {hidden[0], 0};
  arguments[phase.hiddenResult] = {hidden[1], 0};
  account(device.run(*phase.design, arguments, /*parameters=*/{}), result);
  std::swap(hidden[0], hidden[1]);
  if (!phase.chainsDirectly) {
    const ArgumentInfo &from = phase.info(phase.hiddenResult);
    const std::vector<char> tensor = readTensor(device, {hidden[0], 0}, from);
    writeTensor(device, {hidden[0], 0}, phase.info(phase.hidden),
                tensor.data());
  }
}

void LanguageModel::Impl::appendRows(const Phase &phase, size_t layer,
                                     int64_t position, int64_t count) {
  for (size_t i = 0; i < phase.caches.size(); ++i) {
    const Phase::Cache &cache = phase.caches[i];
    cache.rows.append(device, *caches[layer][i],
                      phase.layers[layer][cache.result], position, count);
  }
}

/// Adds the hidden state behind the layer that has just run to `taps`.
void LanguageModel::Impl::tapHidden(const Phase &phase, ResultTensor &taps) {
  const ArgumentInfo &info = phase.info(phase.hidden);
  const std::vector<char> values = readTensor(device, {hidden[0], 0}, info);
  if (taps.shape.empty()) {
    taps.dtype = info.dtype;
    taps.shape = info.shape;
    taps.shape.insert(taps.shape.begin(), 0);
  }
  ++taps.shape.front();
  taps.data.insert(taps.data.end(), values.begin(), values.end());
}

/// Runs the head on the tokens `begin` to `end` - 1 of a step.
void LanguageModel::Impl::runHead(const Phase &phase, int64_t begin,
                                  int64_t end, StepResult &result) {
  const std::vector<char> states =
      readTensor(device, {hidden[0], 0}, phase.info(phase.hidden));
  const size_t rowBytes = states.size() / phase.description.tokens;
  const DesignInterface &design = head.design->interface();
  const ArgumentInfo &logits = design.arguments[head.logits];
  result.logits.dtype = logits.dtype;
  result.logits.shape = logits.shape;
  result.logits.shape.insert(result.logits.shape.begin(), end - begin);
  for (int64_t row = begin; row < end; ++row) {
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
  Phase &phase = impl->checkRequest(request);
  const auto start = std::chrono::steady_clock::now();
  impl->switchTo(phase);
  for (const HostTensor &tensor : request.tensors) {
    if (tensor.name == "hidden") {
      writeTensor(impl->device, {impl->hidden[0], 0}, phase.info(phase.hidden),
                  tensor.data);
      continue;
    }
    const Phase::Host &host = phase.host.at(tensor.name);
    writeTensor(impl->device, {host.buffer, 0}, *host.info, tensor.data);
  }
  StepResult result;
  for (size_t layer = 0; layer < phase.layers.size(); ++layer) {
    impl->runLayer(phase, layer, result);
    impl->appendRows(phase, layer, request.position, request.count);
    if (request.taps)
      impl->tapHidden(phase, result.taps);
  }
  if (request.logits > 0)
    impl->runHead(phase, request.count - request.logits, request.count, result);
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
  const Phase &phase = phases.at("decode");
  auto check = [](const char *what, int64_t value, int64_t size) {
    if (value < 0 || value >= size)
      throw Error(std::string("expected a ") + what + " from 0 to " +
                  std::to_string(size - 1) + " but got " +
                  std::to_string(value));
  };
  check("layer", layer, caches.size());
  check("cache", cache, phase.caches.size());
  check("row", row, description.maxLength);
  return phase.caches[cache].rows;
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
