//===- AssignDiesTest.cpp - Dies and memories of a design -----------------===//
//
// Part of the StreamTensor project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The problems that a small design becomes on devices made for the test, and
// what their solutions write onto its operations. Solvers have tests of their
// own.
//
//===----------------------------------------------------------------------===//

#include "streamtensor/Pipelines/AssignDies.h"

#include "streamtensor/Dialect/Dataflow/IR/Placement.h"
#include "streamtensor/Dialect/RegisterDialects.h"
#include "streamtensor/Pipelines/AssignMemories.h"
#include "streamtensor/Pipelines/Phases.h"
#include "streamtensor/Target/Report/DeriveNetwork.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace streamtensor;

namespace {

/// load_a -> square -> store_r over 64 floats, with one multiplier (3 DSP).
std::string chain(int64_t depth = 2) {
  return R"mlir(
!A = !itensor.itensor<1xf32, [64] * [1], (d0) -> (d0)>
#id = affine_map<(d0) -> (d0)>
func.func @f(%a: memref<64xf32> {dataflow.name = "a", dataflow.role = "input"},
             %r: memref<64xf32> {dataflow.name = "r", dataflow.role = "output"}) {
  dataflow.kernel "group0" (%ma: memref<64xf32> = %a : memref<64xf32>, %mr: memref<64xf32> = %r : memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %e0 = itensor.instance "load_a_out" depth 2 : !A
    %s0 = dataflow.task "load_a" inits(%o = %e0) : (!A) attributes {argument = "a", kind = "dma_in"} {
      %l = scf.for %i = %c0 to %c64 step %c1 iter_args(%p = %o) -> (!A) {
        %v = memref.subview %ma[%i] [1] [1] : memref<64xf32> to memref<1xf32, strided<[1], offset: ?>>
        %x = bufferization.to_tensor %v restrict : memref<1xf32, strided<[1], offset: ?>> to tensor<1xf32>
        %q = itensor.write %x into %p : tensor<1xf32>, !A
        scf.yield %q : !A
      }
      dataflow.yield %l : !A
    }
    %e1 = itensor.instance "square_out" depth )mlir" +
         std::to_string(depth) + R"mlir( : !A
    %s1 = dataflow.task "square" inits(%o = %e1) : (!A) attributes {kind = "compute"} {
      %l = scf.for %i = %c0 to %c64 step %c1 iter_args(%p = %o) -> (!A) {
        %n = tensor.empty() : tensor<1xf32>
        %x = itensor.read %s0 init(%n : tensor<1xf32>) : !A -> tensor<1xf32>
        %m = tensor.empty() : tensor<1xf32>
        %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<1xf32>) outs(%m : tensor<1xf32>) {
        ^bb0(%e: f32, %u: f32):
          %d = arith.mulf %e, %e : f32
          linalg.yield %d : f32
        } -> tensor<1xf32>
        %q = itensor.write %y into %p : tensor<1xf32>, !A
        scf.yield %q : !A
      }
      dataflow.yield %l : !A
    }
    dataflow.task "store_r" attributes {argument = "r", kind = "dma_out"} {
      scf.for %i = %c0 to %c64 step %c1 {
        %n = tensor.empty() : tensor<1xf32>
        %x = itensor.read %s1 init(%n : tensor<1xf32>) : !A -> tensor<1xf32>
        %v = memref.subview %mr[%i] [1] [1] : memref<64xf32> to memref<1xf32, strided<[1], offset: ?>>
        bufferization.materialize_in_destination %x in writable %v : (tensor<1xf32>, memref<1xf32, strided<[1], offset: ?>>) -> ()
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
}
)mlir";
}

/// A device of dies with `budgets`; its memory is on the first one.
DeviceInfo device(std::vector<DeviceResources> budgets) {
  DeviceInfo info;
  info.name = "test";
  info.clockMHz = 100;
  info.memoryKind = "DDR";
  info.memoryChannels = 1;
  info.peakGigabytesPerSecond = 1;
  info.memoryEfficiency = 1;
  info.memoryDie = "D0";
  for (const DeviceResources &budget : budgets)
    info.dies.push_back({"D" + std::to_string(info.dies.size()), budget});
  return info;
}

const DeviceResources kAmple = {100000, 200000, 500, 100, 1000};

DeviceResources with(int64_t DeviceResources::*resource, int64_t amount) {
  DeviceResources budget = kAmple;
  budget.*resource = amount;
  return budget;
}

class AssignDiesTest : public ::testing::Test {
protected:
  AssignDiesTest()
      : handler(&context, [this](Diagnostic &diagnostic) {
          (diagnostic.getSeverity() == DiagnosticSeverity::Warning ? warnings
                                                                   : errors)
              .push_back(diagnostic.str());
        }) {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> lower() {
    OwningOpRef<ModuleOp> lowered = module->clone();
    for (Phase phase : {Phase::Stream, Phase::HLS}) {
      PassManager pm(&context);
      buildPhase(pm, phase, PhaseOptions());
      EXPECT_TRUE(succeeded(pm.run(*lowered)))
          << ::testing::PrintToString(errors);
    }
    return lowered;
  }

  TrialDesign trialOf(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << ::testing::PrintToString(errors);
    FailureOr<TrialDesign> trial = makeTrialDesign(*module, lower());
    EXPECT_TRUE(succeeded(trial));
    return std::move(*trial);
  }

  static std::vector<std::string> diesOf(const TrialDesign &trial) {
    std::vector<std::string> dies;
    for (dataflow::TaskOp task : trial.tasks) {
      auto die = task->getAttrOfType<StringAttr>(dataflow::kDieAttr);
      dies.push_back(die ? die.str() : "none");
    }
    return dies;
  }

  static std::string memoryOf(itensor::InstanceOp fifo) {
    auto memory = fifo->getAttrOfType<StringAttr>(dataflow::kMemoryAttr);
    return memory ? memory.str() : "none";
  }

  MLIRContext context;
  std::vector<std::string> warnings, errors;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
};

using Strings = std::vector<std::string>;

TEST_F(AssignDiesTest, Problem) {
  TrialDesign trial = trialOf(chain());
  std::string error;
  std::optional<DieAssignmentProblem> problem =
      dieProblem(trial, device({kAmple, kAmple}), error);
  ASSERT_TRUE(problem) << error;
  // Three tasks and a memory port for each of two arguments.
  ASSERT_EQ(problem->tasks.size(), 5u);
  EXPECT_EQ(problem->tasks[0].die, 0u);
  EXPECT_EQ(problem->tasks[1].die, std::nullopt);
  EXPECT_EQ(problem->tasks[2].die, 0u);
  EXPECT_EQ(problem->tasks[3].name, "memory port 'gmem0'");
  EXPECT_EQ(problem->tasks[4].die, 0u);
  // fmul with three DSP blocks (HLS_FACTS section 3 as data: operators.json).
  EXPECT_EQ(problem->tasks[1].uses[unsigned(Resource::Dsp)], 3);
  ASSERT_EQ(problem->edges.size(), 2u);
  EXPECT_EQ(problem->edges[1].source, 1u);
  EXPECT_EQ(problem->edges[1].target, 2u);
  EXPECT_EQ(problem->edges[1].bits, 32);
  // Two tokens of 32 bits are a shift register: 18 + 32 LUTs (published: 50).
  EXPECT_EQ(problem->edges[1].uses[unsigned(Resource::Lut)], 50);
}

/// What fits is where the memory is: nothing crosses.
TEST_F(AssignDiesTest, AllOnOne) {
  TrialDesign trial = trialOf(chain());
  FailureOr<DieAssignment> dies =
      assignDies(trial, device({kAmple, kAmple, kAmple}));
  ASSERT_TRUE(succeeded(dies));
  EXPECT_EQ(diesOf(trial), Strings({"D0", "D0", "D0"}));
  EXPECT_FALSE(trial.fifos[0]->hasAttr(dataflow::kCrossingAttr));
  EXPECT_EQ(dies->solution.crossingBits, 0);
  EXPECT_TRUE(warnings.empty());
}

/// Without DSP blocks where the memory is, the product is next to it: two
/// register stages on either way, which the timed network knows.
TEST_F(AssignDiesTest, Crossing) {
  TrialDesign trial = trialOf(chain());
  const DeviceInfo target =
      device({with(&DeviceResources::dsp, 0), kAmple, kAmple});
  FailureOr<DieAssignment> dies = assignDies(trial, target);
  ASSERT_TRUE(succeeded(dies));
  EXPECT_EQ(diesOf(trial), Strings({"D0", "D1", "D0"}));
  EXPECT_EQ(dies->solution.crossingBits, 64);
  for (itensor::InstanceOp fifo : trial.fifos) {
    auto stages = fifo->getAttrOfType<IntegerAttr>(dataflow::kCrossingAttr);
    ASSERT_TRUE(stages);
    EXPECT_EQ(stages.getInt(), 2);
    // Two tokens, and two for each stage.
    EXPECT_EQ(fifo.getDepth(), 6u);
    EXPECT_EQ(*fifo.getReason(), "4 more for 2 register stages between dies");
  }
  OwningOpRef<ModuleOp> lowered = lower();
  FailureOr<DesignInfo> design = collectDesign(*lowered);
  ASSERT_TRUE(succeeded(design));
  EXPECT_EQ(design->tasks[1].die, "D1");
  auto network = deriveNetwork(*lowered, *design, target);
  ASSERT_TRUE(succeeded(network) && *network);
  for (const TimedFifo &fifo : (*network)->fifos)
    EXPECT_EQ(fifo.crossing, 2);
}

TEST_F(AssignDiesTest, OneDie) {
  TrialDesign trial = trialOf(chain());
  FailureOr<DieAssignment> dies = assignDies(trial, device({kAmple}));
  ASSERT_TRUE(succeeded(dies));
  EXPECT_EQ(dies->solution.method, "one die");
  EXPECT_EQ(diesOf(trial), Strings({"D0", "D0", "D0"}));
}

/// Three of three DSP blocks are more than 80 %, but they fit.
TEST_F(AssignDiesTest, BeyondLimits) {
  TrialDesign trial = trialOf(chain());
  FailureOr<DieAssignment> dies =
      assignDies(trial, device({with(&DeviceResources::dsp, 3)}));
  ASSERT_TRUE(succeeded(dies));
  EXPECT_FALSE(dies->isWithinLimits);
  EXPECT_EQ(warnings,
            Strings({"the design fits the target but not the limits at which "
                     "routing is easy: expected at most 2 dsp (80 % of 3) on "
                     "all dies but got 3, 1 too many; smaller tiles or fewer "
                     "lanes, or a larger target, or a limit of at least 100 % "
                     "for dsp would help"}));
}

/// Three tiny dies: the message says of which resource how much is missing.
TEST_F(AssignDiesTest, Infeasible) {
  TrialDesign trial = trialOf(chain());
  const DeviceResources tiny = with(&DeviceResources::dsp, 0);
  EXPECT_TRUE(failed(assignDies(trial, device({tiny, tiny, tiny}))));
  EXPECT_EQ(errors, Strings({"expected at most 0 dsp (100 % of 0) on all dies "
                             "but got 3, 3 too many; smaller tiles or fewer "
                             "lanes, or a larger target would help"}));
  EXPECT_EQ(diesOf(trial), Strings({"none", "none", "none"}));
}

TEST_F(AssignDiesTest, MemoryDieIsMissing) {
  TrialDesign trial = trialOf(chain());
  DeviceInfo target = device({kAmple});
  target.memoryDie = "D7";
  EXPECT_TRUE(failed(assignDies(trial, target)));
  EXPECT_EQ(errors, Strings({"expected a die named 'D7', where the memory "
                             "ports are, on target 'test'"}));
}

/// 600 x 32 bits: two BRAM18 of many are less than 435 LUTs; where memory ports
/// take the BRAM (two of 32 bits take two BRAM18 each), LUTs are. 2000 words
/// are too many for LUTs.
TEST_F(AssignDiesTest, MemoriesByBudget) {
  auto kindOn = [&](int64_t depth, DeviceResources budget) {
    TrialDesign trial = trialOf(chain(depth));
    FailureOr<DieAssignment> dies = assignDies(trial, device({budget}));
    EXPECT_TRUE(succeeded(dies));
    EXPECT_TRUE(succeeded(assignMemories(trial, *dies)));
    EXPECT_EQ(memoryOf(trial.fifos[0]), "srl");
    return memoryOf(trial.fifos[1]);
  };
  EXPECT_EQ(kindOn(600, kAmple), "bram");
  const DeviceResources little = with(&DeviceResources::bram36, 3);
  EXPECT_EQ(kindOn(600, little), "lutram");
  EXPECT_EQ(kindOn(2000, little), "uram");
  EXPECT_TRUE(warnings.empty());
}

/// 2000 words are too many for LUTs.
TEST_F(AssignDiesTest, MemoriesThatDoNotFit) {
  TrialDesign trial = trialOf(chain(2000));
  DeviceResources budget = with(&DeviceResources::bram36, 3);
  budget.uram = 0;
  EXPECT_TRUE(failed(assignDies(trial, device({budget}))));
  EXPECT_EQ(
      errors,
      Strings({"expected room for 'square_out' beside the logic on die "
               "'D0' but got too little: bram needs 4 bram18 of 2; uram "
               "needs 1 uram of 0; smaller tiles, FIFO strategy "
               "'conservative' or 'min', or a larger target would help"}));
}

/// Depths that a device could never hold are refused before anything is summed
/// up.
TEST_F(AssignDiesTest, HugeDepth) {
  TrialDesign trial = trialOf(chain(int64_t(1) << 50));
  EXPECT_TRUE(failed(assignDies(trial, device({kAmple}))));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(
      errors[0].rfind("expected bram18 of memory 'square_out' in bram", 0), 0u)
      << errors[0];
}

/// One task from memory to memory.
TEST_F(AssignDiesTest, OneTask) {
  TrialDesign trial = trialOf(R"mlir(
func.func @f(%a: memref<64xf32> {dataflow.name = "a", dataflow.role = "input"},
             %r: memref<64xf32> {dataflow.name = "r", dataflow.role = "output"}) {
  dataflow.kernel "group0" (%ma: memref<64xf32> = %a : memref<64xf32>, %mr: memref<64xf32> = %r : memref<64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    dataflow.task "copy" attributes {kind = "compute"} {
      scf.for %i = %c0 to %c64 step %c1 {
        %x = memref.load %ma[%i] : memref<64xf32>
        memref.store %x, %mr[%i] : memref<64xf32>
      }
      dataflow.yield
    }
    dataflow.yield
  }
  return
})mlir");
  FailureOr<DieAssignment> dies = assignDies(trial, device({kAmple, kAmple}));
  ASSERT_TRUE(succeeded(dies));
  EXPECT_EQ(diesOf(trial), Strings({"D0"}));
  EXPECT_TRUE(succeeded(assignMemories(trial, *dies)));
}

} // namespace
