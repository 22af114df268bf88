//===- TaskEstimateTest.cpp - Time and area of tasks ----------------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected depths and latencies are those of published synthesis reports
// (Stream-HLS, FPGA '25 artifacts): scale 7, bias add 10, multiply and add 14,
// divide 15, subtract and exponentiate 24.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Analysis/Estimate/TaskEstimate.h"
#include "streamtensor/Analysis/Estimate/OperatorLibrary.h"

#include "streamtensor/Analysis/Estimate/TaskSchedule.h"

#include "streamtensor/Dialect/RegisterDialects.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace streamtensor;

namespace {

class EstimateTest : public testing::Test {
protected:
  EstimateTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  TaskEstimate estimate(const std::string &body) {
    std::string text = R"mlir(
      func.func private @task(%x: !stream.stream<1xf32, 2>, %y: !stream.stream<1xf32, 2>) attributes {hls.task} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        %c8 = arith.constant 8 : index
        %c100 = arith.constant 100 : index
        %k = arith.constant 3.0 : f32
    )mlir" + body + "return }";
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    return estimateTask(*module->getOps<func::FuncOp>().begin());
  }

  /// A pipeline of 100 iterations that reads %v and writes %w.
  TaskEstimate pipeline(const std::string &operations) {
    return estimate(R"mlir(
        scf.for %i = %c0 to %c100 step %c1 {
          %t = memref.alloc() : memref<1xf32>
          %u = memref.alloc() : memref<1xf32>
          stream.read %x into %t : !stream.stream<1xf32, 2>, memref<1xf32>
          %v = memref.load %t[%c0] : memref<1xf32>
    )mlir" + operations +
                    R"mlir(
          memref.store %w, %u[%c0] : memref<1xf32>
          stream.write %u, %y : memref<1xf32>, !stream.stream<1xf32, 2>
        } {hls.pipeline = #hls.pipeline<ii = 1>}
    )mlir");
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(EstimateTest, PublishedDepths) {
  EXPECT_EQ(pipeline("%w = arith.mulf %v, %v : f32\n").depth, 7);
  EXPECT_EQ(pipeline("%w = arith.addf %v, %k : f32\n").depth, 10);
  EXPECT_EQ(pipeline("%m = arith.mulf %v, %v : f32\n"
                     "%w = arith.addf %m, %k : f32\n")
                .depth,
            14);
  EXPECT_EQ(pipeline("%w = arith.divf %k, %v : f32\n").depth, 15);
  EXPECT_EQ(pipeline("%s = arith.subf %v, %k : f32\n"
                     "%w = math.exp %s : f32\n")
                .depth,
            24);
}

/// Pipelined loop: ii * (trips - 1) + depth - 1; the function around it: + 2.
TEST_F(EstimateTest, LatencyOfOnePipeline) {
  TaskEstimate task = pipeline("%w = arith.mulf %v, %v : f32\n");
  EXPECT_EQ(task.interval, 1);
  EXPECT_EQ(task.latency, 99 + 7 - 1 + 2);
  // The pipeline begins in the second state and writes at stage depth - 2.
  EXPECT_EQ(task.initialDelay, 1 + 5);
  // One fmul: 3 DSP; 78 LUT * 1.09, 143 FF * 1.28.
  EXPECT_EQ(task.resources.dsp, 3);
  EXPECT_EQ(task.resources.lut, 85);
  EXPECT_EQ(task.resources.ff, 183);
}

/// Two pipelined loops in a process: the two latencies as functions + 3 (15 of
/// 15 published processes, e.g. 53829 + 50181 + 3 = 104013).
TEST_F(EstimateTest, TwoLoops) {
  const char *loop = R"mlir(
        scf.for %i = %c0 to %c100 step %c1 {
          %t = memref.alloc() : memref<1xf32>
          stream.read %x into %t : !stream.stream<1xf32, 2>, memref<1xf32>
          stream.write %t, %y : memref<1xf32>, !stream.stream<1xf32, 2>
        } {hls.pipeline = #hls.pipeline<ii = 1>}
  )mlir";
  // Each: 99 + 3 - 1 = 101, as a function 103.
  EXPECT_EQ(estimate(std::string(loop) + loop).latency, 2 * 103 + 3);
}

/// A loop that runs step by step around two pipelines: each iteration takes
/// their latencies as functions + 2 each, and the function one cycle more (mm1
/// of the HeteroCL 2mm: 180 * (192 + 851 + 192 + 6) + 1 = 223381).
TEST_F(EstimateTest, SequentialLoop) {
  const char *loop = R"mlir(
        scf.for %i = %c0 to %c100 step %c1 {
          %t = memref.alloc() : memref<1xf32>
          stream.read %x into %t : !stream.stream<1xf32, 2>, memref<1xf32>
          stream.write %t, %y : memref<1xf32>, !stream.stream<1xf32, 2>
        } {hls.pipeline = #hls.pipeline<ii = 1>}
  )mlir";
  std::string nest =
      "scf.for %j = %c0 to %c8 step %c1 {" + std::string(loop) + loop + "}";
  EXPECT_EQ(estimate(nest).latency, 8 * (103 + 103 + 2 * 2) + 1);
}

/// A loop around a loop is one pipeline of all iterations.
TEST_F(EstimateTest, PerfectNestsAreFlat) {
  TaskEstimate task = estimate(R"mlir(
        scf.for %i = %c0 to %c8 step %c1 {
          scf.for %j = %c0 to %c100 step %c1 {
            %t = memref.alloc() : memref<1xf32>
            stream.read %x into %t : !stream.stream<1xf32, 2>, memref<1xf32>
            stream.write %t, %y : memref<1xf32>, !stream.stream<1xf32, 2>
          } {hls.pipeline = #hls.pipeline<ii = 2>}
        }
  )mlir");
  EXPECT_EQ(task.interval, 2);
  EXPECT_EQ(task.latency, 2 * 799 + 3 - 1 + 2);
}

/// A carried sum uses the adder in fabric (no DSP, 338 LUT), eight multipliers
/// at interval 4 are two units.
TEST_F(EstimateTest, SharedUnitsAndCarriedSums) {
  TaskEstimate task = estimate(R"mlir(
        %acc = stream.buffer "acc" : memref<1xf32>
        scf.for %i = %c0 to %c100 step %c1 {
          %t = memref.alloc() : memref<8xf32>
          scf.for %l = %c0 to %c8 step %c1 {
            %m = arith.mulf %k, %k : f32
            memref.store %m, %t[%l] : memref<8xf32>
          } {hls.unroll = #hls.unroll<factor = 0>}
          %v = memref.load %t[%c0] : memref<8xf32>
          %s = memref.load %acc[%c0] : memref<1xf32>
          %n = arith.addf %s, %v : f32
          memref.store %n, %acc[%c0] : memref<1xf32>
        } {hls.pipeline = #hls.pipeline<ii = 4>}
  )mlir");
  EXPECT_EQ(task.resources.dsp, 2 * 3);
  // (2 * 78 + 338) * 1.09
  EXPECT_EQ(task.resources.lut, 538);
  // An adder in fabric counts 5 cycles. Four products share a unit, the last
  // one begins 3 cycles after the first.
  EXPECT_EQ(task.depth, 3 + 4 + 5 + 3);
}

/// Units of integers are as wide as what they compute, and what is kept of it.
TEST_F(EstimateTest, WidthsOfIntegers) {
  module = parseSourceString<ModuleOp>(R"mlir(
    func.func @f(%acc: memref<1xi17>, %out: memref<4xi32>, %flag: memref<1xi1>, %w: i8, %x: i8, %y: i32) {
      %c0 = arith.constant 0 : index
      %fifteen = arith.constant 15 : i8
      %thousand = arith.constant 1000 : i32
      %code = arith.andi %w, %fifteen {bits = 8} : i8
      %a = arith.extsi %code : i8 to i32
      %b = arith.extsi %x : i8 to i32
      %u = arith.extui %x : i8 to i32
      // 0 to 15 fit 5 bits; times 8 bits: 13.
      %p = arith.muli %a, %b : i32
      %pair = arith.addi %p, %p {bits = 14} : i32
      %four = arith.addi %pair, %pair {bits = 15} : i32
      %stored = memref.load %acc[%c0] : memref<1xi17>
      %old = arith.extsi %stored : i17 to i32
      // 18 bits, of which 17 are kept.
      %new = arith.addi %old, %four {bits = 17} : i32
      %kept = arith.trunci %new : i32 to i17
      memref.store %kept, %acc[%c0] : memref<1xi17>
      // All bits of y are in it, and the upper ones are never seen.
      %mixed = arith.subi %y, %four {bits = 17} : i32
      %low = arith.trunci %mixed : i32 to i17
      memref.store %low, %acc[%c0] : memref<1xi17>
      // 0 to 255 fit 9 bits; 1000 fits 11.
      %sum = arith.addi %u, %thousand {bits = 12} : i32
      memref.store %sum, %out[%c0] : memref<4xi32>
      %wide = arith.addi %y, %y {bits = 32} : i32
      memref.store %wide, %out[%c0] : memref<4xi32>
      %less = arith.cmpi slt, %a, %u {bits = 9} : i32
      memref.store %less, %flag[%c0] : memref<1xi1>
      return
    }
  )mlir",
                                       &context);
  ASSERT_TRUE(module);
  int checked = 0;
  module->walk([&](Operation *op) {
    auto bits = op->getAttrOfType<IntegerAttr>("bits");
    if (!bits)
      return;
    ++checked;
    const OperatorInfo *unit = operatorOf(op);
    ASSERT_TRUE(unit);
    EXPECT_EQ(unit->name, "int_" + std::to_string(bits.getInt()));
    // One LUT a bit.
    EXPECT_EQ(unit->lut, bits.getInt());
  });
  EXPECT_EQ(checked, 8);
}

TEST_F(EstimateTest, Storage) {
  // 32-bit FIFOs as reported: 50 LUT in shift registers up to 1024 bits, then
  // 100 up to depth 64, 179 up to 128.
  EXPECT_EQ(estimateFifo(32, 32).lut, 50);
  EXPECT_EQ(estimateFifo(33, 32).lut, 100);
  EXPECT_EQ(estimateFifo(128, 32).lut, 179);
  EXPECT_EQ(estimateFifo(128, 32).bram18, 0);
  EXPECT_EQ(estimateFifo(256, 32).lut, 70);
  EXPECT_EQ(estimateFifo(257, 32).lut, 78);
  EXPECT_EQ(estimateFifo(257, 32).ff, 95);
  // A block holds 1024 x 18 bits: ceil(512 / 18) = 29 for 1024 x 512 bits.
  EXPECT_EQ(estimateFifo(1024, 32).bram18, 2);
  EXPECT_EQ(estimateFifo(1024, 512).bram18, 29);
  // 2048 x 9 bits: one block for bytes.
  EXPECT_EQ(bram18Blocks(2048, 8), 1);
  EXPECT_EQ(bram18Blocks(0, 8), 0);
  // 16.8 Mbit: csynth books one block, 1024 are needed.
  EXPECT_EQ(csynthFifo(524288, 32).bram18, 1);
  EXPECT_EQ(estimateFifo(524288, 32).bram18, 1024);
  // 16 bursts of 64 beats.
  EXPECT_EQ(estimatePort(512, 64).bram18, 29);
  EXPECT_EQ(estimatePort(32, 64).bram18, 2);
}

/// Arrays of published designs as csynth counts them (33 LUT, ceil(words / 512)
/// blocks, four blocks, one URAM, 21 blocks for 11000 words), and as needed.
TEST_F(EstimateTest, Arrays) {
  auto csynth = [](int64_t words) { return csynthArray({words, 32}); };
  EXPECT_EQ(csynth(41).lut, 33);
  EXPECT_EQ(csynth(128).lut, 65);
  EXPECT_EQ(csynth(195).bram18, 1);
  EXPECT_EQ(csynth(798).bram18, 2);
  EXPECT_EQ(csynth(1710).bram18, 4);
  EXPECT_EQ(csynth(3420).uram, 1);
  EXPECT_EQ(csynth(5700).bram18, 16);
  EXPECT_EQ(csynth(11000).bram18, 21);
  // Banks and halves multiply.
  EXPECT_EQ(csynthArray({512, 32, 8, true}).bram18, 16);
  EXPECT_EQ(estimateArray({512, 32, 8, true}, MemoryKind::Bram).bram18, 16);
  // 11000 words of 32 bits: 22 blocks of 512 x 36.
  EXPECT_EQ(estimateArray({11000, 32}, MemoryKind::Bram).bram18, 22);
  // Both halves of 2000 words fit into one UltraRAM of 4096 x 72.
  EXPECT_EQ(estimateArray({2000, 72, 1, true}, MemoryKind::Uram).uram, 1);
  EXPECT_EQ(estimateArray({2000, 73, 1, true}, MemoryKind::Uram).uram, 2);
}

/// What an array and a FIFO can be built of, and what each way takes.
TEST_F(EstimateTest, ChoicesOfMemory) {
  auto kinds = [](const std::vector<StorageChoice> &choices) {
    std::string names;
    for (const StorageChoice &choice : choices)
      names += (names.empty() ? "" : " ") + memoryKindName(choice.kind).str();
    return names;
  };
  EXPECT_EQ(kinds(arrayChoices({1, 32, 8})), "registers");
  EXPECT_EQ(kinds(arrayChoices({1024, 32})), "lutram bram uram");
  EXPECT_EQ(kinds(arrayChoices({1025, 32})), "bram uram");
  // 4096 x 64: 8 rows of 512 in 2 columns of 36 bits, or one UltraRAM.
  std::vector<StorageChoice> blocks = arrayChoices({4096, 64});
  EXPECT_EQ(blocks[0].use.bram18, 16);
  EXPECT_EQ(blocks[1].use.uram, 1);
  EXPECT_EQ(kinds(fifoChoices(2, 512)), "srl");
  EXPECT_EQ(kinds(fifoChoices(128, 32)), "srl lutram bram uram");
  EXPECT_EQ(kinds(fifoChoices(129, 32)), "lutram bram uram");
  EXPECT_EQ(kinds(fifoChoices(2000, 32)), "bram uram");
  for (const StorageChoice &choice : fifoChoices(128, 32))
    EXPECT_EQ(parseMemoryKind(memoryKindName(choice.kind)), choice.kind);
  EXPECT_EQ(parseMemoryKind("hbm"), std::nullopt);
}

/// Lanes that add into one cell follow each other: eight sums in fabric of 4
/// cycles, whatever the directive asks for.
TEST_F(EstimateTest, ChainOfLanes) {
  TaskEstimate task = estimate(R"mlir(
        %acc = stream.buffer "acc" : memref<1xf32>
        scf.for %i = %c0 to %c100 step %c1 {
          %t = memref.alloc() : memref<8xf32>
          scf.for %l = %c0 to %c8 step %c1 {
            %v = memref.load %t[%l] : memref<8xf32>
            %s = memref.load %acc[%c0] : memref<1xf32>
            %n = arith.addf %s, %v : f32
            memref.store %n, %acc[%c0] : memref<1xf32>
          } {hls.unroll = #hls.unroll<factor = 0>}
        } {hls.pipeline = #hls.pipeline<ii = 1>}
  )mlir");
  EXPECT_EQ(task.requested, 1);
  EXPECT_EQ(task.interval, 8 * 4);
  EXPECT_EQ(task.cause, IntervalCause::Recurrence);
  EXPECT_EQ(causeName(task.cause), "recurrence");
}

/// Four reads of one bank with two ports take two cycles; split into four
/// banks, one.
TEST_F(EstimateTest, MemoryBanks) {
  auto interval = [&](const std::string &partition) {
    return estimate(
        R"mlir(
        %a = stream.buffer "a" {)mlir" +
        partition +
        R"mlir(hls.storage = #hls.storage<type = "ram_2p", impl = "bram">} : memref<800xf32>
        scf.for %i = %c0 to %c100 step %c1 {
          %t = memref.alloc() : memref<8xf32>
          scf.for %l = %c0 to %c4 step %c1 {
            %p = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%i, %l)
            %v = memref.load %a[%p] : memref<800xf32>
            memref.store %v, %t[%l] : memref<8xf32>
          } {hls.unroll = #hls.unroll<factor = 0>}
        } {hls.pipeline = #hls.pipeline<ii = 1>}
    )mlir");
  };
  EXPECT_EQ(interval("").interval, 2);
  EXPECT_EQ(interval("").cause, IntervalCause::MemoryBank);
  EXPECT_EQ(interval("hls.partition = [#hls.partition<kind = \"cyclic\", "
                     "factor = 4, dim = 1>], ")
                .interval,
            1);
  // Blocks of 200 words: all four lie in one.
  EXPECT_EQ(interval("hls.partition = [#hls.partition<kind = \"block\", "
                     "factor = 4, dim = 1>], ")
                .interval,
            2);
}

/// A stage of a converter gets the array as an argument: its banks count, not
/// the ports of device memory, for which the lanes would be far apart.
TEST_F(EstimateTest, ArraysOfStages) {
  auto interval = [&](const std::string &partition) {
    module = parseSourceString<ModuleOp>(
        R"mlir(
      func.func private @task(%y: !stream.stream<4xf32, 2> {hls.direction = "out", hls.name = "out"}) attributes {hls.task} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c3 = arith.constant 3 : index
        scf.for %s = %c0 to %c3 step %c1 {
          %a = stream.buffer "a" ping_pong {)mlir" +
            partition +
            R"mlir(hls.storage = #hls.storage<type = "ram_2p", impl = "bram">} : memref<64x8xf32>
          func.call @stage(%a, %y) : (memref<64x8xf32>, !stream.stream<4xf32, 2>) -> ()
        } {hls.dataflow, hls.label = "segment"}
        return
      }
      func.func private @stage(%a: memref<64x8xf32> {hls.array, hls.direction = "in", hls.name = "a"}, %y: !stream.stream<4xf32, 2> {hls.direction = "out", hls.name = "out"}) attributes {hls.stage} {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c4 = arith.constant 4 : index
        %c8 = arith.constant 8 : index
        %c16 = arith.constant 16 : index
        scf.for %j = %c0 to %c8 step %c1 {
          scf.for %i = %c0 to %c16 step %c1 {
            %t = memref.alloc() : memref<4xf32>
            scf.for %l = %c0 to %c4 step %c1 {
              %p = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%i, %l)
              %v = memref.load %a[%p, %j] : memref<64x8xf32>
              memref.store %v, %t[%l] : memref<4xf32>
            } {hls.unroll = #hls.unroll<factor = 0>}
            stream.write %t, %y : memref<4xf32>, !stream.stream<4xf32, 2>
          } {hls.pipeline = #hls.pipeline<ii = 1>}
        }
        return
      })mlir",
        &context);
    EXPECT_TRUE(module);
    return estimateTask(*module->getOps<func::FuncOp>().begin());
  };
  EXPECT_EQ(interval("").interval, 2);
  EXPECT_EQ(interval("").cause, IntervalCause::MemoryBank);
  // In which bank of the columns the lanes meet is not known, but the same one.
  EXPECT_EQ(interval("hls.partition = [#hls.partition<kind = \"cyclic\", "
                     "factor = 4, dim = 1>, #hls.partition<kind = \"cyclic\", "
                     "factor = 2, dim = 2>], ")
                .interval,
            1);
}

/// The tree that networks are derived from: reads at stage 0, writes at stage
/// depth - 2, branches kept, waits around what is no pipeline.
TEST_F(EstimateTest, Schedule) {
  estimate(R"mlir(
        scf.for %j = %c0 to %c8 step %c1 {
          %s = memref.alloc() : memref<1xf32>
          stream.read %x into %s : !stream.stream<1xf32, 2>, memref<1xf32>
          scf.for %i = %c0 to %c100 step %c1 {
            %f = arith.cmpi eq, %i, %c0 : index
            scf.if %f {
              stream.write %s, %y : memref<1xf32>, !stream.stream<1xf32, 2>
            }
          } {hls.pipeline = #hls.pipeline<ii = 1>}
        }
  )mlir");
  using Kind = ScheduleNode::Kind;
  ScheduleSequence schedule =
      scheduleTask(*module->getOps<func::FuncOp>().begin());
  // The last state of the loop is that of the function.
  ASSERT_EQ(schedule.size(), 2u);
  EXPECT_EQ(schedule[0].kind, Kind::Wait);
  EXPECT_EQ(schedule[0].cycles, 1);
  ASSERT_EQ(schedule[1].kind, Kind::Loop);
  const ScheduleSequence &body = schedule[1].body;
  ASSERT_EQ(body.size(), 5u);
  EXPECT_EQ(body[0].kind, Kind::Access);
  EXPECT_EQ(body[0].access, AccessKind::Read);
  EXPECT_EQ(body[1].cycles, 1); // the state of the read
  EXPECT_EQ(body[2].cycles, 2); // to start the pipeline
  ASSERT_EQ(body[3].kind, Kind::Pipeline);
  EXPECT_EQ(body[4].cycles, 1);
  EXPECT_EQ(body[3].pipeline.depth, 3);
  ASSERT_EQ(body[3].body.size(), 1u);
  EXPECT_EQ(body[3].body[0].kind, Kind::Branch);
  ASSERT_EQ(body[3].body[0].body.size(), 1u);
  EXPECT_EQ(body[3].body[0].body[0].stage, 1);
  EXPECT_EQ(scheduleCycles(body), 1 + 3 + 99 + 3);
}

} // namespace
