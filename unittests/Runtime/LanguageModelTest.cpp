//===- LanguageModelTest.cpp - Tests of the language model ----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model of two layers whose designs can be computed by hand
// (data/layer.cpp): each layer multiplies the hidden state by its weights,
// adds one number s read from the rows of its caches, and returns its
// own hidden state (and twice that) as new rows.
//
//===----------------------------------------------------------------------===//

#include "runtime/LanguageModel.h"

#include "SampleDesigns.h"
#include "TestDevice.h"
#include "runtime/SimulatedDevice.h"

#include <gtest/gtest.h>

using namespace streamtensor::runtime;
using namespace streamtensor::runtime::test;

namespace {

using Floats = std::vector<float>;

/// Models take a second to build, so all tests share the files of one.
class LanguageModelTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    directory = new TemporaryDirectory;
    makeModel(directory->path);
    prepareForTestDevice(directory->path);
  }
  static void TearDownTestSuite() { delete directory; }

  LanguageModelTest()
      : device(makeTestDevice()), model(std::make_unique<LanguageModel>(
                                      *device, directory->path.string())) {}

  static HostTensor tensor(const std::string &name, const Floats &values) {
    return {name, values.data(), values.size() * sizeof(float)};
  }

  /// A step of the tokens of `hidden`, which stand at `position`; layer 0 uses
  /// `mask`, layer 1 `other`.
  StepResult step(int64_t position, const Floats &hidden, const Floats &mask,
                  const Floats &other, int64_t logits = 1) {
    return model->step({position,
                        static_cast<int64_t>(hidden.size() / 4),
                        logits,
                        {tensor("mask.other", other), tensor("hidden", hidden),
                         tensor("mask.full", mask)}});
  }

  /// The logits of the last token of a prompt.
  Floats prefill(const Floats &hidden) {
    return logits(step(0, hidden, {}, {}));
  }

  /// The logits of one token.
  Floats decode(int64_t position, const Floats &hidden, const Floats &mask,
                const Floats &other) {
    return logits(step(position, hidden, mask, other));
  }

  static Floats logits(const StepResult &result) {
    EXPECT_EQ(result.logits.shape, std::vector<int64_t>({1, 3}));
    return floats(result.logits.data);
  }

  static Floats floats(const std::vector<char> &bytes) {
    const float *values = reinterpret_cast<const float *>(bytes.data());
    return Floats(values, values + bytes.size() / sizeof(float));
  }

  Floats cache(int64_t layer, int64_t index, int64_t row) {
    return floats(model->readCache(layer, index, row).data);
  }

  static TemporaryDirectory *directory;
  std::unique_ptr<Device> device;
  std::unique_ptr<LanguageModel> model;
};

TemporaryDirectory *LanguageModelTest::directory = nullptr;

TEST_F(LanguageModelTest, PrefillGoesThroughAllLayersAndTheHead) {
  // Nothing is visible, so s = 0.
  //   layer 0 (weights 1 2 3 4): row 0  1 1 1 1 -> 1 2 3 4
  //                              row 1  2 0 1 3 -> 2 0 3 12
  //   layer 1 (weights 2 1 1 1): row 1  2 0 3 12 -> 4 0 3 12
  //   head on row 1: 4, 0 + 12, 4 + 0 + 3 + 12
  EXPECT_EQ(prefill({1, 1, 1, 1, 2, 0, 1, 3}), Floats({4, 12, 19}));
  // The rows of layer 1 are its own input: cache 0 as it is, cache 1 doubled.
  EXPECT_EQ(cache(0, 0, 0), Floats({1, 1, 1, 1}));
  EXPECT_EQ(cache(0, 0, 1), Floats({2, 0, 1, 3}));
  EXPECT_EQ(cache(1, 0, 0), Floats({1, 2, 3, 4}));
  EXPECT_EQ(cache(1, 0, 1), Floats({2, 0, 3, 12}));
  EXPECT_EQ(cache(1, 1, 1), Floats({4, 0, 6, 24}));
  EXPECT_EQ(cache(1, 0, 2), Floats({0, 0, 0, 0}));
}

TEST_F(LanguageModelTest, StepsHaveAsManyTokensAsTheyNeed) {
  // Row 0 through layer 1: 1 2 3 4 -> 2 2 3 4; head: 2, 2 + 4, 11.
  EXPECT_EQ(prefill({1, 1, 1, 1}), Floats({2, 6, 11}));
  EXPECT_EQ(cache(0, 0, 1), Floats({0, 0, 0, 0}));
}

