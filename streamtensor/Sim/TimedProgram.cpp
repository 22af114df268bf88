//===- TimedProgram.cpp - When a process touches what ---------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Straight code and pipelines become regions; loops around them stay loops, so
// a program's size does not depend on its trip counts.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Sim/TimedProgram.h"

#include <algorithm>

using namespace streamtensor;

using Kind = TimedNode::Kind;

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

/// Appends a run to others that are earlier.
static void appendTimes(std::vector<AccessRun> &runs, const AccessRun &next) {
  if (!runs.empty()) {
    AccessRun &last = runs.back();
    const int64_t gap =
        next.first - (last.first + (last.count - 1) * last.step);
    if ((last.count == 1 || gap == last.step) &&
        (next.count == 1 || gap == next.step)) {
      last.step = gap;
      last.count += next.count;
      return;
    }
  }
  runs.push_back(next);
}

namespace {

/// An access of a pipeline with the conditions under which it happens.
struct GuardedAccess {
  const TimedNode *access;
  std::vector<std::pair<const IndexExpr *, bool>> guards;
};

} // namespace

static void
collectAccesses(const TimedSequence &body,
                std::vector<std::pair<const IndexExpr *, bool>> &guards,
                std::vector<GuardedAccess> &result) {
  for (const TimedNode &node : body) {
    if (node.kind == Kind::Access) {
      result.push_back({&node, guards});
      continue;
    }
    guards.emplace_back(&node.condition, true);
    collectAccesses(node.body, guards, result);
    guards.back().second = false;
    collectAccesses(node.otherwise, guards, result);
    guards.pop_back();
  }
}

std::vector<AccessClass>
streamtensor::pipelineClasses(const TimedNode &pipeline,
                              const std::vector<int64_t> &trips, unsigned level,
                              const int64_t *inductions) {
  std::vector<GuardedAccess> accesses;
  std::vector<std::pair<const IndexExpr *, bool>> guards;
  collectAccesses(pipeline.body, guards, accesses);
  std::vector<AccessClass> classes;
  const unsigned numLevels = level + trips.size();
  for (const GuardedAccess &guarded : accesses) {
    AccessClass result;
    result.kind = guarded.access->access;
    result.target = guarded.access->target;
    result.beats = guarded.access->beats;
    result.contiguous = guarded.access->contiguous;
    // From the outermost to the innermost loop that decides, iterations are
    // written out; those inside of them follow each other, and the loops around
    // repeat them.
    unsigned outermost = trips.size(), innermost = 0;
    for (const auto &[condition, unused] : guarded.guards)
      for (unsigned l = level; l < numLevels; ++l)
        if (condition->uses(l)) {
          outermost = std::min(outermost, l - level);
          innermost = std::max(innermost, l - level + 1);
        }
    int64_t repeats = 1, decided = 1, inner = 1;
    for (unsigned l = 0; l < trips.size(); ++l)
      (l < outermost ? repeats : l < innermost ? decided : inner) *= trips[l];
    const int64_t ii = pipeline.ii;
    std::vector<int64_t> values(inductions, inductions + level);
    values.resize(numLevels);
    AccessBlock block;
    for (int64_t i = 0; i < decided && repeats * inner > 0; ++i) {
      int64_t rest = i;
      for (unsigned l = innermost; l-- > outermost;) {
        values[level + l] = rest % trips[l];
        rest /= trips[l];
      }
      if (std::all_of(guarded.guards.begin(), guarded.guards.end(),
                      [&](const auto &guard) {
                        return (guard.first->evaluate(values.data()) != 0) ==
                               guard.second;
                      }))
        appendTimes(block.runs,
                    {guarded.access->stage + i * inner * ii, ii, inner});
    }
    const int64_t period = decided * inner * ii;
    if (repeats > 1 && block.runs.size() == 1 &&
        block.runs.front().count == decided * inner)
      block.runs.front() = {block.runs.front().first, ii,
                            decided * inner * repeats};
    else if (repeats > 1 && block.runs.size() == 1 &&
             block.runs.front().count == 1)
      block.runs.front() = {block.runs.front().first, period, repeats};
    else if (repeats > 1)
      block.outer.emplace_back(period, repeats);
    if (!block.runs.empty())
      result.blocks.push_back(std::move(block));
    if (!result.blocks.empty())
      classes.push_back(std::move(result));
  }
  return classes;
}

