//===- LanguageModel.h - Runs all layers of a language model ----*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Drives a compiled language model on a device. Weights are loaded once; the
// key-value caches stay in device memory between calls, and the rows of new
// tokens are copied there from the result buffers of each layer. A step takes
// the hidden states of some tokens through all layers without leaving the
// device.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_LANGUAGEMODEL_H
#define STREAMTENSOR_RUNTIME_LANGUAGEMODEL_H

#include "runtime/Device.h"
#include "runtime/ModelDescription.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace streamtensor::runtime {

/// A named tensor that the host sends; the bytes belong to the caller.
struct HostTensor {
  std::string name;
  const void *data = nullptr;
  uint64_t bytes = 0;
};

struct StepRequest {
  /// Number of rows before the first token of this step.
  int64_t position = 0;
  /// How many tokens it has.
  int64_t count = 1;
  /// On how many of the last ones to run the head, 0 to `count`.
  int64_t logits = 1;
  /// "hidden", and every tensor that the layers expect, in the shapes of this
  /// position and count.
  std::vector<HostTensor> tensors;
  /// Whether to return the hidden state behind every layer.
  bool taps = false;
};

struct ResultTensor {
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  std::vector<char> data;
};

struct StepResult {
  double seconds = 0;
  uint64_t macs = 0, dmaBytes = 0;
  /// One slice of the head's shape per token that was asked for, in the order
  /// of the tokens: [tokens, ...]. Empty data when none was.
  ResultTensor logits;
  /// The hidden state behind each layer, padding included: [layers, ...]. Empty
  /// unless it was asked for.
  ResultTensor taps;
};

struct ModelStatistics {
  uint64_t macs = 0, dmaBytes = 0, steps = 0;
};

class LanguageModel {
public:
  /// Reads model.json in `directory`, opens the designs and maps the weights.
  /// Throws Error, which lists all arguments that nothing is bound to.
  LanguageModel(Device &device, const std::string &directory);
  ~LanguageModel();

  /// Runs all layers on `request.count` tokens at `request.position` and
  /// appends their rows to the caches. Throws Error when the request does not
  /// fit (all its missing, unexpected and misshapen tensors in one message);
  /// the caches are unchanged then.
  StepResult step(const StepRequest &request);

  /// Forgets all tokens: the caches become zero.
  void reset();

  /// Replaces or reads one row of a cache: the slice at `row` along its axis,
  /// row-major. Throws Error when layer, cache, row or size do not fit.
  void writeCache(int64_t layer, int64_t cache, int64_t row, const void *data,
                  uint64_t bytes);
  ResultTensor readCache(int64_t layer, int64_t cache, int64_t row);

  const ModelStatistics &statistics() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_LANGUAGEMODEL_H
