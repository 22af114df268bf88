//===- ProtocolTest.cpp - Tests of the runtime as a process ---------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Requests and responses over files, on the language model of data/.
//
//===----------------------------------------------------------------------===//

#include "runtime/Protocol.h"

#include "SampleDesigns.h"
#include "runtime/SimulatedDevice.h"

#include <cstring>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

using namespace streamtensor::runtime;
using namespace streamtensor::runtime::test;
using nlohmann::json;

namespace {

using Floats = std::vector<float>;

/// Collects requests, serves them and reads the responses.
class Conversation {
public:
  Conversation() : in(std::tmpfile()), out(std::tmpfile()) {}
  ~Conversation() {
    std::fclose(in);
    std::fclose(out);
  }

  void ask(json request, const std::vector<Floats> &tensors = {}) {
    for (size_t i = 0; i < tensors.size(); ++i)
      request["tensors"][i]["bytes"] = tensors[i].size() * sizeof(float);
    askText(request.dump() + "\n");
    for (const Floats &tensor : tensors)
      std::fwrite(tensor.data(), sizeof(float), tensor.size(), in);
  }
  void askText(const std::string &text) { std::fputs(text.c_str(), in); }

  void serve(LanguageModel &model) {
    std::rewind(in);
    runtime_serve(model);
    std::rewind(out);
  }

  json response() {
    std::string line;
    for (int c; (c = std::getc(out)) != EOF && c != '\n';)
      line += static_cast<char>(c);
    return line.empty() ? json() : json::parse(line);
  }
  Floats tensor(const json &response) {
    const size_t bytes = response["tensors"][0]["bytes"];
    Floats values(bytes / sizeof(float));
    EXPECT_EQ(std::fread(values.data(), 1, bytes, out), bytes);
    return values;
  }

private:
  void runtime_serve(LanguageModel &model) {
    streamtensor::runtime::serve(model, in, out);
  }
  std::FILE *in, *out;
};

class ProtocolTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    directory = new TemporaryDirectory;
    makeModel(directory->path);
  }
  static void TearDownTestSuite() { delete directory; }
  ProtocolTest()
      : device(makeSimulatedDevice()),
        model(*device, directory->path.string()) {}

  /// A step of one token, which sees `position` rows.
  static json decodeRequest(int position) {
    return {{"op", "step"},
            {"position", position},
            {"count", 1},
            {"logits", 1},
            {"tensors",
             {{{"name", "hidden"}, {"shape", {1, 4}}},
              {{"name", "mask.full"}, {"shape", {position}}},
              {{"name", "mask.other"}, {"shape", {position}}}}}};
  }

  static TemporaryDirectory *directory;
  std::unique_ptr<Device> device;
  LanguageModel model;
  Conversation talk;
};

TemporaryDirectory *ProtocolTest::directory = nullptr;

const Floats kFirst = {1, 0, 0, 0}, kNothing;

TEST_F(ProtocolTest, StepsCachesAndStatistics) {
  talk.ask(decodeRequest(0), {kFirst, kNothing, kNothing});
  talk.ask({{"op", "read_cache"}, {"layer", 1}, {"cache", 1}, {"row", 0}});
  talk.ask({{"op", "write_cache"},
            {"layer", 0},
            {"cache", 0},
            {"row", 0},
            {"tensors", {{{"name", "row"}, {"shape", {2, 1, 2}}}}}},
           {{0, 0, 0, 5}});
  talk.ask(decodeRequest(1), {kFirst, {1}, {0}});
  talk.ask({{"op", "stats"}});
  talk.ask({{"op", "reset"}});
  talk.ask({{"op", "read_cache"}, {"layer", 0}, {"cache", 0}, {"row", 1}});
  talk.ask({{"op", "quit"}});
  talk.ask({{"op", "stats"}}); // not read any more
  talk.serve(model);

  json response = talk.response();
  EXPECT_EQ(response["ok"], true);
  EXPECT_GT(response["seconds"], 0.0);
  EXPECT_EQ(response["macs"], 20); // 2 * 4 of the layers, 12 of the head
  EXPECT_EQ(response["tensors"][0]["name"], "logits");
  EXPECT_EQ(response["tensors"][0]["shape"], json({1, 3}));
  EXPECT_EQ(response["tensors"][0]["dtype"], "F32");
  // 1 0 0 0 -> 1 0 0 0 -> 2 0 0 0
  EXPECT_EQ(talk.tensor(response), Floats({2, 0, 2}));

  response = talk.response();
  EXPECT_EQ(response["tensors"][0]["shape"], json({2, 1, 2}));
  EXPECT_EQ(talk.tensor(response), Floats({2, 0, 0, 0}));

  EXPECT_EQ(talk.response(), json({{"ok", true}}));

  response = talk.response();
  // s of layer 0: keys 5, values of 1 0 0 0 doubled: 205.
  // 1 0 0 0 -> 206 205 205 205 -> 412 205 205 205
  EXPECT_EQ(talk.tensor(response), Floats({412, 410, 1027}));

  response = talk.response();
  EXPECT_EQ(response["steps"], 2);
  // A row of the past: 4 more per layer.
  EXPECT_EQ(response["macs"], 20 + 28);
  // Per layer 80 without a past, and 36 for a row of it.
  EXPECT_EQ(response["dma_bytes"], 2 * (80 + 116) + 2 * 108);
  EXPECT_GE(response["peak_rss_bytes"], response["rss_bytes"]);
  EXPECT_GT(response["rss_bytes"], 1 << 20);

  EXPECT_EQ(talk.response(), json({{"ok", true}}));
  response = talk.response();
  EXPECT_EQ(talk.tensor(response), Floats({0, 0, 0, 0}));
  EXPECT_EQ(talk.response(), json({{"ok", true}}));
  EXPECT_TRUE(talk.response().is_null());
}

TEST_F(ProtocolTest, GoesOnAfterARequestThatFails) {
  talk.ask(
      {{"op", "fly"}, {"tensors", {{{"name", "hidden"}, {"shape", {1, 4}}}}}},
      {kFirst});
  talk.ask(decodeRequest(6), {kFirst, Floats(6), Floats(6)});
  talk.ask({{"op", "step"}});
  talk.ask(decodeRequest(0), {kFirst, kNothing, kNothing});
  talk.serve(model);
  EXPECT_EQ(talk.response(),
            json({{"ok", false},
                  {"error", "request: op: expected step, stats, reset, "
                            "write_cache, read_cache or quit but got 'fly'"}}));
  EXPECT_EQ(talk.response(),
            json({{"ok", false},
                  {"error",
                   "expected a prompt and answer of at most 6 tokens but got 1 "
                   "at position 6; compile the model with a larger "
                   "--max-length"}}));
  EXPECT_EQ(talk.response(),
            json({{"ok", false},
                  {"error",
                   "request: position: expected this field but found none"}}));
  EXPECT_EQ(talk.response()["ok"], true);
}

TEST_F(ProtocolTest, GivesUpWhenRequestsCannotBeFollowed) {
  talk.askText("hello\n");
  EXPECT_EQ(errorOf([&] {
              talk.serve(model);
            }).find("request: expected JSON but got: "),
            0u);
  Conversation cut;
  cut.askText("{\"op\": \"step\", \"tensors\": [{\"name\": \"hidden\", "
              "\"bytes\": 16}]}\nabc");
  EXPECT_EQ(errorOf([&] { cut.serve(model); }),
            "expected 16 bytes of tensors after a request but the input ended");
}

} // namespace
