//===- InterfaceJson.cpp - What a host must know of a design --------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// interface.json.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Target/Report/WriteDesign.h"

#include "llvm/ADT/STLExtras.h"

using namespace streamtensor;
using llvm::json::OStream;

/// "[576, 96]": numbers stand on one line.
template <typename T>
static std::string spellList(const std::vector<T> &values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(values, os);
  os << ']';
  return text;
}

static void attributeList(OStream &json, llvm::StringRef key,
                          const std::vector<int64_t> &values) {
  json.attributeBegin(key);
  json.rawValue(spellList(values));
  json.attributeEnd();
}

static void attributeList(OStream &json, llvm::StringRef key,
                          const std::vector<std::string> &texts) {
  std::vector<std::string> quoted;
  for (const std::string &text : texts)
    quoted.push_back('"' + text + '"');
  json.attributeBegin(key);
  json.rawValue(spellList(quoted));
  json.attributeEnd();
}

static void attributeMap(OStream &json,
                         const std::vector<std::vector<unsigned>> &map) {
  json.attributeArray("map", [&] {
    for (const std::vector<unsigned> &loops : map)
      json.rawValue(spellList(loops));
  });
}

/// What a FIFO carries: trip counts are expressions of the parameters.
static void writeValue(OStream &json, const FifoInfo &fifo) {
  if (fifo.values.empty() || fifo.dtype.empty())
    return;
  std::vector<std::string> trips;
  for (const TripCount &trip : fifo.order.trips)
    trips.push_back(trip.str());
  json.attributeObject("value", [&] {
    attributeList(json, "names", fifo.values);
    json.attribute("dtype", fifo.dtype);
    attributeList(json, "element", fifo.order.element);
    attributeList(json, "trips", trips);
    attributeList(json, "steps", fifo.order.steps);
    attributeMap(json, fifo.order.map);
  });
}

static void writePacking(OStream &json, const ArgumentInfo &argument) {
  if (!argument.packing) {
    json.attribute("packing", nullptr);
    return;
  }
  if (argument.packedShape != argument.shape)
    attributeList(json, "packed_shape", argument.packedShape);
  const TokenOrder &order = *argument.packing;
  json.attributeObject("packing", [&] {
    attributeList(json, "element", order.element);
    attributeList(json, "trips", order.trips);
    attributeList(json, "steps", order.steps);
    attributeMap(json, order.map);
  });
}

void streamtensor::writeInterfaceJson(const DesignInfo &design,
                                      llvm::StringRef kernelSha256,
                                      llvm::raw_ostream &os) {
  OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("schema", 1);
    json.attribute("function", design.function);
    json.attribute("kernel", "hls/kernel.cpp");
    json.attribute("kernel_sha256", kernelSha256);
    json.attributeArray("parameters", [&] {
      for (const dataflow::ParameterRange &parameter : design.parameters)
        json.object([&] {
          json.attribute("name", parameter.name);
          json.attribute("min", parameter.smallest);
          json.attribute("max", parameter.largest);
        });
    });
    json.attributeArray("arguments", [&] {
      for (const ArgumentInfo &argument : design.arguments)
        json.object([&] {
          json.attribute("name", argument.name);
          json.attribute("role", argument.role);
          json.attribute("dtype", argument.dtype);
          attributeList(json, "shape", argument.shape);
          if (!argument.dims.empty())
            attributeList(json, "dims", argument.dims);
          attributeList(json, "buffer_shape", argument.bufferShape);
          json.attribute("bytes", argument.bytes);
          writePacking(json, argument);
          if (!argument.file.empty())
            json.attribute("file", argument.file);
        });
    });
    json.attributeArray("groups", [&] {
      for (const std::string &group : design.groups)
        json.value(group);
    });
    json.attributeArray("fifos", [&] {
      for (const FifoInfo &fifo : design.fifos)
        json.object([&] {
          json.attribute("name", fifo.name);
          json.attribute("group", fifo.group);
          json.attribute("producer", fifo.producer);
          json.attribute("consumer", fifo.consumer);
          json.attribute("depth", fifo.depth);
          json.attribute("tokens", fifo.tokens);
          json.attribute("token_bits", fifo.tokenBits);
          writeValue(json, fifo);
        });
    });
    json.attributeArray("tasks", [&] {
      for (const TaskInfo &task : design.tasks)
        json.object([&] {
          json.attribute("name", task.name);
          json.attribute("kind", task.kind);
          json.attribute("group", task.group);
          if (task.macsFifo.empty())
            json.attribute("macs_fifo", nullptr);
          else
            json.attribute("macs_fifo", task.macsFifo);
          json.attribute("macs_per_token", task.macsPerToken);
        });
    });
    json.attributeArray("dma", [&] {
      for (const DmaInfo &dma : design.dma)
        json.object([&] {
          json.attribute("name", dma.name);
          json.attribute("direction", dma.direction);
          json.attribute("argument", dma.argument);
          json.attribute("fifo", dma.fifo);
          json.attribute("bytes_per_token", dma.bytesPerToken);
          json.attribute("bytes", dma.bytes);
          if (!dma.exceptFifo.empty()) {
            json.attribute("except_fifo", dma.exceptFifo);
            json.attribute("except_bytes_per_token", dma.exceptBytesPerToken);
          }
        });
    });
  });
  os << "\n";
}
