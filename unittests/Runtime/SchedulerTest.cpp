//===- SchedulerTest.cpp - Tests of processes and FIFOs -------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small dataflow bodies in the form the compiler emits, run by the scheduler
// in this process. Expected values are written out by hand.
//
//===----------------------------------------------------------------------===//

#include "hls_stream.h"
#include "hls_vector.h"
#include "st_dataflow.h"

#include "runtime/Error.h"
#include "runtime/System.h"
#include "runtime/sim/FaultHandler.h"
#include "runtime/sim/Scheduler.h"

#include <algorithm>
#include <functional>
#include <gtest/gtest.h>
#include <stdexcept>

using namespace streamtensor;
using sim::FifoStatistics;
using sim::Scheduler;

const st::sim::Api *st::sim::api = Scheduler::api();

namespace {

using IntStream = hls::stream<int>;

/// Runs a body as the top function of a design.
class SchedulerTest : public ::testing::Test {
protected:
  void run(std::function<void()> body,
           const std::vector<std::string> &recorded = {}) {
    scheduler.run(
        "top",
        [](void *argument) {
          (*static_cast<std::function<void()> *>(argument))();
        },
        &body, recorded);
  }

  /// What the last run has recorded, of tokens of type int.
  std::vector<std::vector<int>> takeRecorded() {
    std::vector<std::vector<int>> result;
    for (const sim::RecordedFifo &fifo : scheduler.takeRecorded()) {
      EXPECT_TRUE(fifo.bytes.empty() || fifo.tokenBytes == sizeof(int));
      std::vector<int> tokens(fifo.bytes.size() / sizeof(int));
      std::copy(fifo.bytes.begin(), fifo.bytes.end(),
                reinterpret_cast<char *>(tokens.data()));
      result.push_back(std::move(tokens));
    }
    return result;
  }

  /// The text of the error that the body ends with.
  std::string errorOf(std::function<void()> body) {
    try {
      run(std::move(body));
    } catch (const runtime::Error &error) {
      return error.what();
    }
    return "no error";
  }

  FifoStatistics statistics(const std::string &name) {
    for (const FifoStatistics &fifo : scheduler.fifoStatistics())
      if (fifo.name == name)
        return fifo;
    ADD_FAILURE() << "no fifo " << name;
    return {};
  }