TEST_F(LanguageModelTest, HeadSeesEveryTokenThatIsAskedFor) {
  // The rows of the two tests above: 1 1 1 1 and 2 0 1 3.
  const StepResult result = step(0, {1, 1, 1, 1, 2, 0, 1, 3}, {}, {}, 2);
  EXPECT_EQ(result.logits.shape, std::vector<int64_t>({2, 3}));
  EXPECT_EQ(floats(result.logits.data), Floats({2, 6, 11, 4, 12, 19}));
}

TEST_F(LanguageModelTest, ChunkBehindAPastIsTheSameAsTokensAlone) {
  // Two tokens that see rows 0 and 1: what decode gives for the first of them
  // alone, and for the second one where it does not see the first.
  prefill({1, 1, 1, 1, 2, 0, 1, 3});
  const Floats first = {1, 0, 0, 0}, second = {0, 2, 0, 0};
  Floats expected = decode(2, first, {0, 1}, {2, 0});
  const Floats other = decode(2, second, {0, 1}, {2, 0});
  expected.insert(expected.end(), other.begin(), other.end());
  const StepResult result =
      step(2, {1, 0, 0, 0, 0, 2, 0, 0}, {0, 1}, {2, 0}, 2);
  EXPECT_EQ(floats(result.logits.data), expected);
  EXPECT_EQ(cache(0, 0, 2), first);
  EXPECT_EQ(cache(0, 0, 3), second);
}

TEST_F(LanguageModelTest, HiddenStatesBehindEachLayer) {
  // The states that the tests above come through.
  const Floats hidden = {1, 1, 1, 1, 2, 0, 1, 3}, nothing;
  StepRequest request{0,
                      2,
                      0,
                      {tensor("hidden", hidden), tensor("mask.full", nothing),
                       tensor("mask.other", nothing)}};
  EXPECT_TRUE(model->step(request).taps.data.empty());
  request.taps = true;
  const StepResult result = model->step(request);
  EXPECT_EQ(result.taps.shape, std::vector<int64_t>({2, 2, 4}));
  EXPECT_EQ(floats(result.taps.data),
            Floats({1, 2, 3, 4, 2, 0, 3, 12, 2, 2, 3, 4, 4, 0, 3, 12}));
}

TEST_F(LanguageModelTest, DecodeReadsWhatPrefillHasWritten) {
  prefill({1, 1, 1, 1, 2, 0, 1, 3});
  // Layer 0 sees row 1 with factor 1: keys 2+0+1+3 = 6, values twice that, so
  // s = 6 + 100 * 12 = 1206; hidden 1 0 0 0 -> 1 + s, s, s, s.
  // Layer 1 sees row 0 with factor 2: keys 1+2+3+4 = 10, s = 2 * (10 + 2000)
  // = 4020; 1207 1206 1206 1206 -> 2414 + s, 1206 + s, ...
  //   = 6434 5226 5226 5226.
  // Head: 6434, 2 * 5226, 6434 + 3 * 5226.
  EXPECT_EQ(decode(2, {1, 0, 0, 0}, {0, 1}, {2, 0}),
            Floats({6434, 10452, 22112}));
  EXPECT_EQ(cache(0, 0, 2), Floats({1, 0, 0, 0}));
  EXPECT_EQ(cache(1, 0, 2), Floats({1207, 1206, 1206, 1206}));
  EXPECT_EQ(cache(1, 1, 2), Floats({2414, 2412, 2412, 2412}));
  // The rows before are untouched.
  EXPECT_EQ(cache(1, 0, 1), Floats({2, 0, 3, 12}));
}

TEST_F(LanguageModelTest, RowsAreAppendedUpToTheLastPosition) {
  for (int position = 0; position < 6; ++position)
    decode(position, {float(position), 1, 2, 3}, Floats(position),
           Floats(position));
  for (int position = 0; position < 6; ++position)
    EXPECT_EQ(cache(0, 0, position), Floats({float(position), 1, 2, 3}));
}

