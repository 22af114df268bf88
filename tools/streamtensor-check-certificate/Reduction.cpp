//===- Reduction.cpp - From base points to all values ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Trip counts and their parts, conditions, words of FIFOs, stages of tasks; and
// which boxes of values the base points cover.
//
//===----------------------------------------------------------------------===//

#include "tools/streamtensor-check-certificate/Reduction.h"

#include "tools/streamtensor-check-certificate/Words.h"

#include <algorithm>

using namespace streamtensor::certificate;

Values Box::fixed() const {
  Values values;
  for (const auto &[name, value] : low)
    if (value == high.at(name))
      values[name] = value;
  return values;
}

std::string streamtensor::certificate::spell(const Box &box) {
  std::string text;
  for (const auto &[name, value] : box.low) {
    text += (text.empty() ? "" : ", ") + name + " = " + std::to_string(value);
    if (value != box.high.at(name))
      text += ".." + std::to_string(box.high.at(name));
  }
  return text.empty() ? "no parameters" : text;
}

void streamtensor::certificate::refuseCondition(const Condition &condition) {
  throw Refusal("expected conditions that do not depend on the values: on "
                "loops of constant trip counts, or with one outcome in each "
                "part of a loop, but got '" +
                condition.spelling() + "'");
}

/// What is kept must be a part of what there is, for all values in the box.
static void checkLoop(const Loop &loop, const Box &box, const Values &fixed) {
  const Expression trip = loop.trip.substitute(fixed);
  Expression sum;
  for (const Part &part : loop.partsAt(fixed)) {
    const Expression value = part.count;
    if (!value.isMonotone())
      throw Refusal("expected parts of loops that grow with the parameters but "
                    "got " +
                    value.spelling());
    if (value.evaluate(box.low) < 0)
      throw Refusal("expected parts of loops from 0 on but got " +
                    value.spelling() + " at " + spell(box.low));
    sum = sum + value;
  }
  if (sum != trip)
    throw Refusal("expected parts whose sum is the trip count, " +
                  trip.spelling() + ", but got " + sum.spelling());
}

namespace {

/// Loops and conditions of a program.
class ProgramCheck {
public:
  ProgramCheck(const Box &box, const Values &fixed) : box(box), fixed(fixed) {}

  void run(const Sequence &sequence) {
    for (const Node &node : sequence) {
      for (const Loop &loop : node.loops) {
        checkLoop(loop, box, fixed);
        around.push_back(loop.partsAt(fixed));
        isRunTime.push_back(!loop.trip.substitute(fixed).isConstant());
      }
      if (node.kind == Node::Kind::Branch)
        checkCondition(node.condition);
      run(node.body);
      run(node.otherwise);
      around.resize(around.size() - node.loops.size());
      isRunTime.resize(around.size());
    }
  }

private:
  /// A plain one has the same outcome at the same iteration numbers, which do
  /// not change. Of others there must be one for each choice of parts and
  /// iterations of constant loops; for all of these iterations at once, if
  /// possible.
  void checkCondition(const Condition &condition) {
    if (condition.isPlain(isRunTime))
      return;
    places.assign(around.size(), Place());
    if (!isDecided(condition, 0, /*enumerate=*/false) &&
        !isDecided(condition, 0, /*enumerate=*/true))
      refuseCondition(condition);
  }

  bool isDecided(const Condition &condition, unsigned level, bool enumerate) {
    while (level < around.size() && !condition.uses(level))
      ++level;
    if (level == around.size()) {
      if (++steps > int64_t(1) << 22)
        throw Refusal("expected fewer iterations that decide '" +
                      condition.spelling() + "'");
      return condition.decide(places, box.low, box.high).has_value();
    }
    if (!isRunTime[level] && enumerate) {
      const int64_t trip = around[level].front().count.getConstant();
      for (int64_t i = 0; i < trip; ++i) {
        places[level] = {Expression(i), Expression(1)};
        if (!isDecided(condition, level + 1, enumerate))
          return false;
      }
      return true;
    }
    Expression first;
    for (const Part &part : around[level]) {
      places[level] = {first, part.count};
      if (!isDecided(condition, level + 1, enumerate))
        return false;
      first = first + part.count;
    }
    return true;
  }

  const Box &box;
  const Values &fixed;
  /// Of the loops around.
  std::vector<std::vector<Part>> around;
  std::vector<bool> isRunTime;
  std::vector<Place> places;
  int64_t steps = 0;
};

} // namespace

/// In program order the stages of a task share the loop over the segments.
static void checkTasks(const Network &network, const Values &fixed) {
  for (size_t first = 0, end = 0; first < network.processes.size();
       first = end) {
    end = endOfTask(network, first);
    auto segments = [&](size_t index) -> const Loop & {
      const Process &stage = network.processes[index];
      return stage.program[segmentLoop(stage)].loops.front();
    };
    for (size_t index = first + 1; index < end; ++index) {
      const std::vector<Part> one = segments(first).partsAt(fixed);
      const std::vector<Part> other = segments(index).partsAt(fixed);
      bool agree = one.size() == other.size();
      for (size_t part = 0; agree && part < one.size(); ++part)
        agree = one[part].keepsLast == other[part].keepsLast &&
                one[part].count == other[part].count;
      if (!agree)
        throw Refusal("expected the same segments in the same parts in all "
                      "stages of task '" +
                      network.processes[first].task + "'");
    }
  }
}