/// The last access of a block.
static int64_t lastTime(const AccessBlock &block) {
  const AccessRun &run = block.runs.back();
  int64_t time = run.first + (run.count - 1) * run.step;
  for (const auto &[step, count] : block.outer)
    time += step * (count - 1);
  return time;
}

/// Patterns as classes: those that follow each other in time in one class,
/// others side by side.
static void addPatterns(const PortAccesses &port,
                        std::vector<AccessClass> &classes) {
  std::vector<AccessBlock> blocks;
  for (const AccessPattern &pattern : port.at) {
    const SplitPattern split(pattern);
    // Where each part begins.
    std::vector<int64_t> begins(split.isEmpty ? 0 : 1, pattern.first);
    for (const auto &[step, count] : split.parts) {
      const size_t size = begins.size();
      for (int64_t i = 1; i < count; ++i)
        for (size_t part = 0; part < size; ++part)
          begins.push_back(begins[part] + i * step);
    }
    for (int64_t begin : begins) {
      AccessBlock &block = blocks.emplace_back();
      block.outer = split.levels;
      block.runs.push_back({begin, 1, 1});
      if (block.outer.empty())
        continue;
      block.runs.front().step = block.outer.back().first;
      block.runs.front().count = block.outer.back().second;
      block.outer.pop_back();
    }
  }
  std::stable_sort(blocks.begin(), blocks.end(),
                   [](const AccessBlock &a, const AccessBlock &b) {
                     return a.runs.front().first < b.runs.front().first;
                   });
  const size_t begin = classes.size();
  for (AccessBlock &block : blocks) {
    size_t at = begin;
    while (at < classes.size() &&
           lastTime(classes[at].blocks.back()) >= block.runs.front().first)
      ++at;
    if (at == classes.size()) {
      AccessClass fresh;
      fresh.kind = port.access;
      fresh.target = port.target;
      fresh.beats = port.beats;
      fresh.contiguous = port.contiguous;
      classes.push_back(std::move(fresh));
    }
    classes[at].blocks.push_back(std::move(block));
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// As access program with memory accesses in place of FIFOs, numbered in the
/// order of `nodes`.
static AccessSequence memoryAccesses(const TimedSequence &sequence,
                                     const ParameterValues &values,
                                     std::vector<const TimedNode *> &nodes) {
  AccessSequence result;
  for (const TimedNode &node : sequence) {
    if (node.kind == Kind::Access && !isFifo(node.access)) {
      result.push_back(read(nodes.size()));
      nodes.push_back(&node);
    } else if (node.kind == Kind::Branch) {
      AccessSequence body = memoryAccesses(node.body, values, nodes);
      AccessSequence otherwise = memoryAccesses(node.otherwise, values, nodes);
      result.push_back(branch(node.condition.bind(values), std::move(body),
                              std::move(otherwise)));
    } else if (node.kind == Kind::Loop || node.kind == Kind::Pipeline) {
      AccessSequence body = memoryAccesses(node.body, values, nodes);
      for (auto trip = node.trips.rbegin(); trip != node.trips.rend(); ++trip)
        body = {loop(std::max<int64_t>(0, trip->evaluate(values)),
                     std::move(body))};
      for (AccessNode &inner : body)
        result.push_back(std::move(inner));
    }
  }
  return result;
}

void streamtensor::countMemory(
    const TimedProcess &process, const ParameterValues &values,
    const std::function<void(AccessKind, unsigned, int64_t, int64_t)> &use) {
  if (process.hasProgram) {
    std::vector<const TimedNode *> nodes;
    const AccessSequence sequence =
        memoryAccesses(process.program, values, nodes);
    const std::vector<AccessCount> counts =
        countAccesses(sequence, nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i)
      use(nodes[i]->access, nodes[i]->target, counts[i].reads * nodes[i]->beats,
          nodes[i]->contiguous);
    return;
  }
  for (const PortAccesses &port : process.accesses) {
    if (isFifo(port.access))
      continue;
    int64_t accesses = 0;
    for (const AccessPattern &pattern : port.at) {
      int64_t count = 1;
      for (const auto &level : pattern.levels)
        count *= level.second;
      accesses += count;
    }
    use(port.access, port.target, accesses * port.beats, port.contiguous);
  }
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

TimedProgram::TimedProgram(const TimedProcess &process,
                           const ParameterValues &values) {
  if (process.hasProgram) {
    bound = std::make_shared<const TimedSequence>(
        bindConditions(process.program, values));
    compile(*bound, 0, values);
  } else {
    for (const PortAccesses &port : process.accesses)
      addPatterns(port, straight.classes);
    straight.duration = process.latency;
  }
  flush();
  code.push_back({Op::End});
}

/// The product of trip counts; 0 as soon as one is, before others overflow.
static int64_t iterationsOf(const TimedNode &node,
                            const ParameterValues &values) {
  std::vector<int64_t> trips;
  for (const TripCount &trip : node.trips)
    trips.push_back(std::max<int64_t>(0, trip.evaluate(values)));
  int64_t iterations = std::count(trips.begin(), trips.end(), 0) ? 0 : 1;
  for (size_t l = 0; l < trips.size() && iterations > 0; ++l)
    iterations *= trips[l];
  return iterations;
}

/// Ends the straight code collected so far.
void TimedProgram::flush() {
  if (!straight.classes.empty() || straight.duration > 0)
    addRegion(std::move(straight));
  straight = Region();
}

void TimedProgram::addRegion(Region region) {
  code.push_back({Op::Region, 0, 0, int64_t(regions.size())});
  regions.push_back(std::move(region));
}

void TimedProgram::addStraight(const TimedNode &node) {
  if (node.kind == Kind::Wait) {
    straight.duration += node.cycles;
    return;
  }
  AccessClass access;
  access.kind = node.access;
  access.target = node.target;
  access.beats = node.beats;
  access.contiguous = node.contiguous;
  access.blocks.push_back({{{straight.duration, 1, 1}}, {}});
  straight.classes.push_back(std::move(access));
}

void TimedProgram::compilePipeline(const TimedNode &node, unsigned level,
                                   const ParameterValues &values) {
  Region region;
  const int64_t iterations = iterationsOf(node, values);
  if (iterations == 0)
    return;
  for (const TripCount &trip : node.trips)
    region.trips.push_back(trip.evaluate(values));
  region.level = level;
  region.duration = node.ii * (iterations - 1) + node.depth;
  std::vector<GuardedAccess> accesses;
  std::vector<std::pair<const IndexExpr *, bool>> guards;
  collectAccesses(node.body, guards, accesses);
  bool isDynamic = false;
  for (const GuardedAccess &access : accesses)
    for (const auto &[condition, unused] : access.guards)
      for (unsigned l = 0; l < level; ++l)
        isDynamic |= condition->uses(l);
  if (isDynamic)
    region.dynamic = &node;
  else
    region.classes = pipelineClasses(node, region.trips, level,
                                     std::vector<int64_t>(level).data());
  addRegion(std::move(region));
}

/// The cycles of a sequence that touches nothing and decides nothing, or
/// nothing for others.
static std::optional<int64_t> idleCycles(const TimedSequence &sequence,
                                         const ParameterValues &values) {
  int64_t cycles = 0;
  for (const TimedNode &node : sequence) {
    if (node.kind == Kind::Wait) {
      cycles += node.cycles;
      continue;
    }
    if (node.kind == Kind::Access || node.kind == Kind::Branch)
      return std::nullopt;
    const int64_t iterations = iterationsOf(node, values);
    if (iterations == 0)
      continue;
    const std::optional<int64_t> body = idleCycles(node.body, values);
    if (!body)
      return std::nullopt;
    cycles += node.kind == Kind::Pipeline
                  ? node.ii * (iterations - 1) + node.depth
                  : iterations * (*body + node.cycles);
  }
  return cycles;
}

/// The common period of all conditions of a pipeline's body.
static int64_t periodOf(const TimedSequence &body, unsigned level) {
  int64_t period = 1;
  for (const TimedNode &node : body) {
    if (node.kind != Kind::Branch)
      continue;
    period = commonPeriod(period, node.condition.periodOf(level));
    period = commonPeriod(period, periodOf(node.body, level));
    period = commonPeriod(period, periodOf(node.otherwise, level));
  }
  return period;
}

/// The period of a loop at `level` whose body begins at `begin`, and ends where
/// the code ends so far.
int64_t TimedProgram::periodOfBody(size_t begin, unsigned level) const {
  int64_t period = 1;
  for (size_t i = begin; i < code.size(); ++i) {
    if (code[i].op == Op::Branch)
      period = commonPeriod(period, conditions[code[i].value].periodOf(level));
    else if (code[i].op == Op::Region && regions[code[i].value].dynamic)
      period = commonPeriod(
          period, periodOf(regions[code[i].value].dynamic->body, level));
  }
  return period;
}

void TimedProgram::compile(const TimedSequence &sequence, unsigned level,
                           const ParameterValues &values) {
  numLevels = std::max(numLevels, level);
  for (const TimedNode &node : sequence) {
    if (node.kind == Kind::Access || node.kind == Kind::Wait) {
      addStraight(node);
      continue;
    }
    if (std::optional<int64_t> idle = idleCycles({node}, values)) {
      straight.duration += *idle;
      continue;
    }
    flush();
    if (node.kind == Kind::Pipeline) {
      compilePipeline(node, level, values);
    } else if (node.kind == Kind::Loop) {
      const int64_t trip =
          std::max<int64_t>(0, node.trips.front().evaluate(values));
      const size_t begin = code.size();
      code.push_back({Op::Loop, uint16_t(level), 0, trip});
      compile(node.body, level + 1, values);
      straight.duration += node.cycles;
      flush();
      code.push_back({Op::Next, uint16_t(level), uint32_t(begin + 1), trip,
                      periodOfBody(begin + 1, level)});
      code[begin].target = code.size();
      numLevels = std::max(numLevels, level + 1);
    } else {
      const size_t test = code.size();
      code.push_back({Op::Branch, 0, 0, int64_t(conditions.size())});
      conditions.push_back(node.condition);
      compile(node.body, level, values);
      flush();
      const size_t jump = code.size();
      code.push_back({Op::Jump});
      code[test].target = code.size();
      compile(node.otherwise, level, values);
      flush();
      code[jump].target = code.size();
    }
  }
  // A loop's overhead is added to straight code, so only the caller flushes.
}

//===----------------------------------------------------------------------===//
// ProgramCursor
//===----------------------------------------------------------------------===//

void ProgramCursor::restart() {
  passed.clear();
  position = 0;
  counters.assign(program->numLevels, 0);
  base = end = now = 0;
  active.clear();
}

/// Sets time, step and count from the place of the stream.
void ProgramCursor::setRun(Stream &stream) {
  const AccessRun &run = stream.of->blocks[stream.block].runs[stream.run];
  stream.time = base + stream.outerOffset + run.first;
  stream.step = run.step;
  stream.count = run.count;
}

/// To the next run.
void ProgramCursor::advance(Stream &stream) {
  const AccessBlock &block = stream.of->blocks[stream.block];
  if (++stream.run < block.runs.size())
    return setRun(stream);
  stream.run = 0;
  for (size_t level = block.outer.size(); level-- > 0;) {
    const auto [step, count] = block.outer[level];
    if (++stream.outer[level] < count) {
      stream.outerOffset += step;
      return setRun(stream);
    }
    stream.outerOffset -= (count - 1) * step;
    stream.outer[level] = 0;
  }
  if (++stream.block < stream.of->blocks.size()) {
    stream.outer.assign(stream.of->blocks[stream.block].outer.size(), 0);
    return setRun(stream);
  }
  stream.count = 0;
}

void ProgramCursor::skip(Stream &stream, int64_t count) {
  stream.count -= count;
  if (stream.count > 0)
    stream.time += count * stream.step;
  else
    advance(stream);
}

/// Goes to the next region with accesses. Returns false at the end of the
/// program; regions without accesses only take time.
bool ProgramCursor::enterRegion() {
  for (; work <= mostWork; ++work) {
    const TimedProgram::Instruction &instruction = program->code[position];
    switch (instruction.op) {
    case TimedProgram::Op::Loop:
      counters[instruction.level] = 0;
      position = instruction.value > 0 ? position + 1 : instruction.target;
      continue;
    case TimedProgram::Op::Next:
      if (passed.size() < kMostPassed)
        passed.push_back(position);
      position = ++counters[instruction.level] < instruction.value
                     ? instruction.target
                     : position + 1;
      continue;
    case TimedProgram::Op::Branch:
      position =
          program->conditions[instruction.value].evaluate(counters.data())
              ? position + 1
              : instruction.target;
      continue;
    case TimedProgram::Op::Jump:
      position = instruction.target;
      continue;
    case TimedProgram::Op::End:
      return false;
    case TimedProgram::Op::Region:
      break;
    }
    const TimedProgram::Region &region = program->regions[instruction.value];
    ++position;
    base = end;
    end = base + region.duration;
    const std::vector<AccessClass> *classes = &region.classes;
    if (region.dynamic) {
      dynamicClasses = pipelineClasses(*region.dynamic, region.trips,
                                       region.level, counters.data());
      for (int64_t trip : region.trips)
        work += trip;
      classes = &dynamicClasses;
    }
    if (classes->empty())
      continue;
    active.resize(classes->size());
    for (size_t i = 0; i < classes->size(); ++i) {
      Stream &stream = active[i];
      stream.of = &(*classes)[i];
      stream.block = stream.run = 0;
      stream.outerOffset = 0;
      stream.outer.assign(stream.of->blocks.front().outer.size(), 0);
      setRun(stream);
    }
    return true;
  }
  return false;
}

bool ProgramCursor::next(std::vector<Access> &group) {
  group.clear();
  bool found = false;
  for (;;) {
    int64_t earliest = INT64_MAX;
    for (const Stream &stream : active)
      if (stream.count > 0)
        earliest = std::min(earliest, stream.time);
    if (earliest == INT64_MAX) {
      // What follows at the same cycle, in the next region, belongs to the
      // group.
      active.clear();
      if (found && end > now)
        return true;
      if (!enterRegion()) {
        if (!found)
          now = end;
        return found;
      }
      continue;
    }
    if (found && earliest > now)
      return true;
    now = earliest;
    found = true;
    for (Stream &stream : active)
      while (stream.count > 0 && stream.time == now) {
        group.push_back({stream.of->kind, stream.of->target, stream.of->beats,
                         stream.of->contiguous});
        skip(stream, 1);
      }
  }
}

//===----------------------------------------------------------------------===//
// Repetition
//===----------------------------------------------------------------------===//

void ProgramCursor::mark(Mark &mark) const {
  mark.position = position;
  mark.counters = counters;
  mark.base = base;
  mark.end = end;
  mark.now = now;
  mark.work = work;
  mark.streams = active;
}

const TimedProgram::Instruction *
ProgramCursor::loopAround(unsigned level) const {
  for (size_t i = position; i < program->code.size(); ++i) {
    const TimedProgram::Instruction &next = program->code[i];
    if (next.op == TimedProgram::Op::Next && next.level == level &&
        next.target <= position)
      return &next;
  }
  return nullptr;
}

/// Of one stream within one region, when `elapsed` cycles have passed until
/// `at`: how often it can go on like this.
int64_t ProgramCursor::repeatsOf(const Stream &now, const Stream &then,
                                 int64_t at, int64_t elapsed) {
  if (now.block != then.block || now.run != then.run)
    return 0;
  if (now.count == 0)
    return then.count == 0 ? INT64_MAX : 0;
  if (now.outer != then.outer) {
    // One loop around the runs has gone on.
    if (now.count != then.count || now.time - then.time != elapsed ||
        now.outerOffset - then.outerOffset != elapsed)
      return 0;
    const AccessBlock &block = now.of->blocks[now.block];
    int64_t repeats = 0;
    for (size_t level = 0; level < now.outer.size(); ++level) {
      const int64_t rise = now.outer[level] - then.outer[level];
      if (rise == 0)
        continue;
      if (rise < 0 || repeats > 0)
        return 0;
      repeats = (block.outer[level].second - 1 - now.outer[level]) / rise;
      if (repeats == 0)
        return 0;
    }
    return repeats;
  }
  if (now.outerOffset != then.outerOffset)
    return 0;
  // Not come to yet: not before it is.
  if (now.count == then.count)
    return now.time == then.time ? (now.time - 1 - at) / elapsed : 0;
  // Within a run, and not to its end.
  const int64_t taken = then.count - now.count;
  if (taken <= 0 || now.time - then.time != elapsed)
    return 0;
  return (now.count - 1) / taken;
}

int64_t ProgramCursor::repeatsOf(const Mark &mark) const {
  if (position != mark.position || counters.size() != mark.counters.size() ||
      active.size() != mark.streams.size())
    return 0;
  std::optional<unsigned> changed;
  for (unsigned level = 0; level < counters.size(); ++level) {
    if (counters[level] == mark.counters[level])
      continue;
    if (changed || counters[level] < mark.counters[level])
      return 0;
    changed = level;
  }
  const int64_t elapsed = now - mark.now;
  if (elapsed < 0)
    return 0;
  if (!changed) {
    if (base != mark.base || end != mark.end)
      return 0;
    int64_t repeats = INT64_MAX;
    for (size_t i = 0; i < active.size() && repeats > 0; ++i) {
      const Stream &a = active[i], &b = mark.streams[i];
      if (elapsed > 0)
        repeats = std::min(repeats, repeatsOf(a, b, now, elapsed));
      else if (a.count != b.count || (a.count > 0 && a.time != b.time))
        return 0;
    }
    // Something of the region must be left, or the next one comes.
    return elapsed > 0 && repeats == INT64_MAX ? 0 : repeats;
  }
  if (elapsed == 0 || base - mark.base != elapsed || end - mark.end != elapsed)
    return 0;
  for (size_t i = 0; i < active.size(); ++i) {
    const Stream &a = active[i], &b = mark.streams[i];
    if (a.count != b.count || a.block != b.block || a.run != b.run ||
        a.outer != b.outer || a.outerOffset != b.outerOffset ||
        (a.count > 0 && (a.time - b.time != elapsed || a.step != b.step)))
      return 0;
  }
  const TimedProgram::Instruction *next = loopAround(*changed);
  const int64_t rise = counters[*changed] - mark.counters[*changed];
  if (!next || next->period == 0 || rise % next->period != 0 ||
      next->value > IndexExpr::kMostIterations)
    return 0;
  int64_t repeats = (next->value - 1 - counters[*changed]) / rise;
  if (work > mark.work)
    repeats = std::min(repeats, (mostWork - work) / (work - mark.work));
  return repeats;
}

void ProgramCursor::repeat(const Mark &mark, int64_t periods) {
  const int64_t elapsed = periods * (now - mark.now);
  for (size_t level = 0; level < counters.size(); ++level)
    counters[level] += periods * (counters[level] - mark.counters[level]);
  for (size_t i = 0; i < active.size(); ++i) {
    Stream &a = active[i];
    const Stream &b = mark.streams[i];
    a.time += periods * (a.time - b.time);
    a.count += periods * (a.count - b.count);
    a.outerOffset += periods * (a.outerOffset - b.outerOffset);
    for (size_t level = 0; level < a.outer.size(); ++level)
      a.outer[level] += periods * (a.outer[level] - b.outer[level]);
  }
  base += periods * (base - mark.base);
  end += periods * (end - mark.end);
  work += periods * (work - mark.work);
  now += elapsed;
}
