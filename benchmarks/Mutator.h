//===- Mutator.h - Random changes of files ----------------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Changes JSON documents and texts at random, for programs that feed them to
// readers. A seed gives the same changes each time.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_BENCHMARKS_MUTATOR_H
#define STREAMTENSOR_BENCHMARKS_MUTATOR_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace streamtensor {

class Mutator {
public:
  /// `words` are keys and values that a file may hold.
  Mutator(unsigned seed, std::vector<std::string> words)
      : engine(seed), words(std::move(words)) {}

  int64_t in(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine);
  }

  /// Changes one value somewhere below `value`.
  void mutate(nlohmann::json &value) {
    nlohmann::json *at = &value;
    while (at->is_structured() && !at->empty() && in(0, 9) > 0)
      at = &*std::next(at->begin(), in(0, at->size() - 1));
    switch (in(0, 5)) {
    case 0:
      if (at->is_structured() && !at->empty()) {
        at->erase(std::next(at->begin(), in(0, at->size() - 1)));
        break;
      }
      [[fallthrough]];
    case 1:
      if (at->is_array() && !at->empty()) {
        at->push_back((*at)[in(0, at->size() - 1)]);
        break;
      }
      [[fallthrough]];
    case 2:
      if (at->is_object()) {
        (*at)[word()] = small();
        break;
      }
      [[fallthrough]];
    default:
      *at = at->is_number() && in(0, 3) ? number(*at) : small();
    }
  }

  void mutate(std::string &text) {
    for (int64_t i = in(1, 4); i > 0 && !text.empty(); --i) {
      const size_t at = in(0, text.size() - 1);
      const size_t length = in(1, in(0, 3) ? 3 : 200);
      switch (in(0, 3)) {
      case 0:
        text[at] = char(in(0, 3) ? in(32, 126) : in(0, 255));
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(at, text.substr(in(0, text.size() - 1), length));
        break;
      default:
        text.insert(at, std::to_string(edge()));
      }
    }
  }

private:
  int64_t edge() {
    static const int64_t values[] = {
        0,         1,         -1,        2,         3,         64,
        65535,     65537,     1 << 20,   INT32_MAX, 1LL << 39, 1LL << 40,
        1LL << 52, 1LL << 53, INT64_MAX, INT64_MIN};
    return values[in(0, std::size(values) - 1)];
  }
  nlohmann::json number(const nlohmann::json &old) {
    if (!old.is_number_integer() || in(0, 2) == 0)
      return edge();
    return int64_t(uint64_t(old.get<int64_t>()) + uint64_t(in(-3, 3)));
  }
  nlohmann::json small() {
    switch (in(0, 7)) {
    case 0:
      return nullptr;
    case 1:
      return true;
    case 2:
      return nlohmann::json::array({edge(), edge(), edge()});
    case 3:
      return nlohmann::json::object({{word(), edge()}});
    case 4:
      return 0.5 * double(edge());
    case 5:
      return word();
    default:
      return edge();
    }
  }
  std::string word() { return words[in(0, words.size() - 1)]; }

  std::mt19937 engine;
  std::vector<std::string> words;
};

} // namespace streamtensor

#endif // STREAMTENSOR_BENCHMARKS_MUTATOR_H
