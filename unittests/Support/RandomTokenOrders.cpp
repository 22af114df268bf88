//===- RandomTokenOrders.cpp - Random types and plain enumeration ---------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Generators and the enumerating oracle of the token order tests.
//
//===----------------------------------------------------------------------===//

#include "RandomTokenOrders.h"

using namespace streamtensor;
using namespace streamtensor::test;

template <typename Order, typename LoopOf>
static Order orderOf(const Shape &element, const std::vector<LoopOf> &loops) {
  Order order;
  order.element = element;
  order.map.resize(element.size());
  for (const LoopOf &loop : loops) {
    if (loop.dim >= 0)
      order.map[loop.dim].push_back(order.numLoops());
    order.trips.push_back(loop.trip);
    order.steps.push_back(loop.step);
  }
  return order;
}

TokenOrder test::makeOrder(const Shape &element,
                           const std::vector<Loop> &loops) {
  return orderOf<TokenOrder>(element, loops);
}

SymbolicOrder test::makeOrder(const Shape &element,
                              const std::vector<RuntimeLoop> &loops,
                              const ParameterValues &maxima) {
  SymbolicOrder order = orderOf<SymbolicOrder>(element, loops);
  order.setMaxima(maxima);
  return order;
}

std::vector<Loop> test::loopsOf(const TokenOrder &order) {
  std::vector<Loop> loops;
  for (unsigned l = 0; l < order.trips.size(); ++l)
    loops.push_back({order.trips[l], order.steps[l], -1});
  for (unsigned dim = 0; dim < order.map.size(); ++dim)
    for (unsigned l : order.map[dim])
      loops[l].dim = static_cast<int>(dim);
  return loops;
}

static std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> result;
  for (int64_t d = 1; d <= n; ++d)
    if (n % d == 0)
      result.push_back(d);
  return result;
}

TokenOrder test::randomOrderOver(Random &random, const Shape &shape,
                                 int revisits) {
  Shape element;
  std::vector<Loop> loops;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    const int64_t size = random.pick(divisors(shape[dim]));
    element.push_back(size);
    // Mixed radix from the inside, then whatever is left as the last digit.
    int64_t step = size, left = shape[dim] / size;
    while (left > 1) {
      const int64_t trip =
          random.chance(40) ? left : random.pick(divisors(left));
      loops.push_back({trip, step, static_cast<int>(dim)});
      step *= trip;
      left /= trip;
    }
    if (random.chance(10)) // one trip: any step is fine
      loops.push_back({1, random.in(1, 9), static_cast<int>(dim)});
  }
  const int count = static_cast<int>(random.in(0, revisits));
  for (int i = 0; i < count; ++i)
    loops.push_back({random.in(1, 3), 1, -1});
  // Half of the orders keep the digits of a dimension outermost first.
  random.shuffle(loops);
  if (random.chance(50))
    for (size_t i = 0; i < loops.size(); ++i)
      for (size_t j = i + 1; j < loops.size(); ++j)
        if (loops[i].dim == loops[j].dim && loops[i].step < loops[j].step)
          std::swap(loops[i], loops[j]);
  TokenOrder order = makeOrder(element, loops);
  const bool ones = std::all_of(element.begin(), element.end(),
                                [](int64_t size) { return size == 1; });
  if (ones && random.chance(50))
    order.element.clear();
  return order;
}

Shape test::randomShape(Random &random, int maxRank) {
  static const std::vector<int64_t> sizes = {1, 2, 3, 4, 4, 5, 6, 8, 8, 12};
  Shape shape;
  const int64_t rank = random.in(random.chance(3) ? 0 : 1, maxRank);
  for (int64_t dim = 0; dim < rank; ++dim)
    shape.push_back(random.pick(sizes));
  while (volume(shape) > 192)
    shape[random.below(rank)] = random.in(1, 3);
  return shape;
}

TokenOrder test::randomOrder(Random &random) {
  TokenOrder order = randomOrderOver(random, randomShape(random, 3), 2);
  if (!order.trips.empty() && random.chance(3))
    order.trips[random.below(order.numLoops())] = 0;
  return order;
}