static void checkFifos(const Network &network, const Box &box) {
  for (unsigned index = 0; index < network.fifos.size(); ++index) {
    const Fifo &fifo = network.fifos[index];
    const Process &writer = network.processes[fifo.writer];
    const Process &reader = network.processes[fifo.reader];
    std::string place = "process '" + writer.name + "': ";
    try {
      const Word written = wordOf(writer.program, index, false, box);
      place = "process '" + reader.name + "': ";
      const Word read = wordOf(reader.program, index, true, box);
      place.clear();
      if (written != read)
        throw Refusal("fifo '" + fifo.name +
                      "': expected that both ends lose the same tokens, but '" +
                      writer.name + "' writes " + spell(written) + " and '" +
                      reader.name + "' reads " + spell(read));
    } catch (const Refusal &refusal) {
      throw Refusal(place + refusal.what());
    }
  }
}

std::optional<std::string>
streamtensor::certificate::findFlaw(const Network &given, const Box &box) {
  const Values fixed = box.fixed();
  if (fixed.size() == box.low.size())
    return std::nullopt;
  Network network = given;
  for (Process &process : network.processes)
    bindConditions(process.program, fixed);
  try {
    for (const Process &process : network.processes) {
      try {
        ProgramCheck(box, fixed).run(process.program);
      } catch (const Refusal &refusal) {
        throw Refusal("process '" + process.name + "': " + refusal.what());
      }
      if (auto flaw = findTimingFlaw(process, box))
        throw Refusal("process '" + process.name + "': " + *flaw);
    }
    checkTasks(network, fixed);
    checkFifos(network, box);
  } catch (const Refusal &refusal) {
    return refusal.what();
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

namespace {

/// Tries lower corners below one base point, the lowest first.
class CornerSearch {
public:
  CornerSearch(const Network &network, const std::vector<Values> &points,
               const Values &point, Cover &cover)
      : network(network), point(point), cover(cover) {
    for (const Parameter &parameter : network.parameters) {
      const int64_t value = point.at(parameter.name);
      // What other base points do not reach either: above the next lower one.
      int64_t above = parameter.min;
      for (const Values &other : points)
        if (other.at(parameter.name) < value)
          above = std::max(above, other.at(parameter.name) + 1);
      std::vector<int64_t> corner{parameter.min};
      for (int64_t next : {above, value})
        if (next != corner.back())
          corner.push_back(next);
      corners.push_back(std::move(corner));
      most += corners.back().size() - 1;
    }
  }

  void run() {
    for (size_t height = 0; height <= most; ++height)
      visit(0, height);
  }

private:
  /// All corners whose numbers sum to `height`.
  void visit(size_t index, size_t height) {
    if (index == corners.size()) {
      if (height == 0)
        tryCorner();
      return;
    }
    for (size_t i = 0; i < corners[index].size() && i <= height; ++i) {
      low[network.parameters[index].name] = corners[index][i];
      visit(index + 1, height - i);
    }
  }

  void tryCorner() {
    for (const Values &other : found)
      if (std::all_of(low.begin(), low.end(), [&](const auto &entry) {
            return other.at(entry.first) <= entry.second;
          }))
        return;
    const Box box{low, point};
    if (auto flaw = findFlaw(network, box)) {
      if (cover.reason.empty())
        cover.reason = "below " + spell(point) + ": " + *flaw;
      return;
    }
    found.push_back(low);
    cover.boxes.push_back(box);
  }

  const Network &network;
  const Values &point;
  Cover &cover;
  std::vector<std::vector<int64_t>> corners;
  size_t most = 0;
  Values low;
  std::vector<Values> found;
};

} // namespace

Cover streamtensor::certificate::coverOf(const Network &network,
                                         const std::vector<Values> &points) {
  Cover cover;
  for (const Values &point : points)
    CornerSearch(network, points, point, cover).run();
  return cover;
}

/// Between two neighbouring borders of boxes all values of a parameter lie in
/// the same boxes.
static bool findUncoveredFrom(const std::vector<Parameter> &parameters,
                              size_t index,
                              const std::vector<const Box *> &boxes,
                              int64_t &steps, Values &values) {
  if (++steps > int64_t(1) << 24)
    throw Refusal("expected fewer base points");
  if (boxes.empty()) {
    for (; index < parameters.size(); ++index)
      values[parameters[index].name] = parameters[index].min;
    return true;
  }
  if (index == parameters.size())
    return false;
  const Parameter &parameter = parameters[index];
  std::set<int64_t> borders{parameter.min};
  for (const Box *box : boxes) {
    borders.insert(box->low.at(parameter.name));
    borders.insert(box->high.at(parameter.name) + 1);
  }
  for (int64_t value : borders) {
    if (value < parameter.min || value > parameter.max)
      continue;
    std::vector<const Box *> inside;
    for (const Box *box : boxes)
      if (box->low.at(parameter.name) <= value &&
          value <= box->high.at(parameter.name))
        inside.push_back(box);
    values[parameter.name] = value;
    if (findUncoveredFrom(parameters, index + 1, inside, steps, values))
      return true;
  }
  return false;
}

std::optional<Values> streamtensor::certificate::findUncovered(
    const std::vector<Parameter> &parameters, const std::vector<Box> &boxes) {
  std::vector<const Box *> all;
  for (const Box &box : boxes)
    all.push_back(&box);
  Values values;
  int64_t steps = 0;
  if (findUncoveredFrom(parameters, 0, all, steps, values))
    return values;
  return std::nullopt;
}
