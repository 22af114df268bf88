//===- Protocol.cpp - The runtime as a process ----------------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reading of requests, writing of responses.
//
//===----------------------------------------------------------------------===//

#include "runtime/Protocol.h"

#include "runtime/Error.h"
#include "runtime/JsonFields.h"
#include "runtime/System.h"

#include <optional>

using namespace streamtensor;
using namespace streamtensor::runtime;
using json = nlohmann::ordered_json;

namespace {

/// The next line without its end, or nothing at the end of the stream.
std::optional<std::string> readLine(std::FILE *in) {
  std::string line;
  int character;
  while ((character = std::getc(in)) != EOF && character != '\n')
    line += static_cast<char>(character);
  if (character == EOF && line.empty())
    return std::nullopt;
  return line;
}

/// The tensors that follow a request, with memory that is reused.
class Payload {
public:
  void read(const JsonFields &request, std::FILE *in) {
    tensors.clear();
    uint64_t total = 0;
    if (request.has("tensors"))
      for (const JsonFields &item : request.objects("tensors")) {
        const uint64_t bytes = item.integerAtLeast("bytes", 0);
        tensors.push_back({item.string("name"), nullptr, bytes});
        total += bytes;
      }
    storage.resize(total);
    uint64_t offset = 0;
    for (HostTensor &tensor : tensors) {
      tensor.data = storage.data() + offset;
      offset += tensor.bytes;
    }
    if (std::fread(storage.data(), 1, total, in) != total)
      throw Error("expected " + std::to_string(total) +
                  " bytes of tensors after a request but the input ended");
  }

  std::vector<HostTensor> tensors;

private:
  std::vector<char> storage;
};

/// A response in the making.
struct Response {
  json line = {{"ok", true}};
  std::vector<std::vector<char>> data;

  void add(const std::string &name, ResultTensor tensor) {
    line["tensors"].push_back({{"name", name},
                               {"dtype", dtypeName(tensor.dtype)},
                               {"shape", tensor.shape},
                               {"bytes", tensor.data.size()}});
    data.push_back(std::move(tensor.data));
  }
  void send(std::FILE *out) {
    const std::string text = line.dump() + "\n";
    bool ok = std::fwrite(text.data(), 1, text.size(), out) == text.size();
    for (const std::vector<char> &bytes : data)
      ok &= std::fwrite(bytes.data(), 1, bytes.size(), out) == bytes.size();
    if (std::fflush(out) != 0 || !ok)
      throw Error("cannot write a response: the reader has gone");
  }
};

Response step(LanguageModel &model, const JsonFields &request,
              const Payload &payload) {
  StepRequest step;
  step.position = request.integer("position");
  step.count = request.integer("count");
  step.logits = request.integer("logits");
  step.taps = request.has("taps") && request.integer("taps") != 0;
  step.tensors = payload.tensors;
  StepResult result = model.step(step);
  Response response;
  response.line["seconds"] = result.seconds;
  response.line["macs"] = result.macs;
  response.line["dma_bytes"] = result.dmaBytes;
  response.line["tensors"] = json::array();
  if (step.logits > 0)
    response.add("logits", std::move(result.logits));
  if (step.taps)
    response.add("taps", std::move(result.taps));
  return response;
}

Response stats(const LanguageModel &model) {
  const ModelStatistics &statistics = model.statistics();
  const uint64_t resident = residentBytes(); // before the peak, which is higher
  Response response;
  response.line["macs"] = statistics.macs;
  response.line["dma_bytes"] = statistics.dmaBytes;
  response.line["steps"] = statistics.steps;
  response.line["peak_rss_bytes"] = peakResidentBytes();
  response.line["rss_bytes"] = resident;
  return response;
}

Response writeCache(LanguageModel &model, const JsonFields &request,
                    const Payload &payload) {
  if (payload.tensors.size() != 1)
    request.fail("tensors", "expected the data of one row but got " +
                                std::to_string(payload.tensors.size()) +
                                " tensors");
  const HostTensor &row = payload.tensors[0];
  model.writeCache(request.integer("layer"), request.integer("cache"),
                   request.integer("row"), row.data, row.bytes);
  return {};
}

Response readCache(LanguageModel &model, const JsonFields &request) {
  Response response;
  response.add("row", model.readCache(request.integer("layer"),
                                      request.integer("cache"),
                                      request.integer("row")));
  return response;
}

Response answer(LanguageModel &model, const JsonFields &request,
                const Payload &payload) {
  const std::string op = request.string("op");
  if (op == "step")
    return step(model, request, payload);
  if (op == "stats")
    return stats(model);
  if (op == "write_cache")
    return writeCache(model, request, payload);
  if (op == "read_cache")
    return readCache(model, request);
  if (op == "reset") {
    model.reset();
    return {};
  }
  request.fail("op", "expected step, stats, reset, write_cache, read_cache or "
                     "quit but got '" +
                         op + "'");
}

} // namespace

void runtime::respondError(std::FILE *out, const std::string &error) {
  Response response;
  response.line = {{"ok", false}, {"error", error}};
  response.send(out);
}

void runtime::serve(LanguageModel &model, std::FILE *in, std::FILE *out) {
  Payload payload;
  while (const std::optional<std::string> line = readLine(in)) {
    const JsonFields request = JsonFields::parse(*line, "request");
    payload.read(request, in);
    if (request.stringOr("op", "") == "quit") {
      Response().send(out);
      return;
    }
    Response response;
    try {
      response = answer(model, request, payload);
    } catch (const Error &error) {
      response.line = {{"ok", false}, {"error", error.what()}};
    }
    response.send(out);
  }
}