  Scheduler scheduler;
};

void produce(int count, IntStream &out) {
  for (int i = 0; i < count; ++i)
    out.write(i);
}

void consume(int count, IntStream &in, long *sum) {
  *sum = 0;
  for (int i = 0; i < count; ++i)
    *sum += in.read();
}

void pass(int count, IntStream &in, IntStream &out) {
  for (int i = 0; i < count; ++i)
    out.write(in.read() + 1);
}

/// Keeps everything before it passes anything on, like a softmax.
void collect(int count, IntStream &in, IntStream &out) {
  int values[64];
  for (int i = 0; i < count; ++i)
    values[i] = in.read();
  for (int i = 0; i < count; ++i)
    out.write(values[i]);
}

void fork(int count, IntStream &in, IntStream &a, IntStream &b) {
  for (int i = 0; i < count; ++i) {
    const int value = in.read();
    a.write(value);
    b.write(value);
  }
}

void add(int count, IntStream &a, IntStream &b, IntStream &out) {
  for (int i = 0; i < count; ++i) {
    const int left = a.read();
    const int right = b.read();
    out.write(left + right);
  }
}

TEST_F(SchedulerTest, RecordsTheTokensOfChosenFifos) {
  // Rings of 1 to 7 tokens, which the 20 tokens go around again and again.
  std::vector<int> counted, next;
  for (int i = 0; i < 20; ++i)
    counted.push_back(i), next.push_back(i + 1);
  for (int depth = 1; depth <= 7; ++depth) {
    long sum = 0;
    run(
        [&] {
          ST_FIFO(int, first, depth);
          ST_FIFO(int, second, depth);
          ST_TASK(produce, 20, first);
          ST_TASK(pass, 20, first, second);
          ST_TASK(consume, 20, second, &sum);
          ST_JOIN();
        },
        {"second", "missing", "first"});
    EXPECT_EQ(sum, 210);
    EXPECT_EQ(takeRecorded(),
              (std::vector<std::vector<int>>{next, {}, counted}));
  }
}

TEST_F(SchedulerTest, RecordsABodyThatRunsSeveralTimes) {
  long sum = 0;
  run(
      [&] {
        for (int i = 0; i < 3; ++i) {
          ST_FIFO(int, fifo, 2);
          ST_TASK(produce, i + 1, fifo);
          ST_TASK(consume, i + 1, fifo, &sum);
          ST_JOIN();
        }
      },
      {"fifo"});
  EXPECT_EQ(takeRecorded(),
            (std::vector<std::vector<int>>{{0, 0, 1, 0, 1, 2}}));
  // Nothing is left of it for the next run, also behind one that fails.
  EXPECT_NE(errorOf([] {
              ST_FIFO(int, fifo, 2);
              ST_TASK(produce, 1, fifo);
              ST_JOIN();
            }),
            "no error");
  EXPECT_TRUE(takeRecorded().empty());
  run([&] {
    ST_FIFO(int, fifo, 2);
    ST_TASK(produce, 5, fifo);
    ST_TASK(consume, 5, fifo, &sum);
    ST_JOIN();
  });
  EXPECT_EQ(sum, 10);
  EXPECT_TRUE(takeRecorded().empty());
}

TEST_F(SchedulerTest, PassesTokensInOrderAndCountsThem) {
  long sum = 0;
  run([&] {
    ST_FIFO(int, values, 4);
    ST_TASK(produce, 100, values);
    ST_TASK(consume, 100, values, &sum);
    ST_JOIN();
  });
  EXPECT_EQ(sum, 4950); // 0 + 1 + ... + 99
  const FifoStatistics values = statistics("values");
  EXPECT_EQ(values.tokens, 100u);
  EXPECT_EQ(values.depth, 4u);
  EXPECT_EQ(values.peak, 4u); // the producer runs until it is blocked
}

/// What one body writes, the next one reads; the first has none, the last
/// leaves none.
TEST_F(SchedulerTest, FeedbackGoesFromBodyToBody) {
  long sum = 0;
  auto layers = [&](int count, bool forgets) {
    ST_FEEDBACK(int, hidden, 5);
    for (int layer = 0; layer < count; ++layer) {
      ST_FIFO(int, values, 2);
      if (layer == 0) {
        ST_TASK(produce, 5, values);
      } else {
        ST_TASK(pass, 5, hidden, values);
      }
      if (layer + 1 < count || forgets) {
        ST_TASK(pass, 5, values, hidden);
      } else {
        ST_TASK(consume, 5, values, &sum);
      }
      ST_JOIN();
    }
  };
  run([&] { layers(1, false); });
  EXPECT_EQ(sum, 10); // 0 + ... + 4
  run([&] { layers(4, false); });
  EXPECT_EQ(sum, 10 + 5 * 2 * 3); // two more per layer that is behind another
  EXPECT_EQ(statistics("hidden").tokens, 15u);
  EXPECT_EQ(statistics("values").tokens, 20u);
  const std::string error = errorOf([&] { layers(2, true); });
  EXPECT_NE(error.find("fifo 'hidden'"), std::string::npos) << error;
  EXPECT_NE(error.find("5 left-over tokens"), std::string::npos) << error;
  run([&] { layers(2, false); });
  EXPECT_EQ(sum, 20);
}

TEST_F(SchedulerTest, OneTokenPasses) {
  long sum = -1;
  run([&] {
    ST_FIFO(int, values, 2);
    ST_TASK(produce, 1, values);
    ST_TASK(consume, 1, values, &sum);
    ST_JOIN();
  });
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(statistics("values").tokens, 1u);
  EXPECT_EQ(statistics("values").peak, 1u);
}

TEST_F(SchedulerTest, NoTokenAtAll) {
  long sum = -1;
  run([&] {
    ST_FIFO(int, values, 2);
    ST_TASK(produce, 0, values);
    ST_TASK(consume, 0, values, &sum);
    ST_JOIN();
  });
  EXPECT_EQ(sum, 0);
  EXPECT_EQ(statistics("values").tokens, 0u);
}

struct Fill {
  int written = 0, read = 0, highest = 0;
};

void produceWatched(int count, IntStream &out, Fill *fill) {
  for (int i = 0; i < count; ++i) {
    out.write(i);
    ++fill->written;
    fill->highest = std::max(fill->highest, fill->written - fill->read);
  }
}

void consumeWatched(int count, IntStream &in, Fill *fill) {
  for (int i = 0; i < count; ++i) {
    EXPECT_EQ(in.read(), i);
    ++fill->read;
  }
}

TEST_F(SchedulerTest, FifoHoldsExactlyItsDepth) {
  for (int depth : {1, 2, 3, 5, 16, 31}) {
    Fill fill;
    run([&] {
      ST_FIFO(int, values, depth);
      ST_TASK(produceWatched, 200, values, &fill);
      ST_TASK(consumeWatched, 200, values, &fill);
      ST_JOIN();
    });
    EXPECT_EQ(fill.highest, depth);
    EXPECT_EQ(statistics("values").peak, static_cast<uint64_t>(depth));
  }
}

/// Writes and reads in bursts of changing length, so that fills of every size
/// meet the end of the ring.
void produceBursts(int count, IntStream &data, IntStream &ticks) {
  for (int i = 0, burst = 1; i < count; burst = burst % 7 + 1) {
    for (int j = 0; j < burst && i < count; ++j)
      data.write(i++);
    ticks.write(burst);
  }
}

void consumeBursts(int count, IntStream &data, IntStream &ticks) {
  for (int i = 0; i < count;) {
    const int burst = ticks.read();
    for (int j = 0; j < burst && i < count; ++j, ++i)
      EXPECT_EQ(data.read(), i);
  }
}

TEST_F(SchedulerTest, RingWrapsAtEveryFill) {
  for (int depth : {7, 8, 11}) {
    run([&] {
      ST_FIFO(int, data, depth);
      ST_FIFO(int, ticks, 1);
      ST_TASK(produceBursts, 1000, data, ticks);
      ST_TASK(consumeBursts, 1000, data, ticks);
      ST_JOIN();
    });
    EXPECT_EQ(statistics("data").tokens, 1000u);
    EXPECT_LE(statistics("data").peak, static_cast<uint64_t>(depth));
  }
}

TEST_F(SchedulerTest, ChainOfFortyTasks) {
  long sum = 0;
  run([&] {
    hls::stream<int> links[41];
    ST_TASK(produce, 50, links[0]);
    struct Stage {
      IntStream *in, *out;
      static void run(Stage stage) { pass(50, *stage.in, *stage.out); }
    } stages[40];
    for (int i = 0; i < 40; ++i) {
      stages[i] = {&links[i], &links[i + 1]};
      Stage &stage = stages[i];
      st::sim::spawnTask(
          "pass", [&stage] { Stage::run(stage); }, links[i], links[i + 1]);
    }
    ST_TASK(consume, 50, links[40], &sum);
    ST_JOIN();
  });
  EXPECT_EQ(sum, 1225 + 50 * 40); // 0 + ... + 49, each raised by 40
}

void diamond(int count, int bypassDepth, long *sum) {
  ST_FIFO(int, in, 2);
  ST_FIFO(int, branch, 2);
  ST_FIFO(int, bypass, bypassDepth);
  ST_FIFO(int, branch_out, 2);
  ST_FIFO(int, out, 2);
  ST_TASK(produce, count, in);
  ST_TASK(fork, count, in, branch, bypass);
  ST_TASK(collect, count, branch, branch_out);
  ST_TASK(add, count, branch_out, bypass, out);
  ST_TASK(consume, count, out, sum);
  ST_JOIN();
}

TEST_F(SchedulerTest, DiamondNeedsABypassForEverythingThatIsCollected) {
  // `collect` passes nothing on before it has all 10 tokens. The fork gives it
  // the tenth before it writes the tenth to the bypass, so 9 places are enough
  // and 8 are not.
  long sum = 0;
  run([&] { diamond(10, 10, &sum); });
  EXPECT_EQ(sum, 90); // twice 0 + ... + 9
  EXPECT_EQ(statistics("bypass").peak, 10u);
  run([&] { diamond(10, 9, &sum); });
  EXPECT_EQ(sum, 90);

  EXPECT_EQ(errorOf([&] { diamond(10, 8, &sum); }),
            "deadlock of 3 processes that wait for each other: "
            "process 'fork' waits to write full fifo 'bypass' (8/8), "
            "process 'add' waits to read empty fifo 'branch_out' (0/2), "
            "process 'collect' waits to read empty fifo 'branch' (0/2); "
            "make a full fifo of this cycle deeper, or let its tokens pass in "
            "another order");
}

void relay(IntStream &in, IntStream &out) { out.write(in.read()); }

TEST_F(SchedulerTest, CycleWithoutTokensIsADeadlock) {
  EXPECT_EQ(errorOf([&] {
              ST_FIFO(int, forth, 4);
              ST_FIFO(int, back, 4);
              ST_TASK(relay, back, forth);
              ST_TASK(relay, forth, back);
              ST_JOIN();
            }),
            "deadlock of 2 processes that wait for each other: "
            "process 'relay' waits to read empty fifo 'back' (0/4), "
            "process 'relay' waits to read empty fifo 'forth' (0/4); "
            "a cycle of empty fifos can only start with initial tokens");
}

void request(int count, IntStream &requests, IntStream &responses, long *sum) {
  *sum = 0;
  for (int i = 0; i < count; ++i)
    requests.write(i);
  for (int i = 0; i < count; ++i)
    *sum += responses.read();
}

void respond(int count, IntStream &requests, IntStream &responses) {
  for (int i = 0; i < count; ++i)
    responses.write(10 * requests.read());
}

void requestBody(long *sum) {
  ST_FIFO(int, requests, 4);
  ST_FIFO(int, responses, 4);
  ST_TASK(request, 2, requests, responses, sum);
  ST_TASK(respond, 2, requests, responses);
  ST_JOIN();
}

TEST_F(SchedulerTest, RequestsAndResponsesInANestedBody) {
  long sum = 0;
  run([&] {
    ST_TASK(requestBody, &sum);
    ST_JOIN();
  });
  EXPECT_EQ(sum, 10); // 10 * (0 + 1)
}

/// Deals tokens to four consumers one after the other and waits for the
/// slowest, which answers through a feedback FIFO.
void deal(IntStream &a, IntStream &b, IntStream &c, IntStream &d,
          IntStream &feedback) {
  for (int i = 0; i < 20; ++i) {
    a.write(i);
    b.write(i);
    c.write(i);
    d.write(i);
    if (i % 5 == 4) {
      EXPECT_EQ(feedback.read(), i);
    }
  }
}

void answerEveryFifth(IntStream &in, IntStream &feedback) {
  for (int i = 0; i < 20; ++i) {
    const int value = in.read();
    if (i % 5 == 4)
      feedback.write(value);
  }
}

TEST_F(SchedulerTest, SerialDistributionWithFeedbackEndsAtDepthOne) {
  long a = 0, b = 0, d = 0;
  run([&] {
    ST_FIFO(int, to_a, 1);
    ST_FIFO(int, to_b, 1);
    ST_FIFO(int, to_c, 1);
    ST_FIFO(int, to_d, 1);
    ST_FIFO(int, feedback, 1);
    ST_TASK(deal, to_a, to_b, to_c, to_d, feedback);
    ST_TASK(consume, 20, to_a, &a);
    ST_TASK(consume, 20, to_b, &b);
    ST_TASK(answerEveryFifth, to_c, feedback);
    ST_TASK(consume, 20, to_d, &d);
    ST_JOIN();
  });
  EXPECT_EQ(a, 190);
  EXPECT_EQ(b, 190);
  EXPECT_EQ(d, 190);
  EXPECT_EQ(statistics("feedback").tokens, 4u);
}

TEST_F(SchedulerTest, ReadingMoreThanIsWrittenNamesTheWriter) {
  long sum;
  EXPECT_EQ(errorOf([&] {
              ST_FIFO(int, values, 2);
              ST_TASK(produce, 3, values);
              ST_TASK(consume, 4, values, &sum);
              ST_JOIN();
            }),
            "deadlock: process 'consume' waits to read empty fifo 'values' "
            "(0/2), but its writer 'produce' has ended after 3 tokens");
}

TEST_F(SchedulerTest, ReadingWhatNobodyWrites) {
  long sum;
  EXPECT_EQ(errorOf([&] {
              ST_FIFO(int, values, 2);
              ST_TASK(consume, 1, values, &sum);
              ST_JOIN();
            }),
            "deadlock: process 'consume' waits to read empty fifo 'values' "
            "(0/2), but nobody writes it");
}

void leaveOver(long *sum) {
  ST_FIFO(int, values, 8);
  ST_FIFO(int, others, 8);
  ST_TASK(produce, 6, values);
  ST_TASK(consume, 4, values, sum);
  ST_TASK(produce, 1, others);
  ST_JOIN();
}

TEST_F(SchedulerTest, LeftOverTokensAreListed) {
  long sum;
  EXPECT_EQ(errorOf([&] { leaveOver(&sum); }),
            "fifo 'values' of 'leaveOver' has 2 left-over tokens: expected as "
            "many read as written but got 6 written by 'produce' and 4 read by "
            "'consume'; fifo 'others' of 'leaveOver' has 1 left-over token: "
            "expected as many read as written but got 1 written by 'produce' "
            "and 0 read");
}

/// A task that is itself a dataflow body over the streams it is given.
void innerPipeline(int count, IntStream &in, IntStream &out) {
  ST_FIFO(int, inner, 1);
  ST_TASK(pass, count, in, inner);
  ST_TASK(pass, count, inner, out);
  ST_JOIN();
}

void innerTwice(int count, IntStream &in, IntStream &out) {
  innerPipeline(count, in, out);
  innerPipeline(count, in, out);
}

TEST_F(SchedulerTest, NestedBodiesPassOuterStreams) {
  long sum = 0;
  run([&] {
    ST_FIFO(int, in, 3);
    ST_FIFO(int, out, 3);
    ST_TASK(produce, 20, in);
    ST_TASK(innerTwice, 10, in, out);
    ST_TASK(consume, 20, out, &sum);
    ST_JOIN();
  });
  EXPECT_EQ(sum, 190 + 20 * 2);               // each token passes two stages
  EXPECT_EQ(statistics("inner").tokens, 20u); // both calls together
  EXPECT_EQ(statistics("inner").scope, "innerPipeline");
}

TEST_F(SchedulerTest, DeadlockThroughANestedBody) {
  long sum;
  EXPECT_EQ(errorOf([&] {
              ST_FIFO(int, in, 2);
              ST_FIFO(int, out, 2);
              ST_TASK(produce, 5, in);
              ST_TASK(innerPipeline, 6, in, out);
              ST_TASK(consume, 6, out, &sum);
              ST_JOIN();
            }),
            "deadlock: process 'pass' waits to read empty fifo 'in' (0/2), but "
            "its writer 'produce' has ended after 5 tokens");
}

/// 8 MB of on-chip memory in one task, filled and summed.
void largeArray(IntStream &in, long *sum) {
  int values[2 << 20];
  const int first = in.read();
  for (int i = 0; i < (2 << 20); ++i)
    values[i] = first + (i & 1);
  *sum = 0;
  for (int i = 0; i < (2 << 20); ++i)
    *sum += values[i];
}

TEST_F(SchedulerTest, TasksMayHoldMegabytes) {
  long sum = 0, other = 0;
  auto body = [&] {
    ST_FIFO(int, a, 1);
    ST_FIFO(int, b, 1);
    ST_TASK(produce, 1, a);
    ST_TASK(produce, 1, b);
    ST_TASK(largeArray, a, &sum);
    ST_TASK(largeArray, b, &other);
    ST_JOIN();
  };
  run(body);
  EXPECT_EQ(sum, 1 << 20); // every second of 2 Mi elements is 1
  EXPECT_EQ(other, 1 << 20);

  // The same stacks serve every further run.
  const uint64_t before = runtime::residentBytes();
  for (int i = 0; i < 20; ++i)
    run(body);
  EXPECT_LT(runtime::residentBytes(), before + (1 << 20));
}

TEST_F(SchedulerTest, ThirdProcessAtAFifoIsRefused) {
  long a, b;
  EXPECT_EQ(errorOf([&] {
              ST_FIFO(int, values, 2);
              ST_TASK(produce, 4, values);
              ST_TASK(consume, 2, values, &a);
              ST_TASK(consume, 2, values, &b);
              ST_JOIN();
            }),
            "fifo 'values' of 'operator()' expected one writer and one reader "
            "but got a third process: 'produce', 'consume' and 'consume'");
}

/// Local arrays of 100 MB, which no stack holds.
void hugeArray(IntStream &in, int *out) {
  volatile int values[25 << 20];
  for (int i = (25 << 20) - 1; i >= 0; i -= 1024)
    values[i] = i;
  *out = values[in.read()];
}

void outOfBounds(IntStream &in, int *out) {
  *out = *reinterpret_cast<volatile int *>(intptr_t(in.read()));
}

TEST_F(SchedulerTest, CrashesNameTheProcess) {
  int result;
  auto crash = [&](void (*task)(IntStream &, int *)) {
    sim::installFaultHandler();
    run([&] {
      ST_FIFO(int, values, 2);
      ST_TASK(produce, 1, values);
      ST_TASK(task, values, &result);
      ST_JOIN();
    });
  };
  EXPECT_EXIT(crash(hugeArray), ::testing::ExitedWithCode(1),
              "process 'task' of the simulation needs more than 64 MB");
  EXPECT_EXIT(crash(outOfBounds), ::testing::ExitedWithCode(1),
              "process 'task' of the simulation accessed memory outside");
}

void throwAfter(int count, IntStream &in) {
  for (int i = 0; i < count; ++i)
    in.read();
  throw std::runtime_error("no such row");
}

TEST_F(SchedulerTest, ExceptionInATaskReachesTheCaller) {
  EXPECT_EQ(errorOf([&] {
              ST_FIFO(int, values, 2);
              ST_TASK(produce, 10, values);
              ST_TASK(throwAfter, 3, values);
              ST_JOIN();
            }),
            "exception in process 'throwAfter': no such row");
}

TEST_F(SchedulerTest, ForgottenJoinIsAnError) {
  long sum;
  EXPECT_EQ(errorOf([&] {
              ST_FIFO(int, values, 2);
              ST_TASK(produce, 2, values);
              ST_TASK(consume, 2, values, &sum);
            }),
            "expected ST_JOIN() before the end of the body that declares fifo "
            "'values', but its tasks have not run");
}

TEST_F(SchedulerTest, CanBeUsedAgainAfterAFailure) {
  long sum = 0;
  for (int i = 0; i < 50; ++i) {
    EXPECT_NE(errorOf([&] { diamond(10, 2, &sum); }), "no error");
    run([&] { diamond(10, 10, &sum); });
    EXPECT_EQ(sum, 90);
    EXPECT_EQ(statistics("bypass").tokens, 10u);
  }
}

TEST_F(SchedulerTest, BodiesOneAfterTheOtherCountTogether) {
  long first = 0, second = 0;
  run([&] {
    diamond(4, 4, &first);
    diamond(6, 9, &second);
  });
  EXPECT_EQ(first, 12);
  EXPECT_EQ(second, 30);
  EXPECT_EQ(statistics("in").tokens, 10u);
  EXPECT_EQ(statistics("bypass").peak, 6u);
}

void otherBody(long *sum) {
  ST_FIFO(int, values, 3);
  ST_TASK(produce, 7, values);
  ST_TASK(consume, 7, values, sum);
  ST_JOIN();
}

void oneBody(long *sum) {
  ST_FIFO(int, values, 2);
  ST_TASK(produce, 5, values);
  ST_TASK(consume, 5, values, sum);
  ST_JOIN();
}

TEST_F(SchedulerTest, EqualNamesOfTwoBodiesCountApart) {
  long sum;
  run([&] {
    oneBody(&sum);
    otherBody(&sum);
    oneBody(&sum);
  });
  const std::vector<FifoStatistics> fifos = scheduler.fifoStatistics();
  ASSERT_EQ(fifos.size(), 2u);
  EXPECT_EQ(fifos[0].scope, "oneBody");
  EXPECT_EQ(fifos[0].tokens, 10u);
  EXPECT_EQ(fifos[0].peak, 2u);
  EXPECT_EQ(fifos[1].scope, "otherBody");
  EXPECT_EQ(fifos[1].tokens, 7u);
  EXPECT_EQ(fifos[1].peak, 3u);
}

void produceInitial(IntStream &loop, IntStream &out) {
  // A feedback loop that starts with a token of its own.
  for (int i = 0; i < 5; ++i) {
    const int value = loop.read();
    out.write(value);
  }
}

void increment(IntStream &in, IntStream &loop, long *last) {
  for (int i = 0; i < 5; ++i) {
    const int value = in.read();
    *last = value;
    if (i < 4)
      loop.write(value + 1);
  }
}

TEST_F(SchedulerTest, FeedbackWithAnInitialToken) {
  long last = 0;
  run([&] {
    ST_FIFO(int, loop, 1);
    ST_FIFO(int, out, 1);
    loop.write(7);
    ST_TASK(produceInitial, loop, out);
    ST_TASK(increment, out, loop, &last);
    ST_JOIN();
  });
  EXPECT_EQ(last, 11); // 7, 8, 9, 10, 11
}

void produceByPolling(int count, IntStream &out) {
  for (int i = 0; i < count;)
    if (out.write_nb(i))
      ++i;
}

void consumeByPolling(int count, IntStream &in, long *sum) {
  *sum = 0;
  for (int i = 0; i < count;) {
    int value;
    if (!in.read_nb(value))
      continue;
    *sum += value;
    ++i;
  }
}

TEST_F(SchedulerTest, PollingMakesProgress) {
  long sum = 0;
  run([&] {
    ST_FIFO(int, values, 2);
    ST_TASK(consumeByPolling, 30, values, &sum);
    ST_TASK(produceByPolling, 30, values);
    ST_JOIN();
  });
  EXPECT_EQ(sum, 435);
}

TEST_F(SchedulerTest, PollingForEverIsAnError) {
  long sum;
  EXPECT_EQ(errorOf([&] {
              ST_FIFO(int, values, 2);
              ST_TASK(consumeByPolling, 1, values, &sum);
              ST_JOIN();
            }),
            "process 'consumeByPolling' polls fifo 'values' for ever: every "
            "other process is blocked");
}

using Lanes = hls::vector<float, 16>;

void produceLanes(hls::stream<Lanes> &out) {
  for (int i = 0; i < 10; ++i)
    out.write(Lanes(static_cast<float>(i)));
}

void sumLanes(hls::stream<Lanes> &in, float *sums) {
  Lanes sum(0.0f);
  for (int i = 0; i < 10; ++i)
    sum += in.read();
  for (int l = 0; l < 16; ++l)
    sums[l] = sum[l];
}

TEST_F(SchedulerTest, VectorTokens) {
  float sums[16] = {};
  run([&] {
    ST_FIFO(Lanes, tokens, 3);
    ST_TASK(produceLanes, tokens);
    ST_TASK(sumLanes, tokens, sums);
    ST_JOIN();
  });
  for (float sum : sums)
    EXPECT_EQ(sum, 45.0f);
  EXPECT_EQ(statistics("tokens").peak, 3u);
}

} // namespace
