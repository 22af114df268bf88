//===- ModelDescription.cpp - What makes designs a language model ---------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading model.json.
//
//===----------------------------------------------------------------------===//

#include "runtime/ModelDescription.h"

#include "runtime/Error.h"
#include "runtime/JsonFields.h"
#include "runtime/System.h"

#include <filesystem>

using namespace streamtensor;
using namespace streamtensor::runtime;

namespace {

using StringMap = std::map<std::string, std::string>;

PhaseDescription readPhase(const JsonFields &fields, const std::string &name,
                           const std::string &directory) {
  PhaseDescription phase;
  phase.name = name;
  phase.design = resolvePath(directory, fields.string("design"));
  phase.tokens = fields.integerAtLeast("tokens", 1);
  phase.hidden = fields.string("hidden");
  phase.hiddenResult = fields.string("hidden_result");
  for (const JsonFields &item : fields.objects("caches"))
    phase.caches.push_back(
        {item.string("argument"), item.string("result"),
         static_cast<size_t>(item.integerAtLeast("axis", 0))});
  return phase;
}

StringMap readFiles(const JsonFields &fields, const std::string &key,
                    const std::string &directory) {
  StringMap files;
  for (const auto &[argument, file] : fields.stringMap(key))
    files[argument] = resolvePath(directory, file);
  return files;
}

LayerDescription readLayer(const JsonFields &fields,
                           const std::vector<PhaseDescription> &phases,
                           const std::string &directory) {
  LayerDescription layer;
  const JsonFields weights = fields.object("weights");
  const JsonFields host = fields.object("host");
  for (const PhaseDescription &phase : phases) {
    layer.weights[phase.name] = readFiles(weights, phase.name, directory);
    for (const auto &[argument, tensor] : host.stringMap(phase.name))
      layer.host[phase.name][argument] = tensor;
  }
  return layer;
}

} // namespace

ModelDescription ModelDescription::read(const std::string &directory) {
  const std::string path = resolvePath(directory, "model.json");
  if (!std::filesystem::exists(path))
    throw Error("expected a compiled language model in '" + directory +
                "' but there is no model.json; make one with streamtensor "
                "compile MODEL --output-dir");
  const JsonFields fields = JsonFields::readFile(path);
  if (fields.integer("schema") != 1)
    fields.fail("schema", "expected 1 but got " +
                              std::to_string(fields.integer("schema")) +
                              "; compile the model again");
  ModelDescription model;
  model.model = fields.stringOr("model", "");
  model.maxLength = fields.integerAtLeast("max_length", 1);
  const JsonFields phases = fields.object("phases");
  for (const char *name : {"prefill", "decode"})
    model.phases.push_back(readPhase(phases.object(name), name, directory));
  if (model.phases[0].caches.size() != model.phases[1].caches.size())
    phases.fail("decode.caches",
                "expected as many caches as in prefill (" +
                    std::to_string(model.phases[0].caches.size()) +
                    ") but got " +
                    std::to_string(model.phases[1].caches.size()));
  for (const JsonFields &item : fields.objects("layers"))
    model.layers.push_back(readLayer(item, model.phases, directory));
  const JsonFields head = fields.object("head");
  model.head.design = resolvePath(directory, head.string("design"));
  model.head.hidden = head.string("hidden");
  model.head.logits = head.string("logits");
  model.head.weights = readFiles(head, "weights", directory);
  return model;
}
