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

StringMap readFiles(const JsonFields &fields, const std::string &key,
                    const std::string &directory) {
  StringMap files;
  for (const auto &[argument, file] : fields.stringMap(key))
    files[argument] = resolvePath(directory, file);
  return files;
}

LayerDesign readLayerDesign(const JsonFields &fields,
                            const std::string &directory) {
  LayerDesign layer;
  layer.design = resolvePath(directory, fields.string("design"));
  layer.tokens = fields.stringOr("tokens", "");
  layer.past = fields.string("past");
  layer.layers = fields.stringOr("layers", "");
  layer.weights = readFiles(fields, "weights", directory);
  layer.hidden = fields.string("hidden");
  layer.hiddenResult = fields.string("hidden_result");
  for (const JsonFields &item : fields.objects("caches"))
    layer.caches.push_back(
        {item.string("argument"), item.string("result"),
         static_cast<size_t>(item.integerAtLeast("axis", 0))});
  return layer;
}

LayerDescription readLayer(const JsonFields &fields,
                           const std::string &directory) {
  LayerDescription layer;
  layer.weights = readFiles(fields, "weights", directory);
  for (const auto &[argument, tensor] : fields.stringMap("host"))
    layer.host[argument] = tensor;
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
  if (fields.integer("schema") != 3)
    fields.fail("schema", "expected 3 but got " +
                              std::to_string(fields.integer("schema")) +
                              "; compile the model again");
  ModelDescription model;
  model.model = fields.stringOr("model", "");
  model.maxLength = fields.integerAtLeast("max_length", 1);
  model.layer = readLayerDesign(fields.object("layer"), directory);
  for (const JsonFields &item : fields.objects("layers"))
    model.layers.push_back(readLayer(item, directory));
  const JsonFields head = fields.object("head");
  model.head.design = resolvePath(directory, head.string("design"));
  model.head.hidden = head.string("hidden");
  model.head.logits = head.string("logits");
  model.head.weights = readFiles(head, "weights", directory);
  return model;
}
