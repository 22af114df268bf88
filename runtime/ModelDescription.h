//===- ModelDescription.h - What makes designs a language model -*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// model.json of a compiled language model: which designs compute a layer and
// the head, and what each layer binds to their arguments.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_RUNTIME_MODELDESCRIPTION_H
#define STREAMTENSOR_RUNTIME_MODELDESCRIPTION_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace streamtensor::runtime {

/// One tensor of the key-value cache of a layer. The design reads the cache
/// from `argument` and returns the rows of the new tokens in `result`; rows are
/// counted along dimension `axis` of both.
struct CacheDescription {
  std::string argument, result;
  size_t axis = 0;
};

/// The design that computes a layer, for some new tokens behind some rows of
/// the cache.
struct LayerDesign {
  /// Directory of the design.
  std::string design;
  /// The parameters of the design that say how many; `tokens` is empty where
  /// the design computes one token, `layers` where it computes one layer.
  std::string tokens, past, layers;
  std::string hidden, hiddenResult;
  std::vector<CacheDescription> caches;
  /// Argument to packed file of the weights of all layers; those of a design of
  /// one layer are in each `LayerDescription`.
  std::map<std::string, std::string> weights;
};

/// The design that turns the hidden state of one token into logits.
struct HeadDescription {
  std::string design;
  std::string hidden, logits;
  /// Argument to packed file.
  std::map<std::string, std::string> weights;
};

struct LayerDescription {
  /// Argument to packed file.
  std::map<std::string, std::string> weights;
  /// Argument to the name of a tensor that the host sends each step.
  std::map<std::string, std::string> host;
};

struct ModelDescription {
  std::string model;
  /// Number of rows of the caches.
  int64_t maxLength = 0;
  LayerDesign layer;
  std::vector<LayerDescription> layers;
  HeadDescription head;

  /// Reads `directory`/model.json; paths become relative to the caller's
  /// working directory. Throws Error.
  static ModelDescription read(const std::string &directory);
};

} // namespace streamtensor::runtime

#endif // STREAMTENSOR_RUNTIME_MODELDESCRIPTION_H
