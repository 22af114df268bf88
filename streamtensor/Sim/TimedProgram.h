//===- TimedProgram.h - When a process touches what -------------*- C++ -*-===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The accesses of a process in the order of its own time, compressed: regions
// of time follow each other, in each a few classes of accesses run side by
// side, and a class is runs of equally spaced accesses. A cursor walks through
// them, one access or many at a time.
//
//===----------------------------------------------------------------------===//

#ifndef STREAMTENSOR_SIM_TIMEDPROGRAM_H
#define STREAMTENSOR_SIM_TIMEDPROGRAM_H

#include "streamtensor/Network/TimedNetwork.h"

#include <functional>
#include <memory>

namespace streamtensor {

/// `count` accesses, `step` cycles apart, from `first` on.
struct AccessRun {
  int64_t first = 0, step = 1, count = 1;
};

/// Runs one after the other, all of them again at each point of the nest of
/// {step, count} in `outer`, outermost first.
struct AccessBlock {
  std::vector<AccessRun> runs;
  std::vector<std::pair<int64_t, int64_t>> outer;
};

/// Accesses of one kind to one target, ascending in time.
struct AccessClass {
  AccessKind kind = AccessKind::Read;
  unsigned target = 0;
  int64_t beats = 1, contiguous = 0;
  std::vector<AccessBlock> blocks;
};

/// A process at given values of the parameters.
class TimedProgram {
public:
  TimedProgram(const TimedProcess &process, const ParameterValues &values);

  /// Places at which a cursor can be.
  size_t numPlaces() const { return code.size(); }

private:
  friend class ProgramCursor;
  enum class Op : uint8_t { Region, Loop, Next, Branch, Jump, End };
  struct Instruction {
    Op op;
    uint16_t level = 0;
    /// Where to go: Next to the body, Branch and Jump forward.
    uint32_t target = 0;
    /// Region, Branch: an index. Loop, Next: the trip count.
    int64_t value = 0;
    /// Next: after so many iterations the conditions of the body decide again
    /// as they did; 0: nothing is known.
    int64_t period = 1;
  };
  /// A stretch of time with accesses at offsets from its begin.
  struct Region {
    std::vector<AccessClass> classes;
    int64_t duration = 0;
    /// A pipeline whose conditions depend on loops around it: its classes are
    /// made anew each time, and these are their conditions.
    const TimedNode *dynamic = nullptr;
    std::vector<int64_t> trips;
    unsigned level = 0;
  };

  void compile(const TimedSequence &sequence, unsigned level,
               const ParameterValues &values);
  int64_t periodOfBody(size_t begin, unsigned level) const;
  void flush();
  void addRegion(Region region);
  void addStraight(const TimedNode &node);
  void compilePipeline(const TimedNode &node, unsigned level,
                       const ParameterValues &values);

  /// The program at the values of the parameters; regions point into it.
  std::shared_ptr<const TimedSequence> bound;
  std::vector<Instruction> code;
  std::vector<Region> regions;
  std::vector<IndexExpr> conditions;
  /// Straight code that is being collected.
  Region straight;
  unsigned numLevels = 0;
};

/// A place in a program. Times count from the start of the process.
class ProgramCursor {
public:
  struct Access {
    AccessKind kind;
    unsigned target;
    int64_t beats, contiguous;
  };
  /// One class of the region at hand.
  struct Stream {
    const AccessClass *of = nullptr;
    /// The next access, the distance to those after it, and how many follow at
    /// this distance, the next included; 0 when there is none.
    int64_t time = 0, step = 1, count = 0;
    uint32_t block = 0, run = 0;
    int64_t outerOffset = 0;
    std::vector<int64_t> outer;
  };

  /// Gives up after `mostWork` parts of the program.
  explicit ProgramCursor(const TimedProgram &program,
                         int64_t mostWork = INT64_MAX)
      : program(&program), mostWork(mostWork) {}

  void restart();
  /// Moves to the next accesses, all those of one cycle, into `group`. Returns
  /// false at the end; then `time()` is the latency.
  bool next(std::vector<Access> &group);
  int64_t time() const { return now; }
  /// Whether it has given up; then `next` has returned false early.
  bool isExhausted() const { return work > mostWork; }

  /// The streams of the region at hand, behind what `next` has returned.
  std::vector<Stream> &streams() { return active; }
  /// Skips `count` accesses of a stream, at most its `count`.
  void skip(Stream &stream, int64_t count);
  /// The time of the last accesses that were skipped.
  void setTime(int64_t time) { now = time; }

  /// The place in the program, and the ends of some loops that have been passed
  /// since `forgetPassed`.
  uint32_t place() const { return position; }
  const std::vector<uint32_t> &passedLoops() const { return passed; }
  void forgetPassed() { passed.clear(); }

  /// Where a cursor was.
  struct Mark {
    uint32_t position = 0;
    std::vector<int64_t> counters;
    int64_t base = 0, end = 0, now = 0, work = 0;
    std::vector<Stream> streams;
  };
  void mark(Mark &mark) const;
  /// How many times more the cursor can move as it has moved since `mark`, with
  /// the same accesses at the same distances; 0: none, or it is not known.
  /// INT64_MAX: it has not moved.
  int64_t repeatsOf(const Mark &mark) const;
  /// Moves so many times more.
  void repeat(const Mark &mark, int64_t periods);

private:
  static constexpr size_t kMostPassed = 4;

  bool enterRegion();
  /// The loop around the position whose counter is at `level`; its trip count
  /// and period.
  const TimedProgram::Instruction *loopAround(unsigned level) const;
  static int64_t repeatsOf(const Stream &now, const Stream &then, int64_t at,
                           int64_t elapsed);
  void setRun(Stream &stream);
  void advance(Stream &stream);

  const TimedProgram *program;
  int64_t work = 0, mostWork;
  uint32_t position = 0;
  std::vector<int64_t> counters;
  /// Own time at the begin of the region, at its end, and now.
  int64_t base = 0, end = 0, now = 0;
  std::vector<Stream> active;
  std::vector<uint32_t> passed;
  std::vector<AccessClass> dynamicClasses;
};

/// Calls `use` for each access of a memory port in the program with the beats
/// that it moves in one invocation and how many of them are contiguous (0:
/// all).
void countMemory(
    const TimedProcess &process, const ParameterValues &values,
    const std::function<void(AccessKind kind, unsigned port, int64_t beats,
                             int64_t contiguous)> &use);

/// The classes of a pipeline when the loops around it are in the iterations
/// `inductions`. `trips` are those of its nest, `level` is its outermost loop.
std::vector<AccessClass> pipelineClasses(const TimedNode &pipeline,
                                         const std::vector<int64_t> &trips,
                                         unsigned level,
                                         const int64_t *inductions);

} // namespace streamtensor

#endif // STREAMTENSOR_SIM_TIMEDPROGRAM_H