TEST_F(LanguageModelTest, StoredRowChangesTheResult) {
  prefill({1, 1, 1, 1, 2, 0, 1, 3});
  const Floats mask = {0, 1}, other = {2, 0};
  // Row 1 of the keys of layer 0 becomes 10 larger in sum: s of layer 0 is
  // 1216, and each of the four values grows by 10 (20 where layer 1 doubles).
  const Floats row = {12, 0, 1, 3};
  model->writeCache(0, 0, 1, row.data(), 16);
  EXPECT_EQ(cache(0, 0, 1), row);
  EXPECT_EQ(decode(2, {1, 0, 0, 0}, mask, other),
            Floats({6434 + 20, 10452 + 20, 22112 + 50}));
}

TEST_F(LanguageModelTest, ResetForgetsTheRows) {
  prefill({1, 1, 1, 1, 2, 0, 1, 3});
  model->reset();
  EXPECT_EQ(cache(1, 1, 1), Floats({0, 0, 0, 0}));
  // s = 0 although the mask lets everything through: 1 0 0 0 -> 2 0 0 0.
  EXPECT_EQ(decode(2, {1, 0, 0, 0}, {1, 1}, {1, 1}), Floats({2, 0, 2}));
}

TEST_F(LanguageModelTest, StepWithoutLogitsDoesNotRunTheHead) {
  const Floats hidden = {1, 0, 0, 0}, mask(5);
  const StepResult without = step(5, hidden, mask, mask, 0);
  EXPECT_TRUE(without.logits.data.empty());
  const StepResult with = step(5, hidden, mask, mask, 1);
  EXPECT_EQ(with.logits.data.size(), 12u);
  EXPECT_EQ(model->statistics().steps, 2u);
  if (!testDeviceCounts())
    return;
  // Per layer 4 products by weights, 4 per row of the mask: 2 * (4 + 5 * 4).
  EXPECT_EQ(without.macs, 48u);
  EXPECT_EQ(with.macs, 48u + 12u);
  // Bytes per layer: state 16, weight 16, caches 80 + 80, mask 20, out 16, rows
  // 32; head: 48 + 48 + 12.
  EXPECT_EQ(without.dmaBytes, 2u * 260u);
  EXPECT_EQ(model->statistics().macs, 108u);
  EXPECT_EQ(model->statistics().dmaBytes, 4u * 260u + 108u);
}

TEST_F(LanguageModelTest, WorkIsThatOfTheStep) {
  if (!testDeviceCounts())
    GTEST_SKIP() << "a board counts nothing";
  // Per layer 4 products per token, 4 per row of the past. Bytes: 16 each of
  // state, weight and out per token and 32 of new rows; 36 of a row of the past
  // and its mask.
  for (uint64_t past : {0, 1, 4})
    for (uint64_t tokens : {1, 2}) {
      const Floats mask(past);
      const StepResult result = step(past, Floats(tokens * 4), mask, mask, 0);
      EXPECT_EQ(result.macs, 2 * (4 * tokens + 4 * past));
      EXPECT_EQ(result.dmaBytes, 2 * (80 * tokens + 36 * past));
    }
}

TEST_F(LanguageModelTest, RefusesRequestsThatDoNotFit) {
  const Floats hidden(8, 1.0f);
  EXPECT_EQ(errorOf([&] { step(0, Floats(12), {}, {}); }),
            "a step expected 1 to 2 tokens but got 3");
  EXPECT_EQ(errorOf([&] { step(0, {}, {}, {}); }),
            "a step expected 1 to 2 tokens but got 0");
  EXPECT_EQ(errorOf([&] { model->step({0, 1, 2, {}}); }),
            "a step expected logits of 0 to 1 tokens, its own, but got 2");
  EXPECT_EQ(errorOf([&] { step(6, {1, 0, 0, 0}, Floats(6), Floats(6)); }),
            "expected a prompt and answer of at most 6 tokens but got 1 at "
            "position 6; compile the model with a larger --max-length");
  EXPECT_EQ(errorOf([&] { step(5, hidden, Floats(5), Floats(5)); }),
            "expected a prompt and answer of at most 6 tokens but got 2 at "
            "position 5; compile the model with a larger --max-length");
  EXPECT_EQ(errorOf([&] { step(-1, {1, 0, 0, 0}, {}, {}); }),
            "expected a prompt and answer of at most 6 tokens but got 1 at "
            "position -1; compile the model with a larger --max-length");
  EXPECT_EQ(errorOf([&] {
              model->step({3,
                           1,
                           1,
                           {tensor("hidden", hidden), tensor("x", hidden),
                            tensor("mask.full", Floats(5))}});
            }),
            "tensors of a step of 1 tokens at position 3: 'hidden' expected 16 "
            "bytes but got 32; unexpected 'x'; 'mask.full' expected 12 bytes "
            "but got 20; missing 'mask.other'");
  EXPECT_EQ(errorOf([&] { model->readCache(2, 0, 0); }),
            "expected a layer from 0 to 1 but got 2");
  EXPECT_EQ(errorOf([&] { model->readCache(0, 2, 0); }),
            "expected a cache from 0 to 1 but got 2");
  EXPECT_EQ(errorOf([&] { model->readCache(0, 0, 6); }),
            "expected a row from 0 to 5 but got 6");
  EXPECT_EQ(errorOf([&] { model->writeCache(0, 0, 0, hidden.data(), 12); }),
            "expected a cache row of 16 bytes but got 12");
  // None of it has changed anything.
  EXPECT_EQ(cache(0, 0, 0), Floats({0, 0, 0, 0}));
  EXPECT_EQ(model->statistics().steps, 0u);
}

