//===- InterpreterNetworkTest.cpp - Networks that cannot finish -----------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Deadlocks, missing and left-over tokens: who is named, and with which fill.
//
//===----------------------------------------------------------------------===//

#include "InterpreterMatVec.h"
#include "InterpreterTestUtils.h"

#include "streamtensor/Sim/InterpreterNetwork.h"

using namespace streamtensor;
using namespace streamtensor::interp;

namespace {

//===----------------------------------------------------------------------===//
// Bare networks
//===----------------------------------------------------------------------===//

FifoSpec spec(const char *name, int64_t depth) {
  FifoSpec spec;
  spec.name = name;
  spec.tokenBytes = sizeof(int);
  spec.depth = depth;
  return spec;
}

void put(Fifo &fifo, int value) {
  fifo.write(reinterpret_cast<const char *>(&value));
}

int take(Fifo &fifo) {
  int value;
  fifo.read(reinterpret_cast<char *>(&value));
  return value;
}

/// Two paths from a producer to a consumer that reads all of the second path
/// before any of the first.
bool runDiamond(int64_t depth, int tokens, std::vector<int> &read,
                std::string &error) {
  Machine machine;
  return machine.run(
      [&] {
        Network network(machine, "diamond");
        Fifo &direct = network.addFifo(spec("direct", depth)),
             &around = network.addFifo(spec("around", 2));
        network.addProcess("produce",
                           [&] {
                             for (int i = 0; i < tokens; ++i) {
                               put(direct, i);
                               put(around, 100 + i);
                             }
                           },
                           {}, {&direct, &around});
        network.addProcess("consume",
                           [&] {
                             for (int i = 0; i < tokens; ++i)
                               read.push_back(take(around));
                             for (int i = 0; i < tokens; ++i)
                               read.push_back(take(direct));
                           },
                           {&direct, &around}, {});
        network.run();
      },
      error);
}

TEST(Network, enoughDepth) {
  std::vector<int> read;
  std::string error;
  ASSERT_TRUE(runDiamond(4, 4, read, error)) << error;
  EXPECT_EQ(read, (std::vector<int>{100, 101, 102, 103, 0, 1, 2, 3}));
}

TEST(Network, oneLessDeadlocks) {
  std::vector<int> read;
  std::string error;
  ASSERT_FALSE(runDiamond(3, 4, read, error));
  EXPECT_EQ(error, "deadlock in 'diamond': task 'produce' writes 'direct' "
                   "(3/3), task 'consume' reads 'around' (0/2)");
}

TEST(Network, unboundedGrows) {
  std::vector<int> read;
  std::string error;
  ASSERT_TRUE(runDiamond(0, 10000, read, error)) << error;
  ASSERT_EQ(read.size(), 20000u);
  EXPECT_EQ(read[19999], 9999);
}

TEST(Network, oneWriterOneReader) {
  Machine machine;
  std::string error;
  EXPECT_FALSE(machine.run(
      [&] {
        Network network(machine, "n");
        Fifo &fifo = network.addFifo(spec("x", 2));
        network.addProcess("a", [] {}, {&fifo}, {});
        network.addProcess("b", [] {}, {&fifo}, {});
      },
      error));
  EXPECT_EQ(error, "fifo 'x' is read by two tasks, 'a' and 'b'");
}

TEST(Network, failuresInsideTasksEndTheRun) {
  Machine machine;
  std::string error;
  EXPECT_FALSE(machine.run(
      [&] {
        Network network(machine, "n");
        network.addProcess("a", [&] { machine.fail(machine.where() + "oops"); },
                           {}, {});
        network.run();
      },
      error));
  EXPECT_EQ(error, "task 'a': oops");
  // The machine can be used again.
  EXPECT_TRUE(machine.run([] {}, error));
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

class BrokenMatVec : public InterpreterTest {
protected:
  std::string fail(const std::string &text) {
    EXPECT_TRUE(run(text, {counting({6}), counting({8, 6})}).empty());
    return error;
  }
};

TEST_F(BrokenMatVec, readsMoreThanIsWritten) {
  // The load of x stops one token short: the product waits for token 5.
  EXPECT_EQ(fail(replaced(matvec::kAllocated,
                          "%r = scf.for %i = %c0 to %c6 step %c1 iter_args(%p "
                          "= %o) -> (!X)",
                          "%c5 = arith.constant 5 : index\n"
                          "%r = scf.for %i = %c0 to %c5 step %c1 iter_args(%p "
                          "= %o) -> (!X)")),
            "task 'matvec' reads token 5 of fifo 'load_arg0_out' but task "
            "'load_arg0' wrote only 5");
}

TEST_F(BrokenMatVec, readsMoreThanIsWrittenStream) {
  EXPECT_EQ(fail(replaced(matvec::kStream, "scf.for %i = %c0 to %c6",
                          "scf.for %i = %c1 to %c6")),
            "task 'matvec' reads token 5 of fifo 'load_arg0_out' but task "
            "'load_arg0' wrote only 5");
}

TEST_F(BrokenMatVec, readsMoreThanIsWrittenHLS) {
  EXPECT_EQ(fail(replaced(matvec::kHLS, "scf.for %i = %c0 to %c6",
                          "scf.for %i = %c1 to %c6")),
            "task 'matvec' reads token 5 of fifo 'load_arg0_out' but task "
            "'load_arg0' wrote only 5");
}

TEST_F(BrokenMatVec, leavesTokens) {
  // The store reads one of the two tokens of y.
  EXPECT_EQ(fail(replaced(matvec::kMaterialized,
                          "scf.for %i = %c0 to %c2 step %c1 {\n        %i0",
                          "scf.for %i = %c0 to %c1 step %c1 {\n        %i0")),
            "1 of 2 tokens are left over in fifo 'matvec_out': task "
            "'store_result0' read only 1");
}

TEST_F(BrokenMatVec, leavesTokensInFullFifo) {
  // Depth 1: the product cannot even write its second token.
  EXPECT_EQ(fail(replaced(matvec::kAllocated,
                          "scf.for %i = %c0 to %c2 step %c1 {\n        %i0",
                          "scf.for %i = %c0 to %c0 step %c1 {\n        %i0")),
            "task 'matvec' writes token 1 of fifo 'matvec_out' (1/1) but task "
            "'store_result0' read only 0");
}

TEST_F(BrokenMatVec, declaredNumberOfTokens) {
  EXPECT_EQ(
      fail(replaced(matvec::kStream, "tokens 12 :", "tokens 13 :")),
      "expected 13 tokens in fifo 'load_arg1_out' but task 'load_arg1' wrote "
      "12");
}

TEST_F(BrokenMatVec, secondReader) {
  // The store reads x too.
  std::string text = fail(replaced(
      matvec::kMaterialized,
      "%t = itensor.read %y init(%i0 : tensor<4xf32>) : !Y -> tensor<4xf32>",
      "%xi = tensor.empty() : tensor<1xf32>\n"
      "%x1 = itensor.read %x init(%xi : tensor<1xf32>) : !X -> tensor<1xf32>\n"
      "%t = itensor.read %y init(%i0 : tensor<4xf32>) : !Y -> tensor<4xf32>"));
  EXPECT_NE(text.find("expected one reader of fifo 'load_arg0_out'"),
            std::string::npos)
      << text;
}

TEST_F(BrokenMatVec, wrongDestination) {
  // A loop that yields another itensor than it was given.
  std::string text =
      fail(replaced(matvec::kMaterialized,
                    "%q = itensor.write %t into %p : tensor<1xf32>, !X",
                    "%q = itensor.write %t into %ex : tensor<1xf32>, !X"));
  EXPECT_NE(text.find("expected each iteration to yield its destination"),
            std::string::npos)
      << text;
}

TEST_F(InterpreterTest, deadlockBetweenTasks) {
  // Each waits for the other's first token.
  EXPECT_TRUE(run(R"mlir(
!S = !stream.stream<f32, 2>
func.func @f(%x: memref<1xf32> {dataflow.role = "input"}) {
  dataflow.kernel "loop" (%m: memref<1xf32> = %x : memref<1xf32>) {
    %a = stream.stream "ping" : !S
    %b = stream.stream "pong" : !S
    dataflow.task "left" {
      %v = stream.read %b : !S -> f32
      stream.write %v, %a : f32, !S
    }
    dataflow.task "right" {
      %v = stream.read %a : !S -> f32
      stream.write %v, %b : f32, !S
    }
    dataflow.yield
  }
  return
}
)mlir",
                  {counting({1})})
                  .empty());
  EXPECT_EQ(error, "deadlock in 'loop': task 'left' reads 'pong' (0/2), task "
                   "'right' reads 'ping' (0/2)");
}

} // namespace
