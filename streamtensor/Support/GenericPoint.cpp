//===- GenericPoint.cpp - run-time trip counts as numbers -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the primes, and reads numbers back.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Support/GenericPoint.h"

#include <algorithm>
#include <cctype>

using namespace streamtensor;

/// Primes are larger than this, and so than the small numbers that come and go
/// in between.
static constexpr int64_t kLeast = 1000;

static bool isPrime(int64_t number) {
  for (int64_t divisor = 2; divisor * divisor <= number; ++divisor)
    if (number % divisor == 0)
      return false;
  return true;
}

/// `trip` without its constant factor.
static TripCount primitive(const TripCount &trip) {
  return trip.dividedBy(trip.content());
}

GenericPoint::GenericPoint(const std::vector<SymbolicOrder> &orders) {
  // Numbers that the primes must not divide.
  std::vector<int64_t> constants;
  for (const SymbolicOrder &order : orders) {
    maxima.insert(order.maxima.begin(), order.maxima.end());
    constants.insert(constants.end(), order.element.begin(),
                     order.element.end());
    constants.insert(constants.end(), order.steps.begin(), order.steps.end());
    for (const TripCount &trip : order.trips) {
      constants.push_back(trip.content());
      if (trip.isConstant())
        continue;
      TripCount part = primitive(trip);
      if (std::none_of(primes.begin(), primes.end(),
                       [&](const Prime &known) { return known.trip == part; }))
        primes.push_back({part, 0});
    }
  }
  for (Prime &prime : primes) {
    int64_t value = kLeast + prime.trip.highest(maxima);
    auto isUsed = [&](int64_t candidate) {
      return std::any_of(primes.begin(), primes.end(),
                         [&](const Prime &other) {
                           return other.value == candidate;
                         }) ||
             std::any_of(constants.begin(), constants.end(),
                         [&](int64_t constant) {
                           return constant != 0 && constant % candidate == 0;
                         });
    };
    while (!isPrime(value) || isUsed(value))
      ++value;
    prime.value = value;
  }
}

std::optional<int64_t> GenericPoint::lower(const TripCount &trip) const {
  if (trip.isConstant())
    return trip.getConstant();
  const TripCount part = primitive(trip);
  for (const Prime &prime : primes)
    if (prime.trip == part)
      return prime.value * trip.content();
  return std::nullopt;
}

TokenOrder GenericPoint::lower(const SymbolicOrder &order) const {
  TokenOrder result;
  result.element = order.element;
  result.steps = order.steps;
  result.map = order.map;
  for (const TripCount &trip : order.trips)
    result.trips.push_back(*lower(trip));
  return result;
}

std::optional<TripCount> GenericPoint::raise(int64_t number) const {
  TripCount trip(number);
  for (const Prime &prime : primes) {
    if (number == 0 || number % prime.value != 0)
      continue;
    if (!trip.isConstant())
      return std::nullopt;
    trip = prime.trip * (number / prime.value);
  }
  // Also twice the same one.
  if (!trip.isConstant())
    for (const Prime &prime : primes)
      if (trip.content() % prime.value == 0)
        return std::nullopt;
  return trip;
}

std::optional<SymbolicOrder>
GenericPoint::raise(const TokenOrder &order) const {
  SymbolicOrder result;
  result.element = order.element;
  result.map.resize(order.map.size());
  auto isConstant = [&](int64_t number) {
    const std::optional<TripCount> trip = raise(number);
    return trip && trip->isConstant();
  };
  for (int64_t size : order.element)
    if (!isConstant(size))
      return std::nullopt;
  const std::vector<int> dims = order.loopDims();
  for (unsigned loop = 0; loop < order.numLoops(); ++loop) {
    if (!isConstant(order.steps[loop]))
      return std::nullopt;
    int64_t rest = order.trips[loop];
    auto append = [&](const TripCount &trip) {
      if (dims[loop] >= 0)
        result.map[dims[loop]].push_back(result.numLoops());
      result.trips.push_back(trip);
      result.steps.push_back(order.steps[loop]);
    };
    if (std::optional<TripCount> trip = raise(rest)) {
      append(*trip);
      continue;
    }
    if (dims[loop] >= 0)
      return std::nullopt;
    for (const Prime &prime : primes)
      for (; rest % prime.value == 0; rest /= prime.value)
        append(prime.trip);
    if (rest != 1)
      append(TripCount(rest));
  }
  result.setMaxima(maxima);
  return result;
}

int64_t GenericPoint::largest(int64_t number) const {
  if (number == 0)
    return 0;
  int64_t value = 1;
  for (const Prime &prime : primes)
    for (; number % prime.value == 0; number /= prime.value)
      value *= prime.trip.highest(maxima);
  return value * number;
}

std::string GenericPoint::raise(const std::string &text) const {
  if (isStatic())
    return text;
  std::string result;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() &&
           std::isdigit(static_cast<unsigned char>(text[end])))
      ++end;
    if (end == at) {
      result += text[at++];
      continue;
    }
    std::string word = text.substr(at, end - at);
    if (word.size() < 19)
      if (std::optional<TripCount> trip = raise(std::stoll(word));
          trip && !trip->isConstant())
        word = "(" + trip->str() + ")";
    result += word;
    at = end;
  }
  return result;
}