TEST_F(LanguageModelTest, NamesArgumentsThatNothingIsBoundTo) {
  TemporaryDirectory other;
  makeModel(other.path);
  prepareForTestDevice(other.path);
  device = makeTestDevice();
  replaceInFile(other.path / "model.json", "{\"arg1\": \"weights/l1.bin\"}",
                "{}");
  EXPECT_EQ(errorOf([&] { LanguageModel(*device, other.path.string()); }),
            "model.json binds nothing to these arguments of design '" +
                (other.path / "layer").string() +
                "':\n  layer 1: weight 'arg1' 4");
}

TEST_F(LanguageModelTest, DesignOfOtherSizesIsRefused) {
  TemporaryDirectory other;
  makeModel(other.path);
  prepareForTestDevice(other.path);
  device = makeTestDevice();
  auto error = [&] {
    return errorOf([&] { LanguageModel(*device, other.path.string()); });
  };
  const std::string layer = "design '" + (other.path / "layer").string() + "'";
  replaceInFile(other.path / "model.json", "\"past\": \"past\"",
                "\"past\": \"rows\"");
  EXPECT_EQ(error(), "model.json expected " + layer +
                         " to have the parameters 'rows', 'tokens' but got "
                         "'past', 'tokens'; compile the model again");
  replaceInFile(other.path / "model.json", "\"past\": \"rows\"",
                "\"past\": \"past\"");
  replaceInFile(other.path / "model.json", "\"max_length\": 6",
                "\"max_length\": 7");
  EXPECT_EQ(error(), layer + " expected 'past' from 0 to 6, all positions of "
                             "model.json, but got 0 to 5; compile the model "
                             "again");
  replaceInFile(other.path / "model.json", "\"max_length\": 7",
                "\"max_length\": 6");
  replaceInFile(other.path / "head/interface.json", "\"arguments\": [",
                "\"parameters\": [{\"name\": \"seq\", \"min\": 1, "
                "\"max\": 4}], \"arguments\": [");
  EXPECT_EQ(error(), "design '" + (other.path / "head").string() +
                         "' expected constant sizes, as the head computes one "
                         "token, but 'seq' is known at run time only; compile "
                         "the model again");
}

TEST_F(LanguageModelTest, WeightOfTheWrongSizeIsRefused) {
  TemporaryDirectory other;
  makeModel(other.path);
  prepareForTestDevice(other.path);
  device = makeTestDevice();
  writeFloats(other.path / "weights/l1.bin", {1, 2, 3});
  const std::string error =
      errorOf([&] { LanguageModel(*device, other.path.string()); });
  EXPECT_NE(error.find("l1.bin' expected 16 bytes for 'arg1' of design"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("but got 12"), std::string::npos) << error;
}

TEST_F(LanguageModelTest, MissingModelIsExplained) {
  TemporaryDirectory empty;
  EXPECT_EQ(errorOf([&] { LanguageModel(*device, empty.path.string()); }),
            "expected a compiled language model in '" + empty.path.string() +
                "' but there is no model.json; make one with streamtensor "
                "compile MODEL --output-dir");
}

} // namespace