TokenOrder test::respell(Random &random, const TokenOrder &order) {
  std::vector<Loop> result;
  for (const Loop &loop : loopsOf(order)) {
    if (random.chance(15))
      result.push_back({1, 1, -1});
    if (loop.trip > 1 && random.chance(50)) {
      const int64_t inner = random.pick(divisors(loop.trip));
      result.push_back(
          {loop.trip / inner, loop.dim < 0 ? 1 : loop.step * inner, loop.dim});
      result.push_back({inner, loop.step, loop.dim});
    } else if (loop.trip != 1 || random.chance(50)) {
      result.push_back(loop);
    }
  }
  TokenOrder respelled = makeOrder(fullElement(order), result);
  for (std::vector<unsigned> &loops : respelled.map)
    random.shuffle(loops);
  return respelled;
}

TokenOrder test::perturb(Random &random, const TokenOrder &order) {
  std::vector<Loop> loops = loopsOf(order);
  Shape element = fullElement(order);
  const int64_t count = static_cast<int64_t>(loops.size());
  if (count == 0)
    return order;
  Loop &loop = loops[random.below(count)];
  switch (random.below(6)) {
  case 0:
    std::swap(loop, loops[random.below(count)]);
    break;
  case 1:
    loop.trip = random.in(1, 4);
    break;
  case 2:
    if (loop.dim >= 0)
      loop.step = random.in(1, 8);
    break;
  case 3:
    if (!element.empty())
      element[random.below(static_cast<int64_t>(element.size()))] =
          random.in(1, 4);
    break;
  case 4:
    loops.erase(loops.begin() + random.below(count));
    break;
  case 5:
    loop.dim = static_cast<int>(
                   random.below(static_cast<int64_t>(element.size()) + 1)) -
               1;
    if (loop.dim < 0)
      loop.step = 1;
    break;
  }
  return makeOrder(element, loops);
}

Shape test::fullElement(const TokenOrder &order) {
  return order.element.empty() ? Shape(order.map.size(), 1) : order.element;
}

Sequence test::enumerate(const TokenOrder &order) {
  Sequence sequence;
  for (int64_t trip : order.trips)
    if (trip == 0)
      return sequence;
  Shape counters(order.trips.size(), 0);
  while (true) {
    Shape offsets;
    for (const std::vector<unsigned> &loops : order.map) {
      int64_t sum = 0;
      for (unsigned l : loops)
        sum += counters[l] * order.steps[l];
      offsets.push_back(sum);
    }
    sequence.push_back(offsets);
    size_t l = counters.size();
    while (l > 0 && ++counters[l - 1] == order.trips[l - 1])
      counters[--l] = 0;
    if (l == 0)
      return sequence;
  }
}

Sequence test::enumerateElements(const TokenOrder &order) {
  const Shape element = fullElement(order);
  Sequence result;
  for (const Shape &offsets : enumerate(order))
    for (int64_t i = 0; i < volume(element); ++i) {
      Shape position = unflatten(i, element);
      for (size_t dim = 0; dim < position.size(); ++dim)
        position[dim] += offsets[dim];
      result.push_back(position);
    }
  return result;
}

int64_t test::flatten(const Shape &position, const Shape &shape) {
  int64_t index = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    index = index * shape[dim] + position[dim];
  return index;
}

Shape test::unflatten(int64_t index, const Shape &shape) {
  Shape position(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    position[dim] = index % shape[dim];
    index /= shape[dim];
  }
  return position;
}

int64_t test::volume(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

static Shape difference(const Shape &a, const Shape &b) {
  Shape result;
  for (size_t dim = 0; dim < a.size(); ++dim)
    result.push_back(a[dim] - b[dim]);
  return result;
}

std::optional<std::vector<Loop>> test::fitLoops(Sequence sequence) {
  std::vector<Loop> loops;
  while (sequence.size() > 1) {
    const Shape step = difference(sequence[1], sequence[0]);
    size_t run = 2;
    while (run < sequence.size() &&
           difference(sequence[run], sequence[run - 1]) == step)
      ++run;
    Loop loop{static_cast<int64_t>(run), 1, -1};
    for (size_t dim = 0; dim < step.size(); ++dim) {
      if (step[dim] == 0)
        continue;
      if (step[dim] < 0 || loop.dim >= 0)
        return std::nullopt;
      loop.dim = static_cast<int>(dim);
      loop.step = step[dim];
    }
    if (sequence.size() % run != 0)
      return std::nullopt;
    Sequence outer;
    for (size_t i = 0; i < sequence.size(); ++i) {
      if (i % run == 0)
        outer.push_back(sequence[i]);
      else if (difference(sequence[i], sequence[i - i % run]) !=
               difference(sequence[i % run], sequence[0]))
        return std::nullopt;
    }
    loops.insert(loops.begin(), loop);
    sequence = std::move(outer);
  }
  return loops;
}
